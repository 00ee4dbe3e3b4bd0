"""The world that a visitor finds: one where trading pays visibly, chosen by a rule.

The rule: on `arena/market_round`, of the training seeds that `evaluation/arena-train.json` records,
the one at which the broker, which trades, ends with the largest grade above autarky, which books
its own best plan and never trades. `seed_of_most_gain` computes it from the artifact, and
`python -m sauda verify evaluation/arena-train.json` plays the artifact's games again.
"""

from functools import cache

import numpy as np
from markupsafe import Markup

from env import get_task, rollout
from panels.results.evaluation import DRAWN
from panels.ui.terms import term
from sauda.policies import LABS
from sauda.records.seeds import SPLITS
from sauda.records.store import Artifact
from sauda.sessions.arena import LEARNER, ArenaGame

EVALUATION = "evaluation/arena-train.json"
TASK, SEED = "arena/market_round", 184
TRADER, LONER = "broker", "autarky"


def seed_of_most_gain(evaluation: Artifact, task_name: str) -> int:
    """The first recorded seed at which TRADER's grade lies farthest above LONER's."""
    columns = evaluation.data.episodes[DRAWN][task_name]
    gain = np.array(columns[TRADER].grade) - np.array(columns[LONER].grade)
    return SPLITS[evaluation.config["split"]][int(np.argmax(gain))]


def why_this_world(game: ArenaGame) -> Markup:
    """What trading brings in the first world, and how it was chosen; empty in any other world."""
    if (game.task_name, game.play.seed) != (TASK, SEED):
        return Markup("")
    traded, alone = (made_by(name) for name in (TRADER, LONER))
    return Markup(
        '<p class="sauda-note">In this world trading pays: {} makes {:.1f} credits, {} makes'
        " {:.1f}. Of the recorded training seeds it is the one where trading brings most.</p>"
    ).format(
        term("the broker, which trades,", TRADER),
        traded,
        term("a lab that never trades", LONER),
        alone,
    )


@cache
def made_by(name: str) -> float:
    """Credits that a player makes in the first world; plays its game."""
    played = rollout(get_task(TASK), LABS[name], SEED)
    return played.final.private[LEARNER].utility
