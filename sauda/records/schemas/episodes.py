"""Whole games of the bazaar, to be read, stepped through and played again.

Grades are the task's own, in [-1, 1]; a difference is after less before, at one seed.
"""

from typing import Literal

from sauda.records.schemas.base import ModelSource, Number, Record, Row, Rows, Table

# Four policies that differ plainly, at one hold-out seed: not the best of many. In the open market
# also the planners that do and do not use words, at the first seed where words make the deal.
SEED = 50_000
POLICIES = ("expert", "rule_based", "naive", "aggressive")

SIDES = ("before", "after")
BEST = "best"  # the largest gain of a game that ends in a deal
PERCENTILES = {"10th": 0.10, "50th": 0.50, "90th": 0.90}  # of the gains where there is a ZOPA

DUEL_FILE = "episodes/duel.json"

SPOT_FILE = "episodes/spot.json"
SPOT_SEEDS = 48  # hold-out seeds, from the first
LEAST_MOVES = 3  # of each buyer: fewer show no way of bargaining


class Move(Record):
    """One move of a bazaar episode."""

    agent: str  # who moved
    action: Literal["offer", "accept", "walk", "forfeit"]  # what kind of move
    price: Number = None  # rupees; of an offer
    message: str = None  # what was said with the move
    error: str = None  # the rule that was broken; of a forfeit


class EpisodeRecord(Row):
    """A complete episode, from which it can be played again; of a model with its replies."""

    moves: list[Move]  # every move, in order


class Episodes(Record):
    """Whole episodes of scripts, and of planners with and without words, to read and replay."""

    episodes: Table[EpisodeRecord]  # one entry per task and policy


class ChosenPair(Row):
    """One seed played before and after training, chosen by the difference of its grades."""

    before: EpisodeRecord  # the game before training
    after: EpisodeRecord  # the game after training


class BeforeAfterTask(Row):
    """Both grades of every seed of a task, and the games shown."""

    chosen: Table[ChosenPair]  # the games shown, by their difference


class BeforeAfter(Record):
    """Games of a model before and after training on the same seeds, and some of them to show."""

    tasks: Table[BeforeAfterTask]  # one entry per task
    models: dict[str, ModelSource]  # weights and sampling, by model name


def gain(before: float, after: float) -> float:
    """The difference of two recorded grades, to their six digits: equal ones stay equal."""
    return round(after - before, 6)


class Duel(Record):
    """A game of the model that speaks, chosen by rule, and other buyers' games at its seed."""

    games: Table[EpisodeRecord]  # one per player; the first is the game that was chosen
    seeds: list[int]  # of the games that the rule chose from
    shares: list[Number | None]  # the share of each of them; null where it could not be shown
    models: dict[str, ModelSource]  # weights and sampling, by model name


class SpotPairs(Record):
    """Games of the untrained and of the served model on the same seeds, to be told apart."""

    pairs: Rows  # one per seed: the game of each player, in the order of `players`
    models: dict[str, ModelSource]  # weights and sampling, by model name
