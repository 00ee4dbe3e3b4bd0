"""The mixes of polite visitors: who comes, and how many."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

import numpy as np

from sauda.commands.loadtest import visits
from sauda.commands.loadtest.client import Browser
from sauda.commands.loadtest.tally import MemoryTrack, Missed
from sauda.commands.loadtest.visits import Crowd

READERS, PLAYERS, MODEL_PLAYERS = 30, 15, 5
CLASS = (18, 9, 3)  # of the same three kinds, behind one address
SCRIPT_PLAYERS = 20
GREEDY_GAMES = 30
SAMPLES = 20  # of memory
SESSIONS_AT_ONCE = 4
POLITE, GREEDY = "polite visitor's model reply", "greedy client's model reply"
FIRST_VISITOR = 1  # number of the first visitor; 0 waits for the model


@dataclass(frozen=True)
class Size:
    """How much of each mix is played."""

    seconds: float = 600.0  # of a mix that has a length
    games: int = 300  # in a row, in one session
    sessions: int = 1000
    malformed: int = 10_000  # POST requests
    at_once: int = 45  # requests to each event
    api_callers: int = 70

    def part(self, parts: int) -> "Size":
        """One of so many equal parts in length; as many requests at once."""
        return replace(
            self,
            seconds=self.seconds / parts,
            games=max(self.games // parts, 1),
            sessions=max(self.sessions // parts, 1),
        )


SHORT = Size(seconds=20.0, games=20, sessions=40, malformed=300)

Play = Callable[[Crowd, Size, int | None], Awaitable[list[MemoryTrack]]]


@dataclass(frozen=True)
class Mix:
    """One mix of visitors; `play` takes what they share, its size and the page's process id.

    `part` is its share of the seconds. A mix is `compared` where the earlier commit plays it too.
    """

    name: str
    about: str
    play: Play
    model: bool = False  # whether somebody plays the language model
    part: float = 1.0
    compared: bool = True


async def timed(crowd: Crowd, size: Size, pid: int | None, *jobs: Awaitable) -> list[MemoryTrack]:
    """Play `jobs` until the deadline; memory before, after and in between."""
    track, began = MemoryTrack(pid, "second"), time.monotonic()

    async def watch() -> None:
        while True:
            track.note(round(time.monotonic() - began))
            await asyncio.sleep(size.seconds / SAMPLES)

    watching = asyncio.create_task(watch())
    await asyncio.gather(*jobs)
    watching.cancel()
    track.note(round(time.monotonic() - began))
    return [track]


async def crowd_together(
    crowd: Crowd,
    size: Size,
    pid: int | None,
    counts: tuple[int, int, int] = (READERS, PLAYERS, MODEL_PLAYERS),
) -> list[MemoryTrack]:
    """Readers, players and model players together."""
    kinds = (visits.read, visits.haggle_with_script, visits.haggle_with_model)
    roles = [role for role, count in zip(kinds, counts, strict=True) for _ in range(count)]
    streams = np.random.default_rng(0).spawn(len(roles))
    numbered = enumerate(zip(roles, streams, strict=True), FIRST_VISITOR)
    return await timed(crowd, size, pid, *(role(crowd, n, rng) for n, (role, rng) in numbered))


async def class_of_30(crowd: Crowd, size: Size, pid: int | None) -> list[MemoryTrack]:
    """A class behind one router."""
    return await crowd_together(replace(crowd, has_one_address=True), size, pid, CLASS)


async def scripted_20(crowd: Crowd, size: Size, pid: int | None) -> list[MemoryTrack]:
    """Players against scripts alone."""
    streams = enumerate(np.random.default_rng(0).spawn(SCRIPT_PLAYERS), FIRST_VISITOR)
    jobs = (visits.haggle_with_script(crowd, n, rng) for n, rng in streams)
    return await timed(crowd, size, pid, *jobs)


async def greedy_client(crowd: Crowd, size: Size, pid: int | None) -> list[MemoryTrack]:
    """One client with many model games, and one polite visitor beside them."""
    polite, *streams = np.random.default_rng(0).spawn(1 + GREEDY_GAMES)
    greedy = (visits.haggle_with_model(crowd, FIRST_VISITOR, rng, GREEDY) for rng in streams)
    beside = visits.haggle_with_model(crowd, FIRST_VISITOR + 1, polite, POLITE)
    return await timed(crowd, size, pid, *greedy, beside)


async def games_in_a_row(crowd: Crowd, size: Size, pid: int | None) -> list[MemoryTrack]:
    """One visitor plays scripted games without a pause, in one session."""
    crowd, track = replace(crowd, deadline=float("inf")), MemoryTrack(pid, "game")
    rng = np.random.default_rng(0)
    async with Browser(crowd.http, crowd.plan, FIRST_VISITOR) as browser:
        for game in range(size.games):
            if game % max(size.games // SAMPLES, 1) == 0:
                track.note(game)
            try:
                await visits.play_game(crowd, browser, game, rng, visits.SCRIPTED, (0, 0))
            except Missed:
                continue  # counted
    track.note(size.games)
    return [track]


async def sessions(crowd: Crowd, size: Size, pid: int | None) -> list[MemoryTrack]:
    """Visitors who open the page, start a game, and leave."""
    track, todo = MemoryTrack(pid, "session"), iter(range(size.sessions))
    rng = np.random.default_rng(0)

    async def visit_after_visit() -> None:
        for number in todo:
            if number % max(size.sessions // SAMPLES, 1) == 0:
                track.note(number)
            try:
                async with Browser(crowd.http, crowd.plan, FIRST_VISITOR + number) as browser:
                    await visits.open_page(crowd, browser)
                    over = replace(crowd, deadline=time.monotonic())
                    await visits.play_game(over, browser, number, rng, visits.SCRIPTED, (0, 0))
            except Missed:
                continue  # counted

    await asyncio.gather(*(visit_after_visit() for _ in range(SESSIONS_AT_ONCE)))
    track.note(size.sessions)
    return [track]


MIXES = (
    Mix(
        "50 visitors",
        f"{READERS} read, {PLAYERS} play scripts, {MODEL_PLAYERS} play the language model",
        crowd_together,
        model=True,
    ),
    Mix(
        "30 behind one address",
        "{} read, {} play scripts, {} play the language model".format(*CLASS),
        class_of_30,
        model=True,
        part=0.3,
    ),
    Mix("20 players", f"{SCRIPT_PLAYERS} visitors play scripts", scripted_20, part=0.2),
    Mix(
        "greedy client",
        f"one client opens {GREEDY_GAMES} games with the model, one polite visitor plays beside it",
        greedy_client,
        model=True,
        part=0.2,
    ),
    Mix("games in a row", "scripted games without a pause, in one session", games_in_a_row),
    Mix("sessions", "visitors open the page, start a game and leave", sessions),
)
