"""Hands a staged folder to a Space and waits until the page runs there."""

import re
import time
from collections.abc import Callable
from typing import Any

from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_exponential

from sauda.scale.deploy.staging import Staged

ATTEMPTS, FIRST_PAUSE = 5, 2.0  # of one call of the Hub; the pause, in seconds, doubles
STARTS_WITHIN = 1800.0  # seconds for the build and the start, the Hub's own limit
LOG_LINES = 30
FAULTS = (429, 500, 502, 503, 504)  # HTTP statuses that may be gone at the next attempt


class DeployFault(RuntimeError):
    """The page does not run on the Space; the message says why."""


def checked_name(space: str) -> str:
    """`space` where it is OWNER/NAME; raises ValueError."""
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", space):
        raise ValueError(f"a Space is named OWNER/NAME, not {space!r}")
    return space


def upload(
    staged: Staged,
    space: str,
    api: Any,
    private: bool = False,
    say: Callable[[str], None] = print,
    first_pause: float = FIRST_PAUSE,
) -> str:
    """Replace what the Space has by the staged folder, wait for the page, return its address.

    `api` is an HfApi. Calls that fail for the moment are repeated with pauses that double. Raises
    HfHubHTTPError where the Hub refuses, DeployFault where the page does not start.
    """
    steady = _Steady(api, say, first_pause)
    steady(
        "create_repo",
        repo_id=space,
        repo_type="space",
        space_sdk="gradio",
        private=private or None,
        exist_ok=True,
    )
    commit = steady(
        "upload_folder",
        repo_id=space,
        repo_type="space",
        folder_path=staged.folder,
        delete_patterns="*",
        commit_message=f"Deploy {staged.commit}",
    )
    say(f"uploaded; waiting for the Space to build and start, {STARTS_WITHIN / 60:.0f} min at most")
    runtime = _started(steady, space, commit.oid, first_pause)
    if runtime.stage != "RUNNING":
        build = "BUILD" in runtime.stage
        lines = list(steady("fetch_space_logs", repo_id=space, build=build))[-LOG_LINES:]
        log = "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
        raise DeployFault(f"the Space is in the stage {runtime.stage}; the end of its log:\n{log}")
    return steady("space_info", repo_id=space).host


def _started(steady: "_Steady", space: str, commit: str, pause: float) -> Any:
    """The Space's runtime once it is neither building nor starting; DeployFault out of time.

    Right after an upload the Space still runs what it had before, so a runtime of another commit is
    waited out.
    """
    deadline = time.monotonic() + STARTS_WITHIN
    while (left := deadline - time.monotonic()) > 0:
        try:
            runtime = steady("wait_for_space", repo_id=space, timeout=left, poll_interval=5.0)
        except TimeoutError:
            break
        if runtime.raw.get("sha", commit) == commit:
            return runtime
        time.sleep(pause)
    raise DeployFault(f"the Space does not run the commit {commit} after {STARTS_WITHIN:.0f} s")


class _Steady:
    """Calls methods of `api` by name, again after faults that may pass."""

    def __init__(self, api: Any, say: Callable[[str], None], first_pause: float) -> None:
        self._api, self._say, self._first_pause = api, say, first_pause

    def __call__(self, name: str, **arguments: Any) -> Any:
        retrying = Retrying(
            retry=retry_if_exception(passing),
            stop=stop_after_attempt(ATTEMPTS),
            wait=wait_exponential(multiplier=self._first_pause),
            before_sleep=lambda state: self._say(f"{name}: {state.outcome.exception()}; again"),
            reraise=True,
        )
        return retrying(getattr(self._api, name), **arguments)


def passing(error: BaseException) -> bool:
    """Whether a failed call may succeed at the next attempt."""
    from huggingface_hub.errors import HfHubHTTPError
    from huggingface_hub.utils import httpx

    if isinstance(error, HfHubHTTPError):
        return error.response.status_code in FAULTS
    return isinstance(error, httpx.TransportError | ConnectionError)
