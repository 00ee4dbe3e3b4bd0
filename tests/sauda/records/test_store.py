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
from sauda.records.provenance import provenance
from sauda.records.store import (
    CHECKSUMS,
    ROOT,
    checksums,
    digest,
    dumps,
    load,
    renew_checksums,
    save,
    sha256,
    write,
)

FILE = "bench.json"
NOTHING = {"machine": {}, "figures": [], "ratios": [], "left_out": []}
WHOLE = {"kind": "bench/2", "origin": "measured", "made": {}, "config": {}, "data": NOTHING}


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
        ({**WHOLE, "kind": "bench/1"}, "is of kind 'bench/1' and not 'bench/2'"),
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


def test_bytes_that_are_no_text_are_refused(tmp_path):
    (tmp_path / FILE).write_bytes(b"\xff\xfe{}")
    with pytest.raises(ArtifactError, match="is not valid JSON"):
        load(FILE, tmp_path)


# Writing


def test_what_was_saved_is_what_is_loaded(tmp_path):
    data = NOTHING | {"machine": {"price": 31.5, "item": "जूती", "words": ['a "b"', None], "n": []}}
    saved = save(FILE, {"episodes": 2}, data, tmp_path)
    loaded = load(FILE, tmp_path)
    assert loaded == saved
    assert (loaded.config, loaded.origin) == ({"episodes": 2}, "measured")
    assert loaded.data.as_json() == data


def test_a_number_that_is_none_is_not_saved_and_the_old_file_stays(tmp_path):
    old = save(FILE, {}, NOTHING, tmp_path)
    for broken in (float("nan"), float("inf"), object()):
        with pytest.raises((ValueError, TypeError)):
            save(FILE, {}, {"median": broken}, tmp_path)
    assert load(FILE, tmp_path) == old
    assert {path.name for path in tmp_path.iterdir()} == {FILE, CHECKSUMS}


def test_a_text_that_cannot_be_encoded_leaves_the_old_file_and_no_other(tmp_path):
    path = put(tmp_path, "old")
    with pytest.raises(UnicodeEncodeError):
        write(path, "new \ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_put_in_place_leaves_nothing_behind(tmp_path):
    place = tmp_path / "taken"
    (place / "inside").mkdir(parents=True)
    with pytest.raises(OSError, match="taken"):
        write(place, "text")
    assert list(tmp_path.iterdir()) == [place]


def test_a_new_file_makes_its_folder_and_may_be_read_by_all(tmp_path):
    path = tmp_path / "evaluation" / "new.json"
    write(path, "{}")
    assert path.stat().st_mode & 0o777 == 0o644


def test_provenance_says_what_is_needed_to_make_it_again():
    recorded = provenance()
    assert set(recorded) == {"command", "commit", "dirty", "created", "device", "packages"}
    assert recorded["command"].startswith("python -m sauda")
    assert recorded["commit"] is None or re.fullmatch(r"[0-9a-f]{40}", recorded["commit"])
    assert recorded["dirty"] in (True, False, None)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", recorded["created"])
    assert set(recorded["packages"]) == {"python", "numpy", "scipy", "torch", "transformers"}


def test_an_artifact_names_the_module_that_made_it(tmp_path):
    made = save(FILE, {}, NOTHING, tmp_path).made["command"]
    assert made.startswith("python -m benchmarks.speed")


def test_json_has_a_line_for_each_innermost_row():
    text = dumps({"rows": [[1, "a"], [2, "b"]], "n": 2})
    assert text == '{\n "rows": [\n  [1, "a"],\n  [2, "b"]\n ],\n "n": 2\n}'


def test_a_digest_does_not_depend_on_the_order_of_keys_but_on_every_value():
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest({"a": 1, "b": 2}) != digest({"a": 1, "b": 3})


def test_the_sha256_is_the_known_one_of_an_empty_file(tmp_path):
    path = put(tmp_path, "")
    assert sha256(path).startswith("e3b0c44298fc1c14")


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


def test_no_file_is_registered_twice():
    files = [known.file for known in FILES]
    assert len(files) == len(set(files))


def test_the_command_of_an_artifact_is_one_that_the_command_line_knows():
    for known in FILES:
        python, flag, module, *arguments = shlex.split(known.command)
        assert (python, flag) == ("python", "-m")
        if module == "sauda":
            assert callable(command_line.parse(arguments).run), known.file
        else:
            assert find_spec(module), known.file


def test_every_artifact_is_there_and_loads_as_its_kind():
    for known in FILES:
        assert (ROOT / known.file).exists(), f"{known.file} is missing: {known.command}"
        assert load(known.file).kind == entry(known.file).kind
