"""What specialising in a role changed, in sentences, and every comparison of the role runs."""

from collections.abc import Iterator

from sauda.commands.readme.tables import markdown, spanned
from sauda.evaluation.language.roles import FILE, schedule_verdict
from sauda.records.schemas.base import Interval
from sauda.records.schemas.market.tournament import Tournament
from sauda.records.schemas.roles import RoleContrast
from sauda.records.store import load

PLAYER = "mini+roles-"  # how the names of the models of the role runs begin


def roles() -> str:
    """A sentence a question and role, then a table with a row a comparison."""
    rows = load(FILE).data.contrasts
    sentences = [_specialist(row) for row in rows if row.question == "specialist"]
    sentences += [_off_role(row) for row in rows if row.question == "off_role"]
    sentences.append(schedule_verdict(rows))
    sentences += _played(load("tournament.json").data)
    cells = [
        (
            f"`{row.run}`",
            f"`{row.baseline}`",
            row.role,
            str(row.n),
            f"{row.loss:.3f}",
            f"{row.baseline_loss:.3f}",
            spanned(row.difference),
        )
        for row in rows
    ]
    head = ("run", "beside", "turns of the", "dialogues", "loss", "loss beside", "difference")
    return "\n".join([*sentences, "", markdown(head, cells)])


def _specialist(row: RoleContrast) -> str:
    return (
        f"On the {row.role}'s turns of {row.n} hold-out dialogues, the loss of its specialist is"
        f" {row.loss:.3f} nats a token and that of the generalist {row.baseline_loss:.3f}: a"
        f" difference of {spanned(row.difference)}, {_worth(row.difference)}."
    )


def _off_role(row: RoleContrast) -> str:
    other = row.run.removeprefix("roles-")
    return (
        f"On the same turns of the {row.role}, the loss of the {other}'s specialist, which plays"
        f" off role, is {row.loss:.3f}: a difference of {spanned(row.difference)} from the"
        f" {row.role}'s own, {_worth(row.difference)}."
    )


def _played(data: Tournament) -> Iterator[str]:
    """A sentence for each model of the role runs and each seat that it takes in the tournament."""
    for row in data.ranks:
        if row.seat == "both" or not row.player.startswith(PLAYER):
            continue
        cells = [cell for cell in data.cells if getattr(cell, row.seat) == row.player]
        games = sum(cell.n for cell in cells)
        forfeits = sum(getattr(cell.invalid, row.seat) for cell in cells)
        role, seat = row.player.removeprefix(PLAYER), row.seat
        off = "" if role in (seat, "generalist") else ", off role,"
        other = "seller" if seat == "buyer" else "buyer"
        first = sum(
            cell.ends[f"{other} {how}"] for cell in cells for how in ("forfeited", "walked")
        )
        ended = f"; in {first:,} the {other} forfeits or walks away" if first else ""
        yield (
            f"In the tournament the model `{row.player}` as a {seat}{off} forfeits {forfeits:,} of"
            f" {games:,} games, because its reply holds no move{ended}; its mean share of the ZOPA"
            f" is {spanned(row.share)}."
        )


def _worth(difference: Interval) -> str:
    """Which way an interval of differences points, lower losses being better."""
    if difference.high < 0:
        return "which is better"
    return "which is worse" if difference.low > 0 else "whose interval holds 0"
