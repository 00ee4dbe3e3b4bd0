"""Both games for an agent that connects by MCP and plays as a visitor does.

A tool is a function below; its signature is its schema, and its docstring and the descriptions of
its parameters are what an agent reads. The server answers one POST per message, without sessions of
the protocol. A mistake of the caller is answered as a tool's error of one sentence. A client with
MCP Apps (SEP-1865) draws a game in its chat by `table.html`; all others read the same text.

A game is played at a seed that is drawn for it: no caller can choose one, since a seed stands for
every hidden value and recorded games tell what theirs hid. The id of a game cannot be guessed, so
whoever has it may play on, from any network address.
"""

import csv
import json
import logging
import secrets
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, Literal

from anyio.to_thread import run_sync
from mcp.server.fastmcp.tools import Tool
from mcp.server.lowlevel import Server
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.types import CallToolResult, Resource, TextContent, ToolAnnotations
from mcp.types import Tool as ToolDescription
from pydantic import AnyUrl, BaseModel, ConfigDict, Field, ValidationError, create_model
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from env import TASKS, IllegalAction, arena, episode
from sauda.fairness import FairGate
from sauda.games import DEFAULT_TASK, game_of
from sauda.games.transcript import to_json
from sauda.language.lines import ENGLISH, HINDI, drawings, name_in, translate_phrases, translation
from sauda.records.kinds import ArtifactError
from sauda.records.store import ROOT, load
from sauda.serve import game as served
from sauda.serve.limits import Episodes, Refused, address_of, describe_faults
from sauda.serve.observations import arena_view, bazaar_view, outcome_of
from sauda.sessions.review import oracle

LOG = logging.getLogger(__name__)
ADDRESS = "/gradio_api/mcp"  # where Gradio's own server would be, which agents expect
NO_TOOLS = f"Agents find tools at {ADDRESS} of this page, over streamable HTTP, trainers /ws."
KEPT_SECONDS = 3600.0  # without a call; as long as a visitor's game on the page
UNKNOWN = "There is no game of this game_id, or it was left for too long; new_game starts one."
UNNAMED = "In the GPU arena, name the offer_id of an offer addressed to you."
OVER = "This game is over; review_game tells how it went, and new_game starts another."
FAILED = "The tool failed; the fault is the server's, and its log tells more."
MOST_ACTIONS = 40  # of the legal ones, listed at a time
LONGEST_NAME = 64  # characters of a task, a policy or the id of a game
INSTRUCTIONS = f"{served.ABOUT} {served.RULES['mcp']}"

TABLE, ARENA = "ui://sauda/table", "ui://sauda/arena"  # the view of either game
APP = "text/html;profile=mcp-app"
_FOLDER = Path(__file__).parent
PICTURES = _FOLDER / "pictures.svg"  # a symbol per kind of goods and of player

SHOWCASE, BEFORE_AFTER = "episodes/showcase.json", "episodes/before_after.json"
GRADES = {
    "bazaar": (
        "evaluation/classic-holdout.json",
        "evaluation/market-holdout.json",
        "evaluation/model-comparison.json",
    ),
    "arena": ("evaluation/arena-holdout.json", "evaluation/arena-model-comparison.json"),
}
Row = dict[str, Any]


@cache
def read_grades(file: str) -> tuple[Row, ...]:
    """One row per task and policy of an evaluation: n, mean grade with 95% interval, source.

    Raises ArtifactError.
    """
    artifact = load(file)
    made = {name: artifact.made.get(name) for name in ("command", "commit", "created")}
    source = {"file": f"artifacts/{file}", "origin": artifact.origin, **made}
    rows = []
    for row in artifact.data.rows:
        grade = {"mean": row.grade.mean, "low": row.grade.low, "high": row.grade.high}
        named = {"task": row.task, "policy": row.policy, "n": row.n}
        rows.append(named | {"grade": grade, "source": source})
    return tuple(rows)


def grades_of(task_name: str) -> list[Row]:
    """The measured grades of a task, one row per policy in the learner's seat.

    A file that is not there yet has none.
    """
    files = [file for file in GRADES[game_of(task_name).name] if (ROOT / file).exists()]
    return [row for file in files for row in read_grades(file) if row["task"] == task_name]


@cache
def read_games() -> tuple[Row, ...]:
    """Every recorded game of scripts, then those of a model before and after training."""

    shown = load(SHOWCASE).data.episodes
    pairs = [pair for task in load(BEFORE_AFTER).data.tasks for pair in task.chosen]
    rows = [{"file": f"artifacts/{SHOWCASE}", **recorded.as_json()} for recorded in shown]
    for recorded in (game for pair in pairs for game in (pair.before, pair.after)):
        row = {"file": f"artifacts/{BEFORE_AFTER}", **recorded.as_json()}
        row.pop("replies")  # the moves hold what they said
        rows.append(row)
    return tuple(rows)


# The fields of an action, also as they follow from the game, or why there is none.
Fields = dict[str, Any] | str
Move = Fields | Callable[[served.ServedGame], Fields]


@dataclass(frozen=True)
class Room:
    """The games that are kept, for a caller at one network address."""

    games: Episodes[served.ServedGame]
    address: str

    def game(self, game_id: str) -> served.ServedGame:
        """The game as it is; Refused where none is kept under this id."""
        with self.games.use(game_id) as held:
            return held.content

    def move(self, game_id: str, bazaar: Move, arena: Move) -> Row:
        """The game after the move that is meant there, and after the answers to it.

        Raises IllegalAction with one sentence where the rules refuse it; then the game is as it
        was, but for one of the actions that it may take in all.
        """
        with self.games.use(game_id) as held:
            if held.content.over:
                raise IllegalAction(OVER)
            chosen = arena if is_arena(held.content) else bazaar
            fields = chosen(held.content) if callable(chosen) else chosen
            if isinstance(fields, str):
                raise IllegalAction(fields)
            held.content = game = served.act(
                held.content, served.SaudaAction(**fields), time.monotonic()
            )
        if game.error:
            raise IllegalAction(f"The rules refuse this move: {game.error}. Nothing has changed.")
        return view(game)


def view(game: served.ServedGame) -> Row:
    """The game as its player's seat sees it; once it is over, with how it ended."""
    kind, obs = game_of(game.task_name).name, game.observation
    results = obs.own.results if kind == "arena" else ()
    return {
        "game_id": game.episode_id,
        "task": game.task_name,
        "seat": game.task.learner,
        "over": game.over,
        **({"last_action": results[0]._asdict()} if results else {}),
        kind: bazaar_view(obs) if kind == "bazaar" else arena_view(obs),
        **({"outcome": outcome_of(game)} if game.over else {}),
    }


def is_arena(game: served.ServedGame) -> bool:
    """Whether a game is one of the GPU arena."""
    return game_of(game.task_name).name == "arena"


def check_task(task: str) -> str:
    """The name of a task; Refused, with those there are, where it is none."""
    if task not in TASKS:
        raise Refused(422, f"There is no task of that name; tasks are {', '.join(TASKS)}.")
    return task


# The tools that make a move; each returns the game as the player's seat sees it afterwards

Name = Annotated[str, Field(max_length=LONGEST_NAME)]
GameId = Annotated[Name, Field(description="What new_game returned.")]
Message = Annotated[
    str,
    Field(
        max_length=served.LONGEST_TEXT,
        description=f"What you say; in the arena at most {arena.LONGEST_MESSAGE} characters.",
    ),
]
OfferId = Annotated[
    served.Identifier | None,
    Field(description="GPU arena: which of the open offers to you; else none."),
]
# Without the bazaar's fields, which would mislead an agent.
ArenaAction: type[BaseModel] = create_model(
    "ArenaAction",
    __config__=ConfigDict(extra="forbid"),
    __doc__="One action of a lab; fields that its type does not name stay out.",
    __validators__={"blank_is_absent": served.BLANK_IS_ABSENT},
    action_type=(Literal[served.ARENA], Field(description=served.describe_arena_types())),
    **{
        name: (field.annotation, field)
        for name, field in served.SaudaAction.model_fields.items()
        if name in served.FIELDS["arena"]
    },
)


def new_game(
    room: Room, task: Annotated[Name, Field(description="A name of list_tasks.")] = DEFAULT_TASK
) -> Row:
    """Sit down to a new game of a task, against scripted players.

    The answer holds the game_id that all other tools take, and what your seat sees.

    Bazaar: `own.reservation` is your limit: what the item is worth to you. A buyer gains by paying
    less, a seller by getting more; you lose nothing by walking away from a bad deal. `asks` and
    `bids` are the prices so far. Each move is a round of `rounds`; after the last there is no deal.
    Where `own.discount` is set, each round after the first multiplies your gain by it, and a deal
    after the round `own.deadline` gains nothing.

    GPU arena: `own.jobs` earn base_value x urgency_multiplier once blocks with their GPU hours are
    booked before `deadline_round`. `own.batna` is what your lab can gain alone; trade for more.
    """
    game = served.start(check_task(task), None, secrets.token_urlsafe(16), time.monotonic())
    room.games.keep(game.episode_id, room.address, game)
    return view(game)


def offer(
    room: Room,
    game_id: GameId,
    price: Annotated[
        served.Number, Field(description="In rupees: your bid as buyer, your ask as seller.")
    ],
    message: Message = "",
    extras: Annotated[
        served.Identifiers | None,
        Field(description="What a bid asks for at its price, of the table's `extras`; else none."),
    ] = None,
) -> Row:
    """Bazaar: name a price. The other side answers at once: it accepts, counters or walks away."""
    bid = {"action_type": "offer", "price": price, "message": message, "extras": extras or []}
    elsewhere = "In the GPU arena, make an offer by arena_action with send_offer."
    return room.move(game_id, bid, elsewhere)


def accept(room: Room, game_id: GameId, offer_id: OfferId = None, message: Message = "") -> Row:
    """Accept the other side's last price; in the GPU arena, an offer that is addressed to you."""
    answer = {"offer_id": offer_id, "message": message}
    addressed = UNNAMED if offer_id is None else answer | {"action_type": "accept_offer"}
    return room.move(game_id, answer | {"action_type": "accept"}, addressed)


def reject(room: Room, game_id: GameId, offer_id: OfferId = None, message: Message = "") -> Row:
    """Refuse the other side's last price and stand by your own, which takes a round.

    In the GPU arena, turn down an offer that is addressed to you.
    """
    answer = {"offer_id": offer_id, "message": message}

    def stand(game: served.ServedGame) -> Fields:
        table = game.observation.table
        prices = table.asks if game.task.learner == "seller" else table.bids
        if not prices:
            return "You have named no price that could stand; make an offer."
        made = [move.action for move in table.moves if move.agent == game.task.learner]
        extras = sorted(made[-1].extras) if made else []  # sealed bids are no moves of the table
        return answer | {"action_type": "offer", "price": prices[-1], "extras": extras}

    addressed = UNNAMED if offer_id is None else answer | {"action_type": "reject_offer"}
    return room.move(game_id, stand, addressed)


def walk_away(room: Room, game_id: GameId, message: Message = "") -> Row:
    """Leave the deal without an agreement; in the GPU arena, leave the market and settle."""
    words = {"message": message}
    return room.move(game_id, words | {"action_type": "walk"}, words | {"action_type": "finish"})


def arena_action(room: Room, game_id: GameId, action: ArenaAction) -> Row:
    """GPU arena: take one of the fourteen actions of a lab; legal_actions shows those open to you.

    `last_action` of the answer says what came of it. One that the rules refuse uses up your turn.
    """
    elsewhere = "In the bazaar, play by offer, accept, reject and walk_away."
    return room.move(game_id, elsewhere, action.model_dump(exclude_defaults=True))


# The tools that only read

TaskName = Annotated[Name, Field(description="A name of list_tasks, such as bazaar/people.")]


def list_tasks(room: Room) -> Row:
    """The tasks by name: what is played, your seat, and the least grade that is a success."""
    return {"tasks": {name: card.model_dump() for name, card in served.task_cards().items()}}


def view_game(room: Room, game_id: GameId) -> Row:
    """Your game as your seat sees it now."""
    return view(room.game(game_id))


def legal_actions(
    room: Room,
    game_id: GameId,
    action_type: Annotated[
        Literal[served.ARENA] | None,
        Field(description="List those of this type; else one of each."),
    ] = None,
) -> Row:
    """GPU arena: how many actions of each type are open to you now, with examples to take.

    There are more prices and sets of blocks than these.
    """
    game = room.game(game_id)
    if not is_arena(game):
        raise IllegalAction(
            "In the bazaar you may always offer or walk_away; accept needs a price of the other"
            " side, and reject one of your own."
        )
    legal = () if game.over else arena.legal_actions(game.observation)
    actions = [each.as_json() for each in legal]
    if action_type is None:
        examples = list({each["action_type"]: each for each in reversed(actions)}.values())
    else:
        examples = [each for each in actions if each["action_type"] == action_type]
    counts = Counter(each["action_type"] for each in actions)
    return {"counts": dict(counts), "actions": examples[:MOST_ACTIONS]}


def get_results(room: Room, task: TaskName) -> Row:
    """Measured results of a task: each policy's mean grade on hold-out seeds, with n and 95%
    interval, and the file, command and commit behind it.
    """
    return {"task": task, "results": grades_of(check_task(task))}


def get_transcripts(
    room: Room,
    task: TaskName,
    policy: Annotated[
        Name | None, Field(description="Whose games to return with every move; else a list.")
    ] = None,
) -> Row:
    """Recorded games of a task: who played, how each ended, and move by move for one policy."""
    check_task(task)
    games = [row for row in read_games() if row["task"] == task]
    if policy is None:
        games = [{name: row[name] for name in row if name != "moves"} for row in games]
    else:
        games = [row for row in games if row["policy"] == policy]
    return {"task": task, "games": games}


def review_game(room: Room, game_id: GameId) -> Row:
    """After the end of your game: the outcome, what was hidden, every move.

    In the open market also what an oracle would have won.

    While the game runs this is refused, since all of it would give the other side away.
    """
    game = room.game(game_id)
    if not game.over:
        raise Refused(403, "This game still runs; what it hides is told when it is over.")
    informed = oracle(game.task_name, game.play.seed)
    deals = () if is_arena(game) else game.play.state.private["nature"]
    limits = [{seat: getattr(deal, seat)["reservation"] for seat in ("buyer", "seller")}
              for deal in deals]  # fmt: skip
    return {
        "outcome": outcome_of(game),
        "limits": limits,
        "oracle": None if informed is None else asdict(informed),
        "transcript": to_json(episode(game.task, game.play), "you"),
    }


# What a client with MCP Apps draws


@cache
def app_page() -> str:
    """The view of both games: one document that loads nothing and speaks with its host alone."""
    page, style, script, words = (
        (_FOLDER / f"table{end}").read_text(encoding="utf-8")
        for end in (".html", ".css", ".js", "_words.csv")
    )
    by_key = {row.pop("key"): row for row in csv.DictReader(words.splitlines())}
    page = page.replace("<!-- pictures -->", PICTURES.read_text(encoding="utf-8"))
    page = page.replace("/* style */", style)
    return page.replace("/* script */", f"const WORDS = {json.dumps(by_key)};\n{script}")


def words_in(language: str, game: Row) -> Row:
    """A bazaar's item in a caller's language and its drawing, and a gloss of each move's words.

    A gloss follows from the public words alone; it is "" where they need none.
    """
    item, moves = game["bazaar"]["item"], game["bazaar"]["moves"]
    words = ["" if move["agent"] == game["seat"] else move["message"] for move in moves]
    return {
        **{name: name_in(language, item[name]) for name in ("name", "condition")},
        "drawing": drawings()[item["name"]],
        "glosses": [gloss(text, language) for text in words],
    }


def gloss(words: str, language: str) -> str:
    """What a scripted player said, in `language`; "" where it is that, or a price alone."""
    if not any(map(str.isalpha, words)):
        return ""
    classic = "" if language == ENGLISH else translation(words, language)
    meant = classic or translate_phrases(words, language)
    return "" if meant == words else meant


MOVES = (new_game, offer, accept, reject, walk_away, arena_action)
READS = (list_tasks, view_game, legal_actions, get_results, get_transcripts, review_game)
TOOLS = {
    tool.__name__: Tool.from_function(tool, context_kwarg="room", structured_output=False)
    for tool in (*READS, *MOVES)
}
# Which view shows what a tool returns; one document draws whichever game it is.
DRAWN = dict.fromkeys((new_game, view_game, offer, accept, reject, walk_away), TABLE)
DRAWN[arena_action] = ARENA
DESCRIBED = [
    ToolDescription(
        name=name,
        description=tool.description,
        inputSchema=tool.parameters,
        annotations=ToolAnnotations(readOnlyHint=tool.fn in READS, openWorldHint=False),
        _meta={"ui": {"resourceUri": DRAWN[tool.fn]}} if tool.fn in DRAWN else None,
    )
    for name, tool in TOOLS.items()
]


class McpServer:
    """The app that answers agents, its gate, and the games that they play."""

    def __init__(self, gate: FairGate) -> None:
        self.gate = gate
        self.games = Episodes[served.ServedGame](UNKNOWN, KEPT_SECONDS)
        self._server = Server(served.NAME, served.VERSION, INSTRUCTIONS)
        self._server.list_tools()(self._list_tools)
        # Arguments are checked below, where a fault becomes a sentence.
        self._server.call_tool(validate_input=False)(self._call)
        self._server.list_resources()(self._list_views)
        self._server.read_resource()(self._read_view)
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

    async def _list_tools(self) -> list[ToolDescription]:
        """The tools, or those that the address names, as Gradio's page on its API offers."""
        chosen = self._server.request_context.request.query_params.get("tools")
        return [each for each in DESCRIBED if chosen is None or each.name in chosen.split(",")]

    async def _list_views(self) -> list[Resource]:
        """The views that a client with MCP Apps may draw."""
        names = {TABLE: "The bazaar's table", ARENA: "The GPU arena's market"}
        return [Resource(uri=AnyUrl(uri), name=names[uri], mimeType=APP) for uri in names]

    async def _read_view(self, uri: AnyUrl) -> list[ReadResourceContents]:
        if str(uri) not in (TABLE, ARENA):
            raise ValueError(f"There is no such resource; the views are {TABLE} and {ARENA}.")
        return [ReadResourceContents(app_page(), APP, {"ui": {"prefersBorder": True}})]

    async def _call(self, name: str, arguments: Mapping[str, Any]) -> CallToolResult:
        room = Room(self.games, address_of(self._server.request_context.request.scope))
        try:
            return answer(await run_sync(prepare_call(name, arguments, room)))
        except (Refused, IllegalAction, ArtifactError) as error:
            sentence = str(error)
        except Exception:  # the package would send its text to the caller, and log nothing
            LOG.exception("the tool %s failed", name)
            sentence = FAILED
        return CallToolResult(content=[TextContent(type="text", text=sentence)], isError=True)


def answer(row: Row) -> CallToolResult:
    """What a tool returns, as text and as data; for a view also its words in other languages."""
    languages = (ENGLISH, HINDI) if "bazaar" in row else ()
    return CallToolResult(
        content=[TextContent(type="text", text=json.dumps(row, indent=2))],
        structuredContent=row,
        _meta={"sauda/words": {each: words_in(each, row) for each in languages}},
    )


async def tool_schemas(request: Request) -> Response:
    """The tools as Gradio's own server would list them: for its page on the API, and for the Hub.

    Both ask for this list without speaking MCP.
    """
    meta = {"file_data_present": False, "mcp_type": "tool"}
    parts = {"name", "description", "inputSchema"}
    return JSONResponse([each.model_dump(include=parts) | {"meta": meta} for each in DESCRIBED])


def prepare_call(name: str, arguments: Mapping[str, Any], room: Room) -> Callable[[], Row]:
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
        faults = describe_faults(error.errors())
        raise Refused(422, f"The arguments do not fit the tool: {faults}.") from None
    return partial(tool.fn, room, **checked.model_dump_one_level())
