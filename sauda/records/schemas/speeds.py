"""Speeds that `benchmarks/` records as samples, and figures that other sources report.

None of them is measured again: medians, percentiles and slopes must follow from the recorded
samples; published figures are transcribed by hand.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field, model_validator

from sauda.records.schemas.base import Cell, Number, Record, Row, Rows, Table
from sauda.records.store import Artifact


class Speed(Record):
    """One timed figure, and how it was measured as far as that applies."""

    name: str  # what was timed
    unit: str  # unit of the samples
    n: int  # number of samples
    median: Number  # median of the samples
    p95: Number = None  # 95th percentile of the samples
    precision: str = None  # number format of the model's weights
    prefix_cache: bool = None  # whether the prompt's common part is cached
    model: str = None  # name of the model
    moves_as_fp32: float = None  # share of moves equal to those in fp32
    task: str = None
    episodes: int = None  # episodes per sample
    cores: int = None  # CPU cores used
    chromium: str = None  # version of the browser
    samples: list[Number]  # each measurement, to four significant digits


class Bench(Record):
    """Speed of the games and of the page, with n, on the machine that it names."""

    machine: dict[str, Any]  # processor, cores, system and software
    figures: list[Speed]  # one entry per timed figure
    left_out: list[str]  # what this machine cannot measure, and why


class LoadMix(Row):
    """One mix of visitors on one state of the code: this commit, "now", or one "before"."""

    rows: Rows  # one per action, such as a page load
    memory: Rows  # of the page's processes while work goes on


class LoadTest(Record):
    """Replies, failures and memory of the page with many visitors at once, polite and hostile."""

    machine: dict[str, Any]  # processor, cores, system and software
    mixes: Table[LoadMix]  # one entry per mix and state, in the order played


class PublishedFigure(Record):
    """A table that a named source reports, transcribed by hand."""

    id: str = Field(min_length=1)  # short name of the figure
    system: Literal["bazaar", "arena", "agreemate"]  # the published system
    title: str  # what the figure shows
    source: str = Field(min_length=1)  # document and place in it
    n: int | None  # sample size; null where the source gives none
    n_of: str  # what `n` counts
    caveat: str = Field(min_length=1)  # what to mind when reading it
    columns: list[str]  # names of the columns
    rows: list[list[Cell]]  # cells, one list per row

    @model_validator(mode="after")
    def _rows_are_as_wide_as_the_head(self) -> "PublishedFigure":
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"a row of {self.id!r} is not {len(self.columns)} cells wide")
        return self


class Published(Record):
    """Figures that the source documents report, each with its source, n and caveat."""

    figures: list[PublishedFigure]  # one entry per table


# Figures -----------------------------------------------------------------------------------------


def figure(
    name: str, unit: str, samples: Sequence[float], p95: bool = False, **more: Any
) -> dict[str, Any]:
    """One measurement; the samples, in `unit`, come last and to four significant digits."""
    shown = [round_figure(sample) for sample in samples]
    return {"name": name, "unit": unit, **summarize_samples(shown, p95), **more, "samples": shown}


def latency(
    what: str, seconds: Sequence[float], refused: int, reasons: Mapping[str, int]
) -> dict[str, Any]:
    """One action of a load test: its successes in whole milliseconds, refusals and failures."""
    row = {"what": what, "samples_ms": [round(1000 * sample) for sample in seconds]}
    return _percentiles(row | {"refused": refused, "reasons": dict(reasons)})


def _percentiles(row: Mapping[str, Any]) -> dict[str, Any]:
    samples = row["samples_ms"]
    p50, p95 = (round_figure(np.percentile(samples, q)) if samples else None for q in (50, 95))
    failures = sum(row["reasons"].values())
    counts = {"n": len(samples), "failures": failures, "p50_ms": p50, "p95_ms": p95}
    return {**row, **counts}


def memory_growth(
    unit: str, done: Sequence[float], page_mib: Sequence[float], model_mib: Sequence[float] | None
) -> dict[str, Any]:
    """Resident memory after so many units of work, and its slope over the second half of them.

    The first half fills caches, so it is left out of the slope.
    """
    page = [round_figure(value) for value in page_mib]
    model = None if model_mib is None else [round_figure(value) for value in model_mib]
    row = {"unit": unit, "done": list(done), "page_mib": page, "model_mib": model}  # MiB at each
    return {
        **row,
        "page_kib_a_unit": _slope(done, page),
        "model_kib_a_unit": None if model is None else _slope(done, model),
    }


def _slope(done: Sequence[float], mib: Sequence[float]) -> float:
    """KiB per unit of work by least squares over the second half of the samples, two at least."""
    half = min(len(done) // 2, len(done) - 2)
    x, y = np.array(done[half:], float), np.array(mib[half:], float)
    x -= x.mean()
    return round_figure(1024 * float(x @ (y - y.mean())) / float(x @ x))


def summarize_samples(samples: Sequence[float], p95: bool = False) -> dict[str, Any]:
    """How many samples, their median, and the 95th percentile where it is wanted."""
    summary = {"n": len(samples), "median": round_figure(np.median(samples))}
    return summary | ({"p95": round_figure(np.percentile(samples, 95))} if p95 else {})


def round_figure(value: float) -> float:
    """`value` to four significant digits."""
    return float(f"{value:.4g}")


def published_rows(published: Artifact, figure_id: str) -> list[dict[str, Any]]:
    """A published figure as one mapping per row; raises ValueError for an unknown id."""
    for figure in published.data.figures:
        if figure.id == figure_id:
            return [dict(zip(figure.columns, row, strict=True)) for row in figure.rows]
    raise ValueError(f"published.json has no figure {figure_id!r}")


# What `verify` computes again ---------------------------------------------------------------------


def as_recorded(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """The data as it is: no published figure is computed again."""
    return artifact.data.as_json()


def recompute_bench(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """A bench's data with every summary computed from the samples."""
    data = artifact.data.as_json()
    figures = [{**f, **summarize_samples(f["samples"], "p95" in f)} for f in data["figures"]]
    return {**data, "figures": figures}


def recompute_load(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """A load test's data with every percentile, count and slope computed from the samples."""
    data, mixes = artifact.data.as_json(), []
    for mix in data["mixes"]:
        memory = [
            memory_growth(row["unit"], row["done"], row["page_mib"], row["model_mib"])
            for row in mix["memory"]
        ]
        mixes.append({**mix, "rows": list(map(_percentiles, mix["rows"])), "memory": memory})
    return {**data, "mixes": mixes}
