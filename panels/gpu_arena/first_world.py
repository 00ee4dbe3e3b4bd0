"""The world that a visitor finds: a typical one, chosen by a rule.

The rule: on `arena/market_round`, of the training seeds that `evaluation/arena-train.json` records,
the one at which the expert's grade above autarky, which books its own best plan and never trades,
is the median. `seed_of_median_gain` computes it from the artifact.
"""

from functools import cache

import numpy as np
from markupsafe import Markup

from env import get_task, rollout
from panels.gpu_arena.reasons import EXPERT
from panels.results.evaluation import DRAWN
from panels.ui.terms import term
from sauda.policies import LABS
from sauda.records.seeds import SPLITS
from sauda.records.store import Artifact
from sauda.sessions.arena import LEARNER, ArenaGame

EVALUATION = "evaluation/arena-train.json"
TASK, SEED = "arena/market_round", 72
LONER = "autarky"


def seed_of_median_gain(evaluation: Artifact, task_name: str) -> int:
    """The recorded seed of the (lower) median of the expert's grade less LONER's."""
    columns = evaluation.data.episodes[DRAWN][task_name]
    gain = np.array(columns[EXPERT].grade) - np.array(columns[LONER].grade)
    order = np.argsort(gain, kind="stable")
    return SPLITS[evaluation.config["split"]][int(order[(len(order) - 1) // 2])]


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
