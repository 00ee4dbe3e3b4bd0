"""Language models on other machines: an OpenAI-style endpoint, Ollama, and the first that answers.

A reply says which backend gave it. Only a real answer counts as healthy: a server that is up, or
that answers with an error, does not play.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from sauda.llm.backends.decoding import USUAL, Sampling
from sauda.llm.types import Messages, Reply, ReplyError, ReplyTimeout, Schema

FINISH = {"stop": "stop", "eos_token": "stop", "length": "length"}
RETRIED = (408, 429, 500, 502, 503, 504)  # HTTP statuses that may pass
PROBE = ({"role": "user", "content": "Say OK."},)
Answer = TypeVar("Answer")
# What comes up where a connection breaks, or an answer has another shape than a chat reply.
STRANGE = (OSError, ValueError, LookupError, TypeError, AttributeError)


@dataclass(frozen=True)
class Patience:
    """How long a backend is waited for, in seconds."""

    attempt: float = 10.0  # one HTTP call
    whole: float = 25.0  # all attempts and pauses together
    attempts: int = 3
    pause: float = 0.5  # before the second attempt; doubles

    def try_out(self, backend: str, call: Callable[[float], Answer]) -> Answer:
        """What `call` returns, given its seconds; tried again where the fault may pass.

        `call` raises ReplyTimeout, Passing or ReplyError; the last of them is raised.
        """
        until, pause = time.monotonic() + self.whole, self.pause
        for left in reversed(range(self.attempts)):
            try:
                return call(max(0.1, min(self.attempt, until - time.monotonic())))
            except (ReplyTimeout, Passing):
                if not left or time.monotonic() + pause >= until:
                    raise
            time.sleep(pause)
            pause *= 2
        raise AssertionError(f"{backend} was tried no time")


class Passing(ReplyError):
    """A fault that may be gone at the next attempt."""


class Backend(Protocol):
    """A remote model."""

    source: str

    def __call__(self, messages: Messages, seed: int, schema: Schema | None = None) -> Reply: ...


@dataclass(frozen=True)
class Endpoint:
    """A server that speaks OpenAI's chat protocol (vLLM, Inference Endpoints)."""

    url: str
    model: str
    token: str | None = None
    sampling: Sampling = USUAL
    patience: Patience = Patience()

    @property
    def source(self) -> str:
        return f"{self.model} at {self.url}"

    def __call__(self, messages: Messages, seed: int, schema: Schema | None = None) -> Reply:
        form = schema and {
            "type": "json_schema",
            "json_schema": {"name": "move", "schema": dict(schema), "strict": True},
        }
        return self.patience.try_out(
            self.source, lambda seconds: self._ask(messages, seed, form, seconds)
        )

    def stream(
        self, messages: Messages, seed: int, schema: Schema | None = None
    ) -> Iterator[Reply]:
        """The reply, in one piece."""
        yield self(messages, seed, schema)

    def _ask(self, messages: Messages, seed: int, form: object, seconds: float) -> Reply:
        from huggingface_hub import InferenceClient, InferenceTimeoutError
        from huggingface_hub.errors import HfHubHTTPError
        from huggingface_hub.utils import httpx

        # Without a token the client would send this machine's own to whoever runs the endpoint.
        token = self.token or "none"
        client = InferenceClient(base_url=self.url, token=token, timeout=seconds)
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
            raise ReplyTimeout(f"{self.source} did not answer within {seconds:.3g} s") from error
        except (HfHubHTTPError, httpx.HTTPError, httpx.InvalidURL, *STRANGE) as error:
            raise _broken(self.source, seconds, error) from error
        return _reply(self.source, text, tokens, finish)


@dataclass(frozen=True)
class Ollama:
    """A model that an Ollama server holds."""

    url: str = "http://localhost:11434"
    model: str = "bestdealbot"
    sampling: Sampling = USUAL
    patience: Patience = Patience(attempt=30.0, whole=60.0)  # it may load the model first

    @property
    def source(self) -> str:
        return f"{self.model} in Ollama at {self.url}"

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
        return self.patience.try_out(self.source, lambda seconds: self._ask(body, seconds))

    def stream(
        self, messages: Messages, seed: int, schema: Schema | None = None
    ) -> Iterator[Reply]:
        """The reply, in one piece."""
        yield self(messages, seed, schema)

    def _ask(self, body: dict, seconds: float) -> Reply:
        import httpx

        try:
            response = httpx.post(f"{self.url.rstrip('/')}/api/chat", json=body, timeout=seconds)
            if response.status_code != 200:
                raise _status(self.source, response.status_code)
            answer = response.json()
            text, finish = answer["message"]["content"], answer.get("done_reason", "")
            tokens = answer.get("eval_count", 0)
        except (httpx.HTTPError, httpx.InvalidURL, *STRANGE) as error:
            raise _broken(self.source, seconds, error) from error
        return _reply(self.source, text, tokens, finish)


def _status(source: str, status: int) -> ReplyError:
    kind = Passing if status in RETRIED else ReplyError
    return kind(f"{source} answered with the status {status}")


def _broken(source: str, seconds: float, error: Exception) -> ReplyError:
    """Our error for whatever two HTTP libraries and a strange server raise."""
    if status := _refused_with(error):
        return _status(source, status)
    names = {kind.__name__ for kind in type(error).__mro__}
    if "TimeoutException" in names or isinstance(error, TimeoutError):
        return ReplyTimeout(f"{source} did not answer within {seconds:.3g} s")
    if "TransportError" in names or isinstance(error, OSError):
        return Passing(f"{source} cannot be reached or broke off: {error}")
    return ReplyError(f"{source} answered with something that is no chat reply: {error!r:.120}")


def _refused_with(error: BaseException | None) -> int:
    """The HTTP status behind an error or what led to it; 0 without one.

    The client's own reading of an error's body may fail in turn, so the first cause counts.
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
    """Whether a backend gave a real answer just now; `told` is it, or what went wrong."""

    source: str
    healthy: bool
    told: str
    seconds: float


def probe(backend: Backend) -> Health:
    """Ask `backend` for one reply; anything but words in it is no health."""
    began = time.monotonic()
    try:
        reply = backend(PROBE, seed=0)
    except ReplyError as error:
        return Health(backend.source, False, str(error), time.monotonic() - began)
    told = reply.text.strip()
    healthy = any(character.isalnum() for character in told)
    return Health(reply.source, healthy, told or "an empty answer", time.monotonic() - began)


@dataclass(frozen=True)
class FirstOf:
    """The first backend that answers; its reply names it, and why those before it did not."""

    backends: Sequence[Backend]

    @property
    def source(self) -> str:
        return " or ".join(backend.source for backend in self.backends)

    def __call__(self, messages: Messages, seed: int, schema: Schema | None = None) -> Reply:
        passed: list[str] = []
        for backend in self.backends:
            try:
                return replace(backend(messages, seed, schema), passed=tuple(passed))
            except ReplyError as error:
                passed.append(str(error))
        raise ReplyError("no backend answered: " + "; ".join(passed))

    def stream(
        self, messages: Messages, seed: int, schema: Schema | None = None
    ) -> Iterator[Reply]:
        """The reply, in one piece."""
        yield self(messages, seed, schema)
