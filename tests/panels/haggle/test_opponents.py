"""Who can be chosen to sell to: every stage with rows and weights, and what their badges say."""

import re
from dataclasses import replace
from urllib.parse import parse_qs

import pytest

from panels.haggle.game_view import opponent_badge, score
from panels.haggle.opponents import (
    ANY_ITEM,
    ANY_SELLER,
    BUY,
    HIDDEN,
    MARKET,
    SCRIPTED_BUYERS,
    SELL,
    SERVED,
    bare_stages,
    buyer_models,
    chosen_opponent,
    game_at,
    measured,
    model_name,
    new_game,
    opponent_choices,
    opponent_name,
    stages_of,
    values,
)
from panels.haggle.words import ENGLISH, translator
from panels.results.models import buyer_name
from panels.results.reproduce import rows_of
from panels.results.winners import contest, heat_map
from sauda.experiments.comparison import OURS
from sauda.llm.registry import player_spec, row_name
from sauda.policies import BUYERS
from sauda.records.store import load
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
    assert stages_of(dict.fromkeys(names, entry), [*names, "mini+without-row"]) == ("mini", OURS)


def test_every_score_is_that_of_the_row_in_results_that_it_links_to():
    files = ("evaluation/market-holdout.json", "evaluation/model-comparison.json")
    field = contest(map(load, files))
    table = heat_map(field, "Grades", {})
    rows = rows_of([load(file) for file in files])
    scored = [name for name in (*buyer_models(), *SCRIPTED_BUYERS) if score(name, IN_ENGLISH)]
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


@pytest.mark.parametrize(
    "choice", [(SELL, ANY_ITEM, HIDDEN), (BUY, "bazaar/open", ANY_SELLER)], ids=str
)
def test_a_hidden_opponent_is_named_and_scored_at_the_end_alone_and_a_link_leads_to_it(choice):
    game = new_game(*choice)
    name = opponent_name(game.opponent, IN_ENGLISH)
    shown = str(opponent_badge(game, Model(), IN_ENGLISH))
    assert name not in shown
    assert IN_ENGLISH("row_link") not in shown
    ended = replace(game, play=replace(game.play, forfeit=True))
    revealed = str(opponent_badge(ended, Model(), IN_ENGLISH))
    assert f"<b>{name}</b>" in revealed
    assert (IN_ENGLISH("row_link") in revealed) == (choice[0] == SELL)
    again = game_at(game.task_name, game.play.seed, chosen_opponent(game))
    assert (again.opponent, again.hidden) == (game.opponent, True)


@pytest.mark.parametrize(
    ("opponent", "name", "short"),
    [
        ("sauda-mini+honest", f"{buyer_name(OURS)}, guard rails on", "Sauda"),
        ("mini", "Untrained base, guard rails off", "Untrained base"),
        ("mini+constrained", "Untrained base, held to legal moves", "Untrained base"),
        ("mini:firm", "SmolLM2, firm", "SmolLM2"),
    ],
)
def test_a_model_is_named_by_its_stage_and_rails_and_in_a_sentence_by_who_it_is(
    opponent, name, short
):
    assert opponent_name(opponent, IN_ENGLISH) == name
    assert model_name(opponent, IN_ENGLISH) == short
