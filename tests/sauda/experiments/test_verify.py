"""A recorded number that is not what comes out again is found and named by its place."""

import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import sauda.__main__ as command_line
from sauda.experiments.episodes import episodes
from sauda.experiments.evaluate import ORACLE, Cell, EvaluationSpec, evaluate
from sauda.experiments.speeds import figure
from sauda.experiments.verify import Sample, moved_hashes, read_hashes, replay_row, verify
from sauda.records.kinds import FILES
from sauda.records.store import CHECKSUMS, ROOT, load, renew_checksums, save, write
from tests.support.cases import cases
from tests.support.measured import model_comparison

EVALUATION, SHOWCASE = "evaluation/classic-train.json", "episodes/showcase.json"
TASK = "classic/single_deal"


@pytest.fixture(scope="module")
def written_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with small artifacts, each as its command would write it."""
    root = tmp_path_factory.mktemp("artifacts")
    config = EvaluationSpec((TASK, "classic/career_10"), ("rule_based", "naive"), episodes=4)
    save(EVALUATION, asdict(config), evaluate(config, workers=1), root)
    save(SHOWCASE, {"seed": 3}, episodes(3), root)
    speeds = [figure("reply", "s", [0.1, 0.2, 0.4], p95=True)]
    save("bench.json", {}, {"machine": {}, "figures": speeds, "left_out": []}, root)
    write(root / "published.json", (ROOT / "published.json").read_text(encoding="utf-8"))
    renew_checksums(["published.json"], root)
    return root


@pytest.mark.parametrize("file", [EVALUATION, SHOWCASE, "bench.json", "published.json"])
def test_a_new_artifact_is_verified_without_faults(written_root: Path, file: str):
    assert verify(file, workers=1, root=written_root) == []


@pytest.mark.parametrize(
    ("file", "keys", "value", "place"), cases("changed_artifacts.csv", "changed")
)
def test_a_changed_value_is_named_by_its_place(written_root, tmp_path, file, keys, value, place):
    recorded = load(file, written_root)
    data = part = recorded.data.as_json()
    *path, last = (int(x) if x.isdigit() else x for x in keys.split())
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


# The command and the registry --------------------------------------------------------------------


def test_the_command_says_ok_and_returns_0(capsys):
    assert command_line.main(["verify", "artifacts/published.json"]) == 0
    (verdict,) = capsys.readouterr().out.splitlines()
    assert verdict.startswith("ok   published.json: checksum only")


# Fingerprints ------------------------------------------------------------------------------------


def hexadecimal(value: Any) -> Iterator[str]:
    """Every text of twelve hexadecimal digits in a JSON value."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from hexadecimal(part)
    elif isinstance(value, str) and re.fullmatch("[0-9a-f]{12}", value):
        yield value


@pytest.mark.slow
def test_every_recorded_fingerprint_is_that_of_todays_code():
    for known in (known for known in FILES if (ROOT / known.file).exists()):
        artifact = load(known.file)
        assert moved_hashes(artifact) == {}
        recorded = sorted(recorded for _, recorded, _ in read_hashes(artifact))
        assert recorded == sorted(hexadecimal(artifact.data.as_json())), known.file


# Language models ---------------------------------------------------------------------------------

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
    played = Sample(Cell("bazaar/open", "mini+x"), range(4), *columns, "avx2", cpu)
    words, faults = played.compare()
    assert words.startswith(verdict)
    assert (faults == []) == holds


# One row -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", [ORACLE, "null+steering"])
def test_a_scripted_row_comes_out_as_recorded(policy):
    sample = replay_row(model_comparison(), Cell("bazaar/open", policy), 3)
    assert sample.recorded == sample.replayed
    assert len(sample.seeds) == len(sample.recorded["grade"]) == 3
