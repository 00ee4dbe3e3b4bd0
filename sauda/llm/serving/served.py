"""The model backends of a page: the model in its process, and configured remote servers.

By default each seat is served what the artifacts measured (`SEATS`). SAUDA_MODEL names another
buyer for this process, SAUDA_SELLER_MODEL another seller. SAUDA_ENDPOINT_URL with
SAUDA_ENDPOINT_MODEL (and SAUDA_ENDPOINT_TOKEN) is a server that speaks OpenAI's protocol;
SAUDA_OLLAMA_URL with SAUDA_OLLAMA_MODEL is an Ollama. A visitor can pick one, never name one.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sauda.llm.backends.decoding import DEFAULT_SAMPLING, Sampling
from sauda.llm.backends.model import CannotLoad, load
from sauda.llm.backends.remote import Backend, Endpoint, FirstOf, Ollama, probe, shown
from sauda.llm.seller.policy import SAMPLING
from sauda.llm.serving.events import Report
from sauda.llm.serving.line import Limits
from sauda.llm.serving.process import ProcessEngine
from sauda.llm.serving.service import REPLY_LIMIT, ReplyService
from sauda.llm.serving.threads import Streaming, ThreadEngine
from sauda.llm.serving.worker import ModelWorker


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
ONE_AT_A_TIME = Limits(running=1, running_of_address=1)
THIS_PAGE, ENDPOINT, OLLAMA, FIRST = "this page", "endpoint", "ollama", "whichever answers"


def backends(environment: Mapping[str, str] = os.environ) -> dict[str, dict[str, ModelWorker]]:
    """The backends of each of SEATS by their names in the picker; the page's own model first.

    Raises ValueError where an address stands without its model.
    """
    return {name: _backends(environment, seat) for name, seat in SEATS.items()}


def in_page(name: str) -> ModelWorker:
    """The model called `name` of this page, for tabs that let it play by itself."""
    return ModelWorker(name, own_service(), name)


@cache
def own_service() -> ReplyService:
    """All models of this page: in the model process, or in this one where it has a GPU.

    A GPU of a Space belongs to the page's process: ZeroGPU lends it to decorated functions alone.
    """
    if gpu_of_this_process():
        return ReplyService(lambda report: ThreadEngine(report, load), ONE_AT_A_TIME)
    return ReplyService(ProcessEngine)


def _backends(environment: Mapping[str, str], seat: Seat) -> dict[str, ModelWorker]:
    elsewhere = remote(environment, seat.sampling)
    model = environment.get(seat.variable) or seat.model
    own = ModelWorker(THIS_PAGE, own_service(), model, seat.sampling)
    backends = {
        name: lambda backend=backend: answering(backend) for name, backend in elsewhere.items()
    }
    if elsewhere:
        first = FirstOf((own, *elsewhere.values()))
        backends[FIRST] = lambda: answering(first)
    return {THIS_PAGE: own} | {name: threaded(name, load) for name, load in backends.items()}


def threaded(
    name: str, load: Callable[[], Streaming], reply_limit: float = REPLY_LIMIT
) -> ModelWorker:
    """A model of a service of its own, called in threads of this process."""

    def engine(report: Report) -> ThreadEngine:
        return ThreadEngine(report, lambda _: load())

    return ModelWorker(name, ReplyService(engine, ONE_AT_A_TIME, reply_limit), name)


def gpu_of_this_process() -> bool:
    """Whether this process can decode on a GPU: ZeroGPU's, or one of the machine."""
    from spaces.config import Config

    return Config.zero_gpu or Path("/dev/nvidiactl").exists()


def remote(environment: Mapping[str, str], sampling: Sampling) -> dict[str, Backend]:
    """The servers that the environment names; ValueError for an address without its model."""
    backends: dict[str, Backend] = {}
    for name, make in ((ENDPOINT, Endpoint), (OLLAMA, Ollama)):
        mark = f"SAUDA_{name.upper()}"
        url, model = environment.get(f"{mark}_URL"), environment.get(f"{mark}_MODEL")
        if bool(url) != bool(model):
            raise ValueError(f"{mark}_URL and {mark}_MODEL go together; one of them is missing")
        if url and model:
            shown(url)  # says at the start what is wrong with it
            more = {"token": environment.get(f"{mark}_TOKEN")} if make is Endpoint else {}
            backends[name] = make(url, model, sampling=sampling, **more)
    return backends


def answering(backend: Streaming) -> Streaming:
    """`backend`, if it replies with text; else raises CannotLoad with its reply."""
    health = probe(backend)
    if not health.healthy:
        raise CannotLoad(f"{health.source} gave no real answer: {health.detail}")
    return backend
