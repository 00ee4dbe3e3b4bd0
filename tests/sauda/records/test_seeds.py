"""A game for a score has a seed of 128 bits, which goes everywhere without losing a digit."""

import json

import pytest

from env import arena
from panels.gpu_arena import tab as gpu_arena
from panels.gpu_arena.offers import Visit
from panels.gpu_arena.tab import REGIONS
from panels.gpu_arena.view import settlement
from panels.haggle import opponents as haggle
from sauda.records.seeds import (
    EXACT,
    LEADERBOARD,
    SEED_BITS,
    draw_seed,
    leaderboard_seed,
    seed_in_json,
    whole_seed,
)
from sauda.sessions import arena as arena_play

LARGE = 2**128 - 12345
MARKET = "arena/market_round"


def finished(game: arena_play.ArenaGame) -> arena_play.ArenaGame:
    return arena_play.act(game, arena.Action("finish"))


@pytest.mark.parametrize(
    "drawn",
    [
        draw_seed,
        lambda: haggle.new_game(haggle.BUY, "classic/single_deal", haggle.HIDDEN).play.seed,
        lambda: haggle.new_game(haggle.SELL, haggle.ANY_ITEM, haggle.HIDDEN).play.seed,
        lambda: gpu_arena.new_game(MARKET, "").play.seed,
        lambda: gpu_arena.new_game(MARKET, "  ").play.seed,
    ],
)
def test_the_seed_of_a_game_for_a_score_is_drawn_from_128_bits(drawn):
    seeds = {drawn() for _ in range(12)}
    assert len(seeds) == 12
    assert SEED_BITS == 128
    assert 2**120 <= max(seeds) < 2**128  # all twelve are below 2**120 once in 10**28 runs


@pytest.mark.parametrize("seed", [0, 7, EXACT, EXACT + 1, LARGE])
def test_a_seed_in_json_survives_a_reader_whose_numbers_are_floats(seed: int):
    written = json.dumps({"seed": seed_in_json(seed)})
    read = json.loads(written, parse_int=lambda digits: int(float(digits)))
    assert whole_seed(read["seed"]) == seed


def test_a_secret_seed_shows_only_after_the_end():
    game = gpu_arena.new_game(MARKET, "")
    shown = "".join(region(Visit(game)) for region in REGIONS.values())
    assert str(game.play.seed) not in shown
    assert str(game.play.seed) in str(settlement(finished(game)))


def test_the_seeds_of_the_leaderboard_are_drawn_from_a_range_of_their_own():
    assert all(leaderboard_seed() in LEADERBOARD for _ in range(20))
    assert not any(draw_seed() in LEADERBOARD for _ in range(20))
