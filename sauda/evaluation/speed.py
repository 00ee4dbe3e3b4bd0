"""Speeds as their samples, ratios of two speeds that were timed in one run, published speeds."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sauda.experiments.reproduction import table
from sauda.records.schemas.bench import LoadTest
from sauda.records.store import Artifact

PUBLISHED = ("reference-throughput", "arena-reference-speed")  # figures of published.json


def figure(
    name: str, unit: str, samples: Sequence[float], p95: bool = False, **more: Any
) -> dict[str, Any]:
    """One measurement; the samples, in `unit`, come last and to four significant digits."""
    kept = [rounded(sample) for sample in samples]
    return {"name": name, "unit": unit, **summarised(kept, p95), **more, "samples": kept}


def ratio(of: Mapping[str, Any], to: Mapping[str, Any]) -> dict[str, Any]:
    """How many times `to` the figure `of` is, sample by sample, from their recorded samples.

    Raises ValueError unless both have the same unit and number of samples.
    """
    if of["unit"] != to["unit"] or len(of["samples"]) != len(to["samples"]):
        raise ValueError(f"{of['name']} and {to['name']} were not timed in one run")
    samples = [rounded(a / b) for a, b in zip(of["samples"], to["samples"], strict=True)]
    return {"of": of["name"], "to": to["name"], **summarised(samples), "samples": samples}


def recomputed(data: Mapping[str, Any]) -> dict[str, Any]:
    """A bench's data with every summary and every ratio computed from the samples."""
    figures = [{**f, **summarised(f["samples"], "p95" in f)} for f in data["figures"]]
    named = {f["name"]: f for f in figures}
    ratios = [ratio(named[r["of"]], named[r["to"]]) for r in data["ratios"]]
    return {**data, "figures": figures, "ratios": ratios}


def latency(
    what: str, seconds: Sequence[float], refused: int, reasons: Mapping[str, int]
) -> dict[str, Any]:
    """One action of a load test: its successes in whole milliseconds, refusals and failures."""
    row = {"what": what, "samples_ms": [round(1000 * sample) for sample in seconds]}
    return _percentiles(row | {"refused": refused, "reasons": dict(reasons)})


def _percentiles(row: Mapping[str, Any]) -> dict[str, Any]:
    samples = row["samples_ms"]
    p50, p95 = (rounded(np.percentile(samples, q)) if samples else None for q in (50, 95))
    failures = sum(row["reasons"].values())
    counts = {"n": len(samples), "failures": failures, "p50_ms": p50, "p95_ms": p95}
    return {**row, **counts}


def memory_growth(
    unit: str,
    done: Sequence[float],
    page_mib: Sequence[float],
    model_mib: Sequence[float] | None,
) -> dict[str, Any]:
    """Resident memory after so many units of work, and its slope over the second half of them.

    The first half fills caches, so it is left out of the slope.
    """
    page = [rounded(value) for value in page_mib]
    model = None if model_mib is None else [rounded(value) for value in model_mib]
    row = {"unit": unit, "done": list(done), "page_mib": page, "model_mib": model}
    return {
        **row,
        "page_kib_a_unit": _slope(done, page),
        "model_kib_a_unit": None if model is None else _slope(done, model),
    }


def _slope(done: Sequence[float], mib: Sequence[float]) -> float:
    """KiB a unit of work by least squares over the second half of the samples, two at least."""
    half = min(len(done) // 2, len(done) - 2)
    x, y = np.array(done[half:], float), np.array(mib[half:], float)
    x -= x.mean()
    return rounded(1024 * float(x @ (y - y.mean())) / float(x @ x))


def load_recomputed(data: Mapping[str, Any]) -> dict[str, Any]:
    """A load test's data with every percentile, count and slope computed from the samples."""
    mixes = []
    for mix in data["mixes"]:
        memory = [
            memory_growth(row["unit"], row["done"], row["page_mib"], row["model_mib"])
            for row in mix["memory"]
        ]
        mixes.append({**mix, "rows": list(map(_percentiles, mix["rows"])), "memory": memory})
    return {**data, "mixes": mixes}


LOAD_COLUMNS = ("visitors", "code", "action", "n", "median, ms", "95 % within, ms", "refused",
                "failures")  # fmt: skip
MEMORY_COLUMNS = ("visitors", "code", "page, MiB", "model process, MiB", "page, KiB more a unit",
                  "unit")  # fmt: skip


def load_cells(data: LoadTest) -> list[tuple[str, ...]]:
    """The load test's rows as text, under LOAD_COLUMNS."""
    return [
        (mix.name, mix.state, row.what, f"{row.n:,}", _ms(row.p50_ms), _ms(row.p95_ms),
         f"{row.refused:,}", f"{row.failures:,}")
        for mix in data.mixes
        for row in mix.rows
    ]  # fmt: skip


def _ms(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def memory_cells(data: LoadTest) -> list[tuple[str, ...]]:
    """The memory of the load test's pages as text, under MEMORY_COLUMNS."""
    return [
        (mix.name, mix.state, _from_to(row.page_mib),
         "none" if row.model_mib is None else _from_to(row.model_mib),
         f"{row.page_kib_a_unit:,.0f}", row.unit)
        for mix in data.mixes
        for row in mix.memory
    ]  # fmt: skip


def _from_to(mib: Sequence[float]) -> str:
    return f"{mib[0]:,.0f} to {mib[-1]:,.0f}"


def summarised(samples: Sequence[float], p95: bool = False) -> dict[str, Any]:
    """How many samples, their median, and the 95th percentile where it is wanted."""
    summary = {"n": len(samples), "median": rounded(np.median(samples))}
    return summary | ({"p95": rounded(np.percentile(samples, 95))} if p95 else {})


def rounded(value: float) -> float:
    """`value` to four significant digits."""
    return float(f"{value:.4g}")


def published_speeds(published: Artifact) -> list[dict[str, Any]]:
    """Each published speed with its source and caveat; none of them was timed here."""
    about = {figure.id: figure for figure in published.data.figures}
    return [
        {
            "name": f"{unit} a second, {row.get('task') or row['path']}",
            "unit": f"{unit}/s",
            "median": row[f"{unit}_per_s"],
            **{
                key: getattr(about[name], key)
                for key in ("id", "title", "source", "n", "n_of", "caveat")
            },
        }
        for name in PUBLISHED
        for row in table(published, name)
        for unit in ("episodes", "steps")
    ]
