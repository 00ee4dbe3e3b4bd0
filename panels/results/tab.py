"""Results: every policy on every task with intervals; models, sellers, published figures."""

from collections.abc import Sequence
from functools import partial

import gradio as gr
from markupsafe import Markup

from panels.results import (
    arena,
    arena_design,
    bazaar,
    language,
    model_comparison,
    published,
    seller,
)
from panels.results.evaluation_section import load_evaluations, section
from panels.results.market import belief, oracle, robustness, sellers
from panels.ui.look import heading
from panels.ui.provenance import load_or_say

TITLE = "Results"


def build() -> None:
    """Lay out the tab. Called inside a `gr.Tab`."""
    gr.HTML(heading(TITLE, "Who wins how much, on which task, and how sure that is."))
    parts = (
        ("scripts", "Scripts", _bazaar),
        ("market", "The open market", _open_market),
        ("model", "The language model", partial(model_comparison.build, model_comparison.BAZAAR)),
        ("seller", "The language seller", lambda: gr.HTML(seller.seller_quality())),
        ("language", "Reading text", lambda: gr.HTML(language.language_quality())),
        ("arena", "The GPU arena", _arena),
        ("lab", "A model as a lab", partial(model_comparison.build, model_comparison.ARENA)),
        ("published", "Published figures", published.build),
    )
    gr.HTML(jumps([(f"results-{name}-part", title) for name, title, _ in parts]))
    for name, _, lay_out in parts:
        with gr.Column(elem_id=f"results-{name}-part"):
            lay_out()


def jumps(parts: Sequence[tuple[str, str]]) -> Markup:
    """Links to the parts of a long tab, each given as (element id, title).

    They scroll by script: Gradio's page has a base address, so a bare #id would load it anew.
    """
    link = Markup(
        '<a href="#{0}" onclick="event.preventDefault();'
        "document.getElementById('{0}').scrollIntoView()\">{1}</a>"
    )
    links = Markup("").join(link.format(*part) for part in parts)
    return Markup('<nav class="sauda-jumps" aria-label="Parts of this tab">{}</nav>').format(links)


def _bazaar() -> None:
    oracle_artifact, _ = load_or_say("oracle.json")
    game = bazaar.game(oracle_artifact)
    evaluations, missing = load_evaluations(game)
    for message in missing:
        gr.HTML(message)
    if evaluations:
        section(game, evaluations)


def _open_market() -> None:
    oracle.build()
    sellers.build()
    belief.build()
    robustness.build()


def _arena() -> None:
    gr.HTML(
        heading(
            "The GPU arena: who does most with the same GPUs?",
            "Labs trade GPU time before their deadlines; every policy sits in the same seat of the"
            " same worlds.",
        )
    )
    game = arena.game()
    evaluations, missing = load_evaluations(game)
    gr.HTML(arena.glance(evaluations))
    for message in missing:
        gr.HTML(message)
    if evaluations:
        section(game, evaluations)
        arena_design.reward_design(evaluations[0])
    arena_design.action_space()
