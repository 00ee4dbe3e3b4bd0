"""Whose row or column of the first map is 0.00 throughout, and why."""

from collections.abc import Mapping, Sequence

from panels.results.market.tournament.matrix import LEAST, cells_of, seats
from panels.results.model_labels import ROLES, policy_label
from panels.results.questions.verdict import capital, listed
from sauda.experiments.tournament import PairCell, Tournament

LINES = {"buyer": "row", "seller": "column"}  # of the map, by seat
ACROSS = {"buyer": "seller", "seller": "buyer"}

Cells = Mapping[str, Sequence[PairCell]]  # the line of each player


def zeros_told(data: Tournament) -> str:
    """How many lines of the first map are 0.00 throughout, and why; "" where there is none.

    A forfeit is counted against the players whose own line is not 0.00.
    """
    cells, (buyers, sellers) = cells_of(data), seats(data)
    lines: Mapping[str, Cells] = {
        "buyer": {b: [cells[b, s] for s in sellers] for b in buyers},
        "seller": {s: [cells[b, s] for b in buyers] for s in sellers},
    }
    zeros = {seat: [p for p, line in of.items() if _is_zero(line)] for seat, of in lines.items()}
    forfeits: dict[str, list[float]] = {}  # shares of games, by player
    for seat, players in zeros.items():
        across = ACROSS[seat]
        for player in players:
            met = [c for c in lines[seat][player] if getattr(c, across) not in zeros[across]]
            invalid, n = sum(getattr(c.invalid, seat) for c in met), sum(c.n for c in met)
            forfeits.setdefault(player, []).append(invalid / n if n else 0.0)
    if not forfeits:
        return ""
    counted = [
        f"{len(players)} of {len(lines[seat])} {LINES[seat]}s"
        for seat, players in zeros.items()
        if players
    ]
    return f"{capital(listed(counted))} are 0.00 throughout. {_why(forfeits)}"


def _is_zero(line: Sequence[PairCell]) -> bool:
    return all(cell.share.buyer.mean < LEAST for cell in line)


def _why(forfeits: Mapping[str, Sequence[float]]) -> str:
    """Who forfeits how much with invalid moves, and who makes no such move and wins nothing."""
    forfeiting = [player for player, shares in forfeits.items() if max(shares) > 0]
    told = []
    if forfeiting:
        names = [policy_label(player) for player in forfeiting if player not in ROLES]
        names += ["role models"] * any(player in ROLES for player in forfeiting)
        shares = [share for player in forfeiting for share in forfeits[player]]
        low, high = f"{min(shares):.0%}", f"{max(shares):.0%}"
        told.append(
            f"The {listed(names)} forfeit {low if low == high else f'{low} to {high}'} of their"
            " games against the others with invalid moves (another figure of this map). A role"
            " model learnt to word a move, not to choose one."
        )
    others = [policy_label(player) for player in forfeits if player not in forfeiting]
    if others:
        told.append(f"{capital(listed(others))} made no invalid move and won nothing.")
    return " ".join(told)
