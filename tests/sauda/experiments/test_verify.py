"""What an experiment makes is saved and comes out again; a changed number is named by its place."""

import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sauda.__main__ as command_line
from env import ARENA_TASKS, Offer, arena, get_task, rollout
from sauda.experiments import evaluate as module
from sauda.experiments import find, index
from sauda.experiments.base import experiment
from sauda.experiments.episodes import episodes
from sauda.experiments.evaluate import EvaluationSpec, evaluate, row
from sauda.experiments.reproduction import CROWD, agreement, comparison, hold, without_rivals
from sauda.experiments.verify import moved_hashes, read_hashes, verify
from sauda.games.arena_columns import DRAWN, episode_row
from sauda.games.arena_words import events
from sauda.played import Cell, Sample, cells, play_cell, replay_row
from sauda.players import ORACLE
from sauda.policies import LABS
from sauda.pool import here
from sauda.records import lines, rows_in
from sauda.records.kinds import FILES
from sauda.records.schemas.speeds import figure, published_rows
from sauda.records.seeds import SPLITS
from sauda.records.store import CHECKSUMS, ROOT, Artifact, load, renew_checksums, save, write
from tests.support.cases import cases
from tests.support.measured import model_comparison
from tests.support.running import output_of

# Experiments --------------------------------------------------------------------------------------


def sum_up(of: tuple[int, ...] = (1, 2), times: int = 1, *, workers: int = 2) -> dict[str, Any]:
    return {"rows": [{"sum": times * sum(of), "workers": workers}]}


def test_parameters_become_options_and_how_it_is_computed_is_no_setting():
    made = experiment("gap.json")(sum_up)
    usual = vars(made.parser("run sum").parse_args([]))
    assert usual == {"of": (1, 2), "times": 1, "workers": 2, "out": None}
    chosen = vars(made.parser("run sum").parse_args(["--of", "3", "4", "--times", "2"]))
    assert chosen == usual | {"of": [3, 4], "times": 2}
    assert made.settings() == {"of": (1, 2), "times": 1}


def test_other_settings_never_replace_the_artifact(tmp_path):
    worth = find("worth")
    recorded = load(worth.file).data.as_json()

    def known(episodes: int = 4, *, workers: int = 2) -> dict[str, Any]:
        return recorded

    worth, own = replace(worth, function=known), tmp_path / "mine.json"
    made, file = worth.run({"episodes": 5, "workers": 1}, root=tmp_path)
    assert (file, list(tmp_path.iterdir())) == (None, [])
    assert made.config == {"episodes": 5}
    _, file = worth.run({"episodes": 5, "workers": 1}, own, root=tmp_path)
    assert ([file], json.loads(own.read_text())["config"]) == ([*tmp_path.iterdir()], made.config)
    _, file = worth.run({"episodes": 4, "workers": 1}, root=tmp_path)
    assert file == tmp_path / worth.file
    assert load(worth.file, tmp_path).data == load(worth.file).data


@pytest.mark.parametrize("name", index())
def test_the_table_of_an_experiment_has_a_line_per_row_under_its_names(name: str):
    made = find(name)
    rows = list(rows_in(load(made.file).data.as_json()))
    header, *written = lines(rows)
    assert header.split() == " ".join(rows[0]).split()
    assert len(written) >= len(rows) > 0


@pytest.mark.parametrize("name", index())
def test_the_defaults_of_an_experiment_are_the_settings_of_its_artifact(name: str):
    made = find(name)
    recorded = load(made.file).settings()
    assert {setting: recorded[setting] for setting in made.settings()} == made.settings()


def test_the_list_of_experiments_imports_none_of_them():
    code = (
        "import sys\nfrom sauda.__main__ import parse_arguments\n"
        "try: parse_arguments(['run', '--help'])\nexcept SystemExit: pass\n"
        "assert not [m for m in sys.modules if m.startswith('sauda.experiments.')]"
    )
    shown = output_of(sys.executable, "-c", code, cwd=ROOT.parent)
    assert all(f"  {name} " in shown for name in index())


# Verification -------------------------------------------------------------------------------------

EVALUATIONS = {
    "evaluation/classic-train.json": EvaluationSpec(
        ("classic/single_deal", "classic/career_10"), ("rule_based", "naive"), episodes=4
    ),
    "evaluation/arena-train.json": EvaluationSpec(
        ("arena/single_trade",), ("wait",), episodes=2, baseline="wait"
    ),
}
SHOWCASE = "episodes/showcase.json"
WRITTEN = (*EVALUATIONS, SHOWCASE, "bench.json", "published.json")
COMMITTED = ("acts.json", "language.json", "role_play.json", "roles.json")


@pytest.fixture(scope="module")
def written_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with small artifacts, each as its command would write it."""
    root = tmp_path_factory.mktemp("artifacts")
    for file, config in EVALUATIONS.items():
        save(file, config.as_json(), evaluate(config, here), root)
    save(SHOWCASE, {"seed": 28}, episodes(28), root)  # whose deal by words is found at once
    speeds = [figure("reply", "s", [0.1, 0.2, 0.4], p95=True)]
    save("bench.json", {}, {"machine": {}, "figures": speeds, "left_out": []}, root)
    write(root / "published.json", (ROOT / "published.json").read_text(encoding="utf-8"))
    renew_checksums(["published.json"], root)
    return root


@pytest.mark.parametrize("file", [*WRITTEN, *COMMITTED])
def test_an_artifact_is_verified_without_faults(written_root: Path, file: str):
    assert verify(file, workers=1, root=written_root if file in WRITTEN else ROOT) == []


@pytest.mark.parametrize(
    ("file", "keys", "value", "place"), cases("changed_artifacts.csv", "changed")
)
def test_a_changed_value_is_named_by_its_place(written_root, tmp_path, file, keys, value, place):
    recorded = load(file, written_root)
    data = part = recorded.data.as_json()
    *path, last = (int(x) if x.isdigit() else x for x in keys.split("|"))
    for key in path:
        part = part[key]
    part[last] = json.loads(value)
    save(file, recorded.config, data, tmp_path)
    faults = verify(file, workers=1, root=tmp_path)
    assert faults[0].startswith(place)
    assert all(not fault.startswith(place) for fault in faults[1:])


def test_a_file_of_another_checksum_or_none_is_refused(written_root: Path, tmp_path: Path):
    text = (written_root / "published.json").read_text(encoding="utf-8")
    write(tmp_path / "published.json", text.replace("0.5", "0.6", 1))
    assert "no line in" in verify("published.json", workers=1, root=tmp_path)[0]
    write(tmp_path / CHECKSUMS, (written_root / CHECKSUMS).read_text(encoding="utf-8"))
    assert "was changed" in verify("published.json", workers=1, root=tmp_path)[0]


def test_the_command_says_ok_and_returns_0(capsys):
    assert command_line.main(["verify", "artifacts/published.json"]) == 0
    (verdict,) = capsys.readouterr().out.splitlines()
    assert verdict.startswith("ok   published.json: checksum only")


@pytest.mark.slow
@pytest.mark.xdist_group("fingerprints")  # as slow as all the others here
def test_every_recorded_fingerprint_is_that_of_todays_code():
    for known in (known for known in FILES if (ROOT / known.file).exists()):
        artifact = load(known.file)
        assert moved_hashes(artifact) == {}
        recorded = [recorded for _, recorded, _ in read_hashes(artifact)]
        hexadecimal = re.findall('"([0-9a-f]{12})"', json.dumps(artifact.data.as_json()))
        assert sorted(recorded) == sorted(hexadecimal), known.file


GRADES = [0.1, 0.4, 0.0, 0.3]


@pytest.mark.parametrize(
    ("again", "cpu", "holds", "verdict"),
    [
        (GRADES, "avx2", True, "to the last digit"),
        ([0.1, 0.4, 0.0, 0.3001], "avx2", False, "to the last digit"),
        ([0.2, 0.31, 0.0, 0.3], "avx512_f", True, "grades differ by +0.00"),
        ([0.3, 0.6, 0.2, 0.4], "avx512_f", False, "grades differ by +0.175"),
    ],
)
def test_a_models_games_come_out_to_the_last_digit_or_on_another_cpu_on_average(
    again, cpu, holds, verdict
):
    columns = {"grade": GRADES}, {"grade": again}
    played = Sample(Cell("bazaar/open-3", "mini+x"), range(4), *columns, "avx2", cpu)
    words, faults = played.compare()
    assert words.startswith(verdict)
    assert (faults == []) == holds


def test_the_oracles_row_comes_out_as_recorded():
    sample = replay_row(model_comparison(), Cell("bazaar/open-3", ORACLE), 3)
    assert sample.recorded == sample.replayed
    assert len(sample.seeds) == len(sample.recorded["grade"]) == 3


# Evaluations: figures that follow from columns; the published game; speeds


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
