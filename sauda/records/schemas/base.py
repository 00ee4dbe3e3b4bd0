"""What the models of several kinds share: the strict base class, means and intervals."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

Number = FiniteFloat | int  # written as it was computed: 60 and 60.0 are different texts
Cell = FiniteFloat | int | bool | str | None  # of a table


class Record(BaseModel):
    """A part of an artifact: unknown fields, wrong types and changes after loading are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    def as_json(self) -> dict[str, Any]:
        """The JSON value as it is in the file: the fields it holds, under the file's keys."""
        return self.model_dump(by_alias=True, exclude_unset=True)


class Interval(Record):
    """A mean with its 95 % interval: a percentile bootstrap, or Wilson's for a proportion."""

    mean: FiniteFloat = Field(description="the mean of the sample")
    low: FiniteFloat = Field(description="lower end of the 95 % interval")
    high: FiniteFloat = Field(description="upper end of the 95 % interval")


class Metric(Interval):
    """A sample of episodes in numbers, and its paired difference from the baseline policy."""

    sd: FiniteFloat = Field(description="standard deviation over episodes")
    iqm: FiniteFloat = Field(description="interquartile mean: the mean of the middle half")
    difference: FiniteFloat = Field(
        None, description="mean of this policy less the baseline, paired by seed"
    )
    difference_low: FiniteFloat = Field(None, description="lower end of its 95 % interval")
    difference_high: FiniteFloat = Field(None, description="upper end of its 95 % interval")

    def paired(self) -> Interval | None:
        """The paired difference from the baseline with its interval; None without a baseline."""
        if self.difference is None:
            return None
        return Interval(mean=self.difference, low=self.difference_low, high=self.difference_high)


class Hashes(Record):
    """Fingerprints of what was played; rows compare only where task and opponents agree."""

    task: str = Field(description="rules, grade and success threshold")
    opponents: str = Field(description="the policies in the other seats")
    policy: str = Field(description="the judged policy")


class ModelSource(Record):
    """The weights behind a language model's row, and how it was prompted and sampled."""

    source: str = Field(description="base, adapter, precision and device in words")
    origin: str = Field(description="where the base weights come from, with their version")
    sha256: str = Field(description="digest of base and adapter weights")
    cpu: str = Field(description="vector instructions of the CPUs, which decide bf16 rounding")
    prompt: str = Field(description="fingerprint of the prompt")
    parser: str = Field(description="fingerprint of the parser")
    sampling: dict[str, bool | Number] = Field(description="sampling parameters by name")
