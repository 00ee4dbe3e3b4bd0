"""Speeds as their samples, ratios of two speeds that were timed in one run, published speeds."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sauda.evaluation.reproduction import table
from sauda.records.store import load

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


def summarised(samples: Sequence[float], p95: bool = False) -> dict[str, Any]:
    """How many samples, their median, and the 95th percentile where it is wanted."""
    summary = {"n": len(samples), "median": rounded(np.median(samples))}
    return summary | ({"p95": rounded(np.percentile(samples, 95))} if p95 else {})


def rounded(value: float) -> float:
    """`value` to four significant digits."""
    return float(f"{value:.4g}")


def published_speeds() -> list[dict[str, Any]]:
    """Each published speed with its source and caveat; none of them was timed here."""
    published = load("published.json")
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
