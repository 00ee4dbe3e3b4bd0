"""Ends the page on SIGTERM.

Replies in progress may finish; visitors who still wait are told that the page stopped.
"""

import signal
import threading
import time

import gradio as gr

from panels.site.guard import Doors
from panels.site.internals import queued_events

LOOK = 0.2  # seconds
GRACE = 10.0  # seconds for the replies in progress; a Space gives about thirty


def stay_until_stopped(blocks: gr.Blocks, doors: Doors, grace: float = GRACE) -> None:
    """Return after SIGTERM or SIGINT, when no event is left or `grace` seconds are over.

    New calls are refused meanwhile with a sentence. Call it in the main thread.
    """
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    while not stopped.wait(LOOK):  # a signal that came to another thread waits for this one
        continue
    doors.open = False
    deadline = time.monotonic() + grace
    while queued_events(blocks) and time.monotonic() < deadline:
        time.sleep(0.05)
    blocks.close()  # tells the browsers that still wait that the page stopped
