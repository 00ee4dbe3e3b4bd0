"""The tables of the tournament and of the profiles."""

from sauda.commands.readme.tables import markdown, spanned
from sauda.evaluation.language.role_play import is_off_role
from sauda.records.store import load

SEATS = {"buyer": "buys", "seller": "sells", "both": "in both seats"}


def tournament() -> str:
    """A row a player and seat: its rank, strength and shares, and who takes most from it."""
    data = load("tournament.json").data
    worst = {(row.seat, row.player): row for row in data.exploitability}
    rows = []
    for row in data.ranks:
        by = worst.get((row.seat, row.player))
        rows.append(
            (
                SEATS[row.seat],
                f"{row.rank}",
                in_seat(row.player, row.seat),
                spanned(row.strength),
                spanned(row.share),
                spanned(row.utility),
                "–"
                if by is None or not by.taken.mean
                else f"`{by.by}` {spanned(by.taken)}, {by.usual.mean:.3f} usual",
            )
        )
    head = ("seat", "rank", "player", "strength, log-odds", "share of the ZOPA", "utility",
            "most is taken by")  # fmt: skip
    return markdown(head, rows)


def in_seat(player: str, seat: str) -> str:
    """A player as code, marked where it was trained for the other role."""
    return f"`{player}`" + (" (off role)" if is_off_role(player, seat) else "")


def profiles() -> str:
    """A row a buyer: its surplus, its regret by phase, its use of cues, its belief, its faults."""
    data = load("profiles.json").data
    rows = []
    for row in data.rows:
        parts = {phase.phase: f"{phase.regret.mean:.3f}" for phase in row.phases}
        faults = row.compliance
        rows.append(
            (
                in_seat(row.player, "buyer"),
                "–" if row.of_oracle is None else spanned(row.of_oracle),
                *(parts.get(name, "–") for name in ("opening", "middle", "closing", "walking")),
                spanned(row.cues.gained),
                spanned(row.cues.misled),
                *(
                    ("–", "–")
                    if row.belief is None
                    else (f"{row.belief.answered} of {row.belief.n}", spanned(row.belief.score))
                ),
                f"{faults.invalid} / {faults.broken} / {faults.losses}",
            )
        )
    head = ("buyer", "share of the oracle's surplus", "regret: opening", "middle", "closing",
            "walking", "candid signals add", "misleading ones", "ranges given",
            "interval score",
            "invalid / broken / losses")  # fmt: skip
    return markdown(head, rows)


def prior_score() -> str:
    """The score of a buyer that knows only how limits are drawn, in a sentence."""
    prior, rows = load("profiles.json").data.prior, load("profiles.json").data.rows
    return (
        f"A buyer that knows only how the market draws limits scores {spanned(prior.score)} "
        f"(n = {prior.n}); an answer that holds no range counts as the whole range from 0 to the "
        f"ask. Games a row: {rows[0].n}, {rows[0].cues.n} with each kind of signals."
    )
