"""The backends of replies: the models of this page, and servers elsewhere.

By default each seat of the page is served what the artifacts measured (`SEATS`). SAUDA_MODEL names
another buyer for this process, SAUDA_SELLER_MODEL another seller. SAUDA_ENDPOINT_URL with
SAUDA_ENDPOINT_MODEL (and SAUDA_ENDPOINT_TOKEN) is a server that speaks OpenAI's protocol;
SAUDA_OLLAMA_URL with SAUDA_OLLAMA_MODEL is an Ollama. A visitor can pick one, never name one.

A reply names the backend that gave it. A server that is up but answers without text cannot play.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path

import httpx
from tenacity import (
    Retrying,
    retry_if_exception_type,
    stop_after_attempt,
    stop_before_delay,
    wait_exponential,
)

from sauda.games.adapter import Request
from sauda.llm import server
from sauda.llm.engine import DEFAULT_SAMPLING, Sampling
from sauda.llm.model import CannotLoad, Model, load
from sauda.llm.process import ProcessEngine
from sauda.llm.seller import SAMPLING
from sauda.llm.types import Messages, Reply, ReplyError, ReplyTimeout, Schema

TRANSIENT = (408, 429, 500, 502, 503, 504)  # HTTP statuses
HEALTH_REQUEST = ({"role": "user", "content": "Say OK."},)
ROUTE = "/chat/completions"


class TransientError(ReplyError):
    """A fault that a retry may overcome."""


@dataclass(frozen=True)
class RetryPolicy:
    """The number of calls per reply and their time limits, in seconds."""

    attempt_timeout: float = 10.0  # one HTTP call
    total_timeout: float = 25.0  # all attempts and pauses together
    attempts: int = 3
    first_pause: float = 0.5  # before the second attempt; doubles


def public_address(url: str) -> str:
    """The address of a server without user name, password or query, fit for visitors.

    Raises ValueError where it is no address of HTTP; the sentence quotes nothing of it.
    """
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        parsed = httpx.URL()
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise ValueError("the address of a language model is one such as https://host:8000/v1")
    return str(parsed.copy_with(username=None, password=None, query=None, fragment=None))


@dataclass(frozen=True)
class Endpoint:
    """A server with OpenAI's chat protocol: vLLM, Inference Endpoints, Ollama."""

    url: str = field(repr=False)  # it may hold a password
    model: str
    token: str | None = field(default=None, repr=False)
    sampling: Sampling = DEFAULT_SAMPLING
    retry: RetryPolicy = RetryPolicy()

    @property
    def source(self) -> str:
        return f"{self.model} at {public_address(self.url)}"

    def __call__(self, messages: Messages, seed: int, schema: Schema | None = None) -> Reply:
        body = {
            "model": self.model,
            "messages": [dict(message) for message in messages],
            "max_tokens": self.sampling.max_new_tokens,
            "temperature": self.sampling.temperature,
            "top_p": self.sampling.top_p,
            "seed": seed,
        }
        if schema:
            form = {"name": "move", "schema": dict(schema), "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        limits, deadline = self.retry, time.monotonic() + self.retry.total_timeout
        retrying = Retrying(
            retry=retry_if_exception_type((ReplyTimeout, TransientError)),
            stop=stop_after_attempt(limits.attempts) | stop_before_delay(limits.total_timeout),
            wait=wait_exponential(multiplier=limits.first_pause),
            reraise=True,
        )
        for attempt in retrying:
            with attempt:
                left = deadline - time.monotonic()
                return self._request(body, max(0.1, min(limits.attempt_timeout, left)))

    def stream(
        self, messages: Messages, seed: int, schema: Schema | None = None
    ) -> Iterator[Reply]:
        """The reply, in one piece."""
        yield self(messages, seed, schema)

    def _request(self, body: dict, timeout: float) -> Reply:
        source = self.source
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        try:
            response = httpx.post(self._route(), json=body, headers=headers, timeout=timeout)
        except httpx.TimeoutException as error:
            raise ReplyTimeout(f"{source} did not answer within {timeout:.3g} s") from error
        except httpx.HTTPError as error:
            # Its text may quote the address, which visitors must not see.
            name = type(error).__name__
            raise TransientError(f"{source} cannot be reached or broke off: {name}") from error
        if response.status_code != 200:
            kind = TransientError if response.status_code in TRANSIENT else ReplyError
            raise kind(f"{source} answered with the status {response.status_code}")
        try:
            answer = response.json()
            choice, usage = answer["choices"][0], answer.get("usage") or {}
            text, tokens = choice["message"]["content"], usage.get("completion_tokens") or 0
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            wrong = f"something that is no chat reply: {type(error).__name__}"
            raise ReplyError(f"{source} answered with {wrong}") from error
        if not isinstance(text, str):
            raise ReplyError(f"{source} answered without a text")
        finish = "length" if choice.get("finish_reason") == "length" else "stop"
        return Reply(text, source, tokens, finish)

    def _route(self) -> httpx.URL:
        """The address of chats, whether `url` is that of the server, of its API or of chats."""
        url = httpx.URL(self.url)
        path = url.path.rstrip("/")
        if not path.endswith(ROUTE):
            path = path.removesuffix("/v1") + "/v1" + ROUTE
        return url.copy_with(path=path)


def check_answers(endpoint: Endpoint) -> Endpoint:
    """`endpoint`, if it replies with a letter or a digit; else raises CannotLoad with its reply."""
    try:
        answer = endpoint(HEALTH_REQUEST, seed=0).text.strip()
    except ReplyError as error:
        raise CannotLoad(f"{endpoint.source} gave no real answer: {error}") from error
    if not any(map(str.isalnum, answer)):
        raise CannotLoad(f"{endpoint.source} gave no real answer: {answer or 'an empty answer'}")
    return endpoint


class ThreadEngine:
    """An engine in this process; `load` returns the model with a given name."""

    def __init__(self, report: server.Report, load: Callable[[str], Model | Endpoint]) -> None:
        import spaces  # before CUDA is touched

        self._report, self._load_model = report, load
        self._models: dict[str, Model | Endpoint] = {}
        self._running: set[int] = set()
        self._loading = threading.Lock()  # one at a time: see `BatchEngine`
        # ZeroGPU wants it before the page is launched, and pickles the arguments of a call. Without
        # ZeroGPU it changes nothing.
        self._generate = spaces.GPU(duration=30)(self._from_model)

    def send(self, order: server.Order) -> None:
        if isinstance(order, server.Load):
            threading.Thread(target=self._load, args=(order.name,), daemon=True).start()
        elif isinstance(order, server.Begin):
            self._running.add(order.key)
            threading.Thread(target=self._write, args=(order,), daemon=True).start()
        else:
            self._running.discard(order.key)

    def restart(self) -> None:
        """Does nothing: threads cannot be ended, so a hanging one stays until its model returns."""

    def _load(self, name: str) -> None:
        with self._loading:
            loaded = server.load_model(self._load_model, name, self._models)
        self._report(loaded)

    def _from_model(self, name: str, request: Request) -> Iterator[Reply]:
        model = self._models[name]
        if isinstance(model, Model):  # a remote model has the sampling that it was made with
            model = model.with_sampling(request.sampling)
        yield from model.stream(request.messages, request.seed, request.schema)

    def _write(self, order: server.Begin) -> None:
        try:
            for reply in self._generate(order.name, order.request):
                if order.key not in self._running:
                    return
                self._report(server.Piece(order.key, reply))
        except Exception as error:  # the visitor who waits is told
            self._report(server.Broken(order.key, str(error)))
        finally:
            self._running.discard(order.key)


@dataclass(frozen=True)
class Seat:
    """The model that plays a seat of this page, and how its tokens are drawn."""

    model: str
    sampling: Sampling
    variable: str  # of the environment, naming another model


# The buyer has its rows in evaluation/model-comparison.json, the seller in seller_quality.json.
SEATS = {
    "buyer": Seat("sauda-mini", DEFAULT_SAMPLING, "SAUDA_MODEL"),
    "seller": Seat("mini", SAMPLING, "SAUDA_SELLER_MODEL"),
}
ONE_AT_A_TIME = replace(server.LIMITS, running=1, running_of_address=1)
OLLAMA_RETRY = RetryPolicy(attempt_timeout=30.0, total_timeout=60.0)  # it may load the model first
THIS_PAGE, ENDPOINT, OLLAMA = "this page", "endpoint", "ollama"


def find_backends(
    environment: Mapping[str, str] = os.environ,
) -> dict[str, dict[str, server.ModelWorker]]:
    """The backends of each of SEATS by their names in the picker; the page's own model first."""
    backends: dict[str, dict[str, server.ModelWorker]] = {}
    for role, seat in SEATS.items():
        model = environment.get(seat.variable) or seat.model
        workers = {THIS_PAGE: server.ModelWorker(THIS_PAGE, own_service(), model, seat.sampling)}
        for name, endpoint in find_servers(environment, seat.sampling).items():
            workers[name] = serve_in_threads(name, partial(check_answers, endpoint))
        backends[role] = workers
    return backends


def in_page(name: str) -> server.ModelWorker:
    """The model called `name` of this page, for tabs that let it play by itself."""
    return server.ModelWorker(name, own_service(), name)


@cache
def own_service() -> server.ReplyService:
    """All models of this page: in the model process, or in this one where it has a GPU.

    A GPU of a Space belongs to the page's process: ZeroGPU lends it to decorated functions alone.
    """
    if gpu_of_this_process():
        return server.ReplyService(lambda report: ThreadEngine(report, load), ONE_AT_A_TIME)
    return server.ReplyService(ProcessEngine)


def serve_in_threads(
    name: str, load: Callable[[], Model | Endpoint], reply_limit: float = server.REPLY_LIMIT
) -> server.ModelWorker:
    """A model of a service of its own, called in threads of this process."""
    service = server.ReplyService(
        lambda report: ThreadEngine(report, lambda _: load()), ONE_AT_A_TIME, reply_limit
    )
    return server.ModelWorker(name, service, name)


def gpu_of_this_process() -> bool:
    """Whether this process can decode on a GPU: ZeroGPU's, or one of the machine."""
    from spaces.config import Config

    return Config.zero_gpu or Path("/dev/nvidiactl").exists()


def find_servers(environment: Mapping[str, str], sampling: Sampling) -> dict[str, Endpoint]:
    """The servers that the environment names; ValueError for an address without its model."""
    servers: dict[str, Endpoint] = {}
    for name, retry in ((ENDPOINT, RetryPolicy()), (OLLAMA, OLLAMA_RETRY)):
        mark = f"SAUDA_{name.upper()}"
        url, model = environment.get(f"{mark}_URL"), environment.get(f"{mark}_MODEL")
        if bool(url) != bool(model):
            raise ValueError(f"{mark}_URL and {mark}_MODEL go together; one of them is missing")
        if url and model:
            public_address(url)  # says at the start what is wrong with it
            servers[name] = Endpoint(url, model, environment.get(f"{mark}_TOKEN"), sampling, retry)
    return servers
