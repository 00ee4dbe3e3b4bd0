"""Speeds of the games, the model and the page on one machine; the page with many visitors."""

from typing import Any, Literal

from pydantic import Field, FiniteFloat

from sauda.records.schemas.base import Number, Record


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
    episodes: int = Field(None, description="episodes a sample, or a task and policy")
    cores: int = Field(None, description="CPU cores used")
    steps_an_episode: Number = Field(None, description="mean steps of the learner an episode")
    actions_of_all_labs_an_episode: Number = Field(None, description="mean actions an episode")
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
    figures: list[Speed] = Field(description="one entry a timed figure")
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
        description="slope of the page's process in KiB a unit, over the second half"
    )
    model_kib_a_unit: Number | None = Field(description="the same of the model process")


class LoadMix(Record):
    """One mix of visitors on one state of the code."""

    name: str = Field(description="name of the mix")
    about: str = Field(description="who visits and what they do")
    state: Literal["now", "before"] = Field(description="this commit, or the earlier one")
    commit: str | None = Field(description="commit of the page; null for one that ran already")
    seconds: Number = Field(description="how long the mix was played")
    rows: list[Latency] = Field(description="one entry an action")
    memory: list[MemoryGrowth] = Field(description="memory of a page that the load test started")


class LoadTest(Record):
    """Replies, failures and memory of the page with many visitors at once, polite and hostile."""

    machine: dict[str, Any] = Field(description="processor, cores, system and software")
    mixes: list[LoadMix] = Field(description="one entry a mix and state, in the order played")
