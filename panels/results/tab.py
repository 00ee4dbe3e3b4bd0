"""Results: questions and the leaderboard, each a verdict and one figure; all the rest."""

import gradio as gr

from panels.results.everything_else import ELSE
from panels.results.leaderboard import LEADERBOARD
from panels.results.optimum import OPTIMUM, WORDS
from panels.results.people import PEOPLE
from panels.results.question import section
from panels.results.training import TRAINING, WRAPPER
from panels.results.winners import ARENA_QUESTION, MARKET_QUESTION
from panels.ui.look import heading

TITLE = "Results"
QUESTIONS = (
    TRAINING, MARKET_QUESTION, WORDS, PEOPLE, OPTIMUM, WRAPPER, ARENA_QUESTION,
    LEADERBOARD, ELSE,
)  # fmt: skip


def build() -> None:
    """Lay out the tab. Called inside a `gr.Tab`."""
    gr.HTML(heading(TITLE, "Every answer comes from games not used in training."))
    with gr.Tabs(elem_id="results-questions", elem_classes="sauda-subtabs",
                 overflow_behavior="wrap"):  # fmt: skip
        for question in QUESTIONS:
            part = f"results-{question.name}-part"
            with gr.Tab(question.title, id=question.name, elem_id=part) as tab:
                section(question, tab)
