"""Entries: games that nobody can discard, rows computed from them, seeds that nobody finds."""

import contextlib
import json
import multiprocessing
import random
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection

import numpy as np
import pytest

from env import TASKS
from sauda.__main__ import main as sauda_command
from sauda.games import policies_of
from sauda.records.seeds import DAILY, LEADERBOARD, SEED_BITS, SPLITS, draw_seed
from sauda.serve import leaderboard
from sauda.serve.game import MOST_STEPS, WORST, SaudaAction
from sauda.serve.leaderboard import (
    FILE,
    OF_A_SPACE,
    RANKED,
    UNFINISHED,
    Board,
    Entry,
    Storage,
    Unavailable,
    commitment,
    data_folder,
    entry_faults,
    episode_of,
    record_of,
    replay_game,
    rules_of,
)
from sauda.serve.mcp import grades_of
from sauda.serve.names import check_name, is_reserved
from sauda.serve.openenv import SaudaEnvironment
from sauda.statistics import mean_interval
from tests.support.entries import OPEN, entered, move_of, play_all, played_on

HERE = multiprocessing.get_context("fork")  # a process that has imported all this already


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
    assert list(entry_faults(record_of(board, entry))) == []


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


def test_an_entry_is_not_played_on_under_other_rules(board):
    ticket = board.enter("a", OPEN, "rules of yesterday")
    with pytest.raises(ValueError, match="the rules of bazaar/open have changed"):
        SaudaEnvironment().reset(entry=ticket.token)


def test_what_is_not_over_at_the_deadline_counts_the_lowest_grade(board):
    ticket, unused = entered(board), entered(board)
    (*_, end) = played_on(ticket.token)
    environment = SaudaEnvironment()
    environment.step(move_of(environment.reset(entry=ticket.token)))
    late = Board(board.storage, clock=lambda: ticket.deadline + 1)
    (entry,) = complete(late)  # the entry that was never begun is none
    assert entry.grades == (end.outcome["grade"], WORST, WORST)
    assert entry.count[UNFINISHED] == 2
    assert list(entry_faults(record_of(late, entry))) == []
    assert late.counts(OPEN, rules_of(OPEN)) == (1, 0)
    for token in (ticket.token, unused.token):
        with pytest.raises(ValueError, match="hours of this entry are over"):
            late.next_game(token)
    _, begun, not_begun = late.games(entry)
    shown = episode_of(replay_game(OPEN, begun.seed, begun.actions))
    assert (str(shown.end), len(begun.actions), not_begun.actions) == ("forfeit", 1, ())


def test_a_game_that_uses_up_its_steps_counts_the_lowest_grade(board):
    environment = SaudaEnvironment()
    environment.reset(entry=entered(board, games=1).token)
    for _ in range(MOST_STEPS + 1):
        observation = environment.step(SaudaAction(action_type="offer"))
    assert observation.outcome["grade"] == observation.reward == WORST
    assert environment.state.grade == WORST
    (entry,) = complete(board)
    assert entry.grades == (WORST,)
    assert list(entry_faults(record_of(board, entry))) == []


def test_a_long_tale_is_refused_before_it_fills_the_disk(board, monkeypatch):
    monkeypatch.setattr(leaderboard, "MOST_BYTES", 3_000)
    # A game whose seller stays for two bids of 1; by chance one may leave.
    monkeypatch.setattr(leaderboard, "leaderboard_seed", lambda: 2**127 + 1)
    environment = SaudaEnvironment()
    before = environment.reset(entry=entered(board).token)
    long = SaudaAction(action_type="offer", price=1, message="x" * 1_900)
    environment.step(long)
    with pytest.raises(ValueError, match="say less"):
        environment.step(long)
    assert len(environment.step(move_of(before)).bazaar["bids"]) == 2  # the game goes on


def test_a_clock_that_jumps_ends_no_entry_and_deletes_none(board):
    """Deadlines follow the time that passes, not the time of day, which somebody may set anew."""
    wall, passed = [time.time()], [5.0]
    now = leaderboard.steady(lambda: wall[0], lambda: passed[0])
    later = Board(board.storage, now)
    begun, unused = entered(later), entered(later)
    next(iter(played_on(begun.token)))
    wall[0] += 86_400 * 2
    entered(later)  # entries that nobody began in time are deleted here
    assert (later.entry(begun.entry), complete(later)) == (None, [])  # so no seed is shown
    assert later.next_game(unused.token).number == 1
    passed[0] += leaderboard.HOURS * 3600 + 1
    assert {entry.id for entry in complete(later)} == {begun.entry, unused.entry}


def test_the_standing_is_computed_when_it_changes_and_not_when_it_is_read(board):
    clock = [1e9]
    own = Board(board.storage, lambda: clock[0])
    rules = rules_of(OPEN)
    first = own.standing(OPEN, rules)
    ticket = entered(own, games=1)
    assert own.next_game(ticket.token).number == 1
    begun = own.standing(OPEN, rules)
    assert (first.being_played, begun.being_played) == (0, 1)
    assert own.standing(OPEN, rules) is begun
    clock[0] = ticket.deadline + 1
    over = own.standing(OPEN, rules)
    assert ([entry.id for entry in over.entries], over.complete) == ([ticket.entry], 1)
    assert own.standing(OPEN, rules) is over
    other = Board(Storage(board.storage.file), lambda: clock[0])  # another process, say
    with other.storage.transaction() as connection:
        connection.execute("DELETE FROM entries")
    other.storage.close()
    assert own.standing(OPEN, rules).entries == ()


def test_entries_are_ranked_by_their_mean_and_read_in_pages(board):
    for _ in range(3):
        play_all(entered(board, games=2))
    entries = complete(board)
    means = [entry.grade.mean for entry in entries]
    assert means == sorted(means, reverse=True)
    assert board.entries(OPEN, rules_of(OPEN), 1, 1) == entries[1:2]
    assert board.entries(OPEN, "rules of yesterday") == []


# Names


@pytest.mark.parametrize(
    "name",
    ["", " ", "x" * 41, "a\nb", "a\x00", "=1+1", "<b>", "\u202eevil", "a\u200b", "exp\u200bert",
     "sau\u00adda", "a" + "\u0302" * 39, "a" + "\u0489" * 5],
)  # fmt: skip
def test_a_name_that_is_none_or_hides_letters_is_refused(name):
    with pytest.raises(ValueError, match="a name has 1 to 40 characters"):
        check_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "expert", "TIT FOR TAT", "rule-based", "oracle", "expert+", "mini + distill", "mini+mine",
        "S a u d a", "Sauda (official)", "सौदा", "Śāūdã", "ｅｘｐｅｒｔ",
        "𝐞𝐱𝐩𝐞𝐫𝐭", "eⓧⓟⓔⓡⓣ", "ᴇxᴘᴇʀᴛ", "ᵉˣᵖᵉʳᵗ",
        "ехреrt", "ЕХРЕRТ", "міnі+dіѕtіll", "ехрегт",  # Cyrillic
        "ΕΧΡΕRΤ", "Sαυda", "ΟRΑCLΕ",  # Greek
        "ᏚAUᎠA", "ꓢꓮꓴꓓꓮ", "Տauda",  # Cherokee, Lisu, Armenian
        "expert\u3164", "exp\u034fert", "e\u0301xpert", "S\U0001f170UDA", "S\U0001f1e6UDA", "sɑuđa",
        "5auda", "exp3rt", "m1n1", "S@uda", "sauda\u2800",
    ],
)  # fmt: skip
def test_no_agent_takes_the_name_of_a_policy_a_model_or_the_project_or_a_look_alike(name):
    with pytest.raises(ValueError, match="is one of a policy, a model or the project"):
        check_name(name)


@pytest.mark.parametrize(
    "name",
    ["rising bids", "an expert of mine", "expert 2", "saudade", "minimax", "gpt-5 <script>",
     "Эксперт", "Ωmega", "GPT-5 + tools", "智谱", "सादा", "मोल भाव 2",
     "Thuỷ ế", "7th; DROP TABLE games"],
)  # fmt: skip
def test_a_name_of_any_script_that_only_shares_a_part_with_a_policy_is_kept_as_written(name):
    assert check_name(f" {name} ") == name


@pytest.mark.parametrize("task", RANKED)
def test_every_name_that_stands_beside_the_entries_is_taken(task):
    for name in {row["policy"] for row in grades_of(task)} | set(policies_of(TASKS[task])):
        assert is_reserved(name), name


# The file


def test_a_command_removes_an_entry_with_all_that_is_kept_of_it_while_the_page_is_open(
    board, capsys, tmp_path
):
    gone, kept, begun = (entered(board, name, games=1) for name in ("a", "b", "c"))
    for ticket in (gone, kept):
        play_all(ticket)
    SaudaEnvironment().reset(entry=begun.token)
    file = str(board.storage.file)
    for ticket in (gone, begun):
        assert sauda_command(["leaderboard", file, "--remove", ticket.entry]) == 0
    assert [line.split()[-1] for line in capsys.readouterr().out.splitlines()] == ["a", "c"]
    assert [entry.id for entry in complete(board)] == [kept.entry]
    for table in ("games", "moves"):
        entries = {entry for (entry,) in board.storage.rows(f"SELECT entry FROM {table}")}
        assert entries == {kept.entry}
    with pytest.raises(ValueError, match="no entry has this token"):
        SaudaEnvironment().reset(entry=begun.token)
    (tmp_path / "record.json").write_text("{}")
    for wrong in (file, str(tmp_path / "record.json"), str(tmp_path / "none")):
        assert sauda_command(["leaderboard", wrong, "--remove", gone.entry]) == 2
    assert "no entry has the id" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def test_entries_that_are_played_at_once_are_all_stored(board):
    tickets = [entered(board, f"agent {number}", games=2) for number in range(8)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(play_all, tickets))
    assert {entry.id for entry in complete(board)} == {ticket.entry for ticket in tickets}
    assert all(not list(entry_faults(record_of(board, entry))) for entry in complete(board))


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


def test_reading_makes_no_file_and_a_file_that_cannot_be_used_says_why(tmp_path):
    board = Board(Storage(tmp_path / "none" / FILE))
    assert complete(board) == []
    assert board.entry("0" * 16) is None
    assert not (tmp_path / "none").exists()
    (tmp_path / FILE).write_text("no database, but long enough to be read as a damaged one" * 9)
    with pytest.raises(Unavailable, match="what it holds is not lost"):
        complete(Board(Storage(tmp_path / FILE)))
    full = Board(Storage(tmp_path / "small.sqlite", most_bytes=64 * 1024))
    with pytest.raises(Unavailable, match="full"):
        entered(full, games=2_000)
    assert full.next_game(entered(full).token).number == 1  # what fits is still kept


def test_the_folder_is_the_one_that_is_set_or_a_spaces_storage_or_the_cache(tmp_path):
    assert data_folder({"SAUDA_DATA": str(tmp_path)}) == tmp_path
    assert data_folder({}).parts[-2:] == (".cache", "sauda")
    there = OF_A_SPACE.is_dir()
    assert (data_folder({"SPACE_ID": "a/b"}) == OF_A_SPACE) == there


# The seeds of an entry before its end


def test_nothing_that_can_be_set_decides_the_seeds(board):
    drawn = []
    for _ in range(2):
        random.seed(0)
        np.random.seed(0)  # noqa: NPY002
        drawn += seeds_of(board, entered(board, games=20).entry)
    assert len(set(drawn)) == 40
    assert all(seed.bit_length() == SEED_BITS for seed in drawn)


def seeds_of(board: Board, entry: str) -> list[int]:
    rows = board.storage.rows("SELECT seed FROM games WHERE entry = ? ORDER BY number", (entry,))
    return [int(seed) for (seed,) in rows]


def said_before_the_end(board: Board) -> tuple[str, str, list[str]]:
    """An entry of which two games of three are over: its id, its token, all that was sent."""
    ticket = entered(board)
    said = [json.dumps(vars(ticket))]
    for _ in range(2):
        said += [observation.model_dump_json() for observation in played_on(ticket.token)]
    environment = SaudaEnvironment()
    said.append(environment.reset(entry=ticket.token, episode_id="mine").model_dump_json())
    said.append(environment.step(move_of(environment.reset(entry=ticket.token))).model_dump_json())
    said.append(environment.state.model_dump_json())
    said.append(repr((board.entries(OPEN, rules_of(OPEN)), board.counts(OPEN, rules_of(OPEN)))))
    said.append(repr(board.entry(ticket.entry)))
    return ticket.entry, ticket.token, said


def test_no_seed_is_found_from_what_is_sent_before_the_end(board):
    entry, _, said = said_before_the_end(board)
    text, seeds = "\n".join(said), seeds_of(board, entry)
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


def test_the_files_hold_no_token_and_are_their_owners_alone(board):
    ticket = entered(board)
    play_all(ticket)
    files = list(board.storage.file.parent.iterdir())
    assert board.storage.file in files
    assert all(file.stat().st_mode & 0o077 == 0 for file in files)  # its owner alone reads seeds
    assert not any(ticket.token.encode() in file.read_bytes() for file in files)
