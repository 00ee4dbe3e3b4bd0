"""Training a lab of the arena: which turns are learnt, toy runs of both stages, the gate."""

import json
from dataclasses import replace

import numpy as np
import pytest

from env import get_task
from sauda import __main__ as command
from sauda.commands import train as cli
from sauda.games import ARENA
from sauda.games.arena_prompt import completion
from sauda.llm.turn import PlayerSpec, new_game, play_games
from sauda.llm.types import Reply
from sauda.records.store import load
from sauda.train import stage
from sauda.train.checks import acceptance, arena_holdout_states
from sauda.train.data.arena import ArenaData
from sauda.train.model import find_base, tokenizer_of
from sauda.train.run import Heartbeat, Run
from sauda.train.self_play import Sampled, prompt_ids
from sauda.train.stages import grpo, sft
from tests.support.models import Booker
from tests.support.training import games_of, resumed

pytestmark = pytest.mark.xdist_group("model")
TASK = get_task("arena/market_round")
PLAYED = grpo.ArenaConfig(
    "toy",
    init_adapter="",
    prompts_per_step=2,
    num_generations=4,
    turns_per_game=2,
    max_steps=2,
    per_device_train_batch_size=8,
    constrained=True,
    save_steps=1,
    acceptance_prompts=3,
)


class Told(Booker):
    """The same with the tokens it wrote."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer

    def __call__(self, messages, seed, schema=None):
        text = super().__call__(messages, seed).text
        ids = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return Sampled(text, "booker", len(ids), "stop", ids=tuple(ids))


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return find_base("toy", tmp_path_factory.mktemp("toy"), 8)


@pytest.mark.model
def test_some_turns_of_each_game_are_learnt_with_the_grade_of_the_game(toy, tmp_path):
    ready = grpo.prepare(PLAYED, Run(tmp_path), toy, Heartbeat(say=lambda text: None))
    games, tokenizer = ready.trainer.rollout_func, tokenizer_of(toy)
    begun = [new_game(TASK, seed, (1, n)) for seed in (7, 8) for n in range(4)]
    play_games(begun, PlayerSpec(Told(tokenizer)))
    rows = games.sequences(begun, 0)
    assert len(rows["prompt_ids"]) == 2 * len(begun)
    assert games.rewards(begun) == [game.grade for game in begun]
    for i, game in enumerate(begun):
        prompts = [prompt_ids(model_turn.request.messages, tokenizer) for model_turn in game.turns]
        for k in (2 * i, 2 * i + 1):
            turn = prompts.index(rows["prompt_ids"][k])
            assert rows["completion_ids"][k] == list(game.turns[turn].reply.ids)
            assert set(rows["env_mask"][k]) == {1}
    assert games.sequences(begun, 0) == rows
    assert games.sequences(begun, 1) != rows  # other turns


@pytest.mark.model
def test_every_turn_of_a_game_is_as_likely_to_be_learnt(toy, tmp_path):
    ready = grpo.prepare(PLAYED, Run(tmp_path), toy, Heartbeat(say=lambda text: None))
    game = new_game(TASK, 7)
    play_games([game], PlayerSpec(Told(tokenizer_of(toy))))
    count = dict.fromkeys(range(len(game.turns)), 0)
    for step in range(600):
        for (turn,) in ready.trainer.rollout_func.parts(game, (step, 0)):
            count[game.turns.index(turn)] += 1
    wanted = 1200 / len(count)
    assert all(abs(n - wanted) < 5 * np.sqrt(wanted) for n in count.values())


@pytest.mark.nightly
@pytest.mark.model
def test_grpo_learns_from_a_labs_games_and_goes_on_where_it_was(tmp_path, monkeypatch):
    config = replace(PLAYED, num_generations=2, per_device_train_batch_size=4)
    data = grpo.train(config, tmp_path)
    assert [row["step"] for row in data["log"]] == [1, 2]
    assert all(row["valid_rate"] == 1.0 for row in data["log"])  # under the grammar
    assert any(row["grad_norm"] > 0 for row in data["log"])
    assert data["games"]["task"] == {"arena/market_round": 4}
    kept = load("training/grpo-arena-toy.json", tmp_path)
    assert kept.data.as_json()["log"] == data["log"]
    again = resumed(config, tmp_path / "cut", 2, monkeypatch)
    assert again["resumed"] == [1]
    assert games_of(again) == games_of(data)


@pytest.mark.model
def test_sft_learns_the_experts_actions(tmp_path):
    config = sft.ArenaConfig(
        "toy", data=ArenaData(rows=24), acceptance_prompts=3, eval_games=0, max_steps=2
    )
    data = sft.train(config, tmp_path)
    assert data["rows"]["completions"] == 24
    learnt = "".join(token["text"] for token in data["sample"] if token["in_loss"])
    assert json.loads(learnt.partition("<|im_end|>")[0])["action_type"]
    assert (tmp_path / "training" / "sft-arena-toy.json").exists()


def test_the_acceptance_check_counts_actions_that_the_rules_accept():
    class Expert:
        def batch(self, chats, seeds):
            actions = {}
            for state in arena_holdout_states(6):
                actions[ARENA.prompt.render(state.obs)[1]["content"]] = state.action
            return [Reply(completion(actions[c[1]["content"]]), "x", 9, "stop") for c in chats]

    class Says:
        def __init__(self, text):
            self.text = text

        def batch(self, chats, seeds):
            return [Reply(self.text, "x", 9, "stop") for _ in chats]

    theft = '{"action_type":"allocate_to_job","job_id":"j_0_0","block_ids":["b_1_0"]}'
    report = acceptance(Expert(), "arena", 6)
    assert (report["valid"], report["same_kind"], report["passed"]) == (1.0, 1.0, True)
    assert report["accepted"] == 1.0
    report = acceptance(Says(theft), "arena", 6)
    assert (report["valid"], report["accepted"], report["passed"]) == (1.0, 0.0, True)
    report = acceptance(Says("I would rather wait."), "arena", 6)
    assert (report["valid"], report["accepted"], report["passed"]) == (0.0, 0.0, False)


def settings(*arguments):
    """The Config that `python -m sauda train` makes of its arguments."""
    return cli.configured(command.parse(["train", *arguments]))


def test_the_command_has_the_options_of_the_stage_and_the_defaults_of_the_game(capsys):
    assert settings("sft", "--game", "arena") == sft.ArenaConfig()
    assert settings("grpo") == grpo.Config()
    assert settings("sft", "--rows", "5").data.rows == 5
    both = ("--max-steps", "2", "--per_device_train_batch_size", "1")
    assert settings("sft", *both) == sft.Config(max_steps=2, per_device_train_batch_size=1)
    assert settings("grpo", "--model", "toy", "--max-steps", "9").max_steps == 9
    second = settings("sft", "--seed", "1", "--first-seed", "16000")
    assert (second.seed, second.data.first_seed) == (1, 16_000)
    mixed = ("bazaar/open", "classic/single_deal")
    assert settings("grpo", "--tasks", *mixed) == grpo.Config(tasks=mixed)
    for refused in (("dpo", "--game", "arena"), ("sft", "--trial"), ("sft", "--epochs", "1")):
        with pytest.raises(SystemExit):
            settings(*refused)
    assert "invalid choice: 'arena'" in capsys.readouterr().err


def test_a_run_has_the_name_of_its_stage_game_model_and_seed():
    names = [stage.run_name("sft", model, "arena") for model in ("mini", "8b")]
    assert names == ["sft-arena", "sft-arena-8b"]
    assert stage.run_name("distill", "mini", seed=1) == "distill-seed1"


@pytest.mark.parametrize(
    ("before", "name"),
    [
        ("sft", "grpo"),
        ("distill", "grpo-from-distill"),
        ("", "grpo-from-base"),
        ("runs/sft/adapter", "grpo"),
    ],
)
def test_a_run_has_the_name_of_an_unusual_stage_that_it_trains_further(before, name):
    assert stage.name_of("grpo", grpo.Config(init_adapter=before)) == name


@pytest.mark.parametrize("task", ["arena/market_round", "bazaar/nowhere"])
def test_a_task_must_be_one_of_the_game(task):
    with pytest.raises(ValueError, match=f"no task '?(of the bazaar|{task})"):
        grpo.check(grpo.Config(tasks=("bazaar/open", task)))


def test_a_step_must_be_learnt_in_equal_passes(tmp_path):
    with pytest.raises(ValueError, match="64 sequences"):
        grpo.train(replace(PLAYED, num_generations=16, per_device_train_batch_size=24), tmp_path)
