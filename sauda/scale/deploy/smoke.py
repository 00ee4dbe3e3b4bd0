"""The smoke test: whether the page at an address opens, is well, and plays as this code does."""

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx

from env import TASKS, get_task, rollout
from sauda.games.transcript import to_json
from sauda.llm.registry import get_policy

GAME = ("classic/single_deal", "expert", 7)  # task, policy, seed
TITLE = "Sauda"
PATIENCE = 60.0  # seconds for an answer


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
            began = time.monotonic()
            try:
                check(http)
                fault = ""
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


def first_page(http: httpx.Client) -> None:
    """The page itself, and the description of it that a browser reads."""
    if TITLE not in _answer(http.get("/")).text:
        raise Wrong(f"the first page does not name {TITLE}")
    config = _json(http.get("/config"))
    if config.get("title") != TITLE or not config.get("components"):
        raise Wrong(f"the page describes itself as {config.get('title')!r}, not as {TITLE}")


def health(http: httpx.Client) -> None:
    """`/health` says that the page is well."""
    told = _json(http.get("/health"))
    if told.get("status") != "healthy":
        raise Wrong(f"/health says {told.get('status')!r}")


def scripted_game(http: httpx.Client) -> None:
    """One game over the API is, to the last digit, the game that this code plays."""
    task, policy, seed = GAME
    data = {"data": [task, policy, str(seed)]}
    event = _json(http.post("/gradio_api/call/play", json=data)).get("event_id")
    if not event:
        raise Wrong("/play gives no event to wait for")
    stream = _answer(http.get(f"/gradio_api/call/play/{event}")).text
    events = dict(zip(_fields(stream, "event"), _fields(stream, "data"), strict=False))
    if "complete" not in events:
        raise Wrong(f"/play ended with {stream[-200:]!r}")
    played = json.loads(events["complete"])
    ours = to_json(rollout(get_task(task), get_policy(get_task(task), policy), seed), policy)
    if played != json.loads(json.dumps([ours | {"seed": str(seed)}])):
        raise Wrong(f"{policy} on {task} at seed {seed} plays another game than this code does")


def environment(http: httpx.Client) -> None:
    """OpenEnv's tasks are ours; a reset gives an observation."""
    told = _json(http.get("/tasks"))
    if set(told) != set(TASKS):
        raise Wrong(f"/tasks has {len(told)} tasks and not the {len(TASKS)} of this code")
    reset = _json(http.post("/reset", json={"task": GAME[0], "seed": GAME[2]}))
    if not reset.get("observation"):
        raise Wrong("/reset gives no observation")


CHECKS: dict[str, Callable[[httpx.Client], None]] = {
    "first page": first_page,
    "/health": health,
    "one scripted game over the API": scripted_game,
    "the OpenEnv environment": environment,
}


def _answer(response: httpx.Response) -> httpx.Response:
    if response.status_code != 200:
        raise Wrong(f"{response.request.url.path} answered with the status {response.status_code}")
    return response


def _json(response: httpx.Response) -> dict[str, Any]:
    """The JSON object of an answer."""
    try:
        value = _answer(response).json()
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise Wrong(f"{response.request.url.path} answered with something that is no JSON object")
    return value


def _fields(stream: str, name: str) -> list[str]:
    """The values of one field of a stream of server-sent events."""
    mark = f"{name}: "
    return [line.removeprefix(mark) for line in stream.splitlines() if line.startswith(mark)]
