"""A number that was changed after its file was written is named by its place."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sauda.__main__ as command_line
from sauda.evaluation.verification.verify import verify
from sauda.records.committed import seal_committed
from sauda.records.kinds import FILES, ArtifactError
from sauda.records.seal import FOLD, SEAL, broken, child, seal, sealed
from sauda.records.store import ROOT, content_of, load, save, write, write_sealed

BENCH = "bench.json"
NOTHING = {"machine": {}, "figures": [], "ratios": [], "left_out": []}
DRAWS = 3  # changed numbers a section and file
LARGE = 10**6  # bytes; of such a file one number of the data is changed
SECTIONS = ("made", "config", "data")


def content(**data: Any) -> dict[str, Any]:
    return {"kind": "x/1", "origin": "measured", "made": {"at": 1}, "config": {}, "data": data}


def faults_after(change, whole: dict[str, Any]) -> list[str]:
    """The faults of a sealed content to which `change` was made afterwards."""
    changed = json.loads(json.dumps(sealed(whole)))
    change(changed)
    return broken(changed)


# One number anywhere


def sealed_copy(file: str, root: Path) -> Any:
    """The content of a committed artifact, copied to `root`; it gets a seal where it has none."""
    artifact = load(file)
    if SEAL in artifact.made:
        write(root / file, json.dumps(content_of(artifact)))
    else:
        write_sealed(artifact, root)
    return json.loads((root / file).read_text(encoding="utf-8"))


def numbers(value: Any, place: str, texts: bool) -> Iterator[tuple[str, Any, Any]]:
    """Each number in `value`: its place, and where to change it; of `texts` also their digits."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in items:
        name = child(place, key)
        if isinstance(part, dict | list):
            yield from numbers(part, name, texts)
        elif is_number(part) or (texts and isinstance(part, str) and re.search(r"\d", part)):
            yield name, value, key


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def other(old: Any) -> Any:
    """Another number; of a text, the same text with another first digit."""
    if isinstance(old, str):
        return re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), old, count=1)
    return old + 1


@pytest.mark.slow
@pytest.mark.parametrize("known", FILES, ids=lambda known: known.file)
def test_one_number_changed_anywhere_in_an_artifact_is_named(tmp_path, known):
    whole = sealed_copy(known.file, tmp_path)
    assert broken(whole) == []
    size = (tmp_path / known.file).stat().st_size
    rng = np.random.default_rng(size)
    for section in SECTIONS if size <= LARGE else ("data",):
        places = list(numbers(whole[section], section, texts=section != "data"))
        draws = min(len(places), 1 if size > LARGE else DRAWS)
        for index in rng.choice(len(places), draws, replace=False) if draws else ():
            place, owner, key = places[index]
            old, owner[key] = owner[key], other(owner[key])
            write(tmp_path / known.file, json.dumps(whole))
            owner[key] = old
            (fault,) = verify(known.file, root=tmp_path)
            named, reason = fault.split(": ", 1)
            assert reason == "not the content that was sealed", place
            place = place.removeprefix("made.seal.")  # a digest is named by what it is of
            assert place.startswith(named), f"{place} was changed, {named} was named"
            assert named not in SECTIONS


@pytest.mark.parametrize(
    ("file", "row", "metric"),
    [("training/sft.json", 16, "loss"), ("training/dpo.json", 40, "grad_norm")],
)
def test_a_changed_digit_of_a_training_log_is_named_by_its_step(tmp_path, file, row, metric):
    whole = sealed_copy(file, tmp_path)
    whole["data"]["log"][row][metric] += 0.0001
    write(tmp_path / file, json.dumps(whole))
    assert verify(file, root=tmp_path) == [f"data.log[{row}]: not the content that was sealed"]


# The seal itself


def test_a_long_part_has_a_digest_for_each_row_and_a_short_one_has_one():
    rows = [{"a": [i, 0.5], "b": "x" * 40} for i in range(FOLD)]
    digests = seal(content(rows=rows, few=[[1], [2]], n=3))["data"]
    assert len(digests["rows"]) == FOLD
    assert all(re.fullmatch("[0-9a-f]{12}", one) for one in (*digests["rows"], digests["few"]))


def test_parts_that_are_gone_added_or_exchanged_are_named():
    whole = content(rows=[{"a": [i], "b": "x" * 99} for i in range(9)], n=3)
    assert faults_after(lambda c: c["data"]["rows"].pop(), whole) == [
        "data.rows: 9 parts were sealed, there are 8"
    ]
    assert faults_after(lambda c: c["data"].pop("n"), whole) == [
        "data.n: it was sealed and is missing"
    ]
    assert faults_after(lambda c: c["data"].update(m=1), whole) == [
        "data.m: it was not there when the file was sealed"
    ]
    assert faults_after(lambda c: c["data"]["rows"].reverse(), whole) == [
        f"data.rows[{i}]: not the content that was sealed" for i in (0, 1, 2, 3, 5, 6, 7, 8)
    ]


def test_a_changed_kind_origin_or_digest_is_named():
    for place in ("kind", "origin"):
        (fault,) = faults_after(lambda c, place=place: c.update({place: "y"}), content(n=1))
        assert fault == f"{place}: not the content that was sealed"
    (fault,) = faults_after(lambda c: c["made"]["seal"]["data"].update(n="0" * 12), content(n=1))
    assert fault == "data.n: not the content that was sealed"


def test_a_whole_number_that_became_a_fraction_of_the_same_value_is_named():
    assert faults_after(lambda c: c["data"].update(n=1.0), content(n=1))


def test_what_is_saved_is_sealed_and_a_layout_is_no_change(tmp_path):
    saved = save(BENCH, {"of": (1, 2)}, NOTHING, tmp_path)
    assert saved.made["seal"]["data"].keys() == NOTHING.keys()
    assert verify(BENCH, root=tmp_path) == []
    path = tmp_path / BENCH
    path.write_text(json.dumps(json.loads(path.read_text()), indent=9, sort_keys=True))
    assert verify(BENCH, root=tmp_path) == []


def test_a_file_without_a_seal_is_a_fault_that_says_what_to_do(tmp_path):
    save(BENCH, {}, NOTHING, tmp_path)
    whole = json.loads((tmp_path / BENCH).read_text())
    del whole["made"]["seal"]
    write(tmp_path / BENCH, json.dumps(whole))
    (fault,) = verify(BENCH, root=tmp_path)
    assert fault == (
        "made: there is no seal; record the file again (`python -m sauda bench --save`), or seal "
        "the version that is committed (`python -m sauda seal bench.json`)"
    )


# Files that were recorded before there were seals


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git repository with one committed artifact without a seal."""
    whole = {"kind": "bench/2", "origin": "measured", "made": {"at": 1}, "config": {}}
    write(tmp_path / BENCH, json.dumps(whole | {"data": NOTHING}))
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", BENCH)
    git(tmp_path, "commit", "-q", "-m", "Record a bench")
    return tmp_path


def git(root: Path, *arguments: str) -> str:
    author = ("-c", "user.name=Test", "-c", "user.email=test@localhost")
    command = ["git", "-C", str(root), *author, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_a_committed_file_is_sealed_with_the_commit_that_it_is_equal_to(repository):
    before = load(BENCH, repository)
    sealed_artifact = seal_committed(BENCH, repository)
    assert sealed_artifact.made["sealed"]["commit"] == git(repository, "rev-parse", "HEAD")
    assert (sealed_artifact.data, sealed_artifact.config) == (before.data, before.config)
    assert sealed_artifact.made.items() >= before.made.items()
    assert verify(BENCH, root=repository) == []
    assert seal_committed(BENCH, repository) is None  # a second seal would say less


def test_a_file_that_is_not_as_committed_is_not_sealed(repository):
    path = repository / BENCH
    path.write_text(path.read_text().replace('"at": 1', '"at": 2'))
    with pytest.raises(ArtifactError, match=r"is not the file that was committed in [0-9a-f]{40}"):
        seal_committed(BENCH, repository)


def test_a_file_that_is_in_no_commit_is_not_sealed(repository):
    git(repository, "rm", "-q", "--cached", BENCH)
    other_root = repository / "evaluation"
    write(other_root / BENCH, (repository / BENCH).read_text())
    with pytest.raises(ArtifactError, match="is in no commit"):
        seal_committed(BENCH, other_root)


def test_a_broken_seal_is_not_replaced(repository):
    seal_committed(BENCH, repository)
    path = repository / BENCH
    path.write_text(path.read_text().replace('"at": 1', '"at": 2'))
    with pytest.raises(ArtifactError, match=r"changed since it was sealed: made\.at"):
        seal_committed(BENCH, repository)


def test_the_command_seals_files_by_name(capsys):
    assert command_line.main(["seal", "artifacts/training/sft.json"]) == 0
    assert capsys.readouterr().out == "sealed before: training/sft.json\n"


def test_the_runs_of_training_are_sealed():
    runs = [known for known in FILES if known.kind == "training_run/1"]
    assert runs
    for known in runs:
        whole = json.loads((ROOT / known.file).read_text(encoding="utf-8"))
        assert broken(whole) == []
