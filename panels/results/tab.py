"""Results: questions and the leaderboard, each a verdict and one figure; all the rest."""

import gradio as gr

from panels.results.market.tournament import question as tournament
from panels.results.questions import (
    arena,
    everything_else,
    gap,
    leaderboard,
    open_market,
    optimum,
    training,
    words,
    wrapper,
)
from panels.ui.look import heading

TITLE = "Results"
QUESTIONS = (
    training, open_market, tournament, words, optimum, gap, wrapper, arena, leaderboard,
    everything_else,
)  # fmt: skip


def build() -> None:
    """Lay out the tab. Called inside a `gr.Tab`."""
    gr.HTML(heading(TITLE, "Every answer comes from games not used in training."))
    with gr.Tabs(elem_id="results-questions", elem_classes="sauda-subtabs",
                 overflow_behavior="wrap"):  # fmt: skip
        for question in QUESTIONS:
            with gr.Tab(question.TITLE, id=question.NAME, elem_id=f"results-{question.NAME}-part"):
                question.build()
