"""An episode of the GPU arena as a list of events: every action with its result, every shock.

The actions of one lab carry its reward and what it has gathered so far.
"""

from collections.abc import Iterator
from typing import NamedTuple

from env import Episode, arena, begin, get_task
from sauda.games.arena.transcript import action_in_words


class Event(NamedTuple):
    """An action of a lab and what became of it; or a shock, which is no lab's."""

    round_index: int
    lab: str  # "" for a shock
    words: str
    code: str  # of the result, or the kind of shock
    ok: bool
    reward: arena.Breakdown | None = None  # of the lab that is followed
    cumulative: float = 0.0  # its rewards so far


def events(played: Episode, lab: str) -> tuple[Event, ...]:
    """What happened in `played`, in order, with the rewards of `lab`."""
    return tuple(_events(played, lab))


def _events(played: Episode, lab: str) -> Iterator[Event]:
    task = get_task(played.task)
    state = begin(task, played.seed).state
    rewards = iter(arena.episode_rewards(state, played.turns, lab))
    gathered, shown = 0.0, -1
    for turn in played.turns:
        now = state.market.round_index
        for past in range(shown + 1, now + 1):
            for shock in state.market.shock_history:
                if shock.round_index == past:
                    yield Event(past, "", shock.message, shock.kind, True)
        shown = now
        if turn.action is None:
            yield Event(now, turn.agent, f"forfeits: {turn.error}", "forfeit", False)
            return
        state = task.env.step(state, turn.action)
        result = state.private[turn.agent].results[0]
        words = action_in_words(turn.action)
        if turn.agent == lab:
            reward = next(rewards)
            gathered += reward.normalized_reward
            yield Event(now, lab, words, result.code, result.ok, reward, gathered)
        else:
            yield Event(now, turn.agent, words, result.code, result.ok)
