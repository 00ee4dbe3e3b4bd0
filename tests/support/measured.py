"""Recordings of models that nobody has trained: scripts and canned replies under their names.

`changed` makes another recording of any.
"""

from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from sauda.experiments import comparison, episodes, evaluate
from sauda.experiments.comparison import Grid
from sauda.llm.turn import PlayerSpec
from sauda.llm.wrappers import WRAPPERS
from sauda.played import people_prompt, play_columns
from sauda.players import BASE, BAYESIAN, LEAVE, LISTENER, OPEN_MARKET, ORACLE, PEOPLE, SERVED
from sauda.records.store import Artifact, new_artifact
from tests.support.models import bids

STAGES = {BASE: "naive", SERVED: "conceder"}  # and the script that plays it
BESIDE = ("null+steering", "boulware", "tit_for_tat", LEAVE, BAYESIAN, LISTENER, ORACLE)
CLASSIC = ("classic/single_deal", ("null+steering", "expert"))
SEEDS = 10


PLAYERS = {
    "high": PlayerSpec(bids(48, step=6, act="You have a lovely shop here.")),
    "shaky": PlayerSpec(bids(40, garbage=3)),
    "steered": PlayerSpec(bids(40), wrapper=WRAPPERS["steering"]),
}


def changed(artifact: Artifact, **data: Any) -> Artifact:
    """The artifact with other values in these fields of its data."""
    return replace(artifact, data=artifact.data.model_copy(update=data))


@cache
def model_comparison() -> Artifact:
    """A model comparison in the bazaar whose stages are played by scripts."""
    classic, beside = CLASSIC
    compared = comparison.in_bazaar(
        (
            Grid(OPEN_MARKET[:1], (*STAGES, *BESIDE), SEEDS),
            Grid((classic,), (*STAGES, *beside), SEEDS),
        ),
        batch=SEEDS,
    )
    same = dict.fromkeys(("task", "opponents", "policy"), "00")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparison, "is_model", lambda name: name.startswith("null"))
        patch.setattr(evaluate, "hashes", lambda cell: same)
        episodes = {
            cell: play_columns(cell._replace(policy=STAGES.get(cell.policy, cell.policy)), seeds)
            for cell, seeds in compared.cells().items()
        }
        data = comparison.tabulate(compared, episodes) | {"models": {}}
    return new_artifact(compared.file, compared.config, data)


@cache
def games_before_and_after() -> Artifact:
    """Games of two canned players under the names of the untrained base and of Sauda."""
    config = {"before": BASE, "after": SERVED, "tasks": (PEOPLE, "bazaar/mute-3")}
    config |= {"episodes": 9, "batch": 9}
    players = {BASE: PLAYERS["shaky"], SERVED: PLAYERS["high"]}
    source = dict.fromkeys(("source", "origin", "sha256", "cpu"), "") | {"sampling": {}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            episodes,
            "models_behind",
            lambda names, game: dict.fromkeys(names, source | dict(people_prompt())),
        )
        data = episodes.before_after(**config, seat=players.__getitem__)
    return new_artifact(episodes.before_after.file, config, data)
