"""Logs of training runs as the page reads them, and the view of them that an address names.

A value may be missing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import urlencode

from env import ARENA_TASKS
from sauda.experiments.runs import TrainingRun
from sauda.records.store import Artifact

SCALES = {"step": "step", "tokens": "tokens", "time": "minutes"}  # what x may be, and its unit
SMOOTHEST = 0.98
TITLES = {"distill": "Distillation"}  # of stages whose name in capitals is none

Row = Mapping[str, Any]
Runs = Mapping[str, Artifact]  # by file name: a stage's, or "sft-arena"


@dataclass(frozen=True)
class View:
    """What is shown: a run, the x axis, how the curves are drawn."""

    run: str
    over: str = "step"
    smoothing: float = 0.8  # weight of what came before in the moving average
    log: bool = False  # losses and gradient norms on a logarithmic axis

    def to_query(self) -> str:
        """The query string that opens the page at this view, with its question mark."""
        shown = {"smoothing": f"{self.smoothing:g}", "log": int(self.log)}
        return "?" + urlencode({"tab": "training", **asdict(self), **shown})


def from_query(query: Mapping[str, str], first: View, runs: Sequence[str]) -> tuple[View, str]:
    """The view `first` updated from `query`, and a sentence that names unreadable parts, or ""."""
    known = {"run": runs, "over": list(SCALES), "log": ["0", "1"]}
    read: dict[str, Any] = {
        name: query[name] for name, values in known.items() if query.get(name) in values
    }
    if "log" in read:
        read["log"] = read["log"] == "1"
    smoothing = _smoothing(query.get("smoothing", ""))
    if smoothing is not None:
        read["smoothing"] = smoothing
    unread = sorted({*known, "smoothing"} & query.keys() - read.keys())
    fault = f"Not all of the link could be read: {', '.join(unread)}." if unread else ""
    return replace(first, **read), fault


def _smoothing(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return round(value, 2) if 0 <= value <= SMOOTHEST else None


@dataclass(frozen=True)
class Metric:
    """One curve: its key in a log's rows, its label and its unit."""

    name: str
    label: str
    unit: str = ""
    log: bool = False  # may be drawn on a logarithmic axis
    noisy: bool = True  # drawn as points with a moving average; otherwise as one line


LOSS = Metric("loss", "loss", log=True)
LEARNING_RATE = Metric("learning_rate", "learning rate", noisy=False)
GRAD_NORM = Metric("grad_norm", "gradient norm", log=True)
ENTROPY = Metric("entropy", "entropy", "nats per token")
TOKEN_ACCURACY = Metric("mean_token_accuracy", "mean token accuracy", "share")
REWARD = Metric("reward", "reward", "mean grade of the step’s games")
REWARD_STD = Metric("reward_group_std", "reward std within groups", "of grades")
EVALUATION = Metric("grade", "checkpoint evaluation", "mean grade", noisy=False)
OF_CHECKPOINTS = (
    EVALUATION,
    Metric("regret", "regret of its moves", "mean grade given away", noisy=False),
    Metric("price_error", "price error of its moves", "% of the limit, from turn 3", noisy=False),
)
METRICS: Mapping[str, tuple[Metric, ...]] = {
    "sft": (
        Metric("loss", "loss", "nats per supervised token", log=True), TOKEN_ACCURACY, EVALUATION,
        LEARNING_RATE, GRAD_NORM, ENTROPY,
    ),
    "distill": (
        Metric("loss", "cross-entropy with soft labels", "nats per labelled token", log=True),
        *OF_CHECKPOINTS, TOKEN_ACCURACY, LEARNING_RATE, GRAD_NORM, ENTROPY,
    ),
    "grpo": (
        REWARD, REWARD_STD,
        Metric("frac_reward_zero_std", "zero reward std", "share of groups"),
        Metric("valid_rate", "valid replies", "share of replies with a legal action"),
        Metric("agreement_rate", "agreement rate", "share of games"),
        LEARNING_RATE, LOSS, GRAD_NORM, ENTROPY,
        Metric("kl", "KL to the initial model", "nats per token"),
        Metric("completions/mean_length", "completion length", "tokens per game or arena action"),
    ),
    "dpo": (
        Metric("rewards/margins", "reward margin", "of the implicit rewards"),
        Metric("rewards/accuracies", "accuracy", "share of pairs in the right order"),
        Metric("rewards/chosen", "chosen reply", "implicit reward"),
        Metric("rewards/rejected", "rejected reply", "implicit reward"),
        LEARNING_RATE, LOSS, GRAD_NORM, TOKEN_ACCURACY, ENTROPY,
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Log:
    """A run's log with one row per step."""

    name: str
    role: str  # of SERIES
    rows: Sequence[Row]
    evaluations: Sequence[Row]  # games played by checkpoints; rows like those of the log
    resumed: Sequence[int]
    game: str  # bazaar or arena
    seed: int  # other than 0 for a further training of the same stage
    tasks: Mapping[str, int]  # groups of games learnt from, by task

    def rows_of(self, metric: Metric) -> Sequence[Row]:
        """The rows that may hold `metric`."""
        return self.evaluations if metric in OF_CHECKPOINTS else self.rows

    def values(self, metric: Metric) -> list[float | None]:
        """The values of `metric` in `rows_of` it; None where one is missing."""
        return [row.get(metric.name) for row in self.rows_of(metric)]

    def known(self, metric: Metric) -> list[float]:
        """The values of `metric` that are not missing."""
        return [value for value in self.values(metric) if value is not None]

    @property
    def metrics(self) -> list[Metric]:
        """What is drawn: the metrics of the stage that the log holds."""
        return [metric for metric in METRICS[self.role] if self.known(metric)]


def recorded(run: Artifact) -> Log:
    """The log of one of our runs."""
    data, seed = run.data, run.config.get("seed", 0)
    source = data.rows or data.games
    in_arena = source is not None and any(task in ARENA_TASKS for task in source.task)
    title = TITLES.get(data.stage, data.stage.upper())
    place, again = " in the arena" if in_arena else "", f", seed {seed}" if seed else ""
    return Log(
        name=f"{title}{place}, {data.base.name}{again}",
        role=data.stage,
        rows=[row.as_json() for row in data.log],
        evaluations=_evaluations(data),
        resumed=data.resumed,
        game="arena" if in_arena else "bazaar",
        seed=seed,
        tasks=data.games.task if data.games else {},
    )


def _evaluations(data: TrainingRun) -> list[Row]:
    """The checkpoint evaluations as rows, with the tokens and seconds of their step."""
    at = {row.step: (row.num_tokens, row.seconds) for row in data.log} | {0: (0, 0)}
    rows = []
    for one in data.checkpoint_evaluations or ():
        tokens, seconds = at.get(one.step, (None, None))
        row = {"step": one.step, "num_tokens": tokens, "seconds": seconds, "grade": one.reward}
        row |= {"grade_low": one.low, "grade_high": one.high, "grade_n": one.n}
        row |= {"regret": one.regret and one.regret.mean, "price_error": one.price_error}
        rows.append(row)
    return rows
