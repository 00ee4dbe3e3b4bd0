"""What tabs share: colours, tables, terms, charts of offers, addresses, downloads, moves."""

import base64
import html
import re
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest

from env import CATALOGUE, TASKS, TYPES
from panels.frames import Table
from panels.ui import look
from panels.ui.components.moves import Move, Moves, button, demo
from panels.ui.html import SAUDA, STRANGER, drawing, drawing_names, goods, text_link
from panels.ui.look import PALETTE, SERIES
from panels.ui.offers import Offers, offer_chart
from panels.ui.tables import WhiskerRow, whisker_rows
from panels.ui.terms import TASK_TITLES, task_about, task_choices, task_title, title
from panels.ui.wiring import in_address, lay_out_address, pick_in_address, read_query
from sauda.language.lines import drawings
from sauda.records.schemas.base import Interval
from sauda.sessions.ladder import LEVELS
from tests.support.golden import table_lines


def test_each_item_is_drawn_by_its_own_kind_and_no_drawing_is_left_over():
    names = {item.name for item in CATALOGUE}
    for name in names:
        assert "<path" in goods(name) or "<circle" in goods(name)
    kinds = {name: drawings()[name] for name in names}
    assert [name for name, kind in kinds.items() if kind == "kite"] == [
        "kite with a reel of thread"
    ]
    assert kinds["pouch of glass marbles"] == "marbles"
    assert kinds["pair of Kolhapuri chappals"] == "sandal"
    faces = {part for level in LEVELS for part in level.face.split()}
    people = {*TYPES, STRANGER, SAUDA, "you"}
    assert set(drawing_names()) == set(drawings().values()) | faces | people
    assert len({drawing(kind) for kind in set(kinds.values())}) == len(set(kinds.values())) > 200


def luminance(colour: str) -> float:
    """Relative luminance of `#RRGGBB` (WCAG 2.1)."""
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, 1 to 21 (WCAG 2.1)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
def test_every_chart_colour_and_every_edge_stands_out_on_paper_and_surface(mode):
    colours = {role: (s.light, s.dark)[mode] for role, s in SERIES.items()}
    colours["edge"] = PALETTE["edge"][mode]
    for role, colour in colours.items():
        for ground in ("paper", "surface"):
            assert contrast(colour, PALETTE[ground][mode]) >= 3, (role, ground)


@pytest.mark.parametrize(
    "part",
    [
        look.stat("<b>", "<b>", "<b>", "<b>"),
        look.note("<b>"),
        look.empty("<b>", "<b>"),
        look.heading("<b>", "<b>"),
        look.table(["<b>"], [["<b>"]], caption='<b> "'),
    ],
)
def test_html_parts_escape_what_they_are_given(part):
    assert "<b>" not in part
    assert "&lt;b&gt;" in part


def test_every_task_has_a_title_of_its_own_and_counts_rounds_from_1():
    assert set(TASK_TITLES) == set(TASKS)
    assert len(set(TASK_TITLES.values())) == len(TASK_TITLES)
    assert task_choices(["bazaar/open-3"]) == [("Market of free words", "bazaar/open-3")]
    assert task_title("none/such") == "none/such"
    assert "in round 1" in TASKS["arena/market_round"].about  # the engine's count, from 0
    assert task_about("arena/market_round").endswith("the first in round 2.")
    assert "in round 2" in title("arena/market_round")


def test_a_chart_of_a_running_deal_holds_no_limit():
    running = str(offer_chart(Offers((60.0, 54.0), (48.0,), 8)))
    assert "limit" not in running
    assert "still open" in running


def test_values_come_back_out_of_the_query_string_that_holds_them_and_none_leaves_it():
    values = {"task": "bazaar/open-3", "seed": '"><b>', "policies": "naive,wait"}
    held = in_address(values)
    assert "<b>" not in held
    query = held.removeprefix('<span data-query="').removesuffix('"></span>')
    assert read_query("?" + html.unescape(query)) == values
    assert in_address({}) == '<span data-query=""></span>'


NOBODY = SimpleNamespace(client=None, session_hash="")


def picker_of_letters() -> tuple[gr.Radio, gr.HTML, dict[str, Any]]:
    """A picker that an address holds, and what its events do, by their triggers."""
    with gr.Blocks() as page, gr.Tab() as tab:
        shown = gr.HTML()
        letter = gr.Radio(["a", "b"], value="a")
        address = lay_out_address("results", "letters", ("letter",), tab)
        pick_in_address(address, "letter", letter, ["a", "b"], lambda it: {shown: it * 3}, [shown])
    by_trigger = {event.targets[0][1]: event.fn for event in page.fns.values() if event.fn}
    return letter, shown, by_trigger


@pytest.mark.parametrize(("search", "letter"), [("?letter=b", "b"), ("?letter=<b>", "a")])
def test_an_address_picks_what_it_names(search, letter):
    picker, shown, events = picker_of_letters()
    updates = events["click"](search, NOBODY)
    assert updates[picker] == letter
    assert updates[shown] == letter * 3


@pytest.mark.parametrize(
    ("search", "letter"),
    [("?", "a"), ("?tab=results&part=letters&letter=b", "b"), ("?tab=judge&letter=b", "a")],
)
def test_a_part_is_filled_with_what_the_address_names_as_its_tab_is_opened(search, letter):
    _, shown, events = picker_of_letters()
    assert events["select"](search, NOBODY)[shown] == letter * 3
    assert events["select"](None, NOBODY) == {shown: gr.skip()}  # opened again, it is left alone


SURE, BOUND = Interval(mean=0.2, low=0.1, high=0.4), Interval(mean=-0.5, low=-0.6, high=-0.4)


@pytest.mark.parametrize("interval", [SURE, BOUND])
def test_the_axis_holds_0_and_the_ends_of_all_whiskers(interval):
    figure = whisker_rows({"open": [WhiskerRow("SFT", interval, "sft")]}, "gain", "+.1f")
    low, high = figure.layout.xaxis.range
    assert low < min(0, interval.low) <= max(0, interval.high) < high


def test_a_table_is_sorted_by_means_and_its_file_holds_all_digits_and_both_ends():
    table = Table("numbers", [{"who": "<b>, a", "grade": SURE, "left": None, "n": 1200}])
    assert table_lines(table.shown) == ["who | grade | left | n",
                                        "<b>, a | 0.200 [0.100, 0.400] | – | 1,200"]  # fmt: skip
    assert gr.Dataframe(render=False).postprocess(table.shown).data == [["<b>, a", 0.2, None, 1200]]
    held = base64.b64decode(re.search(r'base64,([^"]+)"', table.about)[1]).decode("utf-8-sig")
    assert held == 'who,grade mean,grade low,grade high,left,n\n"<b>, a",0.2,0.1,0.4,,1200\n'


def test_a_table_without_rows_is_shown_empty():
    """As that of the leaderboard, where nobody has entered and no measurement is there."""
    table = Table("board", [])
    assert "Download as CSV" in table.about
    assert gr.Dataframe(render=False).postprocess(table.shown).data == []


def test_a_link_holds_the_whole_text_under_its_name():
    link = text_link('a"><b>.json', "₹1,200 <b>", "JSON")
    held = re.search(r'base64,([^"]+)"', link)[1]
    assert base64.b64decode(held).decode() == "₹1,200 <b>"
    assert "<b>" not in link


# Moves that a browser, or any other client, sends


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


def test_the_component_is_shown_by_itself():
    assert [type(part) for part in demo().blocks.values()].count(Moves) == 1
