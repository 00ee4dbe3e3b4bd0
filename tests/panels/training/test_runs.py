"""Training: curves of runs, small made-up and recorded; what each gained."""

from collections.abc import Iterator
from typing import Any

import pytest

from panels.training import runs
from panels.training.curves import GRADES, shared_metrics, together
from panels.training.logs import (
    EVALUATION,
    REWARD,
    View,
    from_query,
    recorded,
    to_query,
)
from sauda.records.store import Artifact, validate
from tests.support.golden import assert_golden, plain

MADE_UP = {"loss": 1.0, "learning_rate": 1e-5, "grad_norm": 0.5}


def step(number: int, **fields: Any) -> dict[str, Any]:
    at = {"step": number, "num_tokens": 1000 * number, "seconds": 60.0 * number}
    return at | MADE_UP | fields


def made_up(stage: str, log: list[dict[str, Any]], **fields: Any) -> Artifact:
    """A run of `stage` that nobody has trained."""
    gate = {
        "n": 4, "valid": 1.0, "same_kind": 0.5, "price_off": None, "tokens": 9.0,
        "faults": [], "completions": [], "passed": True,
    }  # fmt: skip
    hardware = {"device": "a made-up CPU", "cores": 1, "threads": 1, "packages": {}}
    content = {
        "stage": stage,
        "base": {"name": "toy", "origin": "made up", "sha256": "00", "precision": "bf16"},
        "adapter": {"name": stage, "sha256": "00", "bytes": 1},
        "log": log, "resumed": [], "acceptance": gate, "hardware": hardware,
        "seconds": 180.0, "num_tokens": 3000,
        "sample": [{"text": "<b>Ask 91", "in_loss": False}, {"text": "60", "in_loss": True}],
    }  # fmt: skip
    content |= fields
    provenance = {"command": "made up", "commit": None, "dirty": None, "created": "2026-01-01"}
    data = validate("training_run/1", content)
    return Artifact(f"training/{stage}.json", "training_run/1", "measured", provenance, {}, data)


@pytest.fixture
def sft() -> Artifact:
    probes = [
        {"step": 0, "n": 20, "reward": 0.1, "low": 0.05, "high": 0.2},
        {"step": 3, "n": 20, "reward": 0.4, "low": 0.3, "high": 0.5},
    ]
    log = [step(1, mean_token_accuracy=0.5), step(2, mean_token_accuracy=None), step(3, loss=0.5)]
    return made_up("sft", log, checkpoint_evaluations=probes, resumed=[2])


@pytest.fixture
def grpo() -> Artifact:
    log = [
        step(1, loss=0.1, reward=0.2, reward_group_std=0.1, reward_min=0.0, reward_max=0.3),
        step(2, loss=-0.1, reward=None, reward_group_std=None),
        step(3, loss=0.0, reward=0.6, reward_group_std=0.2),
    ]
    games = {
        "task": {"bazaar/open": 3},
        "num_generations": 4,
        "first_seed": 20_000,
        "last_seed": 20_002,
    }
    return made_up(
        "grpo", log, games=games, init_adapter={"name": "sft", "sha256": "92e01decd18cec10"}
    )


@pytest.fixture
def lab() -> Artifact:
    log = [step(1, reward=0.05, reward_group_std=0.2), step(2, reward=-0.4, reward_group_std=0.1)]
    games = {"task": {"arena/market_round": 2}, "num_generations": 8}
    games |= {"first_seed": 3, "last_seed": 4}
    adapter = {"name": "sft-arena", "sha256": "92e01decd18c"}
    return made_up("grpo", log, games=games, init_adapter=adapter)


@pytest.fixture
def dpo() -> Artifact:
    pairs = {"n": 7, "task": {"bazaar/open": 7}, "moves": {"offer": 7}, "gap": 0.25,
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


def test_the_page_draws_the_same_curves_and_words_of_runs_that_nobody_trained(sft, grpo, lab, dpo):
    views = {
        "sft over time": (View("sft", "time", 0.0), sft),
        "grpo": (View("grpo", smoothing=0.0), grpo),
        "grpo, logarithmic": (View("grpo", "tokens", log=True), grpo),
        "a lab": (View("sft-arena"), lab),
        "dpo": (View("dpo"), dpo),
    }
    lines = []
    for name, (view, run) in views.items():
        figure, told = runs.draw_view(view, {view.run: run})
        lines += [f"# {name}", *figure_lines(figure), plain(told)]
    assert_golden("training.txt", "\n".join(lines) + "\n")


@pytest.mark.parametrize("view", [View("sft"), View("grpo", "time", 0.9, True)])
def test_a_link_opens_what_it_was_made_of(view):
    query = dict(part.split("=") for part in to_query(view).removeprefix("?").split("&"))
    assert query["tab"] == "training"
    assert from_query(query, View("sft"), ("sft", "grpo")) == (view, "")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("run", "<script>alert(1)</script>"), ("over", "epoch"), ("smoothing", "nan"),
        ("smoothing", "1e308"), ("smoothing", ""), ("log", "yes"),
    ],
)  # fmt: skip
def test_nonsense_in_a_link_is_left_out_and_named_in_one_sentence(key, value):
    query = {"over": "time"} | {key: value}
    view, fault = from_query(query, View("sft"), ("sft",))
    assert view == View("sft", "step" if key == "over" else "time")
    assert fault == f"Not all of the link could be read: {key}."


def test_runs_laid_over_each_other_hold_the_metric_and_share_its_scale(sft, grpo, lab):
    again = made_up(
        "sft",
        [step(1), step(3)],
        checkpoint_evaluations=sft.data.as_json()["checkpoint_evaluations"],
    )
    logs = [recorded(run) for run in (sft, again, grpo, lab)]
    assert any(log.game == "arena" and log.holds(REWARD) for log in logs)
    for metric in shared_metrics(logs):
        for over in ("step", "tokens", "time"):
            drawn = together(logs, metric, over)
            assert [line.name.rpartition(": ")[0] for line in drawn.data] == [
                log.name
                for log in logs
                if log.holds(metric) and (metric not in GRADES or log.game == "bazaar")
            ]
            assert len(drawn.data) > 1
            assert all(line.x[-1] > line.x[0] for line in drawn.data)
    evaluated = together(logs, EVALUATION, "tokens").data
    assert all(line.error_y.array is not None for line in evaluated)
