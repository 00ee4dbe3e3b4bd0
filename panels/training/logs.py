"""Logs of training runs as the page reads them, and the view of them that an address names.

A value may be missing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

from env import ARENA_TASKS
from sauda.records.store import Artifact
from sauda.train.results import TrainingRun

SCALES = {"step": "step", "tokens": "tokens", "time": "minutes"}  # what x may be, and its unit
ROUGHEST, SMOOTHEST = 0.0, 0.98


@dataclass(frozen=True)
class View:
    """What is shown: a run, the x axis, how the curves are drawn."""

    run: str
    over: str = "step"
    smoothing: float = 0.8  # weight of what came before in the moving average
    log: bool = False  # losses and gradient norms on a logarithmic axis


def to_query(view: View) -> str:
    """The query string that opens the page at this view, with its question mark."""
    return "?" + urlencode(
        {
            "tab": "training",
            "run": view.run,
            "over": view.over,
            "smoothing": f"{view.smoothing:g}",
            "log": int(view.log),
        }
    )


def from_query(query: Mapping[str, str], first: View, runs: Sequence[str]) -> tuple[View, str]:
    """The view `first` updated from `query`, and a sentence that names unreadable parts, or ""."""
    readers: Mapping[str, Callable[[str], Any]] = {
        "run": lambda text: _one_of(text, runs),
        "over": lambda text: _one_of(text, list(SCALES)),
        "smoothing": _smoothing,
        "log": lambda text: _one_of(text, ["0", "1"]) == "1",
    }
    read: dict[str, Any] = {}
    faults = []
    for name in readers.keys() & query.keys():
        try:
            read[name] = readers[name](query[name])
        except ValueError:
            faults.append(name)
    fault = f"Not all of the link could be read: {', '.join(sorted(faults))}." if faults else ""
    return replace(first, **read), fault


def _one_of(text: str, known: Sequence[str]) -> str:
    if text not in known:
        raise ValueError(f"{text!r} is not one of {known}")
    return text


def _smoothing(text: str) -> float:
    value = float(text)
    if not ROUGHEST <= value <= SMOOTHEST:
        raise ValueError(f"{value} is no smoothing from {ROUGHEST} to {SMOOTHEST}")
    return round(value, 2)


Row = Mapping[str, Any]
Runs = Mapping[str, Artifact]  # by file name: a stage's, or "sft-arena"

# Metrics ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Metric:
    """One curve: its key in a log's rows, its label and its unit."""

    name: str
    label: str
    unit: str = ""
    log: bool = False  # may be drawn on a logarithmic axis
    noisy: bool = True  # drawn as points with a moving average; otherwise as one line

    @property
    def title(self) -> str:
        """The label with its unit: "gradient norm", "entropy, nats per token"."""
        return f"{self.label}, {self.unit}" if self.unit else self.label


LOSS = Metric("loss", "loss", log=True)
LEARNING_RATE = Metric("learning_rate", "learning rate", noisy=False)
GRAD_NORM = Metric("grad_norm", "gradient norm", log=True)
ENTROPY = Metric("entropy", "entropy", "nats per token")
TOKEN_ACCURACY = Metric("mean_token_accuracy", "mean token accuracy", "share")
EVALUATION = Metric("grade", "checkpoint evaluation", "mean grade", noisy=False)
SFT_LOSS = Metric("loss", "loss", "nats per supervised token", log=True)
DISTILL_LOSS = Metric("loss", "cross-entropy with soft labels", "nats per labelled token", log=True)
REWARD = Metric("reward", "reward", "mean grade of the step’s games")
REWARD_STD = Metric("reward_group_std", "reward std within groups", "of grades")
VALID_RATE = Metric("valid_rate", "valid replies", "share of replies with a legal action")
REGRET_THERE = Metric("regret", "regret of its moves", "mean grade given away", noisy=False)
ERROR_THERE = Metric(
    "price_error", "price error of its moves", "% of the limit, from turn 3", noisy=False
)
OF_CHECKPOINTS = (EVALUATION, REGRET_THERE, ERROR_THERE)
ZERO_STD = Metric("frac_reward_zero_std", "zero reward std", "share of groups")
AGREEMENT_RATE = Metric("agreement_rate", "agreement rate", "share of games")
KL = Metric("kl", "KL to the initial model", "nats per token")
LENGTH = Metric("completions/mean_length", "completion length", "tokens per game or arena action")

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


# Logs ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Log:
    """A run's log with one row per step."""

    name: str
    role: str  # of SERIES
    rows: Sequence[Row] = ()
    evaluations: Sequence[Row] = ()  # games played by checkpoints; rows like those of the log
    resumed: Sequence[int] = ()
    game: str = "bazaar"
    seed: int = 0  # other than 0 for a further training of the same stage
    tasks: Mapping[str, int] = field(default_factory=dict)  # groups of games learnt from, by task

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


def metrics_of(log: Log) -> list[Metric]:
    """What is drawn of a log: the metrics of its stage that it holds."""
    return [metric for metric in METRICS[log.role] if log.holds(metric)]
