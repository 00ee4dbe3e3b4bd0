"""What a browser's tab keeps of a challenge over a reload: the session's name, the words typed.

By its name the former session is found on the server while it is there. `sessionStorage` belongs to
one tab; a browser may refuse it, and then nothing is found.
"""

from typing import Any

import gradio as gr

from panels.site.sessions import Gone, states_of


def read_former(key: str) -> str:
    """The script that sends the name of the tab's former session as an event's last input."""
    return f"""(...values) => {{
  let former = "";
  try {{ former = sessionStorage.getItem("{key}") ?? ""; }} catch {{ /* the browser refuses */ }}
  return [...values.slice(0, -1), former];
}}"""


def keep(key: str, session: gr.Textbox, words: gr.Textbox, opening: Any) -> None:
    """Let the browser keep the session's name, and the words typed for each address by themselves.

    After each `opening` they are in the box again; what was typed before it stays.
    """
    draft = f'"{key}-draft" + (new URL(location).searchParams.get("day") ?? "")'
    session.change(
        None, session, None,
        js=f"""(name) => {{
  try {{ sessionStorage.setItem("{key}", name); }} catch {{ /* refused */ }}
}}""",
    )  # fmt: skip
    gr.on(
        [words.input, words.change], None, [session, words], None,
        js=f"""(session, text) => {{
  if (!session) return;
  try {{ sessionStorage.setItem({draft}, text ?? ""); }} catch {{ /* refused */ }}
}}""",
    )  # fmt: skip
    opening.then(
        None, words, words,
        js=f"""(text) => {{
  try {{ return text || (sessionStorage.getItem({draft}) ?? ""); }} catch {{ return text; }}
}}""",
    )  # fmt: skip


def former_state(name: str, part: gr.State) -> Any:
    """What `part` held in the session of that name; None where it is gone, or held nothing."""
    try:
        (state,) = states_of(name, [part])
    except Gone:
        return None
    return state
