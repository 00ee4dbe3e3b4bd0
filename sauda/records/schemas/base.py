"""What the models of several kinds share: the strict base class, means and intervals."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    ModelWrapValidatorHandler,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

Number = float | int  # written as it was computed: 60 and 60.0 are different texts
Cell = float | int | bool | str | None  # of a table


class Record(BaseModel):
    """A part of an artifact: unknown fields, wrong types, infinities, changes are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    def as_json(self) -> dict[str, Any]:
        """The JSON value as it is in the file: the fields it holds, under the file's keys."""
        return self.model_dump(by_alias=True, exclude_unset=True)


class Interval(Record):
    """A mean with its 95% interval: a percentile bootstrap, or Wilson's for a proportion."""

    mean: float  # the mean of the sample
    low: float  # lower end of the 95% interval
    high: float  # upper end of the 95% interval


class Metric(Interval):
    """A sample of episodes in numbers, and its paired difference from the baseline policy."""

    sd: float  # standard deviation over episodes
    iqm: float  # interquartile mean: the mean of the middle half
    difference: float = None  # mean of this policy less the baseline, paired by seed
    difference_low: float = None  # lower end of its 95% interval
    difference_high: float = None  # upper end of its 95% interval

    def paired(self) -> Interval | None:
        """The paired difference from the baseline with its interval; None without a baseline."""
        if self.difference is None:
            return None
        return Interval(mean=self.difference, low=self.difference_low, high=self.difference_high)


class Row(Record):
    """A row of a table; the function that makes it says what its fields are, beside each.

    A field is an attribute too, as `row.grade`: an interval, a plain value, or lists and mappings.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Metric | Interval | Any]
    _order: tuple[str, ...] = ()  # of the fields in the file, which stays as it was read

    @model_validator(mode="wrap")
    @classmethod
    def _keep_order(cls, data: Any, read: ModelWrapValidatorHandler["Row"]) -> "Row":
        row = read(data)
        if isinstance(data, Mapping):
            row._order = tuple(data)
        return row

    @model_serializer(mode="wrap")
    def _in_order(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written = write(self)
        return {name: written[name] for name in self._order or written}


AnyRow = TypeVar("AnyRow", bound=Row)


def check_table(rows: Sequence[AnyRow]) -> Sequence[AnyRow]:
    """The rows; ValueError unless all have the same fields, each of one type where it is not null.

    Whole numbers and others are one type.
    """
    types: dict[str, set[type]] = {name: set() for row in rows[:1] for name, _ in row}
    for number, row in enumerate(rows):
        fields = dict(row)
        if wrong := sorted(fields.keys() ^ types.keys()):
            raise ValueError(f"row {number} and the first differ in the fields {', '.join(wrong)}")
        for name, value in fields.items():
            types[name] |= {float if type(value) is int else type(value)} - {type(None)}
    if mixed := sorted(name for name, kinds in types.items() if len(kinds) > 1):
        raise ValueError(f"values of several types: {', '.join(mixed)}")
    return rows


Table = Annotated[list[AnyRow], AfterValidator(check_table)]
Rows = Table[Row]


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
