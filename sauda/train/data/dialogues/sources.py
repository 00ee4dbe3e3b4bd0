"""The data sets of dialogues, and how each is loaded: a file, the Hub, or the set shipped with us.

The human dialogues are not shipped: the licence of CraigslistBargains is unknown, and that of
Deal-or-No-Deal is CC BY-NC 4.0 at its release. Whoever loads them keeps to these.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sauda.language.acts import DOLLARS, Dialogue
from sauda.records.store import load
from sauda.train.data.dialogues import craigslist, dond
from sauda.train.data.dialogues.reading import Loaded, Row, lines_of, loaded

SHIPPED, FILE = "sauda", "dialogues.json"  # the name of the shipped set, and its artifact


@dataclass(frozen=True)
class Source:
    """A data set: where it is on the Hub, its licence, the currency of its texts, its columns."""

    name: str
    licence: str
    currency: str  # that amounts in its texts are in; "" where numbers are no amounts
    repository: str  # on the Hub
    config: str  # of that repository
    line: str  # what each line of a local file holds
    decode: Callable[[str], Any]  # such a line as columns
    reader: Callable[[Any, str, str], Dialogue]  # columns, id and currency as a dialogue
    agents: tuple[str, str]  # whose roles can be learnt

    def dialogue_of(self, columns: Any, name: str) -> Dialogue:
        """The dialogue in `columns`, called `name`; MalformedRow where they hold none."""
        return self.reader(columns, name, self.currency)


SOURCES: Mapping[str, Source] = {
    source.name: source
    for source in (
        Source(
            "craigslist_bargains",
            "unknown",
            DOLLARS,
            "stanfordnlp/craigslist_bargains",
            "default",
            craigslist.LINE,
            craigslist.decoded,
            craigslist.dialogue_of,
            craigslist.AGENTS,
        ),
        Source(
            "deal_or_no_deal",
            "CC BY-NC 4.0 at its release, CC BY 4.0 on the Hub",
            "",
            "mikelewis0/deal_or_no_dialog",
            "dialogues",
            dond.LINE,
            dond.decoded,
            dond.dialogue_of,
            dond.AGENTS,
        ),
    )
}


def source_of(name: str) -> Source:
    """The data set of that name; ValueError naming those there are."""
    if name not in SOURCES:
        raise ValueError(f"no data set {name!r}; data sets are {', '.join(SOURCES)}")
    return SOURCES[name]


def loaded_from(name: str, file: Path | None, split: str) -> Loaded:
    """The dialogues of the data set `name` in a file or a split on the Hub; without all, shipped.

    Raises ValueError for half of a place, and what the place raises.
    """
    if not (name or file or split):
        return shipped()
    if not name or bool(file) == bool(split):
        raise ValueError("name a data set with --source, and its place with --data or --hub")
    return from_file(name, file) if file else from_hub(name, split)


def from_file(name: str, path: Path, one_sided: bool = False) -> Loaded:
    """The dialogues of a local file of the data set `name`, as it is published.

    Those in which one side has no words are used where `one_sided` is set. Raises ValueError for
    an unknown data set, and for a file that cannot be read, is empty or has another format.
    """
    source = source_of(name)
    rows = lines_of(path, source.decode, source.line)
    return loaded(path.name, rows, source.dialogue_of, name, one_sided)


def from_hub(name: str, split: str) -> Loaded:
    """The dialogues of one split of the data set `name` on the Hub, by `datasets`.

    Raises ValueError for an unknown data set, and where the Hub does not give it.
    """
    source = source_of(name)
    return loaded(split, _hub_rows(source, split), source.dialogue_of, name)


def shipped() -> Loaded:
    """The dialogues of scripted policies in artifacts/, which need no network.

    Raises ArtifactError where the file is missing or damaged.
    """
    data = load(FILE).data
    reader = partial(craigslist.dialogue_of, currency=data.currency)
    return loaded(FILE, enumerate(data.rows, 1), reader, SHIPPED)


def _hub_rows(source: Source, split: str) -> Iterator[Row]:
    """The rows of the Hub's own copy in Parquet: `datasets` runs no loading scripts any more."""
    from datasets import load_dataset
    from huggingface_hub.utils import httpx

    place = f"{source.repository}@refs/convert/parquet/{source.config}/{split}"
    try:
        rows = load_dataset(
            "parquet", data_files={split: f"hf://datasets/{place}/*.parquet"}, split=split
        )
    except (OSError, httpx.HTTPError) as error:
        raise ValueError(
            f"the Hub does not give {place} ({error}); save its file and name it with --data FILE"
        ) from None
    return enumerate(rows, 1)
