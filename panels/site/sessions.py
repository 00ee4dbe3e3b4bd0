"""The sessions of the page's visitors, without a copy of the page in each.

Gradio's `SessionState` keeps the configuration of every component for each session, and makes it
anew for each value that an event changes, for links to a state of the page. This page has no such
links; the copy costs 1.3 MB and 0.1 s of the event loop per visitor, and the rest more than an
event's own work. `LeanSession` keeps none. It and `Page` change what Gradio does not document.
"""

from collections.abc import Sequence
from copy import copy
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import gradio as gr
from gradio.state_holder import SessionState, StateHolder  # noqa: TID251 - reason above

HOUR = 3600  # seconds that a game is kept
LEFT = gr.skip()  # what stands for an output that an event leaves alone
SESSIONS = 2000  # in all; the one that was not used for longest gives way


class LeanSession(SessionState):
    """A session with states and changed components, and without configurations."""

    def __init__(self, blocks: gr.Blocks) -> None:
        super().__init__(SimpleNamespace(default_config=blocks.default_config, blocks={}))

    def __setitem__(self, key: int, value: Any) -> None:
        block = self.blocks_config.blocks.get(key)
        if isinstance(block, gr.State):
            self._state_ttl[key] = (block.time_to_live, datetime.now())
            self.state_data[key] = value
        else:
            self.blocks_config.blocks[key] = value

    def _update_config(self, key: int) -> None:
        """Nothing is kept."""

    def _update_value_in_config(self, key: int, value: Any) -> None:
        """Nothing is kept."""


class Sessions(StateHolder):
    """All sessions by name."""

    def __getitem__(self, session_id: str) -> LeanSession:
        if session_id not in self.session_data:
            self.session_data[session_id] = LeanSession(self.blocks)
        return super().__getitem__(session_id)


class Page(gr.Blocks):
    """A page whose events cost by the outputs that they set.

    Gradio makes a component anew for each output of an event, also for one that the event leaves
    alone; with the 35 outputs of a haggling reply that took longer than the reply itself.
    """

    async def postprocess_data(self, block_fn: Any, predictions: Any, state: Any) -> list[Any]:
        """The outputs as the browser gets them; those that the event leaves alone are not read."""
        outputs = block_fn.outputs
        if not (isinstance(predictions, dict) and predictions.keys() <= set(outputs)):
            return await super().postprocess_data(block_fn, predictions, state)
        changed = [block for block in outputs if predictions.get(block, LEFT) != LEFT]
        few, shown = copy(block_fn), {}
        few.outputs, values = changed, [predictions[block] for block in changed]
        if changed:
            given = values if len(values) > 1 else values[0]
            answer = await super().postprocess_data(few, given, state)
            shown = dict(zip(changed, answer, strict=True))
        return [shown.get(block, None if block.stateful else LEFT) for block in outputs]


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
