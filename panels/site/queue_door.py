"""The door of Gradio's queue: an event waits here until its address has few others in there.

Gradio's queue is first come, first served, so an address with many events would hold up all others.
Each group of events (`concurrency_id`) has a fair gate of its own, and an event holds its place
until it has left the queue. Nobody is refused who can wait: a class that opens the page at once
gets in one after the other.
"""

import asyncio
import json
from contextlib import AsyncExitStack
from typing import Any

import gradio as gr

from panels.site.headers import Send
from panels.site.internals import queued_events
from sauda.serve.limits import FairGate, GateLimits

LOOKS = 0.05  # seconds between two looks at which events have left, while others wait
MIB = 2**20
# Events of one address in Gradio's queue, by their group.
OF_ADDRESS = {"haggle-reply": 48, "play": 48, "arena": 16, "haggle-review": 4}
OF_ADDRESS_OTHERWISE = 8
WAITING = 256  # of one address before the door of one group


def limits_of(group: str) -> GateLimits:
    """How many events of a group are in the queue and before its door."""
    most = OF_ADDRESS.get(group, OF_ADDRESS_OTHERWISE)
    return GateLimits(2 * most, most, WAITING, 4 * MIB)


class QueueDoor:
    """The gates of all groups, and the places that the events in the queue hold."""

    def __init__(self) -> None:
        self.gates: dict[str, FairGate] = {}
        self._places: dict[str, AsyncExitStack] = {}  # by the id of the event that holds it
        self._looking: asyncio.Task | None = None

    def gate(self, group: str) -> FairGate:
        """The gate of a group."""
        return self.gates.setdefault(group, FairGate(limits_of(group)))

    @property
    def waiting(self) -> int:
        """How many events wait before the door."""
        return sum(gate.waiting_in_all for gate in self.gates.values())

    def hold(self, place: AsyncExitStack, answer: bytes, blocks: gr.Blocks) -> None:
        """Keep a place until the event that Gradio's answer to a joining call names has left."""
        self._places[json.loads(answer)["event_id"]] = place.pop_all()
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look(blocks))

    async def _look(self, blocks: gr.Blocks) -> None:
        """Free the places of the events that have left the queue, as long as any are held."""
        while self._places:
            await asyncio.sleep(LOOKS)
            here = {event._id for event in queued_events(blocks)}
            for left in self._places.keys() - here:
                await self._places.pop(left).aclose()


class Answered:
    """A `send` that keeps the answer's status and body."""

    def __init__(self, send: Send) -> None:
        self._send, self.status, self.body = send, 0, b""

    async def __call__(self, message: dict[str, Any]) -> None:
        self.status = message.get("status", self.status)
        self.body += message.get("body", b"")
        await self._send(message)
