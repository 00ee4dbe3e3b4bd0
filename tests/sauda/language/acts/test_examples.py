"""Examples of a role: what a model is shown, and which part of a split they are in."""

from dataclasses import replace

import pytest

from sauda.language.acts import PARTS, THOUGHTS, Dialogue, Turn, examples, part_of
from sauda.train.dialogues import from_file, shipped
from tests.support.dialogues import DIVISION, MIRROR, craigslist_row, lines


@pytest.fixture
def lamp(tmp_path) -> Dialogue:
    file = tmp_path / "dialogues.json"
    file.write_text(lines(craigslist_row()))
    return from_file("craigslist_bargains", file).dialogues[0]


def test_an_example_is_a_turn_with_what_was_said_before(lamp):
    made, _ = examples([lamp], "buyer")
    second = made[1]
    assert (second.role, second.utterance, second.turn) == ("buyer", "Would you take $300?", 2)
    assert second.context.splitlines()[3:] == ["buyer: Hi there", "seller: Hello, it is $500"]
    assert second.thought == "Name another price: $300. My target is $350."
    assert (second.values, second.partner_values) == ({"target": 350.0}, {"target": 500.0})


def test_no_input_holds_a_private_value_of_the_other_side(lamp):
    changed = replace(lamp, values={**lamp.values, "buyer": {"target": 123.0}})
    for role, same in (("seller", True), ("buyer", False)):
        shown = [[one.shown() for one in examples([d], role)[0]] for d in (lamp, changed)]
        assert (shown[0] == shown[1]) is same
    (first, *_), _ = examples([lamp], "seller")
    assert first.shown().keys() == {"role", "context", "thought", "values"}


def test_no_shipped_input_depends_on_the_partners_limit():
    for dialogue in shipped().dialogues[:40]:
        hidden = replace(dialogue, values={**dialogue.values, "seller": {"limit": 987_654.0}})
        shown = [[one.shown() for one in examples([d], "buyer")[0]] for d in (dialogue, hidden)]
        assert shown[0] == shown[1]


def test_no_input_holds_the_words_to_learn(lamp):
    for number, turn in enumerate(lamp.turns):
        if turn.text:
            other = replace(turn, text="Quite other words")
            changed = replace(lamp, turns=(*lamp.turns[:number], other, *lamp.turns[number + 1 :]))
            before, after = (
                next(one for one in examples([d])[0] if one.turn == number) for d in (lamp, changed)
            )
            assert before.utterance != after.utterance
            assert before.shown() == after.shown()  # the act is annotated


def test_turns_that_are_no_examples_are_counted_with_their_reason(lamp):
    dialogue = replace(lamp, turns=(*lamp.turns, Turn("buyer", "?!")))
    made, left_out = examples([dialogue], "buyer")
    assert len(made) == 3
    assert left_out == {"another role": 3, "event without words": 1, "no letter and no digit": 1}


def test_the_roles_together_have_every_turn_with_words():
    dialogues = shipped().dialogues
    both = [examples(dialogues, role)[0] for role in ("buyer", "seller")]
    made, _ = examples(dialogues)
    assert sum(map(len, both)) == len(made)
    assert len(made) == sum(bool(turn.text) for d in dialogues for turn in d.turns)


def test_no_part_has_a_dialogue_or_a_posting_of_another_part():
    made, _ = examples(shipped().dialogues)
    by_id = {dialogue.id: dialogue for dialogue in shipped().dialogues}
    parts = {part: [one for one in made if one.part == part] for part in PARTS}
    assert all(parts.values())
    for part, others in ((a, b) for a in PARTS for b in PARTS if a != b):
        ids, other_ids = ({one.dialogue for one in parts[p]} for p in (part, others))
        assert not ids & other_ids
        groups, other_groups = ({by_id[name].group for name in x} for x in (ids, other_ids))
        assert not groups & other_groups


def test_dialogues_of_one_posting_are_in_one_part_whatever_their_file_and_line(tmp_path):
    for number in range(20):
        rows = [
            craigslist_row(title=f"Lamp {number}", target=target)
            for target in (250.0, 350.0, 450.0)
        ]
        file = tmp_path / f"{number}.json"
        file.write_text(lines(*rows))
        loaded = from_file("craigslist_bargains", file).dialogues
        assert len({part_of(dialogue) for dialogue in loaded}) == 1


def test_a_division_and_its_mirror_are_in_one_part(tmp_path):
    loaded = []
    for number, line in enumerate((DIVISION, MIRROR)):
        file = tmp_path / f"{number}.txt"
        file.write_text(line)
        loaded += from_file("deal_or_no_deal", file).dialogues
    assert loaded[0].place == loaded[1].place
    assert loaded[0].values == loaded[1].values


def test_the_parts_have_their_shares_of_many_postings():
    made = [Dialogue(str(i), f"posting {i}", "", {}, ()) for i in range(4000)]
    for part, (low, high) in PARTS.items():
        share = sum(part_of(dialogue) == part for dialogue in made) / len(made)
        assert share == pytest.approx(high - low, abs=0.03)


def test_a_division_is_thought_of_in_the_worth_of_its_items(tmp_path):
    file = tmp_path / "dond.txt"
    file.write_text(DIVISION)
    made, _ = examples(from_file("deal_or_no_deal", file).dialogues)
    assert [one.role for one in made] == ["opener", "responder", "opener"]
    assert made[2].thought == (
        "Agree. Worth to me: value of a book 4, value of a hat 1, value of a ball 1."
    )
    assert made[2].context.splitlines()[0] == "items: 1 book, 2 hat, 4 ball"


def test_every_act_has_a_thought():
    from sauda.language.acts import INTENTS

    assert THOUGHTS.keys() == set(INTENTS)
