"""The picker of the language inside a challenge, in step with the one of “Any bargain”.

A visitor who comes by a link finds it there, too.
"""

import gradio as gr

from panels.haggle.screen import Updates
from panels.haggle.words import ENGLISH, LANGUAGES, translator
from panels.ui.look import QUIET

# The press of the other picker, so that everything follows which follows that one.
PRESS = """(chosen) => {
  const all = [...document.querySelectorAll("#haggle-language input")];
  all.find((input) => input.value === chosen)?.click();
  return chosen;
}"""


def lay_out_language(part: str) -> gr.Radio:
    """Place the picker of the sub-tab called `part`."""
    return gr.Radio(
        LANGUAGES, value=ENGLISH, label=translator(ENGLISH)("language"), show_label=False,
        container=False, scale=0, min_width=310, elem_id=f"{part}-language",
    )  # fmt: skip


def lead(own: gr.Radio, language: gr.Radio) -> None:
    """Let what is picked in `own` be the choice in `language`, the picker of “Any bargain”."""
    own.input(lambda chosen: chosen, own, language, js=PRESS, **QUIET)


def followed(own: gr.Radio, language: str) -> Updates:
    """The picker with the visitor's language picked."""
    return {own: gr.update(value=language, label=translator(language)("language"))}
