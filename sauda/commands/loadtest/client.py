"""One browser tab as the page sees it: Gradio 6's protocol over HTTP.

Visitors name their network address in `X-Forwarded-For`; the page has to trust the load test as a
proxy. Scripts, fonts and styles that browsers keep are not requested.
"""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self

import httpx

from sauda.commands.loadtest.haggle import Script
from sauda.commands.loadtest.tally import Failure, Refused

PATIENCE = 30  # seconds for one answer
MODEL_PATIENCE = 120  # seconds for one event of the queue
KEPT_OPEN = 2.0  # seconds of a connection without requests: below the 5 after which uvicorn ends it
REFUSALS = (429, 503)  # too many requests; the queue is full


@asynccontextmanager
async def connected(address: str) -> AsyncIterator[httpx.AsyncClient]:
    """Context: HTTP to the page at `address`, with as many connections as visitors need."""
    limits = httpx.Limits(
        max_connections=None, max_keepalive_connections=None, keepalive_expiry=KEPT_OPEN
    )
    async with httpx.AsyncClient(
        base_url=address, timeout=PATIENCE, limits=limits, trust_env=False
    ) as http:
        yield http


class Browser:
    """A session with the page; a context, which holds the connection that browsers keep open."""

    def __init__(self, http: httpx.AsyncClient, plan: Script, visitor: int) -> None:
        self.http, self.plan = http, plan
        self.session = uuid.uuid4().hex
        self.due: list[int] = []  # events that start because an event of the queue set their state
        self.headers = {"X-Forwarded-For": network_address(visitor)}

    async def __aenter__(self) -> Self:
        beat = self.http.build_request(
            "GET", f"/gradio_api/heartbeat/{self.session}", headers=self.headers
        )
        self._heartbeat = await self.http.send(beat, stream=True)
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self._heartbeat.aclose()

    async def open_page(self) -> None:
        """Request what makes the page: its HTML, its description of itself, its colours."""
        for path in ("/", "/config", "/theme.css"):
            checked(await self.http.get(path, headers=self.headers))

    async def fire(self, event: int, data: list[Any] | None = None) -> list[Any]:
        """The outputs of one event, `data` its inputs, by default as a browser has them at first.

        Raises Failure or Refused.
        """
        known = self.plan.events[event]
        body = self._body(event, list(known.defaults) if data is None else data)
        if known.queued:
            return await self._queued(body)
        answer = await self._post("/gradio_api/run/predict", body)
        return answer.json()["data"]

    def _body(self, event: int, data: list[Any]) -> dict[str, Any]:
        trigger = self.plan.trigger if event == self.plan.reply else None
        names = {"fn_index": event, "session_hash": self.session, "trigger_id": trigger}
        return {"data": data, "event_data": None, **names}

    async def _post(self, path: str, body: Any) -> httpx.Response:
        return checked(await self.http.post(path, json=body, headers=self.headers))

    async def _queued(self, body: dict[str, Any]) -> list[Any]:
        """Join the queue and read the stream of the session until the event has ended.

        A session has one such event at a time: two readers of its stream would take each other's
        messages.
        """
        joined = (await self._post("/gradio_api/queue/join", body)).json()
        stream = self.http.stream(
            "GET",
            "/gradio_api/queue/data",
            params={"session_hash": self.session},
            headers=self.headers,
        )
        output = None
        async with asyncio.timeout(MODEL_PATIENCE), stream as response:
            checked(response)
            async for message in messages(response):
                if message["msg"] == "unexpected_error":
                    raise Failure("the stream broke off")
                if message["msg"] in ("process_generating", "process_completed"):
                    changed = message["output"].get("changed_state_ids") or ()
                    started = (self.plan.by_state.get(state) for state in changed)
                    self.due += [event for event in started if event is not None]
                if message["msg"] == "process_completed":
                    if message["event_id"] == joined["event_id"]:
                        output = outputs_of(message)
                elif message["msg"] == "close_stream":
                    break
        if output is None:
            raise Failure("the stream ended without the event's outputs")
        return output


async def messages(response: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    """The messages of a stream of server-sent events."""
    async for line in response.aiter_lines():
        if line.startswith("data:"):
            yield json.loads(line.removeprefix("data:"))


def outputs_of(message: dict[str, Any]) -> list[Any]:
    """The outputs in a message that an event has ended; raises Failure where it did not succeed."""
    if not message["success"]:
        raise Failure(f"the event failed: {message['output'].get('error')}")
    return message["output"]["data"]


def checked(response: httpx.Response) -> httpx.Response:
    """The response where its status is 200; raises Refused or Failure elsewhere."""
    if response.status_code in REFUSALS:
        raise Refused(f"the page answered {response.status_code}")
    if response.status_code != 200:
        raise Failure(f"the page answered {response.status_code}")
    return response


def network_address(visitor: int) -> str:
    """An address of its own for each visitor, in a network for private use."""
    return f"10.{visitor >> 16 & 255}.{visitor >> 8 & 255}.{visitor & 255}"
