"""Dialogues: what is used, what is left out with its file, line and reason, the shipped set."""

import json
from pathlib import Path

import pytest
from datasets import Dataset
from datasets.exceptions import DatasetNotFoundError
from huggingface_hub.utils import httpx

from sauda.language.acts import Act, read
from sauda.records.store import load
from sauda.train.dialogues import FILE, LONGEST, from_file, from_hub, report, shipped
from sauda.train.scripted_dialogues import DialogueSettings, put_into_words
from tests.support.dialogues import DIVISION, LAMP, MIRROR, craigslist_row, lines

THREE = [(0, "Hi", "intro", -1), (1, "Hello", "unknown", -1), (2, "Me too", "unknown", -1)]
CB, DOND = "craigslist_bargains", "deal_or_no_deal"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "dialogues.json"


def reports(name: str, file: Path) -> list[str]:
    """What is said of each row that is left out, without its file."""
    return [str(row).removeprefix(f"{file.name}:") for row in from_file(name, file).left_out]


def test_a_row_is_a_dialogue_of_a_buyer_and_a_seller(file):
    file.write_text(lines(craigslist_row()))
    (dialogue,) = from_file(CB, file).dialogues
    assert dialogue.id == "craigslist_bargains/dialogues.json/1"
    assert dialogue.values == {"buyer": {"target": 350.0}, "seller": {"target": 500.0}}
    assert dialogue.scenario == "item: Brass lamp\ncategory: furniture\nlist price: $500"
    assert [turn.agent for turn in dialogue.turns[:2]] == ["buyer", "seller"]
    assert dialogue.turns[-2].act == Act("offer", 400)
    assert dialogue.annotated


@pytest.mark.parametrize(
    ("row", "report"),
    [
        (craigslist_row(THREE), "a third speaker: "),
        (
            craigslist_row(agent_info={
                "Role": ["buyer", "seller", "broker"],
                "Target": [1.0, 2.0, 3.0],
                "Bottomline": ["None"] * 3,
            }),
            "not a buyer and a seller: ",
        ),
        (craigslist_row(agent_turn=[0, 1]), "columns of different lengths: "),
        (craigslist_row(agent_turn="0101010"), "wrong type: agent_turn: "),
        (craigslist_row(utterance=[None] * 7), "wrong type: utterance.0: "),
        (craigslist_row(mood="calm"), "unknown column: mood: "),
        (craigslist_row(target=-3.0), "no private value: "),
        (craigslist_row([(0, "Hi", "bribe", -1)] * 2), "unknown act: 'bribe'"),
        (craigslist_row([(0, "", "inform", -1)] * 2), "an act without words: "),
        ({k: v for k, v in craigslist_row().items() if k != "items"}, "missing column: items: "),
        ([1, 2], "wrong type: the row: "),
        (craigslist_row(title="Café lamp") | {"items": None}, "wrong type: items: "),
    ],
)  # fmt: skip
def test_a_malformed_row_is_named_and_never_used(row, report, file):
    file.write_text(lines(craigslist_row(), row))
    loaded = from_file(CB, file)
    assert [dialogue.id[-1] for dialogue in loaded.dialogues] == ["1"]
    (left_out,) = loaded.left_out
    assert str(left_out).startswith(f"dialogues.json:2: {report}")
    assert loaded.counts() == {"used": 1, report.partition(":")[0]: 1}


def said(words: str) -> dict:
    """A row whose second turn has these words."""
    return craigslist_row([LAMP[0], (1, words, "inform", -1), *LAMP[2:]])


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("half \ud800 a pair", "not JSON"),
        ("nothing \0 here", "damaged text"),
        ("a lost \ufffd character", "damaged text"),
        ("x" * (LONGEST + 1), "a text of more than 2,000 characters"),
        *(
            (f"fine{token}ok", "special token of a chat template")
            for token in ("<|im_end|>", "<|eot_id|>", "</s>", "<end_of_turn>", "[INST]")
        ),
    ],
)
def test_words_that_no_model_should_read_leave_their_dialogue_out(words, reason, file):
    file.write_text(lines(craigslist_row(), said(words)))
    assert from_file(CB, file).counts() == {"used": 1, reason: 1}


def test_titles_and_divisions_are_filtered_as_well(file):
    file.write_text(lines(craigslist_row(), craigslist_row(title="Lamp <|im_end|>")))
    assert reports(CB, file) == ["2: special token of a chat template: <|im_end|> in the scenario"]
    file.write_text(f"{DIVISION}\n{DIVISION.replace('the book is', '<|im_end|> is')}\n")
    assert reports(DOND, file) == ["2: special token of a chat template: <|im_end|> in turn 1"]


@pytest.mark.parametrize(
    "words", ["₹500 <3", "<= 400", "5 < 6 > 2", "[x] | <", "x" * LONGEST, "छूट", "a\u2028b"]
)
def test_other_signs_are_words(words, file):
    row = json.dumps(said(words), ensure_ascii=False)
    file.write_text(f"\ufeff{lines(craigslist_row())}{row}\n")  # a byte order mark is no fault
    assert from_file(CB, file).counts() == {"used": 2}


@pytest.mark.parametrize("other", ["", "..."])
def test_a_dialogue_of_one_side_is_counted_and_used_only_where_it_is_asked_for(other, file):
    intent = "unknown" if other else "accept"
    monologue = [(0, "Hi", "intro", -1), (0, "Anyone?", "inquiry", -1), (1, other, intent, -1)]
    file.write_text(lines(craigslist_row(), craigslist_row(monologue)))
    assert from_file(CB, file).counts() == {"used": 1, "a side without words": 1}
    assert from_file(CB, file, one_sided=True).counts() == {"used": 2}


def test_lines_that_are_no_json_or_no_utf8_or_empty_cost_themselves_alone(file):
    good = lines(craigslist_row()).encode()
    latin = lines(craigslist_row(title="Café lamp")).encode().replace(b"\\u00e9", b"\xe9")
    file.write_bytes(good + b"{'agent_info'\n" + latin + b"\n" + good[:40])
    assert from_file(CB, file).counts() == {"used": 1, "not JSON": 4}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "there is no row"),
        (b"scenario,title,price\ntrain_1,Lamp,500\n", "dialogues.json:1: "),
        (json.dumps([craigslist_row()], indent=1).encode(), "dialogues.json:1: "),
        (lines(craigslist_row()).encode("utf-16"), "dialogues.json:1: "),
    ],
    ids=["empty", "CSV", "array", "UTF-16"],
)
@pytest.mark.parametrize("name", [CB, DOND])
def test_a_file_of_another_format_is_one_sentence_with_its_first_fault(name, content, told, file):
    file.write_bytes(content)
    with pytest.raises(ValueError, match=f"^no dialogue can be used: {told}.*$"):
        report(from_file(name, file))


LARGE, LONG = (
    "1" + "0" * 400,
    "9" * 5000,
)  # beyond all floats, and beyond the digits that `int` reads


@pytest.mark.parametrize(
    ("old", "new", "report"),
    [
        ("{", '{"a":' * 5000, "not JSON: "),
        (
            "[500.0, 500.0]",
            f"[{LARGE}, {LARGE}]",
            "number out of range: the list price is no finite",
        ),
        ("[350.0, 500.0]", f"[{LARGE}, 500.0]", "number out of range: the target is no finite"),
        ('"None", "None"', '"None", "1e999"', "number out of range: the limit"),
        ("-1.0, 500.0", f"-1.0, {LARGE}", "number out of range: the price"),
        ("[500.0, 500.0]", f"[{LONG}, {LONG}]", ""),
        ('"agent_turn": [0', f'"agent_turn": [{LONG}', ""),
    ],
    ids=["nested", "list price", "target", "limit", "price of an act", "many digits", "speaker"],
)
def test_a_number_or_a_nesting_beyond_all_limits_costs_its_own_line_alone(old, new, report, file):
    good = lines(craigslist_row())
    assert good.count(old)
    file.write_text(good.replace(old, new) + good)
    loaded = from_file(CB, file)
    assert len(loaded.dialogues) == 1
    assert str(loaded.left_out[0]).startswith(f"dialogues.json:1: {report}")


def test_a_report_of_a_row_is_short_and_can_be_printed(file):
    row = craigslist_row() | {"mood\ud800\x1b": 1}
    file.write_text(lines(craigslist_row(), row, craigslist_row([(0, "Hi", "b" * 999, -1)] * 2)))
    damaged, long = reports(CB, file)
    assert damaged.startswith("2: ")
    assert damaged.isprintable()
    assert len(long) < 250


def test_filters_count_what_they_leave_out(file):
    silent = craigslist_row([LAMP[0], *LAMP[-2:]])
    file.write_text(lines(craigslist_row(), silent, craigslist_row(), craigslist_row(title="Desk")))
    loaded = from_file(CB, file)
    assert loaded.counts() == {"used": 2, "fewer than 2 turns with words": 1, "duplicate": 1}
    assert str(loaded.left_out[1]) == "dialogues.json:3: duplicate: the dialogue of line 1 again"


def test_a_missing_file_and_an_unknown_data_set_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"cannot read .*none\.json: No such file"):
        from_file(CB, tmp_path / "none.json")
    with pytest.raises(ValueError, match="no data set 'ebay'; data sets are craigslist_bargains"):
        from_file("ebay", tmp_path)


def worth(*values: int) -> dict[str, int]:
    return dict(zip(("value of a book", "value of a hat", "value of a ball"), values, strict=True))


def test_a_dialogue_of_a_division_is_held_once(file):
    file.write_text(f"{DIVISION}\n{MIRROR}\n")
    loaded = from_file(DOND, file)
    (dialogue,) = loaded.dialogues
    assert loaded.counts() == {"used": 1, "duplicate": 1}
    assert [turn.agent for turn in dialogue.turns] == ["opener", "responder", "opener", "responder"]
    assert dialogue.values["opener"] == worth(4, 1, 1)
    assert dialogue.values["responder"] == worth(0, 5, 0)
    assert dialogue.turns[-1].text == ""  # the selection is an event
    assert dialogue.list_price is None


@pytest.mark.parametrize(
    ("old", "new", "report"),
    [
        ("THEM: then", "HIM: then", "a third speaker: turn 2 is by 'HIM'"),
        ("THEM: then", "then", "a turn without a speaker: turn 2 is 'then the hats are mine'"),
        ("<input> 1 4 2 1 4 1 <", "<input> 1 4 2 1 4 <", "wrong type: expected six counts"),
        ("<input> 1 4 2 1 4 1 <", "<input> 1 4 2 9 4 1 <", "values do not add up: all items are"),
        ("<partner_input> 1 0 2 5 4 0", "<partner_input> 2 5 2 0 4 0", "two players see other"),
        ("<output>", "<out>", "missing column: "),
        ("1 4 2 1 4 1 <", f"1 4 2 1 4 {LONG} <", "wrong type: expected six counts"),
    ],
)
def test_a_malformed_division_is_named_and_never_used(old, new, report, file):
    file.write_text(f"{DIVISION.replace(old, new)}\n{DIVISION}\n")
    (dialogue,) = from_file(DOND, file).dialogues
    assert dialogue.id[-1] == "2"
    assert reports(DOND, file)[0].startswith(f"1: {report}")


class Hub:
    """Stands at the boundary: `datasets.load_dataset` with rows of its own."""

    def __init__(self, answer) -> None:
        self.answer, self.asked = answer, None

    def __call__(self, *arguments, **options):
        self.asked = (arguments, options)
        if isinstance(self.answer, Exception):
            raise self.answer
        return Dataset.from_list(self.answer)


def test_the_hub_gives_the_same_dialogues_as_a_file(monkeypatch, file):
    hub = Hub([craigslist_row(), craigslist_row(title="Desk")])
    monkeypatch.setattr("datasets.load_dataset", hub)
    loaded = from_hub(CB, "validation")
    place = "hf://datasets/stanfordnlp/craigslist_bargains@refs/convert/parquet/default/validation"
    assert hub.asked == (
        ("parquet",),
        {"data_files": {"validation": f"{place}/*.parquet"}, "split": "validation"},
    )
    file.write_text(lines(*hub.answer))
    assert [d.turns for d in loaded.dialogues] == [d.turns for d in from_file(CB, file).dialogues]
    assert loaded.dialogues[1].id == "craigslist_bargains/validation/2"


def test_the_hub_gives_divisions_too(monkeypatch):
    side = {"count": [1, 2, 4], "value": [4, 1, 1]}
    row = {
        "input": side,
        "partner_input": {"count": [1, 2, 4], "value": [0, 5, 0]},
        "dialogue": "YOU: the book is mine <eos> THEM: then the hats are mine",
        "output": "item0=1",
    }
    monkeypatch.setattr("datasets.load_dataset", Hub([row, {**row, "dialogue": "HIM: hello"}]))
    loaded = from_hub(DOND, "test")
    assert len(loaded.dialogues) == 1
    assert str(loaded.left_out[0]) == "test:2: a third speaker: turn 1 is by 'HIM'"


@pytest.mark.parametrize(
    "error",
    [ConnectionError("offline"), httpx.ConnectError("offline"), DatasetNotFoundError("gone")],
    ids=lambda error: type(error).__name__,
)
def test_a_hub_that_does_not_answer_is_one_sentence(error, monkeypatch):
    monkeypatch.setattr("datasets.load_dataset", Hub(error))
    with pytest.raises(ValueError, match=r"the Hub does not give .*; save its file and name it"):
        from_hub(CB, "validation")


def test_the_shipped_dialogues_are_all_used():
    loaded = shipped()
    assert len(loaded.dialogues) >= 200
    assert loaded.left_out == ()
    for dialogue in loaded.dialogues:
        assert read(dialogue) == [turn.act for turn in dialogue.turns], dialogue.id


def test_the_columns_of_the_shipped_dialogues_are_those_of_the_corpus(file):
    rows = [row.as_json() for row in load("dialogues.json").data.rows[:5]]
    assert rows[0].keys() == craigslist_row().keys()
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert len(from_file(CB, file).dialogues) == 5


@pytest.mark.slow
def test_the_shipped_set_is_what_its_settings_make():
    settings = DialogueSettings(games=1)
    rows = put_into_words(settings)["rows"]
    recorded = [row.as_json() for row in load(FILE).data.rows]
    assert len(rows) == len(settings.tasks) * len(settings.policies)
    assert all(row in recorded for row in rows)
    with pytest.raises(ValueError, match="too few training seeds"):
        put_into_words(DialogueSettings(games=1, first_seed=49_999))
