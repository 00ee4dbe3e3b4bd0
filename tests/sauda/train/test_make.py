"""`make train-mini` trains each run whose adapter is published, and resumes what was begun."""

import shutil
import subprocess
from pathlib import Path

import pytest

from sauda.llm.model import ADAPTERS
from sauda.records.store import REPOSITORY

# Stands for python: writes its arguments down instead of training.
PYTHON = """#!/bin/sh
echo "$@" >> {log}
"""


@pytest.fixture
def trained(tmp_path: Path):
    """Runs `make train-mini` in a copy of its Makefile; returns the options of each run by name."""
    shutil.copy(REPOSITORY / "Makefile", tmp_path)
    python, log = tmp_path / "bin" / "python", tmp_path / "log"
    python.parent.mkdir()
    python.write_text(PYTHON.format(log=log))
    python.chmod(0o755)
    clients = [f"tests/support/{client}.txt" for client in ("openenv-core", "mcp-newest")]
    locks = ("requirements.lock", "requirements-dev.lock")
    for file in (*locks, *clients, ".venv/ready"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()

    def train() -> dict[str, str]:
        log.unlink(missing_ok=True)
        subprocess.run(["make", "train-mini", "BIN=bin"], cwd=tmp_path, check=True)
        lines = [line for line in log.read_text().splitlines() if " train " in line]
        runs = [line.partition(" train ")[2].partition(" --out runs/") for line in lines]
        return {name.partition(" ")[0]: f"{options}{name.partition(' ')[2]}".strip()
                for options, _, name in runs}  # fmt: skip

    return train


def test_every_run_with_a_published_adapter_is_trained(trained):
    runs = trained()
    assert {folder.name for folder in ADAPTERS.iterdir()} <= {*runs}
    assert runs["sft-arena"] == "sft --game arena"
    assert runs["roles-buyer"] == "roles --role buyer"
    assert list(runs)[:2] == ["sft", "distill"]


def test_a_run_that_was_begun_is_resumed(trained, tmp_path):
    (tmp_path / "runs" / "distill").mkdir(parents=True)
    (tmp_path / "runs" / "distill" / "run.json").touch()
    runs = trained()
    assert runs["distill"].endswith("--resume")
    assert "--resume" not in runs["sft"]
