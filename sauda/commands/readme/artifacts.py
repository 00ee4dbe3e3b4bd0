"""What the artifacts are: their list and checks; the published speeds and the differences."""

from sauda.evaluation.speed import published_speeds
from sauda.records.kinds import FILES, KINDS
from sauda.records.schemas.published import SideOutcome
from sauda.records.store import load

Table = tuple[tuple[str, ...], list[tuple[str, ...]]]  # heads, rows


def listing() -> Table:
    """A row a file: its name, kind, command, check, and the tab that shows it."""
    rows = [
        (f"`{f.file}`", f.kind, f"`{f.command}`", str(KINDS[f.kind].check), f.tab) for f in FILES
    ]
    return ("file", "kind", "command", "check", "shown in"), rows


def published() -> Table:
    """The published games' speeds in episodes a second, as published; none was timed here."""
    rows = [
        (
            f"{row['title']}, {row['name']}",
            f"{row['median']:,}",
            f"{row['n']:,} {row['n_of']}",
            row["caveat"],
        )
        for row in published_speeds(load("published.json"))
        if row["unit"] == "episodes/s"
    ]
    return ("published figure", "as published", "n", "machine and caveat"), rows


def differences() -> Table:
    """Where our classic differs from the published game on purpose, and what it changes."""
    data = load("evaluation/reproduction.json").data
    rows = []
    for rule in data.rules:
        measured = [row for row in data.differences if row.difference == rule.name]
        for number, row in enumerate(measured):
            words = (rule.published, rule.ours) if number == 0 else ("", "")
            played = f"`{row.policy}` on `{row.task}`"
            rows.append((*words, played, won(row.published), won(row.measured)))
    return ("published game", "ours, and why", "played", "share there", "share here"), rows


def won(side: SideOutcome) -> str:
    """The mean share of the ZOPA and the deal rate of one side of a difference."""
    if side.deal_rate is None:
        return "never ends"
    deals = f"{side.deal_rate:.0%} deals"
    return deals if side.surplus is None else f"{side.surplus:.3f}, {deals}"


def checks() -> str:
    """How many files `verify` replays, and which it does not."""
    return (
        f"Each of the {len(FILES)} files in `artifacts/` has a checksum in `artifacts/SHA256SUMS`. "
        "Of these files `python -m sauda verify` replays "
        f"{len(_files('replayed'))} whole, to the last digit. It replays "
        f"{_named('replayed in part')} in part, because language models wrote the rest, and "
        f"recomputes {_named('recomputed')} from recorded data. {_named('checksum only')} have "
        "only their checksums: training runs and speeds cannot be repeated, published figures are "
        "transcribed, and the human dialogues that acts are read in are not ours to ship."
    )


def _files(method: str) -> list[str]:
    return [f"`{known.file}`" for known in FILES if KINDS[known.kind].check.method == method]


def _named(method: str) -> str:
    """The files of one method as a list in words."""
    *others, last = _files(method)
    return f"{', '.join(others)} and {last}" if others else last
