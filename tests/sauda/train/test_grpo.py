"""GRPO: games as sequences, the loss, another seed, equal rewards."""

from dataclasses import replace

import pytest

from env import get_task
from sauda.games.bazaar_prompt import completion
from sauda.llm.engine import Sampling, prompt_ids
from sauda.llm.registry import PlayerSpec
from sauda.llm.turn import new_game, play_games
from sauda.records.seeds import is_unseen_game
from sauda.train import grpo
from sauda.train.common import Run, Stopped
from sauda.train.dpo import DPOSettings
from sauda.train.model import Learner, Sampled, as_sequence, find_base, tokenizer_of, trainable

pytestmark = [pytest.mark.xdist_group("model"), pytest.mark.model]
TOY = grpo.GRPOSettings(
    model="toy", init_adapter="", prompts_per_step=2, num_generations=4, max_steps=3,
    per_device_train_batch_size=4, constrained=True, save_steps=1, acceptance_prompts=3,
)  # fmt: skip


class Bidder:
    """Canned replies whose tokens are known: a move as canonical text, or with spaces."""

    def __init__(self, tokenizer, *texts):
        self.tokenizer, self.texts = tokenizer, texts

    def batch(self, chats, seeds, schemas):
        turns = [sum(m["role"] == "assistant" for m in chat) for chat in chats]
        return [self.sampled(self.texts[n % len(self.texts)]) for n in turns]

    def sampled(self, text):
        ids = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return Sampled(text, "canned", len(ids), "object", ids=tuple(ids))


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return find_base("toy", tmp_path_factory.mktemp("toy"), 4)


@pytest.fixture
def trainer_of(toy, tmp_path):
    """The trainer of some settings; its rollout function plays the games."""
    return lambda settings: grpo.make_trainer(
        Run(settings, tmp_path, toy), grpo.instances(settings)
    )


def test_the_learnt_tokens_of_a_game_are_the_sampled_ones(toy):
    tokenizer = tokenizer_of(toy)
    game = new_game(get_task("bazaar/open"), 30_000)
    texts = ('{"offer":20}', '{"offer": 21}', ' {"walk":true}')
    play_games([game], PlayerSpec(Bidder(tokenizer, *texts)))
    row = as_sequence(game.turns, tokenizer)
    learnt = [
        id for id, label in zip(row["input_ids"], row["labels"], strict=True) if label != -100
    ]
    text = tokenizer.decode(learnt)
    assert text == '{"offer":20} {"walk":true}'  # the second is no canonical form
    whole = tokenizer.decode(row["input_ids"])
    assert completion(game.turns[1].parsed.proposal, game.turns[1].obs) == '{"offer":21}'
    assert '{"offer":21}<|im_end|>' in whole  # as which it stands in the conversation


@pytest.mark.slow
def test_instances_are_training_games_that_no_evaluation_is_about():
    settings = grpo.GRPOSettings(max_steps=20)
    instances = grpo.instances(settings)
    assert len(set(instances)) == len(instances) == 80
    assert not any(is_unseen_game(get_task(name), seed) for name, seed in instances)
    with pytest.raises(ValueError, match="too few training seeds"):
        grpo.instances(replace(settings, max_steps=10**6))


def test_the_loss_sees_what_trl_s_own_pass_sees(toy, trainer_of):
    """Padded on both sides, read once where rows begin alike, projected where it is learnt."""
    import torch
    from trl import GRPOTrainer

    trainer = trainer_of(TOY)
    played = [new_game(get_task("bazaar/open"), seed) for seed in (30_000, 30_003, 30_005)]
    texts = ('{"offer":20}', '{"offer":25,"say":"#, bolo?"}')
    play_games(played, PlayerSpec(Bidder(tokenizer_of(toy), *texts)))
    rows = trainer.rollout_func.sequences(played)
    pairs = list(zip(rows["prompt_ids"], rows["completion_ids"], strict=True))
    width, keep = (max(map(len, part)) for part in zip(*pairs, strict=True))
    ids, real, mask = [], [], []
    for (prompt, reply), learnt in zip(pairs, rows["env_mask"], strict=True):
        before, after = [0] * (width - len(prompt)), [0] * (keep - len(reply))
        ids.append(before + prompt + reply + after)
        real.append(before + [1] * (len(prompt) + len(reply)) + after)
        mask.append(learnt + after)
    ids, real, mask = map(torch.tensor, (ids, real, mask))
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


def test_rewards_that_are_all_equal_stop_the_run_with_the_reason(tmp_path):
    settings = replace(TOY, constrained=False, patience=2)  # a random network writes no moves
    with pytest.raises(Stopped, match="the games of every group earned the same"):
        grpo.train(settings, tmp_path)
    assert (tmp_path / "checkpoint-1").exists()


@pytest.mark.parametrize("task", ["classic/career_10", "classic/marketplace_arena"])
def test_a_game_that_is_not_one_conversation_is_refused(task):
    with pytest.raises(ValueError, match=f"of {task}, with several deals or sealed bids"):
        grpo.GRPOSettings(tasks=("bazaar/open", task))


@pytest.mark.parametrize("settings", [grpo.GRPOSettings, DPOSettings])
@pytest.mark.parametrize("task", ["arena/market_round", "bazaar/nowhere"])
def test_a_task_must_be_one_of_the_game(task, settings):
    with pytest.raises(ValueError, match=f"no task '?(of the bazaar|{task})"):
        settings(tasks=("bazaar/open", task))
