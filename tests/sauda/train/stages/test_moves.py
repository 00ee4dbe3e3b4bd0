"""GRPO on moves: what a reply earns, which states are answered, a run on the toy."""

from dataclasses import replace

import numpy as np
import pytest

from env import Offer, get_task
from sauda.commands.train import TOYS
from sauda.evaluation.market.regret import price_error
from sauda.llm.batched_rollout import ModelGame, new_game, play_games
from sauda.llm.registry import PlayerSpec
from sauda.policies.pilot.buyer import trained
from sauda.policies.pilot.values import pilot_values
from sauda.train.model import find_base, tokenizer_of
from sauda.train.run import Heartbeat, Run
from sauda.train.stages import moves
from tests.support.training import Bidder

pytestmark = [pytest.mark.xdist_group("model"), pytest.mark.model]
TOY = moves.Config("toy", **TOYS["moves"] | {"eval_games": 0})


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return find_base("toy", tmp_path_factory.mktemp("toy"), 4)


@pytest.fixture
def rollout(toy, tmp_path):
    """Builds the rollout of a toy whose replies are canned."""
    tokenizer = tokenizer_of(toy)

    class Canned(Bidder):
        tokenizer_of = tokenizer

        def player_spec(self, constrained=False):
            return PlayerSpec(self)

        def refresh(self):
            pass

    def build(*texts):
        with Heartbeat(say=lambda text: None) as heartbeat:
            return moves.Moves(TOY, Run(tmp_path), Canned(tokenizer, *texts), heartbeat)

    return build


def test_the_replies_of_a_group_answer_one_state_that_the_learner_reached(rollout):
    games = rollout('{"offer":30}', '{"offer":40}', '{"offer":45}').play(
        [("bazaar/open", 38_000)] * 2 + [("bazaar/rushed", 38_001)] * 2, 0
    )
    groups = [games[i : i + TOY.num_generations] for i in range(0, len(games), TOY.num_generations)]
    assert [group[0].task.name for group in groups] == ["bazaar/open"] * 2 + ["bazaar/rushed"] * 2
    for group in groups:
        assert len({str(game.turns[-1].obs) for game in group}) == 1
        assert len({game.turns[-1].request.seed for game in group}) == len(group)
        assert all(len(game.turns) == 1 for game in group)
    assert groups[0][0].play.seed == groups[1][0].play.seed == 38_000


def test_a_reply_earns_its_regret_by_the_pilots_values(rollout):
    task = get_task("bazaar/open")
    learner = rollout('{"offer":30}')
    games = [
        ModelGame(task, new_game(task, 38_000).play, (number,))
        for number in range(TOY.num_generations)
    ]
    play_games(games, PlayerSpec(learner.learner))
    for game in games:
        del game.turns[1:]
    earned = learner.rewards(games)
    obs = games[0].turns[0].obs
    values = pilot_values(trained(), obs)
    assert earned == pytest.approx([-values.regret(games[0].turns[0].action)] * len(games))
    best = values.best(obs)
    assert isinstance(best, Offer)
    assert price_error(values, best, obs) == 0
    assert price_error(values, None, obs) is None
    nearer = replace(best, price=best.price - round(obs.reservation / 10))
    assert price_error(values, nearer, obs) == pytest.approx(10, abs=0.5)


def test_a_toy_learns_from_values(tmp_path):
    data = moves.train(TOY, tmp_path / "run")
    rows = data["log"]
    assert [row["step"] for row in rows] == [1, 2, 3]
    assert all(row["reward_max"] <= 0 for row in rows)
    assert all(row["reward_min"] <= row["reward"] <= row["reward_max"] for row in rows)
    assert np.isfinite([row["loss"] for row in rows]).all()
    assert data["games"]["num_generations"] == TOY.num_generations
