"""How a model plays while it learns: the adapter of every checkpoint plays the same few games."""

from collections.abc import Callable
from typing import Any

import numpy as np

from env import get_task
from sauda.llm.backends.model import Model
from sauda.llm.batched_rollout import new_game, play_games
from sauda.llm.registry import PlayerSpec
from sauda.records.splits import SPLITS
from sauda.statistics import mean_interval
from sauda.train.run import Run, append, lines

TASKS = {"bazaar": "bazaar/open", "arena": "arena/market_round"}
FIRST_SEED = 48_000  # of the training split, where no stage learns


def probes(
    run: Run,
    game: str,
    games: int,
    loaded: Callable[[Any], Model],
    say: Callable[[str], None] = lambda text: None,
) -> list[dict[str, Any]]:
    """The mean grade in `game` of each kept adapter, with its 95 % interval.

    Each is on disk at once; `loaded` gives the model with the adapter in a folder.
    """
    if not games:
        return []
    file = run.folder / "probes.jsonl"
    known = {row["step"]: row for row in lines(file)}
    seeds = [seed for seed in SPLITS["train"] if seed >= FIRST_SEED][:games]
    whole = [int(kept.name) for kept in run.snapshots.glob("*") if kept.name.isdigit()]
    for step in sorted(whole):
        folder = run.snapshots / str(step)
        if step in known:
            continue
        say(f"playing {games} games as it stood after step {step}")
        played = [new_game(get_task(TASKS[game]), seed) for seed in seeds]
        play_games(played, PlayerSpec(loaded(folder)))
        mean, low, high = mean_interval(np.array([game.grade for game in played]))
        known[step] = {"step": step, "n": games, "reward": mean, "low": low, "high": high}
        append(file, known[step])
    return [known[step] for step in sorted(known)]
