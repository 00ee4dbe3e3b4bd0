"""Dialogues: what is used, what is left out with its file, line and reason, the shipped set."""

from pathlib import Path

import pytest
from datasets import Dataset

from sauda.language.acts import Act, read_acts
from sauda.train.dialogues import LONGEST, from_file, from_hub, load_shipped
from tests.support.cases import rows
from tests.support.dialogues import DIVISION, LAMP, MIRROR, craigslist_row, lines

CB, DOND = "craigslist_bargains", "deal_or_no_deal"
CASES = rows("dialogue_rows.csv")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "dialogues.json"


def test_a_row_is_a_dialogue_of_a_buyer_and_a_seller(file):
    file.write_text(lines(craigslist_row()))
    (dialogue,) = from_file(CB, file).dialogues
    assert dialogue.id == "craigslist_bargains/dialogues.json/1"
    assert dialogue.values == {"buyer": {"target": 350.0}, "seller": {"target": 500.0}}
    assert dialogue.scenario == "item: Brass lamp\ncategory: furniture\nlist price: $500"
    assert [turn.agent for turn in dialogue.turns[:2]] == ["buyer", "seller"]
    assert dialogue.turns[-2].act == Act("offer", 400)
    assert dialogue.annotated


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['source']} {case['new'][:20]}")
def test_a_malformed_row_is_named_and_costs_its_own_line_alone(case, file):
    good = {CB: lines(craigslist_row()), DOND: f"{DIVISION}\n"}[case["source"]]
    new = case["new"].replace("BIG", "1" + "0" * 400).replace("NESTED", '{"a":' * 5000)
    assert case["old"] in good
    file.write_text(good + good.replace(case["old"], new))
    loaded = from_file(case["source"], file)
    assert loaded.counts() == {"used": 1, case["reason"]: 1}
    assert str(loaded.left_out[0]).startswith(f"dialogues.json:2: {case['reason']}")


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
    said = craigslist_row([LAMP[0], (1, words, "inform", -1), *LAMP[2:]])
    file.write_text(lines(craigslist_row(), said))
    assert from_file(CB, file).counts() == {"used": 1, reason: 1}


@pytest.mark.parametrize("other", ["", "..."])
def test_a_dialogue_of_one_side_is_counted_and_used_only_where_it_is_asked_for(other, file):
    intent = "unknown" if other else "accept"
    monologue = [(0, "Hi", "intro", -1), (0, "Anyone?", "inquiry", -1), (1, other, intent, -1)]
    file.write_text(lines(craigslist_row(), craigslist_row(monologue)))
    assert from_file(CB, file).counts() == {"used": 1, "a side without words": 1}
    assert from_file(CB, file, one_sided=True).counts() == {"used": 2}


def test_filters_count_what_they_leave_out(file):
    silent = craigslist_row([LAMP[0], *LAMP[-2:]])
    file.write_text(lines(craigslist_row(), silent, craigslist_row(), craigslist_row(title="Desk")))
    loaded = from_file(CB, file)
    assert loaded.counts() == {"used": 2, "fewer than 2 turns with words": 1, "duplicate": 1}
    assert str(loaded.left_out[1]) == "dialogues.json:3: duplicate: the dialogue of line 1 again"


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


def test_the_shipped_dialogues_are_all_used():
    loaded = load_shipped()
    assert len(loaded.dialogues) >= 200
    assert loaded.left_out == ()
    for dialogue in loaded.dialogues:
        assert read_acts(dialogue) == [turn.act for turn in dialogue.turns], dialogue.id
