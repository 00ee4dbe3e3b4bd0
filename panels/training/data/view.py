"""What the data explorer draws: an example's fields, its dialogue with the acts, its loss mask."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from itertools import groupby
from typing import Any, NamedTuple

from markupsafe import Markup

from panels.training.data.rows import Corpus
from panels.training.run_text import marked
from panels.ui.look import note, table
from panels.ui.tables import with_interval
from sauda.experiments.acts import Acts
from sauda.language.acts import SELLING as AGENTS
from sauda.language.acts import Act, Dialogue, Example, View, format_amount
from sauda.train.dialogues import sequence

# What an act does, which is its colour; its name stands beside it.
TONES: Mapping[str, str] = {
    **dict.fromkeys(("intro", "inquire", "inform", "unknown"), "talk"),
    **dict.fromkeys(("init-price", "counter-price", "offer"), "price"),
    **dict.fromkeys(("insist", "vague-price"), "press"),
    **dict.fromkeys(("agree", "accept"), "agree"),
    **dict.fromkeys(("disagree", "reject", "quit"), "refuse"),
}
IGNORED = -100  # the label of a token without a loss
READ, LEARNT, NEITHER = "a model reads it", "the model learns it", "no model sees it"


class Piece(NamedTuple):
    """Neighbouring tokens that are all in the loss, or all outside of it."""

    text: str
    in_loss: bool


def fields_table(example: Example) -> Markup:
    """Every field of an example with its value, what it holds, and who sees it."""
    shown = example.shown()
    seen = dict.fromkeys(shown, READ) | {"utterance": LEARNT}
    values = asdict(example)
    rows = [
        (each.name, _value(values[each.name]), each.metadata["about"], seen.get(each.name, NEITHER))
        for each in fields(example)
    ]
    return table(("field", "value", "what it holds", "who sees it"), rows, "llll", "The example")


def _value(value: Any) -> Markup:
    if isinstance(value, Mapping):
        value = ", ".join(f"{name} {amount:,.0f}" for name, amount in value.items()) or "none"
    return Markup('<span class="sauda-field">{}</span>').format(str(value))


def dialogue_view(dialogue: Dialogue, example: Example) -> Markup:
    """The dialogue of an example, each turn with its act; the example's own turn is marked."""
    rows = []
    for number, turn in enumerate(dialogue.turns):
        words = turn.text or "[a button without words]"
        here = number == example.turn
        rows.append(
            Markup('<li class="sauda-{}{}"><b>{}</b> {}{} {}</li>').format(
                turn.agent,
                " sauda-apart" if here else "",
                turn.agent,
                act_label(turn.act, dialogue.currency),
                Markup(' <span class="sauda-here">this example:</span>') if here else "",
                words,
            )
        )
    return Markup('<ol class="sauda-told sauda-acts">{}</ol>').format(Markup("").join(rows))


def act_label(act: Act | None, currency: str) -> Markup:
    """An act as a coloured label with its price."""
    if act is None:
        return Markup("")
    price = "" if act.price is None else f" {format_amount(act.price, currency)}"
    return Markup('<span class="sauda-act sauda-act-{}">{}{}</span>').format(
        TONES[act.intent], act.intent, price
    )


def counts_table(made: Corpus) -> Markup:
    """Examples by act and role, then by part of the split."""
    rows = [*made.counts(), *((f"part: {name}", *counts) for name, *counts in made.parts())]
    shown = [(name, *(f"{count:,}" for count in counts)) for name, *counts in rows]
    left_out = "; ".join(f"{reason} {n:,}" for reason, n in made.left_out.items())
    return table(("act", *AGENTS), shown, caption="Examples by act and role") + note(
        f"{len(made.dialogues):,} dialogues. Turns without an example: {left_out or 'none'}."
    )


def agreement(data: Acts) -> str:
    """How often acts are read as annotated in human dialogues that the rules were not tuned on."""
    (part,) = (row for row in data.parts if row.part == "held_out")
    return (
        "In human dialogues the act parser agrees with the annotation in"
        f" {with_interval(part.accuracy)} of the turns (n = {part.n:,} turns with words in"
        f" {part.dialogues:,} held-out dialogues of CraigslistBargains; always reading"
        f" “{part.usual}” agrees in {with_interval(part.usual_accuracy)}). Published rules made"
        " these annotations, not people, and the parser follows the same rules: this is agreement"
        " with rules."
    )


def loss_mask(view: View, tokenizer: Any) -> Markup:
    """The dialogue as a training sequence with the tokens in the loss marked, and their number."""
    learnt = sequence(view, tokenizer)
    tokens = list(zip(learnt["input_ids"], learnt["labels"], strict=True))
    learnt = sum(label != IGNORED for _, label in tokens)
    told = (
        f"One training sequence: the whole dialogue from the {view.role}’s side."
        f" {learnt:,} of {len(tokens):,} tokens are in the loss, and marked: the {view.role}’s"
        " words with the token that ends each turn. The others are context."
    )
    return marked(told, _pieces(tokens, tokenizer))


def _pieces(tokens: Sequence[tuple[int, int]], tokenizer: Any) -> Iterator[Piece]:
    """Tokens with their labels in runs with and without a loss; a letter may take several."""
    for in_loss, run in groupby(tokens, key=lambda token: token[1] != IGNORED):
        yield Piece(tokenizer.decode([token for token, _ in run]), in_loss)
