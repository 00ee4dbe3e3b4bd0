"""Before and after: which game is shown, step by step, played again, and its address."""

from dataclasses import replace

import pytest

from env import EndReason
from panels.transcripts import episodes
from panels.transcripts.tab import (
    find_pair,
    moves_of,
    pair_in_address,
    pair_of_games,
    replay_both,
    typical,
)
from sauda.experiments.comparison import OURS
from sauda.experiments.episodes import ChosenPair
from sauda.games.transcript import from_json
from tests.support.measured import games_before_and_after

TASK = "bazaar/open"


@pytest.mark.parametrize(
    ("deals", "shown"), [(["90th", "best"], "90th"), (["best"], "best"), ([], "50th")]
)
def test_where_the_typical_game_has_no_deal_the_next_in_the_rule_is_shown(deals, shown):
    artifact = games_before_and_after()
    tasks = [
        row.model_copy(update={"chosen": [ending(pair, pair.why in deals) for pair in row.chosen]})
        for row in artifact.data.tasks
    ]
    data = artifact.data.model_copy(update={"tasks": tasks})
    assert typical(replace(artifact, data=data), TASK).why == shown


def ending(pair: ChosenPair, deal: bool) -> ChosenPair:
    """The pair as if its game after training had ended with a deal, or with a walk-away."""
    end = str(EndReason.AGREEMENT if deal else EndReason.WALKAWAY)
    return pair.model_copy(update={"after": pair.after.model_copy(update={"end": end})})


def test_a_recorded_game_of_the_models_is_shown_at_once_and_said_to_be_recorded(monkeypatch):
    monkeypatch.setattr(episodes, "load_or_say", lambda file: (games_before_and_after(), ""))
    episodes.recorded_at.cache_clear()
    pair = typical(games_before_and_after(), TASK)
    played = episodes.play(TASK, pair.seed, ["linear", *episodes.MODELS])
    assert pair.after.policy == OURS
    for name, record in zip(episodes.MODELS, (pair.before, pair.after), strict=True):
        assert played[name].turns == from_json(record.as_json()).turns
    assert episodes.recorded_at(TASK, pair.seed).keys() == set(episodes.MODELS)
    assert not episodes.recorded_at(TASK, 1)
    assert not episodes.recorded_at("classic/single_deal", pair.seed)
    episodes.recorded_at.cache_clear()


@pytest.fixture(scope="module")
def record():
    return games_before_and_after()


def test_a_step_shows_that_many_moves_and_the_end_only_at_the_end(record):
    pair = typical(record, TASK)
    begun, ended = str(pair_of_games(pair, 1)), str(pair_of_games(pair, moves_of(pair)))
    assert begun.count("Move 1 of ") == 2
    assert begun.count("<b>seller</b>") == 2
    for later in ("<b>buyer</b>", "Every reply as the model wrote it"):
        assert later not in begun
        assert later in ended
    assert "Move " not in ended
    assert ended == str(pair_of_games(pair))


def test_both_games_come_out_of_their_replies_as_recorded(record):
    pair = typical(record, TASK)
    shown = str(replay_both(pair))
    assert shown.count("<b>Equal: grade ") == 2
    grade = f"recorded {pair.after.grade:.3f}, played now {pair.after.grade:.3f}, n = 1 game."
    assert grade in shown


def test_a_record_that_the_replies_do_not_give_is_told(record):
    pair = typical(record, TASK)
    wrong = pair.model_copy(update={"after": pair.after.model_copy(update={"grade": 0.5})})
    assert "Not the same in grade." in replay_both(wrong)


def test_the_address_of_a_pair_leads_back_to_it(record):
    pair = record.data.tasks[1].chosen[0]
    named = pair_in_address(record, record.data.tasks[1].task, pair.why)
    assert find_pair(record, named) == (record.data.tasks[1].task, pair)
