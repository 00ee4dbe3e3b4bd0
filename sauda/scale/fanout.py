"""An evaluation spread over jobs of the Hugging Face Hub, one shard a job.

A job is one bash script: settings, `shard.sh`, `setup.sh`, then a line that plays the shard. Its
pieces go to a repository of results, from which a later attempt resumes and `collect` brings them.
"""

import shlex
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sauda.scale.hardware import FLAVORS, Flavor, flavor
from sauda.scale.kept_runs import download
from sauda.scale.pieces.shards import Plan
from sauda.scale.pieces.store import keep_plan, read_plan
from sauda.scale.request import (
    IMAGE,
    SETUP,
    as_text,
    check_settings,
    described,
    hand_over,
    hours,
)

SCRIPT = Path(__file__).with_name("shard.sh")
FLAVOR = "cpu-upgrade"  # scripts need no GPU


@dataclass(frozen=True)
class Fanout:
    """The shards of an evaluation as jobs; ValueError for settings that cannot work."""

    plan: Plan
    shards: tuple[int, ...]  # to submit
    results: str  # a model repository, OWNER/NAME, or a folder as file:PATH
    source: str  # a repository's address, or a folder that is used as it is
    revision: str = ""  # the commit of a repository; "" for a folder
    flavors: tuple[Flavor, ...] = (flavor(FLAVOR),)
    folder: str = "/tmp/sauda"  # the job's own
    image: str = IMAGE
    timeout: str = "2h"  # of one attempt: a number and s, m, h or d
    attempts: int = 2  # the second plays only what the first has not uploaded

    def __post_init__(self) -> None:
        check_settings(self)
        for shard in self.shards:
            self.plan.seeds(shard)


def shard_name(shard: int, shards: int) -> str:
    """The folder of a shard in the results: "shard-3-of-8"."""
    return f"shard-{shard}-of-{shards}"


def script(fanout: Fanout, shard: int) -> str:
    """One shard's job as a bash script without secrets; its exit code is that of the playing."""
    plan = fanout.plan
    settings = {
        "name": shard_name(shard, plan.shards),
        "results": fanout.results,
        "source": fanout.source,
        "revision": fanout.revision,
        "work": fanout.folder,
        "device": "cpu",
        "model": "",
        "extras": "",
        "small": "",
    }
    head = [f"{name}={shlex.quote(value)}" for name, value in settings.items()]
    parts = [file.read_text("utf-8") for file in (SCRIPT, SETUP)]
    tail = shlex.join(["play", *arguments(plan), "--shard", str(shard)])
    return "\n".join(["#!/usr/bin/env bash", *head, "", *parts, tail]) + "\n"


def arguments(plan: Plan) -> list[str]:
    """The options of `shards play` that name the plan."""
    config = plan.config
    return [
        *("--tasks", *config.tasks),
        *("--policies", *config.policies),
        *("--split", config.split),
        *("--episodes", str(config.episodes)),
        *("--baseline", config.baseline),
        *("--shards", str(plan.shards)),
    ]


def summary(fanout: Fanout) -> str:
    """The request to the Hub as text: what it may cost, then the script of the first shard."""
    jobs, dearest = len(fanout.shards), max(flavor.price for flavor in fanout.flavors)
    most = jobs * fanout.attempts * hours(fanout.timeout) * dearest
    rows = described(fanout) | {
        "results": f"{fanout.results}, once a shard has ended",
        "jobs": f"{jobs}, one for each of the shards {', '.join(map(str, fanout.shards))}",
        "cost": f"${most:.2f} at most: {jobs} jobs x {fanout.attempts} attempts x "
        f"{hours(fanout.timeout):g} h x ${dearest:.2f}/h",
    }
    return as_text(rows, [script(fanout, fanout.shards[0])])


def submit(fanout: Fanout, api: Any, token: str, say: Callable[[str], None] = print) -> list[Any]:
    """Hand one job a shard to the Hub by `api`, an HfApi; returns their JobInfo.

    Raises what `hand_over` raises; the jobs before go on.
    """
    total = fanout.plan.shards
    return [
        hand_over(
            fanout, f"sauda-{shard_name(shard, total)}", script(fanout, shard), api, token, say
        )
        for shard in fanout.shards
    ]


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


def chosen_flavors(names: Sequence[str], rented: Sequence[Flavor] = FLAVORS) -> tuple[Flavor, ...]:
    """The flavors called so, each without a GPU: no script uses one. Raises ValueError."""
    chosen = tuple(flavor(name, rented) for name in names)
    if dear := [each.name for each in chosen if each.device != "cpu"]:
        raise ValueError(
            f"scripts play on a CPU; {', '.join(dear)} has a GPU that nobody would use"
        )
    return chosen
