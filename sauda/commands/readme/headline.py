"""The three figures that stand at the head of README.md."""

from collections.abc import Mapping, Sequence
from typing import Any

from sauda.commands.readme.evaluations import difference
from sauda.commands.readme.tables import markdown, spanned
from sauda.evaluation.models.config import OURS, TUNED, Config
from sauda.policies.pilot.tuned import PRICE, WALK
from sauda.records.schemas.base import Interval
from sauda.records.store import load

COMPARISON, ORACLE = "evaluation/model-comparison.json", "oracle.json"
ARENA = "evaluation/arena-holdout.json"
OPEN, MARKET = "bazaar/open", "arena/coalition_market"
AS_DRAWN = "as drawn"  # the other labs as each world draws them


def headline() -> str:
    """What the trained model, a policy without a network and the arena's planner reach.

    Each is a mean grade with its 95 % interval, beside others on the same hold-out seeds.
    """
    rows = (trained_model(), belief_buyer(), planner())
    return markdown(
        ("on hold-out seeds", "mean grade, 95 % interval", "n", "beside it", "in"), rows
    )


def trained_model() -> Sequence[str]:
    """The trained language model on the open market, beside its base, a script and the oracle."""
    rows = {row.policy: row for row in load(COMPARISON).data.rows if row.task == OPEN}
    base, linear, oracle = (
        mean(rows[name].grade) for name in (Config.baseline, "linear", "oracle")
    )
    beside = (
        f"untrained {base}, untuned script `linear` {linear}, {tuned_rule()}, informed oracle "
        f"{oracle}"
    )
    claim = f"Sauda, the trained 135M model, buys in the open market (`{OPEN}`)"
    return (claim, *figure(rows[OURS]), beside, f"`{COMPARISON}`")


def tuned_rule() -> str:
    """The grade of the rule whose numbers were searched for, and the model's difference to it."""
    data = load(COMPARISON).data
    (row,) = (row for row in data.rows if (row.task, row.policy) == (OPEN, TUNED))
    (gap,) = (
        gap for gap in data.rivalries if (gap.task, gap.policy, gap.rival) == (OPEN, OURS, TUNED)
    )
    return (
        f"tuned rule of {len(PRICE) + len(WALK)} numbers {mean(row.grade)} (model less rule "
        f"{difference(gap)})"
    )


def belief_buyer() -> Sequence[str]:
    """The buyer that infers the hidden seller type, beside the best script and the oracle."""
    row = next(row for row in load(ORACLE).data.rows if row.task == OPEN)
    best = max((p for p in row.policies if p.policy != "leave"), key=lambda p: p.mean)
    beside = (
        f"best untuned script `{best.policy}` {mean(best)}, informed oracle {mean(row.informed)}: "
        f"{row.belief.share:.0%} of it against {best.share:.0%}"
    )
    claim = f"A buyer that infers the hidden seller type, no network (`{OPEN}`)"
    return (claim, spanned(row.belief), f"{row.n}", beside, f"`{ORACLE}`")


def planner() -> Sequence[str]:
    """The planning lab in the largest arena, beside the published expert and no trade."""
    data = load(ARENA).data
    rows = {row.policy: row for row in data.rows if (row.task, row.others) == (MARKET, AS_DRAWN)}
    beside = (
        f"no trade at all {mean(rows['autarky'].grade)}, published expert `rule_based_expert` "
        f"{mean(rows['rule_based_expert'].grade)}"
    )
    claim = f"A lab that plans its trades of GPU time (`{MARKET}`)"
    return (claim, *figure(rows["planner"]), beside, f"`{ARENA}`")


def figure(row: Mapping[str, Any]) -> tuple[str, str]:
    """The grade of a row with its interval, and its n."""
    return spanned(row.grade), f"{row.n}"


def mean(figures: Interval) -> str:
    """A mean to three decimals."""
    return f"{figures.mean + 0.0:.3f}"
