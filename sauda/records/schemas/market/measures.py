"""The open market: its best values, what its sellers give away, and the belief buyer's belief."""

from pydantic import Field, FiniteFloat

from sauda.records.schemas.base import Interval, Record


class SignalRow(Record):
    """How much one signal of the seller's manner tells of each hidden cause."""

    signal: str = Field(description="name of the signal")
    cause: str | None = Field(description="the cause it is drawn from; null for a public one")
    r2: dict[str, FiniteFloat] = Field(description="partial R² given public history, by cause")
    low: dict[str, FiniteFloat] = Field(description="lower end of the 95 % interval, by cause")
    high: dict[str, FiniteFloat] = Field(description="upper end of the 95 % interval, by cause")


class Manner(Record):
    """What the sellers' manner tells in one task."""

    task: str = Field(description="name of the task")
    games: int = Field(description="games with at least one counter-offer")
    replies: int = Field(description="counter-offers observed")
    signals: list[SignalRow] = Field(description="one row a signal")


class WordLeakage(Record):
    """How well a listener guesses the reservation price: R² out of sample."""

    n: int = Field(description="games guessed")
    prices: Interval = Field(description="R² from prices alone")
    with_words: Interval = Field(description="R² from prices and words")
    gain: Interval = Field(description="what words add")


class Market(Record):
    """What the open market's sellers give away by manner and word."""

    manner: list[Manner] = Field(description="signals, one entry a task")
    words: WordLeakage = Field(description="what words tell of the reservation price")


class TypeScores(Record):
    """Scores of a predicted distribution over seller types; 0 is best but for the accuracy."""

    brier: FiniteFloat = Field(description="Brier score")
    log_loss: FiniteFloat = Field(description="mean negative log probability of the true type")
    calibration_error: FiniteFloat = Field(description="expected calibration error, ten bins")
    accuracy: FiniteFloat = Field(
        description="share of beliefs whose likeliest type is the true one"
    )


class _Level(Record):
    level: FiniteFloat = Field(description="nominal level of the interval")


class Coverage(Interval, _Level):
    """How often the true reservation price lies in a central interval of the belief."""


class CalibrationRow(Record):
    """The belief after some rounds, from some evidence."""

    task: str = Field(description="name of the task")
    round: int = Field(description="rounds played when the belief is read")
    evidence: str = Field(description="what the belief may use")
    n: int = Field(description="beliefs read")
    coverage: list[Coverage] = Field(description="one entry a nominal level")
    width: Interval = Field(description="width of the 80 % interval, share of the list price")
    error: Interval = Field(description="absolute error of the median, share of the list price")
    types: TypeScores = Field(description="scores of the believed seller types")


class InputsRow(Record):
    """In how many states tells and words change what the belief buyer believes and does."""

    task: str = Field(description="name of the task")
    games: int = Field(description="games played")
    n: int = Field(description="states compared")
    beliefs: Interval = Field(description="share of states whose belief differs")
    distance: Interval = Field(description="total variation distance of the two beliefs")
    moves: Interval = Field(description="share of states whose move differs")


class OutcomeRow(Record):
    """Grades of the belief buyer with and without tells and words."""

    task: str = Field(description="name of the task")
    n: int = Field(description="holdout seeds")
    belief: Interval = Field(description="mean grade with prices, tells and words")
    belief_prices: Interval = Field(description="mean grade with prices alone")
    difference: Interval = Field(description="the first less the second, paired by seed")


class Belief(Record):
    """Whether the belief buyer's belief is calibrated, and what tells and words add to it."""

    uninformed: TypeScores = Field(description="scores of the uniform distribution")
    calibration: list[CalibrationRow] = Field(description="one row a task, round and evidence")
    inputs: list[InputsRow] = Field(description="one row a task")
    outcomes: list[OutcomeRow] = Field(description="one row a task")
