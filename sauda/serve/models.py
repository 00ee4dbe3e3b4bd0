"""Language models of this project behind OpenAI's chat protocol, for whatever speaks it.

A chat without a temperature, or at 0, is answered as the recorded games were played: the likeliest
move, the median price, a drawn sentence. Another temperature draws every token. The client sends
the prompt of a game (`env.prompt_of`), and its schema as `response_format` where moves must be
legal. A reply ends with its first JSON object, since that is a move.
"""

import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal
from uuid import uuid4

import llguidance
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, BeforeValidator, Field, ValidationError
from starlette.middleware.cors import CORSMiddleware

from sauda.fairness import Limits, Visitor
from sauda.games.adapter import Reply, Schema
from sauda.llm.engine import DEFAULT_SAMPLING
from sauda.llm.server import ModelWorker, ReplyService
from sauda.llm.types import NotReady, ReplyError, ReplyRefused, ReplyTimeout
from sauda.serve.limits import Refused, address_of, describe_faults, json_object

MOST_BYTES = 128 * 1024  # of a body
MOST_CHARACTERS = 24_000  # of a chat: the small model reads 8,192 tokens
MOST_TOKENS = 512  # of a reply
LIMITS = Limits(running=6, running_of_address=6, waiting_of_address=64, waiting=256)
IGNORED = {"user", "metadata", "store", "parallel_tool_calls"}  # options that change no reply
NEUTRAL = (None, False, 0, "", [], {})  # values by which an option asks for nothing
STATUS = {ReplyRefused: 429, NotReady: 503, ReplyTimeout: 504}  # of errors; of others 502


class Part(BaseModel):
    """A text among the parts of a message."""

    type: Literal["text"]
    text: str


def in_one(content: Any) -> Any:
    """A text of several parts as one."""
    if not isinstance(content, list):
        return content
    return "".join(Part.model_validate(part).text for part in content)


class Message(BaseModel):
    """A message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: Annotated[str, BeforeValidator(in_one)]


class Format(BaseModel):
    """What a reply is: free text, or an object of a schema."""

    type: Literal["text", "json_object", "json_schema"]
    json_schema: dict[str, Any] = {}


class Chat(BaseModel, extra="forbid"):
    """A request for a reply."""

    model: str
    messages: Annotated[list[Message], Field(min_length=1, max_length=256)]
    stream: bool = False
    stream_options: dict[str, Any] = {}
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    top_p: Annotated[float, Field(gt=0, le=1)] = DEFAULT_SAMPLING.top_p
    max_tokens: Annotated[int, Field(ge=1)] = DEFAULT_SAMPLING.max_new_tokens
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    response_format: Format = Format(type="text")
    n: Literal[1] = 1
    id: str = Field(default_factory=lambda: f"chatcmpl-{uuid4().hex}")  # of the answer


def models_app(service: ReplyService, names: Sequence[str]) -> FastAPI:
    """The app that serves these models of `service`."""
    app = FastAPI(title="Sauda's models", description=__doc__, redoc_url=None)
    app.add_middleware(  # a page of any site may ask, since there is nothing here but replies
        CORSMiddleware, allow_origins=["*"], allow_methods=["*"], allow_headers=["*"],
        allow_private_network=True,
    )  # fmt: skip

    @app.get("/v1/models")
    def models() -> dict[str, Any]:
        """The models that can be asked."""
        about = {"object": "model", "created": 0, "owned_by": "sauda"}
        return {"object": "list", "data": [{"id": name, **about} for name in names]}

    @app.post("/v1/chat/completions", response_model=None)
    async def complete(request: Request) -> StreamingResponse | dict[str, Any]:
        """A reply to a chat, whole or as it grows."""
        asked = await read_chat(request)
        if asked.model not in names:
            raise Refused(404, f"the models of this server are {', '.join(names)}")
        chat = [message.model_dump() for message in asked.messages]
        if sum(len(message["content"]) for message in chat) > MOST_CHARACTERS:
            raise Refused(400, f"a chat has at most {MOST_CHARACTERS} characters")
        most = min(asked.max_completion_tokens or asked.max_tokens, MOST_TOKENS)
        drawn = {"temperature": asked.temperature, "median": asked.temperature == 0}
        sampling = replace(DEFAULT_SAMPLING, top_p=asked.top_p, max_new_tokens=most, **drawn)
        visitor = Visitor(uuid4().hex, address_of(request.scope))
        worker = ModelWorker(asked.model, service, asked.model, sampling, visitor)
        updates = worker.stream_async(chat, asked.seed, schema_of(asked.response_format))
        pieces = (update async for update in updates if isinstance(update, Reply))
        first = await anext(pieces)  # what is refused is refused before an answer has begun
        if asked.stream:
            return StreamingResponse(events(asked, first, pieces), media_type="text/event-stream")
        *_, reply = [first, *[piece async for piece in pieces]]
        choice = {"message": {"role": "assistant", "content": reply.text}}
        return answer(asked, "chat.completion", choice, reply) | {"usage": usage_of(reply)}

    @app.exception_handler(Refused)
    @app.exception_handler(ReplyError)
    def refuse(request: Request, error: Refused | ReplyError) -> JSONResponse:
        """An error as OpenAI's clients read it."""
        headers = {"Retry-After": f"{error.seconds:.0f}"} if hasattr(error, "seconds") else {}
        return JSONResponse(*fault(error), headers)

    return app


async def read_chat(request: Request) -> Chat:
    """The request in a body; Refused, with a sentence, where it is none."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise Refused(413, f"a request has at most {MOST_BYTES // 1024} KiB")
    try:
        sent = json_object(bytes(body), "The body of a request").items()
        known = {n: v for n, v in sent if n in Chat.model_fields and v is not None}
        other = {n: v for n, v in sent if n not in Chat.model_fields and v not in NEUTRAL}
        return Chat.model_validate(known | {n: v for n, v in other.items() if n not in IGNORED})
    except ValidationError as error:
        raise Refused(400, describe_faults(error.errors())) from None
    except ValueError as error:
        raise Refused(400, str(error)) from None


def schema_of(asked: Format) -> Schema | None:
    """The schema that a reply must meet, None for free text; Refused where it is no grammar."""
    if asked.type == "text":
        return None
    schema = asked.json_schema.get("schema") if asked.type == "json_schema" else {"type": "object"}
    try:
        if not isinstance(schema, dict):
            raise ValueError("a json_schema has the schema, an object, in its field schema")
        grammar = llguidance.LLMatcher.grammar_from_json_schema(json.dumps(schema))
        if wrong := llguidance.LLMatcher.validate_grammar(grammar):
            raise ValueError(wrong)
    except ValueError as error:
        raise Refused(400, f"response_format: no grammar comes of it: {error!s:.200}") from None
    return schema


async def events(asked: Chat, reply: Reply, more: AsyncIterator[Reply]) -> AsyncIterator[str]:
    """The reply as server-sent events: what each piece adds, why it ended, the count of tokens."""
    kind, sent = "chat.completion.chunk", 0

    def event(row: Mapping[str, Any]) -> str:
        return f"data: {json.dumps(row, ensure_ascii=False)}\n\n"

    yield event(answer(asked, kind, {"delta": {"role": "assistant", "content": ""}}))
    try:
        while True:
            if added := reply.text[sent:]:
                yield event(answer(asked, kind, {"delta": {"content": added}}))
            if reply.finish:
                break
            sent, reply = len(reply.text), await anext(more)
    except ReplyError as error:  # the status is sent already, so the stream says it
        yield event(fault(error)[0])
        return
    yield event(answer(asked, kind, {"delta": {}}, reply))
    if asked.stream_options.get("include_usage"):
        yield event(answer(asked, kind) | {"choices": [], "usage": usage_of(reply)})
    yield "data: [DONE]\n\n"


def answer(
    asked: Chat, kind: str, choice: Mapping[str, Any] | None = None, whole: Reply | None = None
) -> dict[str, Any]:
    """An answer with one choice; of a whole reply it says why it ended."""
    finish = whole and ("length" if whole.finish == "length" else "stop")
    row = {"id": asked.id, "model": asked.model, "object": kind, "created": int(time.time())}
    return row | {"choices": [{"index": 0, **(choice or {}), "finish_reason": finish}]}


def usage_of(reply: Reply) -> dict[str, int]:
    """How many tokens were read and written."""
    read, written = reply.prompt_tokens, reply.tokens
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def fault(error: Refused | ReplyError) -> tuple[dict[str, Any], int]:
    """An error as OpenAI's clients read it, and its status of HTTP."""
    status = error.status if isinstance(error, Refused) else STATUS.get(type(error), 502)
    kind = "invalid_request_error" if status < 500 else "server_error"
    return {"error": {"message": str(error), "type": kind, "param": None, "code": None}}, status
