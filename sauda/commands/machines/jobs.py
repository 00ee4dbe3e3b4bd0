"""`python -m sauda jobs train|upload|download`: training on rented machines of the Hub."""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sauda.commands.console import add_command
from sauda.commands.machines.options import add_job_options, exit_code, job_settings
from sauda.scale.hardware import FLAVORS, Flavor, fitting, flavor, from_hub, memory_needed
from sauda.scale.job import Job, script, submit, summary
from sauda.scale.kept_runs import download, upload
from sauda.scale.request import check_submission
from sauda.train import STAGES
from sauda.train.common import RUNS
from sauda.train.model import PARAMETERS, TOY


def add(commands: Any) -> None:
    """Add `jobs` to the commands of `python -m sauda`."""
    parser = add_command(commands, "jobs")
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
    add_job_options(verb, timeout=Job.timeout)
    verb.add_argument("--flavor", nargs="+", default=None, help="by default all that fit")
    verb.add_argument(
        "--precision",
        choices=("bf16", "nf4"),
        default="bf16",
        help="of the weights, for the choice of flavors; training takes bf16 wherever it fits",
    )
    verb.add_argument(
        "--local", action="store_true", help="run the script here, with this Python and this tree"
    )
    verb.add_argument(
        "--folder", type=Path, default=None, help="of a local run; by default a cache"
    )


def configured(options: argparse.Namespace) -> Job:
    """The job that the options describe, without a machine; ValueError for a wrong option."""
    stages = STAGES if options.stage == "all" else (options.stage,)
    job = Job(stages, options.model, **job_settings(options, here=options.local))
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

    return exit_code(hand_over)


def _upload(options: argparse.Namespace) -> int:
    return exit_code(lambda: upload(options.folder.absolute(), options.to))


def _download(options: argparse.Namespace) -> int:
    return exit_code(lambda: download(options.name, options.results, options.into.absolute()))
