"""Every kind has files and a check, and every file comes out as it was read."""

import pytest

from sauda.records.kinds import FILES, KINDS
from sauda.records.store import ROOT, load, save, write_artifact

SPEED = {"name": "reply", "unit": "s", "n": 1, "median": 0.5, "samples": [0.5]}
BENCH = {"machine": {}, "figures": [SPEED], "left_out": []}


def is_there(file: str) -> bool:
    """Whether it was measured: the files of a new game are registered before that."""
    return (ROOT / file).exists()


@pytest.mark.slow
def test_a_file_is_written_byte_for_byte_as_it_was_read(tmp_path):
    for known in (known for known in FILES if is_there(known.file)):
        write_artifact(load(known.file), tmp_path)
        assert (tmp_path / known.file).read_bytes() == (ROOT / known.file).read_bytes(), known.file


def test_the_files_of_a_kind_are_of_its_schema():
    for entry in (entry for entry in FILES if is_there(entry.file)):
        assert isinstance(load(entry.file).data, KINDS[entry.kind].schema)
        assert KINDS[entry.kind].name == entry.kind


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (BENCH | {"note": ""}, "data.note: extra inputs are not permitted"),
        (BENCH | {"figures": [SPEED | {"median": "0.5"}]}, "data.figures.0.median"),
        (BENCH | {"figures": [SPEED | {"speed": 1}]}, "data.figures.0.speed: extra inputs"),
        (BENCH | {"figures": [{"name": "reply"}]}, "data.figures.0.unit: field required"),
    ],
)
def test_a_wrong_field_is_refused_before_it_is_written_with_its_place(tmp_path, data, fault):
    with pytest.raises(ValueError, match=fault):
        save("bench.json", {}, data, tmp_path)
    assert list(tmp_path.iterdir()) == []
