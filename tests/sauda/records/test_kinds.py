"""Every kind has one entry, every field a description, and every file comes out as it was read."""

import json
from collections.abc import Iterator
from typing import Literal, get_args

import pytest
from pydantic import BaseModel, FiniteFloat, ValidationError

from sauda.records.kinds import FILES, KINDS, Entry
from sauda.records.kinds.fields import SHARED, section, type_name
from sauda.records.schemas.base import Interval, Record
from sauda.records.store import ROOT, content_of, dumps, load, save, write_sealed

SPEED = {"name": "reply", "unit": "s", "n": 1, "median": 0.5, "samples": [0.5]}
BENCH = {"machine": {}, "figures": [SPEED], "ratios": [], "left_out": []}

every_file = pytest.mark.parametrize("known", FILES, ids=lambda known: known.file)
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def models(root: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """A schema and every model that its fields hold."""
    yield root
    for field in root.model_fields.values():
        for part in parts(field.annotation):
            yield from models(part)


def parts(annotation: object) -> Iterator[type[BaseModel]]:
    """The models within an annotation such as dict[str, list[Row]]."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from parts(argument)


@pytest.mark.slow
@every_file
def test_a_file_is_written_byte_for_byte_as_it_was_read(known: Entry):
    text = (ROOT / known.file).read_text(encoding="utf-8")
    assert dumps(content_of(load(known.file))) + "\n" == text


@pytest.mark.slow
@every_file
def test_a_new_seal_over_unchanged_content_is_the_old_one(known: Entry, tmp_path):
    artifact = load(known.file)
    assert write_sealed(artifact, tmp_path).made == artifact.made


@every_kind
def test_every_model_says_what_it_is_and_every_field_what_it_holds(kind):
    for model in models(kind.schema):
        assert model.__doc__
        assert model.__doc__ != Record.__doc__
        for name, field in model.model_fields.items():
            assert field.description, f"{model.__name__}.{name}"


@every_kind
def test_the_list_of_fields_names_every_model_of_a_kind_or_shares_it(kind):
    written = section(kind)
    for model in models(kind.schema):
        named = model is kind.schema or f"| `{model.__name__}." in written
        assert named or model in SHARED


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (int | None, "integer or null"),
        (FiniteFloat | int, "number"),
        (dict[str, list[bool]], "map to list of true or false"),
        (Literal["a", "b"], "`a` or `b`"),
        (list[Interval], "list of Interval"),
    ],
)
def test_a_type_is_named_in_words(annotation, words):
    assert type_name(annotation) == words


@every_kind
def test_a_kind_has_files_a_check_and_an_amount(kind):
    for entry in kind.entries():
        assert entry.kind == kind.name
        artifact = load(entry.file)
        assert isinstance(artifact.data, kind.schema)
        assert kind.check.amount(artifact.config, artifact.data) > 0


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


def test_a_record_is_saved_as_it_was_loaded(tmp_path):
    saved = save("bench.json", {}, BENCH, tmp_path)
    again = save("bench.json", {}, saved.data, tmp_path)
    assert again.data == saved.data
    assert json.loads((tmp_path / "bench.json").read_text())["data"] == BENCH


def test_a_loaded_record_cannot_be_changed():
    with pytest.raises(ValidationError):
        load("bench.json").data.left_out = []
