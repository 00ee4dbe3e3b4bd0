"""Tables of games: what policies score on tasks, with every episode; our game beside its source.

Bazaar: a career is one episode of several deals, which follow each other in an array of deals.
Arena: utilities in credits, grades and rewards as shares of the stake.
"""

from typing import Generic, TypeVar

from pydantic import ConfigDict

from sauda.records.schemas.base import (
    Hashes,
    Interval,
    Metric,
    ModelSource,
    Number,
    Record,
    Row,
    Rows,
    Table,
)


class CountedColumns(Record):
    """Columns of an evaluation; of a model in a comparison also its counts, one per episode."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, list[int]]


class BazaarColumns(CountedColumns):
    """The episodes of one task and policy; seeds run up from the split's first."""

    end: str  # how each deal ended, one letter per deal, explained by `ends`
    price: list[Number | None]  # rupees, per deal; null where the learner has no deal
    rounds: list[int]  # rounds per deal; 0 where a forfeit cut it off
    share: list[float]  # share of the ZOPA the learner won, per deal
    grade: list[float]  # the task's grade, per episode


class BazaarRow(Row):
    """One policy on one task, computed from its columns, also those of a model's counts."""

    share: Metric  # share of the ZOPA won, a failure counting 0
    grade: Metric  # the task's grade
    ends: dict[str, int]  # deals by the way they ended
    hashes: Hashes  # fingerprints of what was played


class Evaluation(Record):
    """Scripted policies on bazaar tasks over the seeds of one split."""

    ends: dict[str, str]  # meaning of each letter of the columns' `end`
    rows: Table[BazaarRow]  # one row per task and policy
    episodes: dict[str, dict[str, BazaarColumns]]  # columns by task and policy


class ArenaColumns(CountedColumns):
    """The episodes of one task, policy and set of other labs; one value per episode."""

    end: str  # how each episode ended, one letter, explained by `ends`
    utility: list[float]  # the learner's utility, credits
    grade: list[float]  # utility above the BATNA, as a share of the stake
    reward: list[float]  # sum of the step rewards, shares of the stake
    actions: list[int]  # actions the learner took
    valid: list[int]  # of those, actions that the rules accepted
    jobs: list[int]  # jobs the learner completed
    jobs_had: list[int]  # jobs the learner was given
    components: dict[str, list[float]]  # parts of the reward, by name


class ArenaRow(Row):
    """One policy on one task among one set of other labs, computed from its columns."""

    grade: Metric  # utility above the BATNA, as a share of the stake
    utility: Metric  # utility, credits
    reward: Metric  # sum of the step rewards, as a share of the stake
    components: dict[str, Interval]  # parts of the reward, by name
    ends: dict[str, int]  # episodes by the way they ended
    hashes: Hashes  # fingerprints of what was played


class Arena(Record):
    """Policies on arena tasks over the seeds of one split, among one or more sets of labs."""

    ends: dict[str, str]  # meaning of each letter of the columns' `end`
    rows: Table[ArenaRow]  # one row per set of other labs, task and policy
    # Pearson's r of reward and utility over all policies, seeds resampled; one row per set of labs
    # and task, null where one does not vary
    correlations: Rows
    # The step with the most of each reward component that occurs, in the first episode that has it.
    examples: Rows
    # by task, per seed in credits: the value of the learner's first jobs ("stake"), and the best
    # utility from its own GPUs alone ("batna")
    worlds: dict[str, dict[str, list[float]]]
    # columns by other labs, task and policy
    episodes: dict[str, dict[str, dict[str, ArenaColumns]]]


class PairedDifference(Row):
    """A difference of mean grades on the same seeds with its interval."""

    @property
    def interval(self) -> Interval:
        return Interval(mean=self.difference, low=self.low, high=self.high)


R, C = TypeVar("R", bound=Row), TypeVar("C")  # the rows and the columns of a comparison


class _Compared(Record, Generic[R, C]):
    ends: dict[str, str]  # meaning of each letter of the columns' `end`
    rows: Table[R]  # one row per task and policy
    # What each stage adds to the grade of the one before, on all seeds and on unseen ones.
    stage_gains: Table[PairedDifference]
    rivalries: Table[PairedDifference]  # each training stage beside other policies
    # bazaar: share of the gap to the planner that reads and speaks, per task and stage
    gap_closed: Rows = None
    worlds: dict[str, dict[str, list[float]]] = None  # arena: as in its evaluations
    episodes: dict[str, dict[str, C]]  # columns by task and policy
    models: dict[str, ModelSource]  # weights and sampling, by model name


class ModelComparison(_Compared[BazaarRow, BazaarColumns]):
    """A language model bare and wrapped, beside no model, scripts, planners and an oracle."""


class ArenaModelComparison(_Compared[ArenaRow, ArenaColumns]):
    """A language model as a lab, untrained and trained, bare and constrained, beside scripts."""


class Difference(Row):
    """What a deliberate difference of the rules changes for one policy."""

    # Mean share of the ZOPA, share of deals closed, mean grade; null where episodes do not end.
    published: Row  # in the published game
    measured: Row  # in ours


class Reproduction(Record):
    """Our figures against those measured on the published game's own code."""

    rows: Rows  # one per task, policy and metric
    agreement: Row  # how many rows agree
    differences: Table[Difference]  # outcomes where the rules differ on purpose
    rules: list[dict[str, str]]  # those differences in words
