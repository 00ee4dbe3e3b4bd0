"""Training curves from the runs' own logs."""

import gradio as gr

from panels.look import empty, heading

TITLE = "Training"


def build() -> None:
    """Lay out the tab. Called inside a `gr.Tab`."""
    gr.HTML(heading(TITLE))
    gr.HTML(empty("The SFT, GRPO and DPO curves will be drawn here from the runs' own logs."))
