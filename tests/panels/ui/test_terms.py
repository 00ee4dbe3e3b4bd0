"""Plain titles of tasks, and terms with tooltips."""

from markupsafe import Markup

from env import TASKS
from panels.ui.look import heading, table
from panels.ui.terms import (
    TASK_TITLES,
    TERMS,
    task_about,
    task_choices,
    task_title,
    titled,
    with_tooltips,
)


def test_every_task_has_a_title_of_its_own():
    assert set(TASK_TITLES) == set(TASKS)
    assert len(set(TASK_TITLES.values())) == len(TASK_TITLES)
    assert task_choices(["bazaar/open"]) == [("Open market", "bazaar/open")]
    assert task_title("none/such") == "none/such"


def test_a_task_and_the_first_mention_of_a_term_carry_tooltips():
    shown = titled("bazaar/open")
    assert shown.endswith(">Open market</abbr>")
    assert f"bazaar/open: {Markup.escape(TASKS['bazaar/open'].about)}" in shown
    shown = with_tooltips("Share of the ZOPA; the ZOPA is <b>wide</b>, and ZOPAs differ")
    assert shown.count("<abbr") == 1
    assert Markup.escape(TERMS["ZOPA"]) in shown
    assert "&lt;b&gt;" in shown


def test_a_tasks_rounds_are_counted_from_1():
    assert "in round 3" in TASKS["arena/market_round"].about  # the engine's count, from 0
    assert task_about("arena/market_round").endswith("a block fails in round 4.")
    assert "in round 4" in titled("arena/market_round")
    assert task_about("bazaar/open") == TASKS["bazaar/open"].about


def test_a_tasks_name_in_a_sentence_gives_way_to_its_title():
    shown = with_tooltips("rule based on classic/single_deal, one by one")
    assert shown.startswith("rule based on <abbr")
    assert ">single deal</abbr>, one by one" in shown


def test_markup_and_numbers_stay_as_they_are():
    assert with_tooltips(Markup("<i>ZOPA</i>")) == "<i>ZOPA</i>"
    assert with_tooltips(3) == titled(3) == 3
    assert titled("SFT") == "SFT"


def test_tables_and_headings_explain_their_terms():
    html = table(("task", "share of the ZOPA"), [("arena/market_round", "1")], caption="By SFT")
    assert ">Market round</abbr>" in html
    assert html.count("<abbr") == 3
    assert "<abbr" in heading("Title", "What GRPO learns")
