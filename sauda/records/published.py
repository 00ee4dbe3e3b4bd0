"""Seal the published figures: they are transcribed by hand, so each carries a digest of itself."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sauda.records.store import Artifact, digest, load, write_sealed

FIELDS = {"id", "system", "title", "source", "n", "n_of", "caveat", "columns", "rows"}


def seal() -> Artifact:
    """Check every figure's form, write its digest and seal the file; returns the artifact.

    Raises ValueError naming the first figure that lacks a source, a caveat or a column.
    """
    artifact = load("published.json")
    figures = artifact.data["figures"]
    for figure in figures:
        check(figure)
    made = {**artifact.made, "digests": {figure["id"]: digest(figure) for figure in figures}}
    return write_sealed(replace(artifact, made=made))


def check(figure: Mapping[str, Any]) -> None:
    """Raise ValueError unless `figure` is a whole one."""
    if missing := FIELDS - figure.keys():
        raise ValueError(f"figure {figure.get('id', '?')!r} lacks {', '.join(sorted(missing))}")
    if not figure["source"] or not figure["caveat"]:
        raise ValueError(f"figure {figure['id']!r} needs a source and a caveat")
    width = len(figure["columns"])
    if any(len(row) != width for row in figure["rows"]):
        raise ValueError(f"figure {figure['id']!r} has a row that is not {width} cells wide")
