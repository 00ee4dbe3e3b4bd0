"""The tournament on Results: the map of all pairs, the games of a pair, its verdict."""

import re

import pytest

from panels.results.tournament import (
    FIGURES,
    FIRST,
    LEAST,
    draw_map,
    find_map,
    games_of,
    named_in_address,
    seats,
)
from sauda.experiments.tournament import Pair, choose_shown, payoffs
from sauda.records.store import load

CELL = re.compile(r'<td class="([^"]*)"[^>]*data-buyer="([^"]*)" data-seller="([^"]*)">([^<]*)<')


@pytest.fixture(scope="module")
def data():
    return load("tournament.json").data


def test_every_pair_has_its_cell_with_its_figure(data):
    for name, figure in FIGURES.items():
        cells = CELL.findall(draw_map(data, name))
        values = {(cell.buyer, cell.seller): figure.of(cell) for cell in data.cells}
        assert len(cells) == len(values)
        for _, buyer, seller, text in cells:
            assert text == format(values[buyer, seller].mean, figure.form).replace("-", "−")


def test_the_best_buyer_against_each_seller_is_framed(data):
    framed = [(b, s) for marks, b, s, _ in CELL.findall(draw_map(data)) if "sauda-best" in marks]
    shares = {(cell.buyer, cell.seller): cell.share.buyer.mean for cell in data.cells}
    buyers, sellers = seats(data)
    beaten = [s for s in sellers if max(shares[b, s] for b in buyers) >= LEAST]
    assert sorted(seller for _, seller in framed) == sorted(beaten)
    for buyer, seller in framed:
        assert shares[buyer, seller] == max(shares[other, seller] for other in buyers)


def test_the_address_of_a_map_and_a_pair_leads_back_to_both(data):
    for figure, pair in ((FIRST, Pair("linear", "boulware")), ("rounds", None)):
        assert find_map(data, named_in_address(figure, pair)) == (figure, pair)


@pytest.mark.parametrize(
    "query",
    [{}, {"figure": "<b>"}, {"buyer": "linear"}, {"buyer": "x" * 99, "seller": {}}],
)
def test_an_address_that_names_no_map_and_no_pair_opens_the_first_map(data, query):
    assert find_map(data, query) == (FIRST, None)
    assert named_in_address(FIRST, None) == {}


PAIR = Pair("linear", "boulware")


def test_three_games_of_a_pair_come_out_as_recorded(data):
    games = data.games[PAIR.buyer][PAIR.seller].as_json()
    at = data.scenarios
    chosen = choose_shown(games, at)
    share = payoffs(games, at)["share"]["buyer"][[game.index for game in chosen]].mean()
    cards = games_of(data, PAIR)
    assert f"Equal: the buyer’s mean share recorded {share:.3f}, played now {share:.3f}" in cards
    assert "All 3 columns of these games came out as recorded." in cards
    assert "ZOPA" not in re.sub(r'title="[^"]*"', "", cards)  # plain words, the term in tooltips
    assert cards.count('class="sauda-talk"') == 3
    for game in chosen:
        assert f"Seed {game.seed}:" in cards


def test_a_record_that_the_rules_do_not_give_is_told(data):
    games = data.games[PAIR.buyer][PAIR.seller]
    other = games.model_copy(update={"rounds": [rounds + 1 for rounds in games.rounds]})
    rows = {**data.games, PAIR.buyer: {**data.games[PAIR.buyer], PAIR.seller: other}}
    cards = games_of(data.model_copy(update={"games": rows}), PAIR)
    assert "<b>Not equal" in cards
    assert "Not the same in rounds." in cards
