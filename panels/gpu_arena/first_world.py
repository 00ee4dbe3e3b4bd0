"""The world that a visitor finds: a typical one, chosen by a rule.

The rule: on `arena/market_round`, of the training seeds that `evaluation/arena-train.json` records,
the one at which the expert's grade above autarky, which books its own best plan and never trades,
is the median. A test computes it from the artifact.
"""

from functools import cache

from markupsafe import Markup

from env import get_task, rollout
from panels.gpu_arena.reasons import EXPERT
from panels.ui.terms import term
from sauda.policies import LABS
from sauda.sessions.arena import LEARNER, ArenaGame

TASK, SEED = "arena/market_round", 123
LONER = "autarky"


def why_this_world(game: ArenaGame) -> Markup:
    """What trading brings in the first world, and how it was chosen; empty in any other world."""
    if (game.task_name, game.play.seed) != (TASK, SEED):
        return Markup("")
    traded, alone = (made_by(name) for name in (EXPERT, LONER))
    return Markup(
        '<p class="sauda-note">A typical world: {} makes {:.1f} credits here, {} makes {:.1f}.'
        " Of the recorded training seeds it is the one with the median gain.</p>"
    ).format(
        term("the rule-based expert, which trades,", EXPERT),
        traded,
        term("a lab that never trades", LONER),
        alone,
    )


@cache
def made_by(name: str) -> float:
    """Credits that a player makes in the first world; plays its game."""
    played = rollout(get_task(TASK), LABS[name], SEED)
    return played.final.private[LEARNER].utility
