"""The tournament on Results: the map of all pairs, the games of a pair, its verdict."""

import re

import pytest

from panels.results.market.tournament.matrix import FIGURES, FIRST, LEAST, matrix, seats
from panels.results.market.tournament.pair_games import games_of, shown
from panels.results.market.tournament.plane import Plane, plane_of, sentence, utility_plane
from panels.results.market.tournament.question import map_named, named_in_address, verdict
from sauda.experiments.pairs import Pair, Scenarios, play_scripts
from sauda.experiments.tournament import Payoffs, choose_shown
from sauda.records.store import load

CELL = re.compile(r'<td class="([^"]*)"[^>]*data-buyer="([^"]*)" data-seller="([^"]*)">([^<]*)<')


@pytest.fixture(scope="module")
def data():
    return load("tournament.json").data


@pytest.mark.parametrize("name", FIGURES)
def test_every_pair_has_its_cell_with_its_figure(data, name):
    cells = CELL.findall(matrix(data, name))
    values = {(cell.buyer, cell.seller): FIGURES[name].of(cell) for cell in data.cells}
    assert len(cells) == len(values)
    for _, buyer, seller, text in cells:
        value = values[buyer, seller]
        shown = "–" if value is None else format(value.mean, FIGURES[name].form)
        assert text == shown.replace("-", "−")


def test_the_best_buyer_against_each_seller_is_framed(data):
    framed = [(b, s) for marks, b, s, _ in CELL.findall(matrix(data)) if "sauda-best" in marks]
    shares = {(cell.buyer, cell.seller): cell.share.buyer.mean for cell in data.cells}
    buyers, sellers = seats(data)
    beaten = [s for s in sellers if max(shares[b, s] for b in buyers) >= LEAST]
    assert sorted(seller for _, seller in framed) == sorted(beaten)
    assert "mini+roles-seller" not in beaten  # it forfeits every game
    for buyer, seller in framed:
        assert shares[buyer, seller] == max(shares[other, seller] for other in buyers)


def test_the_verdict_says_first_of_one_leader_and_shared_of_two(data):
    ranks = [row.model_copy(update={"rank": 2}) for row in data.ranks if row.seat == "buyer"]
    sellers = [row for row in data.ranks if row.seat == "seller"]
    ranks[0] = ranks[0].model_copy(update={"rank": 1, "player": "linear"})
    one = verdict(data.model_copy(update={"ranks": ranks + sellers})).sentence
    assert one.startswith(f"Linear is first among {len(ranks)} buyers;")
    ranks[1] = ranks[1].model_copy(update={"rank": 1, "player": "pilot"})
    two = verdict(data.model_copy(update={"ranks": ranks + sellers})).sentence
    assert two.startswith("Linear and the pilot share the first rank among")


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize("pair", [None, Pair("linear", "boulware")])
def test_the_address_of_a_map_and_a_pair_leads_back_to_both(data, figure, pair):
    assert map_named(data, named_in_address(figure, pair)) == (figure, pair)


@pytest.mark.parametrize(
    "query",
    [{}, {"figure": "<b>"}, {"buyer": "linear"}, {"buyer": "boulware", "seller": "nobody"}],
)
def test_an_address_that_names_no_map_and_no_pair_opens_the_first_map(data, query):
    assert map_named(data, query) == (FIRST, None)
    assert named_in_address(FIRST, None) == {}


PAIR = Pair("linear", "boulware")


def chosen_of(data):
    """The games of PAIR that are shown."""
    games = data.games[PAIR.buyer][PAIR.seller].as_json()
    return choose_shown(games, Scenarios.of_columns(data.scenarios))


def with_games(data, pair: Pair, games):
    """The tournament with other games of one pair."""
    rows = {**data.games, pair.buyer: {**data.games.get(pair.buyer, {}), pair.seller: games}}
    return data.model_copy(update={"games": rows})


def test_three_games_of_a_pair_come_out_as_recorded(data):
    cards = games_of(data, PAIR)
    won = Payoffs.of(
        data.games[PAIR.buyer][PAIR.seller].as_json(), Scenarios.of_columns(data.scenarios)
    )
    share = won.share["buyer"][[game.index for game in chosen_of(data)]].mean()
    assert f"Equal: the buyer’s mean share recorded {share:.3f}, played now {share:.3f}" in cards
    assert "All 3 columns of these games came out as recorded." in cards
    assert "ZOPA" not in re.sub(r'title="[^"]*"', "", cards)  # plain words, the term in tooltips
    assert cards.count("sauda-plane") == cards.count('class="sauda-talk"') == 3
    for game in chosen_of(data):
        assert f"Seed {game.seed}:" in cards


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


def test_a_deal_stands_at_its_recorded_utilities(data):
    at = Scenarios.of_columns(data.scenarios)
    won = Payoffs.of(data.games[PAIR.buyer][PAIR.seller].as_json(), at)
    index = int((won.deal & at.zopa).nonzero()[0][0])
    (game,) = play_scripts(PAIR, [at.seeds[index]])
    expected = [won.utility[seat][index] for seat in ("buyer", "seller")]
    assert plane_of(game).deal == pytest.approx(expected)


def test_a_game_without_a_zopa_has_no_segment_and_no_nash_point(data):
    at = Scenarios.of_columns(data.scenarios)
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
