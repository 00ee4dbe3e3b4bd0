"""Who can be chosen to sell to: every stage with rows and weights, and what their badges say."""

import re
from dataclasses import replace
from urllib.parse import parse_qs

import pytest

from env import WalkAway
from panels.haggle.badge import opponent_badge, score
from panels.haggle.choices import ANY_ITEM, HIDDEN, SELL, new_game, opponent_choices, values
from panels.haggle.opponents import (
    MARKET,
    SERVED,
    Rows,
    bare_stages,
    buyer_models,
    measured,
    model_name,
    opponent_name,
    scripted_buyers,
)
from panels.haggle.words import ENGLISH, translator
from panels.results.models import buyer_name
from panels.results.reproduce import rows_of
from panels.results.winners import contest, heat_map
from sauda.experiments.comparison import OURS
from sauda.llm.registry import player_spec, row_name
from sauda.policies import BUYERS
from sauda.records.store import load
from sauda.sessions.bazaar import answer
from tests.support.haggle import Model

IN_ENGLISH = translator(ENGLISH)


def test_every_stage_with_a_row_is_offered_bare_and_with_its_measured_wrappers():
    offered = values(opponent_choices(SELL, ANY_ITEM))
    assert offered[: len(SERVED)] == list(SERVED)
    assert {"mini", *bare_stages(MARKET)} - {OURS} <= set(offered)
    assert {HIDDEN, "listener", *BUYERS} <= set(offered)
    assert OURS not in offered  # under this name; it is the one that the page serves
    for name in buyer_models():
        assert player_spec(name).weights
        assert name in SERVED or name in measured()


def test_a_stage_is_offered_once_it_has_a_row_and_an_adapter():
    entry = measured()["mini"]
    names = ("mini", OURS, f"{OURS}+honest", "mini+untold")
    known = Rows({MARKET: {name: replace(entry, policy=name) for name in names}}, names)
    assert known.stages == ("mini", OURS)
    assert "mini" in known.buyers
    assert "mini+untold" not in known.buyers


def test_every_score_is_that_of_the_row_in_results_that_it_links_to():
    files = ("evaluation/market-holdout.json", "evaluation/model-comparison.json")
    field = contest(map(load, files))
    table = heat_map(field, "Grades", {})
    rows = rows_of([load(file) for file in files])
    scored = [name for name in (*buyer_models(), *scripted_buyers()) if score(name, IN_ENGLISH)]
    assert len(scored) > len(BUYERS)
    for name in scored:
        shown, row = str(score(name, IN_ENGLISH)), row_name(name)
        entry = next(entry for entry in field[MARKET] if entry.policy == row)
        verb = "wins" if entry.interval.mean >= 0 else "loses"
        assert f"{verb} {abs(entry.interval.mean):.0%} of what can be won [" in shown
        assert f"n = {entry.n}" in shown
        link = re.search(r'href="\?tab=results&amp;part=market&amp;row=([^"]+)"', shown)[1]
        assert link == row.replace("+", "%2B")
        assert f'data-row="{row}"' in table
        again = parse_qs(re.search(r'href="\?([^"]*again=[^"]+)"', shown)[1].replace("&amp;", "&"))
        assert again["again"][0] in rows


def test_a_hidden_opponent_has_no_name_and_no_score_before_the_end():
    game = new_game(SELL, ANY_ITEM, HIDDEN)
    shown = str(opponent_badge(game, Model(), IN_ENGLISH))
    assert "Hidden till the end" in shown
    assert "wins" not in shown
    assert opponent_name(game.opponent, IN_ENGLISH) not in shown
    revealed = str(opponent_badge(answer(game, WalkAway()), Model(), IN_ENGLISH))
    assert f"<b>{opponent_name(game.opponent, IN_ENGLISH)}</b>" in revealed
    assert "wins" in revealed


@pytest.mark.parametrize(
    ("opponent", "name"),
    [
        ("sauda-mini+honest", f"{buyer_name(OURS)}, guard rails on"),
        ("mini", "Untrained base, guard rails off"),
        ("mini+constrained", "Untrained base, held to legal moves"),
        ("mini:firm", "SmolLM2, firm"),
        ("tit_for_tat", "tit for tat"),
    ],
)
def test_an_opponent_is_named_by_its_stage_and_its_rails(opponent, name):
    assert opponent_name(opponent, IN_ENGLISH) == name


@pytest.mark.parametrize(
    ("opponent", "name"),
    [("sauda-mini", "Sauda"), ("mini:firm", "SmolLM2")],
)
def test_a_sentence_about_a_reply_names_the_model_that_wrote_it(opponent, name):
    assert model_name(opponent, IN_ENGLISH) == name
