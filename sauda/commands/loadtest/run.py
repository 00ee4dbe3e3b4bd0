"""Starts pages and plays mixes of visitors on them."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx

from sauda.commands.loadtest.checkout import checkout, full_name
from sauda.commands.loadtest.client import connected
from sauda.commands.loadtest.haggle import script
from sauda.commands.loadtest.hostile import HOSTILE
from sauda.commands.loadtest.mixes import MIXES, Mix, Size
from sauda.commands.loadtest.page_process import RunningPage, running_app
from sauda.commands.loadtest.tally import MemoryTrack, Tally
from sauda.commands.loadtest.visits import Crowd, model_trouble
from sauda.records.store import REPOSITORY

ALL: dict[str, Mix] = {mix.name: mix for mix in (*MIXES, HOSTILE)}
TRUSTED = {"FORWARDED_ALLOW_IPS": "127.0.0.1"}  # the load test names its visitors' addresses

BEFORE = 5  # the earlier commit plays a fifth of each mix

Played = dict[str, Any]  # one entry of `mixes` in the artifact


def played_here(names: Sequence[str], size: Size, before: str | None = None) -> Iterator[Played]:
    """Each mix on a fresh page of its own; the commit `before` and this one take turns."""
    now = full_name("HEAD")
    with ExitStack() as stack:
        earlier = None if before is None else stack.enter_context(checkout(before))
        for mix in (ALL[name] for name in names):
            if earlier is not None and mix.compared:
                figures = _on_fresh_page(mix, size.part(BEFORE), earlier)
                yield {"state": "before", "commit": full_name(before), **figures}
            yield {"state": "now", "commit": now, **_on_fresh_page(mix, size, REPOSITORY)}


def _on_fresh_page(mix: Mix, size: Size, folder: Path) -> Played:
    with running_app(folder, TRUSTED) as page:
        return played(mix, size, page)


def played_at(address: str, names: Sequence[str], size: Size) -> Iterator[Played]:
    """Each mix on a page that runs already; its memory is not known.

    The page should trust this machine as a proxy, else all visitors share one address.
    """
    for name in names:
        page = RunningPage(address, None)
        yield {"state": "now", "commit": None, **played(ALL[name], size, page)}


def played(mix: Mix, size: Size, page: RunningPage) -> Played:
    """One mix, for its part of the seconds, on one page.

    Raises ValueError where the page has no Haggle tab or no model.
    """
    size = replace(size, seconds=size.seconds * mix.part)
    try:
        tally, tracks, seconds = asyncio.run(_play(mix, size, page))
    except httpx.HTTPError as error:
        raise ValueError(f"the page at {page.address} does not answer: {error!r}") from None
    return {
        "name": mix.name,
        "about": mix.about,
        "seconds": round(seconds, 1),
        "rows": tally.rows(),
        "memory": [row for track in tracks for row in track.row()],
    }


async def _play(mix: Mix, size: Size, page: RunningPage) -> tuple[Tally, list[MemoryTrack], float]:
    async with connected(page.address) as http:
        plan = script((await http.get("/config")).raise_for_status().json())
        trouble = await model_trouble(http, plan)
        if mix.model and trouble:
            raise ValueError(f"{mix.name} cannot be played: {trouble}")
        began = time.monotonic()
        crowd = Crowd(http, plan, Tally(), began + size.seconds)
        tracks = await mix.play(crowd, size, page.pid)
        return crowd.tally, tracks, time.monotonic() - began
