"""Tables and figures in Markdown."""

from collections.abc import Sequence

from sauda.records.schemas.base import Interval
from sauda.records.schemas.market import InformedShare


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def spanned(figures: Interval, digits: int = 3) -> str:
    """`0.214 [0.180, 0.250]`: a mean with its interval; zero after rounding has no sign."""
    mean, low, high = (
        f"{round(getattr(figures, end), digits) + 0.0:.{digits}f}"
        for end in ("mean", "low", "high")
    )
    return f"{mean} [{low}, {high}]"


def part(figures: InformedShare) -> str:
    """`0.360 (74%)`: a mean and its share of the informed oracle's."""
    return f"{figures.mean:.3f} ({figures.share:.0%})"
