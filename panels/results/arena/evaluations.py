"""The GPU arena's evaluations: metrics, columns, counts at a glance."""

from collections.abc import Sequence

from markupsafe import Markup

from env import ARENA_TASKS, arena
from panels.results.evaluation import DRAWN, Game, Metric, Row, View
from panels.ui.look import stat, strip
from panels.ui.tables import Cell, Column, estimate, number, with_interval
from panels.ui.terms import task_about
from sauda.policies import LABS, ZERO_GRADE
from sauda.records.store import Artifact

FILES = ("evaluation/arena-holdout.json", "evaluation/arena-train.json")
METRICS = (
    Metric("grade", "Grade", "grade, share of the stake", 3),
    Metric("utility", "Utility", "utility, credits", 1),
    Metric("reward", "Reward", "reward of an episode", 3),
)
FORMS = {metric.name: f"z.{metric.digits}f" for metric in METRICS}


def reward_correlation(row: Row) -> Cell | str:
    """Pearson's r of reward and utility over a policy's episodes."""
    if row.correlation is None:
        return Cell("does not vary", None)
    return estimate(row.correlation, "z.3f")


COLUMNS = (
    Column("utility, credits", lambda row: estimate(row.utility, FORMS["utility"])),
    Column("reward", lambda row: estimate(row.reward, FORMS["reward"])),
    Column("reward ~ utility, r", reward_correlation),
    Column("valid actions", lambda row: Cell(f"{row.valid:.1%} of {row.actions:,}", row.valid)),
    Column("jobs done", lambda row: number(row.jobs.mean, ".2f")),
    Column("jobs given", lambda row: number(row.jobs_had, ".2f")),
)


def game() -> Game:
    """The GPU arena."""
    return Game(
        name="arena",
        title="Arena",
        csv_label="Download the arena’s rows",
        files=FILES,
        tasks=ARENA_TASKS,
        metrics=METRICS,
        columns=COLUMNS,
        first_task=list(ARENA_TASKS)[-1],
        bound=lambda evaluation, view: None,
        about=task_about,
        remarks=reward_agreement,
    )


def reward_agreement(evaluation: Artifact, view: View) -> str:
    """What a grade of 0 is, and how far the reward follows the utility over all policies."""
    sentences = [ZERO_GRADE] if view.metric == "grade" else []
    row = next(
        row for row in evaluation.data.correlations if (row.task, row.others) == (view.task, DRAWN)
    )
    if row.correlation is not None:
        sentences.append(
            "Reward against utility as a share of the stake, all policies together: r ="
            f" {with_interval(row.correlation, 'z.3f')}, n = {row.n:,} episodes. It is"
            " below 1 because of penalties and of what a world gives to start with."
        )
    return " ".join(sentences)


def glance(evaluations: Sequence[Artifact]) -> Markup:
    """What the game is made of, counted in its code, and how many episodes were played."""
    rows = [row for evaluation in evaluations for row in evaluation.data.rows]
    result_codes = {
        code for kind in arena.KINDS.values() for code in (*kind.success, *kind.failures)
    }
    parts = [
        stat(f"{len(ARENA_TASKS)}", "tasks", note=f"{len(arena.ARCHETYPES)} archetypes of labs"),
        stat(f"{len(arena.KINDS)}", "types of action", note=f"{len(result_codes)} result codes"),
        stat(f"{len(arena.COMPONENTS)}", "reward components", note="and their exact sum"),
        stat(f"{len(LABS)}", "policies", note="scripted"),
    ]
    if rows:
        played = sum(row.n for row in rows)
        parts.append(stat(f"{played:,}", "episodes played"))
    return strip(*parts)
