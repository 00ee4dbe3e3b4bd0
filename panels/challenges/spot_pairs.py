"""The recorded pairs of “Spot the trained one”: games of the untrained and of the served stage.

`python -m panels.challenges.spot_pairs` plays the hold-out seeds SEEDS with both models and writes
those games in which both buyers make moves to `spot_pairs.json`. It takes two minutes on two cores;
greedy decoding makes the same games again.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from env import get_task
from panels.measured import FILE as COMPARISON
from panels.measured import rows_by_policy
from sauda.experiments.episodes import record_game
from sauda.experiments.evaluate import BazaarRow
from sauda.games import game_of
from sauda.llm.turn import new_game, play_games
from sauda.played import models_behind
from sauda.players import BASE, CONSTRAINED, OURS, player_spec, row_name
from sauda.records.seeds import SPLITS
from sauda.records.store import Artifact, load

FILE = Path(__file__).with_suffix(".json")
TASK = "bazaar/open"  # of the recorded games, and of the scores
SEEDS = SPLITS["holdout"][:16]
LEAST = 6  # moves of each buyer: fewer show no way of bargaining
SERVED = "sauda-mini"  # the page's own name for it, so that its weights are loaded once
Row = Mapping[str, Any]  # a game of a language model as JSON, with its replies
Pair = Sequence[Row]  # a seed's game of the untrained and of the trained buyer


def read_measured(comparison: Artifact) -> Mapping[str, BazaarRow]:
    """The rows that measured the models as buyers, by name."""
    return rows_by_policy(comparison, TASK)


def find_untrained(rows: Mapping[str, BazaarRow]) -> str:
    """The untrained base, as it plays here.

    It plays under the grammar of legal moves where that was measured and most of its games without
    it end with an invalid reply: else it would hardly ever make a move.
    """
    bare, helped = rows[BASE], f"{BASE}+{CONSTRAINED}"
    is_mute = bare.invalid_replies > bare.n / 2
    return helped if is_mute and helped in rows else BASE


def is_trained(policy: str) -> bool:
    """Whether a player, recorded or live, is the served stage."""
    return row_name(policy) == row_name(SERVED)


def both_move(pair: Pair) -> bool:
    """Whether each buyer makes LEAST moves or more: what a recorded pair is chosen by."""
    made = [
        sum(move["agent"] == "buyer" and move["action"] != "forfeit" for move in row["moves"])
        for row in pair
    ]
    return min(made) >= LEAST


@cache
def data() -> Mapping[str, Any]:
    """The file: both players' names, the seeds played, the weights, the pairs chosen of them."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def pairs_with(base: str) -> Sequence[Pair]:
    """The recorded pairs of the untrained player `base` and the served one in which both move."""
    recorded = data()["pairs"] if data()["players"] == [base, OURS] else []
    return [pair for pair in recorded if both_move(pair)]


def spoke() -> tuple[float, float]:
    """The share of bids that came with words in all recorded pairs: untrained, trained."""
    untrained, trained = (
        [
            bool(move.get("message"))
            for row in rows
            for move in row["moves"]
            if move["agent"] == "buyer" and move["action"] == "offer"
        ]
        for rows in zip(*data()["pairs"], strict=True)
    )
    return sum(untrained) / len(untrained), sum(trained) / len(trained)


def record(players: Sequence[str]) -> dict[str, Any]:
    """What the file holds, played now by both models."""
    task, rows = get_task(TASK), []
    for name in players:
        games = [new_game(task, seed) for seed in SEEDS]
        play_games(games, player_spec(name))
        rows.append([record_game(game, name) for game in games])
    return {
        "players": list(players),
        "seeds": [SEEDS[0], SEEDS[-1]],
        "models": models_behind(set(players), game_of(task)),
        "pairs": [pair for pair in zip(*rows, strict=True) if both_move(pair)],
    }


def main() -> None:
    """Record the two stages that the page compares."""
    found = record([find_untrained(read_measured(load(COMPARISON))), OURS])
    FILE.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"{FILE.name}: {len(found['pairs'])} pairs of {' and '.join(found['players'])}")


if __name__ == "__main__":
    main()
