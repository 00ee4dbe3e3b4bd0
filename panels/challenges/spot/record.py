"""`python -m panels.challenges.spot.record` plays the recorded pairs and writes `recorded.json`.

Both models play every seed of SEEDS, which takes two minutes on two cores; greedy decoding makes
the same games again.
"""

import json
from typing import Any

from env import get_task
from panels.challenges.spot.recorded import FILE, SEEDS, TASK, Pair, both_move
from panels.challenges.spot.stages import stages_of
from panels.results.models import FILE as COMPARISON
from sauda.experiments.before_after import record_game as record_game
from sauda.experiments.comparison import OURS
from sauda.games import game_of
from sauda.llm.registry import player_spec
from sauda.llm.sources import models_behind
from sauda.llm.turn import new_game, play_games
from sauda.records.store import load


def record(untrained: str, trained: str) -> dict[str, Any]:
    """What the file holds, played now by both models."""
    task, rows = get_task(TASK), []
    for name in (untrained, trained):
        games = [new_game(task, seed) for seed in SEEDS]
        play_games(games, player_spec(name))
        rows.append([record_game(game, name) for game in games])
    pairs = [Pair(*both) for both in zip(*rows, strict=True)]
    return {
        "players": [untrained, trained],
        "seeds": [SEEDS[0], SEEDS[-1]],
        "models": models_behind({untrained, trained}, game_of(task)),
        "pairs": [pair.rows for pair in pairs if both_move(pair)],
    }


def main() -> None:
    """Record the two stages that the page compares."""
    found = record(stages_of(load(COMPARISON)).untrained, OURS)
    FILE.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"{FILE.name}: {len(found['pairs'])} pairs of {' and '.join(found['players'])}")


if __name__ == "__main__":
    main()
