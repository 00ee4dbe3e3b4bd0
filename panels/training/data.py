"""The data explorer: examples of each role to search and to page through, as training has them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from itertools import groupby
from typing import Any

import gradio as gr
from markupsafe import Markup

from panels.ui.html import SAY, macros
from panels.ui.look import QUEUED, QUIET, heading, in_columns, note, table, trouble
from panels.ui.provenance import load_or_say, provenance
from panels.ui.wiring import Updates, bound, fill_on_opening, region
from sauda.language.acts import (
    INTENTS,
    PARTS,
    Act,
    Dialogue,
    Example,
    View,
    examples,
    format_amount,
    view,
)
from sauda.language.acts import SELLING as AGENTS
from sauda.llm.model import NoWeights, chat_tokenizer
from sauda.records.store import load
from sauda.train.dialogues import FILE, load_shipped, sequence

HTML = macros("training")
ANY = "any act"
IGNORED = -100  # the label of a token without a loss
# What an act does, which is its colour; its name stands beside it.
TONES: Mapping[str, str] = {
    **dict.fromkeys(("intro", "inquire", "inform", "unknown"), "talk"),
    **dict.fromkeys(("init-price", "counter-price", "offer"), "price"),
    **dict.fromkeys(("insist", "vague-price"), "press"),
    **dict.fromkeys(("agree", "accept"), "agree"),
    **dict.fromkeys(("disagree", "reject", "quit"), "refuse"),
}


@dataclass(frozen=True)
class Corpus:
    """The shipped dialogues and every role example in them."""

    dialogues: dict[str, Dialogue]  # by id
    examples: dict[str, tuple[Example, ...]]  # by role
    left_out: Counter[str]  # turns without an example, by reason

    def find(self, role: str, words: str, act: str) -> list[Example]:
        """The examples of `role` with the words in its utterance or in the item, and the act."""
        sought = words.casefold().strip()
        return [
            example
            for example in self.examples[role]
            if act in (ANY, intent_of(example))
            and (
                sought in example.utterance.casefold()
                or sought in self.dialogues[example.dialogue].scenario.casefold()
            )
        ]

    @property
    def acts(self) -> list[str]:
        """The acts that any role's examples have, in the order of INTENTS."""
        there = {intent_of(example) for role in AGENTS for example in self.examples[role]}
        return [intent for intent in INTENTS if intent in there]


@lru_cache(maxsize=1)
def corpus() -> Corpus:
    """The shipped dialogues. Raises ArtifactError where their file is missing or damaged."""
    dialogues = load_shipped().dialogues
    made, left_out = examples(dialogues)
    by_role = {role: tuple(example for example in made if example.role == role) for role in AGENTS}
    return Corpus({dialogue.id: dialogue for dialogue in dialogues}, by_role, left_out)


def intent_of(example: Example) -> str:
    """The act of an example without its price."""
    return example.act.partition("(")[0]


def at(matching: Sequence[Example], place: int) -> int:
    """The place in `matching` nearest to `place`."""
    return min(max(place, 0), len(matching) - 1)


def fields_table(example: Example) -> Markup:
    """Every field of an example with its value, what it holds, and who sees it."""
    seen = dict.fromkeys(example.model_input(), "a model reads it")
    seen["utterance"] = "the model learns it"
    values = asdict(example)
    rows = []
    for each in fields(example):
        value = values[each.name]
        if isinstance(value, Mapping):
            value = ", ".join(f"{name} {amount:,.0f}" for name, amount in value.items()) or "none"
        shown = Markup('<span class="sauda-field">{}</span>').format(str(value))
        who = seen.get(each.name, "no model sees it")
        rows.append((each.name, shown, each.metadata["about"], who))
    return table(("field", "value", "what it holds", "who sees it"), rows, "llll", "The example")


def dialogue_view(dialogue: Dialogue, example: Example) -> Markup:
    """The dialogue of an example, each turn with its act; the example's own turn is marked."""

    def label(act: Act) -> str:
        price = "" if act.price is None else f" {format_amount(act.price, dialogue.currency)}"
        return act.intent + price

    return HTML.dialogue(dialogue.turns, example.turn, TONES, label)


def counts_table(made: Corpus) -> Markup:
    """Examples by act and role, then by part of the split."""
    counts = Counter(
        (role, name)
        for role in AGENTS
        for each in made.examples[role]
        for name in (intent_of(each), f"part: {each.part}")
    )
    names = [*made.acts, *(f"part: {part}" for part in PARTS)]
    rows = [(name, *(f"{counts[role, name]:,}" for role in AGENTS)) for name in names]
    left_out = "; ".join(f"{reason} {n:,}" for reason, n in made.left_out.items())
    return table(("act", *AGENTS), rows, caption="Examples by act and role") + note(
        f"{len(made.dialogues):,} dialogues. Turns without an example: {left_out or 'none'}."
    )


def loss_mask(view: View, tokenizer: Any) -> Markup:
    """The dialogue as a training sequence with the tokens in the loss marked, and their number."""
    taught = sequence(view, tokenizer)
    tokens = list(zip(taught["input_ids"], taught["labels"], strict=True))
    learnt = sum(label != IGNORED for _, label in tokens)
    sentence = SAY.loss_mask(view.role, learnt, len(tokens))
    pieces = [  # of neighbouring tokens, for a letter may take several
        {"in_loss": in_loss, "text": tokenizer.decode([token for token, _ in run])}
        for in_loss, run in groupby(tokens, key=lambda token: token[1] != IGNORED)
    ]
    return HTML.tokens(sentence, pieces)


LEARNT_FROM = heading(
    "What a role learns from",
    "Each turn with words is an example of the role that speaks. The shipped dialogues are games"
    " of scripted policies put into words.",
)
MASKS = {**QUEUED, "concurrency_id": "loss-masks", "concurrency_limit": 1}
MASK_HINT = "Press the button to see this dialogue as a training sequence."
tokenizer = lru_cache(maxsize=1)(chat_tokenizer)


def build(tab: gr.Tab) -> None:
    """Lay out the explorer, which is filled as `tab` is opened. Called inside it."""
    gr.HTML(LEARNT_FROM)
    artifact = load(FILE)
    made, first = corpus(), AGENTS[0]
    with gr.Row(elem_classes="sauda-actions"):
        role = gr.Radio(list(AGENTS), value=first, label="Role", elem_id="data-role", scale=1)
        words = gr.Textbox(
            label="Search words and items", max_lines=1, elem_id="data-search", scale=2,
            min_width=220,
        )  # fmt: skip
        act = gr.Dropdown(
            [ANY, *made.acts], value=ANY, label="Act", filterable=False, elem_id="data-act",
            scale=1, min_width=180,
        )  # fmt: skip
        back = gr.Button("‹ Previous", size="sm", elem_id="data-previous")
        on = gr.Button("Next ›", size="sm", elem_id="data-next")
    place, example = gr.State(0), gr.HTML()
    with gr.Accordion("A training sample with its loss mask", open=False,
                      elem_classes="sauda-fold"):  # fmt: skip
        show = gr.Button("Show the tokens of this dialogue", size="sm", scale=0)
        mask = gr.HTML(elem_id="data-mask")
    below = gr.HTML()
    chosen, shown = [role, words, act, place], [example, mask, place]

    def step(by: int, role: str, words: str, act: str, now: int) -> Updates:
        matching = made.find(role, words or "", act)
        there = at(matching, now + by) if matching else 0
        return {example: one_of(made, matching, there), mask: note(MASK_HINT), place: there}

    def search(role: str, words: str, act: str, _: int) -> Updates:
        return step(0, role, words, act, 0)

    def fill(_: str) -> Updates:
        source = provenance(artifact, f"n = {len(made.dialogues)} dialogues")
        return search(first, "", ANY, 0) | {below: _count(made) + source}

    events = [role.input, words.change, act.input]
    gr.on(events, search, chosen, shown, trigger_mode="always_last", **QUIET)
    back.click(bound(step, -1), chosen, shown, **QUIET)
    on.click(bound(step, 1), chosen, shown, **QUIET)
    show.click(bound(show_mask, made), chosen, mask, **MASKS)
    fill_on_opening(tab, fill, [*shown, below])


def _count(made: Corpus) -> Markup:
    """How many examples there are of each act, and how well acts are read."""
    artifact, read = load_or_say("acts.json")
    if artifact is not None:
        # in human dialogues that the rules were not tuned on
        (part,) = (row for row in artifact.data.parts if row.part == "held_out")
        sentence = Markup("<p>{}</p>").format(SAY.acts_read(part))
        read = heading("How well are acts read?") + sentence + provenance(artifact)
    return in_columns(region("training-counts", counts_table(made)), region("training-acts", read))


def one_of(made: Corpus, matching: Sequence[Example], place: int) -> Markup:
    """Where an example stands among those found, its fields and its dialogue.

    A sentence where nothing is found.
    """
    if not matching:
        nothing = ValueError("no example has these words and this act; search for other ones")
        return region("data-place", trouble(nothing))
    example = matching[place]
    position = note(f"Example {place + 1:,} of {len(matching):,} of the {example.role}")
    return region("data-place", position) + in_columns(
        region("data-example", fields_table(example)),
        region("data-dialogue", dialogue_view(made.dialogues[example.dialogue], example)),
    )


def show_mask(made: Corpus, role: str, words: str, act: str, place: int) -> Markup:
    """The dialogue of the example on show as a training sequence; a sentence where none is."""
    matching = made.find(role, words or "", act)
    if not matching:
        return trouble(ValueError("there is no example to show the tokens of"))
    try:
        dialogue = made.dialogues[matching[at(matching, place)].dialogue]
        return loss_mask(view(dialogue, role), tokenizer())
    except NoWeights as error:
        return trouble(error)
