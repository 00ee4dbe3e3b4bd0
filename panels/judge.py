"""What a pitch claims, checked."""

import gradio as gr

from panels.look import empty, heading

TITLE = "Judge"


def build() -> None:
    """Lay out the tab. Called inside a `gr.Tab`."""
    gr.HTML(heading(TITLE))
    gr.HTML(
        empty(
            "A rule judge will score pitches here against the state of play and give its reasons."
        )
    )
