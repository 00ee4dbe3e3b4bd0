"""The web app of the OpenEnv environment.

`/ws`, `/metadata`, `/schema` and the task routes are those of the package `openenv`. Its `/reset`
and `/step` forget each episode at once; ours keep one under the id that its caller names. `/tasks`
and `/score` are the published convenience routes.
"""

from typing import Annotated, Any

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
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sauda.serve.address import address_of
from sauda.serve.episodes import Episodes, Refused, sentences
from sauda.serve.json_object import json_object
from sauda.serve.leaderboard.routes import add_leaderboard
from sauda.serve.openenv.actions import SaudaAction
from sauda.serve.openenv.environment import ABOUT, LONGEST_ID, NAME, VERSION, SaudaEnvironment
from sauda.serve.openenv.observations import SaudaObservation, SaudaState
from sauda.serve.openenv.task_list import TaskCard, UnknownSplit, task_cards

CAPACITY = 64  # sessions over `/ws` at a time
REPLACED = {"/reset", "/step", "/state", "/health", "/mcp"}  # of the package's routes

Id = Annotated[str, Field(min_length=1, max_length=LONGEST_ID)]
IdInQuery = Annotated[Id, Query(description="The id under which reset kept the episode.")]
UNKNOWN = "You have no episode of this id; reset starts one under the id you name."
RESET_EXAMPLE = {"task": "bazaar/open", "seed": 7, "episode_id": "my-episode"}
STEP_EXAMPLE = {"episode_id": "my-episode", "action": {"action_type": "offer", "price": 500}}


class Reset(BaseModel):
    """What to play: a task and a seed, or a numbered task of a split."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{}, RESET_EXAMPLE]})

    task: str | None = None
    seed: int | str | None = Field(None, description="A whole number, also as text.")
    split: str | None = None
    index: int | None = None
    episode_id: Id | None = Field(None, description="Keeps the episode for step under this id.")
    entry: str | None = Field(None, description="Token of a leaderboard entry: its next game.")


class Step(BaseModel):
    """A move in the episode of that id."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [STEP_EXAMPLE]})

    action: SaudaAction
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


def openenv_app() -> FastAPI:
    """The app, with room for CAPACITY sessions over `/ws`."""
    app = FastAPI(title="Sauda", description=ABOUT, version=VERSION, redoc_url=None)
    server = HTTPEnvServer(
        SaudaEnvironment,
        SaudaAction,
        SaudaObservation,
        max_concurrent_envs=CAPACITY,
        env_name=NAME,
        state_cls=SaudaState,
    )
    server.register_routes(app)
    app.router.routes[:] = [r for r in app.router.routes if r.path not in REPLACED]
    app.state.server, app.state.episodes = server, Episodes(UNKNOWN)
    _add_episodes(app, app.state.episodes)
    _add_tasks(app)
    add_leaderboard(app, PROBLEMS)
    _add_mcp(app)
    _add_refusals(app)
    return app


def _add_episodes(app: FastAPI, episodes: Episodes[SaudaEnvironment]) -> None:
    """Add `/reset`, `/step`, `/state` and `/score`. An id counts for the address that chose it."""

    def key(request: Request, episode_id: str) -> tuple[str, str]:
        return address_of(request.scope), episode_id

    @app.post("/reset", responses=PROBLEMS, tags=["Episodes"])
    def reset(request: Request, body: Reset | None = None) -> ResetResponse:
        """Start an episode and return what the seat sees. It is kept where you name an id."""
        options = body.model_dump(exclude_none=True) if body else {}
        environment = SaudaEnvironment()
        with sentences():
            observation = environment.reset(**options)
        if "episode_id" in options:
            episode = key(request, options["episode_id"])
            episodes.keep(episode, address_of(request.scope), environment)
        return ResetResponse(**serialize_observation(observation))

    @app.post("/step", responses=PROBLEMS, tags=["Episodes"])
    def step(request: Request, body: Step) -> StepResponse:
        """Make a move in the episode that you named at reset."""
        with episodes.using(key(request, body.episode_id)) as environment, sentences():
            observation = environment.step(body.action)
        return StepResponse(**serialize_observation(observation))

    @app.get("/state", responses=PROBLEMS, tags=["Episodes"])
    def state(request: Request, episode_id: IdInQuery | None = None) -> SaudaState:
        """The public state of the episode of that id; of no episode without one."""
        if episode_id is None:
            return SaudaEnvironment().state
        with episodes.using(key(request, episode_id)) as environment:
            return environment.state

    @app.get("/score", responses=PROBLEMS, tags=["Episodes"])
    def score(request: Request, episode_id: IdInQuery) -> Score:
        """The grade of the episode of that id, once it is over."""
        with episodes.using(key(request, episode_id)) as environment:
            at = environment.state
        return Score(
            task=at.task,
            score=at.grade,
            episodes_completed=at.deals_closed,
            total_episodes=at.deals,
            success=at.success,
        )


def _add_tasks(app: FastAPI) -> None:
    """Add `/tasks`."""

    @app.get("/tasks", tags=["Tasks"])
    def tasks() -> dict[str, TaskCard]:
        """Every task by name."""
        return task_cards()


def _add_mcp(app: FastAPI) -> None:
    """Add `/mcp`, which has no tools: reset and step are for whoever runs the agent."""

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
        return _error(JsonRpcErrorCode.METHOD_NOT_FOUND, "Episodes are played over /ws.", call.id)


def _error(code: JsonRpcErrorCode, sentence: str, number: Any = None) -> dict[str, Any]:
    return JsonRpcResponse.error_response(code, sentence, request_id=number).model_dump()


def _add_refusals(app: FastAPI) -> None:
    """Answer a mistake of the caller with a sentence, and quote nothing of what was sent."""

    @app.exception_handler(Refused)
    def refused(request: Request, error: Refused) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, error.status)

    @app.exception_handler(UnknownSplit)
    def unknown(request: Request, error: UnknownSplit) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, 422)

    @app.exception_handler(RequestValidationError)
    def unread(request: Request, error: RequestValidationError) -> JSONResponse:
        faults = [
            f"{'.'.join(map(str, fault['loc'][1:])) or 'the call'}: {fault['msg']}"
            for fault in error.errors()[:5]
        ]
        return JSONResponse({"detail": "; ".join(faults)}, 422)
