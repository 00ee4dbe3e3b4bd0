"""What answers none of the questions: the language seller, reading text, published figures."""

import gradio as gr

from panels.results import language, published, seller
from panels.results.questions.layout import fold

NAME, TITLE = "else", "Everything else"


def build() -> None:
    """Lay out the parts, each folded. Called inside the Results tab."""
    gr.HTML("<p>Measured and published figures beside the questions; each part unfolds.</p>")
    with fold("How good are the language seller’s words?"):
        seller.build()
    with fold("How well are prices and tells read in text?"):
        gr.HTML(language.language_quality())
    with fold("Does the classic game play like the published one?"):
        published.reproduced()
    with fold("What the source documents report"):
        published.reported()
