"""`python -m sauda loadtest`: parses options, prints a table, saves the artifact."""

import argparse
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

from tqdm import tqdm

from sauda.commands.console import add_command, save_measured
from sauda.commands.loadtest.mixes import SHORT, Size
from sauda.commands.loadtest.run import ALL, played_at, played_here
from sauda.records.store import machine

FILE = "load.json"


def add(commands: Any) -> None:
    """Add `loadtest` to the commands of `python -m sauda`."""
    parser = add_command(commands, "loadtest", loadtest)
    parser.add_argument(
        "--mix", nargs="+", choices=tuple(ALL), default=tuple(ALL), help="default: all of them"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        help="length of the mix of 50 visitors; other timed ones take a part of it (default 600)",
    )
    parser.add_argument("--short", action="store_true", help="seconds, not minutes")
    page = parser.add_mutually_exclusive_group()
    page.add_argument("--url", help="a page that runs already; it must trust this machine as proxy")
    page.add_argument(
        "--before", metavar="COMMIT", help="play a fifth of each polite mix on an earlier commit"
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--save", action="store_true", help=f"write artifacts/{FILE}")


def loadtest(options: argparse.Namespace) -> int:
    """Play the mixes, print a table and save it if the options say so; 1 where anything failed."""
    if options.save and options.url:
        raise ValueError("what ran at --url is not known; save without it")
    size = SHORT if options.short else Size()
    if options.seconds is not None:
        size = replace(size, seconds=options.seconds)
    mixes = []
    runs = (
        played_at(options.url, options.mix, size)
        if options.url
        else played_here(options.mix, size, options.before)
    )
    for mix in tqdm(runs, desc="playing mixes", unit="mix", leave=False):
        mixes.append(mix)
        if not options.json:
            tqdm.write("\n".join(lines(mix)))
    data = {"machine": machine(), "mixes": mixes}
    if options.json:
        print(json.dumps(data, indent=1))
    if options.save:
        config = {**asdict(size), "mixes": list(options.mix), "before": options.before}
        save_measured(FILE, config, data)
    now = (mix for mix in mixes if mix["state"] == "now")
    return int(any(row["failures"] for mix in now for row in mix["rows"]))


def lines(mix: Mapping[str, Any]) -> Iterator[str]:
    """One mix as lines of text: actions, failures with their reasons, memory."""
    yield f"{mix['name']}, {mix['state']}, {mix['seconds']:g} s: {mix['about']}"
    for row in mix["rows"]:
        p50, p95 = (
            f"{row[q]:,.0f} ms" if row[q] is not None else "–" for q in ("p50_ms", "p95_ms")
        )
        counts = f"n {row['n']}, refused {row['refused']}, failures {row['failures']}"
        yield f"  {row['what']:32} median {p50:>10}, 95 % {p95:>10}, {counts}"
        for reason, count in row["reasons"].items():
            yield f"    {count} x {reason}"
    for row in mix["memory"]:
        yield f"  {memory_line(row)}"


def memory_line(row: Mapping[str, Any]) -> str:
    """The memory of the page and of its model process at the start and at the end."""
    model = row["model_mib"]
    parts = [f"page {_span(row['page_mib'])} MiB, {row['page_kib_a_unit']:,g} KiB a {row['unit']}"]
    if model is not None:
        slope = f"{row['model_kib_a_unit']:,g} KiB a {row['unit']}"
        parts.append(f"model process {_span(model)} MiB, {slope}")
    return "memory: " + "; ".join(parts)


def _span(values: list[float]) -> str:
    return f"{values[0]:,.0f} to {values[-1]:,.0f}"
