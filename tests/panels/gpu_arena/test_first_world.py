"""The world that a visitor finds is the one that the stated rule chooses."""

import numpy as np

from panels.gpu_arena.callbacks import new_game
from panels.gpu_arena.first_world import (
    EVALUATION,
    LONER,
    SEED,
    TASK,
    TRADER,
    made_by,
    seed_of_most_gain,
    why_this_world,
)
from panels.results.evaluation import DRAWN
from sauda.records.store import load


def test_the_first_world_is_the_recorded_one_where_trading_brings_most():
    evaluation = load(EVALUATION)
    assert evaluation.config["split"] == "train"
    assert seed_of_most_gain(evaluation, TASK) == SEED
    columns = evaluation.data.episodes[DRAWN][TASK]
    for name in (TRADER, LONER):
        assert np.isclose(columns[name].utility[SEED], made_by(name))
    assert made_by(TRADER) > 3 * made_by(LONER) > 0


def test_the_page_says_why_it_shows_the_first_world_and_of_no_other():
    shown = str(why_this_world(new_game(TASK, str(SEED))))
    assert f"makes {made_by(TRADER):.1f} credits" in shown
    assert str(why_this_world(new_game(TASK, "1"))) == ""
    assert str(why_this_world(new_game("arena/single_trade", str(SEED)))) == ""
