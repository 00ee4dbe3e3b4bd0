"""Entries of agents and people: games that nobody can discard, rows computed from them."""

import contextlib
import json
import multiprocessing
import re
import signal
import sqlite3
import time
from functools import partial
from itertools import chain, count
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import pytest

from env import TASKS, Offer, WalkAway
from env.fingerprint import of_prompt
from sauda.__main__ import main as sauda_command
from sauda.llm.types import ReplyError
from sauda.players import scripts_of
from sauda.records.seeds import DAILY, LEADERBOARD, SPLITS, draw_seed
from sauda.records.store import REPOSITORY as ROOT
from sauda.serve.chats import take_turn
from sauda.serve.game import WORST, SentAction
from sauda.serve.leaderboard import (
    FILE,
    HOURS,
    RANKED,
    UNFINISHED,
    VERSIONS,
    Board,
    Entry,
    Storage,
    Unavailable,
    commitment,
    entry_faults,
    episode_of,
    record_of,
    replay_game,
    rules_of,
    token_digest,
)
from sauda.serve.mcp import grades_of
from sauda.serve.names import check_name, is_reserved
from sauda.serve.openenv import SaudaEnvironment
from sauda.serve.people import (
    TASK,
    drop_own_words,
    export,
    next_bargain,
    play_pairs,
    record_moves,
    tally,
)
from sauda.sessions.bazaar import answer
from sauda.statistics import mean_interval
from tests.support.cases import cases
from tests.support.entries import OPEN, entered, move_of, play_all, played_on

HERE = multiprocessing.get_context("fork")  # a process that has imported all this already


def after_all() -> float:
    """When the hours of every entry made now are over, in seconds since 1970."""
    return time.time() + 2 * HOURS * 3600


def complete(board: Board, task: str = OPEN) -> list[Entry]:
    return board.entries(task, rules_of(task))


@pytest.mark.parametrize("task", RANKED)
def test_the_row_of_an_entry_is_computed_from_its_games_and_can_be_verified(board, task):
    ticket = entered(board, task=task)
    assert complete(board, task) == []
    ends = play_all(ticket)
    (entry,) = complete(board, task)
    assert list(entry.grades) == [end.outcome["grade"] for end in ends]
    assert list(entry.ends) == [end.outcome["end"] for end in ends]
    assert tuple(vars(entry.grade).values()) == mean_interval(np.array(entry.grades))
    assert list(entry_faults(record := record_of(board, entry))) == []
    assert record["prompt"] == of_prompt(TASKS[task])


def test_a_changed_record_is_found_out(board):
    play_all(entered(board))
    (entry,) = complete(board)
    for change, sentence in (
        (lambda r: r["games"][1].update(grade=0.99), "game 2: recorded"),
        (lambda r: r["games"][0]["actions"].pop(), "game 1: recorded"),
        (lambda r: r["games"][0].update(seed=str(LEADERBOARD.start)), "the seeds are not those"),
        (lambda r: r["games"].pop(), "the seeds are not those"),
        (lambda r: r["grade"].update(mean=0.9), "the grades make"),
        (lambda r: r.update(rules="other"), "it was played under the rules other"),
    ):
        recorded = record_of(board, entry)
        change(recorded)
        assert any(fault.startswith(sentence) for fault in entry_faults(recorded)), sentence
    with pytest.raises(ValueError, match="no record of an entry"):
        list(entry_faults({"kind": "leaderboard_entry/1"}))


def test_a_game_goes_on_where_it_stands_and_cannot_be_discarded(board):
    ticket = entered(board)
    first = SaudaEnvironment()
    seen = first.reset(entry=ticket.token)
    after = first.step(move_of(seen, share=0.02))  # a bid that no seller takes
    again = SaudaEnvironment()  # as after a lost connection
    resumed = again.reset(entry=ticket.token)
    assert resumed.bazaar == after.bazaar
    assert resumed.metadata["entry"] == {"game": 1, "games": 3}
    again.step(move_of(resumed))
    with pytest.raises(ValueError, match="another session plays this game"):
        first.step(move_of(after))  # two sessions cannot try two moves at one place
    play_all(ticket)
    with pytest.raises(ValueError, match="all 3 games of this entry are over"):
        again.reset(entry=ticket.token)


def test_a_malformed_move_counts_and_the_record_still_verifies(board):
    ticket = entered(board, games=1)
    environment = SaudaEnvironment()
    seen = environment.reset(entry=ticket.token)
    environment.step(SentAction.model_validate({"action_type": "offer", "price": "500"}))
    (*_, end) = played_on(ticket.token)
    (entry,) = complete(board)
    assert end.bazaar["moves"][0] == seen.bazaar["moves"][0]
    assert entry.grades == (end.outcome["grade"],)
    assert list(entry_faults(record_of(board, entry))) == []


def test_an_entry_is_not_played_on_under_other_rules(board):
    ticket = board.enter("a", OPEN, "rules of yesterday")
    with pytest.raises(ValueError, match="the rules of bazaar/open-3 have changed"):
        SaudaEnvironment().reset(entry=ticket.token)


def test_what_is_not_over_at_the_deadline_counts_the_lowest_grade(board):
    ticket, unused = entered(board), entered(board)
    (*_, end) = played_on(ticket.token)
    environment = SaudaEnvironment()
    environment.step(move_of(environment.reset(entry=ticket.token)))
    late = Board(board.storage, clock=after_all)
    (entry,) = complete(late)  # the entry that was never begun is none
    assert entry.grades == (end.outcome["grade"], WORST, WORST)
    assert entry.count[UNFINISHED] == 2
    assert list(entry_faults(record_of(late, entry))) == []
    now = late.rank(OPEN, rules_of(OPEN))
    assert (now.complete, now.being_played) == (1, 0)
    for token in (ticket.token, unused.token):
        with pytest.raises(ValueError, match="hours of this entry are over"):
            late.next_game(token)
    _, begun, not_begun = late.games(entry)
    shown = episode_of(replay_game(OPEN, begun.seed, begun.actions))
    assert (str(shown.end), len(begun.actions), not_begun.actions) == ("forfeit", 1, ())


def test_entries_are_ranked_by_their_mean_and_read_in_pages(board):
    for _ in range(3):
        play_all(entered(board, games=2))
    entries = complete(board)
    means = [entry.grade.mean for entry in entries]
    assert means == sorted(means, reverse=True)
    now = board.rank(OPEN, rules_of(OPEN))
    assert (list(now.entries), now.complete, now.being_played) == (entries, 3, 0)
    assert board.entries(OPEN, rules_of(OPEN), 1, 1) == entries[1:2]
    assert board.entries(OPEN, "rules of yesterday") == []


@pytest.mark.parametrize("name", ["rising bids", "RISING  bids", "rising-blds", "Rìsing bids"])
def test_no_two_entries_of_a_task_have_names_that_look_alike(board, name):
    entered(board, "Rising bids")
    with pytest.raises(ValueError, match="another entry of this task has this name"):
        entered(board, name)
    assert entered(board, name, "bazaar/mute-3").task == "bazaar/mute-3"
    late = Board(board.storage, clock=after_all)
    entered(late, name)  # the first was never begun, so it is gone


def test_the_time_per_move_is_kept_from_when_a_game_is_first_shown(board):
    clock = count(1000.0, 10.0)  # seconds at each look
    board = Board(board.storage, clock=lambda: next(clock))
    token = board.enter("Asha", TASK, rules_of(TASK), 2, person=True).token
    for _ in range(2):
        _, game = next_bargain(board, token)
        next_bargain(board, token)  # a page that is opened again begins no time anew
        record_moves(board, token, answer(game, WalkAway()))
    (entry,) = board.all_entries()
    assert len(set(entry.paces)) == 1  # both games were played alike
    assert entry.pace == entry.paces[0] > 10.0


REFUSED = {
    "none": "a name has 1 to 40 characters",
    "script": "the letters of Latin or of Devanagari, not both",
    "taken": "is one of a policy, a model or the project",
}


@pytest.mark.parametrize(
    ("check", "text"),
    [(check, *row) for check in (*REFUSED, "kept") for row in cases("agent_names.csv", check)],
)
def test_a_name_that_hides_letters_or_is_like_one_of_ours_is_refused_and_others_kept(check, text):
    name = json.loads(text)
    if check == "kept":  # it may share a part with a policy's
        assert check_name(f" {name} ") == name
    else:
        with pytest.raises(ValueError, match=REFUSED[check]):
            check_name(name)


@pytest.mark.parametrize("task", RANKED)
def test_every_name_that_stands_beside_the_entries_is_taken(task):
    for name in {row["policy"] for row in grades_of(task)} | set(scripts_of(TASKS[task])):
        assert is_reserved(name), name


def test_a_command_removes_an_entry_or_a_day_with_all_that_is_kept_while_the_page_is_open(
    board, capsys, tmp_path
):
    gone, kept, begun = (entered(board, name, games=1) for name in ("a", "b", "c"))
    for ticket in (gone, kept):
        play_all(ticket)
        board.pair(ticket.entry, 1, 0.5, 0.75)
    SaudaEnvironment().reset(entry=begun.token)
    file = str(board.storage.file)
    for ticket in (gone, begun):
        assert sauda_command(["leaderboard", file, "--remove", ticket.entry]) == 0
    assert [line.split()[-1] for line in capsys.readouterr().out.splitlines()] == ["a", "c"]
    assert [entry.id for entry in complete(board)] == [kept.entry]
    for table in ("games", "moves", "pairs"):
        entries = {entry for (entry,) in board.storage.rows(f"SELECT entry FROM {table}")}
        assert entries == {kept.entry}
    with pytest.raises(ValueError, match="no entry has this token"):
        SaudaEnvironment().reset(entry=begun.token)
    for day in ("2026-11-23", "2026-11-24"):
        board.add_day(day, "a", 0.25)
    for code in (0, 2):  # the second time there is nothing left
        assert sauda_command(["leaderboard", file, "--remove", "2026-11-23"]) == code
    assert [board.grades_of_day(f"2026-11-2{day}") for day in "34"] == [{}, {"a": 0.25}]
    (tmp_path / "record.json").write_text("{}")
    for wrong in (file, str(tmp_path / "record.json"), str(tmp_path / "none")):
        assert sauda_command(["leaderboard", wrong, "--remove", gone.entry]) == 2
    assert "no entry has the id" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def tell_moves(token: str, told: Connection) -> None:
    """Play the entry of `token`, tell of each move that was answered, and wait for the end."""
    with contextlib.suppress(ValueError):  # all its games are over
        while True:
            for observation in played_on(token):
                place = observation.metadata["entry"]["game"], observation.metadata["step_count"]
                told.send(place)
    signal.pause()


def test_moves_that_were_answered_outlive_a_kill(board):
    ticket = entered(board, games=60)
    for number in range(6):
        board.storage.close()
        listening, telling = HERE.Pipe(duplex=False)
        player = HERE.Process(target=tell_moves, args=(ticket.token, telling))
        player.start()
        telling.close()
        heard = [listening.recv() for _ in range(5 + 3 * number)]
        player.kill()  # SIGKILL, wherever it is
        player.join()
        with contextlib.suppress(EOFError):
            while True:
                heard.append(listening.recv())
        assert player.exitcode == -signal.SIGKILL
        assert board.storage.rows("PRAGMA integrity_check")[0][0] == "ok"
        game, step = heard[-1]
        made = board.storage.rows("SELECT MAX(step) FROM moves WHERE number = ?", (game,))[0][0]
        assert step <= (made or 0) <= step + 1  # at most the move that was not answered
    while complete(board) == []:
        list(played_on(ticket.token))
    (entry,) = complete(board)
    assert UNFINISHED not in entry.ends
    assert list(entry_faults(record_of(board, entry))) == []


def test_reading_makes_no_file_and_one_that_cannot_be_used_says_why_and_not_where(tmp_path, caplog):
    board = Board(Storage(tmp_path / "none" / FILE))
    assert complete(board) == []
    assert board.entry("0" * 16) is None
    assert not (tmp_path / "none").exists()
    (tmp_path / "taken").write_text("a file, where a folder should be")
    with pytest.raises(Unavailable) as refused:
        entered(Board(Storage(tmp_path / "taken" / FILE)))
    assert str(tmp_path) not in str(refused.value)  # it is no business of callers
    assert str(tmp_path) in caplog.text  # whoever runs the page has to know
    (tmp_path / FILE).write_text("no database, but long enough to be read as a damaged one" * 9)
    with pytest.raises(Unavailable, match="what it holds is not lost"):
        complete(Board(Storage(tmp_path / FILE)))
    full = Board(Storage(tmp_path / "small.sqlite", most_bytes=64 * 1024))
    with pytest.raises(Unavailable, match="full"):
        entered(full, games=2_000)
    assert full.next_game(entered(full).token).number == 1  # what fits is still kept


def seeds_of(board: Board, entry: str) -> list[int]:
    rows = board.storage.rows("SELECT seed FROM games WHERE entry = ? ORDER BY number", (entry,))
    return [int(seed) for (seed,) in rows]


def test_no_seed_is_found_from_what_is_sent_before_the_end(board):
    """Of an entry of which two games of three are over."""
    ticket = entered(board)
    said = [json.dumps(vars(ticket))]
    for _ in range(2):
        said += [observation.model_dump_json() for observation in played_on(ticket.token)]
    environment = SaudaEnvironment()
    said.append(environment.reset(entry=ticket.token, episode_id="mine").model_dump_json())
    said.append(environment.step(move_of(environment.reset(entry=ticket.token))).model_dump_json())
    said.append(environment.state.model_dump_json())
    said.append(repr(board.rank(OPEN, rules_of(OPEN))))
    said.append(repr(board.entry(ticket.entry)))
    text, seeds = "\n".join(said), seeds_of(board, ticket.entry)
    for seed in seeds:
        for written in (str(seed), f"{seed:x}", str(seed)[:12], f"{seed:x}"[:10]):
            assert written not in text
    with pytest.raises(ValueError, match="entries of the leaderboard"):
        SaudaEnvironment().reset(seed=seeds[0])


def test_a_game_of_an_entry_hides_its_seed_at_its_end_and_the_record_shows_it_at_the_last(board):
    ticket = entered(board)
    ends = play_all(ticket)
    assert [end.outcome["seed"] for end in ends] == [None] * 3
    (entry,) = board.entries(OPEN, rules_of(OPEN))
    seeds = [game.seed for game in board.games(entry)]
    assert seeds == seeds_of(board, ticket.entry)
    assert commitment(seeds) == ticket.commitment
    for others in (*SPLITS.values(), DAILY, [draw_seed() for _ in range(100)]):
        assert max(others) < min(seeds)  # no other game has such a seed
    assert all(seed in LEADERBOARD for seed in seeds)


def test_a_reset_of_an_entry_takes_no_seed_and_no_task(board):
    token, environment = entered(board).token, SaudaEnvironment()
    for more in ({"seed": 1}, {"task": OPEN}, {"split": "train", "index": 0}):
        with pytest.raises(ValueError, match="takes its token, and an episode_id, alone"):
            environment.reset(entry=token, **more)
    for wrong in ("", "x" * 1000, token[:-1], token.swapcase(), 7, ["x"], "' OR 1=1 --"):
        with pytest.raises(ValueError, match="token"):
            environment.reset(entry=wrong)


def bid(game, share: float, words: str = ""):
    price = int(share * game.observation.reservation)
    return answer(game, Offer(price, f"{price} rupees, {words}" if words else ""))


def play_entry(board, name: str) -> str:
    """A person's entry of two games that is played to its end; its token."""
    token = board.enter(name, TASK, rules_of(TASK), 2, person=True).token
    for _ in range(2):
        _, game = next_bargain(board, token)
        game = bid(game, 0.4, "my aunt Meera says it is scratched")
        record_moves(board, token, game)
        if not game.over:
            record_moves(board, token, answer(game, WalkAway()))
    return token


def test_a_persons_games_are_kept_without_words_and_can_be_verified(board):
    play_entry(board, "Asha")
    (entry,) = board.entries(TASK, rules_of(TASK), person=True)
    assert board.entries(TASK, rules_of(TASK)) == []
    record = record_of(board, entry)
    assert (entry.person, entry.n) == (1, 2)
    assert "Meera" not in json.dumps(record)
    assert list(entry_faults(record)) == []
    assert drop_own_words(Offer(400, "400, it is scratched")).message
    assert drop_own_words(Offer(400, "400 for my aunt Meera")).message == ""


def test_only_the_games_of_the_entry_are_stored(board):
    first, second = (
        board.enter(name, TASK, rules_of(TASK), 1, person=True).token for name in ("Asha", "Bela")
    )
    _, game = next_bargain(board, first)
    with pytest.raises(ValueError, match="another tab"):
        record_moves(board, second, bid(game, 0.3))


def test_no_two_tabs_try_two_moves_at_one_place(board, monkeypatch):
    monkeypatch.setattr("sauda.serve.leaderboard.leaderboard_seed", lambda: 9)  # nobody leaves soon
    token = board.enter("Asha", TASK, rules_of(TASK), 1, person=True).token
    _, game = next_bargain(board, token)
    first = bid(game, 0.3, "my aunt Meera says it is scratched")
    record_moves(board, token, first)
    record_moves(board, token, first)  # shown again
    for behind in (game, bid(game, 0.4), bid(bid(game, 0.4), 0.5)):
        with pytest.raises(ValueError, match="another tab"):
            record_moves(board, token, behind)
    _, again = next_bargain(board, token)  # a page that is opened again has no own words
    record_moves(board, token, bid(again, 0.4))
    record_moves(board, token, bid(bid(first, 0.4), 0.45))  # nor has it forgotten them
    assert len(board.next_game(token).actions) == 3


def test_no_program_plays_the_entry_of_a_person(board):
    token = board.enter("Asha", TASK, rules_of(TASK), 1, person=True).token
    for play in (partial(SaudaEnvironment().reset, entry=token), partial(take_turn, token)):
        with pytest.raises(ValueError, match="a person plays this entry"):
            play()


def test_entries_that_nobody_begins_give_way_to_newer_ones_and_a_begun_one_stays(
    board, monkeypatch
):
    monkeypatch.setattr("sauda.serve.leaderboard.WAITING", 2)
    begun = entered(board, "a buyer")
    next(played_on(begun.token))
    first, *later = (entered(board, f"buyer {number}") for number in range(3))
    with pytest.raises(ValueError, match="no entry has this token"):
        board.next_game(first.token)
    for ticket in (begun, *later):
        assert board.next_game(ticket.token).number == 1


def test_people_are_compared_with_sauda_by_whole_entries_whatever_their_browsers_do(board):
    assert tally(board).n == 0
    play_all(entered(board, "an agent"))
    play_entry(board, "Asha")
    begun = board.enter("Bela", TASK, rules_of(TASK), 2, person=True).token
    record_moves(board, begun, answer(next_bargain(board, begun)[1], WalkAway()))
    busy = iter([True, False, False])

    def play(seed: int) -> float:
        if next(busy):
            raise ReplyError("the line is full")
        return 0.5

    play_pairs(board, play)  # one of the two games could not be played
    assert (tally(board).entries, tally(board).waiting) == (0, 1)
    play_pairs(board, play)
    found, (entry,) = tally(board), [one for one in board.all_entries() if one.person]
    assert (found.entries, found.waiting, found.n, found.unfinished) == (1, 0, 2, 0)
    assert (found.person.mean, found.sauda.mean) == (entry.grade.mean, 0.5)
    assert found.difference.mean == pytest.approx(entry.grade.mean - 0.5)


def test_a_game_that_a_person_leaves_counts_in_the_tally_as_in_the_row(board):
    token = board.enter("Asha", TASK, rules_of(TASK), 2, person=True).token
    _, game = next_bargain(board, token)
    record_moves(board, token, answer(game, WalkAway()))
    late = Board(board.storage, clock=after_all)
    play_pairs(late, lambda seed: 0.5)
    found, (entry,) = tally(late), late.all_entries()
    assert (found.n, found.unfinished) == (2, 1)
    assert found.person.mean == entry.grade.mean == pytest.approx((entry.grades[0] + WORST) / 2)


def test_the_export_has_nothing_of_a_single_game_by_which_a_row_joins_to_a_name(board):
    play_entry(board, "Asha")
    play_entry(board, "Bela")
    play_pairs(board, lambda seed: seed % 97 / 97)
    shown = export(board)
    assert (shown["entries"], shown["n"]) == (2, 4)
    text = json.dumps(shown)
    assert "Asha" not in text
    for entry in board.all_entries():
        for game in record_of(board, entry)["games"]:
            prices = [str(action["price"]) for action in game["actions"] if "price" in action]
            for told in (game["seed"], *prices, repr(int(game["seed"]) % 97 / 97)):
                assert told not in text


def words_in(folder) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir())


def test_whoever_holds_a_token_takes_back_all_that_is_stored_under_it(board):
    play_entry(board, "Bela")
    token = play_entry(board, "Asha Withdrawn")
    board.add_day("2026-11-23", token_digest("a visitor"), 0.25)
    play_pairs(board, lambda seed: 0.5)
    for wrong in ("", "x", token.swapcase()):
        assert board.withdraw(wrong) == 0
    assert b"Asha Withdrawn" in words_in(board.storage.file.parent)
    assert (board.withdraw(token), board.withdraw("a visitor"), board.withdraw(token)) == (1, 1, 0)
    assert b"Asha Withdrawn" not in words_in(board.storage.file.parent)
    assert token_digest("a visitor").encode() not in words_in(board.storage.file.parent)
    (left,) = board.all_entries()
    for table in ("games", "moves", "pairs"):
        entries = {entry for (entry,) in board.storage.rows(f"SELECT entry FROM {table}")}
        assert entries == {left.id}
    standing = board.rank(TASK, rules_of(TASK), person=True)
    assert (standing.complete, standing.withdrawn, tally(board).withdrawn) == (1, 1, 1)
    assert entered(board, "Asha Withdrawn")  # the name is free again


def test_the_page_says_of_each_table_what_it_stores():
    told = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    tables = re.findall(r"CREATE TABLE (\w+)", "".join(chain(*VERSIONS)))
    assert [table for table in tables if f"`{table}`" not in told] == []


def storage_of_version(number: int, folder: Path, *rows: tuple[str, tuple]) -> Storage:
    """A file as that version left it, with rows, each after the name of its table."""
    with contextlib.closing(sqlite3.connect(folder / FILE)) as connection, connection:
        for statement in chain(*VERSIONS[:number]):
            connection.execute(statement)
        for table, row in rows:
            places = ", ".join("?" * len(row))
            connection.execute(f"INSERT INTO {table} VALUES ({places})", row)
        connection.execute(f"PRAGMA user_version = {number}")
    return Storage(folder / FILE)


def test_a_file_of_the_first_version_takes_people_and_the_new_name_of_the_sale(tmp_path):
    rows = [
        ("entries", (task, task, "n", task, "r", "c", 0, 9, 0, 0))
        for task in ("bazaar/seller_brief", "bazaar/open-3")
    ]
    storage = storage_of_version(1, tmp_path, *rows)
    with storage.transaction() as connection:
        connection.execute("INSERT INTO days VALUES ('2026-11-27', 'a', 0.5)")
    entries = storage.rows("SELECT task, person FROM entries ORDER BY task")
    assert [tuple(row) for row in entries] == [("bazaar/open-3", 0), ("bazaar/sell", 0)]
    storage.close()


def test_a_file_of_the_third_version_keeps_its_games_and_its_names(tmp_path):
    rows = []
    for person in "01":  # a name that two entries had already
        entry = (person, person, "Asha", TASK, rules_of(TASK), "c", 0, 9, 1, 0, int(person))
        game = (person, 1, str(LEADERBOARD.start), "walkaway", 0.25)
        rows += [("entries", entry), ("games", game)]
    board = Board(storage_of_version(3, tmp_path, *rows))
    for person in (False, True):
        (entry,) = board.entries(TASK, rules_of(TASK), person=person)
        assert (entry.name, entry.grades, entry.pace, entry.prompt) == ("Asha", (0.25,), None, "")
    with pytest.raises(ValueError, match="has this name"):
        entered(board, "ASHA", TASK)
    play_pairs(board, lambda seed: 0.5)
    assert tally(board).entries == 1
    board.storage.close()
