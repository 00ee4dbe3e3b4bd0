"""What specialising in a role changed, in sentences, and every comparison of the role runs."""

from sauda.commands.readme.tables import markdown, spanned
from sauda.commands.readme.tournament import in_seat
from sauda.evaluation.language import contrasts
from sauda.evaluation.language.role_play import FILE as GAMES
from sauda.evaluation.language.role_play import verdict
from sauda.evaluation.language.roles import FILE, cause_sentences, schedule_verdict
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
    sentences += cause_sentences(rows)
    sentences += verdict(load(GAMES).data.rows)
    sentences.append(_played(load("tournament.json").data))
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


def role_contrasts() -> str:
    """What the nine contrasts say in role play and in the tournament, then a row a contrast."""
    records = {
        "in role play": contrasts.of_role_play(load(GAMES).data),
        "in the tournament": contrasts.of_tournament(load("tournament.json").data),
    }
    sentences = [
        f"{where.capitalize()}: {contrasts.verdict(rows, lambda name: _named(name, 'both'))}"
        for where, rows in records.items()
        if rows
    ]
    cells = [
        (
            where,
            _named(row.player, row.seat),
            _named(row.beside, row.seat),
            contrasts.DOING[row.seat],
            str(row.n),
            str(row.opponents),
            spanned(row.difference),
            f"{row.p:.4f}",
            f"{row.adjusted:.4f}",
        )
        for where, rows in records.items()
        for row in rows
    ]
    head = ("games", "player", "less", "doing", "n", "opponents", "difference in share", "p",
            "p, Holm")  # fmt: skip
    return "\n".join([*sentences, "", markdown(head, cells)])


def _named(player: str, seat: str) -> str:
    """A model in a seat as code, the pooled specialists in words."""
    pooled = player in (contrasts.ON_ROLE, contrasts.OFF_ROLE)
    return player if pooled else in_seat(player, seat)


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


def _played(data: Tournament) -> str:
    """How the models of the role runs fare as players that write whole moves."""
    games = forfeits = 0
    for cell in data.cells:
        seats = [s for s in ("buyer", "seller") if getattr(cell, s).startswith(PLAYER)]
        games += cell.n if seats else 0
        forfeits += sum(getattr(cell.invalid, seat) for seat in seats)
    return (
        f"In the tournament, where a player writes its whole move, the models of the roles forfeit"
        f" {forfeits:,} of their {games:,} games: their replies are words and hold no move."
    )


def _worth(difference: Interval) -> str:
    """Which way an interval of differences points, lower losses being better."""
    if difference.high < 0:
        return "which is better"
    return "which is worse" if difference.low > 0 else "whose interval holds 0"
