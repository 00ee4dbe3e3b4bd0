"""Artifacts are read strictly and written whole, and every file is in the register."""

import json
import re
import shlex
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

import sauda.__main__ as command_line
from sauda.records.kinds import FILES, ArtifactError, entry
from sauda.records.store import (
    CHECKSUMS,
    ROOT,
    checksums,
    digest,
    load,
    renew_checksums,
    save,
    sha256,
    write,
)

FILE = "bench.json"
NOTHING = {"machine": {}, "figures": [], "left_out": []}
WHOLE = {"kind": "bench/3", "origin": "measured", "made": {}, "config": {}, "data": NOTHING}


def put(root: Path, content: object) -> Path:
    """`content` as the file FILE under `root`; a string is written as it is."""
    path = root / FILE
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


# Reading


def test_a_missing_file_is_refused_with_the_command_that_makes_it(tmp_path):
    with pytest.raises(ArtifactError) as refused:
        load(FILE, tmp_path)
    assert refused.value.command == "python -m benchmarks.speed --save"
    assert str(refused.value) == (
        "artifacts/bench.json is not there; make it with `python -m benchmarks.speed --save`"
    )


def test_an_unregistered_file_is_refused_with_those_there_are():
    with pytest.raises(ArtifactError, match=r"no artifact '\.\./secret'; artifacts are acts.json"):
        load("../secret")


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("{", "is not valid JSON"),
        ("", "is not valid JSON"),
        ("[]", "needs exactly the keys config, data, kind, made, origin"),
        ({**WHOLE, "note": 1}, "needs exactly the keys"),
        ({k: v for k, v in WHOLE.items() if k != "made"}, "needs exactly the keys"),
        ({**WHOLE, "kind": "bench/1"}, "is of kind 'bench/1' and not 'bench/3'"),
        ({**WHOLE, "origin": "invented"}, "has the origin 'invented', not one of measured"),
        ({**WHOLE, "data": {"figures": []}}, "is damaged: data.machine: field required"),
        ({**WHOLE, "data": {"median": float("nan")}}, "NaN is no number"),
        ({**WHOLE, "data": {"median": float("-inf")}}, "-Infinity is no number"),
    ],
)
def test_a_file_that_is_not_what_its_reader_expects_is_refused(tmp_path, content, fault):
    put(tmp_path, content)
    with pytest.raises(ArtifactError, match=re.escape(fault)):
        load(FILE, tmp_path)


# Writing


def test_a_number_that_is_none_is_not_saved_and_the_old_file_stays(tmp_path):
    old = save(FILE, {}, NOTHING, tmp_path)
    for broken in (float("nan"), float("inf"), object()):
        with pytest.raises((ValueError, TypeError)):
            save(FILE, {}, {"median": broken}, tmp_path)
    assert load(FILE, tmp_path) == old
    assert {path.name for path in tmp_path.iterdir()} == {FILE, CHECKSUMS}


def test_a_digest_does_not_depend_on_the_order_of_keys_but_on_every_value():
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest({"a": 1, "b": 2}) != digest({"a": 1, "b": 3})


def test_sha256sum_accepts_what_was_saved_and_names_a_changed_file(tmp_path):
    for file in ("bench.json", "published.json"):
        write(tmp_path / file, "old")
    renew_checksums(["published.json", "bench.json"], tmp_path)
    save(FILE, {}, NOTHING, tmp_path)
    check = ["sha256sum", "--check", "--quiet", CHECKSUMS]
    assert subprocess.run(check, cwd=tmp_path).returncode == 0
    write(tmp_path / "published.json", "new")
    found = subprocess.run(check, cwd=tmp_path, capture_output=True, text=True)
    assert found.stdout == "published.json: FAILED\n"


# The register


def test_every_artifact_and_adapter_has_its_checksum():
    there = {str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file()}
    there = {file for file in there if file.endswith(".json") or file.startswith("adapters/")}
    assert checksums() == {file: sha256(ROOT / file) for file in there}


def test_every_file_under_artifacts_has_a_kind_but_their_list_and_the_pictures():
    """A reader's own evaluation has one too, by its name."""
    there = {str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file()}
    there = {file for file in there if not file.startswith(("adapters/", "pictures/"))}
    for file in there - {"README.md", CHECKSUMS}:
        assert entry(file).file == file


def test_the_command_of_an_artifact_is_one_that_the_command_line_knows():
    for known in FILES:
        python, flag, module, *arguments = shlex.split(known.command)
        assert (python, flag) == ("python", "-m")
        if module == "sauda":
            assert callable(command_line.parse_arguments(arguments).run), known.file
        else:
            assert find_spec(module), known.file
