"""Lines to compare a training curve with: the best script on training seeds, tuned and not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from panels.training.logs import EVALUATION, REWARD, Log, Metric
from panels.ui.provenance import load_or_say
from sauda.experiments.comparison import TUNED
from sauda.experiments.evaluate import BazaarRow
from sauda.train.checks import EVAL_TASKS

FILES = ("evaluation/market-train.json", "evaluation/arena-train.json")
Rows = Mapping[str, Sequence[BazaarRow]]  # of scripted policies, by task


@dataclass(frozen=True)
class Reference:
    """The mean grade of a scripted policy on the games that a curve is about."""

    policy: str
    grade: float
    n: int  # training seeds a task

    @property
    def label(self) -> str:
        """The policy with its grade: "best script: linear 0.225"."""
        who = "tuned script" if self.policy == TUNED else f"best script: {self.policy}"
        return f"{who} {self.grade:.3f}"


def scripted_rows() -> Rows:
    """The rows of scripted policies on training seeds, without those of missing files."""
    rows: dict[str, list[BazaarRow]] = {}
    for file in FILES:
        evaluation, _ = load_or_say(file)
        for row in evaluation.data.rows if evaluation else ():
            rows.setdefault(row.task, []).append(row)
    return rows


def references(log: Log, metric: Metric, rows: Rows) -> list[Reference]:
    """The best script and the tuned one on the tasks of `metric`, weighted as the run plays them.

    A checkpoint plays one task; the reward of a step is over all tasks of the run.
    """
    if metric is EVALUATION:
        weights = {EVAL_TASKS[log.game]: 1}
    elif metric is REWARD and log.tasks:
        weights = dict(log.tasks)
    else:
        return []
    grades: dict[str, list[tuple[float, int, int]]] = {}
    for task, weight in weights.items():
        for row in rows.get(task, ()):
            grades.setdefault(row.policy, []).append((row.grade.mean, weight, row.n))
    means = [
        Reference(
            policy,
            sum(grade * weight for grade, weight, _ in cells) / sum(weights.values()),
            min(n for *_, n in cells),
        )
        for policy, cells in grades.items()
        if len(cells) == len(weights)
    ]
    scripts = [each for each in means if each.policy != TUNED]
    best = [max(scripts, key=lambda each: each.grade)] if scripts else []
    return best + [each for each in means if each.policy == TUNED]
