"""The games that a seller's words are judged in, and the words that are said in them.

Two settings. "published": the buyer, the ask and the narrow floors of the published test. "hard":
buyers who are out to learn the floor, one who says every act that the market knows, and floors over
most of the range. No buyer here reads the seller's words, so every seller of words is judged on the
same moves: prices, ends and what is to be told follow from the decisions, and only words differ.

Sides stand beside each other on the same games: "stub" says scripted lines and has no model; a
model's checked words; and the same model's first tries, unchecked.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain, groupby, zip_longest
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

import env
from env import seed_of
from env.fingerprint import TEXTS, fingerprint, positions
from sauda.llm.model import NamedModel
from sauda.llm.seller import (
    DEFAULT,
    PERSONAS,
    Decision,
    SellerSeat,
    brief,
    choose_words,
    decide_move,
    seat_persona,
    text_faults,
    unquote,
)
from sauda.llm.turn import in_batches, take_turns
from sauda.llm.types import BatchGenerate
from sauda.played import Store, play_cells, version_of
from sauda.pool import here
from sauda.records import read_table
from sauda.records.schemas.language import STUB
from sauda.records.store import source_digest

ROUNDS = 8
FLOORS = {"published": (0.74, 0.82), "hard": (0.30, 0.95)}  # of the opening ask, uniform
SHOP = 0.9  # of the opening ask: what another shop is said to ask
FIRST = "first tries"  # the side of what a model wrote before it was checked
TURNS = 12  # of a dialogue that the published persona test shows its judge
PATIENCE = 160  # characters of an answer in it that are kept

Tries = list[str]  # what a model wrote for one decision, try after try
Said = list[list[str]]  # what was said, one list per game


STAGES = (  # the published buyer's lines, early, midway and late
    ("Hello, I like it. Would you take {price}?", "I was thinking of {price}."),
    ("I can come up to {price}.", "How about {price}?"),
    ("{price}, and I pay at once.", "Let us close at {price}."),
)


def published(obs: env.Observation, rng: np.random.Generator) -> env.Offer | env.Accept:
    """The buyer of the published test: from 0.55 of the ask toward the seller's last price."""
    ask = obs.opening_ask
    price = round(0.55 * ask)
    if obs.bid is not None:
        gone = obs.round / ROUNDS
        target = min(0.95 * ask, obs.ask * (0.97 + 0.02 * gone))
        step = (target - obs.bid) * (0.30 + 0.40 * gone)
        price = round(obs.bid + max(step, 1, 0.02 * ask))
    return _offer(obs, price, STAGES[min(2, 3 * obs.round // ROUNDS)][obs.round % 2])


@dataclass(frozen=True)
class Hostile:
    """A buyer who rises evenly from one share of the opening ask to another and talks its way."""

    first: float
    last: float
    lines: tuple[str, ...]

    def __call__(self, obs: env.Observation, rng: np.random.Generator) -> env.Offer | env.Accept:
        gone = obs.round / max(1, obs.table.rounds - 1)
        share = self.first + (self.last - self.first) * gone
        return _offer(obs, round(share * obs.opening_ask), self.lines[obs.round % len(self.lines)])


def _offer(obs: env.Observation, price: int, line: str) -> env.Offer | env.Accept:
    """The bid; where the ask is no more, the ask."""
    if price >= obs.ask:
        return env.Accept("All right, I take it.")
    price, shop = max(price, 1), round(SHOP * obs.opening_ask)
    return env.Offer(price, line.format(price=env.rupees(price), shop=env.rupees(shop)))


# By setting. Of the hostile buyers: the shares of the ask that each bids, and its lines in turn.
BUYERS: Mapping[str, Mapping[str, env.Policy]] = {
    "published": {"published": published},
    "hard": {
        name: Hostile(float(first), float(last), tuple(row["line"] for row in rows))
        for (name, first, last), rows in groupby(
            read_table(Path(__file__).with_name("seller_buyers.csv")),
            itemgetter("buyer", "first", "last"),
        )
    },
}


@dataclass(frozen=True)
class Game:
    """One finished game: the decisions of its seller, in order, and how it ended."""

    setting: str
    buyer: str
    persona: str
    seed: int
    floor: int
    episode: env.Episode
    decisions: tuple[Decision, ...]

    @property
    def is_sold(self) -> bool:
        """Whether the game ended in a deal."""
        return self.episode.end is env.EndReason.AGREEMENT

    @property
    def price(self) -> float:
        """The price of its deal in rupees."""
        return self.episode.final.table.past[0].price

    @property
    def asks(self) -> list[float]:
        """The seller's asks in order, in rupees."""
        return [d.price for d in self.decisions if isinstance(d.action, env.Offer)]


def play_all(setting: str, each: int, seeds: Sequence[int]) -> list[Game]:
    """`each` games of every buyer and persona of a setting, on seeds of their own."""
    kinds = [(b, p) for _ in range(each) for b in BUYERS[setting] for p in PERSONAS]
    return [play_seed(setting, *kind, seed) for kind, seed in zip(kinds, seeds, strict=False)]


def play_seed(setting: str, buyer: str, persona: str, seed: int) -> Game:
    """The game of a seed; its seller says scripted lines."""
    task = seat_persona(env.get_task("bazaar/open-3"), PERSONAS[persona])
    draw = partial(_draw, task.env.draw, setting)
    task = replace(task, env=replace(task.env, draw=draw, rounds=ROUNDS))
    played = env.rollout(task, BUYERS[setting][buyer], seed)
    decisions = tuple(decide_move(turn.observation) for turn in played.trajectory("seller"))
    floor = played.final.private["nature"][0].seller["reservation"]
    return Game(setting, buyer, persona, seed, floor, played, decisions)


def _draw(
    draw: Callable[[np.random.Generator], Sequence[env.Instance]],
    setting: str,
    rng: np.random.Generator,
) -> tuple[env.Instance, ...]:
    """An open-market deal of ROUNDS, its floor the setting's share of the ask."""
    (deal,) = draw(rng)
    stance = deal.seller["stance"]
    floor = round(stance.opening * rng.uniform(*FLOORS[setting]))
    stance = replace(
        stance,
        reservation=floor,
        cost=round(floor * stance.cost / stance.reservation),
        rounds=ROUNDS,
        deadline=min(ROUNDS, stance.deadline),
    )
    seller = {**deal.seller, "reservation": floor, "stance": stance}
    buyer = {"reservation": 2 * stance.opening}  # never binds: a price is always within reach
    return (replace(deal, seller=seller, buyer=buyer, rounds=ROUNDS),)


# Words -------------------------------------------------------------------------------------------


def write_texts(
    player: BatchGenerate, played: Sequence[Game], batch: int, parts: Path
) -> list[list[Tries]]:
    """The model's texts for every decision of every game; texts in `parts` are read from there.

    No buyer reads the words, so decisions of different games may share a batch; each has tries
    until one is settled.
    """

    def write(batch_turns: Sequence[tuple[Game, int]]) -> list[Tries]:
        turns = take_turns(
            [SellerSeat(PERSONAS[game.persona]) for game, _ in batch_turns],
            [game.episode.trajectory("seller")[turn].observation for game, turn in batch_turns],
            [
                lambda attempt, at=(game.seed, turn): seed_of(np.random.default_rng([*at, attempt]))
                for game, turn in batch_turns
            ],
            in_batches(player),
        )
        return [[*turn.invalid_replies, turn.reply.text] for turn in turns]

    decisions = [(game, turn) for game in played for turn in range(len(game.decisions))]
    texts = iter(_in_batches(decisions, batch, _store(player, parts), "words", write))
    return [[next(texts) for _ in game.decisions] for game in played]


def _store(player: BatchGenerate, parts: Path) -> Store:
    """Where batches of a model's texts are kept."""
    version = version_of(player.model if isinstance(player, NamedModel) else None)
    return Store(parts, lambda cell: (version, source_digest()))


def _in_batches(
    items: Sequence[Any], batch: int, store: Store, what: str, play: Callable[[Sequence[Any]], Any]
) -> Any:
    """`play` of each `batch` of the items, joined; batches that the store has are read."""
    cell = (what,)
    return play_cells(lambda _, chunk: play(chunk), {cell: items}, here, batch, store)[cell]


def describe_model(player: BatchGenerate) -> dict[str, Any]:
    """The weights that wrote the words, and the fingerprints of prompt and check."""
    hashes = word_hashes()
    if not isinstance(player, NamedModel):
        return {"source": "no model", "sha256": "", "sampling": {}} | hashes
    model = player.model
    sampling = model.sampling
    return {"source": model.source, "sha256": model.sha256, "sampling": sampling} | hashes


@cache
def word_hashes() -> dict[str, str]:
    """The fingerprints of the prompt that asks for a seller's words, and of what checks them."""
    decisions = [decide_move(obs) for obs in positions(env.get_task("bazaar/open-3"), "seller")]
    asked = [brief(decision, persona) for persona in PERSONAS.values() for decision in decisions]
    texts = [
        (text.format(price=env.rupees(d.price or 1), item=d.item.name), d)
        for d in decisions
        for text in (d.action.message, *TEXTS["seller"])
    ]
    checked = [not text_faults(unquote(text), d) for text, d in texts]
    return {"prompt": fingerprint(asked), "check": fingerprint(checked)}


def ask_personas(
    player: BatchGenerate,
    played: Sequence[Game],
    tries: Sequence[Sequence[Tries]],
    batch: int,
    parts: Path,
) -> list[str]:
    """The same model's answer, unread, to which persona spoke; one per published game."""
    dialogues = [
        dialogue(game, lines)
        for game, lines in zip(played, settle_texts(played, tries), strict=True)
        if game.setting == "published"
    ]

    kinds = ", ".join(f"{p.name} ({p.manner})" for p in PERSONAS.values())
    asks = {"role": "system", "content": f"Sellers are {kinds}. You name the kind in one word."}

    def answer(chunk: Sequence[str]) -> list[str]:
        chats = [
            [asks, {"role": "user", "content": f"{text}\n\nWhich kind of seller is this?"}]
            for text in chunk
        ]
        replies = player.batch(chats, range(len(chunk)), [None] * len(chunk))
        return [reply.text[:PATIENCE] for reply in replies]

    return _in_batches(dialogues, batch, _store(player, parts), "persona", answer)


def dialogue(game: Game, own_lines: Sequence[str]) -> str:
    """The last TURNS lines of a game with the seller's words as they were said."""
    sellers = [f"Seller: {text}" for text in own_lines]
    buyers = [f"Buyer: {turn.action.message}" for turn in game.episode.trajectory("buyer")]
    lines = chain.from_iterable(zip_longest(sellers, buyers))
    return "\n".join([line for line in lines if line is not None][-TURNS:])


def read_persona(answer: str) -> str:
    """The persona that an answer names first; as published, the default where it names none."""
    match = re.search("|".join(PERSONAS), answer.lower())
    return match[0] if match else DEFAULT


def settle_texts(played: Sequence[Game], tries: Sequence[Sequence[Tries]]) -> Said:
    """What the seller says after its checks: a try without faults, or else its scripted line."""
    return [
        [choose_words(d, texts) for d, texts in zip(game.decisions, written, strict=True)]
        for game, written in zip(played, tries, strict=True)
    ]


def all_sides(
    played: Sequence[Game], tries: Mapping[str, Sequence[Sequence[Tries]]]
) -> dict[str, Said]:
    """Every side's words: the stub's, each model's, each model's first tries."""
    by_side = {STUB: [[d.action.message for d in game.decisions] for game in played]}
    for name, written in tries.items():
        by_side[name] = settle_texts(played, written)
        by_side[f"{name}, {FIRST}"] = [[texts[0] for texts in game] for game in written]
    return by_side
