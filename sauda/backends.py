"""The language models that a page can ask: its own, and those that its owner named elsewhere.

SAUDA_MODEL names the model of this process. SAUDA_ENDPOINT_URL with SAUDA_ENDPOINT_MODEL (and
SAUDA_ENDPOINT_TOKEN) is a server that speaks OpenAI's protocol; SAUDA_OLLAMA_URL with
SAUDA_OLLAMA_MODEL is an Ollama. A visitor can pick one, never name one.
"""

import os
from collections.abc import Callable, Mapping
from functools import cache
from threading import Lock

from sauda.policies.decoding import USUAL, Sampling
from sauda.policies.model import CannotLoad, Model, load
from sauda.policies.remote import Backend, Endpoint, FirstOf, Ollama, probe
from sauda.policies.resident import Resident, Streaming
from sauda.seller import SAMPLING

VOICES = {"buyer": USUAL, "seller": SAMPLING}  # how each seat draws its tokens
HERE, ENDPOINT, OLLAMA, FIRST = "this page", "endpoint", "ollama", "whichever answers"


def backends(environment: Mapping[str, str] = os.environ) -> dict[str, dict[str, Resident]]:
    """For each of VOICES every backend there is, by the name in the picker; the page's own first.

    Both voices share the page's weights. Raises ValueError where an address stands without its
    model.
    """
    own = once(lambda: load(environment.get("SAUDA_MODEL") or best_here()))
    return {voice: _backends(environment, own, sampling) for voice, sampling in VOICES.items()}


@cache
def in_page(name: str) -> Resident:
    """The model called `name` in this process, for tabs that let it play by itself."""
    return Resident(name, lambda: load(name))


def _backends(
    environment: Mapping[str, str], own: Callable[[], Model], sampling: Sampling
) -> dict[str, Resident]:
    there = remote(environment, sampling)
    found = {HERE: Resident(HERE, lambda: own().sampled(sampling))}
    for name, backend in there.items():
        found[name] = Resident(name, lambda backend=backend: answering(backend))
    if there:
        everyone = FirstOf((found[HERE], *there.values()))
        found[FIRST] = Resident(FIRST, lambda: answering(everyone))
    return found


def once(load: Callable[[], Model]) -> Callable[[], Model]:
    """`load`, done by the first who asks, while others wait; a failure may be tried again."""
    lock, done = Lock(), []

    def loaded() -> Model:
        with lock:
            if not done:
                done.append(load())
        return done[0]

    return loaded


def remote(environment: Mapping[str, str], sampling: Sampling) -> dict[str, Backend]:
    """The servers that the environment names."""
    found: dict[str, Backend] = {}
    for name, make in ((ENDPOINT, Endpoint), (OLLAMA, Ollama)):
        mark = f"SAUDA_{name.upper()}"
        url, model = environment.get(f"{mark}_URL"), environment.get(f"{mark}_MODEL")
        if bool(url) != bool(model):
            raise ValueError(f"{mark}_URL and {mark}_MODEL go together; one of them is missing")
        if url and model:
            more = {"token": environment.get(f"{mark}_TOKEN")} if make is Endpoint else {}
            found[name] = make(url, model, sampling=sampling, **more)
    return found


def best_here() -> str:
    """The model that this machine should play: the large one wants a GPU."""
    import torch

    return "sauda-8b" if torch.cuda.is_available() else "sauda-mini"


def answering(backend: Streaming) -> Streaming:
    """`backend` once it gave a real answer; raises CannotLoad with what it gave instead."""
    health = probe(backend)
    if not health.healthy:
        raise CannotLoad(f"{health.source} gave no real answer: {health.told}")
    return backend
