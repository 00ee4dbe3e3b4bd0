"""The view of the language-model part of Training as a query string, and back.

Everything in a query string is untrusted: what is not one of the values expected is left out, and a
sentence names what was expected, without repeating what came.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

SCALES = {"step": "step", "tokens": "tokens", "time": "minutes"}  # what x may be, and its unit
ROUGHEST, SMOOTHEST = 0.0, 0.98


@dataclass(frozen=True)
class View:
    """What is shown: a run (or "six", the panels of two), the x axis, how the curves are drawn."""

    run: str
    over: str = "step"
    smoothing: float = 0.8  # weight of what came before in the moving average
    log: bool = False  # losses and gradient norms on a logarithmic axis
    overlay: tuple[str, ...] = ()  # published logs drawn beside the run's


def to_query(view: View) -> str:
    """The query string that opens the page at this view, with its question mark."""
    return "?" + urlencode(
        {
            "tab": "training",
            "run": view.run,
            "over": view.over,
            "smoothing": f"{view.smoothing:g}",
            "log": int(view.log),
            "overlay": ",".join(view.overlay),
        },
        safe=",",
    )


def from_query(
    query: Mapping[str, str], first: View, runs: Sequence[str], overlays: Sequence[str]
) -> tuple[View, str]:
    """The view `first` updated from `query`, and an error message for unreadable parts, or ""."""
    view, faults = first, []

    def one_of(key: str, known: Sequence[str]) -> str | None:
        value = query.get(key)
        if value is None or value in known:
            return value
        faults.append(f"{key} is {_or(known)}")
        return None

    if run := one_of("run", runs):
        view = replace(view, run=run)
    if over := one_of("over", tuple(SCALES)):
        view = replace(view, over=over)
    if log := one_of("log", ("0", "1")):
        view = replace(view, log=log == "1")
    if "smoothing" in query:
        smoothing = _number(query["smoothing"])
        if smoothing is None:
            faults.append(f"smoothing is a number from {ROUGHEST:g} to {SMOOTHEST:g}")
        else:
            view = replace(view, smoothing=smoothing)
    if "overlay" in query:
        requested = [name for name in query["overlay"].split(",") if name]
        if set(requested) <= set(overlays):
            view = replace(view, overlay=tuple(name for name in overlays if name in requested))
        else:
            faults.append(f"overlay is any of {', '.join(overlays)}" if overlays else NO_OVERLAY)
    return view, f"Not all of the link could be read: {'; '.join(faults)}." if faults else ""


NO_OVERLAY = "overlay is empty, as the published logs are not here"


def _number(text: str) -> float | None:
    """`text` as a smoothing; None where it is none."""
    try:
        value = float(text)
    except ValueError:
        return None
    return round(value, 2) if ROUGHEST <= value <= SMOOTHEST else None


def _or(words: Sequence[str]) -> str:
    return " or ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else words[0]
