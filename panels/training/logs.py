"""Logs of training runs as the page reads them, and the view of them that an address names.

Our logs are artifacts; the published ones are figures of published.json. A value may be missing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any
from urllib.parse import urlencode

import pandas as pd

from env import ARENA_TASKS
from sauda.records.store import Artifact
from sauda.train.results import TrainingRun

SCALES = {"step": "step", "tokens": "tokens", "time": "minutes"}  # what x may be, and its unit
ROUGHEST, SMOOTHEST = 0.0, 0.98


@dataclass(frozen=True)
class View:
    """What is shown: a run (or "six", the panels of two), the x axis, how the curves are drawn."""

    run: str
    over: str = "step"
    smoothing: float = 0.8  # weight of what came before in the moving average
    log: bool = False  # losses and gradient norms on a logarithmic axis
    overlay: tuple[str, ...] = ()  # published logs drawn beside the run's


def to_query(view: View) -> str:
    """The query string that opens the page at this view, with its question mark."""
    return "?" + urlencode(
        {
            "tab": "training",
            "run": view.run,
            "over": view.over,
            "smoothing": f"{view.smoothing:g}",
            "log": int(view.log),
            "overlay": ",".join(view.overlay),
        },
        safe=",",
    )


def from_query(
    query: Mapping[str, str], first: View, runs: Sequence[str], overlays: Sequence[str]
) -> tuple[View, str]:
    """The view `first` updated from `query`, and an error message for unreadable parts, or ""."""
    view, faults = first, []

    def one_of(key: str, known: Sequence[str]) -> str | None:
        value = query.get(key)
        if value is None or value in known:
            return value
        faults.append(f"{key} is {_or(known)}")
        return None

    if run := one_of("run", runs):
        view = replace(view, run=run)
    if over := one_of("over", tuple(SCALES)):
        view = replace(view, over=over)
    if log := one_of("log", ("0", "1")):
        view = replace(view, log=log == "1")
    if "smoothing" in query:
        smoothing = _number(query["smoothing"])
        if smoothing is None:
            faults.append(f"smoothing is a number from {ROUGHEST:g} to {SMOOTHEST:g}")
        else:
            view = replace(view, smoothing=smoothing)
    if "overlay" in query:
        requested = [name for name in query["overlay"].split(",") if name]
        if set(requested) <= set(overlays):
            view = replace(view, overlay=tuple(name for name in overlays if name in requested))
        else:
            faults.append(f"overlay is any of {', '.join(overlays)}" if overlays else NO_OVERLAY)
    return view, f"Not all of the link could be read: {'; '.join(faults)}." if faults else ""


NO_OVERLAY = "overlay is empty, as the published logs are not here"


def _number(text: str) -> float | None:
    """`text` as a smoothing; None where it is none."""
    try:
        value = float(text)
    except ValueError:
        return None
    return round(value, 2) if ROUGHEST <= value <= SMOOTHEST else None


def _or(words: Sequence[str]) -> str:
    return " or ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else words[0]


Row = Mapping[str, Any]
Runs = Mapping[str, Artifact]  # by file name: a stage's, or "sft-arena"

ALL_SIX = "six"  # the view of two runs on one page

# Metrics ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Metric:
    """One curve: its key in a log's rows, its label and its unit."""

    name: str
    label: str
    unit: str = ""
    log: bool = False  # may be drawn on a logarithmic axis
    noisy: bool = True  # drawn as points with a moving average; otherwise as one line
    weight: float = 1  # height of its panel, relative to others of the stack

    @property
    def title(self) -> str:
        """The label with its unit: "gradient norm", "entropy, nats a token"."""
        return f"{self.label}, {self.unit}" if self.unit else self.label


LOSS = Metric("loss", "loss", log=True)
LEARNING_RATE = Metric("learning_rate", "learning rate", noisy=False)
GRAD_NORM = Metric("grad_norm", "gradient norm", log=True)
ENTROPY = Metric("entropy", "entropy", "nats a token")
TOKEN_ACCURACY = Metric("mean_token_accuracy", "mean token accuracy", "share")
EVALUATION = Metric("grade", "checkpoint evaluation", "mean grade", noisy=False)
SFT_LOSS = Metric("loss", "loss", "nats a trained token", log=True)
DISTILL_LOSS = Metric("loss", "cross-entropy with soft labels", "nats a labelled token", log=True)
REWARD = Metric("reward", "reward", "mean grade of the step’s games", weight=1.5)
REWARD_STD = Metric("reward_group_std", "reward std within groups", "of grades")
VALID_RATE = Metric("valid_rate", "valid replies", "share of replies with a legal action")
REGRET_THERE = Metric("regret", "regret of its moves", "mean grade given away", noisy=False)
ERROR_THERE = Metric(
    "price_error", "price error of its moves", "% of the limit, from turn 3", noisy=False
)
OF_CHECKPOINTS = (EVALUATION, REGRET_THERE, ERROR_THERE)
ZERO_STD = Metric("frac_reward_zero_std", "zero reward std", "share of groups")
AGREEMENT_RATE = Metric("agreement_rate", "agreement rate", "share of games")
KL = Metric("kl", "KL to the initial model", "nats a token")
LENGTH = Metric("completions/mean_length", "completion length", "tokens a game or arena action")

METRICS: Mapping[str, tuple[Metric, ...]] = {
    "sft": (SFT_LOSS, TOKEN_ACCURACY, EVALUATION, LEARNING_RATE, GRAD_NORM, ENTROPY),
    "distill": (
        DISTILL_LOSS, EVALUATION, REGRET_THERE, ERROR_THERE, TOKEN_ACCURACY, LEARNING_RATE,
        GRAD_NORM, ENTROPY,
    ),
    "grpo": (
        REWARD, REWARD_STD, ZERO_STD, VALID_RATE, AGREEMENT_RATE, LEARNING_RATE, LOSS, GRAD_NORM,
        ENTROPY, KL, LENGTH,
    ),
    "dpo": (
        Metric("rewards/margins", "reward margin", "of the implicit rewards"),
        Metric("rewards/accuracies", "accuracy", "share of pairs in the right order"),
        Metric("rewards/chosen", "chosen reply", "implicit reward"),
        Metric("rewards/rejected", "rejected reply", "implicit reward"),
        LEARNING_RATE, LOSS, GRAD_NORM, TOKEN_ACCURACY, ENTROPY,
    ),
}  # fmt: skip
SIX: Mapping[str, tuple[Metric, ...]] = {  # three panels of each
    "grpo": (REWARD, VALID_RATE, REWARD_STD),
    "sft": (EVALUATION, SFT_LOSS, LEARNING_RATE),
}


# Logs ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Log:
    """A run's log with one row per step: ours, or a published one with its caveat."""

    name: str
    role: str  # of SERIES
    rows: Sequence[Row] = ()
    evaluations: Sequence[Row] = ()  # games played by checkpoints; rows like those of the log
    resumed: Sequence[int] = ()
    caveat: str = ""
    game: str = "bazaar"
    seed: int = 0  # other than 0 for a further training of the same stage
    tasks: Mapping[str, int] = field(default_factory=dict)  # groups of games learnt from, by task

    @property
    def beside_published(self) -> bool:
        """Whether the published logs, of GRPO in a bazaar, may be drawn beside it."""
        return (self.role, self.game) == ("grpo", "bazaar")

    def rows_of(self, metric: Metric) -> Sequence[Row]:
        """The rows that may hold `metric`."""
        return self.evaluations if metric in OF_CHECKPOINTS else self.rows

    def holds(self, metric: Metric) -> bool:
        """Whether any row holds `metric`."""
        return any(row.get(metric.name) is not None for row in self.rows_of(metric))


TITLES = {"distill": "Distillation"}


def recorded(run: Artifact) -> Log:
    """The log of one of our runs."""
    data = run.data
    games = data.rows or data.games
    tasks = games.task if games else ()
    game = "arena" if any(task in ARENA_TASKS for task in tasks) else "bazaar"
    place = " in the arena" if game == "arena" else ""
    log = [row.as_json() for row in data.log]
    title = TITLES.get(data.stage, data.stage.upper())
    seed = run.config.get("seed", 0)
    again = f", seed {seed}" if seed else ""
    name = f"{title}{place}, {data.base.name}{again}"
    played = data.games.task if data.games else {}
    return Log(
        name, data.stage, log, _evaluations(data), data.resumed, game=game, seed=seed,
        tasks=played,
    )  # fmt: skip


def _evaluations(data: TrainingRun) -> list[Row]:
    """The checkpoint evaluations as rows, with the tokens and seconds of their step."""
    at = {row.step: (row.num_tokens, row.seconds) for row in data.log} | {0: (0, 0)}
    rows = []
    for evaluation in data.checkpoint_evaluations or ():
        tokens, seconds = at.get(evaluation.step, (None, None))
        row = {"step": evaluation.step, "num_tokens": tokens, "seconds": seconds}
        row |= {"grade": evaluation.reward, "grade_low": evaluation.low}
        row |= {"regret": evaluation.regret and evaluation.regret.mean}
        row |= {"price_error": evaluation.price_error}
        rows.append(row | {"grade_high": evaluation.high, "grade_n": evaluation.n})
    return rows


PUBLISHED = {"v2": "grpo-v2-log", "v2-tells": "grpo-v2-tells-log"}  # ids in published.json


def published_logs(published: Artifact) -> dict[str, Log]:
    """The published GRPO logs by model name. They hold no tokens; the time is accumulated."""
    figures = {figure.id: figure for figure in published.data.figures}
    logs = {}
    for name, figure_id in PUBLISHED.items():
        if figure := figures.get(figure_id):
            rows = [dict(zip(figure.columns, row, strict=True)) for row in figure.rows]
            elapsed = accumulate(row["step_time_s"] for row in rows)
            timed = [row | {"seconds": s} for row, s in zip(rows, elapsed, strict=True)]
            logs[name] = Log(f"published {name}", "published", timed, caveat=figure.caveat)
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
    logged = [metric for metric in of_role if log.holds(metric)] or of_role
    half = len(logged) // 2
    return (log, logged[:half]), (log, logged[half:])


def log_table(runs: Sequence[Artifact]) -> pd.DataFrame:
    """Raw values of every step of the runs, one line per step; empty where the log has none."""
    return pd.concat([_run_table(run) for run in runs], ignore_index=True)


def _run_table(run: Artifact) -> pd.DataFrame:
    log, names = recorded(run), _column_names(run.data.stage)
    table = pd.DataFrame(list(log.rows)).set_index("step")
    if log.evaluations:
        table = table.combine_first(pd.DataFrame(list(log.evaluations)).set_index("step"))
    table = table.sort_index().reset_index().reindex(columns=list(names))
    counts = [key for key in ("step", "num_tokens", "grade_n") if key in names]
    table = table.astype(dict.fromkeys(counts, "Int64")).rename(columns=names)
    table.insert(0, "run", log.name)
    return table


def _column_names(stage: str) -> dict[str, str]:
    """Heading of each field of a stage's log, with its unit in brackets."""
    names = {"step": "step", "num_tokens": "tokens", "seconds": "time (s)"}
    names |= {m.name: f"{m.label} ({m.unit})" if m.unit else m.label for m in METRICS[stage]}
    if stage == "grpo":
        names |= {
            "reward_min": "lowest grade of the step’s games",
            "reward_max": "highest grade of the step’s games",
            "step_time": "time of the step (s)",
        }
    if stage == "sft":
        names |= {
            "grade_low": "checkpoint evaluation, low end of 95 % interval",
            "grade_high": "checkpoint evaluation, high end of 95 % interval",
            "grade_n": "checkpoint evaluation, games",
        }
    return names
