"""The data explorer: examples of each role to search and to page through, as training has them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import gradio as gr
from markupsafe import Markup

from panels.training.data.rows import ANY, Corpus, acts_of, at, corpus
from panels.training.data.view import (
    agreement,
    counts_table,
    dialogue_view,
    fields_table,
    loss_mask,
)
from panels.ui.look import QUEUED, QUIET, heading, note, trouble
from panels.ui.provenance import load_or_say, provenance
from sauda.experiments.acts import FILE as ACTS_FILE
from sauda.language.acts import SELLING as AGENTS
from sauda.language.acts import Example, view
from sauda.llm.model import NoWeights, chat_tokenizer
from sauda.train.dialogues import FILE

MASKS = {**QUEUED, "concurrency_id": "loss-masks", "concurrency_limit": 1}
MASK_HINT = "Press the button to see this dialogue as a training sequence."
tokenizer = lru_cache(maxsize=1)(chat_tokenizer)


def build() -> None:
    """Lay out the explorer. Called inside the Training tab."""
    gr.HTML(
        heading(
            "What a role learns from",
            "Each turn with words is an example of the role that speaks. The shipped dialogues are"
            " games of scripted policies put into words.",
        )
    )
    artifact, fault = load_or_say(FILE)
    if artifact is None:
        gr.HTML(fault)
        return
    made = corpus()
    with gr.Tabs(elem_classes="sauda-subtabs", elem_id="training-roles"):
        for role in AGENTS:
            with gr.Tab(role.capitalize(), id=role):
                _Role(made, role).build()
    with gr.Row():
        with gr.Column(min_width=280):
            gr.HTML(counts_table(made), elem_id="training-counts")
        with gr.Column(min_width=280):
            _agreement()
    gr.HTML(provenance(artifact, f"n = {len(made.dialogues)} dialogues"))


def _agreement() -> None:
    artifact, fault = load_or_say(ACTS_FILE)
    if artifact is None:
        gr.HTML(fault)
        return
    gr.HTML(
        heading("How well are acts read?")
        + Markup("<p>{}</p>").format(agreement(artifact.data))
        + provenance(artifact),
        elem_id="training-acts",
    )


@dataclass(frozen=True, eq=False)
class _Role:
    """The examples of one role: layout, callbacks and wiring."""

    made: Corpus
    role: str

    def build(self) -> None:
        """Lay out the part and wire it."""
        with gr.Row(elem_classes="sauda-actions"):
            words = gr.Textbox(
                label="Search words and items", max_lines=1, elem_id=f"data-{self.role}-search",
                scale=2, min_width=220,
            )  # fmt: skip
            act = gr.Dropdown(
                [ANY, *acts_of(self.role, self.made)], value=ANY, label="Act", filterable=False,
                elem_id=f"data-{self.role}-act", scale=1, min_width=180,
            )  # fmt: skip
            back = gr.Button("‹ Previous", size="sm", elem_id=f"data-{self.role}-previous")
            on = gr.Button("Next ›", size="sm", elem_id=f"data-{self.role}-next")
        place, parts = gr.State(0), self._parts(self.made.examples[self.role], 0)
        where = gr.HTML(parts[0], elem_id=f"data-{self.role}-place")
        with gr.Row():
            with gr.Column(scale=3, min_width=320):
                example = gr.HTML(parts[1], elem_id=f"data-{self.role}-example")
            with gr.Column(scale=2, min_width=320):
                dialogue = gr.HTML(parts[2], elem_id=f"data-{self.role}-dialogue")
        with gr.Accordion("A training sample with its loss mask", open=False,
                          elem_classes="sauda-fold"):  # fmt: skip
            show = gr.Button("Show the tokens of this dialogue", size="sm", scale=0)
            mask = gr.HTML(note(MASK_HINT), elem_id=f"data-{self.role}-mask")
        chosen, shown = [words, act, place], [place, where, example, dialogue, mask]
        gr.on([words.change, act.input], self._search, chosen[:2], shown,
              trigger_mode="always_last", **QUIET)  # fmt: skip
        back.click(self._previous, chosen, shown, **QUIET)
        on.click(self._next, chosen, shown, **QUIET)
        show.click(self._mask, chosen, mask, **MASKS)

    def _search(self, words: str, act: str) -> tuple[Any, ...]:
        return self._shown(words, act, 0)

    def _previous(self, words: str, act: str, place: int) -> tuple[Any, ...]:
        return self._shown(words, act, place - 1)

    def _next(self, words: str, act: str, place: int) -> tuple[Any, ...]:
        return self._shown(words, act, place + 1)

    def _shown(self, words: str, act: str, place: int) -> tuple[Any, ...]:
        """The nearest place, and what stands there; a sentence where nothing is found."""
        found = self.made.found(self.role, words or "", act)
        if not found:
            nothing = ValueError("no example has these words and this act; search for other ones")
            return 0, trouble(nothing), "", "", note(MASK_HINT)
        place = at(found, place)
        return place, *self._parts(found, place), note(MASK_HINT)

    def _parts(self, found: Sequence[Example], place: int) -> tuple[Markup, Markup, Markup]:
        example = found[place]
        return (
            note(f"Example {place + 1:,} of {len(found):,} of the {self.role}"),
            fields_table(example),
            dialogue_view(self.made.dialogues[example.dialogue], example),
        )

    def _mask(self, words: str, act: str, place: int) -> Markup:
        found = self.made.found(self.role, words or "", act)
        if not found:
            return trouble(ValueError("there is no example to show the tokens of"))
        try:
            dialogue = self.made.dialogues[found[at(found, place)].dialogue]
            return loss_mask(view(dialogue, self.role), tokenizer())
        except NoWeights as error:
            return trouble(error)
