"""Transcripts: the same game under several policies, side by side, to step through and download."""

import gradio as gr

from panels.transcripts import any_game, before_after

TITLE = "Transcripts"


def build() -> None:
    """Lay out the tab and wire it. Called inside a `gr.Tab`."""
    with gr.Tabs(elem_classes="sauda-subtabs", overflow_behavior="wrap"):
        with gr.Tab("Before and after training", id=before_after.PART) as tab:
            before_after.build(tab)
        with gr.Tab("Any game, side by side", id=any_game.PART) as tab:
            any_game.build(tab)
