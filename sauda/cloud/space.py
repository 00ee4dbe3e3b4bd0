"""The page on a Hugging Face Space: staged, checked, uploaded, tested where it then is."""

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from packaging.requirements import Requirement

from env import TASKS, get_task, rollout
from sauda.cloud import CloudFault
from sauda.games.transcript import to_json
from sauda.players import get_policy
from sauda.records.store import REPOSITORY

LEFT_OUT = ("tests", ".ci")  # at the root of the repository
PYTHON = "3.12"  # of those that ZeroGPU has the one that this project runs on
MIB = 2**20
MOST_FILE, MOST_TOTAL = 20 * MIB, 500 * MIB  # ours; an adapter of rank 32 has 18.7 MiB
SECRETS = {  # each begins with letters or signs that Python's search finds fast
    "a token of the Hub": r"hf_[A-Za-z0-9]{30,}",
    "a key of OpenAI or Anthropic": r"sk-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{20,}",
    "a token of GitHub": r"gh[pousr]_[A-Za-z0-9]{30,}",
    "a key of AWS": r"AKIA[0-9A-Z]{16}",
    "a private key": r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----",
    "an address with a password": r"://[^\s/:@\"'{}]+:[^\s/@\"'{}]{6,}@",
}
SECRET_FILES = re.compile(r"(?i)\.env(\..*)?|\.netrc|id_(rsa|ed25519|ecdsa)|.*\.(pem|p12|pfx|key)")
STARTS_WITHIN = 1800.0  # seconds for the build and the start, the Hub's own limit
POLL = 5.0  # seconds between two questions whether it runs
LOG_LINES = 30
GAME = ("classic/single_deal", "expert", 7)  # of the smoke test: task, policy, seed
TITLE = "Sauda"
PATIENCE = 60.0  # seconds for an answer


# Staging


@dataclass(frozen=True)
class Staged:
    """A staged folder and the commit that it holds."""

    folder: Path
    commit: str
    uncommitted: int  # changed or new files of the work tree, which the folder does not have


def stage(folder: Path) -> Staged:
    """Write the files of the last commit, without the tests; ValueError where there is none."""

    def git(*arguments: str) -> bytes:
        run = subprocess.run(["git", "-C", str(REPOSITORY), *arguments], capture_output=True)
        if run.returncode:
            raise ValueError(f"git {arguments[0]} failed: {run.stderr.decode().strip()}")
        return run.stdout

    commit = git("rev-parse", "HEAD").decode().strip()
    changed = git("status", "--porcelain").decode().splitlines()
    archive = git("archive", "--format=tar", commit, *(f":(exclude){name}" for name in LEFT_OUT))
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    return Staged(folder, commit, len(changed))


# What would break on a Space, or should never get there


def staging_faults(folder: Path) -> list[str]:
    """Every fault of a staged folder, a sentence each; empty where it can be uploaded."""
    return [*front_matter_faults(folder), *size_faults(folder), *secret_faults(folder)]


def front_matter(folder: Path) -> Mapping[str, Any]:
    from huggingface_hub import metadata_load

    readme = folder / "README.md"
    return (metadata_load(readme) or {}) if readme.exists() else {}


def front_matter_faults(folder: Path) -> Iterator[str]:
    """What the Space would not run, and versions that are not pinned, or not as said.

    Keys and values that the Hub does not know are refused by the Hub itself, at the upload.
    """
    matter, pins = front_matter(folder), {r.name: r.specifier for r in requirements(folder)}
    if matter.get("sdk") != "gradio":
        yield f"README.md: sdk is gradio, not {matter.get('sdk')!r}"
    if (python := matter.get("python_version")) != PYTHON:
        yield f"README.md: python_version is {PYTHON}, as text, not {python!r}"
    if not (folder / str(matter.get("app_file"))).exists():
        yield f"README.md: the app_file {matter.get('app_file')} is not there"
    if str(pins.get("gradio")) != f"=={matter.get('sdk_version')}":
        yield (
            f"README.md: sdk_version is {matter.get('sdk_version')}, and requirements.txt has"
            f" gradio {pins.get('gradio', 'nowhere')}"
        )
    for name, specifier in pins.items():
        if [pin.operator for pin in specifier] != ["=="]:
            yield f"requirements.txt: {name}{specifier} names no exact version"


def size_faults(folder: Path) -> Iterator[str]:
    total = 0
    for path in sorted(folder.rglob("*")):
        place = path.relative_to(folder)
        if path.is_symlink():
            yield f"{place}: a link, which the Hub would not keep"
        elif path.is_file():
            total += (size := path.stat().st_size)
            if size > MOST_FILE:
                yield f"{place}: {size / MIB:.1f} MiB; the most are {MOST_FILE // MIB}"
    if total > MOST_TOTAL:
        yield f"all files: {total / MIB:.0f} MiB; the most are {MOST_TOTAL // MIB}"


def secret_faults(folder: Path) -> Iterator[str]:
    """Places that look like a secret; the secret itself is never repeated."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        place = path.relative_to(folder)
        if SECRET_FILES.fullmatch(path.name):
            yield f"{place}: a file of that name holds secrets"
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture, a font or weights
        for kind, pattern in SECRETS.items():
            for match in re.finditer(pattern, text):
                start = match.start()
                if pattern.startswith("://") or not text[start - 1 : start].isalnum():
                    yield f"{place}:{text.count(chr(10), 0, start) + 1}: looks like {kind}"


def requirements(folder: Path) -> list[Requirement]:
    """The lines of requirements.txt; ValueError for one that is no requirement."""
    lines = (folder / "requirements.txt").read_text(encoding="utf-8").splitlines()
    texts = [line.partition("#")[0].strip() for line in lines]
    return [Requirement(text) for text in texts if text]


# Whether it runs with its requirements alone


LOAD_APP = """
import sys
sys.path.insert(0, ".")
try:
    import app
except BaseException as error:  # an app that exits as it is imported does not load either
    sys.exit(f"importing app: {type(error).__name__}: {error}")
"""


class NoEnvironment(CloudFault):
    """No fresh environment could be made; the message says why."""


def in_fresh(python: str, packages: Sequence[str], *arguments: object) -> list[str]:
    """The command that runs a Python of a version such as "3.12" in a new environment.

    The environment has `packages`, in uv's options, from the index that uv is set to. Raises
    NoEnvironment where uv is missing.
    """
    uv = shutil.which("uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.defpath]))
    if uv is None:
        raise NoEnvironment("uv is not installed: `pip install -e .[dev]` brings it")
    fresh = ["run", "--quiet", "--isolated", "--no-project", "--no-python-downloads"]
    return [uv, *fresh, "--python", python, *packages, "python", "-P", *map(str, arguments)]


def import_faults(folder: Path, python: str, packages: Sequence[str]) -> list[str]:
    """What is wrong where the app of a staged folder is loaded in a new environment."""
    command = in_fresh(python, packages, "-c", LOAD_APP)
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    fault = (run.stderr.strip().splitlines() or [""])[-1]
    if run.returncode and not fault.startswith("importing app: "):
        raise NoEnvironment(f"uv for Python {python}: {run.stderr.strip()[-800:]}")
    return [fault] if run.returncode else []


# The upload


def check_name(space: str) -> str:
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", space):
        raise ValueError(f"a Space is named OWNER/NAME, not {space!r}")
    return space


def upload(staged: Staged, space: str, api: Any) -> str:
    """Replace what the Space has by the staged folder, wait for the page, return its address.

    `api` is an HfApi. Raises HfHubHTTPError where the Hub refuses or fails, after which the same
    command may be given again, and CloudFault where the page does not start.
    """
    about = {"repo_id": space, "repo_type": "space"}
    api.create_repo(**about, space_sdk="gradio", exist_ok=True)
    deployed = {"folder_path": staged.folder, "commit_message": f"Deploy {staged.commit}"}
    commit = api.upload_folder(**about, **deployed, delete_patterns="*")
    print(f"uploaded; waiting for the Space to build, {STARTS_WITHIN / 60:.0f} min at most")
    runtime = _wait_until_started(api, space, commit.oid)
    if runtime.stage != "RUNNING":
        log = list(api.fetch_space_logs(repo_id=space, build="BUILD" in runtime.stage))
        end = "\n".join(line.rstrip("\n") for line in log[-LOG_LINES:])
        raise CloudFault(f"the Space is in the stage {runtime.stage}; the end of its log:\n{end}")
    return api.space_info(repo_id=space).host


def _wait_until_started(api: Any, space: str, commit: str) -> Any:
    """The Space's runtime once it is neither building nor starting; CloudFault out of time.

    Right after an upload the Space still runs what it had before, so a runtime of another commit is
    waited out.
    """
    deadline = time.monotonic() + STARTS_WITHIN
    while (left := deadline - time.monotonic()) > 0:
        try:
            runtime = api.wait_for_space(repo_id=space, timeout=left, poll_interval=POLL)
        except TimeoutError:
            break
        if runtime.raw.get("sha", commit) == commit:
            return runtime
        time.sleep(POLL)
    raise CloudFault(f"the Space does not run the commit {commit} after {STARTS_WITHIN:.0f} s")


# The smoke test: whether the page at an address opens, is well, and plays as this code does


class Wrong(Exception):
    """The page answered, and not as it should; the text is a sentence."""


@dataclass(frozen=True)
class Check:
    """What was tried, what was wrong with it ("" for nothing), and how long it took."""

    about: str
    fault: str
    seconds: float


def smoke(address: str, token: str | None = None) -> Iterator[Check]:
    """Try the page at `address`, one check after the other.

    `token` opens a private Space; give it to nobody's page but your own.
    """
    with _client(address, token) as http:
        for about, check in CHECKS.items():
            began, fault = time.monotonic(), ""
            try:
                check(http)
            except Wrong as error:
                fault = str(error)
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                fault = f"no answer: {error or type(error).__name__}"
            yield Check(about, fault, time.monotonic() - began)


def wait_until_it_answers(address: str, seconds: float, token: str | None = None) -> None:
    """Return once `/health` answers with status 200, or after so many seconds."""
    deadline = time.monotonic() + seconds
    with _client(address, token) as http:
        while time.monotonic() < deadline:
            with contextlib.suppress(httpx.HTTPError):
                if http.get("/health").status_code == 200:
                    return
            time.sleep(1)


def _client(address: str, token: str | None) -> httpx.Client:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.Client(base_url=address, headers=headers, timeout=PATIENCE, follow_redirects=True)


def check_first_page(http: httpx.Client) -> None:
    """The page itself, and the description of it that a browser reads."""
    if TITLE not in _answer(http.get("/")).text:
        raise Wrong(f"the first page does not name {TITLE}")
    config = _json(http.get("/config"))
    if config.get("title") != TITLE or not config.get("components"):
        raise Wrong(f"the page describes itself as {config.get('title')!r}, not as {TITLE}")


def check_health(http: httpx.Client) -> None:
    status = _json(http.get("/health")).get("status")
    if status != "healthy":
        raise Wrong(f"/health says {status!r}")


def check_scripted_game(http: httpx.Client) -> None:
    """One game over the API is, to the last digit, the game that this code plays."""
    task, policy, seed = GAME
    data = {"data": [task, policy, str(seed)]}
    event = _json(http.post("/gradio_api/call/play", json=data)).get("event_id")
    if not event:
        raise Wrong("/play gives no event to wait for")
    stream = _answer(http.get(f"/gradio_api/call/play/{event}")).text
    complete = re.search(r"^event: complete\ndata: (.*)$", stream, re.MULTILINE)
    if complete is None:
        raise Wrong(f"/play ended with {stream[-200:]!r}")
    ours = to_json(rollout(get_task(task), get_policy(get_task(task), policy), seed), policy)
    if json.loads(complete[1]) != json.loads(json.dumps([ours | {"seed": str(seed)}])):
        raise Wrong(f"{policy} on {task} at seed {seed} plays another game than this code does")


def check_environment(http: httpx.Client) -> None:
    """OpenEnv's tasks are ours; a reset gives an observation."""
    tasks = _json(http.get("/tasks"))
    if set(tasks) != set(TASKS):
        raise Wrong(f"/tasks has {len(tasks)} tasks and not the {len(TASKS)} of this code")
    reset = _json(http.post("/reset", json={"task": GAME[0], "seed": GAME[2]}))
    if not reset.get("observation"):
        raise Wrong("/reset gives no observation")


CHECKS: dict[str, Callable[[httpx.Client], None]] = {
    "first page": check_first_page,
    "/health": check_health,
    "one scripted game over the API": check_scripted_game,
    "the OpenEnv environment": check_environment,
}


def _answer(response: httpx.Response) -> httpx.Response:
    if response.status_code != 200:
        raise Wrong(f"{response.request.url.path} answered with the status {response.status_code}")
    return response


def _json(response: httpx.Response) -> dict[str, Any]:
    with contextlib.suppress(ValueError):
        if isinstance(value := _answer(response).json(), dict):
            return value
    raise Wrong(f"{response.request.url.path} answered with something that is no JSON object")
