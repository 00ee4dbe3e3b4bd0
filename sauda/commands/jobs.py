"""`python -m sauda jobs train|upload|download`: training on rented machines of the Hub."""

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sauda.commands.console import add_command
from sauda.scale.hardware import FLAVORS, Flavor, fitting, flavor, from_hub, memory_needed
from sauda.scale.job import (
    SOURCE,
    Job,
    NoMachine,
    check_submission,
    is_address,
    script,
    submit,
    summary,
)
from sauda.train import STAGES
from sauda.train.kept_runs import download, local_folder, upload
from sauda.train.model import PARAMETERS, TOY
from sauda.train.run import RUNS


def add(commands: Any) -> None:
    """Add `jobs` to the commands of `python -m sauda`."""
    about = "train on a rented machine: submit, keep and bring back runs"
    parser = commands.add_parser("jobs", help=about, description=about)
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    _add_train(verbs)
    verb = add_command(verbs, "upload", _upload, "keep the folder of a run in the results")
    verb.add_argument("folder", type=Path)
    verb.add_argument("--to", required=True)
    about = "bring a run back from the results, if there is one"
    verb = add_command(verbs, "download", _download, about)
    verb.add_argument("name")
    verb.add_argument("--from", required=True, dest="results")
    verb.add_argument("--into", type=Path, required=True)


def _add_train(verbs: Any) -> None:
    verb = add_command(verbs, "train", _train, "train stages as a job of the Hub")
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


def configured(options: argparse.Namespace) -> Job:
    """The job that the options describe, without a machine; ValueError for a wrong option."""
    stages = STAGES if options.stage == "all" else (options.stage,)
    results = options.to
    if (folder := local_folder(results)) is not None:
        results = f"file:{folder.absolute()}"
    source = options.source or (
        str(SOURCE) if options.local else _git("remote", "get-url", "origin")
    )
    if is_address(source):
        revision = options.revision or _git("rev-parse", "HEAD")
    else:
        source, revision = str(Path(source).absolute()), ""
    job = Job(
        stages,
        options.model,
        results,
        source,
        revision,
        image=options.image,
        timeout=options.timeout,
        attempts=options.attempts,
    )
    if not options.local:
        return job
    folder = options.folder or RUNS / "jobs" / Path(options.model).name
    return replace(job, folder=str(folder.absolute()))


def chosen_flavors(
    options: argparse.Namespace, stages: Sequence[str], rented: Sequence[Flavor] = FLAVORS
) -> tuple[Flavor, ...]:
    """The flavors of `rented` that are named, if they can hold the model, else all that fit.

    Only the toy looks for a CPU by itself: it is cheaper an hour than a GPU, but not a step.
    """
    device = "cpu" if options.model == TOY else "cuda"
    if not options.flavor:
        needed = memory_needed(options.model, device, options.precision, stages)
        return fitting(needed, device, rented)
    named = tuple(flavor(name, rented) for name in options.flavor)
    if len({f.device for f in named}) > 1:
        raise ValueError("the flavors of a job are all with a GPU or all without")
    for f in named if options.model in PARAMETERS else ():
        needed = memory_needed(options.model, f.device, options.precision, stages)
        if needed > f.memory * 10**9:
            raise ValueError(
                f"training {options.model} needs {needed / 1e9:.0f} GB and {f.name} has "
                f"{f.memory}; leave --flavor out for those that fit"
            )
    return named


def _git(*command: str) -> str:
    git = subprocess.run(["git", "-C", str(SOURCE), *command], capture_output=True, text=True)
    if git.returncode:
        raise ValueError(
            "this tree has no origin or no commit; name them by --source and --revision"
        )
    return git.stdout.strip()


def _train(options: argparse.Namespace) -> int:
    from huggingface_hub import HfApi, get_token

    job = configured(options)
    if options.dry_run:
        if not options.local:
            job = replace(job, flavors=chosen_flavors(options, job.stages))
        print(summary(job), end="")
        return 0
    if options.local:
        sys.stdout.flush()
        python = {"SAUDA_PYTHON": os.environ.get("SAUDA_PYTHON", sys.executable)}
        os.execvpe("bash", ["bash", "-c", script(job)], os.environ | python)
    check_submission(job, token := get_token() or "")
    api = HfApi()

    def hand_over() -> None:
        flavors = chosen_flavors(options, job.stages, from_hub(api))
        submit(replace(job, flavors=flavors), api, token)

    return _exit_code(hand_over)


def _upload(options: argparse.Namespace) -> int:
    return _exit_code(lambda: upload(options.folder.absolute(), options.to))


def _download(options: argparse.Namespace) -> int:
    return _exit_code(lambda: download(options.name, options.results, options.into.absolute()))


def _exit_code(action: Callable[[], object]) -> int:
    """0 once `action` has run; 1 where the Hub or the disk refuses, with the reason printed."""
    from huggingface_hub.errors import HTTPError  # of whichever client it speaks through

    try:
        action()
    except (NoMachine, OSError, HTTPError) as error:
        print(f"sauda: {error}", file=sys.stderr)
        return 1
    return 0
