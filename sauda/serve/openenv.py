"""Both games as one OpenEnv environment, and the limits of `/ws` before the package's handler.

The handler ends a session at its first frame that is no JSON object, has no time-out for an open
socket and no limit but its capacity. Here each frame is read first; what the handler cannot take is
answered with a typed error, and the session goes on. A frame holds a place at the fair gate until
its answer is sent.
"""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from openenv.core.env_server import Environment, WSErrorCode, WSErrorResponse
from openenv.core.env_server.types import EnvironmentMetadata

from sauda.fairness import FairGate, QueueFull
from sauda.games import DEFAULT_TASK
from sauda.records.seeds import LEADERBOARD, SPLITS, whole_seed
from sauda.serve import game as games
from sauda.serve import leaderboard
from sauda.serve import observations as seen
from sauda.serve.game import SaudaAction
from sauda.serve.limits import Limiter, is_this_machine, json_object

LONGEST_ID = 255  # characters of an episode id


class SaudaEnvironment(Environment[SaudaAction, seen.SaudaObservation, seen.SaudaState]):
    """One episode at a time of any task. Sessions share nothing.

    It also lists the numbered tasks of the splits, as OpenEnv's `TaskProvider`.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(rubric=seen.reward_rubric())
        self._clock = clock
        self._game: games.ServedGame | None = None
        self._place: leaderboard.Place | None = None  # in an entry of the leaderboard

    def reset(
        self,
        seed: Any = None,
        episode_id: Any = None,
        task: Any = None,
        split: Any = None,
        index: Any = None,
        entry: Any = None,
    ) -> seen.SaudaObservation:
        """Start an episode of `task` at `seed`, or of the numbered task `index` of `split`.

        Without a task it is `bazaar/people`; without a seed it is one that nobody knows. With the
        token of an `entry` it is the entry's next game of the leaderboard, or the one that it has
        not finished, where it stands. Raises ValueError or IndexError, with one sentence, on
        anything else.
        """
        named = isinstance(episode_id, str) and 0 < len(episode_id) <= LONGEST_ID
        if not (named or episode_id is None):
            raise ValueError(f"an episode_id is a text of 1 to {LONGEST_ID} characters")
        episode_id, place = episode_id or uuid4().hex, None
        if entry is None:
            task_name, seed = choose_task(task, seed, split, index)
            game = games.start(task_name, seed, episode_id, self._clock())
        else:
            place = find_place(entry, task, seed, split, index)
            game = leaderboard.replay_game(place.task, place.seed, place.actions, episode_id)
        self._game, self._place = game, place
        self._reset_rubric()
        observation = self._observation()
        observation.briefing = games.briefing(game.task)
        observation.system_prompt = f"{observation.briefing}\n\n{games.REPLY}"
        return observation

    def step(
        self, action: SaudaAction, timeout_s: float | None = None, **options: Any
    ) -> seen.SaudaObservation:
        """Make a move; an illegal one changes nothing, and the observation's `error` says why.

        A move of the leaderboard is stored before it is answered. Raises ValueError where no
        episode is running, or the move cannot be stored. `timeout_s` has no effect.
        """
        if self._game is None:
            raise ValueError("no episode is running; reset starts one")
        if self._place is None:
            self._game = games.act(self._game, action, self._clock())
        else:
            game = games.act(self._game, action, leaderboard.BEGAN)
            row, end = leaderboard.action_row(action), leaderboard.end_and_grade(game)
            leaderboard.own_board().add(self._place, game.steps, row, end)
            self._game = game
        observation = self._observation()
        observation.reward = self._apply_rubric(action, observation)
        return observation

    def _observation(self) -> seen.SaudaObservation:
        observation = seen.observation_of(self._game)
        if self._place is not None:
            place = self._place
            observation.metadata["entry"] = {"game": place.number, "games": place.games}
        return observation

    @property
    def moved(self) -> bool:
        """Whether a move was made in the episode."""
        return self._game is not None and self._game.moved

    @property
    def state(self) -> seen.SaudaState:
        """The public state of the episode."""
        return seen.state_of(self._game)

    def get_metadata(self) -> EnvironmentMetadata:
        """Name, description and version."""
        return EnvironmentMetadata(name=games.NAME, description=games.ABOUT, version=games.VERSION)

    def list_splits(self) -> list[dict[str, str]]:
        """The splits of the seeds, with OpenEnv's type of each."""
        return [{"name": name, "type": games.TYPES[name]} for name in SPLITS]

    list_tasks = get_task_range = staticmethod(games.list_tasks)
    num_tasks = staticmethod(games.count_tasks)
    get_task = staticmethod(games.numbered_task)


def choose_task(task: Any, seed: Any, split: Any, index: Any) -> tuple[str, int | None]:
    """The task's name and the seed that a reset asks for; ValueError or IndexError, a sentence."""
    if split is None and index is None:
        name = DEFAULT_TASK if task is None else task
        if not isinstance(name, str):
            raise ValueError("a task is the name of one, such as bazaar/people")
        seed = None if seed is None else whole_seed(seed)
        if seed is not None and seed in LEADERBOARD:
            raise ValueError(
                "seeds from 2**127 are for entries of the leaderboard; name a smaller one"
            )
        return name, seed
    if split is None or index is None or task is not None or seed is not None:
        raise ValueError("reset takes a task and a seed, or a split and an index")
    row = games.numbered_task(split, index)
    return row["task"], row["seed"]


def find_place(entry: Any, *others: Any) -> leaderboard.Place:
    """Where a program's entry stands; ValueError where a token has none or `others` are given."""
    if any(other is not None for other in others):
        raise ValueError("a reset of an entry takes its token, and an episode_id, alone")
    if not isinstance(entry, str):
        raise ValueError("an entry is the token that POST /leaderboard/enter gave")
    place = leaderboard.own_board().next_game(entry)
    if place.person:
        raise ValueError("a person plays this entry in the page; a program has one of its own")
    if place.rules != leaderboard.rules_of(place.task):
        raise ValueError(f"the rules of {place.task} have changed; POST /leaderboard/enter anew")
    return place


Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

KINDS = ("reset", "step", "state", "close")
OPTIONS = tuple(inspect.signature(SaudaEnvironment().reset).parameters)
LATER, LEAVES, WENT_AWAY = 1013, 1001, 1006  # codes of a close


@dataclass(frozen=True)
class SocketLimits:
    """What a session, and the sessions of one address, may have."""

    of_address: int = 48  # sessions; the others stay free for other addresses
    frame_bytes: int = 64 * 1024
    idle_seconds: float = 600.0  # without a frame
    session_seconds: float = 6 * 3600.0


class Fault(Exception):
    """A frame that is not handed on; `code` is OpenEnv's, the text a sentence."""

    def __init__(self, code: WSErrorCode, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class Sockets:
    """The open sockets of `/ws`; `app` is the package's handler behind them."""

    def __init__(self, app: Any, gate: FairGate, limits: SocketLimits | None = None) -> None:
        self.app, self.gate, self.limits = app, gate, limits or SocketLimits()
        self.sessions = Limiter(self.limits.of_address)

    async def serve(self, scope: Message, receive: Receive, send: Send, address: str) -> None:
        """Serve one socket of `address` to its end."""
        session = Session(receive, send, self.gate, self.limits, address)
        if not self.sessions.take(address, is_exempt=is_this_machine(address)):
            await session.refuse(
                f"Your network address has {self.limits.of_address} sessions open, as many as it"
                " may; close one, or try again in a minute."
            )
            return
        try:
            await self.app(scope | {"query_string": b""}, session.receive, session.send)
        finally:
            await session.leave_place()
            self.sessions.give_back(address)


def check_frame(message: Message, limits: SocketLimits) -> None:
    """Raises Fault, with what is wrong, unless the handler can take the frame in `message`."""
    text = message.get("text")
    if text is None:
        raise Fault(WSErrorCode.INVALID_JSON, "A message is text, not bytes.")
    if len(text) > limits.frame_bytes or len(text.encode()) > limits.frame_bytes:
        raise Fault(
            WSErrorCode.VALIDATION_ERROR, f"A message has at most {limits.frame_bytes // 1024} KiB."
        )
    try:
        frame = json_object(text, "A message", float)  # NaN is a fault of its field
    except ValueError as error:
        raise Fault(WSErrorCode.INVALID_JSON, str(error)) from None
    if frame.get("type") not in KINDS:
        raise Fault(
            WSErrorCode.UNKNOWN_TYPE, f"The type of a message is one of {', '.join(KINDS)}."
        )
    data = frame.get("data", None if frame["type"] == "step" else {})
    parts = {"type", "data"} if frame["type"] in ("reset", "step") else {"type"}
    if not isinstance(data, dict) or not frame.keys() <= parts:
        raise Fault(
            WSErrorCode.VALIDATION_ERROR,
            "A message is its type, and in data, a JSON object, the options of a reset or the"
            " action of a step.",
        )
    if frame["type"] == "reset" and not data.keys() <= set(OPTIONS):
        raise Fault(WSErrorCode.VALIDATION_ERROR, f"A reset takes {', '.join(OPTIONS)} alone.")


class Session:
    """One socket: `receive` and `send` as its handler sees them."""

    def __init__(
        self, receive: Receive, send: Send, gate: FairGate, limits: SocketLimits, address: str
    ) -> None:
        self._receive, self._send = receive, send
        self._gate, self._limits, self._address = gate, limits, address
        self._ends = time.monotonic() + limits.session_seconds
        self._place = AsyncExitStack()
        self._gone = False

    async def receive(self) -> Message:
        """The next message for the handler: a frame that it can take, or the end."""
        await self.leave_place()
        while True:
            message = await self._next()
            if message["type"] != "websocket.receive":
                self._gone = message["type"] == "websocket.disconnect"
                return message
            try:
                check_frame(message, self._limits)
                await self._place.enter_async_context(self._gate.place(self._address))
                return message
            except Fault as fault:
                await self._error(fault.code, str(fault))
            except QueueFull:
                await self._error(
                    WSErrorCode.EXECUTION_ERROR, "Too many calls of your network address wait."
                )

    async def send(self, message: Message) -> None:
        """Send an answer and give the place up; nothing is sent to a client that has gone."""
        if not self._gone:
            try:
                await self._send(message)
            except OSError:  # the client went while its answer was made
                self._gone = True
        await self.leave_place()

    async def leave_place(self) -> None:
        """Give up the place at the gate, if there is one."""
        await self._place.aclose()

    async def refuse(self, sentence: str) -> None:
        """Open the socket, say why it is closed, and close it."""
        await self._receive()
        await self.send({"type": "websocket.accept"})
        await self._end(WSErrorCode.CAPACITY_REACHED, sentence, LATER)

    async def _next(self) -> Message:
        if self._gone:
            return {"type": "websocket.disconnect", "code": WENT_AWAY}
        left = self._ends - time.monotonic()
        try:
            if left <= 0:  # a frame that has come already would be taken before the time-out
                raise TimeoutError
            async with asyncio.timeout(min(self._limits.idle_seconds, left)):
                return await self._receive()
        except TimeoutError:
            why = (
                f"sent nothing for {self._limits.idle_seconds:.0f} seconds"
                if left > self._limits.idle_seconds
                else f"was open for {self._limits.session_seconds:.0f} seconds, the longest"
            )
            await self._end(WSErrorCode.SESSION_ERROR, f"This session {why}; it ends.", LEAVES)
            return {"type": "websocket.disconnect", "code": LEAVES}

    async def _end(self, code: WSErrorCode, sentence: str, closing: int) -> None:
        await self._error(code, sentence)
        await self.send({"type": "websocket.close", "code": closing, "reason": ""})
        self._gone = True

    async def _error(self, code: WSErrorCode, sentence: str) -> None:
        answer = WSErrorResponse(data={"message": sentence, "code": code})
        await self.send({"type": "websocket.send", "text": answer.model_dump_json()})
