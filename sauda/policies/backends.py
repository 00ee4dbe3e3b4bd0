"""The language models that a page can ask: its own, and those that its owner named elsewhere.

SAUDA_MODEL names the model of this process. SAUDA_ENDPOINT_URL with SAUDA_ENDPOINT_MODEL (and
SAUDA_ENDPOINT_TOKEN) is a server that speaks OpenAI's protocol; SAUDA_OLLAMA_URL with
SAUDA_OLLAMA_MODEL is an Ollama. A visitor can pick one, never name one.
"""

import os
from collections.abc import Mapping

from sauda.policies.model import CannotLoad, load
from sauda.policies.remote import Backend, Endpoint, FirstOf, Ollama, probe
from sauda.policies.resident import Resident, Streaming

HERE, ENDPOINT, OLLAMA, FIRST = "this page", "endpoint", "ollama", "whichever answers"


def backends(environment: Mapping[str, str] = os.environ) -> dict[str, Resident]:
    """Every backend there is, by the name in the picker; the page's own comes first.

    Raises ValueError where an address stands without its model.
    """
    there = remote(environment)
    found = {HERE: Resident(HERE, lambda: load(environment.get("SAUDA_MODEL") or best_here()))}
    for name, backend in there.items():
        found[name] = Resident(name, lambda backend=backend: answering(backend))
    if there:
        everyone = FirstOf((found[HERE], *there.values()))
        found[FIRST] = Resident(FIRST, lambda: answering(everyone))
    return found


def remote(environment: Mapping[str, str]) -> dict[str, Backend]:
    """The servers that the environment names."""
    found: dict[str, Backend] = {}
    for name, make in ((ENDPOINT, Endpoint), (OLLAMA, Ollama)):
        mark = f"SAUDA_{name.upper()}"
        url, model = environment.get(f"{mark}_URL"), environment.get(f"{mark}_MODEL")
        if bool(url) != bool(model):
            raise ValueError(f"{mark}_URL and {mark}_MODEL go together; one of them is missing")
        if url and model:
            token = environment.get(f"{mark}_TOKEN")
            found[name] = make(url, model, token) if make is Endpoint else make(url, model)
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
