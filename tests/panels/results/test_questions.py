"""What Results shows of single questions and the leaderboard; games replayed."""

from dataclasses import replace
from statistics import fmean
from types import SimpleNamespace

import gradio as gr
import pytest

from panels import frames
from panels.measured import FILE, GAIN, LAB_FILE, rows_by_policy
from panels.results import leaderboard, optimum
from panels.results.leaderboard import measurements, references, show, verdict
from panels.results.question import section
from panels.results.reproduce import SCRIPTED, draw_sample, play_row_again, rows_of
from panels.results.training import TRAINING, stage_figure
from panels.results.winners import Entry as Entered
from panels.ui.tables import with_interval
from sauda.played import replay_row
from sauda.players import BAYESIAN, LISTENER, SERVED, buyer_name, policy_label
from sauda.records.schemas.base import Interval
from sauda.records.schemas.open_market import Exploits
from sauda.records.store import load
from sauda.serve.leaderboard import Entry, Standing, rules_of
from sauda.serve.names import is_reserved
from tests.support.entries import OPEN, as_a_person, entered, play_all

MARKET = "evaluation/market-holdout.json"


def test_a_question_whose_file_is_missing_shows_the_command_that_makes_it(monkeypatch):
    gone = replace(TRAINING, files=("worth.json", "evaluation/nothing.json"))
    with gr.Blocks() as page, gr.Tab() as tab:
        section(gone, tab)
    (told,) = (block.value for block in page.blocks.values() if isinstance(block, gr.HTML))
    assert "cannot be shown" in told
    assert "nothing.json" in told


def test_a_part_is_drawn_as_it_is_unfolded_and_by_an_address_that_names_its_task():
    with gr.Blocks() as page, gr.Tab() as tab:
        section(TRAINING, tab)
    nobody = SimpleNamespace(client=None, session_hash="")
    parts = {part.elem_id: part for part in page.blocks.values() if hasattr(part, "elem_id")}
    drawn = parts["results-model-table"]
    (task,) = (part for part in page.blocks.values() if isinstance(part, gr.Radio))
    fills = {fn.targets[0][1]: fn.fn for fn in page.fns.values() if fn.targets}
    opened = fills["select"]("?tab=results&part=training", nobody)
    assert opened[task] == task.choices[0][1]
    assert drawn not in opened
    other = task.choices[1][1]
    first, second = (fills["expand"]("?", nobody, name)[drawn] for name in (task.value, other))
    assert first != second  # unfolded, it shows what is picked then
    query = f"?tab=results&part=training&task={other}"
    named = fills["select"](query, nobody)
    assert named[task] == other
    assert any(getattr(value, "open", False) for value in named.values())
    assert other in str([*named.values()])


@pytest.mark.parametrize("file", [FILE, LAB_FILE])
def test_a_figure_draws_each_stage_with_its_grade_and_a_table_every_policy(file):
    artifact = load(file)
    task = artifact.data.rows[0].task
    rows = rows_by_policy(artifact, task)
    points = [trace.x[0] for trace in stage_figure(artifact, task).data]
    assert points == sorted(points, reverse=True)
    steps = [gain for gain in artifact.data.stage_gains if (gain.task, gain.on) == (task, "all")]
    for step in steps:
        assert {rows[step.before].grade.mean, rows[step.after].grade.mean} <= {*points}
    listed = {row["policy"] for row in frames.policies(artifact)}
    assert {policy_label(name) for name in rows} <= listed


def test_a_script_comes_out_as_recorded_and_says_so_with_both_means():
    artifact = load(MARKET)
    begins, ends = map(str, play_row_again(rows_of([artifact]), "bazaar/open-3 linear"))
    mean = fmean(artifact.data.episodes["bazaar/open-3"]["linear"].grade[:SCRIPTED])
    assert f"Playing {SCRIPTED} games" in begins
    assert f"recorded {mean:.1%}, played now {mean:.1%}, n = {SCRIPTED} games." in ends
    assert "<b>Equal" in ends
    assert ends.count("<tr") == SCRIPTED + 1
    assert "≠" not in ends


def test_a_game_that_differs_is_shown_as_such_and_a_loss_of_nothing_as_0():
    artifact, cell = next(iter(rows_of([load(MARKET)]).values()))
    sample = replay_row(artifact, cell, 2)
    changed = {**sample.replayed, "grade": [0.25, -1e-9]}
    text = str(draw_sample(replace(sample, replayed=changed)))
    assert "<b>Not equal" in text
    assert "Not the same in grade." in text
    assert text.count("≠") == 2
    assert "-0.000000" not in text
    assert "Pick one of the rows" in "".join(play_row_again({}, "<b>x</b>"))


def test_what_words_are_worth_is_said_with_its_interval_by_market_and_type():
    data = load("worth.json").data
    worth = {(row.market, row.value): row for row in data.worth if row.what == "both"}
    verdict = optimum.words_verdict(data)
    told = " ".join((verdict.sentence, *verdict.evidence))
    for part in (("open-3", "all"), ("people", "all"), ("package", "all"), ("open-3", "bluffer")):
        assert with_interval(worth[part].difference, GAIN) in told
    (bluffers,) = (name for name in frames.by_type(data).frame if name.startswith("bluffer"))
    by_type = frames.by_type(data).frame.set_index("player")[bluffers]
    gain = worth["open-3", "bluffer"].difference.mean
    assert by_type["both"] - by_type["silent"] == pytest.approx(gain, abs=1e-5)
    rows = optimum.words_rows(data)
    for task in {row.task for row in rows}:
        first, *others = [row.interval.mean for row in rows if row.task == task]
        assert max(others) < first  # nobody who does not know the seller passes the bound


def test_an_exploit_that_pays_is_named_with_its_task():
    known = load("exploits.json").data.as_json()
    lie = next(row for row in known["rows"] if row["what"] == "names a false outside price")
    high = {"mean": 0.2, "low": 0.1, "high": 0.3}
    for field, pays in (("gain", ") beat the planner"), ("words", ") gain more than")):
        data = Exploits.model_validate(known | {"rows": [{**lie, field: high}]})
        assert pays in optimum.exploits(data)
    usual = Exploits.model_validate(known | {"rows": [lie]})
    assert "None beats" in optimum.exploits(usual)


# The leaderboard


NAME = "9 <b>bold</b>"


@pytest.fixture(scope="module")
def measured():
    return measurements("bazaar")


def drawn(figure) -> str:
    return "\n".join(annotation.text for annotation in figure.layout.annotations)


def test_before_anybody_entered_and_without_a_file_the_measured_rows_stand_alone(board, measured):
    parts = show(OPEN, measured)
    assert "No agent has entered the market of free words yet" in parts["verdict"]
    assert "best measured: " in parts["verdict"]
    names = [buyer_name(name) for name in (LISTENER, BAYESIAN, SERVED)]
    assert all(name in drawn(parts["figure"]) for name in names)
    assert "hidden games" not in drawn(parts["figure"])
    assert parts["game"] == leaderboard.NOBODY
    assert not board.storage.file.exists()  # a look makes no file
    board.storage.file.parent.mkdir()
    board.storage.file.write_text("no database at all, but long enough to be read as one" * 9)
    parts = show(OPEN, measured)
    assert "The leaderboard cannot be read or written now" in parts["verdict"]
    assert all(name in drawn(parts["figure"]) for name in names)


def test_an_entry_stands_as_text_in_the_verdict_the_figure_and_the_table(board, measured):
    play_all(entered(board, NAME))
    entered(board, "one that is being played")
    parts, name = show(OPEN, measured), "9 &lt;b&gt;bold&lt;/b&gt;"
    (entry,) = board.entries(OPEN, rules_of(OPEN))
    assert f"In the market of free words, “{name}” is the only entry with" in parts["verdict"]
    assert name in drawn(parts["figure"])
    frame = parts["numbers"].data
    assert (frame["policy"][0], frame["mean"][0]) == (f"agent: {NAME}", entry.grade.mean)
    assert len(frame) == 1 + len(measured.references[OPEN])
    assert parts["entry"].value == entry.id


def test_people_stand_apart_from_agents_who_play_more_games(board, measured):
    play_all(entered(board, "an agent"))
    play_all(ticket := entered(board, "Asha", games=5))
    as_a_person(board, ticket)
    parts, (agent,) = show(OPEN, measured), board.entries(OPEN, rules_of(OPEN))
    (person,) = board.entries(OPEN, rules_of(OPEN), person=True)
    assert "“an agent” is the only entry with" in parts["verdict"]
    assert f"“Asha” {with_interval(person.grade, 'z.1%')}" in parts["verdict"]
    titles = [line for line in drawn(parts["figure"]).split("\n") if "hidden games" in line]
    assert [title.split(",")[0] for title in titles] == ["<b>Agents", "<b>People"]
    frame = parts["numbers"].data
    rows = list(zip(frame["policy"], frame["seconds per move"], strict=True))
    for entry, kind in ((agent, "agent: an agent"), (person, "person: Asha")):
        assert (kind, entry.pace) in rows


@pytest.mark.parametrize("game", ["bazaar", "arena"])
def test_no_entry_can_be_called_like_a_row_that_stands_beside_it(game):
    labels = {row.label for rows in measurements(game).references.values() for row in rows}
    assert labels
    for label in labels:
        assert is_reserved(label), label


@pytest.mark.parametrize(
    ("grade", "words"),
    [(0.1, ", less than the"), (0.3, "; too few games"), (0.9, ", more than the")],
)
def test_an_entry_is_called_better_only_where_the_intervals_lie_apart(grade, words):
    grade_there = Interval(mean=0.3, low=0.2, high=0.4)
    measured = Entered(buyer_name(BAYESIAN), grade_there, "buyer", OPEN, 200, BAYESIAN)
    rows = references({OPEN: [measured]}, {})[OPEN]
    entry = Entry("0" * 16, NAME, OPEN, "", "", 0.0, ("agreement",) * 3, (grade,) * 3)
    assert words in verdict(Standing(OPEN, [entry], 1), Standing(OPEN), rows).sentence


@pytest.mark.parametrize("task", [OPEN, "bazaar/mute-3", "arena/single_trade"])
def test_a_game_of_an_entry_opens_with_its_moves_its_end_and_its_seed(board, task):
    play_all(entered(board, NAME, task))
    (entry,) = board.entries(task, rules_of(task))
    game = board.games(entry)[1]
    shown = str(leaderboard.show_game(entry.id, 2))
    assert "Game 2 of 3 of “9 &lt;b&gt;bold&lt;/b&gt;”: " in shown
    assert f"seed {game.seed}." in shown
    assert f'href="leaderboard/games?entry={entry.id}"' in shown
    assert "<b>bold" not in shown
    assert f"recorded {game.grade:.1%}, played now {game.grade:.1%}" in shown
    assert "sauda-card" in shown


@pytest.mark.parametrize("number", [0, 4, "1", float("inf"), [1]])
def test_a_game_that_is_not_there_is_answered_in_words(board, number):
    play_all(entered(board))
    (entry,) = board.all_entries()
    assert "Choose an entry of this list" in leaderboard.show_game(entry.id, number)
