"""The pilot's training: what it may learn from, whom it credits, and that a run can be resumed."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from env import CATALOGUE, draw_games, play_batch
from sauda.policies.pilot import FEATURES, Network
from sauda.records.seeds import UNSEEN_SELLER, is_unseen_listing
from sauda.records.store import ROOT, new_artifact
from sauda.train import pilot
from sauda.train.common import Stopped
from sauda.train.pilot import PPO, Learner, PilotSettings, advantages, train
from sauda.train.pilot_games import SEEN_PRICES, SEEN_TYPES, Hand, Recorder, play_fresh
from sauda.train.tuned import SearchSettings, replay, search

TINY = PilotSettings(rounds=2, apart=2, games=60, save_rounds=2,
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
    played, results = play_fresh(name, 50, bidding(70), Hand(5.0), np.random.default_rng(0))
    assert played.reward.sum() == pytest.approx(results.parts.sum(), rel=1e-4)
    first = len(results.grade)  # all games are running at their first turn
    for game in range(first):
        turn, total = game, 0.0
        while turn >= 0:
            total, turn = total + played.reward[turn], played.after[turn]
        assert total == pytest.approx(results.parts[:, game].sum(), abs=1e-5)


def test_the_hand_errs_by_as_much_as_it_says_and_slips_as_often():
    played, _ = play_fresh("bazaar/open", 400, bidding(60), Hand(4.0), np.random.default_rng(2))
    assert np.std(played.price - played.meant) == pytest.approx(4.0, rel=0.1)
    assert played.walked.mean() < 0.01
    slipping = Recorder(bidding(5), Hand(0.0, slips=0.5), np.random.default_rng(3))
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
    played, _ = play_fresh("bazaar/open", 300, learner.network(), Hand(5.0), rng)
    paid = replace_reward(played, (played.price > played.meant).astype(np.float32))
    figures = learner.update("bazaar/open", paid, 5.0, 1.0, rng)
    meant = learner.network()(played.inputs.astype(float)).price
    assert meant.mean() > played.meant.mean() + 0.3
    assert figures["approx_kl"] > 0


def replace_reward(played, reward):
    """Each turn as a game of its own, with that reward."""
    return played._replace(reward=reward, after=np.full(len(reward), -1))


def test_a_stopped_run_ends_as_an_unbroken_one_and_another_seed_otherwise(tmp_path, monkeypatch):
    whole = train(TINY, tmp_path / "whole")

    def stop(figures, step, folder):
        if step == 4:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(pilot, "check_finite", stop)
        with pytest.raises(KeyboardInterrupt):
            train(TINY, tmp_path / "cut")
    with pytest.raises(Stopped, match="--resume"):
        train(TINY, tmp_path / "cut")
    resumed = train(TINY, tmp_path / "cut", resume=True)
    assert resumed["resumed"] == [2]
    assert (resumed["sha256"], resumed["final"]) == (whole["sha256"], whole["final"])
    assert train(replace(TINY, seed=1), tmp_path / "other")["sha256"] != whole["sha256"]
    assert json.loads(json.dumps(whole))["log"][0]["step"] == 1


def test_the_networks_part_after_the_rounds_together(tmp_path):
    together = train(replace(TINY, apart=0), tmp_path / "together")["networks"]
    apart = train(TINY, tmp_path / "apart")["networks"]
    assert together["deadline"] == together["deal"]
    assert apart["deadline"] != apart["deal"]
    assert apart["deal"] != together["deal"]


def test_the_search_finds_better_numbers_and_verify_finds_the_same_ones():
    tiny = SearchSettings(population=12, elite=3, generations=4, games=40)
    found = search(tiny)
    assert found["log"][-1]["elite"] > found["log"][0]["mean"]
    assert search(replace(tiny, seed=1))["price"] != found["price"]
    assert replay(new_artifact("training/tuned.json", asdict(tiny), found), 1, ROOT) == found
