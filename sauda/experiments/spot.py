"""Pairs of games of one seed by the untrained and the served model, for somebody to tell apart."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from env import get_task
from sauda.experiments.base import experiment
from sauda.experiments.episodes import play_replies, record_games
from sauda.played import models_behind, people_prompt
from sauda.players import BASE, CONSTRAINED, PEOPLE, SERVED, player_spec
from sauda.records.schemas.base import ModelSource, Record, Rows
from sauda.records.seeds import first_seeds
from sauda.records.store import Artifact

FILE, TASK = "episodes/spot.json", PEOPLE
EPISODES = 48  # hold-out seeds, from the first
LEAST = 3  # moves of each buyer: fewer show no way of bargaining


class SpotPairs(Record):
    """Games of the untrained and of the served model on the same seeds, to be told apart."""

    pairs: Rows  # one per seed: the game of each player, in the order of `players`
    models: dict[str, ModelSource]  # weights and sampling, by model name


def both_move(pair: Mapping[str, Any]) -> bool:
    """Whether each buyer makes LEAST moves or more: what a pair is chosen by."""
    made = [
        sum(move["agent"] == "buyer" and move["action"] != "forfeit" for move in game["moves"])
        for game in pair["games"]
    ]
    return min(made) >= LEAST


def replay(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """Every game played again from its recorded replies, and chosen again; no weights are asked."""
    task, names = get_task(TASK), artifact.settings()["players"]
    pairs = [
        {
            "seed": pair["seed"],
            "games": [
                play_replies(task, name, pair["seed"], game["replies"])
                for name, game in zip(names, pair["games"], strict=True)
            ],
        }
        for pair in artifact.data.as_json()["pairs"]
    ]
    return {"pairs": [pair for pair in pairs if both_move(pair)]}


@experiment(
    FILE,
    SpotPairs,
    checks="every game from its recorded replies; games that were not chosen are not repeated",
    method="replayed in part",
    replay=replay,
    model_hashes=people_prompt,
)
def spot(
    # The base hardly makes a move but under the grammar of legal ones.
    players: tuple[str, ...] = (f"{BASE}+{CONSTRAINED}", SERVED),
    episodes: int = EPISODES,
) -> dict[str, Any]:
    """The data of the artifact: of each seed on which both make LEAST moves, both games."""
    task, seeds = get_task(TASK), first_seeds(episodes)
    rows = [record_games(task, name, player_spec(name), seeds, episodes) for name in players]
    pairs = [{"seed": seed, "games": games} for seed, *games in zip(seeds, *rows, strict=True)]
    return {
        "pairs": [pair for pair in pairs if both_move(pair)],
        "models": models_behind(players, "people"),
    }
