"""The web app of the OpenEnv environment, with the routes of the leaderboard.

`/ws`, `/metadata`, `/schema` and the task routes are those of the package `openenv`. Its `/reset`
and `/step` forget each episode at once; ours keep it under an id that nobody can guess. `/tasks`
and `/score` are the published convenience routes.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any
from uuid import uuid4

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from openenv.core.env_server import (
    HTTPEnvServer,
    JsonRpcErrorCode,
    JsonRpcRequest,
    JsonRpcResponse,
    serialize_observation,
)
from openenv.core.env_server.types import ResetResponse, StepResponse
from pydantic import BaseModel, Field, ValidationError

from sauda.serve import chats
from sauda.serve import game as served
from sauda.serve import leaderboard as boards
from sauda.serve.limits import Episodes, Limiter, Refused, address_of, describe_faults, json_object
from sauda.serve.mcp import ADDRESS as MCP_ADDRESS
from sauda.serve.mcp import NO_TOOLS
from sauda.serve.names import LONGEST_NAME, check_name
from sauda.serve.observations import SaudaObservation, SaudaState
from sauda.serve.openenv import LONGEST_ID, SaudaEnvironment
from sauda.serve.people import GAMES, export

CAPACITY = 64  # sessions over `/ws` at a time
ENTRIES_OF_ADDRESS, ENTRIES_SECONDS = 6, 3600.0  # of the leaderboard, within so long
REPLACED = {"/reset", "/step", "/state", "/health", "/mcp"}  # of the package's routes

DRAWN_LENGTH = len(uuid4().hex)
Id = Annotated[str, Field(min_length=1, max_length=LONGEST_ID)]
Label = Annotated[str, Field(min_length=1, max_length=LONGEST_ID - DRAWN_LENGTH - 1)]
IdInQuery = Annotated[Id, Query(description="The episode_id that reset returned in metadata.")]
LONGEST_REPLY = 10_000  # characters; a move is looked for in the first 4,000
UNKNOWN = "No episode of this id is kept; reset starts one and returns its id in metadata."
RESET_EXAMPLE = {"task": "bazaar/people", "seed": 7}
STEP_EXAMPLE = {
    "episode_id": "0f8fad5bd9cb469fa16570867728950e",
    "action": {"action_type": "offer", "price": 500},
}
ENTER_EXAMPLE = {"name": "rising bids", "task": "bazaar/people"}
TaskInQuery = Annotated[str, Query(description=f"One of {', '.join(boards.RANKED)}.")]
EntryInQuery = Annotated[str, Query(pattern="^[0-9a-f]{16}$", description="The id of an entry.")]


class Reset(BaseModel, extra="forbid", json_schema_extra={"examples": [{}, RESET_EXAMPLE]}):
    """What to play: a task and a seed, or a numbered task of a split."""

    task: str | None = None
    seed: int | str | None = Field(None, description="A whole number, also as text.")
    split: str | None = None
    index: int | None = None
    episode_id: Label | None = Field(
        None, description="Begins the id that is drawn; step takes the whole one, from metadata."
    )
    entry: str | None = Field(None, description="Token of a leaderboard entry: its next game.")


class Step(BaseModel, extra="forbid", json_schema_extra={"examples": [STEP_EXAMPLE]}):
    """A move in the episode of that id."""

    action: served.SaudaAction
    episode_id: Id
    timeout_s: float | None = None
    request_id: str | None = None


class Score(BaseModel):
    """How far an episode is, under the published names."""

    task: str
    score: float | None = Field(description="The grade in [-1, 1]; null until the end.")
    episodes_completed: int = Field(description="Deals closed; the arena's market counts as one.")
    total_episodes: int
    success: bool | None


class Enter(BaseModel, extra="forbid", json_schema_extra={"examples": [ENTER_EXAMPLE]}):
    """Who enters, on which task."""

    name: str = Field(max_length=4 * LONGEST_NAME, description="Of the agent, shown as text.")
    task: str = boards.RANKED[0]


class Reply(BaseModel, extra="forbid"):
    """A model's reply to the prompt of a game and step; without one the prompt is sent again."""

    token: str = Field(max_length=LONGEST_ID, description="The secret that entering gave.")
    game: int = 0
    step: int = 0
    reply: str | None = Field(None, max_length=LONGEST_REPLY)


class BoardRow(BaseModel):
    """A complete entry; `score` is its mean grade, low and high its 95% interval."""

    entry: str
    agent_name: str
    task: str
    score: float
    low: float
    high: float
    episodes_completed: int = Field(description="Games that were played to their end.")
    total_episodes: int = Field(description="All games; one that has no end counts -1.")
    ends: dict[str, int]
    seconds_per_move: float | None = Field(description="Median over the games; null if unknown.")
    timestamp: str = Field(description="When it entered, in UTC.")
    prompt: str = Field(description="Fingerprint of the prompt that models are given.")


class Withdraw(BaseModel, extra="forbid"):
    """Whose entry, or whose games of days, are to be deleted."""

    token: str = Field(max_length=LONGEST_ID, description="The secret that entering gave.")


class Withdrawn(BaseModel):
    """What was deleted for good."""

    removed: int = Field(description="Entries, or grades of days.")


class Rows(BaseModel):
    """The best entries of a task, of agents or of people."""

    task: str
    entries: list[BoardRow]
    total: int
    being_played: int
    withdrawn: int = Field(description="Entries that were begun, and removed by their entrants.")


class Problem(BaseModel):
    """Why a call was refused, in one sentence."""

    detail: str


PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": description}
    for status, description in (
        (400, "The call cannot be read"),
        (403, "The call came from another site's page"),
        (404, "There is no such episode"),
        (413, "The call is too large"),
        (421, "The page is not known under this name"),
        (422, "The call asks for something that does not exist"),
        (429, "Too many calls, episodes or entries"),
        (503, "The page is ending, or cannot store what was sent"),
    )
}


@contextmanager
def sentences() -> Iterator[None]:
    """Context: a ValueError or IndexError of what is called becomes a refusal of the call."""
    try:
        yield
    except ValidationError:  # an observation that does not fit its own type is no mistake of theirs
        raise
    except boards.Unavailable as error:
        raise Refused(503, str(error)) from None
    except (ValueError, IndexError) as error:
        raise Refused(422, str(error)) from None


def openenv_app() -> FastAPI:
    """The app, with room for CAPACITY sessions over `/ws`."""
    app = FastAPI(title="Sauda", description=served.ABOUT, version=served.VERSION, redoc_url=None)
    server = HTTPEnvServer(
        SaudaEnvironment, served.SentAction, SaudaObservation, max_concurrent_envs=CAPACITY,
        env_name=served.NAME, state_cls=SaudaState,
    )  # fmt: skip
    server.register_routes(app)
    app.router.routes[:] = [r for r in app.router.routes if r.path not in REPLACED]
    app.state.server, app.state.episodes = server, Episodes(UNKNOWN)
    _add_episodes(app, app.state.episodes)
    app.state.entries = Limiter(ENTRIES_OF_ADDRESS, seconds=ENTRIES_SECONDS)
    _add_entering(app, app.state)
    _add_leaderboard(app)
    _add_mcp(app)
    _add_refusals(app)
    return app


def _add_episodes(app: FastAPI, episodes: Episodes[SaudaEnvironment]) -> None:
    """Add `/reset` to `/score`, and `/tasks`. Whoever has the id of an episode plays it."""

    @app.post("/reset", responses=PROBLEMS, tags=["Episodes"])
    def reset(request: Request, body: Reset | None = None) -> ResetResponse:
        """Start an episode and return what the seat sees, with its id in `metadata`."""
        options = body.model_dump(exclude_none=True) if body else {}
        label = f"{options['episode_id']}-" if "episode_id" in options else ""
        options["episode_id"] = drawn = f"{label}{uuid4().hex}"
        environment = SaudaEnvironment()
        with sentences():
            observation = environment.reset(**options)
        episodes.keep(drawn, address_of(request.scope), environment)
        return ResetResponse(**serialize_observation(observation))

    @app.post("/step", responses=PROBLEMS, tags=["Episodes"])
    def step(body: Step) -> StepResponse:
        """Make a move in the episode that reset started."""
        with episodes.use(body.episode_id) as episode, sentences():
            observation = episode.content.step(body.action)
        return StepResponse(**serialize_observation(observation))

    @app.get("/state", responses=PROBLEMS, tags=["Episodes"])
    def state(episode_id: IdInQuery | None = None) -> SaudaState:
        """The public state of an episode; without an id, that of no episode."""
        if episode_id is None:
            return SaudaEnvironment().state
        with episodes.use(episode_id) as episode:
            return episode.content.state

    @app.get("/score", responses=PROBLEMS, tags=["Episodes"])
    def score(episode_id: IdInQuery) -> Score:
        """The grade of the episode of that id, once it is over."""
        with episodes.use(episode_id) as episode:
            at = episode.content.state
        played = {"episodes_completed": at.deals_closed, "total_episodes": at.deals}
        return Score(task=at.task, score=at.grade, success=at.success, **played)

    @app.get("/tasks", tags=["Tasks"])
    def tasks() -> dict[str, served.TaskCard]:
        """Every task by name."""
        return served.task_cards()


def _add_mcp(app: FastAPI) -> None:
    """Add `/mcp`, which has no tools: reset and step are for whoever runs the agent.

    Where agents may look for tools as well, by a slash or by the addresses of Gradio's own server,
    they read the same answer, since a client of MCP shows no other.
    """

    @app.post(f"{MCP_ADDRESS}/{{path:path}}", include_in_schema=False)
    @app.post("/mcp/", include_in_schema=False)
    @app.post("/mcp", tags=["MCP"])
    async def mcp(request: Request) -> dict[str, Any]:
        """Answer JSON-RPC 2.0. The list of tools is empty: episodes are played over `/ws`."""
        try:
            call = JsonRpcRequest(**json_object(await request.body(), "The body of a call"))
        except ValidationError:
            return _error(JsonRpcErrorCode.INVALID_REQUEST, "This is no request of JSON-RPC 2.0.")
        except ValueError as error:
            return _error(JsonRpcErrorCode.PARSE_ERROR, str(error))
        if call.method == "tools/list":
            return JsonRpcResponse.success({"tools": []}, call.id).model_dump()
        return _error(JsonRpcErrorCode.METHOD_NOT_FOUND, NO_TOOLS, call.id)


def _error(code: JsonRpcErrorCode, sentence: str, number: Any = None) -> dict[str, Any]:
    return JsonRpcResponse.error_response(code, sentence, request_id=number).model_dump()


def _add_refusals(app: FastAPI) -> None:
    """Answer a mistake of the caller with a sentence, and quote nothing of what was sent."""

    @app.exception_handler(served.UnknownSplit)
    @app.exception_handler(Refused)
    def answer_refusal(request: Request, error: Refused | served.UnknownSplit) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, getattr(error, "status", 422))

    @app.exception_handler(RequestValidationError)
    def answer_unreadable(request: Request, error: RequestValidationError) -> JSONResponse:
        inside = [fault | {"loc": fault["loc"][1:]} for fault in error.errors()]
        return JSONResponse({"detail": describe_faults(inside)}, 422)


BOARD: dict[str, Any] = {"responses": PROBLEMS, "tags": ["Leaderboard"]}  # of its routes


def _add_entering(app: FastAPI, state: Any) -> None:
    """Add `/leaderboard/enter`, `turn`, `typical` and `withdraw`."""

    @app.post("/leaderboard/enter", **BOARD)
    def enter(request: Request, body: Enter) -> boards.Entered:
        """Enter an agent. Its games are drawn now and played by reset with the token."""
        with sentences():
            name, task = check_name(body.name), boards.check_task(body.task)
            rules = boards.rules_of(task)
            boards.own_board().check_free(name, task, rules)
        address = address_of(request.scope)
        if not state.entries.take(address):
            minutes = math.ceil(state.entries.seconds_left(address) / 60)
            raise Refused(
                429,
                f"An address may enter {ENTRIES_OF_ADDRESS} times an hour; try again in"
                f" {minutes} min.",
            )
        with sentences():
            return boards.own_board().enter(name, task, rules)

    @app.post("/leaderboard/turn", **BOARD)
    def turn(body: Reply) -> chats.Turn:
        """Take a language model's reply as its move, and return the prompt of its next one."""
        with sentences():
            return chats.take_turn(body.token, body.game, body.step, body.reply)

    @app.get("/leaderboard/typical", **BOARD)
    def typical(task: TaskInQuery = boards.RANKED[0]) -> chats.Typical:
        """About how much a language model reads and writes in an entry of a task."""
        with sentences():
            return chats.typical_entry(boards.check_task(task))

    @app.post("/leaderboard/withdraw", **BOARD)
    def withdraw(body: Withdraw) -> Withdrawn:
        """Delete an entry with its name, games and moves; who enters can take all of it back."""
        with sentences():
            removed = boards.own_board().withdraw(body.token)
        if not removed:
            raise Refused(404, "Nothing is stored under this token.")
        return Withdrawn(removed=removed)


def _add_leaderboard(app: FastAPI) -> None:
    """Add `/leaderboard` with `games` and `people` below it."""

    @app.get("/leaderboard", **BOARD)
    def leaderboard(
        task: TaskInQuery = boards.RANKED[0],
        limit: Annotated[int, Query(ge=1, le=boards.SHOWN)] = boards.SHOWN,
        offset: Annotated[int, Query(ge=0, lt=2**31)] = 0,
        people: Annotated[bool, Query(description=f"Of people: {GAMES} games each.")] = False,
    ) -> Rows:
        """The entries of a task whose games are all over, the best mean grade first."""
        with sentences():
            rules = boards.rules_of(boards.check_task(task))
            now = boards.own_board().rank(task, rules, limit, offset, people)
        rows = [row_of(entry) for entry in now.entries]
        counts = {"being_played": now.being_played, "withdrawn": now.withdrawn}
        return Rows(task=task, entries=rows, total=now.complete, **counts)

    @app.get("/leaderboard/games", **BOARD)
    def games(entry: EntryInQuery) -> dict[str, Any]:
        """The record of a complete entry: seeds and actions, from which its row can be verified."""
        board = boards.own_board()
        with sentences():
            known = board.entry(entry)
            if known is not None:
                return boards.record_of(board, known)
        raise Refused(404, "No complete entry has this id; its games are shown once all are over.")

    @app.get("/leaderboard/people", **BOARD)
    def people_and_sauda() -> dict[str, Any]:
        """People against Sauda: mean grades over whole entries, without single games."""
        with sentences():
            return export(boards.own_board())


def row_of(entry: boards.Entry) -> BoardRow:
    """The row of a complete entry."""
    return BoardRow(
        entry=entry.id,
        agent_name=entry.name,
        task=entry.task,
        score=entry.grade.mean,
        low=entry.grade.low,
        high=entry.grade.high,
        episodes_completed=entry.n - entry.count[boards.UNFINISHED],
        total_episodes=entry.n,
        ends=dict(entry.count),
        seconds_per_move=entry.pace,
        timestamp=boards.in_utc(entry.created),
        prompt=entry.prompt,
    )
