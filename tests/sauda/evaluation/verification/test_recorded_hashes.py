"""The fingerprints in the artifacts are today's, and one that is not is named."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sauda.evaluation.verification.recorded_hashes import recorded_hashes
from sauda.evaluation.verification.verify import verify
from sauda.records.kinds import FILES
from sauda.records.store import Artifact, load, parsed, write_artifact

pytestmark = pytest.mark.slow

GAMES = "episodes/before_after.json"


def hexadecimal(value: Any) -> Iterator[str]:
    """Every text of twelve hexadecimal digits in a JSON value."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from hexadecimal(part)
    elif isinstance(value, str) and re.fullmatch("[0-9a-f]{12}", value):
        yield value


def test_every_recorded_fingerprint_is_that_of_todays_code():
    for known in FILES:
        artifact = load(known.file)
        hashes = recorded_hashes(artifact)
        assert [hash_.fault for hash_ in hashes if hash_.fault] == []
        recorded = sorted(hash_.recorded for hash_ in hashes)
        assert recorded == sorted(hexadecimal(artifact.data.as_json())), known.file


def another_parser(artifact: Artifact) -> Artifact:
    """The artifact with the fingerprint of another parser."""
    data = artifact.data.as_json()
    data["models"]["mini"]["parser"] = "0123456789ab"
    return replace(artifact, data=parsed(artifact.kind, data))


def test_a_fingerprint_of_other_play_is_named_by_its_place():
    (fault,) = (h.fault for h in recorded_hashes(another_parser(load(GAMES))) if h.fault)
    assert fault.startswith(
        "data.models.mini.parser: recorded '0123456789ab', but today's code has"
    )


def test_verify_names_it_too(tmp_path: Path):
    write_artifact(another_parser(load(GAMES)), tmp_path)
    (fault,) = verify(GAMES, workers=1, root=tmp_path)
    assert fault.startswith(
        "data.models.mini.parser: recorded '0123456789ab', but today's code has"
    )
