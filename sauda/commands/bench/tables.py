"""Speed of whole tables: an evaluation in one go, and the merge of its shards."""

import tempfile
import time
from pathlib import Path
from typing import Any

from tqdm import tqdm

from env import MARKETS
from sauda.evaluation.evaluate import Config, evaluate
from sauda.evaluation.speed import figure
from sauda.policies import BUYERS
from sauda.scale.pieces.engines import engine
from sauda.scale.pieces.shards import Plan, merged, play

REPETITIONS = 5
EPISODES = 1000  # a policy and task, as in the recorded evaluation
CORES = 2
SHARDS = 100


def full_table(episodes: int = EPISODES, repetitions: int = REPETITIONS) -> dict[str, Any]:
    """Seconds for the open market's whole table: every task and scripted buyer, with intervals."""
    config, samples = table_config(episodes), []
    for _ in tqdm(range(repetitions), desc="playing the table", leave=False):
        start = time.perf_counter()
        evaluate(config, workers=CORES)
        samples.append(time.perf_counter() - start)
    name = "full table of scripted policies, all bazaar tasks"
    return figure(name, "s", samples, **size_of(config), cores=CORES)


def merge_of_shards(episodes: int = EPISODES, repetitions: int = REPETITIONS) -> dict[str, Any]:
    """Seconds to read the pieces of 100 shards of that table and merge them, on one core."""
    config, samples = table_config(episodes), []
    with tempfile.TemporaryDirectory() as folder:
        with engine("process", CORES) as run:
            play(Plan(config, SHARDS), Path(folder), run)
        for _ in tqdm(range(repetitions), desc="merging shards", leave=False):
            start = time.perf_counter()
            merged(Path(folder))
            samples.append(time.perf_counter() - start)
    name = f"merge of {SHARDS} shards of that table"
    return figure(name, "s", samples, **size_of(config), cores=1)


def table_config(episodes: int) -> Config:
    """The open market's whole table: every task and every scripted buyer."""
    return Config(tuple(f"bazaar/{market}" for market in MARKETS), tuple(BUYERS), episodes=episodes)


def size_of(config: Config) -> dict[str, int]:
    """How large a table is, as a figure of its speed tells it."""
    sizes = {"tasks": len(config.tasks), "policies": len(config.policies)}
    return sizes | {"episodes": config.episodes}
