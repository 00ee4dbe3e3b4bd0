"""Evaluations: figures that follow from columns; the published game; speeds."""

from dataclasses import replace

import numpy as np
import pytest

from env import ARENA_TASKS, Offer, arena, get_task, rollout
from sauda.experiments import evaluate as module
from sauda.experiments.evaluate import row
from sauda.experiments.reproduction import CROWD, agreement, comparison, hold, without_rivals
from sauda.games.arena_columns import DRAWN, episode_row
from sauda.games.arena_words import events
from sauda.played import Cell, cells, play_cell
from sauda.policies import LABS
from sauda.records.schemas.speeds import figure, published_rows
from sauda.records.seeds import SPLITS
from sauda.records.store import Artifact, load

SINGLE = "classic/single_deal"
TRADE, MARKET = "arena/single_trade", "arena/coalition_market"


@pytest.fixture(scope="module")
def labs(arena_evaluation: Artifact) -> dict:
    """Four policies on two tasks of the arena, six hold-out seeds each."""
    return arena_evaluation.data.as_json()


@pytest.mark.parametrize("family", ["classic", "market", "arena"])
def test_the_figures_of_a_row_follow_from_its_columns(family, monkeypatch):
    artifact = load(f"evaluation/{family}-holdout.json")
    recorded, columns = artifact.data.as_json(), cells(artifact)
    baseline = artifact.config["baseline"]
    for old in recorded["rows"]:
        if old["policy"] in (baseline, "expert", "tuned", "broker"):
            monkeypatch.setattr(module, "hashes", lambda cell, old=old: old["hashes"])
            cell = Cell(old["task"], old["policy"])
            worlds = recorded.get("worlds", {}).get(cell.task, {})
            assert row(cell, columns, worlds, baseline) == old


def test_valid_actions_are_those_that_were_not_refused(labs):
    (waits,) = (r for r in labs["rows"] if (r["task"], r["policy"]) == (TRADE, "wait"))
    assert (waits["valid"], waits["jobs"]["mean"], waits["utility"]["mean"]) == (1, 0, 0)
    assert waits["correlation"] is None  # nothing varies

    def accepts_nothing(obs, rng):
        return arena.Action("finish" if obs.own.recent else "accept_offer", offer_id="o_9")

    task = ARENA_TASKS[TRADE]
    refused = episode_row(task, rollout(task, accepts_nothing, 3))
    assert (refused["actions"], refused["valid"]) == (2, 1)
    assert refused["components"]["invalid_action_penalty"] == pytest.approx(-0.10)


def test_an_example_is_a_step_that_can_be_played_again(labs):
    assert labs["examples"]
    for example in labs["examples"]:
        task = ARENA_TASKS[example["task"]]
        played = rollout(task, LABS[example["policy"]], example["seed"])
        own = [event for event in events(played, "lab_0") if event.reward is not None]
        step = own[example["step"] - 1]
        assert (step.words, step.code) == (example["words"], example["code"])
        amounts = [getattr(event.reward, example["component"]) for event in own]
        assert example["amount"] == pytest.approx(max(amounts, key=abs), abs=1e-6) != 0


def test_a_cell_depends_on_its_seeds_alone(evaluation, labs):
    recorded = labs["episodes"][DRAWN][MARKET]["broker"]
    assert play_cell(Cell(MARKET, "broker"), SPLITS["holdout"][:6]) == recorded
    data, first = evaluation.data.as_json(), play_cell(Cell(SINGLE, "rule_based"), range(8))
    assert first == data["episodes"][SINGLE]["rule_based"]
    assert first != play_cell(Cell(SINGLE, "rule_based"), range(50_000, 50_008))


# Our classic family beside the published game -----------------------------------------------------

PUBLISHED = load("published.json")
EVERY_ROUND = published_rows(PUBLISHED, "reference-every-round")


def alone(name: str):
    game = get_task(f"classic/{name}")
    return without_rivals(game) if name == CROWD else game


@pytest.mark.parametrize("row", [r for r in EVERY_ROUND if r["policy"] == "hold"])
def test_a_buyer_that_holds_plays_as_many_rounds_as_in_the_published_game(row):
    game = alone(row["task"])
    deals = [d for seed in range(12) for d in rollout(game, hold, seed).final.table.past]
    assert max(deal.rounds for deal in deals) == row["longest"]


def test_a_figure_that_is_off_is_seen():
    cell = {"end": "A" * 100, "share": [0.5, 0.7] * 50, "rounds": [3] * 100}
    reference = {"task": "t", "policy": "p", "episodes": 100, "surplus": 0.6, "surplus_se": 0.01}
    assert comparison(cell, reference, "surplus")["z"] == 0
    far = comparison(cell, reference | {"surplus": 0.7}, "surplus")
    assert abs(far["z"]) > 3
    assert comparison(cell, reference | {"longest": 3}, "longest")["equal"]
    assert not comparison(cell, reference | {"longest": 2}, "longest")["equal"]


@pytest.mark.parametrize("name", ["single_deal", CROWD])
def test_a_price_of_numpys_is_played_like_pythons(name):
    def python(obs, rng):
        return Offer(round(0.4137 * obs.opening_ask + obs.round * 1.13, 2))

    def numpys(obs, rng):
        return replace(python(obs, rng), price=np.float64(python(obs, rng).price))

    game = get_task(f"classic/{name}")
    for seed in range(5):
        one, other = (rollout(game, policy, seed).final.table for policy in (python, numpys))
        assert one == other
        assert all(type(bid) is float for bid in other.bids)


# Speeds -------------------------------------------------------------------------------------------


def test_a_figure_has_the_median_and_the_95th_percentile_of_its_rounded_samples():
    timing = figure("reply", "s", [0.123456, 3.0, 1.0], p95=True, cores=2)
    assert timing["samples"] == [0.1235, 3.0, 1.0]
    assert (timing["n"], timing["median"], timing["cores"]) == (3, 1.0, 2)
    assert timing["p95"] == 2.8  # nine tenths of the way from 1 to 3
    assert "p95" not in figure("import", "s", [1.0])


def test_figures_with_and_without_an_error_are_counted_apart():
    rows = [{"z": z, "equal": None} for z in (-1.5, 2.5, 3.5)] + [{"z": None, "equal": True}] * 2
    counted = {"figures": 5, "without_error": 2, "without_error_equal": 2}
    assert agreement(rows) == counted | {"within_two": 1, "within_three": 2}
