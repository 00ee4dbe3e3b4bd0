"""Rows of tables: figures by name, in the order of the file; a row unlike the others is refused."""

import pytest

from sauda.records.schemas.base import Record, Row, Rows

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
