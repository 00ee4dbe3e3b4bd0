"""Sauda in a visitor's place: the served model plays the same seed in this page's process."""

from functools import lru_cache

from env import get_task, rollout
from panels.haggle.resume import FIRST
from panels.haggle.words import Translate
from panels.results.reproduce import of_this_page
from sauda.llm.backends import in_page
from sauda.llm.registry import player_spec
from sauda.llm.server import Failed, Ready, Stage
from sauda.sessions.bazaar import Standing
from sauda.sessions.daily import DAYS_KEPT, TASK, player

LABEL = "Sauda"  # as Haggle calls its first opponent


@lru_cache(maxsize=DAYS_KEPT)
def standing_of(seed: int) -> Standing:
    """Sauda's game of a seed, played once a process; takes seconds.

    Raises ReplyError where the model cannot reply, or nobody waits for the game any more.
    """
    task = get_task(TASK)
    return player(LABEL, rollout(task, of_this_page(task, FIRST.opponent), seed))


def stage() -> Stage:
    """Whether the model is loading, ready or failed in this page's process."""
    return in_page(player_spec(FIRST.opponent).weights).stage


def absent(now: Stage, translate: Translate) -> str:
    """Why Sauda has no row yet, in a sentence; "" where it is ready to play."""
    if isinstance(now, Ready):
        return ""
    if isinstance(now, Failed):
        reason = translate("daily_cannot", reason=now.reason)
    else:
        reason = translate("daily_loading")
    return translate("daily_failed", reason=reason)
