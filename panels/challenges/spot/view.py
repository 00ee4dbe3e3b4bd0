"""What “Spot the trained one” shows: two buyers side by side, the verdict, the measured scores."""

from markupsafe import Markup

from env import Turn, rupees
from panels.challenges.spot.layout import SIDES
from panels.challenges.spot.stages import MEASURED, Stages
from panels.haggle.opponents.model_view import names_a_number
from panels.results.model_labels import policy_label
from panels.results.model_summary import FORM
from panels.ui.look import note, table
from panels.ui.tables import with_interval
from sauda.games.transcript import in_words
from sauda.llm.registry import row_name
from sauda.sessions.spot import EXCHANGES, Duel, Side

WRITTEN = 80  # characters shown of a reply that is no move
ROWS = "?tab=results&part=else"  # where the model comparison stands row by row
GAMES = "?tab=transcripts&part=before-after"


def about(duel: Duel) -> Markup:
    """The item, the seller, and whether the answers are recorded or written now."""
    badge = Markup('<span class="sauda-badge{}">{}</span>').format(
        "" if duel.is_live else " sauda-measured", "live" if duel.is_live else "recorded"
    )
    item = f"{duel.item.name}, list price {rupees(duel.item.list_price)}"
    if duel.is_live:
        limit = rupees(duel.games[0].observation.reservation)
        words = (
            f"You sell: {item}; sell above {limit}. Name a price, up to {EXCHANGES} times:"
            " both buyers hear the same ask."
        )
    else:
        words = (
            f"{item[0].upper()}{item[1:]}. A scripted seller asks; both buyers met it at one seed."
        )
    return Markup("<p>{} {}</p>").format(badge, words)


def columns(duel: Duel) -> Markup:
    """Both buyers' exchanges; their names show after the guess."""
    cards = [
        Markup('<section class="sauda-card"><h3>Buyer {}{}</h3>{}</section>').format(
            name,
            f": {policy_label(row_name(side.policy))}" if duel.guess is not None else "",
            _told(duel, side),
        )
        for name, side in zip(SIDES, duel.sides, strict=True)
    ]
    return Markup('<div class="sauda-cards sauda-pair">{}</div>').format(Markup("").join(cards))


def _told(duel: Duel, side: Side) -> Markup:
    shown = side.exchanges()[: duel.shown if not duel.is_live else None]
    lines = [_said(duel, turn, side) for exchange in shown for turn in exchange]
    if side.no_move and shown and shown[-1][-1].agent == "seller":  # a live reply makes no turn
        lines.append(_no_move(duel, side))
    if not lines:
        return note("Waits for your first ask.")
    return Markup('<div class="sauda-told">{}</div>').format(Markup("").join(lines))


def _said(duel: Duel, turn: Turn, side: Side) -> Markup:
    if turn.action is None:
        return _no_move(duel, side)
    who, words = turn.agent, in_words(duel.task, turn)
    if duel.is_live and who == "seller":
        who, words = "you", words.replace("asks", "ask", 1)
    return Markup('<p class="sauda-{}"><b>{}</b> {}</p>').format(turn.agent, who, words)


def _no_move(duel: Duel, side: Side) -> Markup:
    """A reply that is no move; its numbers, percent of the buyer's limit, wait for the guess."""
    hidden = duel.guess is None and names_a_number(side.no_move)
    words = "a reply" if hidden else f"“{side.no_move[:WRITTEN]}”"
    return Markup('<p class="sauda-buyer"><b>buyer</b> writes {}, which is no move</p>').format(
        words
    )


def verdict(duel: Duel, stages: Stages) -> Markup:
    """Whether the guess was right, and both rows of the model comparison."""
    right = is_right(duel, stages)
    trained = next(
        name for name, side in zip(SIDES, duel.sides, strict=True) if stages.is_trained(side.policy)
    )
    said = f"{'Right' if right else 'Wrong'}: buyer {trained} is the trained one."
    link = "" if duel.is_live else Markup(' <a href="{}">The recorded games</a>').format(GAMES)
    return Markup('<p class="sauda-answer">{}</p>{}<p class="sauda-note">{}{}</p>').format(
        said,
        scores(duel, stages),
        Markup('<a href="{}">Both rows in Results</a>').format(ROWS),
        link,
    )


def is_right(duel: Duel, stages: Stages) -> bool:
    """Whether the guessed side is the served stage."""
    return stages.is_trained(duel.sides[duel.guess].policy)


def scores(duel: Duel, stages: Stages) -> Markup:
    """The measured grades of both players, with n, interval and forfeits."""
    rows, lacking = [], []
    for side in duel.sides:
        row = stages.rows.get(row_name(side.policy))
        if row is None:
            lacking.append(row_name(side.policy))
            continue
        label = f"{policy_label(row.policy)} ({row.policy})"
        figures = (with_interval(row.grade, FORM), f"{row.n}", f"{row.ends['forfeit']}")
        rows.append((label, *figures))
    shown = table(
        ("player", "mean grade [95 % interval]", "n", "forfeits"), rows,
        caption=f"Measured as buyers on {MEASURED}, hold-out seeds",
    )  # fmt: skip
    return shown + Markup("").join(note(f"{name} has no row of its own.") for name in lacking)


def tally(right: int, guessed: int) -> Markup:
    """How often this browser's guesses were right; empty before the first one."""
    if not guessed:
        return Markup("")
    return note(f"You were right in {right} of {guessed} pairs; a coin is right in half of them.")
