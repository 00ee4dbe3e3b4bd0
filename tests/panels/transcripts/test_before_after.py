"""Which game of before and after is shown first, and that its recorded games are shown at once."""

from dataclasses import replace

import pytest

from env import EndReason
from panels.transcripts import episodes
from panels.transcripts.before_after import FILE, typical
from sauda.evaluation.models.config import OURS
from sauda.games.transcript import from_json
from sauda.records.schemas.comparison import ChosenPair
from sauda.records.store import load

TASK = "bazaar/open"


@pytest.mark.parametrize(
    ("deals", "shown"), [(["90th", "best"], "90th"), (["best"], "best"), ([], "50th")]
)
def test_where_the_typical_game_has_no_deal_the_next_in_the_rule_is_shown(deals, shown):
    artifact = load(FILE)
    tasks = [
        row.model_copy(update={"chosen": [ending(pair, pair.why in deals) for pair in row.chosen]})
        for row in artifact.data.tasks
    ]
    data = artifact.data.model_copy(update={"tasks": tasks})
    assert typical(replace(artifact, data=data), TASK).why == shown


def test_a_market_whose_median_game_gained_nothing_opens_on_one_that_did():
    artifact = load(FILE)
    assert "50th" in {
        pair.why
        for row in artifact.data.tasks
        for pair in row.chosen
        if row.task == "bazaar/rushed" and pair.difference == 0
    }
    assert typical(artifact, "bazaar/rushed").difference > 0


def ending(pair: ChosenPair, deal: bool) -> ChosenPair:
    """The pair as if its game after training had ended with a deal, or with a walk-away."""
    end = str(EndReason.AGREEMENT if deal else EndReason.WALKAWAY)
    return pair.model_copy(update={"after": pair.after.model_copy(update={"end": end})})


def test_a_recorded_game_of_the_models_is_shown_at_once_and_said_to_be_recorded():
    pair = typical(load(FILE), TASK)
    played = episodes.play(TASK, pair.seed, ["linear", *episodes.MODELS])
    assert pair.after.policy == OURS
    for name, record in zip(episodes.MODELS, (pair.before, pair.after), strict=True):
        assert played[name].turns == from_json(record.as_json()).turns
    assert episodes.recorded_at(TASK, pair.seed).keys() == set(episodes.MODELS)
    assert not episodes.recorded_at(TASK, 1)
    assert not episodes.recorded_at("classic/single_deal", pair.seed)
