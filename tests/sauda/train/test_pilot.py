"""The pilot's training: what it may learn from, whom it credits, and that a run can be resumed."""

import json
from dataclasses import replace

import numpy as np
import pytest

from env import CATALOGUE, play_batch
from sauda.policies.pilot import FEATURES, Network
from sauda.records.seeds import UNSEEN_SELLER, is_unseen_listing
from sauda.train.pilot.games import HIDDEN, SEEN_PRICES, SEEN_TYPES, Hand, Recorder, play
from sauda.train.pilot.ppo import PPO, Learner, advantages
from sauda.train.pilot.run import Config, train
from sauda.train.run import Stopped

TINY = Config(rounds=2, apart=2, games=60, save_rounds=2,
              tasks=("bazaar/open", "bazaar/rushed"), evaluated=40,
              ppo=PPO(minibatch=256))  # fmt: skip


def bidding(price: float, walk: float = -9.0) -> Network:
    """A network that means the same in every position."""
    outputs = np.array([(price - 60) / 40, walk + 4])
    return Network((np.zeros((2, len(FEATURES))),), (outputs,))


def test_no_training_game_has_an_unseen_seller_or_an_unseen_listing():
    assert UNSEEN_SELLER not in SEEN_TYPES
    assert len(SEEN_TYPES) == 3
    seen = [item.list_price for item in CATALOGUE if not is_unseen_listing(item)]
    assert sorted(SEEN_PRICES.tolist()) == sorted(seen)
    assert len(seen) < len(CATALOGUE)


@pytest.mark.parametrize("name", ["bazaar/open", "bazaar/rushed"])
def test_the_rewards_of_a_game_are_the_grades_of_its_deals(name: str):
    played, results = play(name, 50, bidding(70), Hand(5.0), np.random.default_rng(0))
    assert played.reward.sum() == pytest.approx(results.parts.sum(), rel=1e-4)
    first = len(results.grade)  # all games are running at their first turn
    for game in range(first):
        turn, total = game, 0.0
        while turn >= 0:
            total, turn = total + played.reward[turn], played.after[turn]
        assert total == pytest.approx(results.parts[:, game].sum(), abs=1e-5)


def test_the_hand_errs_by_as_much_as_it_says_and_slips_as_often():
    played, _ = play("bazaar/open", 400, bidding(60), Hand(4.0), np.random.default_rng(2))
    assert np.std(played.price - played.meant) == pytest.approx(4.0, rel=0.1)
    assert played.walked.mean() < 0.01
    slipping = Recorder(bidding(5), Hand(0.0, slips=0.5), np.random.default_rng(3))
    games = play("bazaar/open", 2, bidding(5), Hand(1.0), np.random.default_rng(0))
    assert games[0].hidden.shape[1] == HIDDEN
    from env import draw_games

    drawn = draw_games("bazaar/open", 800, np.random.default_rng(0))
    steady = play_batch(drawn, Recorder(bidding(5), Hand(0.0), np.random.default_rng(3)))
    slips = play_batch(drawn, slipping)
    assert slips.deals[0].rounds.mean() < steady.deals[0].rounds.mean() / 2


def test_advantages_are_those_of_the_definition():
    rng = np.random.default_rng(0)
    values, reward = rng.normal(size=6), rng.normal(size=6)
    after = np.array([2, 3, 4, -1, -1, -1])  # games of turns 0 2 4, 1 3, 5
    gains = advantages(reward, values, after, 0.9)
    for game in ([0, 2, 4], [1, 3], [5]):
        for start in range(len(game)):
            rest, total = game[start:], 0.0
            for k, turn in enumerate(rest):
                later = values[rest[k + 1]] if k + 1 < len(rest) else 0.0
                total += 0.9**k * (reward[turn] + later - values[turn])
            assert gains[rest[0]] == pytest.approx(total)


def test_an_update_moves_the_price_toward_what_paid():
    """Where only prices above the mean are rewarded, the network means a higher price."""
    learner = Learner(PPO(learning_rate=3e-3, minibatch=512), ["bazaar/open"], 0)
    rng = np.random.default_rng(0)
    played, _ = play("bazaar/open", 300, learner.network(), Hand(5.0), rng)
    paid = replace_reward(played, (played.price > played.meant).astype(np.float32))
    figures = learner.update("bazaar/open", paid, 5.0, 1.0, rng)
    meant = learner.network()(played.inputs.astype(float)).price
    assert meant.mean() > played.meant.mean() + 0.3
    assert figures["approx_kl"] > 0


def replace_reward(played, reward):
    """Each turn as a game of its own, with that reward."""
    return played._replace(reward=reward, after=np.full(len(reward), -1))


def test_the_same_settings_train_the_same_pilot_and_a_resumed_run_too(tmp_path):
    whole = train(TINY, tmp_path / "whole")
    train(TINY, tmp_path / "again")
    log = (tmp_path / "again" / "log.jsonl").read_text().splitlines()
    (tmp_path / "again" / "log.jsonl").write_text("\n".join(log[:3]) + "\n")
    for file in (tmp_path / "again" / "checkpoint-4").iterdir():
        file.unlink()  # as if it was stopped after its second round
    (tmp_path / "again" / "checkpoint-4").rmdir()
    resumed = train(TINY, tmp_path / "again", resume=True)
    assert resumed["resumed"] == [2]
    assert resumed["sha256"] == whole["sha256"]
    assert resumed["final"] == whole["final"]
    other = train(replace(TINY, seed=1), tmp_path / "other")
    assert other["sha256"] != whole["sha256"]


def test_the_networks_part_after_the_rounds_together(tmp_path):
    together = train(replace(TINY, apart=0), tmp_path / "together")["networks"]
    apart = train(TINY, tmp_path / "apart")["networks"]
    assert together["deadline"] == together["deal"]
    assert apart["deadline"] != apart["deal"]
    assert apart["deal"] != together["deal"]


def test_a_run_is_not_overwritten_and_its_data_is_json(tmp_path):
    data = train(replace(TINY, rounds=1, apart=0), tmp_path)
    assert json.loads(json.dumps(data))["log"][0]["step"] == 1
    with pytest.raises(Stopped, match="--resume"):
        train(replace(TINY, rounds=1, apart=0), tmp_path)
