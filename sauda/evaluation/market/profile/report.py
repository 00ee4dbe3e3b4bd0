"""The profile of each player: surplus, regret by phase, cues, belief and compliance."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from env import Accept, Episode, Observation, WalkAway, begin, get_task
from sauda.evaluation.batches import in_batches
from sauda.evaluation.market.profile.calibration import prior, scored
from sauda.evaluation.market.profile.cues import CANDID, MISLEADING, MODES, NEUTRAL, signalling
from sauda.evaluation.market.profile.players import Player, named
from sauda.evaluation.market.regret import Config as Positions
from sauda.evaluation.market.regret import Judged, by_belief, task_of
from sauda.evaluation.market.tournament.players import TASK
from sauda.evaluation.market.tournament.report import ROLES, STAGES
from sauda.evaluation.market.tournament.scenarios import instance, scenario_seeds
from sauda.evaluation.models.sources import is_same_player, model_sources
from sauda.games import BAZAAR
from sauda.games.bazaar_columns import behaviour_metrics
from sauda.llm.model import CACHE, load_once
from sauda.llm.registry import is_model
from sauda.policies import BUYERS
from sauda.policies.belief import BeliefBuyer
from sauda.policies.best_response import MoveValues, informed_value
from sauda.records.progress import progress
from sauda.records.provenance import source_digest
from sauda.statistics import (
    mean_interval,
    named_interval,
    paired_difference,
    share_of_gap,
    wilson_interval,
)

PHASES = ("opening", "middle", "closing", "walking")
CLOSING = 2  # moves left from which a position belongs to the closing


@dataclass(frozen=True)
class Config:
    """Who is profiled, and on how much; the defaults are the profiles that we report."""

    players: tuple[str, ...] = (*BUYERS, "pilot", "belief", *STAGES, *ROLES)
    games: int = 120  # hold-out games about unseen listings, as in the tournament
    cues: int = 100  # of those, games with each kind of signals
    states: int = 400  # fixed positions: for regret and belief


class Seen(NamedTuple):
    """One move of the player, as `behaviour_metrics` reads it."""

    obs: Observation
    action: Any


@dataclass(frozen=True, eq=False)
class Bench:
    """What all players are measured on."""

    seeds: Sequence[int]
    informed: np.ndarray  # (n,), what a buyer that knows the seller would expect in each game
    cues: int  # games with each kind of signals
    judged: Judged
    limits: Sequence[float]  # the seller's limit in each position of `judged`, rupees

    @classmethod
    def of(cls, config: Config) -> "Bench":
        """The bench of `config`; ValueError for too few games or positions."""
        if config.states < 1 or config.cues < 1:
            raise ValueError("a profile needs at least one position and one game of each signal")
        seeds = scenario_seeds(config.games)
        judged = Judged.of(Positions(states=config.states), by_belief)
        limits = [
            begin(task_of(state.task), state.seed).state.private["seller"]["reservation"]
            for state in judged.states
        ]
        informed = np.array([informed_value(instance(seed)) for seed in seeds])
        return cls(seeds, informed, config.cues, judged, limits)

    @property
    def positions(self) -> list[Observation]:
        """The observations at the fixed positions."""
        return [state.obs for state in self.judged.states]


def profiles(
    config: Config,
    workers: int = 2,
    others: Sequence[Player] = (),
    recorded: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The data of the artifact: one row a player of `config`, then one of each of `others`.

    Rows of language models in `recorded`, the data of earlier profiles of `config`'s size, are kept
    where weights, sampling, prompt and parser are still the same.
    """
    players = [named(name) for name in config.players]
    weights = {player.model.weights for player in players if player.model} - {""}
    models = model_sources(weights, BAZAAR)
    kept = {} if recorded is None else _recorded(players, models, recorded)
    models |= {
        weight: recorded["models"][weight]  # with the CPU that its games were played on
        for player in players
        if player.name in kept and (weight := player.model.weights)
    }
    measured = [player for player in (*players, *others) if player.name not in kept]
    data = _rows(measured, Bench.of(config), workers)
    rows = kept | {row["player"]: row for row in data["rows"]}
    names = [player.name for player in (*players, *others)]
    return data | {"rows": [rows[name] for name in names], "models": models}


def _recorded(
    players: Sequence[Player], models: Mapping[str, Any], recorded: Mapping[str, Any]
) -> dict[str, Any]:
    """The rows in `recorded` of language models that are still the same, by player."""
    then, now = recorded["models"], models
    same = {
        player.name
        for player in players
        if player.model
        and player.model.weights
        and is_same_player(then.get(player.model.weights), now[player.model.weights])
    }
    return {row["player"]: row for row in recorded["rows"] if row["player"] in same}


def again(config: Config, recorded: Mapping[str, Any], workers: int) -> dict[str, Any]:
    """The data computed again for `verify`; rows of language models are kept."""
    kept = {row["player"]: row for row in recorded["rows"] if is_model(row["player"])}
    scripts = [named(name) for name in config.players if name not in kept]
    data = _rows(scripts, Bench.of(config), workers)
    by_name = {row["player"]: row for row in data["rows"]} | kept
    rows = [by_name.get(name) for name in config.players]
    return data | {"rows": rows, "models": recorded["models"]}


def _rows(players: Sequence[Player], bench: Bench, workers: int) -> dict[str, Any]:
    """The profiles of `players`, and what they compare with."""
    scripts = [player for player in players if player.policy is not None]
    scripts.sort(key=lambda player: not isinstance(player.policy, BeliefBuyer))  # the slow ones
    with ProcessPoolExecutor(workers) as pool:
        played = pool.map(profile, scripts, repeat(bench))
        rows = list(progress(played, len(scripts), "profiling", "player"))
    models = [player for player in players if player.model is not None]
    rows += [
        kept_profile(player, bench)
        for player in progress(models, len(models), "profiling", "model")
    ]
    by_name = {row["player"]: row for row in rows}
    return {
        "task": TASK,
        "judge": "belief",
        "informed": named_interval(mean_interval(bench.informed)),
        "prior": scored([prior(obs) for obs in bench.positions], bench.positions, bench.limits),
        "rows": [by_name[player.name] for player in players],
    }


def kept_profile(player: Player, bench: Bench) -> dict[str, Any]:
    """The profile of a language model; one of known weights is read from disk once it is there."""
    if not player.model.weights:
        return profile(player, bench)
    model = load_once(player.model.weights)
    bench_size = (list(bench.seeds), bench.cues, len(bench.judged.states), player.batch)
    weights = model.sha256, model.source, asdict(model.decoder.sampling)
    key = repr((player.name, bench_size, *weights, source_digest()))
    (row,) = in_batches(
        [player], 1, CACHE / "profiles", lambda _: key, lambda _: profile(player, bench)
    )
    return row


def profile(player: Player, bench: Bench) -> dict[str, Any]:
    """The profile of one player."""
    task = get_task(TASK)
    games = player.games(task, bench.seeds)
    grade = np.array([task.grade(game.final) for game in games])
    share = share_of_gap(grade, np.zeros(len(grade)), bench.informed)
    return {
        "player": player.name,
        "n": len(grade),
        "grade": named_interval(mean_interval(grade)),
        "of_oracle": share and named_interval(share),
        "phases": phases(bench.judged, bench.judged.regrets(player.moves(bench.judged))),
        "cues": cues(player, bench.seeds[: bench.cues]),
        "belief": belief(player, bench),
        "compliance": compliance(games),
    }


def phases(judged: Judged, regret: np.ndarray) -> list[dict[str, Any]]:
    """The mean regret in each of PHASES, and the part of the mean regret that falls in it."""
    where = np.array(
        [
            phase(state.obs, values)
            for state, values in zip(judged.states, judged.values, strict=True)
        ]
    )
    return [
        {
            "phase": name,
            "n": int((where == name).sum()),
            "regret": named_interval(mean_interval(regret[where == name])),
            "part": round(float(regret[where == name].sum() / len(regret)), 6),
        }
        for name in PHASES
        if (where == name).any()
    ]


def phase(obs: Observation, values: MoveValues) -> str:
    """The phase that a position belongs to, by the judge's best move and by the moves left."""
    best = values.best(obs)
    if isinstance(best, WalkAway):
        return "walking"
    if obs.round == 0:
        return "opening"
    return "closing" if isinstance(best, Accept) or obs.rounds_left <= CLOSING else "middle"


def cues(player: Player, seeds: Sequence[int]) -> dict[str, Any]:
    """Grades against the same sellers with candid, neutral and misleading signals, paired."""
    grade = {}
    for mode in MODES:
        task = signalling(get_task(TASK), mode)
        grade[mode] = np.array([task.grade(game.final) for game in player.games(task, seeds)])
    return {
        "n": len(seeds),
        **{mode: named_interval(mean_interval(values)) for mode, values in grade.items()},
        "gained": named_interval(paired_difference(grade[CANDID], grade[NEUTRAL])),
        "misled": named_interval(paired_difference(grade[MISLEADING], grade[NEUTRAL])),
    }


def belief(player: Player, bench: Bench) -> dict[str, Any] | None:
    """The scores of its belief about the seller's limit; None for a script that has none."""
    seeds = [state.seed for state in bench.judged.states]
    ranges = player.ranges(bench.positions, seeds)
    return None if ranges is None else scored(ranges, bench.positions, bench.limits)


def compliance(games: Sequence[Episode]) -> dict[str, Any]:
    """What the player breaks: the rules, its own last word, its limit."""
    counts = {"moves": 0, "invalid": 0, "broken": 0, "losses": 0}
    clean = 0
    for game in games:
        turns = game.trajectory("buyer")
        seen = [Seen(turn.observation, turn.action) for turn in turns]
        kept = behaviour_metrics(seen, market=False)
        faults = {
            "invalid": sum(turn.action is None for turn in turns),
            "broken": kept["broken"],
            "losses": kept["over_limit"],
        }
        clean += not any(faults.values())
        for name, count in {"moves": len(turns), **faults}.items():
            counts[name] += count
    return {
        "games": len(games),
        **counts,
        "clean": named_interval(wilson_interval(clean, len(games))),
    }
