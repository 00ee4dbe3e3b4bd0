"""Training: curves of runs, roles and examples, small made-up ones and those recorded."""

import re
from collections.abc import Iterator
from functools import partial
from statistics import fmean
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest

from panels.training import roles, tab
from panels.training.curves import (
    EVALUATION,
    GRADES,
    SHARED_METRICS,
    View,
    comparable,
    recorded,
    together,
)
from panels.training.data import ANY, TONES, corpus, dialogue_view, intent_of, loss_mask
from panels.training.tab import from_query
from panels.ui.wiring import read_query
from sauda.language.acts import INTENTS, view
from sauda.players import BASE, GENERALIST, SPECIALISTS, policy_label
from sauda.records.kinds import training_runs
from sauda.records.schemas.base import Interval, Row
from sauda.records.store import Artifact, load, validate
from tests.support.golden import assert_golden, plain
from tests.support.measured import changed


def step(number: int, **fields: Any) -> dict[str, Any]:
    at = {"step": number, "num_tokens": 1000 * number, "seconds": 60.0 * number}
    return at | {"loss": 1.0, "learning_rate": 1e-5, "grad_norm": 0.5} | fields


def made_up(stage: str, log: list[dict[str, Any]], **fields: Any) -> Artifact:
    """A run of `stage` that nobody has trained."""
    check = {
        "n": 4, "valid": 1.0, "same_kind": 0.5, "price_off": None, "tokens": 9.0,
        "faults": [], "completions": [], "passed": True,
    }  # fmt: skip
    content = {
        "stage": stage,
        "base": {"name": "toy", "origin": "made up", "sha256": "00", "precision": "bf16"},
        "adapter": {"name": stage, "sha256": "00", "bytes": 1},
        "log": log, "resumed": [], "acceptance": check,
        "hardware": {"device": "a made-up CPU", "cores": 1, "threads": 1, "packages": {}},
        "seconds": 180.0, "num_tokens": 3000,
        "sample": [{"text": "<b>Ask 91", "in_loss": False}, {"text": "60", "in_loss": True}],
    }  # fmt: skip
    made = {"command": "made up", "commit": None, "dirty": None, "created": "2026-01-01"}
    data = validate("training_run/1", content | fields)
    return Artifact(f"training/{stage}.json", "training_run/1", "measured", made, {}, data)


def sft(last: int = 3) -> Artifact:
    probes = [
        {"step": 0, "n": 20, "reward": 0.1, "low": 0.05, "high": 0.2},
        {"step": last, "n": 20, "reward": 0.4, "low": 0.3, "high": 0.5},
    ]
    log = [step(1, mean_token_accuracy=0.5), step(2, mean_token_accuracy=None)]
    log += [step(last, loss=0.5)]
    return made_up("sft", log, checkpoint_evaluations=probes, resumed=[2])


def grpo() -> Artifact:
    log = [
        step(1, loss=0.1, reward=0.2, reward_group_std=0.1, reward_min=0.0, reward_max=0.3),
        step(2, loss=-0.1, reward=None, reward_group_std=None),
        step(3, loss=0.0, reward=0.6, reward_group_std=0.2),
    ]
    games = {"task": {"bazaar/open-3": 3}, "num_generations": 4}
    games |= {"first_seed": 20_000, "last_seed": 20_002}
    adapter = {"name": "sft", "sha256": "92e01decd18cec10"}
    return made_up("grpo", log, games=games, init_adapter=adapter)


def lab() -> Artifact:
    log = [step(1, reward=0.05, reward_group_std=0.2), step(2, reward=-0.4, reward_group_std=0.1)]
    games = {"task": {"arena/market_round": 2}, "num_generations": 8}
    games |= {"first_seed": 3, "last_seed": 4}
    adapter = {"name": "sft-arena", "sha256": "92e01decd18c"}
    return made_up("grpo", log, games=games, init_adapter=adapter)


def dpo() -> Artifact:
    pairs = {"n": 7, "task": {"bazaar/open-3": 7}, "moves": {"offer": 7}, "gap": 0.25,
             "judge": None, "seconds": 180.0, "sha256": "00"}  # fmt: skip
    return made_up("dpo", [step(1, **{"rewards/margins": 0.1})], pairs=pairs)


def figure_lines(figure) -> Iterator[str]:
    """What a figure draws: one line per trace, then its marks, its notes and its axes."""
    for trace in figure.data:
        axes = [[round(v, 6) if isinstance(v, float) else v for v in a or ()]
                for a in (trace.x, trace.y)]  # fmt: skip
        error = [round(value, 6) for value in trace.error_y.array or ()]
        yield f"  {trace.name} {trace.mode} on {trace.yaxis}: {axes[0]} {axes[1]} ±{error}"
    yield f"  marks: {[shape.x0 for shape in figure.layout.shapes]}"
    yield f"  notes: {[note.text for note in figure.layout.annotations]}"
    yield f"  {figure.layout.yaxis.type} {figure.layout.yaxis.range}"
    yield f"  {figure.layout.hovermode} {figure.layout.hoversubplots}"


def test_the_page_draws_the_same_curves_and_words_of_runs_that_nobody_trained():
    views = {
        "sft over time": (View("sft", "time", 0.0), sft()),
        "grpo": (View("grpo", smoothing=0.0), grpo()),
        "grpo, logarithmic": (View("grpo", "tokens", log=True), grpo()),
        "a lab": (View("sft-arena"), lab()),
        "dpo": (View("dpo"), dpo()),
    }
    lines = []
    for name, (shown, run) in views.items():
        figure, told = tab.draw_view(shown, {shown.run: run}, {})
        lines += [f"# {name}", *figure_lines(figure), plain(told)]
    assert_golden("training.txt", "\n".join(lines) + "\n")


@pytest.mark.parametrize("shown", [View("sft"), View("grpo", "time", 0.9, True)])
def test_a_link_opens_what_it_was_made_of(shown):
    query = read_query(urlencode(shown.to_query()))
    assert from_query(query, View("sft"), ("sft", "grpo")) == (shown, "")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("run", "<script>alert(1)</script>"), ("over", "epoch"), ("smoothing", "nan"),
        ("smoothing", "1e308"), ("smoothing", ""), ("log", "yes"),
    ],
)  # fmt: skip
def test_nonsense_in_a_link_is_left_out_and_named_in_one_sentence(key, value):
    query = {"over": "time"} | {key: value}
    shown, fault = from_query(query, View("sft"), ("sft",))
    assert shown == View("sft", "step" if key == "over" else "time")
    assert fault == f"Not all of the address could be read: {key}."


@pytest.mark.parametrize("name", training_runs())
def test_every_recorded_run_has_curves_alone_and_beside_the_others(name):
    log = recorded(load(f"training/{name}.json"))
    assert log.metrics
    figure, told = tab.draw_view(View(name), {name: load(f"training/{name}.json")}, {})
    assert figure.data
    assert log.name in plain(told)
    for metric in SHARED_METRICS:
        if comparable([log], metric):
            assert together([log], metric, "tokens", {}).data


def test_runs_laid_over_each_other_hold_the_metric_and_share_its_scale():
    logs = [recorded(run) for run in (sft(), sft(4), grpo(), grpo(), lab())]
    for metric in SHARED_METRICS:
        drawn = together(logs, metric, "time", {}).data
        expected = [log.name for log in logs if log.known(metric)
                    and (metric not in GRADES or log.game == "bazaar")]  # fmt: skip
        assert [line.name.rpartition(": ")[0] for line in drawn] == expected
        assert all(line.x[-1] > line.x[0] for line in drawn)
    assert len(comparable(logs, EVALUATION)) == 2
    assert all(
        line.error_y.array is not None for line in together(logs, EVALUATION, "step", {}).data
    )


# Roles


def test_a_sentence_per_seat_compares_specialist_generalist_and_base():
    models = {"mini": 0.0, "mini+roles-buyer": 0.9, "mini+roles-generalist": 0.8}
    share = partial(Interval, low=0.0, high=1.0)
    rows = [
        Row(
            model=model, seat="buyer", off_role=False, n=20, offers=100, said=share(mean=said),
            wrong=6, unsaid=2, share=share(mean=0.1), script_share=share(mean=0.3),
            difference=share(mean=-0.2), losses=1,
        )
        for model, said in models.items()
    ]  # fmt: skip
    (buyer,) = roles.price_verdict(rows)
    for told in ("As a buyer in 20 games, the specialist says 90%", "the generalist 80%",
                 "the untrained base 0%"):  # fmt: skip
        assert told in buyer
    assert list(roles.price_verdict(rows[:2])) == []


BUYER, SELLER = SPECIALISTS.values()
N = 30


def shares(**more: float) -> dict:
    """Equal shares of all four models, and `more` of a model in a seat."""
    noise = np.random.default_rng(0).normal(size=N)
    return {
        (player, seat): noise + more.get(f"{player.rpartition('-')[2]}_{seat}", 0.0)
        for player in (BASE, BUYER, SELLER, GENERALIST)
        for seat in SPECIALISTS
    }


def test_there_are_nine_contrasts_and_each_is_the_mean_difference_of_its_two_players():
    nine = roles.contrasts(shares(buyer_buyer=0.3, buyer_seller=0.1, generalist_buyer=0.2))
    rows = {(row.player, row.beside, row.seat): row for row in nine}
    assert {at: round(row.difference.mean, 6) for at, row in rows.items()} == {
        (BUYER, BASE, "buyer"): 0.3,
        (BUYER, BASE, "seller"): 0.1,
        (SELLER, BASE, "buyer"): 0,
        (SELLER, BASE, "seller"): 0,
        (GENERALIST, BASE, "buyer"): 0.2,
        (GENERALIST, BASE, "seller"): 0,
        (BUYER, GENERALIST, "buyer"): 0.1,
        (SELLER, GENERALIST, "seller"): 0,
        ("on role", "off role", "both"): 0.1,  # (0.3 - 0) and (0 - 0.1), pooled
    }
    sure, equal = rows[BUYER, BASE, "buyer"], rows[SELLER, BASE, "seller"]
    assert (sure.n, sure.is_shown) == (N, True)
    assert (sure.p, sure.adjusted) == pytest.approx((2 / 10_001, 9 * sure.p))
    assert (equal.p, equal.adjusted, equal.is_shown) == (1, 1, False)
    sentence = roles.contrasts_verdict(list(rows.values()), str)
    assert f"{BUYER} is not shown to be equivalent to {GENERALIST}" in sentence
    assert f"{SELLER} is equivalent to {GENERALIST}" in sentence


# The selector


def test_the_selectors_curves_are_those_of_its_log():
    selector = load("training/selector.json")
    for final in selector.data.final:
        rows = [row for row in selector.data.curve if row.task == final.task]
        raw, *_ = tab.reward_figure(selector, final.task).data
        assert list(raw.y) == [row.reward for row in rows]
        chances = tab.choice_figure(selector, final.task).data
        assert sum(trace.y[-1] for trace in chances) == pytest.approx(1, abs=1e-3)
        assert policy_label(final.policy) in tab.outcome(selector, final.task)


def test_the_selectors_episodes_come_out_again_and_a_changed_record_is_told():
    selector = load("training/selector.json")
    task = selector.data.final[-1].task
    _, ends = map(str, tab.played_again(selector, task))
    rows = [row for row in selector.data.curve if row.task == task][: tab.SAMPLE]
    mean = fmean(row.reward for row in rows)
    assert f"recorded {mean:.3f}, played now {mean:.3f}, n = {tab.SAMPLE} games." in ends
    curve = [row.model_copy(update={"expert": 2.0}) for row in selector.data.curve]
    *_, told = tab.played_again(changed(selector, curve=curve), task)
    assert "Not the same in expert." in told


# The data explorer


class Letters:
    """A tokenizer of one token a letter; a turn ends with token 0."""

    eos_token_id = 0

    def apply_chat_template(self, messages, tokenize=False, add_generation_prompt=False):
        text = "".join(f"<{m['role']}>{m['content']}\0" for m in messages)
        return f"{text}<assistant>" if add_generation_prompt else text

    def __call__(self, text, add_special_tokens=True):
        return {"input_ids": list(map(ord, text))}

    def decode(self, ids):
        return "".join(map(chr, ids))


@pytest.mark.parametrize("role", ["buyer", "seller"])
def test_a_search_finds_words_of_the_turn_and_of_the_item_with_the_act(role):
    made = corpus()
    found = made.find(role, " LAMP", "counter-price")
    assert found
    for example in found:
        assert intent_of(example) == "counter-price"
        item = made.dialogues[example.dialogue].scenario
        assert "lamp" in f"{example.utterance} {item}".lower()
    assert made.find(role, "", ANY) == list(made.examples[role])
    assert made.find(role, "", "no such act") == []


def test_each_turn_of_the_dialogue_has_its_act_in_words_and_one_is_the_example():
    made = corpus()
    example = made.examples["buyer"][7]
    dialogue = made.dialogues[example.dialogue]
    shown = dialogue_view(dialogue, example)
    labels = re.findall(r'class="sauda-act sauda-act-\w+">([\w-]+)', shown)
    assert labels == [turn.act.intent for turn in dialogue.turns]
    assert shown.count("this example:") == 1
    assert set(TONES) == set(INTENTS)


def test_the_marked_tokens_are_the_words_of_the_role_and_their_ends():
    made = corpus()
    seen = view(made.dialogues[made.examples["seller"][3].dialogue], "seller")
    mask = loss_mask(seen, Letters())
    marked = re.findall(r'<mark class="sauda-learnt">(.*?)</mark>', mask, re.DOTALL)
    assert [text.rstrip("\0") for text in marked] == [turn.utterance for turn in seen.turns]
    learnt = sum(len(turn.utterance) + 1 for turn in seen.turns)
    assert f"{learnt:,} of " in mask
