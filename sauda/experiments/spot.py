"""Pairs of games of one seed by the untrained and the served model, for somebody to tell apart."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from env import get_task
from sauda.experiments.base import experiment
from sauda.experiments.episodes import play_replies, record_games
from sauda.played import models_behind
from sauda.players import BASE, CONSTRAINED, PEOPLE, SERVED, player_spec
from sauda.records.schemas.episodes import LEAST_MOVES, SPOT_FILE, SPOT_SEEDS
from sauda.records.seeds import first_seeds
from sauda.records.store import Artifact


def both_move(pair: Mapping[str, Any]) -> bool:
    """Whether each buyer makes LEAST_MOVES moves or more: what a pair is chosen by."""
    made = [
        sum(move["agent"] == "buyer" and move["action"] != "forfeit" for move in game["moves"])
        for game in pair["games"]
    ]
    return min(made) >= LEAST_MOVES


def replay(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """Every game played again from its recorded replies, and chosen again; no weights are asked."""
    task, names = get_task(PEOPLE), artifact.settings()["players"]
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


@experiment(SPOT_FILE)
def spot(
    # The base hardly makes a move but under the grammar of legal ones.
    players: tuple[str, ...] = (f"{BASE}+{CONSTRAINED}", SERVED),
    episodes: int = SPOT_SEEDS,
) -> dict[str, Any]:
    """The data of the artifact: of each seed on which both make LEAST_MOVES moves, both games."""
    task, seeds = get_task(PEOPLE), first_seeds(episodes)
    rows = [record_games(task, name, player_spec(name), seeds, episodes) for name in players]
    pairs = [{"seed": seed, "games": games} for seed, *games in zip(seeds, *rows, strict=True)]
    return {
        "pairs": [pair for pair in pairs if both_move(pair)],
        "models": models_behind(players, "people"),
    }
