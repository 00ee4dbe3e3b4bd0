"""Compares our classic game with the published one: same policies, tasks and number of seeds.

The published side was measured on that game's own code. The streams of chance differ, so figures
must agree within sampling error: z is the difference in standard errors of the difference, and
where neither side varies the figures must be equal to four decimals. Where our rules differ from
the published ones on purpose (`reproduction_rules.csv`), both are measured and need not agree.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import env
from sauda.experiments.base import experiment
from sauda.games.bazaar_columns import ENDS, episode_columns
from sauda.played import play_cells
from sauda.policies import BUYERS
from sauda.records import read_table
from sauda.records.schemas.speeds import published_rows
from sauda.records.store import ROOT, load

Draw = Callable[[np.random.Generator], Sequence[env.Instance]]
SEEDS = range(1_000)  # those of the published side
CROWD = "marketplace_arena"
GYM_WALK = 0.05  # walk probability of the seller in the published gym task of that name

# Where our classic family differs from the published game on purpose: name, what the published
# game does, what ours does and why.
RULES = Path(__file__).with_name("reproduction_rules.csv")

# Buyers of both games. Those of EVERY_ROUND bid until the last round of a deal, so they show how
# many rounds there are; the others make moves to which the two games reply differently.
Action = env.Offer | env.Accept | env.WalkAway


def hold(obs: env.Observation, rng: np.random.Generator) -> Action:
    return _within_budget(obs, 0.45 * obs.opening_ask)


def slow_climb(obs: env.Observation, rng: np.random.Generator) -> Action:
    return _within_budget(obs, (0.40 + 0.02 * obs.round) * obs.opening_ask)


def random_climb(obs: env.Observation, rng: np.random.Generator) -> Action:
    """Bids 0.40 of the opening ask, then a uniform draw of up to 0.04 more in every round."""
    if obs.bid is None:
        return _within_budget(obs, 0.40 * obs.opening_ask)
    return _within_budget(obs, obs.bid + rng.uniform(0, 0.04) * obs.opening_ask)


def overbid(obs: env.Observation, rng: np.random.Generator) -> Action:
    return env.Offer(obs.priced(1.2 * obs.reservation))


def overbid_once(obs: env.Observation, rng: np.random.Generator) -> Action:
    """Plays `rule_based`, but bids 5 % above its budget in one move of twenty."""
    if rng.random() < 0.05:
        return env.Offer(obs.priced(1.05 * obs.reservation))
    return BUYERS["rule_based"](obs, rng)


def bid_then_leave(obs: env.Observation, rng: np.random.Generator) -> Action:
    return env.WalkAway() if obs.round else _within_budget(obs, 0.75 * obs.opening_ask)


def zero_first(obs: env.Observation, rng: np.random.Generator) -> Action:
    """Bids nothing in the first round of a deal, then plays `wait`."""
    return env.Offer(0.0) if obs.bid is None else BUYERS["wait"](obs, rng)


def rule_without_rounding(obs: env.Observation, rng: np.random.Generator) -> Action:
    """Bids as `rule_based` in the fixed-price tasks, but does not round its bids."""
    ask = obs.opening_ask
    if obs.bid is None:
        return env.Offer(ask * rng.uniform(0.25, 0.40))
    return env.Offer(
        min(obs.bid + (ask - obs.bid) * rng.uniform(0.20, 0.35), 0.8 * obs.reservation)
    )


@dataclass(frozen=True)
class AcceptLast:
    """A buyer that plays another one and accepts the ask in the last round."""

    policy: env.Policy

    def __call__(self, obs: env.Observation, rng: np.random.Generator) -> Action:
        return env.Accept() if obs.rounds_left <= 1 else self.policy(obs, rng)


def _within_budget(obs: env.Observation, price: float) -> env.Offer:
    return env.Offer(obs.priced(min(price, obs.reservation)))


EVERY_ROUND = {policy.__name__: policy for policy in (hold, slow_climb, random_climb)}
REFERENCE_BUYERS: Mapping[str, env.Policy] = {
    **EVERY_ROUND,
    **{f"{name}_accept": AcceptLast(policy) for name, policy in EVERY_ROUND.items()},
    "overbid": overbid,
    "overbid_once": overbid_once,
    "accept_first": lambda obs, rng: env.Accept(),  # the opening ask
    "bid_then_leave": bid_then_leave,
    "zero_first": zero_first,
    "unrounded": rule_without_rounding,
}
NAMED = {**BUYERS, **REFERENCE_BUYERS}


@experiment("evaluation/reproduction.json")
def reproduction(
    measured: str = "evaluation/classic-train.json",
    published: str = "published.json",
    *,
    root: Path = ROOT,
    workers: int = 2,
) -> dict[str, Any]:
    """The data of the reproduction artifact: one row per figure, how many agree, differences."""
    episodes, source = load(measured, root).data.episodes, load(published, root)
    scripted = published_rows(source, "reference-policy-table")
    every_round = published_rows(source, "reference-every-round")
    different = published_rows(source, "reference-differences")
    wanted = [(r["task"], r["policy"], r["task"] == CROWD) for r in every_round]
    wanted += [(r["task"], r["policy"], False) for r in different]
    by_cell = play_cells(play, dict.fromkeys(wanted, SEEDS), workers)
    played = [by_cell[cell] for cell in wanted]
    rows = [
        comparison(episodes[f"classic/{r['task']}"][r["policy"]].as_json(), r, metric)
        for r in scripted
        for metric in ("surplus", "deal_rate")
    ]
    for cell, reference in zip(played, every_round, strict=False):
        metrics = ("surplus", "deal_rate", *(("longest",) if reference["policy"] == "hold" else ()))
        rows += [comparison(cell, reference, metric) for metric in metrics]
    return {
        "rows": rows,
        "agreement": agreement(rows),
        "differences": list(map(difference, played[len(every_round) :], different)),
        "rules": read_table(RULES),
    }


def agreement(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many of the compared figures agree."""
    sampled = [r for r in rows if r["z"] is not None]
    return {
        "figures": len(rows),
        "without_error": len(rows) - len(sampled),
        "without_error_equal": sum(r["equal"] for r in rows if r["z"] is None),
        "within_two": sum(abs(r["z"]) <= 2 for r in sampled),
        "within_three": sum(abs(r["z"]) <= 3 for r in sampled),
    }


def play(cell: tuple[str, str, bool], seeds: Sequence[int]) -> dict[str, Any]:
    """The columns of a task and "POLICY" or "POLICY, rivals POLICY"; True plays without rivals."""
    task_name, policies, alone = cell
    game = env.get_task(f"classic/{task_name}")
    if alone:
        game = without_rivals(game)
    learner, *others = (NAMED[name] for name in policies.split(", rivals "))
    rivals = [agent for agent in game.opponents if agent != "seller"] if others else []
    game = replace(game, opponents={**game.opponents, **dict.fromkeys(rivals, *others)})
    return episode_columns(game, [env.rollout(game, learner, seed) for seed in seeds])


def without_rivals(crowd: env.Task) -> env.Task:
    """The task without rival buyers, as in the published gym environment."""
    names = ("rounds", "decimals", "seller_type", "manner")
    settings = {name: getattr(crowd.env, name) for name in names}
    alone = env.Bazaar(draw=partial(_who_may_walk, crowd.env.draw), **settings)
    return replace(crowd, env=alone, opponents={"seller": crowd.opponents["seller"]})


def _who_may_walk(draw: Draw, rng: np.random.Generator) -> tuple[env.Instance, ...]:
    """The drawn deals with the walk probability of the gym task."""

    def may_walk(deal: env.Instance) -> env.Instance:
        terms = replace(deal.seller["terms"], walk_probability=GYM_WALK)
        return replace(deal, seller={**deal.seller, "terms": terms})

    return tuple(map(may_walk, draw(rng)))


def comparison(
    cell: Mapping[str, Any], reference: Mapping[str, Any], metric: str
) -> dict[str, Any]:
    """One published figure beside ours; standard errors are over deals, as in the source.

    "longest", the rounds of the longest deal, has no error: `hold` closes none before its end.
    """
    closed = np.array([letter == "A" for letter in cell["end"]], dtype=float)
    theirs = reference[metric]
    if metric == "longest":
        ours, error = float(max(cell["rounds"])), 0.0
    else:
        values = np.asarray(cell["share"]) if metric == "surplus" else closed
        their_error = reference["surplus_se"] or 0.0
        if metric == "deal_rate":
            their_error = np.sqrt(theirs * (1 - theirs) / reference["episodes"])
        ours = float(values.mean())
        error = float(np.hypot(np.std(values) / np.sqrt(len(values)), their_error))
    exact = error < 1e-9
    return {
        "task": reference["task"],
        "policy": reference["policy"],
        "metric": metric,
        "published": theirs,
        "measured": round(ours, 6),
        "deals": len(cell["end"]),  # behind ours
        "error": round(error, 6),
        "z": None if exact else round((ours - theirs) / error, 3),
        "equal": bool(round(ours, 4) == theirs),
    }


def difference(cell: Mapping[str, Any], reference: Mapping[str, Any]) -> dict[str, Any]:
    """What a policy wins on both sides of a difference; shares and rates over deals."""
    count = Counter(cell["end"])
    return {
        **{name: reference[name] for name in ("difference", "task", "policy")},
        "deals": len(cell["end"]),
        "published": {name: reference[name] for name in ("surplus", "deal_rate", "grade")},
        "measured": {
            "surplus": round(float(np.mean(cell["share"])), 6),
            "deal_rate": round(count["A"] / len(cell["end"]), 6),
            "grade": round(float(np.mean(cell["grade"])), 6),
        },
        "ends": {meaning: count[letter] for letter, meaning in ENDS.items() if count[letter]},
    }
