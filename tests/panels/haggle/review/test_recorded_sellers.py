"""Beside a sale to a language model stand recorded scripts, as the tournament has them."""

import pytest

from panels.haggle.opponents.stages import opponent_name
from panels.haggle.review.card import unranked
from panels.haggle.review.recorded_sellers import FILE, beside
from panels.haggle.words import ENGLISH, HINDI, HINGLISH, translator
from sauda.llm.model import SAUDA
from sauda.policies import SELLERS
from sauda.records.store import load

BUYER = f"mini+{SAUDA}"


@pytest.fixture(scope="module")
def tournament():
    return load(FILE)


def test_a_share_stands_above_the_scripts_whose_mean_is_lower(tournament):
    means = {
        cell.seller: cell.share.seller.mean
        for cell in tournament.data.cells
        if cell.buyer == BUYER and cell.seller in SELLERS
    }
    nothing, everything = beside(tournament, BUYER, -1.0), beside(tournament, BUYER, 1.0)
    assert (nothing.below, everything.below) == (0, len(means))
    assert everything.best == max(means, key=means.__getitem__)
    assert everything.best_share == max(means.values())
    assert (everything.scripts, everything.n) == (len(means), 100)


def test_a_buyer_that_was_not_recorded_has_no_scripts_beside_it(tournament):
    assert beside(tournament, "nobody", 0.5) is None


@pytest.mark.parametrize("language", [ENGLISH, HINGLISH, HINDI])
def test_the_card_says_what_is_shown_in_place_of_a_rank(language):
    translate = translator(language)
    assert unranked("mini+distill-seed1", 0.5, translate) == translate("no_rank")
    shown = unranked(BUYER, 0.5, translate)
    assert shown.startswith(f"{translate('no_rank')} ")
    assert opponent_name(BUYER, translate) in shown
    assert unranked(f"{BUYER}+honest", 0.5, translate) == shown  # recorded without guard rails
