"""A player with canned replies whose tokens are known, and runs of stages by the command."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from sauda.records.store import REPOSITORY
from sauda.train.model import Sampled

NOT_REPEATABLE = ("seconds", "step_time", "memory", "hardware", "origin", "resumed")


class Bidder:
    """Replies in its own way, the move the same: as canonical text, or with spaces."""

    def __init__(self, tokenizer, *texts):
        self.tokenizer, self.texts = tokenizer, texts

    def batch(self, chats, seeds, schemas):
        turns = [sum(m["role"] == "assistant" for m in chat) for chat in chats]
        return [self.sampled(self.texts[n % len(self.texts)]) for n in turns]

    def sampled(self, text):
        ids = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return Sampled(text, "canned", len(ids), "object", ids=tuple(ids))


def start_training(folder: Path, stage: str, *options: str) -> subprocess.Popen:
    """A process that trains a toy in a folder, or resumes the run that is there."""
    resume = ["--resume"] if (folder / "run.json").exists() else []
    command = [sys.executable, "-m", "sauda", "train", stage, "--model", "toy", *options]
    return subprocess.Popen(
        [*command, "--out", str(folder), *resume],
        cwd=REPOSITORY,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def repeatable(value: Any) -> Any:
    """A run's data without what is another in every run: times, memory, machine."""
    if isinstance(value, dict):
        return {k: repeatable(v) for k, v in value.items() if k not in NOT_REPEATABLE}
    return [repeatable(each) for each in value] if isinstance(value, list) else value


def trained(folder: Path) -> Any:
    """The data of the only artifact of training in a run's folder."""
    (file,) = (folder / "training").glob("*.json")
    return json.loads(file.read_text())["data"]
