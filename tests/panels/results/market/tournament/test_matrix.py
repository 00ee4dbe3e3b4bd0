"""The map of all pairs and the verdict above it, on the tournament that is shipped."""

import re

import pytest

from panels.results.market.tournament.contrasts import told
from panels.results.market.tournament.matrix import FIGURES, FIRST, LEAST, matrix, seats
from panels.results.market.tournament.names import (
    OFF_ROLE,
    player_name,
    seller_group,
    seller_name,
)
from panels.results.market.tournament.question import map_named, named_in_address, verdict
from panels.results.market.tournament.tables import PAIRS, profile_columns, profiles_frame
from panels.results.market.tournament.zeros import zeros_told
from panels.ui.tables import comparison
from sauda.evaluation.language.contrasts import of_tournament
from sauda.experiments.pairs import Pair
from sauda.experiments.tournament import Seats
from sauda.records.schemas.base import Interval
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


def test_faults_are_shares_of_the_scenarios_by_seat(data):
    (cell,) = (c for c in data.cells if (c.buyer, c.seller) == ("linear", "mini"))
    cell = cell.model_copy(update={"misstated": Seats[int](buyer=25, seller=0)})
    faults = {"misstated_buyer": 0.25, "misstated_seller": 0, "invalid_buyer": 0,
              "invalid_seller": 0.99}  # fmt: skip
    assert {name: FIGURES[name].of(cell).mean for name in faults} == faults


def test_the_best_buyer_against_each_seller_is_framed(data):
    framed = [(b, s) for marks, b, s, _ in CELL.findall(matrix(data)) if "sauda-best" in marks]
    shares = {(cell.buyer, cell.seller): cell.share.buyer.mean for cell in data.cells}
    buyers, sellers = seats(data)
    beaten = [s for s in sellers if max(shares[b, s] for b in buyers) >= LEAST]
    assert sorted(seller for _, seller in framed) == sorted(beaten)
    assert "mini+roles-seller" not in beaten  # it forfeits every game
    for buyer, seller in framed:
        assert shares[buyer, seller] == max(shares[other, seller] for other in buyers)


def test_lines_without_any_share_are_counted_and_explained(data):
    shares = {"buyer": {}, "seller": {}}
    for cell in data.cells:
        for seat, name in (("buyer", cell.buyer), ("seller", cell.seller)):
            shares[seat].setdefault(name, []).append(cell.share.buyer.mean)
    zeros = {
        seat: [name for name, means in of.items() if max(means) < LEAST]
        for seat, of in shares.items()
    }
    text = zeros_told(data)
    assert text.startswith(
        f"{len(zeros['buyer'])} of {len(shares['buyer'])} rows and {len(zeros['seller'])} of"
        f" {len(shares['seller'])} columns are 0.00 throughout. The untrained base and role models"
        " forfeit "
    )
    assert "Aggressive made no invalid move and won nothing." in text


def test_a_map_without_such_a_line_needs_no_explanation(data):
    won = data.cells[0].share.model_copy(update={"buyer": Interval(mean=0.5, low=0.4, high=0.6)})
    cells = [cell.model_copy(update={"share": won}) for cell in data.cells]
    assert zeros_told(data.model_copy(update={"cells": cells})) == ""


def test_the_sellers_of_a_group_stand_together_below_its_head(data):
    widths = list(map(int, re.findall(r'colspan="(\d+)"', matrix(data))))
    _, sellers = seats(data)
    groups = list(map(seller_group, sellers))
    assert widths == [groups.count(group) for group in dict.fromkeys(groups)]
    assert sum(widths) == len(sellers)


def test_a_seller_is_named_by_what_it_is():
    assert seller_name("firm") == "the market’s firm seller"
    assert seller_name("null:firm") == "the firm persona"
    assert seller_name("mini:firm") == "the firm persona in the words of untrained base"
    assert seller_name("tit_for_tat") == "tit for tat"
    assert seller_group("mini+grpo") == "language models"


def test_a_role_model_in_the_other_role_is_marked():
    for seat, player in (("buyer", "mini+roles-seller"), ("seller", "mini+roles-buyer")):
        assert player_name(seat, player).endswith(OFF_ROLE)
    for seat in ("buyer", "seller"):
        assert OFF_ROLE not in player_name(seat, "mini+roles-generalist")
        assert OFF_ROLE not in player_name(seat, f"mini+roles-{seat}")
    assert OFF_ROLE not in player_name("both", "mini+roles-buyer")


def test_the_verdict_names_all_that_share_the_first_rank_with_n_and_intervals(data):
    told = verdict(data)
    for row in data.ranks:
        if row.seat != "both" and row.rank == 1:
            assert any(
                f"{row.share.mean:.3f} [{row.share.low:.3f}, {row.share.high:.3f}]" in line
                and f"n = {len(data.scenarios.seed)}" in line
                for line in told.evidence
            )


def test_the_verdict_says_first_of_one_leader_and_shared_of_two(data):
    ranks = [row.model_copy(update={"rank": 2}) for row in data.ranks if row.seat == "buyer"]
    sellers = [row for row in data.ranks if row.seat == "seller"]
    ranks[0] = ranks[0].model_copy(update={"rank": 1, "player": "linear"})
    one = verdict(data.model_copy(update={"ranks": ranks + sellers})).sentence
    assert one.startswith(f"Linear is first among {len(ranks)} buyers;")
    ranks[1] = ranks[1].model_copy(update={"rank": 1, "player": "pilot"})
    two = verdict(data.model_copy(update={"ranks": ranks + sellers})).sentence
    assert two.startswith("Linear and the pilot share the first rank among")


def test_the_tables_have_a_cell_for_each_figure_and_a_dash_for_none(data):
    profiles = load("profiles.json").data
    for columns, rows in ((PAIRS, data.cells), (profile_columns(profiles.rows), profiles.rows)):
        value = comparison(columns, rows)
        assert len(value["data"]) == len(rows)
        assert len(set(value["headers"])) == len(columns)
        assert any("–" in line for line in value["metadata"]["display_value"])


def test_the_csv_of_the_profiles_is_flat():
    rows = load("profiles.json").data.rows
    csv = profiles_frame(rows)
    assert not csv.map(lambda cell: isinstance(cell, dict | list)).any(axis=None)
    assert csv["closing_regret_mean"].tolist() == [
        phase.regret.mean for row in rows for phase in row.phases if phase.phase == "closing"
    ]


def test_the_contrasts_of_roles_are_a_sentence_and_nine_rows_or_a_line(data):
    rows = of_tournament(data)
    html = told(rows, "In the tournament", "Share won")
    assert html.count("<tr>") == 1 + 9
    assert f"n = {len(data.scenarios.seed)} scenarios" in html
    row = rows[1]
    assert f"{row.difference.mean:+z.3f} [{row.difference.low:+z.3f}" in html
    assert "did not take both seats" in told([], "In the tournament", "Share won")


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
