"""GRPO: games as sequences, the log-probabilities of the loss, kill and resume, equal rewards."""

import json
from dataclasses import replace

import pytest

from env import get_task
from sauda.games.bazaar_prompt import completion
from sauda.llm.engine import Sampling
from sauda.llm.model import CannotLoad
from sauda.llm.turn import PlayerSpec, new_game, play_games
from sauda.records.seeds import is_unseen_game
from sauda.train import stage
from sauda.train.model import find_base, tokenizer_of, trainable
from sauda.train.run import Heartbeat, Run, Stopped
from sauda.train.self_play import Learner, as_sequence, prompt_ids
from sauda.train.stages import grpo
from tests.support.training import Bidder, games_of, resumed

pytestmark = pytest.mark.xdist_group("model")
TOY = grpo.Config(
    "toy",
    init_adapter="",
    prompts_per_step=2,
    num_generations=4,
    max_steps=3,
    per_device_train_batch_size=4,
    constrained=True,
    save_steps=1,
    acceptance_prompts=3,
    threads=1,
)


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return find_base("toy", tmp_path_factory.mktemp("toy"), 4)


@pytest.mark.model
def test_the_learnt_tokens_of_a_game_are_the_sampled_ones(toy):
    tokenizer = tokenizer_of(toy)
    game = new_game(get_task("bazaar/open"), 30_000)
    texts = ('{"offer":20}', '{"offer": 21}', ' {"walk":true}')
    play_games([game], PlayerSpec(Bidder(tokenizer, *texts)))
    assert len(game.turns) == 3
    row = as_sequence(game.turns, tokenizer)
    learnt = [
        id for id, label in zip(row["input_ids"], row["labels"], strict=True) if label != -100
    ]
    text = tokenizer.decode(learnt)
    assert text == '{"offer":20} {"walk":true}'  # the second is no canonical form
    whole = tokenizer.decode(row["input_ids"])
    assert completion(game.turns[1].parsed.proposal, game.turns[1].obs) == '{"offer":21}'
    assert '{"offer":21}<|im_end|>' in whole  # as which it stands in the conversation
    assert "Ask" in whole


@pytest.mark.model
def test_a_reply_without_a_move_is_learnt_from_as_it_was(toy):
    game = new_game(get_task("bazaar/open"), 30_000)
    tokenizer = tokenizer_of(toy)
    play_games([game], PlayerSpec(Bidder(tokenizer, '{"offer":20}', "well, well\n")))
    row = as_sequence(game.turns, tokenizer)
    learnt = [
        id for id, label in zip(row["input_ids"], row["labels"], strict=True) if label != -100
    ]
    assert tokenizer.decode(learnt).endswith("well, well\n")
    assert game.play.forfeit
    assert game.grade == 0


@pytest.mark.slow
def test_instances_are_training_games_that_no_evaluation_is_about():
    config = grpo.Config(max_steps=20)
    instances = grpo.instances(config)
    assert len(instances) == 80
    assert len(set(instances)) == 80
    assert not any(
        is_unseen_game(get_task(name), seed, config.unseen_seller) for name, seed in instances
    )
    with pytest.raises(ValueError, match="too few training seeds"):
        grpo.instances(replace(config, max_steps=10**6))


@pytest.mark.model
def test_the_loss_sees_what_trl_s_own_pass_sees(toy, tmp_path):
    """Padded on both sides, read once where rows begin alike, projected where it is learnt."""
    import torch
    from trl import GRPOTrainer

    ready = grpo.prepare(TOY, Run(tmp_path), toy, Heartbeat(say=lambda text: None))
    trainer, games = ready.trainer, ready.trainer.rollout_func
    played = []
    for seed in (30_000, 30_003, 30_005):
        played.append(new_game(get_task("bazaar/open"), seed))
    texts = ('{"offer":20}', '{"offer":25,"say":"#, bolo?"}')
    play_games(played, PlayerSpec(Bidder(tokenizer_of(toy), *texts)))
    rows = games.sequences(played, 0)
    width = max(map(len, rows["prompt_ids"]))
    ids = [
        [0] * (width - len(p)) + p + c
        for p, c in zip(rows["prompt_ids"], rows["completion_ids"], strict=True)
    ]
    real = [
        [0] * (width - len(p)) + [1] * (len(p) + len(c))
        for p, c in zip(rows["prompt_ids"], rows["completion_ids"], strict=True)
    ]
    longest = max(map(len, ids))
    ids = torch.tensor([row + [0] * (longest - len(row)) for row in ids])
    real = torch.tensor([row + [0] * (longest - len(row)) for row in real])
    mask = torch.tensor([m + [0] * (longest - width - len(m)) for m in rows["env_mask"]])
    keep = longest - width
    ours, entropy, _ = trainer._get_per_token_logps_and_entropies(
        trainer.model, ids, real, keep, batch_size=2, compute_entropy=True
    )
    theirs, their_entropy, _ = GRPOTrainer._get_per_token_logps_and_entropies(
        trainer, trainer.model, ids, real, keep, compute_entropy=True
    )
    assert mask.sum() > 30
    torch.testing.assert_close(ours * mask, theirs * mask, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(entropy * mask, their_entropy * mask, atol=1e-4, rtol=1e-4)
    assert ours.requires_grad


@pytest.mark.model
def test_another_seed_draws_other_replies_in_the_same_games(toy, tmp_path):
    def texts(seed):
        config = replace(TOY, seed=seed)
        ready = grpo.prepare(config, Run(tmp_path), toy, Heartbeat(say=lambda text: None))
        games = ready.trainer.rollout_func
        games.learner.refresh()
        played = games.play([("bazaar/open", 30_000)], 0)
        return [turn.reply.text for game in played for turn in game.turns]

    assert texts(0) == texts(0) != texts(1)


@pytest.mark.model
def test_the_learner_plays_what_the_adapter_says_now(toy):
    import torch

    network = trainable(toy, None)
    player = Learner(network, tokenizer_of(toy), toy, Sampling(0.0, max_new_tokens=6))
    chat = [[{"role": "user", "content": "Ask 100."}]]
    before = player.batch(chat, [1], [None])[0]
    with torch.no_grad():
        for name, numbers in network.named_parameters():
            if "lora_B" in name:
                numbers.normal_(0, 0.5, generator=torch.Generator().manual_seed(1))
    assert player.batch(chat, [1], [None])[0] == before
    player.refresh()
    after = player.batch(chat, [1], [None])[0]
    assert after.ids != before.ids
    ids = torch.tensor([prompt_ids(chat[0], tokenizer_of(toy))])
    with torch.no_grad():
        assert network(input_ids=ids).logits[0, -1].argmax() == after.ids[0]


@pytest.mark.nightly
@pytest.mark.model
def test_a_stopped_run_goes_on_and_loses_no_step(tmp_path, monkeypatch):
    config = replace(TOY, max_steps=2)
    whole = grpo.train(config, tmp_path / "whole")
    assert [row["step"] for row in whole["log"]] == [1, 2]
    assert whole["games"]["num_generations"] == 4
    assert {
        "reward",
        "reward_group_std",
        "frac_reward_zero_std",
        "valid_rate",
        "entropy",
        "kl",
    } <= set(whole["log"][-1])
    data = resumed(config, tmp_path / "cut", 2, monkeypatch)
    assert data["resumed"] == [1]
    assert games_of(data) == games_of(whole)


@pytest.mark.model
def test_rewards_that_are_all_equal_stop_the_run_with_the_reason(tmp_path):
    config = replace(TOY, constrained=False, patience=2)  # a random network writes no moves
    with pytest.raises(Stopped, match="the games of every group earned the same"):
        grpo.train(config, tmp_path / "run")
    log = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    assert [row.get("step") for row in log] == [None, 1]


def test_a_missing_adapter_is_named_before_anything_is_read():
    with pytest.raises(CannotLoad, match="no adapter 'nowhere'"):
        stage.init_adapter(replace(TOY, init_adapter="nowhere"))


def test_groups_that_do_not_fit_in_passes_are_refused(tmp_path):
    with pytest.raises(ValueError, match="passes of the same size"):
        grpo.train(replace(TOY, per_device_train_batch_size=3), tmp_path)
