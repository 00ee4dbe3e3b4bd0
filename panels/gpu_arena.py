"""AI labs share scarce GPUs."""

import gradio as gr

from panels.look import empty, heading

TITLE = "GPU arena"


def build() -> None:
    """Lay out the tab. Called inside a `gr.Tab`."""
    gr.HTML(heading(TITLE))
    gr.HTML(
        empty(
            "AI labs will share scarce GPUs here, under budgets, deadlines and shocks; "
            "a rule expert will play live."
        )
    )
