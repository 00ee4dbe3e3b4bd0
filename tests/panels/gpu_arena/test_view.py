"""What the GPU arena tab calls things, what an offer is said to be worth, the first world."""

import numpy as np

from panels.gpu_arena.offers import offers
from panels.gpu_arena.players import LONER, SEED, TASK, made_by
from panels.gpu_arena.words import EXPERT, suggested_price
from panels.results.evaluation import DRAWN
from sauda.records.seeds import SPLITS
from sauda.records.store import load
from tests.support.arena_games import block, job, market, seen, take

ENERGY = 2.0  # of each block


def price(lab: int, given: tuple[str, ...], received: tuple[str, ...], **work) -> float | None:
    """What is suggested to lab_0, whose job the one block serves that `lab` has."""
    obs = seen(market([block("b", lab)], {0: [job("j", **work)]}), 0)
    return suggested_price(obs, "lab_1", given, received)


def test_an_offer_to_another_lab_is_not_valued():
    state = market([block("own", 0), block("theirs", 1)], {0: [job("j")]}, labs=3)
    asked = {"block_ids": ("theirs",), "conditions": (("ask", 9.0),)}
    state = take(take(state, "wait"), "send_offer", target_lab_id="lab_2", **asked)
    shown = str(offers(seen(state, 0)))
    assert "lab_1 offers lab_2 theirs for 9.00 credits" in shown
    assert "worth" not in shown
    assert "<button" not in shown


def test_a_suggested_price_is_one_that_pays_and_none_where_no_price_does():
    assert 0 < price(1, (), ("b",), value=80.0) < 80.0 - ENERGY
    assert price(1, (), ("b",), hours=40) is None
    assert price(0, ("b",), ()) < -(40.0 - ENERGY)


def test_the_first_world_is_the_recorded_one_of_the_median_gain():
    evaluation = load("evaluation/arena-train.json")
    columns = evaluation.data.episodes[DRAWN][TASK]
    gain = np.array(columns[EXPERT].grade) - np.array(columns[LONER].grade)
    median = np.argsort(gain, kind="stable")[(len(gain) - 1) // 2]
    assert SPLITS["train"][int(median)] == SEED
    assert evaluation.config["split"] == "train"
    for name in (EXPERT, LONER):
        assert np.isclose(columns[name].utility[SEED], made_by(name))
