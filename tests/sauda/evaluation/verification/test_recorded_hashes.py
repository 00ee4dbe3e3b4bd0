"""The hashes in the artifacts are those of today's code, and one that is not is named."""

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import sauda.__main__ as command_line
from sauda.evaluation.verification.recorded_hashes import recorded_hashes
from sauda.evaluation.verification.rehash import listing, listing_at, rehash
from sauda.evaluation.verification.verify import verify
from sauda.records.kinds import FILES, ArtifactError
from sauda.records.store import Artifact, content_of, load, parsed, write, write_sealed

pytestmark = pytest.mark.slow

GAMES = "episodes/before_after.json"


def hexadecimal(value: Any) -> Iterator[str]:
    """Every text of twelve hexadecimal digits in a JSON value."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from hexadecimal(part)
    elif isinstance(value, str) and re.fullmatch("[0-9a-f]{12}", value):
        yield value


def test_every_recorded_hash_is_that_of_todays_code():
    for known in FILES:
        artifact = load(known.file)
        hashes = recorded_hashes(artifact)
        assert [hash_.fault for hash_ in hashes if hash_.fault] == []
        recorded = sorted(hash_.recorded for hash_ in hashes)
        assert recorded == sorted(hexadecimal(artifact.data.as_json())), known.file


def another_parser(artifact: Artifact) -> Artifact:
    """The artifact with the hash of another parser."""
    data = artifact.data.as_json()
    data["models"]["mini"]["parser"] = "0123456789ab"
    return replace(artifact, data=parsed(artifact.kind, data))


def test_a_hash_of_other_code_is_named_by_its_place():
    (fault,) = (h.fault for h in recorded_hashes(another_parser(load(GAMES))) if h.fault)
    assert fault.startswith(
        "data.models.mini.parser: recorded '0123456789ab', but today's code has"
    )


def test_verify_names_it_too(tmp_path: Path):
    write_sealed(another_parser(load(GAMES)), tmp_path)
    (fault,) = verify(GAMES, workers=1, root=tmp_path)
    assert fault.startswith(
        "data.models.mini.parser: recorded '0123456789ab', but today's code has"
    )


def test_hashes_that_an_earlier_commits_code_has_are_renewed(tmp_path: Path):
    write_sealed(another_parser(load(GAMES)), tmp_path)
    before = listing([GAMES], tmp_path)[GAMES]
    before["data.models.mini.parser"]["today"] = "0123456789ab"  # as the earlier code has it
    provenance = rehash(GAMES, before, "abc", tmp_path).made
    assert load(GAMES, tmp_path).data == load(GAMES).data
    assert verify(GAMES, workers=1, root=tmp_path) == []
    note = provenance["rehashed"][-1]
    assert (note["commit"], note["hashes"]) == ("abc", 1)
    assert rehash(GAMES, listing([GAMES], tmp_path)[GAMES], "abc", tmp_path) is None


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"today": "ba9876543210"}, "but the code of abc has the hash 'ba9876543210'"),
        ({"recorded": "ba9876543210"}, "is recorded, but 'ba9876543210' in abc"),
    ],
)
def test_a_hash_that_the_earlier_commits_code_does_not_have_stays(tmp_path, change, fault):
    write_sealed(another_parser(load(GAMES)), tmp_path)
    content = (tmp_path / GAMES).read_bytes()
    before = listing([GAMES], tmp_path)[GAMES]
    before["data.models.mini.parser"] |= change
    with pytest.raises(ArtifactError, match=re.escape(fault)):
        rehash(GAMES, before, "abc", tmp_path)
    assert (tmp_path / GAMES).read_bytes() == content


def test_a_file_that_was_changed_after_its_seal_is_not_renewed(tmp_path: Path):
    before = listing([GAMES])[GAMES]
    write(tmp_path / GAMES, json.dumps(content_of(another_parser(load(GAMES)))))
    with pytest.raises(ArtifactError, match=r"not as it was sealed: data\.models"):
        rehash(GAMES, before, "abc", tmp_path)


def test_the_code_of_a_commit_lists_its_own_hashes(tmp_path: Path):
    program = "import sys, json; print(json.dumps({sys.argv[3]: sys.argv[1:3]}))"
    (tmp_path / "sauda").mkdir()
    (tmp_path / "sauda" / "__main__.py").write_text(program, encoding="utf-8")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "A program"]):
        subprocess.run([*git, *words], check=True)
    (tmp_path / "sauda" / "__main__.py").write_text("raise SystemExit(1)", encoding="utf-8")
    assert listing_at("HEAD", ["a.json"], tmp_path) == {"a.json": ["rehash", "--list"]}
    with pytest.raises(ArtifactError, match="git"):
        listing_at("no-such-commit", ["a.json"], tmp_path)


def test_the_command_lists_hashes_as_json_and_refuses_a_commit_that_is_not_there(capsys):
    assert command_line.main(["rehash", "--list", GAMES]) == 0
    assert json.loads(capsys.readouterr().out) == listing([GAMES])
    assert command_line.main(["rehash", "--from", "no-such-commit", GAMES]) == 2
    assert "no-such-commit" in capsys.readouterr().err
