"""Answers MCP over HTTP: one POST a message, without sessions of the protocol.

A tool is a function of `moves.py` or `lookups.py`; its signature is its schema. A mistake of the
caller is answered as a tool's error of one sentence, which an agent can read and act on.
"""

import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from anyio.to_thread import run_sync
from mcp.server.fastmcp.tools import Tool
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from mcp.types import Tool as ToolDescription
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from env import IllegalAction
from sauda.fairness import FairGate
from sauda.records.kinds import ArtifactError
from sauda.serve.address import address_of
from sauda.serve.episodes import Refused
from sauda.serve.mcp import lookups, moves
from sauda.serve.mcp.room import Room, new_seats
from sauda.serve.openenv.environment import ABOUT, NAME, VERSION

LOG = logging.getLogger(__name__)
INSTRUCTIONS = f"""{ABOUT} You play one seat; scripts play the others.
1. list_tasks names the games: in bazaar/open you buy, in bazaar/seller_brief you sell, in the arena
   you run a lab.
2. new_game seats you and returns a game_id, which every other tool takes.
3. Play by offer, accept, reject and walk_away until `over` is true; in the arena by arena_action.
4. review_game then tells what was hidden, and what an oracle would have made of the game.
Prices are rupees in the bazaar and credits in the arena. A grade is 1 at best. In the bazaar it is
your share of what both sides could gain together; where no deal can gain both sides something, to
walk away is best. In the arena it is what your lab gained beyond what it could gain alone, as a
share of what its jobs are worth. Below 0 you lost by your deals.
What a seat hides stays hidden until its game is over."""
FAILED = "The tool failed; the fault is the server's, and its log tells more."


class McpServer:
    """The app that answers agents, its gate, and the games that they play."""

    def __init__(self, gate: FairGate) -> None:
        self.gate = gate
        self.seats = new_seats()
        self._server = Server(NAME, VERSION, INSTRUCTIONS)
        self._server.list_tools()(self._listed)
        # Arguments are checked below, where a fault becomes a sentence.
        self._server.call_tool(validate_input=False)(self._call)
        self._manager = StreamableHTTPSessionManager(
            self._server, json_response=True, stateless=True
        )

    async def app(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one message, in ASGI; while `running`."""
        await self._manager.handle_request(scope, receive, send)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Context in which the app answers; it can be entered once."""
        async with self._manager.run():
            yield

    async def _listed(self) -> list[ToolDescription]:
        """The tools, or those that the address names, as Gradio's page on its API offers."""
        chosen = self._server.request_context.request.query_params.get("tools")
        return [each for each in DESCRIBED if chosen is None or each.name in chosen.split(",")]

    async def _call(
        self, name: str, arguments: Mapping[str, Any]
    ) -> dict[str, Any] | CallToolResult:
        room = Room(self.seats, address_of(self._server.request_context.request.scope))
        try:
            return await run_sync(called(name, arguments, room))
        except (Refused, IllegalAction, ArtifactError) as error:
            return failed(str(error))
        except Exception:  # the package would send its text to the caller, and log nothing
            LOG.exception("the tool %s failed", name)
            return failed(FAILED)


def tools() -> dict[str, Tool]:
    """Every tool by name, with the schema of its arguments."""
    functions = (*lookups.TOOLS, *moves.TOOLS)
    return {
        each.__name__: Tool.from_function(each, context_kwarg="room", structured_output=False)
        for each in functions
    }


TOOLS = tools()
READ_ONLY = {each.__name__ for each in lookups.TOOLS}
DESCRIBED = [
    ToolDescription(
        name=name,
        description=tool.description,
        inputSchema=tool.parameters,
        annotations=ToolAnnotations(readOnlyHint=name in READ_ONLY, openWorldHint=False),
    )
    for name, tool in TOOLS.items()
]


async def schema(request: Request) -> Response:
    """The tools as Gradio's own server would list them: for its page on the API, and for the Hub.

    Both ask for this list without speaking MCP.
    """
    meta = {"file_data_present": False, "mcp_type": "tool"}
    tools = [
        each.model_dump(include={"name", "description", "inputSchema"}) | {"meta": meta}
        for each in DESCRIBED
    ]
    return JSONResponse(tools)


def called(name: str, arguments: Mapping[str, Any], room: Room) -> Callable[[], dict[str, Any]]:
    """The call of a tool for the caller in `room`, still to be made.

    Raises Refused where there is no such tool or its arguments do not fit.
    """
    tool = TOOLS.get(name)
    if tool is None:
        raise Refused(404, f"There is no tool of that name; tools are {', '.join(TOOLS)}.")
    parameters = tool.parameters.get("properties", {})
    if not arguments.keys() <= parameters.keys():
        raise Refused(
            422, f"The tool {name} takes {', '.join(parameters) or 'no arguments'} alone."
        )
    needed = tool.parameters.get("required", ())
    # Some clients fill in every argument; of one that may be left out, "" means that it was.
    given = {each: value for each, value in arguments.items() if value != "" or each in needed}
    try:
        read = tool.fn_metadata.pre_parse_json(given)
        checked = tool.fn_metadata.arg_model.model_validate(read)
    except ValidationError as error:
        raise Refused(422, faults(error)) from None
    return partial(tool.fn, room, **checked.model_dump_one_level())


def faults(error: ValidationError) -> str:
    """What is wrong with the arguments of a call, the first faults of them; quotes no value."""
    found = {  # by place; where one of several types would do, of the last one
        ".".join(str(part) for part in fault["loc"] if part not in ("int", "float"))[:80]: fault[
            "msg"
        ]
        for fault in error.errors(include_url=False, include_input=False)
    }
    told = [f"{place}: {what}" for place, what in found.items()][:3]
    return f"The arguments do not fit the tool: {'; '.join(told)}."


def failed(sentence: str) -> CallToolResult:
    """The answer of a tool that did nothing, and why."""
    return CallToolResult(content=[TextContent(type="text", text=sentence)], isError=True)
