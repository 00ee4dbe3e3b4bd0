"""What a visitor finds again: in a tab that is loaded anew, and in every tab of a browser.

A tab keeps the name of its session, which holds its game on the server, and the words in a box
(`sessionStorage`, so that two tabs keep two games). A browser keeps an entry for each game or day
(`localStorage`), of which a tab writes those that it changed. A browser may refuse both: then a
reload begins anew. The scripts stand in page.js.
"""

from typing import Any

import gradio as gr


def browser_store(name: str, secret: str) -> gr.BrowserState:
    """Entries by name that the tabs of a browser share; none erases what another one wrote.

    `secret` is none: it only has to stay the same, or Gradio finds nothing again.
    """
    store = gr.BrowserState({}, storage_key=name, secret=secret)
    store.change(None, store, None, js=f"(entries) => browserKeeps('{name}').write(entries)")
    return store


def reads(store: gr.BrowserState) -> str:
    """A script for an event whose last value is `store`: it gets what all tabs wrote to it."""
    return f"(...values) => browserKeeps('{store.storage_key}').read(...values)"


class TabStore:
    """What one tab of a browser keeps of a part of the page, and the words typed there.

    `at` is a script's expression: words typed at one of its values show at that one alone.
    """

    def __init__(self, part: str, at: str = '""') -> None:
        self._store = f"tabKeeps('sauda-{part}', {at})"  # of page.js
        # Scripts of events: what was kept comes in place of the last value; a text is kept.
        self.read = f"(...values) => {self._store}.read(...values)"
        self.write = f"(text) => {self._store}.write(text)"

    def keep_draft(self, session: gr.Textbox, typed: gr.Textbox) -> None:
        """Keep what is typed, once the page has told the session's name."""
        script = f"(...values) => {self._store}.writeDraft(...values)"
        gr.on([typed.input, typed.change], None, [session, typed], None, js=script)

    def show_draft(self, opening: Any, typed: gr.Textbox, script: str = "") -> None:
        """Put the words back in their box after an opening, and run a script's statements."""
        read = f"(text) => {{ {script} return {self._store}.readDraft(text); }}"
        opening.then(None, typed, typed, js=read)
