"""Evaluations of the GPU arena: utilities in credits, grades and rewards as shares of the stake."""

from pydantic import Field, FiniteFloat

from sauda.records.schemas.base import Hashes, Interval, Metric, Record


class ArenaColumns(Record):
    """The episodes of one task, policy and set of other labs; one value an episode."""

    end: str = Field(description="how each episode ended, one letter, explained by `ends`")
    utility: list[FiniteFloat] = Field(description="the learner's utility, credits")
    grade: list[FiniteFloat] = Field(description="utility above the BATNA, as a share of the stake")
    reward: list[FiniteFloat] = Field(description="sum of the step rewards, shares of the stake")
    actions: list[int] = Field(description="actions the learner took")
    valid: list[int] = Field(description="of those, actions that the rules accepted")
    jobs: list[int] = Field(description="jobs the learner completed")
    jobs_had: list[int] = Field(description="jobs the learner was given")
    components: dict[str, list[FiniteFloat]] = Field(description="parts of the reward, by name")


class ArenaRow(Record):
    """One policy on one task among one set of other labs, computed from its columns."""

    others: str = Field(description="the other labs: as the world draws them, or all of one kind")
    task: str = Field(description="name of the task")
    policy: str = Field(description="name of the policy in the learner's seat")
    n: int = Field(description="episodes")
    grade: Metric = Field(description="utility above the BATNA, as a share of the stake")
    utility: Metric = Field(description="utility, credits")
    reward: Metric = Field(description="sum of the step rewards, as a share of the stake")
    actions: int = Field(description="actions taken in all episodes")
    valid: FiniteFloat = Field(description="share of actions that the rules accepted")
    jobs: Interval = Field(description="jobs completed an episode")
    jobs_had: FiniteFloat = Field(description="mean number of jobs given an episode")
    correlation: Interval | None = Field(
        description="Pearson's r of reward and utility a stake; null where one does not vary"
    )
    components: dict[str, Interval] = Field(description="parts of the reward, by name")
    ends: dict[str, int] = Field(description="episodes by the way they ended")
    hashes: Hashes = Field(description="fingerprints of what was played")


class ArenaCorrelation(Record):
    """How closely reward follows utility over all policies of a task."""

    others: str = Field(description="the other labs")
    task: str = Field(description="name of the task")
    n: int = Field(description="episodes of all policies")
    correlation: Interval | None = Field(
        description="Pearson's r, seeds resampled; null where one does not vary"
    )


class ArenaExample(Record):
    """The step with the largest amount of one reward component in the first episode that has it."""

    component: str = Field(description="name of the reward component")
    task: str = Field(description="name of the task")
    policy: str = Field(description="name of the policy")
    seed: int = Field(description="seed of the episode")
    step: int = Field(description="the learner's step, from 1")
    round: int = Field(description="round of the market, from 0")
    words: str = Field(description="the action in words")
    code: str = Field(description="result code of the action")
    amount: FiniteFloat = Field(description="what the step added to the component")


class ArenaWorlds(Record):
    """What each seed of a task deals the learner; one value a seed, in credits."""

    stake: list[FiniteFloat] = Field(description="value of the learner's first jobs")
    batna: list[FiniteFloat] = Field(description="the best utility from its own GPUs alone")


class Arena(Record):
    """Policies on arena tasks over the seeds of one split, among one or more sets of labs."""

    ends: dict[str, str] = Field(description="meaning of each letter of the columns' `end`")
    rows: list[ArenaRow] = Field(description="one row a set of other labs, task and policy")
    correlations: list[ArenaCorrelation] = Field(description="one row a set of labs and task")
    examples: list[ArenaExample] = Field(description="one step a reward component that occurs")
    worlds: dict[str, ArenaWorlds] = Field(description="what the seeds deal, by task")
    episodes: dict[str, dict[str, dict[str, ArenaColumns]]] = Field(
        description="columns by other labs, task and policy"
    )
