"""Games of a pair, played again beside their record, and the utility plane of each."""

import re

import numpy as np
import pytest

from panels.results.market.tournament.pair_games import games_of, shown
from panels.results.market.tournament.plane import Plane, plane_of, sentence, utility_plane
from sauda.experiments.pairs import Pair, Scenarios, play_scripts
from sauda.experiments.tournament import Payoffs, choose_shown
from sauda.records.store import load

PAIR = Pair("linear", "boulware")


@pytest.fixture(scope="module")
def data():
    return load("tournament.json").data


def chosen_of(data):
    """The games of PAIR that are shown."""
    games = data.games[PAIR.buyer][PAIR.seller].as_json()
    return choose_shown(games, Scenarios.recorded(data.scenarios))


def with_games(data, pair: Pair, games):
    """The tournament with other games of one pair."""
    rows = {**data.games, pair.buyer: {**data.games.get(pair.buyer, {}), pair.seller: games}}
    return data.model_copy(update={"games": rows})


def test_the_recorded_scenarios_are_those_that_the_rules_draw(data):
    recorded, drawn = Scenarios.recorded(data.scenarios), Scenarios.of(data.scenarios.seed)
    for name in ("list_price", "buyer", "seller", "discount"):
        np.testing.assert_array_equal(getattr(recorded, name), getattr(drawn, name))


def test_three_games_of_a_pair_come_out_as_recorded(data):
    cards = games_of(data, PAIR)
    won = Payoffs.of(
        data.games[PAIR.buyer][PAIR.seller].as_json(), Scenarios.recorded(data.scenarios)
    )
    share = won.share["buyer"][[game.index for game in chosen_of(data)]].mean()
    assert f"Equal: the buyer’s mean share recorded {share:.3f}, played now {share:.3f}" in cards
    assert "All 3 columns of these games came out as recorded." in cards
    assert "ZOPA" not in re.sub(r'title="[^"]*"', "", cards)  # plain words, the term in tooltips
    assert cards.count("sauda-plane") == cards.count('class="sauda-talk"') == 3
    for game in chosen_of(data):
        assert f"Seed {game.seed}:" in cards


def test_the_games_stand_in_the_order_of_the_buyers_utility(data):
    at = Scenarios.recorded(data.scenarios)
    utility = Payoffs.of(data.games[PAIR.buyer][PAIR.seller].as_json(), at).utility["buyer"]
    games = chosen_of(data)
    values = [utility[game.index] for game in games]
    assert values == sorted(values)
    assert values[1] == np.quantile(utility[at.zopa], 0.5, method="nearest")
    assert all(at.zopa[game.index] for game in games)


def test_a_record_that_the_rules_do_not_give_is_told(data):
    games = data.games[PAIR.buyer][PAIR.seller]
    other = games.model_copy(update={"rounds": [rounds + 1 for rounds in games.rounds]})
    cards = games_of(with_games(data, PAIR, other), PAIR)
    assert "<b>Not equal" in cards
    assert "Not the same in rounds." in cards


def test_games_of_a_language_model_come_out_of_its_recorded_replies(data):
    for pair in (Pair("mini+distill", "boulware"), Pair("mini", "mini")):
        cards = games_of(data, pair)
        assert "recorded replies." in cards
        assert "<b>Equal" in cards
        assert "python -m sauda verify --models tournament" in cards
        assert cards.count("sauda-plane") == 3


@pytest.mark.parametrize(("buyer", "seller"), [("linear", "nobody"), (None, []), ("x" * 99, {})])
def test_a_pair_that_did_not_play_gets_one_sentence(data, buyer, seller):
    (told,) = shown(data, buyer, seller)
    assert 'role="alert"' in told


def test_an_offer_stands_where_its_deal_would_be(data):
    at = Scenarios.recorded(data.scenarios)
    index = int(at.zopa.nonzero()[0][0])
    (game,) = play_scripts(PAIR, [at.seeds[index]])
    plane = plane_of(game)
    second = game.trajectory("buyer")[1].action.price  # in its second round
    width = at.buyer[index] - at.seller[index]
    gain = (at.buyer[index] - second) / width * at.discount[index]
    assert plane.bids[1] == pytest.approx((gain, (second - at.seller[index]) / width))
    assert plane.zopa


def test_a_deal_stands_at_its_recorded_utilities(data):
    at = Scenarios.recorded(data.scenarios)
    won = Payoffs.of(data.games[PAIR.buyer][PAIR.seller].as_json(), at)
    index = int((won.deal & at.zopa).nonzero()[0][0])
    (game,) = play_scripts(PAIR, [at.seeds[index]])
    expected = [won.utility[seat][index] for seat in ("buyer", "seller")]
    assert plane_of(game).deal == pytest.approx(expected)


def test_a_game_without_a_zopa_has_no_segment_and_no_nash_point(data):
    at = Scenarios.recorded(data.scenarios)
    index = int((~at.zopa).nonzero()[0][0])
    (game,) = play_scripts(PAIR, [at.seeds[index]])
    plane = plane_of(game)
    assert not plane.zopa
    assert "No price serves both" in sentence(plane)
    assert "The <abbr" not in sentence(plane)  # gives nothing to each
    assert "zopa-line" not in utility_plane(plane)
    assert "shares of the list price" in utility_plane(plane)


def test_what_lies_beyond_the_edge_is_counted_and_drawn_on_it():
    plane = Plane(asks=((-3.0, 4.0), (0.2, 0.8)), bids=((2.0, -1.0),), deal=(0.4, 0.5), zopa=True)
    assert "2 of the offers lie beyond the edge" in sentence(plane)
    drawn = utility_plane(plane)
    assert "0.40 to the buyer and 0.50 to the seller" in drawn
    assert 'points="48.0,12.0 ' in drawn  # the upper left corner
