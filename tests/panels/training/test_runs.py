"""Training: curves of runs, small made-up and recorded; what each gained."""

import csv
import io
from collections.abc import Iterator
from typing import Any

import pytest

from panels.training import runs
from panels.training.curves import GRADES, shared_metrics, together
from panels.training.logs import (
    EVALUATION,
    REWARD,
    Log,
    View,
    from_query,
    log_table,
    published_logs,
    recorded,
    to_query,
)
from panels.ui.tables import to_csv
from sauda.records.store import Artifact, load, validate
from tests.support.golden import assert_golden, plain

MADE_UP = {"loss": 1.0, "learning_rate": 1e-5, "grad_norm": 0.5}
OVERLAYS = ("v2", "v2-tells")


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


@pytest.fixture(scope="module")
def published() -> dict[str, Log]:
    return published_logs(load("published.json"))


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


def test_the_page_draws_the_same_curves_and_words_of_runs_that_nobody_trained(
    sft, grpo, lab, dpo, published
):
    views = {
        "sft over time": (View("sft", "time", 0.0), {"sft": sft}),
        "sft beside a published log": (View("sft", overlay=("v2",)), {"sft": sft}),
        "grpo": (View("grpo", smoothing=0.0), {"grpo": grpo}),
        "grpo, logarithmic": (View("grpo", "tokens", log=True), {"grpo": grpo}),
        "a lab": (View("sft-arena", overlay=("v2",)), {"sft-arena": lab}),
        "dpo": (View("dpo"), {"dpo": dpo}),
        "six runs, one is there": (View("six"), {"sft": sft}),
    }
    lines = []
    for name, (view, known) in views.items():
        lines.append(f"# {name}")
        for part, value in runs.shown(view, known, published).items():
            drawn = hasattr(value, "data")
            lines += [part, *figure_lines(value)] if drawn else [f"{part}: {plain(value)}"]
    for run in (sft, grpo, lab, dpo):
        lines += [plain(part(run)) for part in (runs.summary, runs.mix, runs.sample)]
    assert_golden("training.txt", "\n".join(lines) + "\n")


def test_a_published_log_has_its_badge_its_caveat_and_an_axis_of_its_own(grpo, published):
    view = View("grpo", overlay=OVERLAYS)
    parts = runs.shown(view, {"grpo": grpo}, published)
    theirs = [trace for trace in parts["left"].data if "published" in trace.name]
    assert {trace.yaxis for trace in theirs} == {"y99"}
    assert parts["left"].layout.yaxis99.overlaying == "y"
    assert parts["captions"].count("sauda-badge sauda-published") == 2
    assert all(published[name].caveat in parts["captions"] for name in OVERLAYS)
    assert "&lt;b&gt;Ask 91" in runs.sample(grpo)


def test_the_csv_has_human_columns_raw_values_and_empty_cells(sft, grpo):
    text = to_csv(log_table([sft]))
    assert text.startswith("\ufeffrun,step,tokens,time (s),")
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))
    assert [row["step"] for row in rows] == ["0", "1", "2", "3"]
    assert [row["loss (nats a trained token)"] for row in rows] == ["", "1.0", "1.0", "0.5"]
    assert [row["mean token accuracy (share)"] for row in rows] == ["", "0.5", "", ""]
    both = list(csv.DictReader(io.StringIO(to_csv(log_table([grpo, sft]))[1:])))
    assert (both[0]["loss"], both[-1]["loss"]) == ("0.1", "")  # another measure, in nats


@pytest.mark.parametrize(
    "view",
    [View("sft"), View("grpo", "time", 0.9, True, OVERLAYS), View("six", "tokens", 0.0)],
)
def test_a_link_opens_what_it_was_made_of(view):
    query = dict(part.split("=") for part in to_query(view).removeprefix("?").split("&"))
    assert query["tab"] == "training"
    assert from_query(query, View("sft"), ("six", "sft", "grpo"), OVERLAYS) == (view, "")


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("run", "<script>alert(1)</script>", "run is six or sft"),
        ("over", "epoch", "over is step, tokens or time"),
        ("smoothing", "nan", "smoothing is a number from 0 to 0.98"),
        ("smoothing", "1e308", "smoothing is a number from 0 to 0.98"),
        ("smoothing", "", "smoothing is a number from 0 to 0.98"),
        ("log", "yes", "log is 0 or 1"),
        ("overlay", "v2,v3", "overlay is any of v2, v2-tells"),
    ],
)
def test_nonsense_in_a_link_is_left_out_and_named_in_one_sentence(key, value, expected):
    first = View("sft")
    query = {"over": "time"} | {key: value}
    view, fault = from_query(query, first, ("six", "sft"), OVERLAYS)
    assert view == View("sft", "step" if key == "over" else "time")
    assert fault == f"Not all of the link could be read: {expected}."
    assert "script" not in fault


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
