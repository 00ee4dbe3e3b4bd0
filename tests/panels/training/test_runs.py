"""Training: curves of runs, small made-up and recorded; what each gained; the pilot."""

import csv
import io
from dataclasses import replace
from typing import Any

import pytest

from panels.results.model_comparison import FILE, LAB_FILE
from panels.training import dashboard, logs, pilot, run_text, runs
from panels.training.logs import (
    EVALUATION,
    LOSS,
    REWARD,
    Log,
    log_table,
    published_logs,
    recorded,
)
from panels.training.overview import NOT_RECORDED, all_gains, gain_of, overview
from panels.training.permalink import View, from_query, to_query
from panels.training.references import references, scripted_rows
from panels.training.together import GRADES, shared_metrics, together
from panels.ui.tables import to_csv
from sauda.records.kinds import training_runs
from sauda.records.store import Artifact, load, parsed

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
    data = parsed("training_run/1", content)
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


def traces(figure, axis: str = "y") -> list:
    return [trace for trace in figure.data if (trace.yaxis or "y") == axis]


def drawn(run: Artifact, metrics, view: View, beside=()):
    inner = dashboard.inner_height(len(metrics))
    return dashboard.stack(recorded(run), metrics, view, inner, beside)


def test_a_missing_field_is_a_gap_and_no_zero(grpo):
    _, raw, line = traces(drawn(grpo, [REWARD], View("grpo", smoothing=0.0)))
    assert list(raw.y) == [0.2, None, 0.6]
    assert list(line.y) == pytest.approx([0.2, None, 0.6])
    assert line.connectgaps is False


def test_a_metric_that_no_row_holds_is_named_and_not_drawn(grpo):
    _, right = logs.panels_of(View("grpo"), {"grpo": grpo})
    assert "entropy" not in [metric.name for metric in right[1]]
    captions = run_text.captions(logs.panels_of(View("grpo"), {"grpo": grpo}), View("grpo"), ())
    assert "Not in this log: zero reward std, valid replies" in captions
    empty = drawn(grpo, [logs.ENTROPY], View("six"))
    assert [list(trace.y) for trace in empty.data] == [[None]]
    assert "not in the log" in [note.text for note in empty.layout.annotations]


def test_a_logarithmic_axis_leaves_out_what_is_not_above_zero_and_says_how_many(grpo):
    view = View("grpo", smoothing=0.0, log=True)
    raw, line = traces(drawn(grpo, [LOSS], view))
    assert list(raw.y) == list(line.y) == [0.1, None, None]
    assert drawn(grpo, [LOSS], view).layout.yaxis.type == "log"
    captions = run_text.captions(logs.panels_of(view, {"grpo": grpo}), view, ())
    assert "2 values are left out" in captions


def test_the_band_of_the_reward_is_its_average_give_or_take_the_spread(grpo):
    band, *_ = traces(drawn(grpo, [REWARD], View("grpo", smoothing=0.0)))
    assert [None if y is None else round(y, 6) for y in band.y] == [0.3, 0.1, None, 0.8, 0.4, None]
    assert list(band.x) == [1, 1, None, 3, 3, None]


@pytest.mark.parametrize(("over", "at"), [("step", 3), ("tokens", 3000), ("time", 3)])
def test_a_resumed_run_is_marked_where_it_went_on(sft, over, at):
    figure = drawn(sft, [LOSS], View("sft", over))
    (mark,) = figure.layout.shapes
    assert mark.x0 == mark.x1 == at
    assert "after step 2" in run_text.resumed(recorded(sft))


def test_games_played_by_earlier_adapters_are_drawn_with_their_intervals(sft):
    (probes,) = traces(drawn(sft, [logs.EVALUATION], View("sft", "time")))
    assert list(probes.x) == [0, 3]
    assert list(probes.error_y.array) == pytest.approx([0.1, 0.1])
    assert list(probes.error_y.arrayminus) == pytest.approx([0.05, 0.1])


def test_all_panels_of_a_stack_share_one_axis_and_one_hover(grpo):
    figure = drawn(grpo, logs.METRICS["grpo"], View("grpo"))
    assert {trace.xaxis for trace in figure.data} == {"x"}
    assert (figure.layout.hovermode, figure.layout.hoversubplots) == ("x unified", "axis")


def test_without_its_run_a_published_reward_still_stands_in_its_panel(sft, published):
    figure = runs.shown(View("six", overlay=("v2",)), {"sft": sft}, published)["left"]
    assert figure.layout.yaxis99.overlaying == "y"
    assert traces(figure)  # an axis to lie over
    assert len(traces(figure, "y99")) == 2


def test_a_sample_marks_what_is_learnt_and_escapes_the_rest(sft):
    html = run_text.sample(sft)
    assert '<mark class="sauda-learnt">60</mark>' in html
    assert "&lt;b&gt;Ask 91" in html


# Published logs


def test_a_published_log_is_badged_with_its_caveat_and_has_an_axis_of_its_own(grpo, published):
    view = View("grpo", overlay=OVERLAYS)
    parts = runs.shown(view, {"grpo": grpo}, published)
    figure = drawn(grpo, [REWARD], view, [published[name] for name in OVERLAYS])
    theirs = traces(figure, "y99")
    assert {trace.name for trace in theirs if trace.mode == "lines"} == {
        "published v2",
        "published v2-tells",
    }
    assert figure.layout.yaxis99.overlaying == "y"
    assert "bell curve" in figure.layout.yaxis99.title.text
    assert not [trace for trace in traces(figure) if "published" in trace.name]
    captions = parts["captions"]
    assert captions.count("sauda-badge sauda-published") == 2
    assert all(published[name].caveat in captions for name in OVERLAYS)
    assert "do not compare" in captions


@pytest.fixture
def lab() -> Artifact:
    log = [step(1, reward=0.05, reward_group_std=0.2), step(2, reward=-0.4, reward_group_std=0.1)]
    games = {"task": {"arena/market_round": 2}, "num_generations": 8}
    games |= {"first_seed": 3, "last_seed": 4}
    return made_up(
        "grpo", log, games=games, init_adapter={"name": "sft-arena", "sha256": "92e01decd18c"}
    )


def test_a_labs_run_has_a_name_of_its_own_and_no_published_log_beside_it(lab, published):
    assert recorded(lab).name == "GRPO in the arena, toy"
    view = View("grpo-arena", overlay=("v2",))
    parts = runs.shown(view, {"grpo-arena": lab}, published)
    assert not [
        t
        for figure in (parts["left"], parts["right"])
        for t in figure.data
        if "published" in t.name
    ]
    assert "The published logs are of GRPO in a bazaar" in parts["captions"]
    assert runs.runs_of("grpo-arena", {"grpo-arena": lab}) == [lab]


# CSV


def test_the_csv_has_human_columns_raw_values_and_empty_cells(sft):
    text = to_csv(log_table([sft]))
    assert text.startswith("\ufeffrun,step,tokens,time (s),")
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))
    assert [row["step"] for row in rows] == ["0", "1", "2", "3"]
    assert [row["loss (nats a trained token)"] for row in rows] == ["", "1.0", "1.0", "0.5"]
    assert [row["mean token accuracy (share)"] for row in rows] == ["", "0.5", "", ""]
    assert rows[3]["checkpoint evaluation, games"] == "20"
    path, problem = runs.csv_file("sft", text)
    assert path.endswith("sauda-sft.csv")
    assert problem == ""


# Links


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


def test_level_lines_are_the_best_script_and_the_pilot_on_the_games_of_the_curve():
    scripts = scripted_rows()
    grpo = logs.recorded(load("training/grpo.json"))
    assert references(grpo, REWARD, scripts) == []  # one of its tasks is gone
    grpo = replace(grpo, tasks={"bazaar/open": 4, "bazaar/rushed": 2})
    means = {(row.task, row.policy): row.grade.mean for rows in scripts.values() for row in rows}
    best, pilot = references(grpo, EVALUATION, scripts)
    compared = ("pilot", "tuned")
    others = [m for (task, name), m in means.items()
              if task == "bazaar/open" and name not in compared]  # fmt: skip
    assert best.grade == max(others)
    assert pilot.grade == means["bazaar/open", "pilot"]
    groups = grpo.tasks
    weighted = sum(means[task, "pilot"] * n for task, n in groups.items()) / sum(groups.values())
    assert references(grpo, REWARD, scripts)[-1].grade == pytest.approx(weighted)
    assert references(grpo, LOSS, scripts) == []
    assert references(grpo, EVALUATION, {}) == []
    figure = dashboard.stack(grpo, [REWARD], View("grpo"), 108, scripts=scripts)
    labels = [annotation.text for annotation in figure.layout.annotations]
    assert best.label.split(":")[0] in " ".join(labels)
    assert any(trace.name.startswith("pilot ") for trace in figure.data)


def test_every_run_has_a_row_with_its_gain_or_says_that_it_was_not_played():
    runs = {name: load(f"training/{name}.json") for name in training_runs()}
    comparisons = [load(FILE), load(LAB_FILE)]
    shown = str(overview(runs, comparisons))
    assert shown.count("<tr") == 1 + len(runs)
    for run in runs.values():
        assert f"{run.data.num_tokens:,}" in shown
    gains = list(all_gains(comparisons))
    (sft,) = [g for g in gains if (g.after, g.task) == ("mini+sft", "bazaar/open")]
    assert gain_of("sft", "bazaar", gains) == (
        f"{sft.difference:+.3f} [{sft.low:+.3f}, {sft.high:+.3f}], n {sft.n}"
    )
    assert gain_of("sft-arena", "arena", gains) in shown
    assert gain_of("unheard-of", "bazaar", gains) == NOT_RECORDED


def test_runs_laid_over_each_other_hold_the_metric_and_share_its_scale():
    logs = [recorded(load(f"training/{name}.json")) for name in training_runs()]
    assert any(log.game == "arena" and log.holds(EVALUATION) for log in logs)
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


def test_a_second_training_and_a_lab_are_told_from_the_run_of_their_colour():
    logs = [recorded(load(f"training/{name}.json")) for name in training_runs()]
    for metric in shared_metrics(logs):
        drawn = together(logs, metric, "tokens").data
        assert len({(line.line.color, line.line.dash) for line in drawn}) == len(drawn)
    names = {line.name.rpartition(": ")[0] for line in drawn}
    assert {"Distillation, mini", "Distillation, mini, seed 1"} <= names


@pytest.fixture(scope="module")
def pilot_run() -> Artifact:
    return load("training/pilot.json")


def test_a_figure_has_every_round_and_every_checkpoint_of_its_task(pilot_run):
    evaluated = [row for row in pilot_run.data.log if row.evaluations]
    for task in pilot.tasks_of(pilot_run):
        rounds, steady, shaken = pilot.grade_figure(pilot_run, task).data
        assert list(rounds.y) == [row.reward[task] for row in pilot_run.data.log]
        assert rounds.x[-1] == pytest.approx(sum(row.seconds for row in pilot_run.data.log) / 60)
        for trace, error in ((steady, 0.0), (shaken, 3.0)):
            cells = [c for r in evaluated for c in r.evaluations if c.task == task]
            assert list(trace.y) == [c.mean for c in cells if c.error == error]


def test_its_hold_out_games_can_be_played_again_on_every_task_that_it_learnt(pilot_run):
    own = pilot.own_rows(load(pilot.HOLDOUT))
    assert {cell.policy for _, cell in own.values()} == {pilot.PILOT}
    assert set(pilot.tasks_of(pilot_run)) <= {cell.task for _, cell in own.values()}
