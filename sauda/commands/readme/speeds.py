"""How fast the games, the page and the small model are, a row a figure of the bench."""

from collections.abc import Callable, Sequence

from sauda.commands.bench.games import ALONE, DRAWN, SEEDED
from sauda.records.schemas.bench import Speed
from sauda.records.store import load


def _a_second(figure: Speed) -> str:
    return f"{figure.median:,.0f}"


def _times(figure: Speed) -> str:
    """A speed, and its ratio to the speed of playing one by one in the same run."""
    ratio = next(r for r in load("bench.json").data.ratios if r.of == figure.name)
    return f"{_a_second(figure)}, {ratio.median:,.3g} times one by one (n = {ratio.n})"


def _seconds(figure: Speed) -> str:
    return f"{figure.median:.2f} s"


SPEEDS: Sequence[tuple[str, str, Callable[[Speed], str]]] = (
    (
        "`rule_based` on `classic/single_deal`, episodes a second on one core, median",
        f"episodes a second, rule_based on classic/single_deal, {ALONE}",
        _a_second,
    ),
    (
        "the same games in a batch, drawn from their seeds",
        f"episodes a second, rule_based on classic/single_deal, {SEEDED}",
        _times,
    ),
    (
        "in a batch of games that are drawn at once",
        f"episodes a second, rule_based on classic/single_deal, {DRAWN}",
        _times,
    ),
    (
        "`linear` on `bazaar/open`, episodes a second on one core, median",
        f"episodes a second, linear on bazaar/open, {ALONE}",
        _a_second,
    ),
    (
        "the same games in a batch, drawn from their seeds",
        f"episodes a second, linear on bazaar/open, {SEEDED}",
        _times,
    ),
    (
        "in a batch of games that are drawn at once",
        f"episodes a second, linear on bazaar/open, {DRAWN}",
        _times,
    ),
    (
        "every scripted buyer on every `bazaar/` task, 1,000 seeds each, on two cores",
        "full table of scripted policies, all bazaar tasks",
        lambda f: f"{f.median:.1f} s",
    ),
    (
        "merging 100 shards of that table on one core, median",
        "merge of 100 shards of that table",
        lambda f: f"{f.median:.1f} s",
    ),
    (
        "`rule_based_expert` on `arena/coalition_market`, episodes a second on one core, median",
        "episodes a second, rule_based_expert, arena/coalition_market",
        _a_second,
    ),
    (
        "the same in steps a second",
        "steps a second, rule_based_expert, arena/coalition_market",
        _a_second,
    ),
    (
        "a scripted reply with 20 visitors playing, 95th percentile",
        "scripted reply",
        lambda f: f"{1000 * f.p95:.0f} ms",
    ),
    (
        "OpenEnv steps a second on `bazaar/open` in one process, without a server, median",
        "OpenEnv steps a second, in process",
        _a_second,
    ),
    *(
        (
            f"the same over `/ws`, {sessions}, median",
            f"OpenEnv steps a second over /ws, {number} at once",
            _a_second,
        )
        for number, sessions in ((1, "1 session"), (16, "16 sessions"), (64, "64 sessions"))
    ),
    (
        "what `/ws` adds to one step, median",
        "added by /ws to an OpenEnv step",
        lambda f: f"{f.median:.1f} ms",
    ),
    (
        "first words of the small model's move, bf16, median",
        "first words, mini, bf16, prefix cache on",
        _seconds,
    ),
    ("its whole move, median", "whole move, mini, bf16, prefix cache on", _seconds),
    (
        "importing the page, without torch, median",
        "import of app",
        lambda f: f"{f.median:.1f} s",
    ),
    (
        "first figure visible after opening, median",
        "first figure visible",
        lambda f: f"{f.median:.1f} s",
    ),
    ("tabs visible after opening, median", "tabs visible", lambda f: f"{f.median:.1f} s"),
)


def speed(figure: Speed, form: Callable[[Speed], str]) -> tuple[str, str]:
    n = f"{figure.n} x {figure.episodes:,}" if figure.episodes is not None else f"{figure.n}"
    return form(figure), n


def speeds() -> list[tuple[str, str, str, str]]:
    """A row a figure that the bench measured: claim, figure, n, file."""
    figures = {figure.name: figure for figure in load("bench.json").data.figures}
    return [
        (claim, *speed(figures[name], form), "bench.json")
        for claim, name, form in SPEEDS
        if name in figures  # bench leaves out what a machine cannot measure
    ]
