"""The texts that a seller's words are judged on: what a model wrote, and what was said in the end.

Sides stand beside each other on the same games and decisions: "stub" says scripted lines and has no
model; a model's checked words; and the same model's first tries, unchecked.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from env import get_task, rupees
from sauda.evaluation.batches import in_batches
from sauda.evaluation.seller.games import Game
from sauda.llm.model import NamedModel
from sauda.llm.seller import DEFAULT, PERSONAS, SellerSeat, brief, check, choose_words, decide
from sauda.llm.turn import in_batches as batched_replies
from sauda.llm.turn import seed_of, take_turns
from sauda.llm.types import BatchGenerate
from sauda.records.fingerprint import fingerprint, positions
from sauda.records.provenance import source_digest

STUB, FIRST = "stub", "first tries"
TURNS = 12  # of a dialogue that the published persona test shows its judge
PATIENCE = 160  # characters of an answer in it that are kept

# Texts whose check is fingerprinted, at decisions of every kind.
CHECKED = (
    "The price is {price}.", "My {item} is yours for {price}.", "All right, {price}, it is a deal!",
    "{price} is my final price, not a rupee less.", "Another buyer is coming, so {price}.",
    "Be quick, {price} today only.", "Sorry, we are too far apart. Goodbye.", "No.", "", "{price}",
    "My lowest is {price}.", "It costs ₹5, or {price}.", "It is new and original, {price}.",
    "As an AI I say {price}.", "$10 is good.", "Seller: {price}.", "{price}. {price}.",
    "ठीक है, {price}.", "It is {price}, and the weather is nice today.", "I cannot sell at {price}.",
)  # fmt: skip

Tries = list[str]  # what a model wrote for one decision, try after try
Said = list[list[str]]  # what was said, a list a game


def worded(
    player: BatchGenerate, played: Sequence[Game], batch: int, parts: Path
) -> list[list[Tries]]:
    """The model's texts for every decision of every game; texts in `parts` are read from there.

    No buyer reads the words, so decisions of different games may share a batch.
    """
    decisions = [(game, turn) for game in played for turn in range(len(game.decisions))]
    key = _key(player, "words")
    flat = chain.from_iterable(
        in_batches(decisions, batch, parts, key, lambda some: _written(player, some))
    )
    return [[next(flat) for _ in game.decisions] for game in played]


def _written(player: BatchGenerate, decisions: Sequence[tuple[Game, int]]) -> list[Tries]:
    """Tries for each decision until one is settled; open decisions share a batch."""
    turns = take_turns(
        [SellerSeat(PERSONAS[game.persona]) for game, _ in decisions],
        [game.episode.trajectory("seller")[turn].observation for game, turn in decisions],
        [partial(_seed, game, turn) for game, turn in decisions],
        batched_replies(player),
    )
    return [[*turn.invalid_replies, turn.reply.text] for turn in turns]


def _seed(game: Game, turn: int, attempt: int) -> int:
    return seed_of(np.random.default_rng([game.seed, turn, attempt]))


def _key(player: BatchGenerate, what: str) -> Callable[[Sequence[Any]], str]:
    """Cache key: everything that the texts of a batch depend on."""
    model = player.model if isinstance(player, NamedModel) else None
    marks = model and (model.sha256, model.source, asdict(model.decoder.sampling))
    return lambda some: repr((what, marks, source_digest(), some))


def model_behind(player: BatchGenerate) -> dict[str, Any]:
    """The weights that wrote the words, and the fingerprints of prompt and check."""
    hashes = word_hashes()
    if not isinstance(player, NamedModel):
        return {"source": "no model", "sha256": "", "sampling": {}} | hashes
    model = player.model
    sampling = asdict(model.decoder.sampling)
    return {"source": model.source, "sha256": model.sha256, "sampling": sampling} | hashes


@cache
def word_hashes() -> dict[str, str]:
    """The fingerprints of the prompt that asks for a seller's words, and of what checks them."""
    decisions = [decide(obs) for obs in positions(get_task("bazaar/open"), "seller")]
    asked = [brief(decision, persona) for persona in PERSONAS.values() for decision in decisions]
    checked = [
        check(text.format(price=rupees(d.price or 1), item=d.item.name), d).faults == ()
        for d in decisions
        for text in (d.action.message, *CHECKED)
    ]
    return {"prompt": fingerprint(asked), "check": fingerprint(checked)}


def judged(
    player: BatchGenerate,
    played: Sequence[Game],
    tries: Sequence[Sequence[Tries]],
    batch: int,
    parts: Path,
) -> list[str]:
    """The same model's answer, unread, to which persona spoke; one a published game."""
    dialogues = [
        dialogue(game, lines)
        for game, lines in zip(played, final(played, tries), strict=True)
        if game.setting == "published"
    ]

    def answer(some: Sequence[str]) -> list[str]:
        chats = [_question(text) for text in some]
        replies = player.batch(chats, range(len(chats)), [None] * len(chats))
        return [reply.text[:PATIENCE] for reply in replies]

    key = _key(player, "persona")
    return list(chain.from_iterable(in_batches(dialogues, batch, parts, key, answer)))


def dialogue(game: Game, own_lines: Sequence[str]) -> str:
    """The last TURNS lines of a game with the seller's words as they were `said`."""
    buyer_lines = [turn.action.message for turn in game.episode.trajectory("buyer")]
    lines = []
    for number, text in enumerate(own_lines):
        lines.append(f"Seller: {text}")
        lines += [f"Buyer: {text}" for text in buyer_lines[number : number + 1]]
    return "\n".join(lines[-TURNS:])


def _question(text: str) -> list[dict[str, str]]:
    kinds = ", ".join(f"{p.name} ({p.tone}, {p.manner})" for p in PERSONAS.values())
    return [
        {"role": "system", "content": f"Sellers are {kinds}. You name the kind in one word."},
        {"role": "user", "content": f"{text}\n\nWhich kind of seller is this?"},
    ]


def read_persona(answer: str) -> str:
    """The persona that an answer names first; as published, the default where it names none."""
    match = re.search("|".join(PERSONAS), answer.lower())
    return match[0] if match else DEFAULT


def scripted(played: Sequence[Game]) -> Said:
    return [[d.action.message for d in game.decisions] for game in played]


def final(played: Sequence[Game], tries: Sequence[Sequence[Tries]]) -> Said:
    """What the seller says after its checks: a try without faults, or else its scripted line."""
    return [
        [
            choose_words(d, [check(text, d) for text in one])
            for d, one in zip(game.decisions, written, strict=True)
        ]
        for game, written in zip(played, tries, strict=True)
    ]


def sides(
    played: Sequence[Game], tries: Mapping[str, Sequence[Sequence[Tries]]]
) -> dict[str, Said]:
    """Every side's words: the stub's, each model's, each model's first tries."""
    by_side = {STUB: scripted(played)}
    for name, written in tries.items():
        by_side[name] = final(played, written)
        by_side[f"{name}, {FIRST}"] = [[one[0] for one in game] for game in written]
    return by_side
