"""The seeds of an entry before its end: a test that tries to find them, and what it is shown."""

import base64
import hashlib
import json
import random
import re
from collections.abc import Iterator
from itertools import islice

import numpy as np
import pytest

from sauda.records.seeds import DAILY, LEADERBOARD, SEED_BITS, SPLITS
from sauda.serve.leaderboard.board import Board, commitment
from sauda.serve.leaderboard.replay import rules_of
from sauda.serve.openenv.environment import SaudaEnvironment
from sauda.serve.openenv.game import start
from sauda.serve.openenv.observations import observation_of
from tests.support.entries import OPEN, entered, move_of, play_all, played_on


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


def guesses(text: str) -> Iterator[int]:
    """Seeds that somebody could guess from what was sent: numbers, ids, digests, neighbours."""
    numbers = [int(digits) for digits in re.findall(r"\d+", text) if len(digits) < 60]
    words = set(re.findall(r"[\w-]{8,}", text))
    numbers += [int(word, 16) for word in words if re.fullmatch("[0-9a-f]{8,64}", word)]
    for word in words:
        for content in (word.encode(), base64.urlsafe_b64decode(word[: len(word) // 4 * 4])):
            for raw in (content, hashlib.sha256(content).digest(), hashlib.md5(content).digest()):
                numbers += [int.from_bytes(raw[:16], order) for order in ("big", "little")]
    for number in numbers:
        for near in (number - 1, number, number + 1):
            yield near % LEADERBOARD.start
            yield LEADERBOARD.start + near % LEADERBOARD.start


def opening_of(seed: int) -> dict:
    """What a player sees first in the game of a seed."""
    game = start(OPEN, seed, "an episode", 0.0)
    return observation_of(game).model_dump(mode="json")["bazaar"]


def test_no_seed_is_found_from_what_is_sent_before_the_end(board):
    entry, _, said = said_before_the_end(board)
    text, seeds = "\n".join(said), seeds_of(board, entry)
    for seed in seeds:
        for written in (str(seed), f"{seed:x}", str(seed)[:12], f"{seed:x}"[:10]):
            assert written not in text
    guessed = set(guesses(text))
    assert len(guessed) > 1_000
    assert not guessed & set(seeds)
    # Every other game that has a small seed, or a guessed one, opens otherwise.
    opening = json.loads(said[1])["bazaar"]
    known = [seed for seeds in (*SPLITS.values(), DAILY) for seed in seeds[:100]]
    for seed in (*known, *islice(guessed, 1_000)):
        assert opening_of(seed) != opening
    assert opening_of(seeds[0]) == opening
    with pytest.raises(ValueError, match="entries of the leaderboard"):
        SaudaEnvironment().reset(seed=seeds[0])


def test_nothing_that_can_be_set_decides_the_seeds(board):
    drawn = []
    for _ in range(2):
        random.seed(0)
        np.random.seed(0)  # noqa: NPY002
        drawn += seeds_of(board, entered(board, games=20).entry)
    assert len(set(drawn)) == 40
    bits = [bin(seed)[3:] for seed in drawn]  # below the highest, which is always set
    assert all(len(each) == SEED_BITS - 1 for each in bits)
    ones = sum(each.count("1") for each in bits) / (40 * (SEED_BITS - 1))
    assert abs(ones - 0.5) < 0.05  # 7 standard deviations


def test_a_game_of_an_entry_hides_its_seed_at_its_end_and_the_record_shows_it_at_the_last(board):
    ticket = entered(board)
    ends = play_all(ticket)
    assert [end.outcome["seed"] for end in ends] == [None] * 3
    (entry,) = board.entries(OPEN, rules_of(OPEN))
    seeds = [game.seed for game in board.games(entry)]
    assert seeds == seeds_of(board, ticket.entry)
    assert commitment(seeds) == ticket.commitment


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
