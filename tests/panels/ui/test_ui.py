"""What tabs share: colours, tables, terms, charts of offers, addresses."""

import html
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest

from env import TASKS, get_task, rollout
from panels.ui import look, provenance
from panels.ui.look import PALETTE, SERIES
from panels.ui.offers import Offers, offer_chart
from panels.ui.tables import sortable_table
from panels.ui.terms import TASK_TITLES, task_about, task_choices, task_title, titled
from panels.ui.whisker_rows import WhiskerRow, whisker_rows
from panels.ui.wiring import Address, in_address, lay_out_address, pick_in_address, queried
from sauda.llm.registry import get_policy
from sauda.records.kinds import ArtifactError
from sauda.records.schemas.base import Interval
from sauda.records.store import load

MODES = {"light": 0, "dark": 1}


def luminance(colour: str) -> float:
    """Relative luminance of `#RRGGBB` (WCAG 2.1)."""
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, 1 to 21 (WCAG 2.1)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("mode", MODES)
def test_every_chart_colour_and_every_edge_stands_out_on_paper_and_surface(mode):
    colours = {role: (s.light, s.dark)[MODES[mode]] for role, s in SERIES.items()}
    colours["edge"] = PALETTE["edge"][MODES[mode]]
    ratios = {
        (role, ground): contrast(colour, PALETTE[ground][MODES[mode]])
        for role, colour in colours.items()
        for ground in ("paper", "surface")
    }
    assert {pair: round(ratio, 2) for pair, ratio in ratios.items() if ratio < 3} == {}


def test_no_two_series_look_alike_to_an_eye_without_colour():
    signs = [(s.dash, s.marker) for role, s in SERIES.items() if role not in ("buyer", "seller")]
    assert len(set(signs)) == len(signs)


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


def test_a_wrong_origin_or_alignment_is_refused():
    with pytest.raises(ValueError, match="measured"):
        look.badge("estimated")
    with pytest.raises(ValueError, match="2 letters"):
        look.table(["a", "b"], [], align="lrr")
    with pytest.raises(ValueError, match="2 cells"):
        look.table(["a", "b"], [["only one"]])


def test_every_task_has_a_title_of_its_own():
    assert set(TASK_TITLES) == set(TASKS)
    assert len(set(TASK_TITLES.values())) == len(TASK_TITLES)
    assert task_choices(["bazaar/open"]) == [("Open market", "bazaar/open")]
    assert task_title("none/such") == "none/such"


def test_a_tasks_rounds_are_counted_from_1():
    assert "in round 1" in TASKS["arena/market_round"].about  # the engine's count, from 0
    assert task_about("arena/market_round").endswith("the first in round 2.")
    assert "in round 2" in titled("arena/market_round")
    assert task_about("bazaar/open") == TASKS["bazaar/open"].about


@pytest.fixture(scope="module")
def naive():
    """naive on single_deal: 60, 48, 54, 51, accepted at 51 in round 2."""
    task = get_task("classic/single_deal")
    return rollout(task, get_policy(task, "naive"), 0)


def test_a_chart_of_a_running_deal_holds_no_limit():
    running = str(offer_chart(Offers((60.0, 54.0), (48.0,), 8)))
    assert "limit" not in running
    assert "still open" in running


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


@pytest.mark.parametrize(("search", "letter"), [("?letter=b", "b"), ("?letter=<b>", "a")])
def test_an_address_picks_what_it_names_and_unfolds_the_part(search, letter):
    _, picker, shown, around, events = picker_of_letters()
    nobody = SimpleNamespace(client=None, session_hash="")
    updates = events["click"](search, nobody)
    assert updates[picker] == letter
    assert updates[shown] == letter * 3
    assert updates[around].open
    assert around not in events["click"]("", nobody)


def test_a_panel_without_its_artifact_shows_a_sentence_and_the_command(monkeypatch):
    def nothing(file):
        raise ArtifactError(f"artifacts/{file} is not there", "python -m sauda record-episodes")

    monkeypatch.setattr(provenance, "load", nothing)
    artifact, message = provenance.load_or_say("episodes/showcase.json")
    assert artifact is None
    assert "python -m sauda record-episodes" in message


def test_the_line_says_n_commit_and_date_and_the_commands_are_folded():
    artifact = load("evaluation/market-holdout.json")
    line = str(provenance.provenance(artifact, "n = 400"))
    shown, _, commands = line.partition("<details")
    assert "n = 400 · commit " in shown
    assert artifact.made["created"][:10] in shown
    assert "python -m sauda" not in shown
    assert f"python -m sauda verify {artifact.file}" in commands
    assert artifact.made["command"] in html.unescape(commands)


SURE = WhiskerRow("SFT", Interval(mean=0.2, low=0.1, high=0.4), "sft")
BOUND = WhiskerRow("bound", Interval(mean=-0.5, low=-0.6, high=-0.4), "oracle")


def test_the_axis_holds_0_and_the_ends_of_all_whiskers():
    low, high = whisker_rows({"open": [SURE]}, "gain", "+.1f").layout.xaxis.range
    assert low < 0 < 0.4 < high
    low, high = whisker_rows({"open": [BOUND]}, "gain", "+.1f").layout.xaxis.range
    assert low < -0.6 < 0 < high


def test_a_column_of_a_sortable_table_is_as_wide_as_its_longest_text():
    shown = [["a", "a long name of a policy", "1"]]
    value = {
        "headers": ["x", "policy", "n"],
        "data": [["a", "a long name of a policy", 1]],
        "metadata": {"display_value": shown},
    }
    with gr.Blocks():
        table = sortable_table(value, "rows", "rows")
    narrow, wide, _ = (int(width.removesuffix("px")) for width in table.column_widths)
    assert 0 < narrow < wide
    assert table.datatype == ["str", "str", "number"]
