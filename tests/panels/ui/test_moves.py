"""What a move that a browser, or any other client, sends is read as."""

import pytest

from panels.ui.components.moves import Move, button


def test_a_move_is_named_by_what_it_does_and_comes_with_what_the_fields_hold():
    move = Move(None, {"id": "answer:3:1", "fields": {"price": "950", "give": ["b_0_0"]}})
    assert (move.name, move.what) == ("answer", "3:1")
    assert [move.number(place) for place in range(3)] == [3, 1, None]
    assert (move.field("price"), move.field("give"), move.field("to")) == ("950", "", "")
    action = '{"action_type": "accept_offer"}'
    assert Move(None, {"id": f"take:{action}"}).what == action


@pytest.mark.parametrize("odd", [None, 5, "walk", ["walk"], {"id": 5, "fields": 5}, {"id": None}])
def test_whatever_else_a_client_sends_names_no_move(odd):
    move = Move(None, odd)
    assert (move.id, move.name, move.what, move.search, move.fields) == ("", "", "", "", {})
    assert move.number() is None


@pytest.mark.parametrize("number", ["-1", "१", "1.5", "999999", "1e3", ""])
def test_a_number_of_a_move_is_whole_and_short(number):
    assert Move(None, {"id": f"level:{number}"}).number() is None


def test_a_buttons_label_and_move_are_text_and_nothing_else():
    drawn = button('<b>"', 'take:"><script>')
    assert "<b>" not in drawn
    assert "<script>" not in drawn
