"""The three games of a pair that the page shows; a model's are replayed from its recorded replies.

The artifact keeps the outcome of every game, and the replies of language models in these three.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from env import Episode, episode
from sauda.evaluation.market.tournament.figures import Payoffs
from sauda.evaluation.market.tournament.games import SEATS, model_columns, replayed
from sauda.evaluation.market.tournament.model_games import ModelPlay, play_sides
from sauda.evaluation.market.tournament.players import Pair, scripts, sides, task_against
from sauda.evaluation.market.tournament.scenarios import Scenarios
from sauda.games.adapter import Reply

SHOWN = {"10th percentile": 0.1, "median": 0.5, "90th percentile": 0.9}
Replies = Sequence[Mapping[str, str]]  # of one game in order, each with its `seat` and `text`


@dataclass(frozen=True)
class Chosen:
    """A game of a pair that is shown."""

    why: str  # a key of SHOWN
    index: int  # of its scenario
    seed: int


def chosen(columns: Mapping[str, Any], at: Scenarios) -> list[Chosen]:
    """The games at percentiles of the buyer's utility, among the scenarios with a ZOPA.

    Of equal utilities the lower seed comes first, so that the choice is the same every time. Empty
    without a ZOPA.
    """
    utility = Payoffs.of(columns, at).utility["buyer"]
    ranked = sorted(at.zopa.nonzero()[0].tolist(), key=lambda i: (utility[i], at.seeds[i]))
    if not ranked:
        return []
    places = {why: ranked[round(part * (len(ranked) - 1))] for why, part in SHOWN.items()}
    return [Chosen(why, index, at.seeds[index]) for why, index in places.items()]


def shown_replies(played: Mapping[str, Any], at: Scenarios) -> list[list[dict[str, str]]]:
    """The replies in the chosen games, of the columns that `play_models` gives."""
    return [
        [{"seat": seat, "text": text} for seat, text in played["replies"][game.index]]
        for game in chosen(played, at)
    ]


def episodes(pair: Pair, seeds: Sequence[int], replies: Sequence[Replies]) -> list[Episode]:
    """The games of `seeds`; a language model gives its replies of each game, in order.

    Raises ValueError where a game needs a reply that is not recorded.
    """
    if not sides(pair):
        return replayed(pair, seeds)
    task = task_against(pair.seller)
    return [episode(task, game.play) for game in _replayed(pair, seeds, replies)]


def replayed_columns(
    pair: Pair, columns: Mapping[str, Any], at: Scenarios, replies: Sequence[Replies]
) -> dict[str, Any]:
    """The columns of a pair with its shown games as their replies give them now."""
    games = chosen(columns, at)
    plays = _replayed(pair, [game.seed for game in games], replies)
    now = model_columns(task_against(pair.seller), plays)
    indices = [game.index for game in games]

    def corrected(name: str) -> list[Any]:
        values = list(columns[name])
        for place, value in zip(indices, now[name], strict=True):
            values[place] = value
        return values

    misstated = {
        seat: sorted(
            {*columns["misstated"][seat]}.difference(indices)
            | {indices[i] for i in now["misstated"][seat]}
        )
        for seat in SEATS
    }
    return {
        "end": "".join(corrected("end")),
        "price": corrected("price"),
        "rounds": corrected("rounds"),
        "misstated": misstated,
    }


def _replayed(pair: Pair, seeds: Sequence[int], replies: Sequence[Replies]) -> list[ModelPlay]:
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
    """A `BatchGenerate` that gives recorded texts in order, one a request."""

    texts: Iterator[str]

    def batch(self, chats: Sequence[Any], seeds: Sequence[int], schemas: Any) -> list[Reply]:
        found = [Reply(text, "recorded") for _, text in zip(chats, self.texts, strict=False)]
        if len(found) < len(chats):
            raise ValueError("the game needs more replies than are recorded of it")
        return found
