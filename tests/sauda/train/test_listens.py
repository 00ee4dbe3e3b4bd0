"""First bids with people in many words, beside deals in one."""

from dataclasses import replace

import pytest

from env import begin
from env.bazaar.prompt import parse
from sauda.records.seeds import is_unseen_listing
from sauda.train import listens
from sauda.train.people_rows import PEOPLE, task_of
from sauda.train.teacher_rows import Spoken

pytestmark = [pytest.mark.model, pytest.mark.xdist_group("model")]


def test_openings_come_before_the_deals_whose_first_bids_they_tell():
    rows = listens.make_rows(listens.ListensSettings(openings=6, rows=4))
    openings, deals = rows[:6], rows[6:]
    assert deals
    assert all(isinstance(row, Spoken) for row in rows)
    assert not any(row.labels[0] for row in deals if row.task == PEOPLE)
    assert not any(choices for row in deals for choices in row.choices)
    for row in openings:
        (label,), (choices,) = row.labels, row.choices
        assert label == row.messages[-1]["content"]
        assert label in dict(choices)
        task = task_of(PEOPLE, "training")
        state = begin(task, row.seed).state
        assert not is_unseen_listing(state.table.item)


def test_every_choice_of_an_opening_is_the_same_bid():
    task = task_of(PEOPLE, "training")
    settings = listens.ListensSettings()
    for seed in range(33_000, 33_006):
        for row in listens.opening(seed, settings):
            play = listens.advance(task, task.opponents, begin(task, seed))
            obs = task.env.observe(play.state, task.learner)
            bids = [replace(parse(text, obs), message="") for text, _ in row.choices[0]]
            assert all(bid == bids[0] for bid in bids)
