"""`python -m sauda shards play|merge|submit|collect`: an evaluation over processes and machines."""

import argparse
from pathlib import Path
from typing import Any

from sauda.commands.console import add_command, save_measured
from sauda.commands.evaluate import add_table_options, file_of, report, spec_of
from sauda.commands.machines.options import (
    add_engine_options,
    add_job_options,
    chosen_engine,
    exit_code,
    job_settings,
)
from sauda.scale.hardware import from_hub


def add(commands: Any) -> None:
    """Add `shards` to the commands of `python -m sauda`."""
    parser = add_command(commands, "shards")
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    verb = add_command(verbs, "play", _play, "play shards; pieces that are kept are not repeated")
    _add_plan_options(verb)
    verb.add_argument("--folder", type=Path, required=True, help="where pieces are kept")
    add_engine_options(verb)
    verb = add_command(verbs, "merge", _merge, "the one table of all shards, as an artifact")
    verb.add_argument("--folder", type=Path, required=True)
    verb.add_argument("--out", default=None, help="artifact to write; otherwise only print it")
    verb = add_command(verbs, "submit", _submit, "play shards as jobs of the Hub, one a shard")
    _add_plan_options(verb)
    verb.add_argument("--flavor", nargs="+", default=["cpu-upgrade"], help="machines, each tried")
    add_job_options(verb, timeout="2h")
    verb = add_command(verbs, "collect", _collect, "bring the pieces of jobs into one folder")
    verb.add_argument("--from", required=True, dest="results")
    verb.add_argument("--shards", type=int, required=True)
    verb.add_argument("--folder", type=Path, required=True)


def _add_plan_options(parser: argparse.ArgumentParser) -> None:
    add_table_options(parser)
    parser.add_argument("--shards", type=int, required=True, help="ranges of the seeds")
    parser.add_argument(
        "--shard", type=int, nargs="+", default=None, help="which of them, from 1; by default all"
    )


def _plan(options: argparse.Namespace) -> Any:
    from sauda.scale.pieces.shards import Plan

    return Plan(spec_of(options), options.shards)


def _play(options: argparse.Namespace) -> int:
    from sauda.scale.pieces.shards import play

    plan = _plan(options)

    def run() -> None:
        with chosen_engine(options) as engine:
            played = play(plan, options.folder, engine, options.shard)
        print(f"played {played} pieces into {options.folder}")

    return exit_code(run)


def _merge(options: argparse.Namespace) -> int:
    from sauda.scale.pieces.shards import merged, plan_in

    if options.out:
        file_of(plan_in(options.folder).config, options.out)
    plan, data = merged(options.folder)
    if options.out:
        save_measured(options.out, plan.config.as_json(), data)
    report(data)
    return 0


def _submit(options: argparse.Namespace) -> int:
    from huggingface_hub import HfApi, get_token

    from sauda.scale.fanout import Fanout, chosen_flavors, submit, summary
    from sauda.scale.request import check_submission

    plan = _plan(options)
    shards = tuple(options.shard or range(1, plan.shards + 1))
    settings = job_settings(options)
    fanout = Fanout(plan, shards, flavors=chosen_flavors(options.flavor), **settings)
    if options.dry_run:
        print(summary(fanout), end="")
        return 0
    check_submission(fanout, token := get_token() or "")
    api = HfApi()

    def hand_over() -> None:
        flavors = chosen_flavors(options.flavor, from_hub(api))
        submit(Fanout(plan, shards, flavors=flavors, **settings), api, token)

    return exit_code(hand_over)


def _collect(options: argparse.Namespace) -> int:
    from sauda.scale.fanout import collect

    def run() -> None:
        absent = collect(options.results, options.shards, options.folder)
        there = options.shards - len(absent)
        lack = f"; not there yet: {', '.join(map(str, absent))}" if absent else ""
        print(f"collected {there} of {options.shards} shards in {options.folder}{lack}")

    return exit_code(run)
