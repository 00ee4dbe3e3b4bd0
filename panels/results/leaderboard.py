"""Leaderboard: agents and people that played hidden games here, beside what was measured."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from panels.frames import NUMBERS, Table, grid
from panels.measured import FILE as COMPARISON
from panels.measured import FORM, LAB_FILE, bounds
from panels.results import winners
from panels.results.question import HTML, OF_BEST, Question, Verdict, side, verdict_html
from panels.results.winners import Entry, Field
from panels.transcripts.view import columns, longest
from panels.ui.components.moves import Moves
from panels.ui.html import SAY
from panels.ui.look import PARTS, QUIET_UNCHECKED, as_typed, trouble
from panels.ui.provenance import folded_commands, load_or_say, provenance, side_by_side, sources
from panels.ui.tables import WhiskerRow, whisker_rows, with_interval
from panels.ui.terms import task_choices
from panels.ui.wiring import Updates, lay_out_address, pick_in_address
from sauda.games import game_of
from sauda.players import BASE, BAYESIAN, LAB_STAGES, LISTENER, ORACLE, SERVED, TUNED
from sauda.records.schemas.evaluation import BazaarRow
from sauda.records.store import REPOSITORY
from sauda.serve import leaderboard as board
from sauda.serve.game import ServedGame
from sauda.serve.people import GAMES as GAMES_OF_PEOPLE

NAME = "leaderboard"
NOBODY = Markup("<p>No entry of this task is complete yet, so there is no game to open.</p>")
DRAWN = 8  # entries in the figure; the table has more
SCRIPTS = 2  # in the figure
FITS = 24  # characters of a name in the figure
# In the figure, where they were measured.
ALWAYS = (LISTENER, BAYESIAN, TUNED, BASE, SERVED, *LAB_STAGES)
CHECK = (
    "check it (replayed): python -m sauda leaderboard --verify record.json, which is linked below"
    " each game"
)

SIGNS_IN = "SAUDA_OPENROUTER"  # a variable: where it is set, a visitor can sign in there for a key
BRING = Path(__file__).with_name("bring_model.js").read_text(encoding="utf-8")
DOCUMENT = (REPOSITORY / "docs" / "leaderboard.md").read_text(encoding="utf-8")
CODE = re.search(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)[1]  # that enters an agent


@dataclass(frozen=True, eq=False)
class Measurements:
    """What was measured of a game's tasks, best first, and the files that hold it."""

    references: Mapping[str, Sequence[Entry]]  # by task, with the bound of what can be won
    origin: Markup


# What was measured -------------------------------------------------------------------------------


def measurements(game: str) -> Measurements:
    """The measured rows of the game called `game`; what is missing is said in `origin`."""
    of_arena = game == "arena"
    files = [winners.ARENA_HOLDOUT, LAB_FILE] if of_arena else [winners.HOLDOUT, COMPARISON]
    loaded = [load_or_say(file) for file in files]
    field = winners.contest(artifact for artifact, _ in loaded)
    comparison, _ = loaded[1]
    known = bounds(comparison) if comparison else {}
    origin = [missing if a is None else provenance(a) for a, missing in loaded]
    return Measurements(references(field, known), sources(origin))


def references(field: Field, known: Mapping[str, BazaarRow]) -> dict[str, list[Entry]]:
    """The bound and the measured rows of each task."""
    label = "bound of what can be won"
    by_task = {
        task: [Entry(label, row.grade, "oracle", task, row.n, ORACLE)]
        for task, row in known.items()
    }
    for task, entries in field.items():
        by_task.setdefault(task, []).extend(entries)
    return by_task


def choose_drawn(rows: Sequence[Entry]) -> list[Entry]:
    """Those rows that the figure has: the bound, ALWAYS, and the best of the other scripts."""
    scripts = [
        row.policy
        for row in rows
        if row.role == "scripted" and "+" not in row.policy and row.policy not in ALWAYS
    ]  # "+": around no model
    return [row for row in rows if row.policy in (ORACLE, *ALWAYS, *scripts[:SCRIPTS])]


# Parts -------------------------------------------------------------------------------------------


def verdict(now: board.Standing, people: board.Standing, measured: Sequence[Entry]) -> Verdict:
    """Which agent leads, and whether it wins more than the best measured row that knows no more.

    People have a line of their own: their entries are shorter.
    """
    best = next((row for row in measured if row.policy != ORACLE), None)
    lines = []
    if best is not None:
        scored = with_interval(best.interval, FORM)
        lines.append(f"best measured: {best.label} {scored}, n = {best.n:,}")
    if people.entries:
        best_person, count = people.entries[0], f"{people.complete:,}"
        lines.append(
            f"best of people ({GAMES_OF_PEOPLE} games each, entries: {count}):"
            f" “{best_person.name}” {with_interval(best_person.grade, FORM)}"
        )
    for who, standing in (("agents", now), ("people", people)):
        if standing.being_played:
            lines.append(f"entries of {who} that are being played: {standing.being_played}")
        if standing.withdrawn:
            lines.append(f"entries of {who} that were withdrawn: {standing.withdrawn}")
    apart = side(now.entries[0].grade, best.interval) if now.entries and best else None
    return Verdict(SAY.board(now, best, apart), tuple(lines))


@lru_cache(maxsize=len(board.RANKED))
def figure(now: board.Standing, people: board.Standing, measured: Measurements) -> go.Figure:
    """The best entries of agents, those of people, and the measured rows, each with its interval.

    Drawing takes most of a visit, and a standing is seldom new.
    """
    groups = {
        f"{title}, hidden games, {games} each": [
            WhiskerRow(as_typed(f"{cut(entry.name)}, n = {entry.n}"), entry.grade, "visitor")
            for entry in standing.entries[:DRAWN]
        ]
        for title, games, standing in (
            ("Agents", board.GAMES, now),
            ("People", GAMES_OF_PEOPLE, people),
        )
    }
    groups["Measured on hold-out seeds"] = choose_drawn(measured.references.get(now.task, ()))
    shown = {title: rows for title, rows in groups.items() if rows}
    return whisker_rows(shown, OF_BEST, FORM)


def cut(name: str) -> str:
    """The beginning of a name that fits above its row on a phone."""
    return name if len(name) <= FITS else f"{name[: FITS - 1]}…"


def numbers(entries: Sequence[board.Entry], measured: Sequence[Entry]) -> Table:
    """The numbers of the figure, with the seconds per move of what was entered."""
    rows = [(name_with_kind(e), e.n, e.grade, e.pace) for e in entries]
    rows += [(row.label, row.n, row.interval, None) for row in measured]
    heads = ("policy", "n", "mean", "seconds per move")
    lines = [dict(zip(heads, row, strict=True)) for row in rows]
    return Table("board", lines, forms={"seconds per move": ".1f"})


def name_with_kind(entry: board.Entry) -> str:
    """The name of an entry after what played it."""
    return f"{'person' if entry.person else 'agent'}: {entry.name}"


def show(task: str, measured: Measurements) -> dict[str, Any]:
    """What the part shows of a task, by the name of the component."""
    rows, rules, problem = measured.references.get(task, ()), board.rules_of(task), Markup("")
    try:
        ranked = board.own_board().rank
        now, people = (ranked(task, rules, person=person) for person in (False, True))
    except board.Unavailable as error:
        now, people, problem = board.Standing(task), board.Standing(task), trouble(error)
    entries = [*now.entries, *people.entries]
    listed = numbers(entries, rows)
    check = folded_commands([CHECK]) if entries else ""
    choices = [
        (f"{name_with_kind(e)}, {e.grade.mean:{FORM}}, {board.in_utc(e.created)[:10]}", e.id)
        for e in entries
    ]
    first = entries[0].id if entries else None
    return {
        "verdict": problem or verdict_html(verdict(now, people, rows)),
        "figure": figure(now, people, measured),
        "below": HTML.board(check, measured.origin),
        "about": listed.about,
        "numbers": listed.shown,
        "entry": gr.Dropdown(choices, value=first),
        "number": 1,
        "game": show_game(first, 1),
    }


# Games of an entry -------------------------------------------------------------------------------


def show_game(entry_id: object, number: Any) -> Markup:
    """Game `number` of an entry, from 1; a sentence where there is none."""
    if entry_id is None:
        return NOBODY
    try:
        entry = board.own_board().entry(entry_id) if isinstance(entry_id, str) else None
        if entry is None or number not in range(1, entry.n + 1):
            return trouble(ValueError("choose an entry of this list and one of its games"))
        return transcript(entry, int(number), board.own_board().games(entry)[int(number) - 1])
    except board.Unavailable as error:
        return trouble(error)


def transcript(entry: board.Entry, number: int, game: board.StoredGame) -> Markup:
    """A game with its seed, end and grade, its offers and moves."""
    won = f"{game.grade:{FORM}} of what could be won"
    head = f"Game {number} of {entry.n} of “{entry.name}”: {won}, seed {game.seed}."
    if game.end == board.UNFINISHED:
        head += " It was not over at the deadline, so it counts the lowest grade."
    again = board.replay_game(entry.task, game.seed, game.actions)
    moves = {entry.name: board.episode_of(again)}
    story = columns(moves, longest(moves)) if game.actions else Markup("<p>Nobody moved.</p>")
    return HTML.board_game(head, tell_reproduced(game, again), story, entry.id)


def tell_reproduced(game: board.StoredGame, again: ServedGame) -> Markup:
    """The stored grade beside that of the same moves played again; "" where the game had no end."""
    now = board.end_and_grade(again)
    if game.end == board.UNFINISHED or now is None:
        return Markup("")
    then, fresh = {"end": game.end, "grade": game.grade}, {"end": now[0], "grade": now[1]}
    return side_by_side("share of what could be won", ([game.grade], [now[1]]), then, fresh)


# Layout ------------------------------------------------------------------------------------------


def build(tab: gr.Tab) -> None:
    """Lay out the part, which is filled as `tab` is opened. Called inside it."""
    known = cache(measurements)  # by game, for as long as the page is served
    shown = {"verdict": gr.HTML(elem_id=f"results-{NAME}-verdict")}
    task = gr.Dropdown(
        task_choices(board.RANKED), value=board.RANKED[0], label="Task of the leaderboard",
        filterable=False,
    )  # fmt: skip
    address = lay_out_address("results", NAME, ("task",), tab)
    shown["figure"] = gr.Plot(show_label=False, elem_id=f"results-{NAME}-figure")
    shown["below"] = gr.HTML()
    with gr.Accordion(NUMBERS, open=False, elem_classes="sauda-fold"):
        shown["about"], shown["numbers"] = gr.HTML(), grid(NUMBERS)
    with gr.Accordion("Open a game of an entry", open=False, elem_classes="sauda-fold"):
        with gr.Row():
            shown["entry"] = entry = gr.Dropdown(
                [], label="Entry", elem_id="leaderboard-entry", filterable=False, min_width=280
            )
            shown["number"] = number = gr.Slider(
                1, board.GAMES, value=1, step=1, label="Game of the entry", min_width=280
            )
        shown["game"] = game = gr.HTML(NOBODY, elem_id="leaderboard-game")
        how = {"trigger_mode": "always_last", **QUIET_UNCHECKED}
        gr.on([entry.input, number.input], show_game, [entry, number], game, **how)
    with gr.Accordion("Bring your model, keep your key", open=False, elem_classes="sauda-fold"):
        form = HTML.bring_model(task_choices(board.RANKED), SIGNS_IN in os.environ)
        gr.HTML(form, elem_id="leaderboard-bring", js_on_load=BRING)
    with gr.Accordion("Enter your agent: the whole code", elem_classes="sauda-fold"):
        code = PARTS.program(CODE, f"results-{NAME}-code")
        Moves(HTML.how_to_enter(board.GAMES, board.HOURS) + code)

    def draw(task_name: str) -> Updates:
        parts = show(task_name, known(game_of(task_name).name))
        return {shown[name]: value for name, value in parts.items()}

    pick_in_address(address, "task", task, board.RANKED, draw, list(shown.values()))


LEADERBOARD = Question(NAME, "Leaderboard", build=build)
