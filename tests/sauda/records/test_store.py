"""Artifacts are read strictly and written whole, each of its kind; rows; fingerprints; seeds."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import sauda.__main__ as command_line
from env import Accept, IllegalAction, Offer, Task, ear, fingerprint, get_task
from env.fingerprint import of_opponents, of_policy, of_rules
from sauda.policies import BUYERS
from sauda.records.kinds import FILES, KINDS, ArtifactError, entry
from sauda.records.schemas.base import Record, Row, Rows
from sauda.records.seeds import (
    EXACT,
    LEADERBOARD,
    draw_seed,
    leaderboard_seed,
    seed_in_json,
    whole_seed,
)
from sauda.records.store import (
    CHECKSUMS,
    REPOSITORY,
    ROOT,
    checksums,
    digest_sources,
    git,
    load,
    provenance,
    renew_checksums,
    save,
    sha256,
    write,
    write_artifact,
)

FILE = "bench.json"
NOTHING = {"machine": {}, "figures": [], "left_out": []}
WHOLE = {"kind": "bench/3", "origin": "measured", "made": {}, "config": {}, "data": NOTHING}


def test_a_missing_file_is_refused_with_the_command_that_makes_it(tmp_path):
    with pytest.raises(ArtifactError) as refused:
        load(FILE, tmp_path)
    assert refused.value.command == "python -m benchmarks.speed --save"
    assert str(refused.value) == (
        "artifacts/bench.json is not there; make it with `python -m benchmarks.speed --save`"
    )


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("{", "is not valid JSON"),
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
    text = content if isinstance(content, str) else json.dumps(content)
    (tmp_path / FILE).write_text(text, encoding="utf-8")

    with pytest.raises(ArtifactError, match=re.escape(fault)):
        load(FILE, tmp_path)


def test_a_number_that_is_none_is_not_saved_and_the_old_file_stays(tmp_path):
    old = save(FILE, {}, NOTHING, tmp_path)
    for broken in (float("nan"), float("inf"), object()):
        with pytest.raises((ValueError, TypeError)):
            save(FILE, {}, {"median": broken}, tmp_path)
    assert load(FILE, tmp_path) == old
    assert {path.name for path in tmp_path.iterdir()} == {FILE, CHECKSUMS}


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


def write_many(root: Path, name: str) -> None:
    for number in range(100):
        write(root / f"{name}{number}.json", name)
        renew_checksums([f"{name}{number}.json"], root)


def test_two_commands_that_save_at_once_lose_no_checksum(tmp_path):
    with ProcessPoolExecutor(2) as both:
        list(both.map(write_many, [tmp_path] * 2, ["a", "b"]))
    assert len(checksums(tmp_path)) == 200


def test_a_change_of_any_file_that_play_depends_on_changes_the_digest_of_the_sources(tmp_path):
    if (tracked := git("ls-files", "env", "sauda")) is None:
        pytest.skip("no git checkout")
    files = [file for file in tracked.splitlines() if (REPOSITORY / file).is_file()]
    files += ["artifacts/simplest.json", "artifacts/people.json"]
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / file, tmp_path / file)
    digests = {digest_sources(tmp_path)}
    for file in files:
        with (tmp_path / file).open("ab") as content:
            content.write(b"\n")
        digests.add(digest_sources(tmp_path))
    assert len(digests) == 1 + len(files) > 100


def test_what_python_writes_beside_the_sources_changes_no_digest(tmp_path):
    for file in (
        "env/core.py",
        "sauda/rules.toml",
        "artifacts/simplest.json",
        "artifacts/people.json",
    ):
        write(tmp_path / file, "old")
    before = digest_sources(tmp_path)
    for file in ("env/__pycache__/core.pyc", "env/build/core.py", "sauda/x.egg-info/PKG-INFO"):
        write(tmp_path / file, "new")
    assert digest_sources(tmp_path) == before
    write(tmp_path / "sauda/new.json", "{}")
    assert digest_sources(tmp_path) != before


def test_every_file_under_artifacts_has_a_kind_and_with_the_adapters_a_checksum():
    """But their list and the pictures. A reader's own evaluation has a kind too, by its name."""
    there = {str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file()}
    there = {file for file in there if not file.startswith("pictures/")} - {"README.md", CHECKSUMS}
    assert checksums() == {file: sha256(ROOT / file) for file in there}
    for file in (file for file in there if not file.startswith("adapters/")):
        assert entry(file).file == file


def test_the_command_of_an_artifact_is_one_that_the_command_line_knows():
    for known in FILES:
        python, flag, module, *arguments = shlex.split(known.command)
        assert (python, flag) == ("python", "-m")
        if module == "sauda":
            assert callable(command_line.parse_arguments(arguments).run), known.file
        else:
            assert find_spec(module), known.file


# Kinds --------------------------------------------------------------------------------------------

SPEED = {"name": "reply", "unit": "s", "n": 1, "median": 0.5, "samples": [0.5]}
BENCH = {"machine": {}, "figures": [SPEED], "left_out": []}


@pytest.mark.slow
def test_a_file_is_of_the_schema_of_its_kind_and_written_byte_for_byte_as_it_was_read(tmp_path):
    for known in (known for known in FILES if (ROOT / known.file).exists()):
        artifact = load(known.file)
        assert isinstance(artifact.data, KINDS[known.kind].schema)
        write_artifact(artifact, tmp_path)
        assert (tmp_path / known.file).read_bytes() == (ROOT / known.file).read_bytes(), known.file


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (BENCH | {"note": ""}, "data.note: extra inputs are not permitted"),
        (BENCH | {"figures": [SPEED | {"median": "0.5"}]}, "data.figures.0.median"),
        (BENCH | {"figures": [{"name": "reply"}]}, "data.figures.0.unit: field required"),
    ],
)
def test_a_wrong_field_is_refused_before_it_is_written_with_its_place(tmp_path, data, fault):
    with pytest.raises(ValueError, match=fault):
        save("bench.json", {}, data, tmp_path)
    assert list(tmp_path.iterdir()) == []


# Fingerprints -------------------------------------------------------------------------------------

OPEN = get_task("bazaar/open-3")
SELLER = OPEN.opponents["seller"]


def with_seller(seller: Any) -> Task:
    return replace(OPEN, opponents={"seller": seller})


def test_rules_do_not_depend_on_the_opponents_and_opponents_not_on_luck():
    def stubborn(obs, rng):
        return Offer(obs.table.asks[-1] if obs.table.asks else obs.table.item.list_price)

    assert of_rules(with_seller(stubborn)) == of_rules(OPEN)
    assert of_opponents(with_seller(stubborn)) != of_opponents(OPEN)
    assert of_rules(replace(OPEN, grade=lambda final: OPEN.grade(final) / 2)) != of_rules(OPEN)


def test_opponents_that_hear_any_words_are_others_with_another_ear(monkeypatch):
    heard, deaf = get_task("bazaar/open-3"), get_task("classic/single_deal")
    known = {task.name: of_opponents(task) for task in (heard, deaf)}
    monkeypatch.setattr(ear, "meaning", lambda sentence, seat: ("", "", 0.0))
    monkeypatch.setattr(fingerprint, "of_ear", fingerprint.of_ear.__wrapped__)
    assert of_opponents(heard) != known[heard.name]
    assert of_opponents(deaf) == known[deaf.name]


@pytest.mark.parametrize("odd", ["retreats", "insults", "is silent"])
def test_a_seller_that_differs_only_against_an_odd_buyer_is_another_one(odd):
    def seller(obs, rng):
        bids = obs.table.bids
        met = {
            "retreats": len(bids) > 1 and bids[-1] < bids[-2],
            "insults": bool(bids) and bids[-1] < 0.1 * obs.table.item.list_price,
            "is silent": len(bids) > 7,
        }
        action = SELLER(obs, rng)
        return Accept("odd") if met[odd] else action

    assert of_opponents(with_seller(seller)) != of_opponents(OPEN)


def test_a_policy_counts_by_its_moves_also_where_it_would_not_come():
    linear = BUYERS["linear"]

    def proud(obs, rng):
        """Linear, but it takes nothing once it has retreated, as linear never does."""
        bids = obs.table.bids
        if len(bids) > 1 and bids[-1] < bids[-2]:
            raise IllegalAction("too proud")
        return linear(obs, rng)

    assert of_policy(OPEN, lambda obs, rng: linear(obs, rng)) == of_policy(OPEN, linear)
    assert of_policy(OPEN, proud) != of_policy(OPEN, linear)


# Seeds --------------------------------------------------------------------------------------------

LARGE = 2**128 - 12345


def test_seeds_are_drawn_from_128_bits_and_those_of_the_leaderboard_from_a_range_of_their_own():
    seeds, scored = ({draw() for _ in range(20)} for draw in (draw_seed, leaderboard_seed))
    assert len(seeds) == 20
    assert 2**120 <= max(seeds) < 2**128  # all are below 2**120 once in 10**42 runs
    assert [seed for seed in (*seeds, *scored) if seed in LEADERBOARD] == [*scored]


@pytest.mark.parametrize("seed", [0, 7, EXACT, EXACT + 1, LARGE])
def test_a_seed_in_json_survives_a_reader_whose_numbers_are_floats(seed: int):
    written = json.dumps({"seed": seed_in_json(seed)})
    read = json.loads(written, parse_int=lambda digits: int(float(digits)))
    assert whole_seed(read["seed"]) == seed


def test_a_recorded_command_names_no_folder_of_the_machine(monkeypatch):
    given = ["sauda", "likeness", "--data", "/of/mine/lines.json", "--out", "of/ours.json"]
    monkeypatch.setattr(sys, "argv", given)
    command = provenance()["command"]
    assert command == "python -m sauda likeness --data lines.json --out of/ours.json"


# Rows of tables


GRADE = {"mean": 0.5, "low": 0.4, "high": 0.6}
ROW = {"policy": "wait", "grade": GRADE, "n": 3}


class Held(Row):
    """A row with a table of its own."""

    parts: Rows


class Tables(Record):
    """Two tables."""

    rows: Rows
    held: list[Held]


def test_a_row_has_its_figures_as_attributes_and_is_written_as_it_was_read():
    data = {"rows": [ROW, ROW | {"grade": None}], "held": [{"n": 1, "parts": [ROW], "why": "best"}]}
    read = Tables.model_validate(data)
    assert (read.rows[0].grade.low, read.rows[1].grade, read.held[0].parts[0].n) == (0.4, None, 3)
    assert repr(read.as_json()) == repr(data)


@pytest.mark.parametrize(
    ("damaged", "fault"),
    [
        ({"n": "3"}, "several types: n"),
        ({"more": 1}, "row 1 and the first differ in the fields more"),
        ({"grade": {"mean": 0.5, "low": 0.4}}, "several types: grade"),
        ({"grade": GRADE | {"low": "0.4"}}, "several types: grade"),
    ],
)
def test_a_row_unlike_the_others_is_refused(damaged, fault):
    with pytest.raises(ValueError, match=fault):
        Tables.model_validate({"rows": [ROW, ROW | damaged], "held": []})
    with pytest.raises(ValueError, match="differ in the fields n"):
        Tables.model_validate({"rows": [ROW, {"policy": "wait", "grade": GRADE}], "held": []})
