"""The GPU arena: what each rule is worth, and the judged negotiation."""

from sauda.records.schemas.base import Interval, Record, Row, Rows, Table


class ArenaRules(Record):
    """What each rule of the arena is worth to the broker, and how much trading wins."""

    yardsticks: Rows  # one per task and player, the trader that sees all among them
    ablations: Rows  # one per task and rule that is switched off: what the broker's grade loses


class Verdict(Row):
    """The judge's verdict on one pitch."""

    findings: Rows  # one per claim, as the judge checked it


class JudgedRound(Row):
    """One round of a negotiation: the pitches and the award."""

    verdicts: dict[str, Verdict]  # the judge's verdict, by lab


class ShownGame(Row):
    """A negotiation shown in full."""

    rounds: Table[JudgedRound]


class Pitching(Record):
    """Judged negotiation: an adapting advocate, a control, hostile pitches; rounds to read."""

    learner: str  # the lab that the advocates speak for
    control: str  # name of the control
    arms: list[str]  # strategies to choose from
    early_rounds: int  # rounds in which each strategy is used once
    rows: Rows  # one per advocate
    learning: Interval  # gain over the control, late less early rounds
    # per round and advocate: the share of seeds in which it is "won", the judge's mean "total"
    curves: dict[str, dict[str, list[Interval]]]
    # share of seeds that chose a strategy in each round, by advocate and strategy
    frequencies: dict[str, dict[str, list[float]]]
    wins: dict[str, list[int]]  # rounds won, one per seed, by advocate
    shown: Table[ShownGame]  # negotiations shown in full
