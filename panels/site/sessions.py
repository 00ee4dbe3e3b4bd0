"""The sessions of the page's visitors, without a copy of the page in each.

Gradio's `SessionState` copies the configuration of every component for each session, for links to a
state of the page. This page has no such links, and the copy costs 1.3 MB and 0.1 s of the event
loop per visitor. `LeanSession` makes none; it is the one class here that Gradio does not document.
"""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import gradio as gr
from gradio.state_holder import SessionState, StateHolder  # noqa: TID251 - reason above

HOUR = 3600  # seconds that a game is kept
SESSIONS = 2000  # in all; the one that was not used for longest gives way


class LeanSession(SessionState):
    """A session whose configurations begin empty; Gradio adds those that an event changes."""

    def __init__(self, blocks: gr.Blocks) -> None:
        super().__init__(SimpleNamespace(default_config=blocks.default_config, blocks={}))


class Sessions(StateHolder):
    """All sessions by name."""

    def __getitem__(self, session_id: str) -> LeanSession:
        if session_id not in self.session_data:
            self.session_data[session_id] = LeanSession(self.blocks)
        return super().__getitem__(session_id)


OPEN = Sessions()  # of the page that this process serves


class Gone(LookupError):
    """A session, or its state, is no longer here."""


def states_of(session_id: str, parts: Sequence[gr.State]) -> list[Any]:
    """The values that another session of this visitor has for `parts`.

    A tab that is loaded again has a new session and knows the name of its former one. A value that
    was put away is None. Raises Gone where the whole session is.
    """
    if session_id not in OPEN.session_data:
        raise Gone(session_id)
    states = OPEN.session_data[session_id].state_data
    return [states.get(part._id) for part in parts]


def no_longer_here(what: str) -> str:
    """Why a visitor lacks `what` ("this game was"): half a sentence."""
    return f"{what} put away after an hour, or lost as the page was restarted"
