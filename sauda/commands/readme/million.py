"""What a million episodes cost: the bench's speeds, divided, and the Hub's published prices."""

from sauda.commands.bench.games import ALONE, SEEDED
from sauda.commands.readme.tables import markdown
from sauda.evaluation.models.config import OURS
from sauda.records.store import load
from sauda.scale.fanout import FLAVOR
from sauda.scale.hardware import flavor

MILLION = 1_000_000
JOBS, VCPU = 8, 8  # jobs of FLAVOR, and the virtual CPUs of each
SPEEDS = (  # figure of the bench, what is played, seconds of the figure's unit
    (f"episodes a second, linear on bazaar/open, {ALONE}", "`linear` on `bazaar/open`", 1),
    (
        f"episodes a second, linear on bazaar/open, {SEEDED}",
        "the same in batches, as shards are",
        1,
    ),
    (
        "episodes a second, rule_based_expert, arena/coalition_market",
        "`rule_based_expert` on `arena/coalition_market`",
        1,
    ),
    (f"games, {OURS}, 16 in step", f"the language model `{OURS}` on `bazaar/open`", 60),
)
SERVER, REQUESTS = "l4x1", 100  # a machine, and requests a second that we assume of a server


def million() -> str:
    """A row a speed that the bench has measured: hours on this machine and on jobs, and dollars."""
    bench = load("bench.json").data
    cores, rented = bench.machine["cores"], flavor(FLAVOR)
    head = (
        "a million episodes of",
        "measured on one core",
        "core hours",
        f"here, {cores} cores",
        f"{JOBS} jobs of `{rented.name}`",
        "price of the jobs",
    )
    figures, rows = {figure.name: figure for figure in bench.figures}, []
    for name, about, seconds in SPEEDS:
        if name not in figures:  # the bench leaves out what a machine cannot measure
            rows.append((about, "not in `bench.json`; `sauda bench --model` times it", *["–"] * 4))
            continue
        rate = figures[name].median / seconds
        hours = MILLION / rate / 3600
        speed = f"{rate:,.0f}" if rate >= 1000 else f"{rate:.4g}"  # no exponent above 9,999
        row = (
            about,
            f"{speed} a second (n = {figures[name].n})",
            f"1,000,000 / {speed} / 3,600 = {hours:.3g}",
            _time(hours / cores),
            _time(hours / (JOBS * VCPU)),
            f"{hours:.3g} / {VCPU} x ${rented.price} = {_dollars(hours / VCPU * rented.price)}",
        )
        rows.append(row)
    return markdown(head, rows)


def requests() -> str:
    """What a million games of the served language model ask of a server."""
    rows = load("evaluation/model-comparison.json").data.rows
    row = next(row for row in rows if (row.task, row.policy) == ("bazaar/open", OURS))
    moves, tokens = row.moves / row.n, row.tokens / row.n
    hours, rented = MILLION * moves / REQUESTS / 3600, flavor(SERVER)
    return (
        f"A game of `{OURS}` on `bazaar/open` takes {moves:.1f} requests and {tokens:.0f} "
        f"generated tokens (n = {row.n}, `evaluation/model-comparison.json`), so a million games "
        f"take {moves:.1f} million requests. A server that answers {REQUESTS} of them a second "
        f"would take {moves:.1f} million / {REQUESTS} / 3,600 = {hours:.3g} h, on `{SERVER}` "
        f"{hours:.3g} x ${rented.price:.2f} = ${hours * rented.price:.2f}."
    )


def _time(hours: float) -> str:
    if hours >= 1:
        return f"{hours:,.3g} h"
    return f"{60 * hours:.2g} min" if hours >= 1 / 60 else f"{3600 * hours:.2g} s"


def _dollars(price: float) -> str:
    return f"${price:,.2f}" if price >= 0.01 else "under 1 cent"
