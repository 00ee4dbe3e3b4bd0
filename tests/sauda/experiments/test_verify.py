"""What an experiment makes is saved and comes out again; a changed number is named by its place."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import sauda.__main__ as command_line
from sauda.experiments import find, index
from sauda.experiments.base import experiment
from sauda.experiments.episodes import episodes
from sauda.experiments.evaluate import EvaluationSpec, evaluate
from sauda.experiments.verify import moved_hashes, read_hashes, verify
from sauda.played import Cell, Sample, replay_row
from sauda.players import ORACLE
from sauda.pool import here
from sauda.records import lines, rows_in
from sauda.records.kinds import FILES
from sauda.records.schemas.speeds import figure
from sauda.records.store import CHECKSUMS, ROOT, load, renew_checksums, save, write
from tests.support.cases import cases
from tests.support.measured import model_comparison

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
        "print(*[m for m in sys.modules if m.startswith('sauda.experiments.')], file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT.parent, capture_output=True)
    assert ran.stderr.decode().split() == []
    assert all(f"  {name} " in ran.stdout.decode() for name in index())


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
COMMITTED = ("acts.json", "role_play.json", "roles.json")


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
