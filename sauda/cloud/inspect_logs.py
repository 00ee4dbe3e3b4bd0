"""Writes recorded games as logs of Inspect, and its viewer beside them, into the folder named.

A program of its own, with inspect-ai and nothing of the project, which `write_logs` of `publish.py`
runs in an environment of its own: what inspect-ai needs does not fit beside the page. It reads the
logs as JSON, each with the names that it has here.
"""

import json
import sys
from collections.abc import Mapping
from tempfile import TemporaryDirectory
from typing import Any

from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalMetric,
    EvalResults,
    EvalSample,
    EvalScore,
    EvalSpec,
    EvalStats,
    bundle_log_dir,
    write_eval_log,
)
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser
from inspect_ai.scorer import Score


def log_of(row: Mapping[str, Any]) -> EvalLog:
    """The games of a player at a task; its grade has the figures on record, where there are any."""
    samples = [sample_of(game) for game in row["games"]]
    figures = {name: EvalMetric(name=name, value=row["grade"][name]) for name in row["grade"]}
    about = {name: row[name] for name in ("created", "task", "model", "metadata")}
    dataset = EvalDataset(name=row["task"], samples=len(samples))
    score = EvalScore(name="grade", scorer="grade", metrics=figures)
    counts = {"total_samples": len(samples), "completed_samples": len(samples)}
    return EvalLog(
        status="success",
        eval=EvalSpec(dataset=dataset, config=EvalConfig(), **about),
        results=EvalResults(scores=[score], **counts),
        stats=EvalStats(started_at=row["created"], completed_at=row["created"]),
        samples=samples,
    )


def sample_of(game: Mapping[str, Any]) -> EvalSample:
    """A game: the command that plays it, its moves where they are on record, its grade."""
    messages = [
        (ChatMessageAssistant if own else ChatMessageUser)(content=text)
        for own, text in game["moves"]
    ]
    return EvalSample(
        id=game["seed"],
        epoch=1,
        input=game["input"],
        target="",
        messages=messages,
        scores={"grade": Score(value=game["grade"], answer=game["end"])},
        metadata=game["figures"],
    )


if __name__ == "__main__":
    with TemporaryDirectory() as logs:
        for number, row in enumerate(json.load(sys.stdin)):
            write_eval_log(log_of(row), f"{logs}/{number:03}.eval")
        bundle_log_dir(logs, sys.argv[1], overwrite=True)
