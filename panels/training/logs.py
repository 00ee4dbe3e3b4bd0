"""Logs of training runs as the page reads them: what was logged, under which name and unit.

Ours are artifacts; the published ones are figures of published.json. A value may be missing.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from env import ARENA_TASKS
from panels.training.permalink import View
from sauda.records.store import Artifact

Row = Mapping[str, Any]
Runs = Mapping[str, Artifact]  # by file name: a stage's, or "sft-arena"

ALL_SIX = "six"  # the view of two runs on one page

# Metrics ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Metric:
    """One curve of a log: the log's name for it, and its name and unit in words."""

    name: str
    label: str
    unit: str = ""
    log: bool = False  # may be drawn on a logarithmic axis
    share: bool = False  # lies between 0 and 1; but for a grade in the arena
    noisy: bool = True  # drawn as points and their average; else as it is
    weight: float = 1  # its panel's part of a stack's height

    @property
    def title(self) -> str:
        """Its name with its unit: "gradient norm", "entropy, nats a token"."""
        return f"{self.label}, {self.unit}" if self.unit else self.label


LOSS = Metric("loss", "loss", log=True)
RATE = Metric("learning_rate", "learning rate", noisy=False)
NORM = Metric("grad_norm", "gradient norm", log=True)
ENTROPY = Metric("entropy", "entropy", "nats a token")
GUESSED = Metric("mean_token_accuracy", "learnt tokens guessed right", "share", share=True)
PROBED = Metric("probe", "reward trajectory", "mean grade of games played", share=True, noisy=False)
SFT_LOSS = Metric("loss", "loss", "nats a learnt token", log=True)
REWARD = Metric("reward", "reward", "mean grade of the step’s games", share=True, weight=1.5)
SPREAD = Metric("spread", "spread within groups", "standard deviation of grades")
FORMAT = Metric("format", "format compliance", "share of replies with a move", share=True)
GRADES = (PROBED, REWARD)
EVEN = Metric("zero_advantage", "zero advantage", "share of groups", share=True)

METRICS: Mapping[str, tuple[Metric, ...]] = {
    "sft": (SFT_LOSS, GUESSED, PROBED, RATE, NORM, ENTROPY),
    "grpo": (
        REWARD, SPREAD, EVEN, FORMAT, Metric("deals", "deals", "share of games", share=True),
        RATE, LOSS, NORM, ENTROPY, Metric("kl", "distance from its start", "KL, nats a token"),
        Metric("length", "length", "learnt tokens a game, in the arena an action"),
    ),
    "dpo": (
        Metric("margin", "margin", "of the implied rewards"),
        Metric("accuracy", "accuracy", "share of pairs in the right order", share=True),
        Metric("chosen", "chosen reply", "implied reward"),
        Metric("rejected", "rejected reply", "implied reward"),
        RATE, LOSS, NORM, GUESSED, ENTROPY,
    ),
}  # fmt: skip
SIX: Mapping[str, tuple[Metric, ...]] = {  # three panels of each
    "grpo": (REWARD, FORMAT, SPREAD),
    "sft": (PROBED, SFT_LOSS, RATE),
}


# Logs ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Log:
    """What a run wrote, one row a step; ours, or a published one with its caveat."""

    name: str
    role: str  # of SERIES
    rows: Sequence[Row] = ()
    probes: Sequence[Row] = ()  # games played by the adapter as it stood after some steps
    resumed: Sequence[int] = ()
    caveat: str = ""
    game: str = "bazaar"

    @property
    def beside_published(self) -> bool:
        """Whether the published logs, of GRPO in their bazaar, may be drawn beside it."""
        return (self.role, self.game) == ("grpo", "bazaar")

    def of(self, metric: Metric) -> Sequence[Row]:
        """The rows that may hold `metric`."""
        return self.probes if metric is PROBED else self.rows

    def holds(self, metric: Metric) -> bool:
        """Whether any row does."""
        return any(row.get(metric.name) is not None for row in self.of(metric))


def recorded(run: Artifact) -> Log:
    """The log of one of our runs."""
    data = run.data
    places = {0: {"step": 0, "tokens": 0, "seconds": 0}} | {row["step"]: row for row in data["log"]}
    probes = [
        {
            **{key: places.get(probe["step"], {}).get(key) for key in ("tokens", "seconds")},
            "step": probe["step"],
            "probe": probe["reward"],
            **{f"probe_{key}": probe[key] for key in ("low", "high", "n")},
        }
        for probe in data.get("probes") or ()
    ]
    learnt_in = (data.get("rows") or data.get("games") or {}).get("task", ())
    game = "arena" if any(task in ARENA_TASKS for task in learnt_in) else "bazaar"
    place = " in the arena" if game == "arena" else ""
    name = f"{data['stage'].upper()}{place}, {data['base']['name']}"
    return Log(name, data["stage"], data["log"], probes, data["resumed"], game=game)


PUBLISHED = {"v2": "grpo-v2-log", "v2-tells": "grpo-v2-tells-log"}  # ids in published.json


def published_logs(published: Artifact) -> dict[str, Log]:
    """The published GRPO logs by the model's name. They tell no tokens; time is summed up."""
    figures = {figure["id"]: figure for figure in published.data["figures"]}
    logs = {}
    for name, figure_id in PUBLISHED.items():
        if figure := figures.get(figure_id):
            rows = [dict(zip(figure["columns"], row, strict=True)) for row in figure["rows"]]
            spent = accumulate(row["step_time_s"] for row in rows)
            timed = [row | {"seconds": s} for row, s in zip(rows, spent, strict=True)]
            logs[name] = Log(f"published {name}", "published", timed, caveat=figure["caveat"])
    return logs


def panels_of(view: View, runs: Runs) -> tuple[tuple[Log, Sequence[Metric]], ...]:
    """The two stacks of panels: a log and what is drawn of it."""
    if view.run == ALL_SIX:
        return tuple(
            (recorded(runs[stage]) if stage in runs else Log(stage.upper(), stage), metrics)
            for stage, metrics in SIX.items()
        )
    log = recorded(runs[view.run])
    of_role = METRICS[log.role]
    there = [metric for metric in of_role if log.holds(metric)] or of_role
    half = len(there) // 2
    return (log, there[:half]), (log, there[half:])


def to_csv(runs: Sequence[Artifact]) -> str:
    """Raw values of every step as CSV, with a byte-order mark; an empty cell is not in the log."""
    plain = {"step": "step", "tokens": "tokens", "seconds": "time (s)"}
    rows, columns = [], ["run", *plain.values()]
    for run in runs:
        names = plain | _column_names(run.data["stage"])
        log = recorded(run)
        steps: dict[int, dict[str, Any]] = {row["step"]: dict(row) for row in log.rows}
        for probe in log.probes:
            steps.setdefault(probe["step"], {}).update(probe)
        for _, row in sorted(steps.items()):
            rows.append({"run": log.name} | {names[key]: row.get(key) for key in names})
        columns += [name for name in names.values() if name not in columns]
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return "\ufeff" + out.getvalue()


def _column_names(stage: str) -> dict[str, str]:
    """Each field of a stage's log as people call it, its unit in brackets."""
    names = {m.name: f"{m.label} ({m.unit})" if m.unit else m.label for m in METRICS[stage]}
    if stage == "grpo":
        names |= {
            "low": "lowest grade of the step’s games",
            "high": "highest grade of the step’s games",
            "step_seconds": "time of the step (s)",
        }
    if stage == "sft":
        names |= {
            "probe_low": "reward trajectory, low end of 95 % interval",
            "probe_high": "reward trajectory, high end of 95 % interval",
            "probe_n": "reward trajectory, games",
        }
    return names
