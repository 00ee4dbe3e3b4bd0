"""What the models of several kinds share: the strict base class, means and intervals."""

from collections.abc import Iterator, KeysView
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

    # Access by the file's keys, as if the record were a mapping, until every reader uses attributes

    def __getitem__(self, key: str) -> Any:
        for name, field in type(self).model_fields.items():
            if key in (name, field.alias) and name in self.model_fields_set:
                return getattr(self, name)
        raise KeyError(key)

    def get(self, key: str, default: Any = None) -> Any:
        """As of a mapping."""
        return dict(self.items()).get(key, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def keys(self) -> KeysView[str]:
        """As of a mapping."""
        fields = type(self).model_fields.items()
        names = [f.alias or name for name, f in fields if name in self.model_fields_set]
        return dict.fromkeys(names).keys()

    def items(self) -> list[tuple[str, Any]]:
        """As of a mapping."""
        return [(key, self[key]) for key in self.keys()]

    def values(self) -> list[Any]:
        """As of a mapping."""
        return [self[key] for key in self.keys()]

    def __contains__(self, key: object) -> bool:
        return key in self.keys()

    def __or__(self, other: Any) -> dict[str, Any]:
        return dict(self.items()) | dict(other)


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
    """Hashes of the code that was played; rows compare only where task and opponents agree."""

    task: str = Field(description="rules, learner's seat, grade and success threshold")
    opponents: str = Field(description="the policies in the other seats")
    policy: str = Field(description="the judged policy")


class ModelSource(Record):
    """The weights behind a language model's row, and how it was prompted and sampled."""

    source: str = Field(description="base, adapter, precision and device in words")
    origin: str = Field(description="where the base weights come from, with their version")
    sha256: str = Field(description="digest of base and adapter weights")
    cpu: str = Field(description="vector instructions of the CPU, which decide bf16 rounding")
    prompt: str = Field(description="hash of the code that renders the prompt")
    parser: str = Field(description="hash of the code that parses the completion")
    sampling: dict[str, Number] = Field(description="sampling parameters by name")
