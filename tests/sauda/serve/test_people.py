"""People on the leaderboard: moves without words, games on the same seeds, no name outside."""

import json
import sqlite3

import pytest

from env import Offer, WalkAway
from sauda.serve.leaderboard import VERSIONS, Storage, entry_faults, record_of, rules_of
from sauda.serve.people import TASK, drop_own_words, export, next_bargain, record_moves, tally
from sauda.sessions.bazaar import answer
from tests.support.entries import entered, play_all


def bid(game, share: float, words: str = ""):
    price = int(share * game.observation.reservation)
    return answer(game, Offer(price, f"{price} rupees, {words}" if words else ""))


def play_entry(board, name: str, games: int = 2) -> str:
    """A person's entry that is played to its end; its token."""
    token = board.enter(name, TASK, rules_of(TASK), games, person=True).token
    for _ in range(games):
        _, game = next_bargain(board, token)
        game = bid(game, 0.4, "my aunt Meera says it is scratched")
        record_moves(board, token, game)
        if not game.over:
            record_moves(board, token, answer(game, WalkAway()))
    return token


def test_a_persons_games_are_kept_without_words_and_can_be_verified(board):
    play_entry(board, "Asha")
    (entry,) = board.entries(TASK, rules_of(TASK))
    record = record_of(board, entry)
    assert (entry.person, entry.n) == (1, 2)
    assert "Meera" not in json.dumps(record)
    assert list(entry_faults(record)) == []


def test_a_move_is_kept_with_what_the_seller_hears_in_it():
    assert drop_own_words(Offer(400, "400, and tea for us both?")).message
    assert drop_own_words(Offer(400, "400 for my aunt Meera")).message == ""


def test_only_the_games_of_the_entry_are_stored(board):
    first, second = (
        board.enter(name, TASK, rules_of(TASK), 1, person=True).token for name in ("Asha", "Bela")
    )
    _, game = next_bargain(board, first)
    with pytest.raises(ValueError, match="another tab"):
        record_moves(board, second, bid(game, 0.3))


def test_people_and_sauda_are_compared_on_the_same_games_alone(board):
    assert tally(board) is None
    play_all(entered(board, "an agent"))
    token = board.enter("Asha", TASK, rules_of(TASK), 2, person=True).token
    for sauda in (0.5, None):  # the second game was never played by Sauda
        place, game = next_bargain(board, token)
        record_moves(board, token, answer(game, WalkAway()))
        if sauda is not None:
            board.pair(place, sauda, 0.75)
    found = tally(board)
    mine = board.entry(place.entry).grades[0]
    assert (found.people, found.n) == (1, 1)
    assert (found.person.mean, found.sauda.mean, found.oracle.mean) == (mine, 0.5, 0.75)
    assert found.difference.mean == pytest.approx(mine - 0.5)


def test_the_export_names_nobody(board):
    play_entry(board, "Asha")
    play_all(entered(board, "an agent"))
    shown = export(board)
    (person,) = shown["people"]
    assert len(person["games"]) == 2
    assert all(name not in json.dumps(shown) for name in ("Asha", "agent", "Meera"))


def test_a_file_of_the_first_version_takes_people_and_the_new_name_of_the_sale(tmp_path):
    file = tmp_path / "leaderboard.sqlite"
    with sqlite3.connect(file) as connection:
        for statement in VERSIONS[0]:
            connection.execute(statement)
        entry = "INSERT INTO entries VALUES (?, ?, 'n', ?, 'r', 'c', 0, 9, 0, 0)"
        tasks = ("bazaar/seller_brief", "bazaar/open")
        connection.executemany(entry, [(task, task, task) for task in tasks])
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    storage = Storage(file)
    with storage.transaction() as connection:
        connection.execute("INSERT INTO days VALUES ('2026-11-27', 'a', 0.5)")
    entries = storage.rows("SELECT task, person FROM entries ORDER BY task")
    assert [tuple(row) for row in entries] == [("bazaar/open", 0), ("bazaar/sell", 0)]
    storage.close()
