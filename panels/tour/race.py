"""The race: one bargain by the model before and after training, move by move and side by side.

The recorded game plays at once, by the stylesheet's animation alone; the same game can be played
again live, and is compared with what was recorded.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

import gradio as gr
from markupsafe import Markup

from env import EndReason, Episode, Offer, Turn, get_task, rupees, shares, zopa_width
from panels.results.model_labels import policy_label
from panels.transcripts.before_after import FILE, typical
from panels.transcripts.episodes import by_model
from panels.ui.look import QUEUED, QUIET, note, trouble
from panels.ui.offers import ending
from panels.ui.provenance import load_or_say, provenance
from sauda.experiments.before_after import PERCENTILES, SIDES, ChosenPair, act_of
from sauda.games.transcript import from_json, in_words
from sauda.llm.types import ReplyError
from sauda.records.store import Artifact

TASK = "bazaar/open"
WRITTEN = 20  # characters shown of a reply that is no move
ROWS = 8  # rows of rounds for which a phone's first screen has room
LAST = 3  # final rounds that a longer game keeps in rows of their own
PLAYERS = {"before": "mini", "after": "sauda-mini"}  # of this page


def race(games: Sequence[Episode], pair: ChosenPair) -> Markup:
    """Two games of one seed as rows of a table, a round each, which appear one after another."""
    records = [getattr(pair, side) for side in SIDES]
    columns = [
        [_cell(turns, record.replies) for turns in rounds(game)]
        for game, record in zip(games, records, strict=True)
    ]
    played = list(zip_longest(*columns, fillvalue=Markup("")))
    rows = [_row(number, *labelled) for number, labelled in enumerate(_fitted(played))]
    last = _row(len(rows), "end", [outcome(game) for game in games], "sauda-race-end")
    head = Markup("").join(
        Markup('<th scope="col">{}</th>').format(policy_label(record.policy)) for record in records
    )
    return Markup(
        '<table class="sauda-race"><thead><tr><th scope="col">round</th>{}</tr></thead>'
        "<tbody>{}{}</tbody></table>"
    ).format(head, Markup("").join(rows), last)


def _fitted(played: Sequence[Sequence[Markup]]) -> list[tuple[str, Sequence[Markup]]]:
    """The rounds with their numbers; of more than ROWS the middle ones share a row of dots."""
    rows = [(f"{number}", cells) for number, cells in enumerate(played, 1)]
    if len(rows) <= ROWS:
        return rows
    first, last = ROWS - LAST - 1, len(rows) - LAST
    sides = zip(*played[first:last], strict=True)
    dots = [Markup("…") if any(side) else Markup("") for side in sides]
    return [*rows[:first], (f"{first + 1}–{last}", dots), *rows[last:]]


def _row(number: int, label: str, cells: Sequence[Markup], kind: str = "") -> Markup:
    return Markup('<tr class="{}" style="--row: {}"><th scope="row">{}</th>{}</tr>').format(
        kind, number, label, Markup("").join(Markup("<td>{}</td>").format(cell) for cell in cells)
    )


def rounds(game: Episode) -> list[list[Turn]]:
    """The turns of a game by round: the seller's ask, then the buyer's answer to it."""
    grouped: list[list[Turn]] = []
    for turn in game.turns:
        if turn.agent == "seller" or not grouped:
            grouped.append([])
        grouped[-1].append(turn)
    return grouped


def _cell(turns: Sequence[Turn], replies: Sequence[str]) -> Markup:
    return Markup(" ").join(
        Markup('<span class="sauda-{}">{}</span>').format(
            "seller" if turn.agent == "seller" else "buyer",
            f"writes “{replies[-1][:WRITTEN].strip()}”, which is no move"
            if turn.action is None
            else _move(turn),
        )
        for turn in turns
    )


def _move(turn: Turn) -> str:
    """A move as short as a phone needs it: a price, and the act that the buyer says with it.

    The colour of a price says who names it.
    """
    if isinstance(turn.action, Offer):
        act = act_of(turn.action.message) if turn.agent == "buyer" else ""
        return " · ".join(filter(None, (rupees(turn.action.price), act.replace("_", " "))))
    return in_words(TASK, replace(turn, action=replace(turn.action, message="")))


def outcome(game: Episode) -> Markup:
    """How a game ended, and the learner's share of what could be won."""
    task, (instance,) = get_task(game.task), game.final.private["nature"]
    how = "Forfeited" if game.end == EndReason.FORFEIT else ending(game.final.table.past[-1])
    (share,) = shares(game.final, task.learner)
    width = zopa_width(instance.buyer["reservation"], instance.seller["reservation"])
    won = f"{share:.0%} of the {rupees(width)} that could be won" if width else "nothing to win"
    return Markup("<b>{}</b><br>{}").format(f"{how[0].upper()}{how[1:]}", won)


def recorded_games(pair: ChosenPair) -> list[Episode]:
    """Both recorded games, played again from their moves."""
    return [from_json(getattr(pair, side).as_json()) for side in SIDES]


def compared(games: Sequence[Episode], again: Sequence[Episode]) -> str:
    """Whether the games that were played again made the recorded moves, in a sentence."""
    same = [
        [turn.action for turn in then.turns] == [turn.action for turn in now.turns]
        for then, now in zip(games, again, strict=True)
    ]
    if all(same):
        return "Played now, in this page: both games came out move by move as recorded."
    apart = [side for side, equal in zip(SIDES, same, strict=True) if not equal]
    return (
        f"Played now, in this page: the game {' and the game '.join(apart)} training took other"
        " moves than the recorded one. Recorded games were played in batches, and another kind of"
        " CPU may round differently."
    )


def possible_deals(artifact: Artifact) -> int:
    """In how many of the compared games of TASK a deal serves both sides."""
    return sum(next(row.zopa for row in artifact.data.tasks if row.task == TASK))


def about(pair: ChosenPair, games: Sequence[Episode], deals: int) -> str:
    """Which game is shown, and how it was chosen; a deal was possible in `deals` games."""
    item = games[0].final.private["nature"][0].item
    return (
        f"{item.name[0].upper()}{item.name[1:]}, list price {rupees(item.list_price)}: one seller,"
        f" seed {pair.seed}, two buyers. Each round: ask, then bid."
        f" {rank(pair.why, deals)}"
    )


def rank(why: str, deals: int) -> str:
    """Where the game stands, by its gain, among the `deals` games in which a deal is possible."""
    if why not in PERCENTILES:
        return "Of the games that end in a deal, this one improved most."
    among = f"the {deals} games in which a deal is possible"
    if PERCENTILES[why] == 0.5:
        return f"The median of {among}."
    return f"The {why} percentile of the gain in {among}."


def build(last_button: Callable[[], None]) -> None:
    """Lay out the race; `last_button` lays out one after its own. Called inside the Tour."""
    artifact, missing = load_or_say(FILE)
    if artifact is None:
        gr.HTML(missing)
        last_button()
        return
    pair = typical(artifact, TASK)
    games = recorded_games(pair)
    gr.HTML(
        Markup('<p class="sauda-tour-about">{}</p>').format(
            about(pair, games, possible_deals(artifact))
        )
    )
    shown = gr.HTML(race(games, pair), elem_id="tour-race")
    said = gr.HTML("", elem_id="tour-race-said")
    with gr.Row(elem_classes="sauda-tour-next"):
        again = gr.Button("Watch again", scale=0, min_width=140)
        live = gr.Button("Let both play it now", scale=0, min_width=180)
        last_button()
        seeds = len(artifact.data.tasks[0].seeds)
        gr.HTML(provenance(artifact, f"seed {pair.seed}, n = 1 pair of {seeds}"))

    def play_live() -> Iterator[tuple[Markup, Markup]]:
        yield race(games, pair), note("Both models play; that takes up to a minute.")
        try:
            played = [by_model(TASK, pair.seed, name) for name in PLAYERS.values()]
        except ReplyError as error:
            yield race(games, pair), trouble(error)
            return
        yield race(played, pair), note(compared(games, played))

    # an empty place first, so that the animation starts anew
    again.click(lambda: ("", ""), None, [shown, said], **QUIET).then(
        lambda: race(games, pair), None, shown, **QUIET
    )
    live.click(
        play_live, None, [shown, said],
        **QUEUED, concurrency_id="tour-race", concurrency_limit=2,
    )  # fmt: skip
