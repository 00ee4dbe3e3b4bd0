"""How well text is read and written: dialogue acts, prices and tells; the words of a seller."""

from sauda.records.schemas.base import Record, Row, Rows, Table

STUB = "stub"  # the side of scripted lines, without a model


class Acts(Record):
    """How well dialogue acts are read, against the annotated acts of human dialogues."""

    parts: Rows  # accuracy, one row per part
    rows: Rows  # precision and recall, one row per part and act
    confusion: Rows  # turns by part, annotated act and act that is read
    # by part and declared currency: turns whose act has a price, and in how many words it is found
    prices: Rows
    counts: dict[str, int]  # lines of the file: used, and left out by reason


class Language(Record):
    """How well prices and tells are read in labelled sentences, beside a list of keywords."""

    rows: Rows  # signals by reader, split and language
    prices: Rows  # prices by reader, split and language; of the blind writer by kind
    # every sentence with its labels, and the signals and the price that each reader finds in it
    sentences: Rows
    blind: "Language" = None  # the same on sentences by a writer who never saw the reader


class SellerCell(Record):
    """One side's figure for a criterion, with its 95% interval."""

    n: int  # sample size
    of: str  # what `n` counts
    mean: float
    low: float
    high: float
    meets: bool | None  # whether the target is met; null without a target


class SellerRow(Row):
    """One criterion, for every side."""

    sides: dict[str, SellerCell]  # figures by side


class SellerQuality(Record):
    """A language model's words as a seller beside scripted lines, with every text."""

    # games in order: seed, item and limit, asks and bids in rupees, the kind of each decision of
    # the seller and the buyer's act that it answers, and the end
    games: Rows
    # texts by model, game, decision and try; the last is said if it has no fault
    tries: dict[str, list[list[list[str]]]]
    # the model's answer to which persona spoke, one per published game
    answers: dict[str, list[str]]
    rows: Table[SellerRow]  # one row per criterion
    # Games by side: true persona by row, by column that of the style heard most; all but the last
    # of "heard" have a row.
    personas: Row
    faults: dict[str, dict[str, int]]  # faults found, by side and kind
    models: dict[str, Row]  # weights and sampling, by model
