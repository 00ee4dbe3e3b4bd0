"""The sessions of the page's visitors: small, and gone when the visitor goes.

Gradio keeps for each session a copy of every component's configuration, for links to a state of the
page. It makes 640 KB a session and a third of the time of a reply; this page has no such links, so
its sessions keep none. Gradio forgets a session only once there are 10,000 others.
"""

import time
from collections import ChainMap, OrderedDict, defaultdict
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import is_dataclass
from typing import Any

import gradio as gr
from gradio.state_holder import SessionState, StateHolder

from panels.site.internals import current_session, forget, queued_events
from panels.site.routes import Kind
from panels.site.streams import Streams

HOUR = 3600  # seconds that a game is kept
LEFT_FOR = 600.0  # seconds that a session is kept without a tab and without an event
SESSIONS = 4000  # in all
OF_ADDRESS = 400  # of which one network address may have so many
REMEMBERED = 10_000  # names of sessions that were put away
# By these a component reads a value; all else that an event changes is for the browser alone.
LIMITS = ("choices", "multiselect", "max_choices", "minimum", "maximum", "step", "max_length")


def limits(component: Any) -> list[Any]:
    """How a component reads values; of all that a session changes, this alone is kept."""
    return [type(component), *(getattr(component, name, None) for name in LIMITS)]


class LeanSession(SessionState):
    """A session that keeps its states, components with limits of its own, no configurations."""

    def __init__(self, blocks: Any) -> None:
        config = copy(blocks.default_config)
        # What no event changed is the same in all sessions, and so are the events.
        self._own: dict[int, Any] = {}
        # Gradio reads the component of an update again, right after setting it, to answer with it.
        self._newest: dict[int, Any] = {}
        config.blocks = ChainMap(self._newest, self._own, blocks.default_config.blocks)
        config.fns = blocks.fns
        self.blocks_config = config
        self.config_values: dict[int, Any] = {}
        self.state_data: dict[int, Any] = {}
        self._state_ttl: dict[int, Any] = {}
        self.is_closed = False
        self.STATE_TTL_WHEN_CLOSED = LEFT_FOR
        self.born = time.monotonic()

    def __getitem__(self, key: int) -> Any:
        block = self.blocks_config.blocks[key]
        if block.stateful and key not in self.state_data and is_frozen(block.value):
            self.state_data[key] = block.value  # nobody can change it, so all may have the same
        return super().__getitem__(key)

    def __setitem__(self, key: int, value: Any) -> None:
        block = self.blocks_config.blocks.get(key)
        if isinstance(block, gr.State):
            self._state_ttl[key] = (block.time_to_live, time.monotonic())
            self.state_data[key] = value
            return
        self._newest.clear()
        self._newest[key] = value
        if limits(value) == limits(self.blocks_config.blocks.maps[-1].get(key)):
            self._own.pop(key, None)
        else:
            self._own[key] = value

    @property
    def state_components(self) -> Iterator[tuple[gr.State, Any, bool]]:
        """Each state with its value, and whether its time is over by a clock that nobody sets."""
        now = time.monotonic()
        for key, (time_to_live, born) in list(self._state_ttl.items()):
            block = self.blocks_config.blocks.get(key)
            if isinstance(block, gr.State) and key in self.state_data:
                seconds = self.STATE_TTL_WHEN_CLOSED if self.is_closed else time_to_live
                yield block, self.state_data[key], now - born > seconds

    def _update_config(self, key: int) -> None:
        """Nothing is kept."""

    def _update_value_in_config(self, key: int, value: Any) -> None:
        """Nothing is kept."""


def is_frozen(value: Any) -> bool:
    """Whether a value is a dataclass that cannot be assigned into."""
    return is_dataclass(value) and type(value).__dataclass_params__.frozen


class Sessions(StateHolder):
    """All sessions, those used last at the end; `streams` says which of them have an open tab."""

    def __init__(self, streams: Streams) -> None:
        super().__init__()
        self.streams = streams
        self.last_used: dict[str, float] = {}  # time.monotonic
        self.of_address: defaultdict[str, OrderedDict[str, None]] = defaultdict(OrderedDict)
        self.put_away: OrderedDict[str, None] = OrderedDict()
        self._addresses: dict[str, str] = {}  # by session

    def set_blocks(self, blocks: Any) -> None:
        super().set_blocks(blocks)
        self.capacity = SESSIONS

    def __getitem__(self, session_id: str) -> LeanSession:
        with self.lock:
            session = self.session_data.get(session_id)
            if session is None:
                session = self.session_data[session_id] = LeanSession(self.blocks)
            self.session_data.move_to_end(session_id)
            self.last_used[session_id] = time.monotonic()
            if len(self.session_data) > self.capacity:
                self._drop(next(iter(self.session_data)))
            return session

    def claim(self, session_id: str, address: str) -> None:
        """Count a session for the address that uses it; too many of one lose the oldest."""
        with self.lock:
            self._disown(session_id)
            own = self.of_address[address]
            own[session_id], self._addresses[session_id] = None, address
            if len(own) > OF_ADDRESS:
                busy = self._busy()
                idle = (name for name in own if not (name in busy or self._is_open(name)))
                self._drop(next(idle, next(iter(own))))

    def delete_all_expired_state(self) -> None:
        """Drop states that were kept their time, and sessions whose visitors are gone."""
        super().delete_all_expired_state()
        now, busy = time.monotonic(), self._busy()
        with self.lock:
            for name in {*self.last_used, *self._addresses}:
                if name in busy or self._is_open(name):
                    self.last_used[name] = now
                elif now - self.last_used.setdefault(name, now) > LEFT_FOR:
                    self._drop(name)

    def _busy(self) -> set[str]:
        """The sessions with events in the queue."""
        return {event.session_hash for event in queued_events(self.blocks)}

    def _is_open(self, session_id: str) -> bool:
        counts = self.streams.of_session
        return any(counts[kind, session_id] for kind in (Kind.HEARTBEAT, Kind.MESSAGES))

    def _drop(self, session_id: str) -> None:
        if self.session_data.pop(session_id, None) is not None:
            self.put_away[session_id] = None
            if len(self.put_away) > REMEMBERED:
                self.put_away.popitem(last=False)
        self.last_used.pop(session_id, None)
        self._disown(session_id)
        forget(self.blocks, session_id)

    def _disown(self, session_id: str) -> None:
        address = self._addresses.pop(session_id, None)
        if address is not None:
            own = self.of_address[address]
            own.pop(session_id, None)
            if not own:
                del self.of_address[address]


LEFT, EXPIRED, RESTARTED = "left", "expired", "restarted"  # why a session's state is gone


class Gone(LookupError):
    """A session, or its state, is no longer here; `why` is LEFT, EXPIRED or RESTARTED."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def states_of(session_id: str, parts: Sequence[gr.State]) -> list[Any]:
    """The values that another session of the visitor whose event runs has for `parts`.

    A tab that is loaded again has a new session and knows the name of its former one. A value that
    was put away is None. Raises Gone where the whole session is.
    """
    current = current_session()
    sessions = current[0].session_data if current else {}
    if session_id not in sessions:
        put_away = current is not None and session_id in current[0].put_away
        raise Gone(LEFT if put_away else RESTARTED)
    states = sessions[session_id].state_data
    return [states.get(part._id) for part in parts]


def no_longer_here(what: str, earlier: str = "") -> str:
    """Why the visitor whose event runs lacks `what` ("this game was"): half a sentence.

    `earlier` is the session that had it, where it is not the visitor's present one.
    """
    current = current_session()
    if current is not None:
        holder, name = current[0], earlier or current[1]
        if name in holder.put_away:
            return f"{what} put away {LEFT_FOR / 60:g} minutes after its tab was left"
        session = holder.session_data.get(name)
        if session is None or time.monotonic() - session.born < HOUR:
            return f"the page was restarted, and {what} lost"
    return f"{what} put away after an hour"
