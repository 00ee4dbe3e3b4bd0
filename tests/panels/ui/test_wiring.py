"""The values of the page's address: from a query string, and as the script reads them."""

from typing import Any

import gradio as gr
import pytest

from panels.ui.wiring import Address, in_address, lay_out_address, pick_in_address, queried


def test_values_come_back_out_of_the_query_string_that_holds_them():
    values = {"task": "bazaar/open", "seed": "7", "policies": "naive,wait"}
    held = str(in_address(values))
    query = held.removeprefix('<span data-query="').removesuffix('"></span>')
    assert queried("?" + query.replace("&amp;", "&")) == values


def test_a_value_cannot_leave_its_attribute():
    assert "<b>" not in in_address({"seed": '"><b>'})
    assert in_address({}) == '<span data-query=""></span>'


@pytest.mark.parametrize("search", [None, 7, ["?a=b"], {"a": "b"}, "", "?", "=&&", "x" * 9999])
def test_what_is_no_query_string_holds_no_values(search):
    assert queried(search) == {}


def picker_of_letters() -> tuple[Address, gr.Radio, gr.HTML, gr.Accordion, dict[str, Any]]:
    """A picker that an address holds, and what its events do, by their triggers."""
    with gr.Blocks() as page:
        shown = gr.HTML()
        around = gr.Accordion()
        letter = gr.Radio(["a", "b"], value="a")
        address = lay_out_address("results", "letters", ("letter",))
        pick_in_address(
            address, "letter", letter, ["a", "b"], lambda it: {shown: it * 3}, [shown], around
        )
    by_trigger = {event.targets[0][1]: event.fn for event in page.fns.values() if event.fn}
    return address, letter, shown, around, by_trigger


def test_what_is_picked_stands_in_the_address_besides_the_first_choice():
    address, _, shown, _, events = picker_of_letters()
    assert events["change"]("b") == {shown: "bbb", address.shown: in_address({"letter": "b"})}
    assert events["change"]("a") == {shown: "aaa", address.shown: in_address({})}


@pytest.mark.parametrize(("search", "letter"), [("?letter=b", "b"), ("?letter=<b>", "a")])
def test_an_address_picks_what_it_names_and_unfolds_the_part(search, letter):
    _, picker, shown, around, events = picker_of_letters()
    updates = events["click"](search)
    assert updates[picker] == letter
    assert updates[shown] == letter * 3
    assert updates[around].open
    assert around not in events["click"]("")
