"""Writes recorded games as logs of Inspect, and its viewer beside them, into the folder named.

A program of its own, with inspect-ai and nothing of the project, which `write_logs` of `publish.py`
runs in an environment of its own: what inspect-ai needs does not fit beside the page. It reads the
logs as JSON, each with the names that it has here.
"""

import json
import sys
from tempfile import TemporaryDirectory
from typing import Any

from inspect_ai.log import EvalLog, bundle_log_dir, write_eval_log


def log_of(row: dict[str, Any]) -> EvalLog:
    """The games of a player at a task; its grade has the figures on record, where there are any."""
    samples, grade = [sample_of(game) for game in row["games"]], row.pop("grade")
    counts = {"total_samples": len(samples), "completed_samples": len(samples)}
    metrics = {name: {"name": name, "value": grade[name]} for name in grade}
    score = {"name": "grade", "scorer": "grade", "metrics": metrics}
    about = {name: row[name] for name in ("created", "task", "model", "metadata")}
    dataset = {"name": row["task"], "samples": len(samples)}
    fields = {
        "status": "success",
        "eval": {**about, "dataset": dataset, "config": {}},
        "results": {"scores": [score], **counts},
        "stats": {"started_at": row["created"], "completed_at": row["created"]},
        "samples": samples,
    }
    return EvalLog.model_validate(fields)


def sample_of(game: dict[str, Any]) -> dict[str, Any]:
    """A game: the command that plays it, its moves where they are on record, its grade."""
    roles = [("assistant" if is_learners else "user", text) for is_learners, text in game["moves"]]
    figures = game["figures"]
    return {
        "id": figures["seed"],
        "epoch": 1,
        "input": game["input"],
        "target": "",
        "messages": [{"role": role, "content": text} for role, text in roles],
        "scores": {"grade": {"value": figures["grade"], "answer": figures["end"]}},
        "metadata": figures,
    }


if __name__ == "__main__":
    with TemporaryDirectory() as logs:
        for number, row in enumerate(json.load(sys.stdin)):
            write_eval_log(log_of(row), f"{logs}/{number:03}.eval")
        bundle_log_dir(logs, sys.argv[1], overwrite=True)
