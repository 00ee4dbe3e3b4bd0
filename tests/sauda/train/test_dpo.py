"""DPO: pairs from one position, each durable at once; a judge in both orders; kill and resume."""

from dataclasses import replace

import numpy as np
import pytest

from env import get_task
from sauda.llm.turn import PlayerSpec, new_game, play_games
from sauda.llm.types import Reply
from sauda.records.store import read_lines
from sauda.train import dpo
from sauda.train.common import Stopped
from sauda.train.dpo import COMMON, collect, pair_instances, preference, summarize_pairs
from sauda.train.losses import scores_on_cpu
from sauda.train.model import find_base, trainable
from tests.support.models import Canned

pytestmark = pytest.mark.xdist_group("model")
FEW = dpo.DPOSettings(pairs=6, batch_size=3, branches=4)


def bidder(*bids: int) -> Canned:
    """Bids that its seed decides, so that replies to one position differ."""
    return Canned(lambda messages, seed: f'{{"offer":{bids[seed % len(bids)]}}}')


FOUR = bidder(30, 55, 70, 90)


@pytest.mark.slow
def test_a_pair_is_two_replies_to_one_position_and_the_chosen_earned_more():
    player = PlayerSpec(FOUR)
    instances = [("bazaar/open", 40_000 + n) for n in range(12)]
    rows = list(pair_instances(FEW, player, instances))
    assert [(row["task"], row["seed"]) for row in rows] == instances
    pairs = [row for row in rows if "chosen" in row]
    assert len(pairs) >= 3
    for row in pairs:
        assert row["chosen"] != row["rejected"]
        assert row["gap"] >= FEW.min_gap
        game = new_game(get_task(row["task"]), row["seed"], (COMMON,))
        play_games([game], player)
        assert row["chat"] in [[dict(m) for m in turn.request.messages] for turn in game.turns]
    assert rows == list(pair_instances(FEW, PlayerSpec(FOUR), instances))


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
    assert counts["judge"] is None


def test_replies_that_all_earn_the_same_stop_the_search_with_the_reason(tmp_path):
    settings = replace(FEW, patience=6)
    with pytest.raises(Stopped, match="earn the same"):
        collect(settings, PlayerSpec(bidder(40)), tmp_path / "pairs.jsonl")


@pytest.mark.parametrize(
    ("judge", "verdict"),
    [
        (lambda text: "A" if "A: good" in text else "B", 1.0),
        (lambda text: "B" if "A: good" in text else "A", 0.0),
        (lambda text: "A", 0.5),
        (lambda text: "neither of them", None),
        (lambda text: "A buyer should take B", None),
        (lambda text: "Answer: A." if "A: good" in text else "**B**", 1.0),
    ],
)
def test_a_judge_is_asked_in_both_orders(judge, verdict):
    prompts = []

    def asks(messages, seed, schema=None):
        prompts.append(messages[0]["content"])
        return Reply(judge(prompts[-1]), "canned")

    chat = [{"role": "user", "content": "Ask 100."}]
    assert preference(asks, chat, "good", "bad") == verdict
    assert len(prompts) == (1 if verdict is None else 2)
    assert "user: Ask 100." in prompts[0]


def test_a_reply_that_forfeits_is_never_chosen():
    loses = Canned(lambda _, seed: '{"offer":130}' if seed % 2 else '{"offer":60,"say":"59"}')
    instances = [("bazaar/open", 40_000 + n) for n in range(9)]
    rows = list(pair_instances(FEW, PlayerSpec(loses), instances))
    assert all(row.get("chosen", '{"offer":130}') == '{"offer":130}' for row in rows)


def test_pairs_are_learnt_as_often_as_their_grades_lie_apart():
    pairs = [{"gap": gap, "number": number} for number, gap in enumerate([0.1, 0.3] * 1000)]
    drawn = dpo.by_gap(pairs, 0)
    assert len(drawn) == len(pairs)
    assert np.mean([pair["gap"] == 0.3 for pair in drawn]) == pytest.approx(0.75, abs=0.03)
    assert drawn == dpo.by_gap(pairs, 0) != dpo.by_gap(pairs, 1)


@pytest.mark.model
def test_the_loss_sees_what_trl_s_own_head_sees(tmp_path):
    import torch
    from trl.trainer.utils import add_fused_lm_head

    network = trainable(find_base("toy", tmp_path, 4), None)
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
