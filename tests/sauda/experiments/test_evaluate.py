"""Evaluations: figures that follow from columns, columns from episodes, only like compared."""

import numpy as np
import pytest

from env import ARENA_TASKS, arena, rollout
from sauda.experiments import evaluate as module
from sauda.experiments.evaluate import (
    BazaarRow,
    Cell,
    EvaluationSpec,
    compare_rows,
    evaluate,
    play_cell,
    row,
)
from sauda.experiments.verify import cells, verify
from sauda.games.arena_columns import COMPONENTS, DRAWN, episode_row, events
from sauda.policies import LABS
from sauda.records.seeds import SPLITS
from sauda.records.store import Artifact, load, save

SINGLE, CAREER, RIVALS = (
    f"classic/{name}" for name in ("single_deal", "career_10", "marketplace_arena")
)
TRADE, MARKET = "arena/single_trade", "arena/coalition_market"
TINY = EvaluationSpec((SINGLE, CAREER, RIVALS), ("rule_based", "aggressive"), episodes=6)
PENALTIES = ("invalid_action_penalty", "spam_penalty", "breach_penalty")


@pytest.fixture(scope="module")
def data() -> dict:
    """Two policies on three tasks of the bazaar, six training seeds each."""
    return evaluate(TINY, workers=1)


@pytest.fixture(scope="module")
def labs(arena_evaluation: Artifact) -> dict:
    """Four policies on two tasks of the arena, six hold-out seeds each."""
    return arena_evaluation.data.as_json()


def row_of(data: dict, task: str, policy: str) -> dict:
    (match,) = [r for r in data["rows"] if (r["task"], r["policy"]) == (task, policy)]
    return match


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


# Rows and columns of the arena


def test_a_reward_is_the_utility_less_the_promised_batna_and_the_penalties(labs):
    cells = [(r["others"], r["task"], r["policy"]) for r in labs["rows"]]
    assert len(set(cells)) == len(cells) == 2 * 4
    for others, task, policy in cells:
        c, worlds = labs["episodes"][others][task][policy], labs["worlds"][task]
        utility, stake, batna = (
            np.array(x) for x in (c["utility"], worlds["stake"], worlds["batna"])
        )
        parts = {name: np.array(c["components"][name]) for name in COMPONENTS}
        rewards = (utility - arena.PLAN_WEIGHT * batna) / stake + sum(parts[p] for p in PENALTIES)
        assert c["reward"] == pytest.approx(rewards, abs=1e-4)
        assert c["reward"] == pytest.approx(sum(parts.values()), abs=1e-5)
        without_surge = np.clip((utility - batna) / stake, -1, 1)
        if task == TRADE:
            assert c["grade"] == pytest.approx(without_surge, abs=1e-5)
        else:  # who stays for a demand surge could have done its job alone, too
            assert (np.array(c["grade"]) <= without_surge + 1e-5).all()
        assert {len(c[name]) for name in ("end", "actions", "valid", "jobs", "jobs_had")} == {6}


def test_valid_actions_are_those_that_were_not_refused(labs):
    waits = row_of(labs, TRADE, "wait")
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


def test_a_cell_depends_on_its_seeds_alone(data, labs):
    recorded = labs["episodes"][DRAWN][MARKET]["broker"]
    assert play_cell(Cell(MARKET, "broker"), SPLITS["holdout"][:6]) == recorded
    first = play_cell(Cell(SINGLE, "rule_based"), range(6))
    assert first == data["episodes"][SINGLE]["rule_based"]
    assert first != play_cell(Cell(SINGLE, "rule_based"), range(50_000, 50_006))
    assert evaluate(TINY, workers=2) == data


# Comparisons


def test_only_rows_of_one_game_may_be_compared(data):
    own, other = (
        BazaarRow.model_validate(row_of(data, SINGLE, policy)) for policy in TINY.policies
    )
    assert compare_rows(own, other, "share") == own.share.mean - other.share.mean
    for part in ("task", "opponents"):
        hashes = own.hashes.model_copy(update={part: "0123456789ab"})
        changed = own.model_copy(update={"hashes": hashes})
        with pytest.raises(ValueError, match=rf"{getattr(own.hashes, part)}.*0123456789ab"):
            compare_rows(own, changed, "share")


def test_an_evaluation_comes_out_again_and_a_changed_digit_is_found(tmp_path):
    file, spec = (
        "evaluation/arena-train.json",
        EvaluationSpec((TRADE,), ("wait",), "train", 2, "wait"),
    )
    artifact = save(file, spec.as_json(), evaluate(spec, workers=1), tmp_path)
    assert verify(file, workers=1, root=tmp_path) == []
    data = artifact.data.as_json()
    data["episodes"][DRAWN][TRADE]["wait"]["reward"][1] += 1e-6
    save(file, spec.as_json(), data, tmp_path)
    (place,) = verify(file, workers=1, root=tmp_path)
    assert place.startswith(f"data.episodes['as drawn']['{TRADE}'].wait.reward[1]: recorded")
