"""The tournament's artifact: the games of every pair, and the tables that follow from them."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from itertools import product, repeat
from pathlib import Path
from typing import Any

import numpy as np

from env import SELLER_TYPES
from sauda.evaluation.batches import in_batches, joined
from sauda.evaluation.market.tournament.figures import Payoffs, cell
from sauda.evaluation.market.tournament.games import (
    ENDS,
    SEATS,
    play_models,
    play_pair,
    replay_pair,
)
from sauda.evaluation.market.tournament.players import (
    TASK,
    Pair,
    buyer_policy,
    sides,
    task_against,
    weights,
)
from sauda.evaluation.market.tournament.ranking import (
    comparisons,
    exploitability,
    ranks,
    variance,
)
from sauda.evaluation.market.tournament.scenarios import Scenarios, scenario_seeds
from sauda.evaluation.market.tournament.shown import replayed_columns, shown_replies
from sauda.evaluation.models.comparison import Replayed
from sauda.evaluation.models.sources import Played, is_same_player, model_sources, with_cpus
from sauda.games import BAZAAR
from sauda.llm.model import CACHE, NULL, load_once
from sauda.llm.seller import PERSONAS
from sauda.policies import BUYERS
from sauda.records.progress import progress
from sauda.records.provenance import source_digest

# The untrained base and the buyer after each stage of training; the page serves "mini+distill".
STAGES = ("mini", "mini+sft", "mini+distill", "mini+grpo", "mini+dpo")
ROLES = ("mini+roles-buyer", "mini+roles-seller", "mini+roles-generalist")
SLOW = "belief"  # takes most of the time, so its pairs begin first
Games = Mapping[Pair, Mapping[str, Any]]  # columns by pair


@dataclass(frozen=True)
class Config:
    """Who plays; the defaults are the tournament that we report.

    A language model joins by its name: as a buyer "mini+grpo", as a seller of whole moves the same,
    as the wording of a persona "mini:firm".
    """

    buyers: tuple[str, ...] = (*BUYERS, "pilot", SLOW, *STAGES, *ROLES)
    sellers: tuple[str, ...] = (
        "boulware", "linear", "conceder", "tit_for_tat", "random",
        *SELLER_TYPES,
        *(f"{NULL}:{persona}" for persona in PERSONAS),
        STAGES[0], *ROLES,
    )  # fmt: skip
    scenarios: int = 100  # hold-out games a pair, about listings that no training game has
    batch: int = 50  # games of a language model played together

    def pairs(self) -> list[Pair]:
        """Every buyer with every seller; ValueError for a name that cannot take its seat."""
        for names in (self.buyers, self.sellers):
            if len(set(names)) < max(2, len(names)):
                raise ValueError("a tournament has at least two buyers and two sellers, once each")
        for seller in self.sellers:
            task_against(seller)
        for buyer in self.buyers:
            buyer_policy(buyer)
        return [Pair(*pair) for pair in product(self.buyers, self.sellers)]

    def both(self) -> list[str]:
        """The players that take both seats."""
        return [name for name in self.buyers if name in self.sellers]


def tournament(
    config: Config,
    workers: int = 2,
    folder: Path | None = None,
    recorded: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The data of the artifact. Batches of language models are kept in `folder`.

    Pairs with a language model in `recorded`, the data of an earlier tournament over the same
    scenarios, keep their games where weights, sampling, prompt and parser are still the same. A
    model whose games were played on several kinds of CPU names them all.
    """
    seeds, pairs = scenario_seeds(config.scenarios), config.pairs()
    at = Scenarios.of(seeds)
    models = model_sources({name for pair in pairs for name in weights(pair)}, BAZAAR)
    games, played = scripted(pairs, seeds, workers), _with_models(pairs)
    replies, on = {}, []
    for pair in progress(played, len(played), "playing models", "pair") if played else ():
        kept = recorded is not None and _is_recorded(pair, at, models, recorded)
        if kept:
            games[pair] = recorded["games"][pair.buyer][pair.seller]
            replies[pair] = recorded["replies"][pair.buyer][pair.seller]
        else:
            columns = kept_games(pair, seeds, config.batch, folder or CACHE / "tournament")
            games[pair], replies[pair] = _outcomes(columns), shown_replies(columns, at)
        on += [Played(name, kept, not kept) for name in weights(pair)]
    models = with_cpus(models, recorded["models"] if recorded else {}, on)
    return summarised(config, games, at) | {"replies": _by_seat(replies), "models": models}


def _is_recorded(
    pair: Pair, at: Scenarios, models: Mapping[str, Any], recorded: Mapping[str, Any]
) -> bool:
    """Whether `recorded` has the games of a pair of language models that are still the same."""
    then = recorded["models"]
    return (
        list(at.seeds) == recorded["scenarios"]["seed"]
        and pair.seller in recorded["replies"].get(pair.buyer, ())
        and all(is_same_player(then.get(name), models[name]) for name in weights(pair))
    )


def _by_seat(values: Mapping[Pair, Any]) -> dict[str, dict[str, Any]]:
    """Values of pairs, by buyer and then by seller."""
    found: dict[str, dict[str, Any]] = {}
    for pair, value in values.items():
        found.setdefault(pair.buyer, {})[pair.seller] = value
    return found


def _outcomes(played: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a pair without the replies of its models."""
    return {name: values for name, values in played.items() if name != "replies"}


def scripted(
    pairs: Sequence[Pair], seeds: tuple[int, ...], workers: int, play: Any = play_pair
) -> dict[Pair, dict[str, Any]]:
    """The columns of the pairs without a language model, the slow ones first."""
    some = [pair for pair in pairs if not sides(pair)]
    some.sort(key=lambda pair: (pair.buyer != SLOW, pair.seller))
    with ProcessPoolExecutor(workers) as pool:
        played = pool.map(play, some, repeat(seeds))
        return dict(zip(some, progress(played, len(some), "playing scripts", "pair"), strict=True))


def _with_models(pairs: Sequence[Pair]) -> list[Pair]:
    return [pair for pair in pairs if sides(pair)]


def kept_games(pair: Pair, seeds: Sequence[int], batch: int, folder: Path) -> dict[str, Any]:
    """The columns of a pair with a language model; finished batches are read from `folder`."""
    models = [load_once(name) for name in weights(pair)]
    weights_used = [
        (model.sha256, model.source, asdict(model.decoder.sampling)) for model in models
    ]
    marks = (*weights_used, source_digest())
    pieces = in_batches(
        seeds,
        batch,
        folder,
        lambda some: repr((*pair, list(some), *marks)),
        lambda some: play_models(pair, some),
    )
    return _joined(pieces)


def _joined(pieces: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The columns of several batches as those of one; listed scenarios count on."""
    starts = np.cumsum([0, *(len(piece["end"]) for piece in pieces)]).tolist()
    moved = [
        piece
        | {
            "misstated": {
                seat: [start + i for i in listed] for seat, listed in piece["misstated"].items()
            }
        }
        for start, piece in zip(starts, pieces, strict=False)
    ]
    return joined(moved)


def summarised(config: Config, games: Games, at: Scenarios) -> dict[str, Any]:
    """The tables of the artifact, all computed from the games."""
    won = {pair: Payoffs.of(played, at) for pair, played in games.items()}

    def grid(figure: str, seat: str) -> np.ndarray:
        """The figure of `seat` in every pair, shape (players of the seat, opponents, n)."""
        rows = [
            [getattr(won[Pair(buyer, seller)], figure)[seat] for seller in config.sellers]
            for buyer in config.buyers
        ]
        return np.array(rows) if seat == "buyer" else np.array(rows).swapaxes(0, 1)

    utility, share = ({seat: grid(of, seat) for seat in SEATS} for of in ("utility", "share"))
    names = {"buyer": config.buyers, "seller": config.sellers}
    return {
        "task": TASK,
        "ends": dict(ENDS),
        "scenarios": at.as_json(),
        "cells": [cell(pair, games[pair], at) for pair in config.pairs()],
        "ranks": list(_ranked(config, names, utility, share)),
        "exploitability": [
            row
            for seat, other in (SEATS, SEATS[::-1])
            for row in exploitability(
                seat, names[seat], names[other], utility[seat], utility[other].swapaxes(0, 1)
            )
        ],
        "variance": variance(share["buyer"].mean(axis=2)),
        "games": _by_seat({pair: games[pair] for pair in config.pairs()}),
    }


def _ranked(
    config: Config,
    names: Mapping[str, Sequence[str]],
    utility: Mapping[str, np.ndarray],
    share: Mapping[str, np.ndarray],
) -> Iterator[dict[str, Any]]:
    """The ranks of the buyers, of the sellers, and of the players that take both seats."""
    wins = {seat: comparisons(utility[seat]) for seat in SEATS}
    means = {
        seat: {"share": share[seat].mean(axis=1), "utility": utility[seat].mean(axis=1)}
        for seat in SEATS
    }
    for seat in SEATS:
        yield from ranks(seat, names[seat], wins[seat], means[seat])
    both = config.both()
    if len(both) < 2:
        return
    at = {seat: [names[seat].index(name) for name in both] for seat in SEATS}
    pooled = sum(wins[seat][:, at[seat]][:, :, at[seat]] for seat in SEATS)
    of_both = {
        figure: sum(means[seat][figure][at[seat]] for seat in SEATS) / len(SEATS)
        for figure in ("share", "utility")
    }
    yield from ranks("both", both, pooled, of_both)


def again(config: Config, recorded: Mapping[str, Any], workers: int) -> dict[str, Any]:
    """The data computed again for `verify`, scripts by the scalar engine.

    So the batch engine, which recorded most pairs, is checked by the rules themselves. Pairs with a
    language model keep their games, but those with recorded replies are replayed from them.
    """
    seeds, pairs = scenario_seeds(config.scenarios), config.pairs()
    games = scripted(pairs, seeds, workers, replay_pair)
    at = Scenarios.of(seeds)
    games |= {
        pair: replayed_columns(
            pair,
            recorded["games"][pair.buyer][pair.seller],
            at,
            recorded["replies"][pair.buyer][pair.seller],
        )
        for pair in _with_models(pairs)
    }
    kept = {name: recorded[name] for name in ("replies", "models")}
    return summarised(config, games, at) | kept


def models_again(config: Config, recorded: Mapping[str, Any]) -> Iterator[Replayed]:
    """The first batch of every pair with a language model, played again.

    Raises ValueError where no model played.
    """
    seeds, pairs = scenario_seeds(config.scenarios), _with_models(config.pairs())
    if not pairs:
        raise ValueError("no language model plays in the recorded tournament")
    some, at = seeds[: config.batch], Scenarios.of(seeds[: config.batch])
    for pair in pairs:
        then = _first(recorded["games"][pair.buyer][pair.seller], len(some))
        now = _outcomes(play_models(pair, some))
        cpus = [recorded["models"][name]["cpu"] for name in weights(pair)]
        yield Replayed(
            TASK,
            f"{pair.buyer} against {pair.seller}",
            _graded(then, at),
            _graded(now, at),
            ", ".join(cpus),
            ", ".join(load_once(name).cpu for name in weights(pair)),
        )


def _first(played: Mapping[str, Any], n: int) -> dict[str, Any]:
    """The columns of the first `n` scenarios."""
    stated = {seat: [i for i in some if i < n] for seat, some in played["misstated"].items()}
    return {name: played[name][:n] for name in ("end", "price", "rounds")} | {"misstated": stated}


def _graded(played: Mapping[str, Any], at: Scenarios) -> dict[str, Any]:
    """The columns with the buyer's utility as the grade that two runs are compared by."""
    return {**played, "grade": Payoffs.of(played, at).utility["buyer"].tolist()}
