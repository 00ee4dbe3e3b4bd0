"""The language models that a page can ask: its own, and those that its owner named elsewhere.

By default each seat is served what the artifacts measured (`SEATS`). SAUDA_MODEL names another
buyer for this process, SAUDA_SELLER_MODEL another seller. SAUDA_ENDPOINT_URL with
SAUDA_ENDPOINT_MODEL (and SAUDA_ENDPOINT_TOKEN) is a server that speaks OpenAI's protocol;
SAUDA_OLLAMA_URL with SAUDA_OLLAMA_MODEL is an Ollama. A visitor can pick one, never name one.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from sauda.llm.backends.decoding import USUAL, Sampling
from sauda.llm.backends.model import CannotLoad, load
from sauda.llm.backends.remote import Backend, Endpoint, FirstOf, Ollama, probe
from sauda.llm.backends.worker import ModelWorker, Streaming
from sauda.llm.seller.policy import SAMPLING


@dataclass(frozen=True)
class Seat:
    """The model that plays a seat of this page, and how its tokens are drawn."""

    model: str
    sampling: Sampling
    variable: str  # of the environment, naming another model


# The buyer has its rows in evaluation/ladder.json, the seller in seller_quality.json.
SEATS = {
    "buyer": Seat("sauda-mini", USUAL, "SAUDA_MODEL"),
    "seller": Seat("mini", SAMPLING, "SAUDA_SELLER_MODEL"),
}
HERE, ENDPOINT, OLLAMA, FIRST = "this page", "endpoint", "ollama", "whichever answers"


def backends(environment: Mapping[str, str] = os.environ) -> dict[str, dict[str, ModelWorker]]:
    """For each of SEATS every backend there is, by the name in the picker; the page's own first.

    Raises ValueError where an address stands without its model.
    """
    return {name: _backends(environment, seat) for name, seat in SEATS.items()}


@cache
def in_page(name: str) -> ModelWorker:
    """The model called `name` in this process, for tabs that let it play by itself."""
    return ModelWorker(name, lambda: load(name))


def _backends(environment: Mapping[str, str], seat: Seat) -> dict[str, ModelWorker]:
    elsewhere = remote(environment, seat.sampling)
    model = environment.get(seat.variable) or seat.model
    workers = {HERE: ModelWorker(HERE, lambda: load(model, sampling=seat.sampling))}
    for name, backend in elsewhere.items():
        workers[name] = ModelWorker(name, lambda backend=backend: answering(backend))
    if elsewhere:
        first = FirstOf((workers[HERE], *elsewhere.values()))
        workers[FIRST] = ModelWorker(FIRST, lambda: answering(first))
    return workers


def remote(environment: Mapping[str, str], sampling: Sampling) -> dict[str, Backend]:
    """The servers that the environment names; ValueError for an address without its model."""
    backends: dict[str, Backend] = {}
    for name, make in ((ENDPOINT, Endpoint), (OLLAMA, Ollama)):
        mark = f"SAUDA_{name.upper()}"
        url, model = environment.get(f"{mark}_URL"), environment.get(f"{mark}_MODEL")
        if bool(url) != bool(model):
            raise ValueError(f"{mark}_URL and {mark}_MODEL go together; one of them is missing")
        if url and model:
            more = {"token": environment.get(f"{mark}_TOKEN")} if make is Endpoint else {}
            backends[name] = make(url, model, sampling=sampling, **more)
    return backends


def answering(backend: Streaming) -> Streaming:
    """`backend`, if it answers with text; raises CannotLoad with what it answered instead."""
    health = probe(backend)
    if not health.healthy:
        raise CannotLoad(f"{health.source} gave no real answer: {health.detail}")
    return backend
