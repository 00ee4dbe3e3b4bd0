"""Words in a buyer's ears: the seller's own, none, another game's, another type's."""

import pytest

from env import Offer, get_task, rollout, speech
from sauda.experiments import words
from sauda.experiments.words import EARS, another_game, another_type, retell
from sauda.policies import BUYERS, SLOW

OPEN = get_task("bazaar/open")
SEEDS = range(50_000, 50_012)


def lines(moves):
    return [m.action.message for m in moves if m.agent == "seller" and isinstance(m.action, Offer)]


@pytest.mark.parametrize("seed", SEEDS)
def test_retold_in_its_own_voice_a_deal_is_what_it_was(seed):
    final = rollout(OPEN, SLOW["speaker"] if seed % 4 == 0 else BUYERS["linear"], seed).final
    (deal,), moves = final.private["nature"], final.table.moves
    own_voice = deal.seller["stance"], deal.seller
    assert retell(moves, deal, own_voice) == moves
    assert all(speech.hear(line) == speech.Speech() for line in lines(retell(moves, deal, None)))


@pytest.mark.parametrize("voice", [another_game, another_type])
def test_another_voice_says_other_words_at_the_same_prices(voice):
    differ = 0
    for seed in SEEDS:
        final = rollout(OPEN, BUYERS["linear"], seed).final
        (deal,), moves = final.private["nature"], final.table.moves
        told = retell(moves, deal, voice(deal))
        prices = [[getattr(m.action, "price", None) for m in some] for some in (moves, told)]
        assert prices[0] == prices[1]
        differ += lines(told) != lines(moves)
    assert differ > 0.8 * len(SEEDS)  # a short deal may use no style of its own type


def test_who_reads_nothing_plays_alike_whatever_is_said():
    grades = {ears: words.play_hearing((ears, "bayesian"), SEEDS[:4]) for ears in EARS}
    assert all(own == grades["open"] for own in grades.values())


def test_who_reads_plays_otherwise_with_other_words():
    silent = words.play_hearing(("words removed", "reader"), SEEDS)
    assert silent != words.play_hearing(("open", "reader"), SEEDS)
    assert silent == words.play_hearing(("open", "bayesian"), SEEDS)


def test_losses_are_paired_with_the_open_market():
    data = words.hearing(("tuned", "linear"), episodes=4, workers=1)
    words.Hearing.model_validate(data)
    for row in data["rows"]:
        own = next(r for r in data["rows"] if (r["player"], r["market"]) == (row["player"], "open"))
        gap = own["grade"]["mean"] - row["grade"]["mean"]
        assert row["less"]["mean"] == pytest.approx(gap, abs=1e-5)
    with pytest.raises(ValueError, match="no policy"):
        words.hearing(("nobody",), episodes=1)
