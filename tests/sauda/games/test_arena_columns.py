"""The arena's episodes as events, and who sits in the other seats."""

import pytest

from env import ARENA_TASKS, arena, begin, rollout
from sauda.games.arena_columns import events
from sauda.policies import LABS

MARKET = ARENA_TASKS["arena/coalition_market"]


def test_events_tell_every_action_and_every_shock_and_their_rewards_add_up():
    played = rollout(MARKET, LABS["broker"], 5)
    recorded = events(played, "lab_0")
    shocks = played.final.market.shock_history
    assert [event.words for event in recorded if not event.lab] == [s.message for s in shocks]
    assert len(recorded) == len(played.turns) + len(shocks)
    own = [event for event in recorded if event.reward is not None]
    steps = arena.episode_rewards(begin(MARKET, 5).state, played.turns, "lab_0")
    assert tuple(event.reward for event in own) == steps
    assert own[-1].cumulative == pytest.approx(arena.total(steps).normalized_reward)
    rounds = [event.round_index for event in recorded]
    assert rounds == sorted(rounds)
