"""Learning from games that the model plays: DPO from pairs of replies, GRPO from rewards."""

from dataclasses import replace

import numpy as np
import pytest

from env import get_task, instance_stream, seed_of
from env.bazaar.prompt import completion
from sauda.llm.engine import Sampling, prompt_ids
from sauda.llm.turn import PlayerSpec, new_game, play_games
from sauda.records.seeds import is_unseen_game
from sauda.records.store import read_lines
from sauda.train import dpo, grpo
from sauda.train.common import Run, Stopped
from sauda.train.dpo import COMMON, collect, pair_instances, summarize_pairs
from sauda.train.losses import scores_on_cpu
from sauda.train.model import Learner, Sampled, as_sequence, tokenizer_of, trainable
from sauda.train.people_rows import task_of
from tests.support.models import Canned, own_moves

# DPO: pairs from one position --------------------------------------------------------------------

pytestmark = pytest.mark.xdist_group("model")
FEW = dpo.DPOSettings(pairs=6, batch_size=3, branches=4)


def bidder(*bids: int) -> Canned:
    """Bids that its seed decides, so that replies to one position differ."""
    return Canned(lambda messages, seed: f'{{"raise":{bids[seed % len(bids)]}}}')


FOUR = bidder(30, 55, 70, 90)


@pytest.mark.parametrize("salt", [(), (COMMON,), (0, 0), (1, 0)])
def test_no_reply_is_drawn_from_the_stream_that_drew_its_game(salt):
    game = new_game(get_task("bazaar/open-3"), 40_000, salt)
    assert game.seed() != seed_of(instance_stream(40_000))


@pytest.mark.slow
def test_a_pair_is_two_replies_to_one_position_and_the_chosen_earned_more():
    player, settings = PlayerSpec(FOUR), replace(FEW, min_gap=0.1)
    instances = [("bazaar/people", 40_000 + n) for n in range(24)]
    rows = list(pair_instances(settings, player, instances))
    assert [(row["task"], row["seed"]) for row in rows] == instances
    pairs = [row for row in rows if "chosen" in row]
    assert len(pairs) >= 3
    for row in pairs:
        assert row["chosen"] != row["rejected"]
        assert row["gap"] >= settings.min_gap
        game = new_game(task_of(row["task"], "training"), row["seed"], (COMMON,))
        play_games([game], player)
        assert row["chat"] in [[dict(m) for m in turn.request.messages] for turn in game.turns]
    assert rows == list(pair_instances(settings, PlayerSpec(FOUR), instances))


@pytest.mark.nightly
def test_every_pair_is_on_disk_at_once_and_none_is_looked_for_twice(tmp_path):
    file = tmp_path / "pairs.jsonl"

    def dies(messages, seed):
        if len(read_lines(file)) >= 6:
            raise KeyboardInterrupt
        return FOUR.write(messages, seed)

    with pytest.raises(KeyboardInterrupt):
        collect(FEW, PlayerSpec(Canned(dies)), file)
    before = read_lines(file)
    assert len(before) == 6
    with file.open("ab") as half:
        half.write(b'{"task": "bazaar/op')  # a kill in the middle of a line
    collected = collect(FEW, PlayerSpec(FOUR), file)
    assert len(collected) == 6
    assert read_lines(file)[:6] == before
    tried = [(row["task"], row["seed"]) for row in read_lines(file)]
    assert len(tried) == len(set(tried))
    whole = collect(FEW, PlayerSpec(FOUR), tmp_path / "whole.jsonl")
    assert [row["chosen"] for row in collected] == [row["chosen"] for row in whole]
    counts = summarize_pairs(collected)
    assert counts["n"] == 6
    assert sum(counts["moves"].values()) == 6


def test_replies_that_all_earn_the_same_stop_the_search_with_the_reason(tmp_path):
    settings = replace(FEW, patience=6)
    with pytest.raises(Stopped, match="earn the same"):
        collect(settings, PlayerSpec(bidder(40)), tmp_path / "pairs.jsonl")


def test_a_reply_that_forfeits_is_never_chosen():
    loses = Canned(lambda _, seed: '{"raise":130}' if seed % 2 else '{"raise":60,"say":"59"}')
    instances = [("bazaar/open-3", 40_000 + n) for n in range(9)]
    rows = list(pair_instances(FEW, PlayerSpec(loses), instances))
    assert all(row.get("chosen", '{"raise":130}') == '{"raise":130}' for row in rows)


def test_pairs_are_learnt_as_often_as_their_grades_lie_apart():
    pairs = [{"gap": gap, "number": number} for number, gap in enumerate([0.1, 0.3] * 1000)]
    drawn = dpo.by_gap(pairs, 0)
    assert len(drawn) == len(pairs)
    assert np.mean([pair["gap"] == 0.3 for pair in drawn]) == pytest.approx(0.75, abs=0.03)
    assert drawn == dpo.by_gap(pairs, 0) != dpo.by_gap(pairs, 1)


@pytest.mark.model
def test_the_loss_sees_what_trl_s_own_head_sees(toy):
    import torch
    from trl.trainer.utils import add_fused_lm_head

    network = trainable(toy, None)
    head = ("log_probs", "entropy", "mean_logits", "is_top1")
    add_fused_lm_head(network.get_base_model(), outputs=head)
    ids = torch.randint(5, 40_000, (2, 30), generator=torch.Generator().manual_seed(1))
    ids[1, :20] = ids[0, :20]
    real = torch.ones_like(ids)
    real[1, 27:] = 0
    labels = ids.clone()
    labels[:, :20] = -100
    labels[1, 27:] = -100
    inputs = {"input_ids": ids, "attention_mask": real, "labels": labels, "fused_lm_head": True}
    theirs = network(**inputs)
    scores_on_cpu(network.get_base_model())
    ours = network(**inputs)
    for name in head:
        torch.testing.assert_close(ours[name], theirs[name], atol=1e-4, rtol=1e-4)
    assert (ours.label_mask == theirs.label_mask).all()


# GRPO: games as sequences, the loss, equal rewards ------------------------------------------------

TOY = grpo.GRPOSettings(
    model="toy", init_adapter="", prompts_per_step=2, num_generations=4, max_steps=3,
    per_device_train_batch_size=4, constrained=True, save_steps=1, acceptance_prompts=3,
)  # fmt: skip


class Bidder:
    """Canned replies whose tokens are known: a move as canonical text, or with spaces."""

    def __init__(self, tokenizer, *texts):
        self.tokenizer, self.texts = tokenizer, texts

    def batch(self, chats, seeds, schemas):
        turns = map(own_moves, chats)
        return [self.sampled(self.texts[n % len(self.texts)]) for n in turns]

    def sampled(self, text):
        ids = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return Sampled(text, "canned", len(ids), "object", ids=tuple(ids))


@pytest.fixture
def trainer_of(toy, tmp_path):
    """The trainer of some settings; its rollout function plays the games."""
    return lambda settings: grpo.make_trainer(
        Run(settings, tmp_path, toy), grpo.instances(settings)
    )


@pytest.mark.model
def test_the_learnt_tokens_of_a_game_are_the_sampled_ones(toy):
    tokenizer = tokenizer_of(toy)
    game = new_game(get_task("bazaar/open-3"), 30_000)
    texts = ('{"raise":20}', '{"raise": 21}', ' {"walk":true}')
    play_games([game], PlayerSpec(Bidder(tokenizer, *texts)))
    row = as_sequence(game.turns, tokenizer)
    learnt = [
        id for id, label in zip(row["input_ids"], row["labels"], strict=True) if label != -100
    ]
    text = tokenizer.decode(learnt)
    assert text == '{"raise":20} {"walk":true}'  # the second is no canonical form
    whole = tokenizer.decode(row["input_ids"])
    assert completion(game.turns[1].parsed.proposal, game.turns[1].obs) == '{"raise":21}'
    assert '{"raise":21}<|im_end|>' in whole  # as which it stands in the conversation


@pytest.mark.slow
@pytest.mark.model
def test_instances_are_training_games_that_no_evaluation_is_about():
    settings = grpo.GRPOSettings(max_steps=20)
    instances = grpo.instances(settings)
    assert len(set(instances)) == len(instances) == 80
    assert not any(is_unseen_game(get_task(name), seed) for name, seed in instances)
    with pytest.raises(ValueError, match="too few training seeds"):
        grpo.instances(replace(settings, max_steps=10**6))


@pytest.mark.model
def test_the_loss_sees_what_trl_s_own_pass_sees(toy, trainer_of):
    """Padded on both sides, read once where rows begin alike, projected where it is learnt."""
    import torch
    from trl import GRPOTrainer

    trainer = trainer_of(TOY)
    played = [new_game(get_task("bazaar/open-3"), seed) for seed in (30_000, 30_003, 30_005)]
    texts = ('{"raise":20}', '{"raise":25,"say":"#, bolo?"}')
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
    torch.testing.assert_close(ours * mask, theirs * mask, atol=1e-4, rtol=1e-3)
    torch.testing.assert_close(entropy * mask, their_entropy * mask, atol=1e-4, rtol=1e-3)
    assert ours.requires_grad


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


@pytest.mark.model
def test_rewards_that_are_all_equal_stop_the_run_with_the_reason(tmp_path):
    settings = replace(TOY, constrained=False, patience=2)  # a random network writes no moves
    with pytest.raises(Stopped, match="the games of every group earned the same"):
        grpo.train(settings, tmp_path)
    assert (tmp_path / "checkpoint-1").exists()


@pytest.mark.parametrize("gave", ["all", None, float("nan")])
def test_a_reward_of_ones_own_that_is_no_number_stops_the_run(gave):
    games = object.__new__(grpo.Games)
    games.settings, games.earned = grpo.GRPOSettings(reward="mine:reward"), lambda game: gave
    with pytest.raises(Stopped, match=f"the reward mine:reward gave {gave!r}, not a finite number"):
        games.earn(None)


@pytest.mark.parametrize("task", ["classic/career_10", "classic/marketplace_arena"])
def test_a_game_that_is_not_one_conversation_is_refused(task):
    with pytest.raises(ValueError, match=f"of {task}, with several deals or sealed bids"):
        grpo.GRPOSettings(tasks=("bazaar/open-3", task))
