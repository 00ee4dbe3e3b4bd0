"""The games of an entry of the leaderboard, one at a time, played again from its moves."""

from collections.abc import Sequence
from typing import Any

import gradio as gr
from markupsafe import Markup

from panels.transcripts.view import columns, longest
from panels.ui.look import QUIET_UNCHECKED, trouble
from panels.ui.provenance import Beside, side_by_side
from sauda.records.store import digest
from sauda.serve.game import ServedGame
from sauda.serve.leaderboard import (
    GAMES,
    UNFINISHED,
    Entry,
    StoredGame,
    Unavailable,
    end_and_grade,
    episode_of,
    in_utc,
    own_board,
    replay_game,
)

NOBODY = Markup("<p>No entry of this task is complete yet, so there is no game to open.</p>")


def choices(entries: Sequence[Entry]) -> list[tuple[str, str]]:
    """The entries for a picker: name, mean grade and day; their ids as values."""
    return [
        (f"{entry.name}, {entry.grade.mean:.3f}, {in_utc(entry.created)[:10]}", entry.id)
        for entry in entries
    ]


def updates(entries: Sequence[Entry]) -> dict[str, Any]:
    """The pickers for these entries and the first game of the best one, by component."""
    first = entries[0].id if entries else None
    return {
        "entry": gr.Dropdown(choices(entries), value=first),
        "number": gr.Slider(1, GAMES, value=1),
        "game": shown(first, 1),
    }


def shown(entry_id: object, number: Any) -> Markup:
    """Game `number` of an entry, from 1; a sentence where there is none."""
    if entry_id is None:
        return NOBODY
    try:
        entry = own_board().entry(entry_id) if isinstance(entry_id, str) else None
        if entry is None or number not in range(1, entry.n + 1):
            return trouble(ValueError("choose an entry of this list and one of its games"))
        return transcript(entry, int(number), own_board().games(entry)[int(number) - 1])
    except Unavailable as error:
        return trouble(error)


def transcript(entry: Entry, number: int, game: StoredGame) -> Markup:
    """A game with its seed, end and grade, its offers and moves."""
    head = (
        f"Game {number} of {entry.n} of “{entry.name}”, grade {game.grade:.3f}, seed {game.seed}."
    )
    if game.end == UNFINISHED:
        head += " It was not over at the deadline, so it counts the lowest grade."
    again = replay_game(entry.task, game.seed, game.actions)
    episode = episode_of(again)
    moves = {entry.name: episode}
    story = columns(moves, longest(moves)) if game.actions else Markup("<p>Nobody moved.</p>")
    return Markup(
        '<p style="overflow-wrap: anywhere">{}</p>{}{}'
        '<p><a href="leaderboard/games?entry={}" download="record.json">'
        "Seeds and moves of all its games, to verify</a></p>"
    ).format(head, reproduced(game, again), story, entry.id)


def reproduced(game: StoredGame, again: ServedGame) -> Markup:
    """The stored grade beside that of the same moves played again; "" where the game had no end."""
    now = end_and_grade(again)
    if game.end == UNFINISHED or now is None:
        return Markup("")
    then = {"end": game.end, "grade": game.grade}
    fresh = dict(zip(then, now, strict=True))
    differing = [name for name in then if then[name] != fresh[name]]
    digests = digest(then), digest(fresh)
    return side_by_side(
        Beside("grade", game.grade, fresh["grade"], 1, len(then), differing, digests)
    )


def build() -> dict[str, Any]:
    """Lay out the pickers and the game; the components by the names that `updates` gives."""
    with gr.Row():
        entry = gr.Dropdown(
            [], label="Entry", elem_id="leaderboard-entry", filterable=False, min_width=280
        )
        number = gr.Slider(1, GAMES, value=1, step=1, label="Game of the entry", min_width=280)
    game = gr.HTML(NOBODY, elem_id="leaderboard-game")
    gr.on([entry.input, number.input], shown, [entry, number], game, trigger_mode="always_last",
          **QUIET_UNCHECKED)  # fmt: skip
    return {"entry": entry, "number": number, "game": game}
