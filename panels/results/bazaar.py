"""The bazaar's evaluations: metrics, columns, the informed oracle as a line, notes on tasks."""

from functools import partial

from env import TASKS
from panels.results.evaluation import Bound, Game, Metric, View
from panels.ui.tables import Column, number
from sauda.experiments.oracle import OracleRow
from sauda.records.store import Artifact

FILES = (
    "evaluation/market-holdout.json",
    "evaluation/classic-holdout.json",
    "evaluation/market-train.json",
    "evaluation/classic-train.json",
)
METRICS = (
    Metric("grade", "Grade of the task", "Grade of the task", 3, (0.0, 1.0)),
    Metric("share", "Share of what could be won", "Share of what could be won", 3, (0.0, 1.0)),
)
COLUMNS = (
    Column("success", lambda row: number(row.success_rate)),
    Column("deals", lambda row: number(row.deal_rate)),
    Column("rounds", lambda row: number(row.rounds, ".2f")),
)


def game(oracle: Artifact | None = None) -> Game:
    """The bazaar, the open market first, with the oracle's grades as lines where it is there."""
    return Game(
        name="bazaar",
        title="",
        csv_label="CSV",
        files=FILES,
        tasks=dict(sorted(TASKS.items(), key=lambda item: item[0].startswith("classic/"))),
        metrics=METRICS,
        columns=COLUMNS,
        first_task="bazaar/open",
        bound=partial(oracle_bound, oracle),
        about=about,
        remarks=lambda evaluation, view: "",
    )


def oracle_bound(oracle: Artifact | None, evaluation: Artifact, view: View) -> Bound | None:
    """The grade of the informed oracle; None for the share, and for tasks without an oracle."""
    row = oracle_row(oracle, view.task)
    if row is None or view.metric != "grade":
        return None
    mean = row.informed.mean
    return Bound(
        mean,
        "informed oracle",
        "The line is what the best response to the known seller expects:"
        f" {mean:.3f}, n = {row.n:,}.",
    )


def oracle_row(oracle: Artifact | None, task: str) -> OracleRow | None:
    """The row of a task in the oracle artifact; None where there is none."""
    rows = oracle.data.rows if oracle else []
    return next((row for row in rows if row.task == task), None)


def about(task: str) -> str:
    """What the task is, and where published figures cannot be compared with ours."""
    text = TASKS[task].about
    if task == "classic/amazon_realistic":
        text += (
            " The listing file behind the published figures is not available: these items are ours,"
            " so the published figures of this task cannot be compared with them."
        )
    if task == "classic/collaborative_seller":
        text += " It may sell a little below its own cost, so a share can exceed 1."
    return text
