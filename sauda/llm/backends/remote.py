"""Language models on other machines: an OpenAI-style endpoint, Ollama, and the first that answers.

A reply names the backend that gave it. A backend is healthy only if it answers with text: a server
that is up but answers with an error cannot play.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar
from urllib.parse import urlsplit

from tenacity import (
    Retrying,
    retry_if_exception_type,
    stop_after_attempt,
    stop_before_delay,
    wait_exponential,
)

from sauda.llm.backends.decoding import DEFAULT_SAMPLING, Sampling
from sauda.llm.types import Messages, Reply, ReplyError, ReplyTimeout, Schema

FINISH = {"stop": "stop", "eos_token": "stop", "length": "length"}
TRANSIENT = (408, 429, 500, 502, 503, 504)  # HTTP statuses
HEALTH_REQUEST = ({"role": "user", "content": "Say OK."},)
Answer = TypeVar("Answer")
# Raised where a connection breaks, or an answer has another shape than a chat reply.
UNEXPECTED = (OSError, ValueError, LookupError, TypeError, AttributeError)


class TransientError(ReplyError):
    """A fault that may be gone at the next attempt."""


@dataclass(frozen=True)
class RetryPolicy:
    """How often a backend is called for one reply, and for how long; times in seconds."""

    attempt_timeout: float = 10.0  # one HTTP call
    total_timeout: float = 25.0  # all attempts and pauses together
    attempts: int = 3
    first_pause: float = 0.5  # before the second attempt; doubles

    def call(self, request: Callable[[float], Answer]) -> Answer:
        """What `request` returns, given its timeout; repeated after transient faults.

        `request` raises ReplyTimeout, TransientError or ReplyError; the last of them is raised.
        """
        deadline = time.monotonic() + self.total_timeout
        retrying = Retrying(
            retry=retry_if_exception_type((ReplyTimeout, TransientError)),
            stop=stop_after_attempt(self.attempts) | stop_before_delay(self.total_timeout),
            wait=wait_exponential(multiplier=self.first_pause),
            reraise=True,
        )
        return retrying(
            lambda: request(max(0.1, min(self.attempt_timeout, deadline - time.monotonic())))
        )


def shown(url: str) -> str:
    """The address of a server as visitors may see it: without a user's name, password or query.

    Raises ValueError where it is no address of HTTP; the sentence quotes nothing of it.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts = port = None
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("the address of a language model is one such as https://host:8000/v1")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{'' if port is None else f':{port}'}{parts.path}"


class Backend(Protocol):
    """A remote model."""

    source: str

    def __call__(self, messages: Messages, seed: int, schema: Schema | None = None) -> Reply: ...


@dataclass(frozen=True)
class Endpoint:
    """A server that speaks OpenAI's chat protocol (vLLM, Inference Endpoints)."""

    url: str = field(repr=False)  # it may hold a password
    model: str
    token: str | None = field(default=None, repr=False)
    sampling: Sampling = DEFAULT_SAMPLING
    retry: RetryPolicy = RetryPolicy()

    @property
    def source(self) -> str:
        return f"{self.model} at {shown(self.url)}"

    def __call__(self, messages: Messages, seed: int, schema: Schema | None = None) -> Reply:
        form = schema and {
            "type": "json_schema",
            "json_schema": {"name": "move", "schema": dict(schema), "strict": True},
        }
        return self.retry.call(lambda timeout: self._request(messages, seed, form, timeout))

    def stream(
        self, messages: Messages, seed: int, schema: Schema | None = None
    ) -> Iterator[Reply]:
        """The reply, in one piece."""
        yield self(messages, seed, schema)

    def _request(self, messages: Messages, seed: int, form: object, timeout: float) -> Reply:
        from huggingface_hub import InferenceClient, InferenceTimeoutError
        from huggingface_hub.errors import HfHubHTTPError
        from huggingface_hub.utils import httpx

        # Without a token the client would send this machine's own to whoever runs the endpoint.
        token = self.token or "none"
        client = InferenceClient(base_url=self.url, token=token, timeout=timeout)
        try:
            answer = client.chat_completion(
                [dict(message) for message in messages],
                model=self.model,
                max_tokens=self.sampling.max_new_tokens,
                temperature=self.sampling.temperature,
                top_p=self.sampling.top_p,
                seed=seed,
                response_format=form,
            )
            choice = answer.choices[0]
            text, finish = choice.message.content, choice.finish_reason
            tokens = getattr(answer.usage, "completion_tokens", 0) or 0
        except InferenceTimeoutError as error:
            raise ReplyTimeout(f"{self.source} did not answer within {timeout:.3g} s") from error
        except (HfHubHTTPError, httpx.HTTPError, httpx.InvalidURL, *UNEXPECTED) as error:
            raise _reply_error(self, timeout, error) from error
        return _reply(self.source, text, tokens, finish)


@dataclass(frozen=True)
class Ollama:
    """A model that an Ollama server holds."""

    url: str = field(default="http://localhost:11434", repr=False)
    model: str = "bestdealbot"
    sampling: Sampling = DEFAULT_SAMPLING
    retry: RetryPolicy = RetryPolicy(attempt_timeout=30.0, total_timeout=60.0)  # to load the model

    @property
    def source(self) -> str:
        return f"{self.model} in Ollama at {shown(self.url)}"

    def __call__(self, messages: Messages, seed: int, schema: Schema | None = None) -> Reply:
        body = {
            "model": self.model,
            "messages": [dict(message) for message in messages],
            "stream": False,
            "options": {
                "seed": seed,
                "temperature": self.sampling.temperature,
                "top_p": self.sampling.top_p,
                "num_predict": self.sampling.max_new_tokens,
            },
        } | ({"format": dict(schema)} if schema else {})
        return self.retry.call(lambda timeout: self._request(body, timeout))

    def stream(
        self, messages: Messages, seed: int, schema: Schema | None = None
    ) -> Iterator[Reply]:
        """The reply, in one piece."""
        yield self(messages, seed, schema)

    def _request(self, body: dict, timeout: float) -> Reply:
        import httpx

        try:
            response = httpx.post(f"{self.url.rstrip('/')}/api/chat", json=body, timeout=timeout)
            if response.status_code != 200:
                raise _status_error(self.source, response.status_code)
            answer = response.json()
            text, finish = answer["message"]["content"], answer.get("done_reason", "")
            tokens = answer.get("eval_count", 0)
        except (httpx.HTTPError, httpx.InvalidURL, *UNEXPECTED) as error:
            raise _reply_error(self, timeout, error) from error
        return _reply(self.source, text, tokens, finish)


def _status_error(source: str, status: int) -> ReplyError:
    kind = TransientError if status in TRANSIENT else ReplyError
    return kind(f"{source} answered with the status {status}")


def _reply_error(backend: Endpoint | Ollama, timeout: float, error: Exception) -> ReplyError:
    """The ReplyError for an exception of either HTTP library or of reading the answer.

    What the exception quotes of the address is left out: visitors read the sentence.
    """
    source, told = backend.source, f"{type(error).__name__}: {error}"
    for part in (backend.url.rstrip("/"), urlsplit(backend.url).netloc):
        told = told.replace(part, shown(backend.url))
    if status := _status_behind(error):
        return _status_error(source, status)
    names = {kind.__name__ for kind in type(error).__mro__}
    if "TimeoutException" in names or isinstance(error, TimeoutError):
        return ReplyTimeout(f"{source} did not answer within {timeout:.3g} s")
    if "TransportError" in names or isinstance(error, OSError):
        return TransientError(f"{source} cannot be reached or broke off: {told}")
    return ReplyError(f"{source} answered with something that is no chat reply: {told:.120}")


def _status_behind(error: BaseException | None) -> int:
    """The HTTP status of an error or of its causes; 0 without one.

    The client may fail again while it reads an error's body, so the causes are searched.
    """
    while error is not None:
        status = getattr(getattr(error, "response", None), "status_code", 0)
        if status >= 400:
            return status
        error = error.__cause__ or error.__context__
    return 0


def _reply(source: str, text: object, tokens: int, finish: str | None) -> Reply:
    if not isinstance(text, str):
        raise ReplyError(f"{source} answered without a text")
    return Reply(text, source, tokens, FINISH.get(finish or "", "stop"))


@dataclass(frozen=True)
class Health:
    """Whether a backend just answered with text; `detail` is that text, or what went wrong."""

    source: str
    healthy: bool
    detail: str
    seconds: float


def probe(backend: Backend) -> Health:
    """Request one reply of `backend`. Healthy means a reply with a letter or a digit."""
    began = time.monotonic()
    try:
        reply = backend(HEALTH_REQUEST, seed=0)
    except ReplyError as error:
        return Health(backend.source, False, str(error), time.monotonic() - began)
    text = reply.text.strip()
    healthy = any(character.isalnum() for character in text)
    return Health(reply.source, healthy, text or "an empty answer", time.monotonic() - began)


@dataclass(frozen=True)
class FirstOf:
    """Calls backends in order until one replies; the reply says why earlier ones failed."""

    backends: Sequence[Backend]

    @property
    def source(self) -> str:
        return " or ".join(backend.source for backend in self.backends)

    def __call__(self, messages: Messages, seed: int, schema: Schema | None = None) -> Reply:
        failures: list[str] = []
        for backend in self.backends:
            try:
                return replace(backend(messages, seed, schema), passed=tuple(failures))
            except ReplyError as error:
                failures.append(str(error))
        raise ReplyError("no backend answered: " + "; ".join(failures))

    def stream(
        self, messages: Messages, seed: int, schema: Schema | None = None
    ) -> Iterator[Reply]:
        """The reply, in one piece."""
        yield self(messages, seed, schema)
