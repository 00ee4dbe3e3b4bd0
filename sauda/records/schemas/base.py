"""What the models of several kinds share: the strict base class, means and intervals."""

from typing import Any

from pydantic import BaseModel, ConfigDict

Number = float | int  # written as it was computed: 60 and 60.0 are different texts
Cell = float | int | bool | str | None  # of a table


class Record(BaseModel):
    """A part of an artifact: unknown fields, wrong types, infinities, changes are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    def as_json(self) -> dict[str, Any]:
        """The JSON value as it is in the file: the fields it holds, under the file's keys."""
        return self.model_dump(by_alias=True, exclude_unset=True)


class Interval(Record):
    """A mean with its 95 % interval: a percentile bootstrap, or Wilson's for a proportion."""

    mean: float  # the mean of the sample
    low: float  # lower end of the 95 % interval
    high: float  # upper end of the 95 % interval


class Metric(Interval):
    """A sample of episodes in numbers, and its paired difference from the baseline policy."""

    sd: float  # standard deviation over episodes
    iqm: float  # interquartile mean: the mean of the middle half
    difference: float = None  # mean of this policy less the baseline, paired by seed
    difference_low: float = None  # lower end of its 95 % interval
    difference_high: float = None  # upper end of its 95 % interval

    def paired(self) -> Interval | None:
        """The paired difference from the baseline with its interval; None without a baseline."""
        if self.difference is None:
            return None
        return Interval(mean=self.difference, low=self.difference_low, high=self.difference_high)


class Hashes(Record):
    """Fingerprints of what was played; rows compare only where task and opponents agree."""

    task: str  # rules, grade and success threshold
    opponents: str  # the policies in the other seats
    policy: str  # the judged policy


class ModelSource(Record):
    """The weights behind a language model's row, and how it was prompted and sampled."""

    source: str  # base, adapter, precision and device in words
    origin: str  # where the base weights come from, with their version
    sha256: str  # digest of base and adapter weights
    cpu: str  # vector instructions of the CPUs, which decide bf16 rounding
    prompt: str  # fingerprint of the prompt
    parser: str  # fingerprint of the parser
    sampling: dict[str, bool | Number]  # sampling parameters by name
