"""Measures of language: acts that are read, roles that are learnt, and roles that are played."""

import math
import re
from dataclasses import asdict, replace
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

import env
from env import rollout
from panels.training.roles import cause_sentences, schedule_verdict
from sauda.experiments import role_play
from sauda.experiments.reading import acts, part_of
from sauda.experiments.role_play import SEATS, play_role, scenarios
from sauda.experiments.runs import compare, recompute_role
from sauda.experiments.verify import verify
from sauda.language.acts import DOLLARS, Act, Dialogue, Turn
from sauda.llm.engine import Sampling
from sauda.policies import BUYERS, SELLERS
from sauda.records.schemas.base import Row
from sauda.records.schemas.training import ROLE_RUNS
from sauda.records.store import Artifact, differences, load, save, validate
from sauda.statistics import best_step, loss_and_perplexity
from tests.support.models import Canned

# Acts ---------------------------------------------------------------------------------------------

TURNS = (
    Turn("buyer", "Hi", Act("intro")),
    Turn("seller", "It is $500", Act("init-price", 500.0)),
    Turn("buyer", "Would you take $300?", Act("counter-price", 300.0)),
    Turn("seller", "no", Act("agree")),  # annotated wrongly, so read wrongly
    Turn("seller", "", Act("quit")),
)


def dialogue(part: str, turns=TURNS) -> Dialogue:
    """A dialogue of one part: the first posting whose digest puts it there."""
    made = (Dialogue(f"x/{i}", f"lamp {i}", "", {}, turns, DOLLARS, 500.0) for i in count())
    return next(one for one in made if part_of(one) == part)


def measure() -> dict:
    unlabelled = replace(dialogue("tuning"), turns=(Turn("buyer", "Hi"), Turn("seller", "Hello")))
    chosen = [dialogue("tuning"), dialogue("held_out", TURNS[:3]), unlabelled]
    return acts(dialogues=chosen, counts={"used": 3, "not JSON": 2})


def test_turns_with_words_are_counted_by_act_and_prices_by_the_declared_currency():
    data = measure()
    tuning, held_out = data["parts"]
    assert (tuning["n"], tuning["right"], tuning["accuracy"]["mean"]) == (4, 3, 0.75)
    assert (held_out["n"], held_out["right"], held_out["usual_of"]) == (3, 3, [1])
    rows = {(row["part"], row["intent"]): row for row in data["rows"]}
    agree, disagree = rows["tuning", "agree"], rows["tuning", "disagree"]
    assert (agree["annotated"], agree["read"], agree["precision"]) == (1, 0, None)
    assert (disagree["annotated"], disagree["read"], disagree["recall"]) == (0, 1, None)
    assert {"part": "tuning", "annotated": "agree", "read": "disagree", "n": 1} in data["confusion"]
    found = {(row["part"], row["currency"]): (row["found"], row["n"]) for row in data["prices"]}
    assert (found["tuning", "USD"], found["tuning", "INR"]) == ((2, 2), (0, 2))
    assert data["counts"] == {"used": 3, "not JSON": 2, "not annotated": 1}


def test_verify_names_a_figure_that_does_not_follow_from_its_counts(tmp_path):
    data = measure()
    data["parts"][1]["right"] = 2
    save("acts.json", {}, data, tmp_path)
    assert verify("acts.json", root=tmp_path) == ["data.parts[1].right: recorded 2, played again 3"]


def test_what_cannot_be_measured_is_refused():
    with pytest.raises(ValueError, match="too few are annotated"):
        acts(dialogues=[dialogue("tuning")], counts={})


# Losses of roles ----------------------------------------------------------------------------------

HOLDOUT = {"d1": (1.0, 10), "d2": (2.0, 20), "d3": (0.5, 10)}  # nats a token, tokens


def role_run(name: str, shift: float = 0.0, **changes: Any) -> Artifact:
    """The run called `name`, its hold-out losses `shift` nats a token above HOLDOUT."""
    _, role, *control = name.split("-")
    own = ("buyer", "seller") if role == "generalist" else (role,)
    sides = own if control else ("buyer", "seller")
    act = {"intent": "counter-price", "price": 1500.0}
    reply = {
        "dialogue": "d1", "turn": 1, "intention": "Name another price: ₹1,500.",
        "text": "Let us say <b>₹1,500</b>.", "meant": act, "tokens": 9, "fault": "",
    }  # fmt: skip
    content = {
        "stage": "roles", "role": role, "schedule": not control,
        "base": {"name": "toy", "origin": "made up", "sha256": "00", "precision": "bf16"},
        "taught": {"dialogues": 4, "roles": {role: 4}, "acts": {"agree": 2},
                   "tokens": {"all": 100, "in_loss": 20}, "sha256": "00"},
        "log": [
            {"step": i, "num_tokens": 100 * i, "seconds": 10.0 * i, "step_time": 8.0,
             "loss": 3.0 / i, "loss_average": 2.0, "learning_rate": 1e-3 * i,
             "learning_rate_lowest": 1e-4, "grad_norm": 0.5, "mean_token_accuracy": 0.5,
             "entropy": 1.0, "memory": 1.5}
            for i in (1, 2)
        ],
        "resumed": [],
        "validations": [
            {"step": i, "dialogues": 2, "tokens": 30, "loss": loss, "perplexity": perplexity}
            for i, loss, perplexity in ((0, 4.0, 54.598150033144236), (2, 1.0, 2.718281828459045))
        ],
        "best_step": 2,
        "holdout": [
            {"dialogue": d, "role": side, "off_role": side not in own, "tokens": tokens,
             "nats": (loss + shift) * tokens}
            for side in sides for d, (loss, tokens) in HOLDOUT.items()
        ],
        "acceptance": {"n": 1, "valid": 1.0, "same_kind": 1.0, "tokens": 9.0, "faults": [],
                       "passed": True},
        "replies": [
            reply | {"role": side, "off_role": False, "read": act}
            if side in own
            else reply | {"role": side, "off_role": True, "read": None}
            for side in sides
        ],
        "hardware": {"device": "a made-up CPU", "cores": 1, "threads": 1, "packages": {}},
        "seconds": 20.0, "num_tokens": 200,
        "sample": [{"text": "Hi", "in_loss": True}],
    }  # fmt: skip
    made = {"command": "made up", "commit": None, "dirty": None, "created": "2026-01-01"}
    data = validate("role_run/1", content | changes)
    return Artifact(f"training/{name}.json", "role_run/1", "measured", made, {}, data)


SHIFTS = {"control": 0.2, "cycle": 0.3, "rate": -0.1}  # nats per token, by the end of a name
RUNS = {name: role_run(name, SHIFTS.get(name.split("-")[-1], 0.0)).data for name in ROLE_RUNS}


def test_the_best_checkpoint_is_the_first_with_the_lowest_loss_and_never_the_base():
    figures = loss_and_perplexity([{"nats": 4.0, "tokens": 1}, {"nats": 2.0, "tokens": 5}])
    assert figures == {"loss": 1.0, "perplexity": math.e}
    losses = {0: 1.0, 2: 3.0, 4: 2.0, 6: 2.0}
    assert best_step({"step": step, "loss": loss} for step, loss in losses.items()) == 4
    with pytest.raises(ValueError, match="no checkpoint has a validation loss"):
        best_step([{"step": 0, "loss": 1.0}])


def test_differences_are_paired_by_dialogue_and_told_with_their_sign():
    rows = [Row(**row) for row in compare(RUNS)["contrasts"]]
    assert (rows[0].n, rows[0].tokens) == (3, 40)
    assert rows[0].difference.as_json() == pytest.approx({"mean": -0.2, "low": -0.2, "high": -0.2})
    cycles, rates = cause_sentences(rows)
    assert cycles.count("-0.300 [-0.300, -0.300]") == cycles.count("(lower)") == 2
    assert rates.count("+0.100 [+0.100, +0.100]") == rates.count("(higher)") == 2
    assert schedule_verdict(rows).startswith("Yes: ")


@pytest.mark.parametrize("changed", [{}, {"best_step": 0}, {"num_tokens": 1}])
def test_a_changed_best_step_or_count_of_tokens_does_not_verify(changed, tmp_path):
    run = role_run("roles-buyer-control", **changed)
    faults = list(differences(run.data.as_json(), recompute_role(run, 1, tmp_path), "data"))
    assert [fault.partition(":")[0] for fault in faults] == [f"data.{name}" for name in changed]


# Role play ----------------------------------------------------------------------------------------

SEEDS = scenarios(3)


def talker(more: int = 0, silent_every: int = 0) -> Canned:
    """Says the price of the intention, plus `more`; every `silent_every`-th reply has no price."""
    replies = count(1)

    def write(messages, seed):
        if silent_every and next(replies) % silent_every == 0:
            return "What a nice piece."
        price = re.search(r"₹([\d,]+)", messages[-1]["content"].splitlines()[-1])
        return f"How about ₹{int(price[1].replace(',', '')) + more}?" if price else "Goodbye."

    return Canned(write)


@pytest.mark.parametrize("seat", SEATS)
def test_what_is_read_from_the_words_is_played(seat):
    said = play_role("linear", seat, talker(), SEEDS, batch=2)
    assert [row["seed"] for row in said] == SEEDS
    assert all(row["said"] == row["offers"] > 0 == row["unsaid"] for row in said)
    assert [row["share"] for row in said] == role_play.script_shares("linear", seat, SEEDS).tolist()
    wrong = play_role("linear", seat, talker(more=7), SEEDS)
    assert all(row["said"] == row["unsaid"] == 0 < row["offers"] for row in wrong)
    silent = play_role("linear", seat, talker(silent_every=3), SEEDS)
    lost = [row for row in silent if row["unsaid"]]
    assert lost
    assert all((row["unsaid"], row["share"]) == (1, 0.0) for row in lost)  # the game is forfeited
    assert all(row["said"] == row["offers"] - 1 for row in lost)


def test_a_run_records_the_weights_that_spoke(monkeypatch):
    about = dict.fromkeys(("source", "origin", "cpu"), "") | {"sha256": "a"}
    model = SimpleNamespace(**about, sampling=asdict(Sampling()))
    monkeypatch.setattr(role_play, "NamedModel", lambda name: talker())
    monkeypatch.setattr(role_play, "load_once", lambda name: model)
    data = role_play.role_play(("mini",), games=2)
    assert data["models"]["mini"]["sha256"] == "a"


def test_a_script_that_plays_through_language_plays_the_same_games_without():
    task = replace(role_play.PAIR_TASK, opponents={"seller": SELLERS["boulware"]})
    final = [rollout(task, BUYERS["boulware"], seed).final for seed in SEEDS]
    for seat in SEATS:
        bare = [round(env.shares(state, seat)[0], 6) for state in final]
        assert role_play.script_shares("boulware", seat, SEEDS).tolist() == bare


def test_the_artifact_is_replayed_from_the_recorded_words(tmp_path):
    recorded = load("role_play.json")
    changed = recorded.data.as_json()
    del changed["games"][1:]
    changed["games"][0]["games"][0]["replies"][0] = "How about ₹1?"
    save("role_play.json", recorded.config, changed, tmp_path)
    assert any("games[0].games[0]" in fault for fault in verify("role_play.json", root=tmp_path))
