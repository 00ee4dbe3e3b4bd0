"""A game for a score has a seed of 128 bits, which goes everywhere without losing a digit."""

import json

import pytest

import sauda.__main__ as command_line
from env import arena, get_task, rollout
from panels.artifacts import tab as artifacts
from panels.gpu_arena import callbacks as gpu_arena
from panels.gpu_arena import view as arena_view
from panels.gpu_arena.board.calendar import calendar, others
from panels.gpu_arena.settlement import PRACTICE, settlement
from panels.haggle import choices
from panels.haggle.review import result_view
from panels.transcripts.episodes import play as play_transcripts
from sauda.games.transcript import from_json, to_json
from sauda.llm.registry import get_policy
from sauda.policies import LABS
from sauda.records.seeds import EXACT, SEED_BITS, drawn_seed, seed_in_json, whole_seed
from sauda.sessions import arena as arena_play
from sauda.sessions.bazaar import answer, quick_moves, standings, start

LARGE = 2**128 - 12345
MARKET = "arena/market_round"


def finished(game: arena_play.ArenaGame) -> arena_play.ArenaGame:
    return arena_play.act(game, arena.Action("finish"))


@pytest.mark.parametrize(
    "drawn",
    [
        drawn_seed,
        lambda: choices.new_game(choices.BUY, "classic/single_deal", choices.HIDDEN).play.seed,
        lambda: choices.new_game(choices.SELL, choices.ANY_ITEM, choices.HIDDEN).play.seed,
        lambda: gpu_arena.new_game(MARKET, "").play.seed,
        lambda: gpu_arena.new_game(MARKET, "  ").play.seed,
    ],
)
def test_the_seed_of_a_game_for_a_score_is_drawn_from_128_bits(drawn):
    seeds = {drawn() for _ in range(12)}
    assert len(seeds) == 12
    assert SEED_BITS == 128
    assert 2**120 <= max(seeds) < 2**128  # all twelve are below 2**120 once in 10**28 runs


def test_a_long_seed_is_read_to_the_last_digit_and_a_float_is_not_read():
    assert whole_seed(str(LARGE)) == whole_seed(LARGE) == LARGE
    with pytest.raises(ValueError, match="a seed is a whole number"):
        whole_seed(float(LARGE))


@pytest.mark.parametrize("seed", [0, 7, EXACT, EXACT + 1, LARGE])
def test_a_seed_in_json_survives_a_reader_whose_numbers_are_floats(seed: int):
    written = json.dumps({"seed": seed_in_json(seed)})
    read = json.loads(written, parse_int=lambda digits: int(float(digits)))
    assert whole_seed(read["seed"]) == seed


@pytest.mark.parametrize("name", [MARKET, "bazaar/open", "classic/single_deal"])
def test_an_episode_of_a_long_seed_is_written_and_played_again(name: str):
    task = get_task(name)
    policy = "autarky" if name == MARKET else "linear"
    record = artifacts.play(name, policy, str(LARGE))
    assert record["seed"] == str(LARGE)
    again = from_json(json.loads(json.dumps(record)))
    assert again.seed == LARGE
    assert to_json(again, policy) == record
    assert play_transcripts(name, str(LARGE), [policy])[policy].final == again.final
    other = rollout(task, get_policy(task, policy), LARGE - 1)
    assert other.final != again.final


def test_the_command_of_a_finished_game_plays_its_long_seed(capsys):
    game = gpu_arena.new_game(MARKET, "")
    while not game.over:
        game = arena_play.step(game, "autarky")
    shown = str(settlement(game))
    command = f"play --task {MARKET} --policy autarky --seed {game.play.seed}"
    assert f"python -m sauda {command}" in shown
    assert command_line.main([*command.split(), "--json"]) == 0
    assert from_json(json.loads(capsys.readouterr().out)).final == game.play.state


def test_policies_are_compared_on_the_long_seed_of_a_finished_game():
    game = finished(gpu_arena.new_game(MARKET, ""))
    rows = {row.name: row for row in arena_play.standings(game)}
    alone = rollout(game.task, LABS["autarky"], game.play.seed).final.private["lab_0"]
    assert rows["autarky"].utility == alone.utility
    deal = start("bazaar/open", "", LARGE)
    deal = answer(deal, quick_moves(deal.observation)[3].action)
    assert {"you", "linear"} <= {row.name for row in standings(deal)}
    assert f"--seed {LARGE}" in result_view.replay_note(deal, standings(deal))


def test_a_secret_seed_shows_only_after_the_end():
    game = gpu_arena.new_game(MARKET, "")
    parts = (calendar, others, arena_view.message_board, arena_view.reward, arena_view.log)
    shown = "".join(str(part(game)) for part in (*parts, settlement))
    assert str(game.play.seed) not in shown + str(arena_view.papers(game.observation))
    assert str(game.play.seed) in str(settlement(finished(game)))


def test_a_game_by_hand_at_a_seed_that_was_typed_is_called_practice():
    typed, secret = (finished(gpu_arena.new_game(MARKET, seed)) for seed in ("6", ""))
    assert PRACTICE in str(settlement(typed))
    assert PRACTICE not in str(settlement(secret))
    watched = arena_play.step(gpu_arena.new_game(MARKET, "6"), "autarky")
    while not watched.over:
        watched = arena_play.step(watched, "autarky")
    assert PRACTICE not in str(settlement(watched))
