"""Plays one pair over the scenarios; its games become columns with one value a scenario.

`end` is a letter of ENDS, `price` the price of the deal or None, `rounds` those played, 0 after a
forfeit. `misstated` lists, by seat, the scenarios whose agreement that seat stated at another price
than the one agreed, or meant to and was refused.
"""

from collections.abc import Sequence
from typing import Any

from env import (
    SELLER,
    Accept,
    EndReason,
    Episode,
    IllegalAction,
    Results,
    Task,
    episode,
    play_batch,
    rollout,
)
from sauda.evaluation.market.tournament.batch_sellers import batch_games
from sauda.evaluation.market.tournament.model_games import ModelPlay, play_sides
from sauda.evaluation.market.tournament.players import (
    Pair,
    buyer_policy,
    scripts,
    sides,
    task_against,
)
from sauda.games.adapter import ModelTurn
from sauda.games.bazaar_prompt import first_object
from sauda.language import money
from sauda.policies.vectorized import batch_form

SEATS = ("buyer", "seller")
ENDS = {
    "A": "agreement",
    "S": "seller walked",
    "B": "buyer walked",
    "D": "deadline",
    "F": "buyer forfeited",
    "G": "seller forfeited",
}


def play_pair(pair: Pair, seeds: tuple[int, ...]) -> dict[str, Any]:
    """The columns of `pair` over `seeds`, through the fastest engine that plays it."""
    if sides(pair):
        return play_models(pair, seeds)
    form = batch_form(buyer_policy(pair.buyer))
    games = batch_games(pair.seller, seeds) if form else None
    if games is None:
        return replay_pair(pair, seeds)
    return _batch_columns(play_batch(games, form))


def replay_pair(pair: Pair, seeds: Sequence[int]) -> dict[str, Any]:
    """The same columns of two scripts, a game at a time: a check of the batch engine."""
    return columns(replayed(pair, seeds))


def replayed(pair: Pair, seeds: Sequence[int]) -> list[Episode]:
    """The games of two scripts over `seeds`, by the scalar rules."""
    task, buyer = task_against(pair.seller), buyer_policy(pair.buyer)
    return [rollout(task, buyer, seed) for seed in seeds]


def play_models(pair: Pair, seeds: Sequence[int]) -> dict[str, Any]:
    """The same columns of a pair with a language model, all games in one batch, and `replies`.

    `replies` lists those of each game in order, [seat, text], with replies that held no move.
    """
    task = task_against(pair.seller)
    games = play_sides(task, sides(pair), scripts(pair), seeds)
    return model_columns(task, games) | {"replies": [replies_of(game) for game in games]}


def model_columns(task: Task, games: Sequence[ModelPlay]) -> dict[str, Any]:
    """The columns of games with a language model, refused agreements among the mis-stated."""
    refused = {
        seat: [
            i
            for i, game in enumerate(games)
            if any(agent == seat and refused_agreement(turn) for agent, turn in game.turns)
        ]
        for seat in SEATS
    }
    return columns([episode(task, game.play) for game in games], refused)


def replies_of(game: ModelPlay) -> list[list[str]]:
    """The replies of the language models in a game, each [seat, text], in order."""
    return [
        [agent, text]
        for agent, turn in game.turns
        for text in (*turn.invalid_replies, turn.reply.text)
    ]


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
    return _ended(played.end, played.final.table.past[0].by == "seller")


def _ended(end: EndReason, by_seller: bool) -> str:
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


def refused_agreement(turn: ModelTurn) -> bool:
    """Whether the reply agrees in form, and was refused because price or words differ from it."""
    if not isinstance(turn.parsed.proposal, IllegalAction):
        return False
    try:
        row = first_object(turn.reply.text)
    except IllegalAction:
        return False
    return bool(row.get("accept")) or row.get("action") == "accept"


def _batch_columns(results: Results) -> dict[str, Any]:
    """The columns of games of the batch engine, in which nobody speaks and no seller forfeits."""
    (deal,) = results.deals
    reasons = [tuple(EndReason)[end] for end in deal.end.tolist()]
    by_seller = [by == SELLER for by in deal.by.tolist()]
    ends = "".join(map(_ended, reasons, by_seller))
    return {
        "end": ends,
        "price": [
            int(price) if end == "A" else None
            for end, price in zip(ends, deal.price.tolist(), strict=True)
        ],
        "rounds": [
            0 if end == "F" else rounds
            for end, rounds in zip(ends, deal.rounds.tolist(), strict=True)
        ],
        "misstated": {seat: [] for seat in SEATS},
    }
