"""`python -m sauda jobs|rollouts|deploy|smoke`: rented machines, games of a model, a Space."""

import argparse
import json
import os
import tempfile
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from sauda.cloud import CloudFault, jobs, space
from sauda.cloud import rollouts as games
from sauda.commands import console
from sauda.commands.console import add_command, report, with_reason
from sauda.commands.games import add_table_options, check_scripts, check_shard, spec_of
from sauda.played import CHUNK
from sauda.records.store import git, write
from sauda.train import STAGES

TOKEN = "SAUDA_ENDPOINT_TOKEN"
PYTHONS = ("3.11", "3.12")  # the project's
ANSWERS_WITHIN = 120.0  # seconds from a running Space to its first answer


def add(commands: Any) -> None:
    _add_jobs(add_command(commands, "jobs").add_subparsers(required=True, metavar="VERB"))
    _add_rollouts(add_command(commands, "rollouts", rollouts))
    parser = add_command(commands, "deploy", deploy)
    parser.add_argument("--space", required=True, metavar="OWNER/NAME")
    parser.add_argument(
        "--dry-run", action="store_true", help="stage and check; only the package index is asked"
    )
    parser.add_argument(
        "--skip-imports", action="store_true", help="make no fresh environments: they take minutes"
    )
    parser = add_command(commands, "smoke", smoke)
    parser.add_argument("address", help="such as http://127.0.0.1:7860")


# Jobs


def _add_jobs(verbs: Any) -> None:
    verb = add_command(verbs, "train", train, "train stages as a job of the Hub")
    verb.add_argument("stage", metavar="STAGE", help=f"{', '.join(STAGES)}, or all")
    verb.add_argument("--model", default="mini", help="toy, mini, 8b, or a repository")
    _add_job_options(verb, timeout="6h")
    verb.add_argument("--flavor", help="machine; by default the usual one of the model")

    about = "play an evaluation as jobs of the Hub, one per shard"
    verb = add_command(verbs, "evaluate", evaluate, about)
    add_table_options(verb)
    verb.add_argument("--shards", type=int, required=True, help="parts, a job each")
    verb.add_argument("--flavor", default="cpu-upgrade", help="machine")
    _add_job_options(verb, timeout="2h")


def _add_job_options(parser: argparse.ArgumentParser, timeout: str) -> None:
    parser.add_argument("--to", required=True, help="bucket of the results, OWNER/NAME")
    parser.add_argument("--source", help="repository to clone; by default origin")
    parser.add_argument("--revision", help="its commit; by default this tree's")
    parser.add_argument("--timeout", default=timeout, help="such as 90m or 6h")
    parser.add_argument("--dry-run", action="store_true", help="print the job; submit nothing")


def _where(options: argparse.Namespace) -> dict[str, str]:
    source = options.source or git("remote", "get-url", "origin")
    revision = options.revision or git("rev-parse", "HEAD")
    if not (source and revision):
        raise ValueError(
            "this tree has no origin or no commit; name them by --source and --revision"
        )
    return {
        "bucket": options.to, "source": source, "revision": revision, "timeout": options.timeout,
    }  # fmt: skip


def _submit(wanted: list[jobs.Job], options: argparse.Namespace) -> None:
    from huggingface_hub import HfApi, get_token

    if options.dry_run:
        print(jobs.describe(wanted), end="")
        return
    for job in wanted:
        info = jobs.submit(job, HfApi(), get_token() or "")
        print(f"job {info.id} on {job.flavor}: {info.url}", flush=True)


@with_reason
def train(options: argparse.Namespace) -> None:
    stages = STAGES if options.stage == "all" else (options.stage,)
    _submit([jobs.training_job(stages, options.model, options.flavor, **_where(options))], options)


@with_reason
def evaluate(options: argparse.Namespace) -> None:
    spec, shards = spec_of(options), range(1, options.shards + 1)
    check_scripts(spec)
    check_shard(options.shards, options.shards)
    what = ["--tasks", *spec.tasks, "--policies", *spec.policies, "--split", spec.split]
    what += ["--episodes", str(spec.episodes)]
    where = {"flavor": jobs.flavor(options.flavor), **_where(options)}
    _submit([jobs.shard_job(what, shard, options.shards, **where) for shard in shards], options)


# Rollouts


def _add_rollouts(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--task", default="bazaar/people")
    parser.add_argument("--player", default="", help="a model that every worker loads")
    parser.add_argument(
        "--server",
        nargs="+",
        default=[],
        dest="servers",
        metavar="URL",
        help=f"servers; their token is {TOKEN}",
    )
    parser.add_argument("--model", default="", help="what the servers call the model")
    parser.add_argument(
        "--constrained", action="store_true", help="servers decode under the schema of legal moves"
    )
    parser.add_argument("--split", default="holdout", help="train or holdout seeds")
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--batch", type=int, help="games per chunk: 50, of servers 4 x --in-flight")
    parser.add_argument(
        "--in-flight", type=int, default=64, help="requests of one worker at a time"
    )
    parser.add_argument("--folder", type=Path, required=True, help="where games are kept")
    parser.add_argument("--out", type=Path, help="file for figures and columns, JSON")
    console.add_engine_options(parser)


@with_reason
def rollouts(options: argparse.Namespace) -> None:
    """Play the games that are not kept yet, then print and write the figures of all of them."""
    console.check_output(options.out)
    given = {each.name: getattr(options, each.name, None) for each in fields(games.Rollouts)}
    usual = 4 * options.in_flight if options.servers else CHUNK
    given |= {"servers": tuple(options.servers), "token": os.environ.get(TOKEN)}
    given |= {"batch": usual if options.batch is None else options.batch, "retry": games.PATIENT}
    rollout_spec = games.Rollouts(**given)
    with console.choose_engine(options) as engine:
        figures = games.play_rollouts(rollout_spec, options.folder, engine)
    if options.out is not None:
        config = {name: value for name, value in asdict(rollout_spec).items() if name != "token"}
        write(options.out, json.dumps({"config": config, "data": figures}, indent=1) + "\n")
    ends = ", ".join(f"{end} {count}" for end, count in figures["ends"].items() if count)
    print(f"n {figures['n']:,}  grade {console.mean_with_interval(figures['grade'])}  {ends}")
    print(
        f"{figures['tokens']:,} tokens, {figures['invalid_replies']} invalid replies; one worker "
        f"played {figures['games_a_minute']:.3g} games a minute, "
        f"{figures['games_a_cpu_minute']:.3g} a minute of its CPU"
    )
    for source, count in figures["replies"].items():
        print(f"{count:,} replies of {source}")


# A Space


@with_reason
def deploy(options: argparse.Namespace) -> int:
    """Stage and check; unless it is a dry run, upload and test. 1 where something is wrong."""
    name = space.check_name(options.space)
    with tempfile.TemporaryDirectory(prefix="sauda-deploy-") as place:
        staged = space.stage(Path(place) / "staged")
        files = [path for path in staged.folder.rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files) / 2**20
        print(f"staged {len(files)} files, {size:.1f} MiB, of the commit {staged.commit[:12]}")
        if staged.uncommitted:
            print(f"{staged.uncommitted} files of this tree are not committed; they are left out")
        faults = space.staging_faults(staged.folder)
        well = [report("front matter, sizes, secrets, versions", faults, most=len(faults))]
        if options.skip_imports:
            print("skip imports: no fresh environment was made, as --skip-imports says")
        else:
            well += [_check_imports(staged.folder, python) for python in PYTHONS]
        if not all(well):
            print("there are faults; nothing was uploaded")
            return 1
        if options.dry_run:
            print(f"a dry run: nothing was uploaded to {name}")
            return 0
        _upload(staged, name)
        return 0


def _check_imports(folder: Path, python: str) -> bool:
    """Whether all imports resolve in a fresh environment, as a Space makes it, of one Python."""
    space_adds = f"gradio[oauth,mcp]=={space.front_matter(folder)['sdk_version']}"
    packages = ["--with-requirements", "requirements.txt", "--with", space_adds]
    try:
        faults = space.import_faults(folder, python, packages)
    except space.NoEnvironment as error:
        faults = [f"{error}; --skip-imports leaves it out"]
    return report(f"imports under Python {python}", faults)


def _upload(staged: space.Staged, name: str) -> None:
    from huggingface_hub import HfApi, get_token

    token = get_token()
    if not token:
        raise ValueError("a Space needs a token that may write: `hf auth login`, or set HF_TOKEN")
    address = space.upload(staged, name, HfApi(token=token))
    print(f"the page runs at {address}")
    space.wait_until_it_answers(address, ANSWERS_WITHIN, token)
    if not _run_smoke(address, token):
        raise CloudFault(f"the page at {address} is not as it should be")


def smoke(options: argparse.Namespace) -> int:
    """Test the page at an address; 1 where a check fails."""
    if not options.address.startswith(("http://", "https://")):
        raise ValueError(f"an address begins with http:// or https://, not {options.address!r}")
    return int(not _run_smoke(options.address))


def _run_smoke(address: str, token: str | None = None) -> bool:
    checks = [
        report(f"{check.about} ({check.seconds:.1f} s)", [check.fault] if check.fault else [])
        for check in space.smoke(address, token)
    ]
    return all(checks)
