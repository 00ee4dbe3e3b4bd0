"""Dialogues in words to learn from: two public corpora, and the set that is shipped with us.

CraigslistBargains (He et al. 2018): a buyer and a seller of one listing. Deal-or-No-Deal (Lewis et
al. 2017): two agents divide books, hats and balls. The human dialogues are not shipped: the licence
of the first is unknown, and that of the second is CC BY-NC 4.0 at its release. Whoever loads them
keeps to these. Every row that is not used is named by file, line and reason.
"""

import codecs
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from sauda.language.acts import (
    DOLLARS,
    EVENTS,
    INTENTS,
    SELLING,
    Act,
    Dialogue,
    Turn,
    View,
    describe_item,
    read_acts,
)
from sauda.records.schemas.training import DialogueRow
from sauda.records.store import Artifact, load
from sauda.train.teacher_rows import label_tokens

SHIPPED, FILE = "sauda", "dialogues.json"  # the name of the shipped set, and its artifact
SHOWN_ROWS = 20  # that are named one by one in a report; all are counted
SHOWN_CHARACTERS = 200  # of a row's reason
FEWEST_TURNS = 2  # with words
LONGEST = 2_000  # characters of a text; the longest turn in the samples has 548

# Control characters but for tab and line ends, halves of a pair, and the mark of a lost character.
_DAMAGED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd\ud800-\udfff]")
# The forms of such tokens in chat templates: <|im_end|>, <s>, <end_of_turn>, [INST]. A tokenizer
# reads them as control tokens wherever they stand in a text.
_SPECIAL = re.compile(r"<[|｜][^<>]*[|｜]>|</?[a-z]\w*>|\[/?INST\]", re.IGNORECASE)


class NotUsed(ValueError):
    """A row that is not used: `reason` is its category, the text of the error says where."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


def require(holds: bool, reason: str, detail: str = "") -> None:
    """Raise NotUsed with the reason unless the condition `holds`."""
    if not holds:
        raise NotUsed(reason, detail)


@dataclass(frozen=True)
class Loaded:
    """The dialogues of a source that are used, and every row that is not."""

    dialogues: tuple[Dialogue, ...]
    left_out: tuple[str, ...]  # file, line (from 1) and why, for each row that is not used
    reasons: Mapping[str, int]  # how many rows are left out for each

    def counts(self) -> dict[str, int]:
        """How many rows are used, and how many are left out for each reason."""
        return {"used": len(self.dialogues), **self.reasons}


def report_use(loaded: Loaded) -> tuple[Dialogue, ...]:
    """Print what is left out, and count all rows; returns the dialogues that are used.

    Raises ValueError where there is none.
    """
    print(*loaded.left_out[:SHOWN_ROWS], sep="\n")
    if (more := len(loaded.left_out) - SHOWN_ROWS) > 0:
        print(f"and {more:,} more that are left out")
    for reason, n in loaded.counts().items():
        print(f"dialogues, {reason}: {n:,}", flush=True)
    if not loaded.dialogues:
        first = loaded.left_out[0] if loaded.left_out else "there is no row"
        raise ValueError(
            f"no dialogue can be used: {first}; a file of dialogues has one JSON object per line"
        )
    return loaded.dialogues


def keep_usable(
    file: str,
    rows: Iterable[Any],
    read: Callable[[Any, str, str], Dialogue],
    source: str,
    currency: str,
    one_sided: bool = False,
) -> Loaded:
    """The dialogues that `read` makes of rows, their ids and the currency, once each.

    `file` is the name that reports and ids carry. See `check_dialogue` for `one_sided`.
    """
    first_lines: dict[object, int] = {}
    dialogues, left_out, reasons = [], [], Counter[str]()
    for line, row in enumerate(rows, 1):
        try:
            dialogue = read(row, f"{source}/{file}/{line}", currency)
            check_dialogue(dialogue, one_sided)
            values = {agent: tuple(private.items()) for agent, private in dialogue.values.items()}
            content = (dialogue.group, tuple(sorted(values.items())), dialogue.turns)
            first = first_lines.setdefault(content, line)
            require(first == line, "duplicate", f"the dialogue of line {first} again")
            dialogues.append(dialogue)
        except NotUsed as error:
            cut = str(error)[:SHOWN_CHARACTERS] + " …" * (len(str(error)) > SHOWN_CHARACTERS)
            shown = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)
            left_out.append(f"{file}:{line}: {''.join(shown)}")
            reasons[error.reason] += 1
    return Loaded(tuple(dialogues), tuple(left_out), reasons)


def check_dialogue(dialogue: Dialogue, one_sided: bool = False) -> None:
    """Raise NotUsed where no model should learn from `dialogue`.

    `one_sided` dialogues, in which one side has no words, are allowed where their acts are read.
    """
    texts = {f"turn {number}": turn.text for number, turn in enumerate(dialogue.turns, 1)}
    for place, text in ({"the scenario": dialogue.scenario} | texts).items():
        if match := _DAMAGED.search(text):
            raise NotUsed("damaged text", f"U+{ord(match.group()):04X} in {place}")
        if match := _SPECIAL.search(text):
            raise NotUsed("special token of a chat template", f"{match.group()} in {place}")
        if len(text) > LONGEST:
            raise NotUsed(
                f"a text of more than {LONGEST:,} characters", f"{place} has {len(text):,}"
            )
    spoken = sum(map(bool, texts.values()))
    require(spoken >= FEWEST_TURNS, f"fewer than {FEWEST_TURNS} turns with words")
    speakers = {turn.agent for turn in dialogue.turns if any(map(str.isalnum, turn.text))}
    silent = [agent for agent in dialogue.values if agent not in speakers]
    require(one_sided or not silent, "a side without words", " and ".join(silent))


def validate(model: type[BaseModel], columns: Any) -> Any:
    """Columns, or a line of JSON as bytes, as an object of `model`; NotUsed names a bad place."""
    try:
        if isinstance(columns, bytes):
            return model.model_validate_json(columns)
        return model.model_validate(columns)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "the row"
        reasons = {
            "missing": "missing column",
            "extra_forbidden": "unknown column",
            "string_unicode": "damaged text",
            "json_invalid": "not JSON",
        }
        reason = reasons.get(first["type"], "wrong type")
        fault = first["msg"].lower() if reason != "not JSON" else first["msg"].split(": ")[-1]
        raise NotUsed(reason, f"{place}: {fault}") from None


NAMES = {"inquiry": "inquire"}  # acts that the corpus names differently


def read_bargain(columns: Any, name: str, currency: str) -> Dialogue:
    """The dialogue in a row of CraigslistBargains; NotUsed where it holds none."""
    row = validate(DialogueRow, columns)
    agents, acts, items = tuple(row.agent_info.Role), row.dialogue_acts, row.items
    require(sorted(agents) == sorted(SELLING), "not a buyer and a seller", f"roles are {agents}")
    others = [speaker for speaker in row.agent_turn if speaker not in (0, 1)]
    require(not others, "a third speaker", f"{others} beside 0 and 1")
    lengths = {len(row.agent_turn), len(row.utterance), len(acts.intent), len(acts.price)}
    require(len(lengths) == 1, "columns of different lengths", f"{sorted(lengths)} events")
    posted = items.Price and items.Title and items.Description and items.Category
    require(bool(posted), "no posting", "the columns of items are empty")
    titles = {" ".join(title.split()) for title in items.Title}
    require(len(titles) == len(set(items.Price)) == 1, "two postings", f"{titles}, {items.Price}")
    (title,) = titles
    list_price = _amount("the list price", items.Price[0])
    require(list_price > 0, "no list price", f"it is {list_price:g}")
    return Dialogue(
        id=name,
        group=f"{title.casefold()} {list_price:g}",
        scenario=describe_item(title, items.Category[0], list_price, currency),
        values={agent: _private_prices(row, index) for index, agent in enumerate(agents)},
        turns=tuple(
            Turn(agents[speaker], " ".join(text.split()), _act(intent, price, text))
            for speaker, text, intent, price in zip(
                row.agent_turn, row.utterance, acts.intent, acts.price, strict=True
            )
        ),
        currency=currency,
        list_price=list_price,
        notes="\n".join(items.Title + items.Description),
    )


def _private_prices(row: DialogueRow, index: int) -> dict[str, float]:
    """One agent's private prices: its target and its limit, as far as the row has them."""
    targets, limits = row.agent_info.Target, row.agent_info.Bottomline
    require(
        len(targets) == len(limits) == len(SELLING),
        "not a buyer and a seller",
        "private values of another number of agents",
    )
    private = {"target": targets[index], "limit": limits[index]}
    values = {n: _amount(f"the {n}", x) for n, x in private.items() if x not in (None, "None")}
    valid = values and all(value > 0 for value in values.values())
    require(bool(valid), "no private value", f"{row.agent_info.Role[index]}: {values}")
    return values


def _amount(name: str, number: float | str) -> float:
    """`number`, which may be written as a text, as a finite float."""
    try:
        amount = float(number)
    except ValueError:
        raise NotUsed("wrong type", f"{name} {number!r} is no number") from None
    except OverflowError:  # of a whole number beyond all floats
        amount = math.inf
    require(math.isfinite(amount), "number out of range", f"{name} is no finite number")
    return amount


def _act(intent: str | None, price: float | None, text: str) -> Act | None:
    """The annotated act; None where there is no annotation."""
    if not intent:
        return None
    intent = NAMES.get(intent, intent)
    require(intent in INTENTS, "unknown act", repr(intent))
    has_words = bool(text.strip()) or intent in EVENTS
    require(has_words, "an act without words", f"{intent} is no button")
    return Act(intent, None if price is None or price < 0 else _amount("the price", price))


DIVIDING = ("opener", "responder")
KINDS = ("book", "hat", "ball")
SELECTION = "<selection>"  # the control token in place of the last turn's words
WORTH = 10  # the worth of all items to each player
PLAYERS = {"YOU": "input", "THEM": "partner_input"}
_DIVISION = re.compile(
    r"<input>(?P<input>.*?)</input>\s*<dialogue>(?P<dialogue>.*?)</dialogue>\s*"
    r"<output>(?P<output>.*?)</output>\s*<partner_input>(?P<partner_input>.*?)</partner_input>"
)
_SMALL_NUMBER = re.compile(r"\d{1,4}", re.ASCII)  # a larger one cannot add up to WORTH
_TURN = re.compile(r"(\w+):\s*(.*)", re.DOTALL)


class Side(BaseModel):
    """Per kind of item: its count, and its value to a player."""

    model_config = ConfigDict(strict=True)
    count: list[int]
    value: list[int]


class DivisionRow(BaseModel):
    """The columns of the data set on the Hub."""

    model_config = ConfigDict(strict=True)
    input: Side
    partner_input: Side
    dialogue: str
    output: str


def split_division(line: str) -> dict[str, Any]:
    """A line of the released text files as the columns on the Hub."""
    match = _DIVISION.fullmatch(line)
    require(bool(match), "missing column", "input, dialogue, output and partner_input, each closed")
    columns: dict[str, Any] = {name: text.strip() for name, text in match.groupdict().items()}
    for name in PLAYERS.values():
        numbers = columns[name].split()
        short = len(numbers) == 2 * len(KINDS) and all(map(_SMALL_NUMBER.fullmatch, numbers))
        require(short, "wrong type", f"expected six counts and values, got {columns[name]!r}")
        whole = list(map(int, numbers))
        columns[name] = {"count": whole[::2], "value": whole[1::2]}
    return columns


def read_division(columns: Any, name: str, currency: str) -> Dialogue:
    """The dialogue in a row of Deal-or-No-Deal; NotUsed where it holds none."""
    if isinstance(columns, bytes):
        columns = split_division(columns.decode(errors="replace").strip())
    row = validate(DivisionRow, columns)
    sides = {"YOU": row.input, "THEM": row.partner_input}
    for side in sides.values():
        three = len(side.count) == len(side.value) == len(KINDS)
        require(three, "wrong type", "a side has other than three kinds of items")
        worth = sum(c * v for c, v in zip(side.count, side.value, strict=True))
        require(worth == WORTH, "values do not add up", f"all items are worth {worth}")
    counts = f"{row.input.count} and {row.partner_input.count}"
    require(row.input.count == row.partner_input.count, "two players see other items", counts)
    turns = []
    for number, text in enumerate(row.dialogue.split("<eos>"), 1):
        match = _TURN.fullmatch(text.strip())
        require(bool(match), "a turn without a speaker", f"turn {number} is {text.strip()[:40]!r}")
        require(match[1] in PLAYERS, "a third speaker", f"turn {number} is by {match[1]!r}")
        turns.append((match[1], match[2].strip()))
    agents = {side: DIVIDING[side != turns[0][0]] for side in PLAYERS}
    values = {
        agents[side]: {f"value of a {kind}": n for kind, n in zip(KINDS, part.value, strict=True)}
        for side, part in sides.items()
    }
    contexts = sorted(str(sorted(part.items())) for part in values.values())
    items = ", ".join(f"{n} {kind}" for n, kind in zip(row.input.count, KINDS, strict=True))
    return Dialogue(
        id=name,
        group=" ".join(contexts),
        scenario=f"items: {items}",
        values=values,
        turns=tuple(Turn(agents[side], "" if text == SELECTION else text) for side, text in turns),
        currency=currency,
    )


@dataclass(frozen=True)
class Source:
    """A data set: where it is on the Hub, its licence, the currency of its texts, its reader."""

    licence: str
    currency: str  # that amounts in its texts are in; "" where numbers are no amounts
    repository: str  # on the Hub
    config: str  # of that repository
    read: Callable[[Any, str, str], Dialogue]  # a line or columns, id and currency as a dialogue
    agents: tuple[str, str]  # whose roles can be learnt


SOURCES: Mapping[str, Source] = {
    "craigslist_bargains": Source(
        "unknown", DOLLARS, "stanfordnlp/craigslist_bargains", "default", read_bargain, SELLING
    ),
    "deal_or_no_deal": Source(
        "CC BY-NC 4.0 at its release, CC BY 4.0 on the Hub",
        "",
        "mikelewis0/deal_or_no_dialog",
        "dialogues",
        read_division,
        DIVIDING,
    ),
}


def source_of(name: str) -> Source:
    """The data set of that name; the ValueError for any other lists the names."""
    if name not in SOURCES:
        raise ValueError(f"no data set {name!r}; data sets are {', '.join(SOURCES)}")
    return SOURCES[name]


def load_dialogues(name: str, file: Path | None, split: str) -> Loaded:
    """The dialogues of the data set `name` in a file or a split on the Hub; without all, shipped.

    Raises ValueError for half of a place, and what the place raises.
    """
    if not (name or file or split):
        return load_shipped()
    if not name or bool(file) == bool(split):
        raise ValueError("name a data set with --source, and its place with --data or --hub")
    return from_file(name, file) if file else from_hub(name, split)


def from_file(name: str, path: Path, one_sided: bool = False) -> Loaded:
    """The dialogues of a local file of the data set `name`, as it is published: a row per line.

    Those in which one side has no words are used where `one_sided` is set. Raises ValueError for
    an unknown data set, and for a file that cannot be read.
    """
    source = source_of(name)
    try:
        lines = path.read_bytes().removeprefix(codecs.BOM_UTF8).splitlines()
    except OSError as error:
        raise ValueError(
            f"cannot read {path}: {error.strerror}; name a file of dialogues"
        ) from None
    return keep_usable(path.name, lines, source.read, name, source.currency, one_sided)


def from_hub(name: str, split: str) -> Loaded:
    """The dialogues of one split of the data set `name`, in the Hub's own copy in Parquet.

    `datasets` runs no loading scripts any more. Raises ValueError for an unknown data set, and
    where the Hub does not give it.
    """
    from datasets import load_dataset
    from huggingface_hub.utils import httpx

    source = source_of(name)
    place = f"{source.repository}@refs/convert/parquet/{source.config}/{split}"
    files = {split: f"hf://datasets/{place}/*.parquet"}
    try:
        rows = load_dataset("parquet", data_files=files, split=split)
    except (OSError, httpx.HTTPError) as error:
        raise ValueError(
            f"the Hub does not give {place} ({error}); save its file and name it with --data FILE"
        ) from None
    return keep_usable(split, rows, source.read, name, source.currency)


def load_shipped() -> Loaded:
    """The dialogues of scripted policies in artifacts/, which need no network.

    Raises ArtifactError where the file is missing or damaged.
    """
    data = load(FILE).data
    return keep_usable(FILE, data.rows, read_bargain, SHIPPED, data.currency)


def sequence(view: View, tokenizer: Any) -> dict[str, list[int]]:
    """A dialogue from one side as "input_ids" and "labels" of one length.

    Labels are -100 but for the role's words and their ends.
    """
    chat = view.chat()
    return label_tokens(chat, [reply["content"] for reply in chat[2::2]], tokenizer)


def read_again(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """The shipped dialogues with each act as it is read from its words now."""
    names = {ours: theirs for theirs, ours in NAMES.items()}
    data = artifact.data.as_json()
    for row in data["rows"]:
        acts = read_acts(read_bargain(row, SHIPPED, data["currency"]))
        row["dialogue_acts"] = {
            "intent": [names.get(act.intent, act.intent) for act in acts],
            "price": [-1 if act.price is None else act.price for act in acts],
        }
    return data
