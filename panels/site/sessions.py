"""What the sessions of browser tabs keep, and which proxies are trusted to name a visitor.

uvicorn reads FORWARDED_ALLOW_IPS: the addresses of trusted proxies, with commas between them. From
such an address it takes the visitor from `X-Forwarded-For`: the last hop that is no trusted proxy.
"""

import os
from collections.abc import Mapping
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import gradio as gr
from gradio.state_holder import SessionState, StateHolder  # noqa: TID251 - see "Sessions" below

from sauda.serve.limits import NO_ADDRESS, to_give_way

VARIABLE = "FORWARDED_ALLOW_IPS"
# The proxy of a Space reaches its container from an internal address.
INTERNAL = "127.0.0.1,::1,10.0.0.0/8,100.64.0.0/10,172.16.0.0/12,192.168.0.0/16,fc00::/7"


def trusted_proxies(environment: Mapping[str, str]) -> str:
    """What FORWARDED_ALLOW_IPS should be: as set, the internal addresses on a Space, else none."""
    return environment.get(VARIABLE, INTERNAL if "SPACE_ID" in environment else "").strip()


def trust_proxies() -> bool:
    """Tell uvicorn, before it starts, which proxies to trust; whether there are any.

    Without this, uvicorn lets any caller from the same machine choose its address.
    """
    os.environ[VARIABLE] = trusted_proxies(os.environ)
    return bool(os.environ[VARIABLE])


# Sessions -----------------------------------------------------------------------------------------

# Gradio's `SessionState` keeps the configuration of every component for each session, and makes it
# anew for each value that an event changes, for links to a state of the page. This page has no such
# links; the copy costs 1.3 MB and 0.1 s of the event loop per visitor, and the rest more than an
# event's own work: 641 KiB a session, where `LeanSession` has 23. It changes what Gradio does not
# document.
HOUR = 3600  # seconds that a game is kept
SESSIONS = 2000  # in all


class LeanSession(SessionState):
    """A session with states and changed components, and without configurations."""

    def __init__(self, blocks: gr.Blocks, address: str = NO_ADDRESS) -> None:
        super().__init__(SimpleNamespace(default_config=blocks.default_config, blocks={}))
        self.address = address
        self._with_move: set[int] = set()  # states that hold a game in which the visitor has moved

    @property
    def moved(self) -> bool:
        """Whether it holds a game in which the visitor has made a move."""
        return not self._with_move.isdisjoint(self.state_data)

    def __setitem__(self, key: int, value: Any) -> None:
        block = self.blocks_config.blocks.get(key)
        if isinstance(block, gr.State):
            self._state_ttl[key] = (block.time_to_live, datetime.now())
            self.state_data[key] = value
            has_move = getattr(getattr(value, "game", value), "moved", False)
            (self._with_move.add if has_move else self._with_move.discard)(key)
        else:
            self.blocks_config.blocks[key] = value

    def _update_config(self, key: int) -> None:
        """Nothing is kept."""

    def _update_value_in_config(self, key: int, value: Any) -> None:
        """Nothing is kept."""


class Sessions(StateHolder):
    """All sessions by name. Where there are too many one gives way: see `to_give_way`."""

    def __getitem__(self, session_id: str) -> LeanSession:
        if session_id not in self.session_data:
            self.begin(session_id, NO_ADDRESS)
        return super().__getitem__(session_id)

    def begin(self, session_id: str, address: str) -> None:
        """Keep a new session of a visitor at `address`."""
        self.session_data[session_id] = LeanSession(self.blocks, address)
        self.update(session_id)

    def update(self, session_id: str) -> None:
        """Note that a session is used."""
        with self.lock:
            if session_id in self.session_data:
                self.session_data.move_to_end(session_id)
            while (gone := to_give_way(self.session_data, self.capacity)) is not None:
                del self.session_data[gone]
                self.time_last_used.pop(gone, None)


OPEN = Sessions()  # of the page that this process serves


def state_of(session_id: str, part: gr.State) -> Any:
    """The value that another session of this visitor has for `part`; None where it is gone.

    A tab that is loaded again has a new session and knows the name of its former one.
    """
    former = OPEN.session_data.get(session_id)
    return None if former is None else former.state_data.get(part._id)


def no_longer_here(what: str) -> str:
    """Why a visitor lacks `what` ("this game was"): half a sentence."""
    return f"{what} put away after an hour, or lost as the page was restarted"
