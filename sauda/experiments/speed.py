"""Speeds of the games, the model and the page on one machine; the page with many visitors.

A figure is its samples. `benchmarks.speed` times the first, `loadtest` plays the second.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field, FiniteFloat

from sauda.experiments.base import register_kind
from sauda.records.kinds.types import Check, File, Kind
from sauda.records.schemas.base import Number, Record
from sauda.records.store import Artifact


class Speed(Record):
    """One timed figure, and how it was measured as far as that applies."""

    name: str = Field(description="what was timed")
    unit: str = Field(description="unit of the samples")
    n: int = Field(description="number of samples")
    median: Number = Field(description="median of the samples")
    p95: Number = Field(None, description="95th percentile of the samples")
    precision: str = Field(None, description="number format of the model's weights")
    prefix_cache: bool = Field(None, description="whether the prompt's common part is cached")
    model: str = Field(None, description="name of the model")
    moves_as_fp32: FiniteFloat = Field(None, description="share of moves equal to those in fp32")
    visitors: int = Field(None, description="visitors playing at once")
    task: str = Field(None, description="name of the task")
    tasks: int = Field(None, description="number of tasks")
    policies: int = Field(None, description="number of policies")
    episodes: int = Field(None, description="episodes per sample, or per task and policy")
    cores: int = Field(None, description="CPU cores used")
    steps_an_episode: Number = Field(None, description="mean steps of the learner per episode")
    actions_of_all_labs_an_episode: Number = Field(None, description="mean actions per episode")
    chromium: str = Field(None, description="version of the browser")
    thinking_s: list[Number] = Field(
        None, description="least and most seconds between a visitor's moves"
    )
    samples: list[Number] = Field(description="each measurement, to four significant digits")


class SpeedRatio(Record):
    """How many times one speed another is, sample by sample; both were timed in one run."""

    of: str = Field(description="name of the numerator's figure")
    to: str = Field(description="name of the denominator's figure")
    n: int = Field(description="number of samples")
    median: Number = Field(description="median of the ratios")
    samples: list[Number] = Field(description="ratio of each pair of samples")


class Bench(Record):
    """Speed of the games and of the page, with n, on the machine that it names."""

    machine: dict[str, Any] = Field(description="processor, cores, system and software")
    figures: list[Speed] = Field(description="one entry per timed figure")
    ratios: list[SpeedRatio] = Field(description="ratios of figures that were timed together")
    left_out: list[str] = Field(description="what this machine cannot measure, and why")


class Latency(Record):
    """One action of the visitors of a mix, such as a page load."""

    what: str = Field(description="the action")
    n: int = Field(description="number of successes")
    refused: int = Field(description="times the page said in words that it could not do it now")
    failures: int = Field(description="times it failed, all reasons together")
    p50_ms: Number | None = Field(description="median of the successes, in milliseconds")
    p95_ms: Number | None = Field(description="their 95th percentile, in milliseconds")
    reasons: dict[str, int] = Field(description="failures by reason")
    samples_ms: list[int] = Field(description="each success, in milliseconds")


class MemoryGrowth(Record):
    """Resident memory of the page's processes while work goes on."""

    unit: str = Field(description="unit of the work: a game, a session, a second")
    done: list[Number] = Field(description="units of work that were done at each sample")
    page_mib: list[Number] = Field(description="resident MiB of the page's process")
    model_mib: list[Number] | None = Field(
        description="resident MiB of its model process; null where the page has none"
    )
    page_kib_a_unit: Number = Field(
        description="slope of the page's process in KiB per unit, over the second half"
    )
    model_kib_a_unit: Number | None = Field(description="the same of the model process")


class LoadMix(Record):
    """One mix of visitors on one state of the code."""

    name: str = Field(description="name of the mix")
    about: str = Field(description="who visits and what they do")
    state: Literal["now", "before"] = Field(description="this commit, or the earlier one")
    commit: str | None = Field(description="commit of the page; null for one that ran already")
    seconds: Number = Field(description="how long the mix was played")
    rows: list[Latency] = Field(description="one entry per action")
    memory: list[MemoryGrowth] = Field(description="memory of a page that the load test started")


class LoadTest(Record):
    """Replies, failures and memory of the page with many visitors at once, polite and hostile."""

    machine: dict[str, Any] = Field(description="processor, cores, system and software")
    mixes: list[LoadMix] = Field(description="one entry per mix and state, in the order played")


def figure(
    name: str, unit: str, samples: Sequence[float], p95: bool = False, **more: Any
) -> dict[str, Any]:
    """One measurement; the samples, in `unit`, come last and to four significant digits."""
    kept = [rounded(sample) for sample in samples]
    return {"name": name, "unit": unit, **summarize(kept, p95), **more, "samples": kept}


def ratio(of: Mapping[str, Any], to: Mapping[str, Any]) -> dict[str, Any]:
    """How many times `to` the figure `of` is, sample by sample, from their recorded samples.

    Raises ValueError unless both have the same unit and number of samples.
    """
    if of["unit"] != to["unit"] or len(of["samples"]) != len(to["samples"]):
        raise ValueError(f"{of['name']} and {to['name']} were not timed in one run")
    samples = [rounded(a / b) for a, b in zip(of["samples"], to["samples"], strict=True)]
    return {"of": of["name"], "to": to["name"], **summarize(samples), "samples": samples}


def replay_bench(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """Speeds are not measured again; every summary and ratio is computed from the samples."""
    data = artifact.data.as_json()
    figures = [{**f, **summarize(f["samples"], "p95" in f)} for f in data["figures"]]
    named = {f["name"]: f for f in figures}
    ratios = [ratio(named[r["of"]], named[r["to"]]) for r in data["ratios"]]
    return {**data, "figures": figures, "ratios": ratios}


def latency(
    what: str, seconds: Sequence[float], refused: int, reasons: Mapping[str, int]
) -> dict[str, Any]:
    """One action of a load test: its successes in whole milliseconds, refusals and failures."""
    row = {"what": what, "samples_ms": [round(1000 * sample) for sample in seconds]}
    return _summarize_latency(row | {"refused": refused, "reasons": dict(reasons)})


def _summarize_latency(row: Mapping[str, Any]) -> dict[str, Any]:
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
    """KiB per unit of work by least squares over the second half of the samples, two at least."""
    half = min(len(done) // 2, len(done) - 2)
    x, y = np.array(done[half:], float), np.array(mib[half:], float)
    x -= x.mean()
    return rounded(1024 * float(x @ (y - y.mean())) / float(x @ x))


def replay_load(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """Replies are not timed again; percentiles, counts and slopes are computed from the samples."""
    data = artifact.data.as_json()
    mixes = []
    for mix in data["mixes"]:
        memory = [
            memory_growth(row["unit"], row["done"], row["page_mib"], row["model_mib"])
            for row in mix["memory"]
        ]
        mixes.append({**mix, "rows": list(map(_summarize_latency, mix["rows"])), "memory": memory})
    return {**data, "mixes": mixes}


def summarize(samples: Sequence[float], p95: bool = False) -> dict[str, Any]:
    """How many samples, their median, and the 95th percentile where it is wanted."""
    summary = {"n": len(samples), "median": rounded(np.median(samples))}
    return summary | ({"p95": rounded(np.percentile(samples, 95))} if p95 else {})


def rounded(value: float) -> float:
    """`value` to four significant digits."""
    return float(f"{value:.4g}")


register_kind(
    Kind(
        "bench/2",
        Bench,
        (File("bench.json", "--save", "Artifacts & API", module="benchmarks.speed"),),
        Check(
            "checksum only",
            "every sample; medians and ratios recomputed from them",
            lambda config, data: len(data.figures),
            "figures",
            replay_bench,
        ),
    )
)
register_kind(
    Kind(
        "load/1",
        LoadTest,
        (File("load.json", "loadtest --before COMMIT --save", "Artifacts & API"),),
        Check(
            "checksum only",
            "every sample; percentiles and slopes recomputed from them",
            lambda config, data: sum(row.n for mix in data.mixes for row in mix.rows),
            "timed actions",
            replay_load,
        ),
    )
)
