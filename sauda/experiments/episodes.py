"""Whole episodes of scripted policies, kept to be read, stepped through and played again."""

from itertools import count
from pathlib import Path
from typing import Any, Literal

from env import BAZAAR_TASKS, EndReason, get_task, market, rollout, speech
from sauda.experiments.base import experiment, rows_of
from sauda.games.transcript import from_json, to_json
from sauda.llm.registry import get_policy
from sauda.records.schemas.base import Number, Record
from sauda.records.seeds import seller_type
from sauda.records.store import Artifact

# Four policies that differ plainly, at one hold-out seed: not the best of many. In the open market
# also the planners that do and do not use words, at the first seed where words make the deal.
SEED = 50_000
POLICIES = ("expert", "rule_based", "naive", "aggressive")
SELLERS = ("boulware", "linear", "tit_for_tat", "random")
MARKET, LISTENER, BAYESIAN = "bazaar/open", "listener", "bayesian"


class Move(Record):
    """One move of a bazaar episode."""

    agent: str  # who moved
    action: Literal["offer", "accept", "walk", "forfeit"]  # what kind of move
    price: Number = None  # rupees; of an offer
    message: str = None  # what was said with the move
    error: str = None  # the rule that was broken; of a forfeit


class EpisodeRecord(Record):
    """A complete episode, from which it can be played again."""

    task: str
    policy: str  # name of the policy in the learner's seat
    seed: int
    end: str  # how it ended
    payoffs: dict[str, Number]  # surplus over the BATNA in rupees, by agent
    grade: float  # the task's grade of the learner
    moves: list[Move]  # every move, in order


class ModelEpisode(EpisodeRecord):
    """An episode of a language model, with its texts."""

    replies: list[str]  # the model's completion at each of its own turns


class Episodes(Record):
    """Whole episodes of scripts, and of planners with and without words, to read and replay."""

    episodes: list[EpisodeRecord]  # one entry per task and policy


def replay(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """Each recorded episode as its policy plays it today, or why its recorded moves are illegal."""
    episodes: list[dict[str, Any] | str] = []
    for row in artifact.data.as_json()["episodes"]:
        try:
            from_json(row)
        except ValueError as error:
            episodes.append(f"no episode: {error}")
        else:
            episodes.append(play(row["task"], row["policy"], row["seed"]))
    return {"episodes": episodes}


def play(task_name: str, policy: str, seed: int) -> dict[str, Any]:
    """The episode of a scripted policy as JSON."""
    task = get_task(task_name)
    return to_json(rollout(task, get_policy(task, policy), seed), policy)


@experiment(
    "episodes/showcase.json",
    Episodes,
    checks="every move",
    replay=replay,
    table=rows_of("episodes"),
)
def episodes(seed: int = SEED) -> dict[str, Any]:
    """The data of the artifact: each task at one seed under four policies, and a deal by words."""
    shown = [
        play(task.name, name, seed)
        for task in BAZAAR_TASKS.values()
        for name in (SELLERS if task.learner == "seller" else POLICIES)
    ]
    return {"episodes": [*shown, *deal_by_words(seed)]}


def deal_by_words(first: int) -> list[dict[str, Any]]:
    """The first seed where only the planner that says what moves its seller gets a deal.

    Its episode, and that of the planner on numbers, which gets none.
    """
    for seed in count(first):
        spoken, silent = (play(MARKET, name, seed) for name in (LISTENER, BAYESIAN))
        said = [move.get("message", "") for move in spoken["moves"] if move["agent"] == "buyer"]
        key = market.KEYS[seller_type(get_task(MARKET), seed)]
        is_key_said = any(speech.act_in(text)[0] == key for text in said)
        if is_key_said and spoken["end"] == EndReason.AGREEMENT != silent["end"]:
            return [spoken, silent]
