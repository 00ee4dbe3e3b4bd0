"""Where any words count: what players lose, what words are worth, odd ways to play, small rules."""

from sauda.records.schemas.base import Interval, Record, Row, Rows, Table

SPOKEN = ("open-3", "people", "package")  # markets with words
OTHER_TYPE = "both, words of another type"


class GapRow(Row):
    """One player: its grade, and where it loses against the oracle."""

    bins: list[Interval]  # its grade by difficulty, the easiest first


class Gap(Record):
    """Where players lose against the optimum: uncertainty, inference, control, by difficulty."""

    task: str
    n: int  # hold-out seeds
    oracle: Interval  # what the informed oracle expects
    silent: Interval  # the same, saying nothing
    planner: Interval  # the planner's grade with the exact belief
    uncertainty: Interval  # what it loses to the oracle
    edges: list[float]  # informed grades that part the bins, falling
    bins: Rows  # the games by difficulty, the easiest first
    rows: Table[GapRow]  # one row per player


class Worth(Record):
    """What words are worth where any words count: reading, speaking, both, misread, permuted."""

    deals: Rows  # one per market: types and languages of its sellers, one entry per seed
    played: Rows  # one per market and player, and of those in one kind of sentences
    worth: Rows  # one per market, comparison and part of the games: the paired difference


class Exploit(Row):
    """A dishonest or odd way to play a task."""

    task: str
    what: str
    means: bool  # it says what sellers weigh; else it says nothing, a lie or noise
    grade: Interval  # its mean grade
    gain: Interval  # what it scores more than the planner that reads and speaks, paired by seed
    words: Interval | None  # and more than with the same bids in silence, where it speaks


class Exploits(Record):
    """Dishonest and odd ways to play, beside the planner and their silent selves."""

    n: int  # hold-out seeds of each task
    rows: Table[Exploit]  # one per task and way to play


class Simplest(Record):
    """The rule of seventeen numbers in the open market, the smallest one, and the planners."""

    numbers: dict[str, float]  # of the rule with words
    silent: dict[str, float]  # of the rule on numbers alone
    dropped: Rows  # numbers left out in turn, with the grade on training games after it
    kept: list[str]  # numbers of the smallest rule
    rows: Rows  # hold-out grades of the rules and the planners, each less the whole rule
