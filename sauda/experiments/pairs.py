"""A buyer and a seller by name, and their games over the same scenarios of the open market.

A buyer is any policy or language model that can buy there. A seller is a script of SELLERS, a
seller type of the market, a language model that writes its whole moves, or a persona whose moves
code decides and a language model words: "mini:firm". "null:firm" is the persona with its scripted
words, and "acts(linear)" the script that plays through language.

The games of a pair are columns with one value per scenario: `end` is a letter of ENDS, `price` the
price of the deal or None, `rounds` those played, 0 after a forfeit. `misstated` lists, by seat, the
scenarios whose agreement that seat stated at another price than the one agreed, or meant to and was
refused. Prices are rupees.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from env import (
    ACCEPT,
    SELLER,
    SELLER_TYPES,
    Accept,
    EndReason,
    Episode,
    Games,
    IllegalAction,
    Instance,
    Play,
    Policy,
    Results,
    Task,
    TimeDependent,
    advance,
    agent_stream,
    batch_conceded,
    begin,
    episode,
    games_of,
    get_task,
    market_seller,
    play_batch,
    rollout,
    with_seller_type,
)
from sauda.games import BAZAAR
from sauda.games.adapter import ModelTurn, Reply
from sauda.games.bazaar_prompt import first_object
from sauda.language import money
from sauda.llm.model import NULL
from sauda.llm.registry import get_policy, is_model, player_spec, script
from sauda.llm.seller import model_seller, persona_seat, seat_persona, seller_model
from sauda.llm.turn import ModelSeat, apply, attempt_seeds, in_batches, take_turns
from sauda.llm.types import BatchGenerate
from sauda.policies import SELLERS
from sauda.policies.bazaar import tit_for_tat
from sauda.policies.vectorized import batch_form
from sauda.records.seeds import SPLITS, is_unseen_listing

TASK = "bazaar/open"
SCRIPTS = tuple(name for name in SELLERS if name != "schedule")  # whose terms the market has not
SEATS = ("buyer", "seller")
ENDS = {
    "A": "agreement",
    "S": "seller walked",
    "B": "buyer walked",
    "D": "deadline",
    "F": "buyer forfeited",
    "G": "seller forfeited",
}
Replies = Sequence[Mapping[str, str]]  # of one game in order, each with its `seat` and `text`


class Pair(NamedTuple):
    """A buyer and a seller by name."""

    buyer: str
    seller: str


# Who sits at the table ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Side:
    """A language model in one seat of a table."""

    seat: ModelSeat
    generate: BatchGenerate
    weights: str  # name of the model; "" where none are needed


def task_against(seller: str) -> Task:
    """TASK with the player called `seller` in the seller's seat; all other draws stay the same.

    Only sellers of the open market show a manner: it follows from parameters that no other seller
    has. Raises ValueError naming the sellers there are.
    """
    task = get_task(TASK)
    model, worded, persona = seller.partition(":")
    if worded:
        policy = market_seller if model == NULL else model_seller(seller)
        return seat_persona(task, persona_seat(persona).persona, policy)
    if seller in SELLER_TYPES:
        return with_seller_type(task, seller)
    if is_model(seller):
        if player_spec(seller).wrapper is not None:
            raise ValueError(f"a wrapper steers a buyer, so {seller!r} does not sell")
        policy = player_spec(seller).policy(BAZAAR)
    elif (policy := script({name: SELLERS[name] for name in SCRIPTS}, seller)) is None:
        raise ValueError(
            f"no seller {seller!r} for the tournament; sellers are "
            f"{', '.join((*SCRIPTS, *SELLER_TYPES))}, a language model, MODEL:PERSONA and "
            "acts(SCRIPT)"
        )
    silent = replace(task.env, manner=None)
    return replace(task, env=silent, opponents={**task.opponents, "seller": policy})


def buyer_policy(buyer: str) -> Policy:
    """The policy called `buyer`; ValueError naming the policies there are."""
    return get_policy(get_task(TASK), buyer)


def sides(pair: Pair) -> Mapping[str, Side]:
    """The language models at the table of `pair`, by seat."""
    found = {}
    if is_model(pair.buyer):
        found["buyer"] = _whole_moves(pair.buyer)
    model, worded, persona = pair.seller.partition(":")
    if worded and model != NULL:
        found["seller"] = Side(persona_seat(persona), seller_model(model), model)
    elif is_model(pair.seller) and not worded:
        found["seller"] = _whole_moves(pair.seller)
    return found


def _whole_moves(name: str) -> Side:
    player = player_spec(name)
    return Side(player.seat(BAZAAR), player.generate, player.weights)


def scripts(pair: Pair) -> Mapping[str, Policy]:
    """The policies at the table of `pair` that are no language models, by seat."""
    seats = {**task_against(pair.seller).opponents, "buyer": buyer_policy(pair.buyer)}
    return {seat: policy for seat, policy in seats.items() if seat not in sides(pair)}


def weights(pair: Pair) -> list[str]:
    """The names of the models whose weights a game of `pair` needs."""
    return [side.weights for side in sides(pair).values() if side.weights]


# What they play for ------------------------------------------------------------------------------


def scenario_seeds(n: int) -> tuple[int, ...]:
    """The first `n` hold-out seeds about listings that no training game has.

    A scenario fixes item, limits, rounds, discount and every draw; only the players differ. Raises
    ValueError for fewer than 2, or too many.
    """
    unseen = (seed for seed in SPLITS["holdout"] if is_unseen_listing(instance(seed).item))
    seeds = tuple(islice(unseen, max(0, n)))
    if n < 2 or len(seeds) < n:
        most = f"; there are {len(seeds):,}" if len(seeds) < n else ""
        raise ValueError(f"at least 2 scenarios are needed, not {n:,}{most}")
    return seeds


def instance(seed: int) -> Instance:
    """The deal that the scenario of `seed` is about."""
    (deal,) = begin(get_task(TASK), seed).state.private["nature"]
    return deal


@dataclass(frozen=True)
class Scenarios:
    """What n scenarios are about; every array has shape (n,)."""

    seeds: Sequence[int]
    list_price: np.ndarray
    buyer: np.ndarray  # the buyer's reservation price
    seller: np.ndarray  # the seller's
    discount: np.ndarray  # factor on the buyer's gain for each round after the first

    @classmethod
    def of(cls, seeds: Sequence[int]) -> "Scenarios":
        """The scenarios of `seeds`."""
        deals = [instance(seed) for seed in seeds]
        return cls(
            seeds,
            np.array([deal.item.list_price for deal in deals], float),
            np.array([deal.buyer["reservation"] for deal in deals], float),
            np.array([deal.seller["reservation"] for deal in deals], float),
            np.array([deal.buyer["discount"] for deal in deals]),
        )

    @classmethod
    def of_columns(cls, columns: Any) -> "Scenarios":
        """The scenarios of an artifact: of its ScenarioColumns."""
        prices = (columns.list_price, columns.buyer, columns.seller, columns.discount)
        return cls(columns.seed, *(np.array(column, float) for column in prices))

    @cached_property
    def zopa(self) -> np.ndarray:
        """Whether some price serves both sides, shape (n,)."""
        return self.buyer > self.seller

    @cached_property
    def width(self) -> np.ndarray:
        """What shares are shares of: the ZOPA's width, the list price where there is no ZOPA."""
        return np.where(self.zopa, self.buyer - self.seller, self.list_price)

    def as_json(self) -> dict[str, Any]:
        """The scenarios as columns."""
        names = ("list_price", "buyer", "seller")
        whole = {name: getattr(self, name).astype(int).tolist() for name in names}
        return {"seed": list(self.seeds), **whole, "discount": self.discount.tolist()}


# Games of scripts --------------------------------------------------------------------------------


def play_pair(pair: Pair, seeds: tuple[int, ...]) -> dict[str, Any]:
    """The columns of two scripts over `seeds`, through the fastest engine that plays them."""
    form = batch_form(buyer_policy(pair.buyer))
    games = batch_games(pair.seller, seeds) if form else None
    if games is None:
        return replay_pair(pair, seeds)
    return _batch_columns(play_batch(games, form))


def replay_pair(pair: Pair, seeds: Sequence[int]) -> dict[str, Any]:
    """The same columns, one game at a time: a check of the batch engine."""
    return columns(play_scripts(pair, seeds))


def play_scripts(pair: Pair, seeds: Sequence[int]) -> list[Episode]:
    """The games of two scripts over `seeds`, by the scalar rules."""
    task, buyer = task_against(pair.seller), buyer_policy(pair.buyer)
    return [rollout(task, buyer, seed) for seed in seeds]


def columns(
    episodes: Sequence[Episode], refused: dict[str, list[int]] | None = None
) -> dict[str, Any]:
    """The columns of `episodes`; `refused` lists those with a refused agreement, by seat."""
    deals = [played.final.table.past[0] if played.final.table.past else None for played in episodes]
    stated = {
        seat: [i for i, played in enumerate(episodes) if _misstates(played, seat)] for seat in SEATS
    }
    if refused is not None:
        stated = {seat: sorted({*stated[seat], *refused[seat]}) for seat in SEATS}
    return {
        "end": "".join(map(_letter, episodes)),
        "price": [None if deal is None else deal.price for deal in deals],
        "rounds": [0 if deal is None else deal.rounds for deal in deals],
        "misstated": stated,
    }


def _letter(played: Episode) -> str:
    """How an episode ended, as a letter of ENDS."""
    if played.end == EndReason.FORFEIT:
        return "F" if played.turns[-1].agent == "buyer" else "G"
    return _end_letter(played.end, played.final.table.past[0].by == "seller")


def _end_letter(end: EndReason, by_seller: bool) -> str:
    if end == EndReason.WALKAWAY:
        return "S" if by_seller else "B"
    return {EndReason.AGREEMENT: "A", EndReason.DEADLINE: "D", EndReason.FORFEIT: "F"}[end]


def _misstates(played: Episode, seat: str) -> bool:
    """Whether the words of the seat's agreement name another price than the one agreed."""
    turn = played.turns[-1]
    if turn.agent != seat or not isinstance(turn.action, Accept):
        return False
    words = turn.action.message.replace(turn.observation.table.item.name, "")
    named = {mention.amount for mention in money.prices(words)} if words else set()
    return bool(named - {played.final.table.past[0].price})


class NoTells(NamedTuple):
    """The tells of a seller without a manner; shape (n,)."""

    verbal_deception_cue: np.ndarray
    looks_away: np.ndarray


@dataclass(frozen=True)
class ScriptedSellers:
    """n sellers of one script for the batch engine; they make the moves of the scalar ones.

    Arrays have shape (n,).
    """

    policy: Policy  # a TimeDependent or `tit_for_tat`
    list_price: np.ndarray
    reservation: np.ndarray
    rounds: np.ndarray  # int

    @property
    def opening(self) -> np.ndarray:
        """The opening asks."""
        return np.maximum(self.list_price, self.reservation)

    def answer(self, t: int, asks: np.ndarray, bids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The moves at round `t`: kinds and asks, (n,) each; `asks` and `bids` are (t, n)."""
        if isinstance(self.policy, TimeDependent):
            done = batch_conceded(t, self.rounds + 1, self.policy.exponent)
            ask = np.rint(self.opening - done * (self.opening - self.reservation))
            ask = np.minimum(np.maximum(ask, self.reservation), asks[-1])
            return (bids[-1] >= ask) * ACCEPT, ask
        rise = np.maximum(0, bids[-1] - bids[-2]) if t > 1 else 0
        ask = np.maximum(np.rint(asks[-1] - rise), self.reservation)
        least = np.where(t >= self.rounds, self.reservation, ask)
        return (bids[-1] >= least) * ACCEPT, ask

    def tells(self, t: int, asks: np.ndarray) -> NoTells:
        """No tells."""
        n = asks.shape[1]
        return NoTells(np.zeros(n), np.zeros(n, bool))


@lru_cache(maxsize=4)
def batch_games(seller: str, seeds: tuple[int, ...]) -> Games | None:
    """The games of `seeds` against the scripted `seller`; None where it has no batch form."""
    if ":" in seller or seller in SELLER_TYPES:
        return games_of(TASK, seeds, task_against(seller))
    policy = SELLERS.get(seller)  # none through language, whose games are played one by one
    if not (isinstance(policy, TimeDependent) or policy is tit_for_tat):
        return None
    games = games_of(TASK, seeds)
    (deal,) = games.deals
    sellers = ScriptedSellers(policy, deal.list_price, deal.seller_reservation, deal.rounds)
    return replace(games, deals=(replace(deal, opening=sellers.opening, sellers=sellers),))


def _batch_columns(results: Results) -> dict[str, Any]:
    """The columns of games of the batch engine, in which nobody speaks and no seller forfeits."""
    (deal,) = results.deals
    reasons = [tuple(EndReason)[end] for end in deal.end.tolist()]
    by_seller = [by == SELLER for by in deal.by.tolist()]
    ends = "".join(map(_end_letter, reasons, by_seller))
    prices, rounds = deal.price.tolist(), deal.rounds.tolist()
    return {
        "end": ends,
        "price": [int(p) if end == "A" else None for end, p in zip(ends, prices, strict=True)],
        "rounds": [0 if end == "F" else n for end, n in zip(ends, rounds, strict=True)],
        "misstated": {seat: [] for seat in SEATS},
    }


# Games of language models ------------------------------------------------------------------------


@dataclass
class ModelPlay:
    """A game in progress, and the turns of its language models."""

    play: Play
    turns: list[tuple[str, ModelTurn]] = field(default_factory=list)  # with the seat


def play_sides(
    task: Task, sides: Mapping[str, Side], scripts: Mapping[str, Policy], seeds: Sequence[int]
) -> list[ModelPlay]:
    """The games of `seeds` to their ends: models in the seats of `sides`, policies elsewhere.

    All play in one batch, with a forward pass per turn of all. Chance depends on (seed, agent,
    turn) as in `rollout`, but bf16 rounds otherwise in a batch.
    """
    games = [ModelPlay(advance(task, scripts, begin(task, seed))) for seed in seeds]
    while any(_next_seat(task, game) for game in games):
        for agent, side in sides.items():
            due = [game for game in games if _next_seat(task, game) == agent]
            for game, turn in zip(due, _turns(task, agent, side, due), strict=True):
                play, turn = apply(task, game.play, turn)
                game.play = advance(task, scripts, play)
                game.turns.append((agent, turn))
    return games


def _next_seat(task: Task, game: ModelPlay) -> str | None:
    """The seat whose turn it is; None once the game is over."""
    return None if game.play.forfeit else task.env.to_act(game.play.state)


def _turns(task: Task, agent: str, side: Side, games: Sequence[ModelPlay]) -> list[ModelTurn]:
    """The next turn of `agent` in each of `games`, the replies in one batch."""
    plays = [game.play for game in games]
    taken = [sum(turn.agent == agent for turn in play.turns) for play in plays]
    return take_turns(
        [side.seat] * len(plays),
        [task.env.observe(play.state, agent) for play in plays],
        [
            attempt_seeds(agent_stream(task, play.seed, agent, number))
            for play, number in zip(plays, taken, strict=True)
        ],
        in_batches(side.generate),
    )


def play_models(pair: Pair, seeds: Sequence[int]) -> dict[str, Any]:
    """The columns of a pair with a language model, all games in one batch, and `replies`.

    `replies` lists those of each game in order, [seat, text], with replies that held no move.
    """
    task = task_against(pair.seller)
    games = play_sides(task, sides(pair), scripts(pair), seeds)
    replies = [
        [
            [agent, text]
            for agent, turn in game.turns
            for text in (*turn.invalid_replies, turn.reply.text)
        ]
        for game in games
    ]
    return model_columns(task, games) | {"replies": replies}


def model_columns(task: Task, games: Sequence[ModelPlay]) -> dict[str, Any]:
    """The columns of games with a language model, refused agreements among the mis-stated."""
    refused = {
        seat: [
            i
            for i, game in enumerate(games)
            if any(agent == seat and is_refused_agreement(turn) for agent, turn in game.turns)
        ]
        for seat in SEATS
    }
    return columns([episode(task, game.play) for game in games], refused)


def is_refused_agreement(turn: ModelTurn) -> bool:
    """Whether the reply agrees in form, and was refused because price or words differ from it."""
    if not isinstance(turn.parsed.proposal, IllegalAction):
        return False
    try:
        row = first_object(turn.reply.text)
    except IllegalAction:
        return False
    return bool(row.get("accept")) or row.get("action") == "accept"


# From recorded replies ---------------------------------------------------------------------------


def replay_episodes(pair: Pair, seeds: Sequence[int], replies: Sequence[Replies]) -> list[Episode]:
    """The games of `seeds`; a language model gives its recorded replies of each game, in order.

    Raises ValueError where a game needs a reply that is not recorded.
    """
    if not sides(pair):
        return play_scripts(pair, seeds)
    task = task_against(pair.seller)
    return [episode(task, game.play) for game in replay_models(pair, seeds, replies)]


def replay_models(pair: Pair, seeds: Sequence[int], replies: Sequence[Replies]) -> list[ModelPlay]:
    """The games of `seeds`, one after the other, each from its recorded replies."""
    task, policies, models = task_against(pair.seller), scripts(pair), sides(pair)
    games = []
    for seed, said in zip(seeds, replies, strict=True):
        seats = {
            seat: replace(
                side, generate=_Recorded(iter([one["text"] for one in said if one["seat"] == seat]))
            )
            for seat, side in models.items()
        }
        games += play_sides(task, seats, policies, [seed])
    return games


@dataclass(frozen=True)
class _Recorded:
    """A `BatchGenerate` that gives recorded texts in order, one per request."""

    texts: Iterator[str]

    def batch(self, chats: Sequence[Any], seeds: Sequence[int], schemas: Any) -> list[Reply]:
        found = [Reply(text, "recorded") for _, text in zip(chats, self.texts, strict=False)]
        if len(found) < len(chats):
            raise ValueError("the game needs more replies than are recorded of it")
        return found
