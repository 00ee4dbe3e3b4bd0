"""What every job of the Hub is asked with: checks of its settings, and its submission."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from sauda.scale.hardware import Flavor
from sauda.scale.kept_runs import check_place, local_folder

IMAGE = "python:3.12"  # has git; torch brings CUDA with it
SECRET = "HF_TOKEN"  # what the Hub's client reads
SETUP = Path(__file__).with_name("setup.sh")  # source, environment, weights
NO_RIGHTS = (401, 402, 403)  # another flavor would be refused as well
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}  # seconds


class NoMachine(RuntimeError):
    """No hardware flavor is available; the message gives the reason for each."""


class Request(Protocol):
    """Where a job gets its code, keeps its results and runs."""

    results: str  # a model repository, OWNER/NAME, or a folder as file:PATH
    source: str  # a repository's address, or a folder that is used as it is
    revision: str  # the commit of a repository; "" for a folder
    flavors: tuple[Flavor, ...]  # each tried where the one before is refused; () for this machine
    image: str
    timeout: str  # of one attempt: a number and s, m, h or d
    attempts: int  # a later one resumes from what an earlier one has uploaded


def check_settings(job: Request) -> None:
    """Raise ValueError for settings with which no job can work."""
    if not re.fullmatch(r"\d+(\.\d+)?[smhd]", job.timeout) or not float(job.timeout[:-1]):
        raise ValueError(
            f"a timeout is a number and s, m, h or d, such as 90m; not {job.timeout!r}"
        )
    if job.attempts < 1:
        raise ValueError(f"a job has 1 attempt or more; not {job.attempts}")
    check_place(job.results)
    if re.match(r"(?i)https?://[^/]*@", job.source):  # not repeated: it would be shown
        raise ValueError(
            "the address of the source holds a name or a password, which all who see the job "
            "could read; give one without"
        )
    if is_address(job.source) and not re.fullmatch(r"[0-9a-f]{7,64}", job.revision):
        raise ValueError(
            f"a source with an address needs the hash of a commit by --revision; not "
            f"{job.revision!r}"
        )


def check_submission(job: Request, token: str) -> None:
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


def hours(timeout: str) -> float:
    """The hours of a timeout such as "90m"."""
    return float(timeout[:-1]) * UNITS[timeout[-1]] / 3600


def described(job: Request) -> dict[str, str]:
    """What the Hub is asked for, as text by name; secrets by name alone."""
    costs = [f"{f.name} ({f.memory} GB, ${f.price:.2f}/h)" for f in job.flavors]
    return {
        "image": job.image,
        "flavors": ", else ".join(costs) or "this machine",
        "timeout": f"{job.timeout}, {job.attempts} attempts at most",
        "secrets": SECRET,
        "environment": "set in the script",
    }


def hand_over(
    job: Request, name: str, script: str, api: Any, token: str, say: Callable[[str], None] = print
) -> Any:
    """Submit `script` as a job by `api`, an HfApi; returns its JobInfo.

    The flavors are tried in order, and `say` gets a line a refusal. Raises ValueError where the job
    could not run there, NoMachine where every flavor was refused, HfHubHTTPError where the token is
    refused or the Hub fails.
    """
    from huggingface_hub.errors import HfHubHTTPError

    check_submission(job, token)
    refusals: list[str] = []
    for flavor in job.flavors:
        try:
            info = api.run_job(
                image=job.image,
                command=["bash", "-c", script],
                secrets={SECRET: token},
                flavor=flavor.name,
                timeout=job.timeout,
                attempts=job.attempts,
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
    raise NoMachine(f"no hardware flavor is available: {'; '.join(refusals)}")


def as_text(rows: dict[str, str], scripts: Sequence[str]) -> str:
    """A request to read before it costs anything: its rows, then its scripts."""
    lines = [f"{name:12} {value}" for name, value in rows.items()]
    return "\n\n".join(["\n".join(lines), *scripts])
