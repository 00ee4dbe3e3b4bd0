"""Language models as contestants, by name: `mini`, `mini+constrained`, `mini+sft+honest`.

A name is a model, an adapter where it takes one, then what is done to it, joined by "+". Nothing
is loaded before the first reply is asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any

from env import IllegalAction, Observation, Policy, arena
from sauda.llm.backends.model import MODELS, SAUDA, Model, adapter_folder, load
from sauda.llm.games import arena as arena_llm
from sauda.llm.games import bazaar as llm
from sauda.llm.games.arena import ArenaLLMPolicy
from sauda.llm.games.bazaar import LLMPolicy, Null
from sauda.llm.types import BatchGenerate, Messages, Reply, Schema
from sauda.llm.wrappers import WRAPPERS, Proposal, Steered, Wrapped, Wrapper

NULL, CONSTRAINED = "null", "constrained"
BASES = (NULL, *MODELS)


@dataclass(frozen=True)
class Named:
    """A `generate` that loads its model when first asked, once a process."""

    name: str

    def __call__(self, messages: Messages, seed: int, schema: Schema | None = None) -> Reply:
        return loaded(self.name)(messages, seed, schema)

    def batch(
        self, chats: Sequence[Messages], seeds: Sequence[int], schemas: Sequence[Schema | None]
    ) -> list[Reply]:
        return loaded(self.name).batch(chats, seeds, schemas)


@dataclass(frozen=True)
class Contestant:
    """A model, whether its decoding is constrained, and the wrapper around it."""

    generate: BatchGenerate
    constrained: bool = False
    wrapper: Wrapper | None = None

    @property
    def policy(self) -> Policy:
        bare = LLMPolicy(self.generate, self.constrained)
        return bare if self.wrapper is None else Wrapped(bare, self.wrapper)

    def steer(self, obs: Observation, proposal: Proposal) -> Steered:
        """What is done of a `proposal`, under the wrapper where there is one.

        Raises the proposal itself where it is an IllegalAction and the wrapper makes no move of it.
        """
        if self.wrapper is not None:
            return self.wrapper(obs, proposal)
        if isinstance(proposal, IllegalAction):
            raise proposal
        return Steered(proposal)

    @property
    def weights(self) -> str:
        """The name of the model whose weights are needed; "" where none are."""
        return self.generate.name if isinstance(self.generate, Named) else ""


def speech(obs: Any) -> ModuleType:
    """What words the game of `obs` for a model: `render`, `schema`, and `parse` of its replies."""
    return arena_llm if isinstance(obs, arena.Observation) else llm


def proposed(obs: Any, reply: Reply) -> Any:
    """The move that `reply` holds at `obs`, or the IllegalAction that says why it holds none.

    A lab's reply that holds none is `Malformed`, which its rules know how to answer.
    """
    try:
        return speech(obs).parse(reply.text, obs)
    except IllegalAction as error:
        return error


@lru_cache(maxsize=2)
def loaded(name: str) -> Model:
    """The model of that name in this process."""
    return load(name)


def is_model(name: str) -> bool:
    """Whether `name` begins with a model that we name."""
    return name.partition("+")[0] in BASES


def contestant(name: str) -> Contestant:
    """What `name` says; raises ValueError naming the parts there are."""
    model, *parts = name.split("+")
    if model in MODELS and parts and adapter_folder(parts[0]) is not None:
        weights, parts = f"{model}+{parts[0]}", parts[1:]
    else:
        weights = model
    wrappers = [part for part in parts if part in WRAPPERS]
    rest = [part for part in parts if part not in WRAPPERS]
    if model not in BASES or len(wrappers) > 1 or rest not in ([], [CONSTRAINED]):
        raise ValueError(
            f"no model policy {name!r}; a model is one of {', '.join(BASES)}, then +ADAPTER if it "
            f"takes one that is here, +{CONSTRAINED} where its decoding is, and at most one of "
            f"{', '.join(f'+{w}' for w in WRAPPERS)}"
        )
    generate = Null() if model == NULL else Named(weights)
    return Contestant(generate, bool(rest), WRAPPERS[wrappers[0]] if wrappers else None)


def row_name(name: str) -> str:
    """`name` as tables have it: base and adapter in full, so "sauda-mini" is "mini+grpo"."""
    model, *parts = name.split("+")
    return "+".join(("mini", SAUDA, *parts) if model == "sauda-mini" else (model, *parts))


def model_policy(name: str) -> Policy:
    """The contestant of that name as a policy; no weights are read yet."""
    return contestant(name).policy


def lab_policy(name: str) -> Policy:
    """The same in a lab's seat; ValueError for a wrapper, which steers prices alone."""
    found = contestant(name)
    if found.wrapper is not None:
        raise ValueError(f"{name!r} has a wrapper that steers a buyer; a lab plays without")
    return ArenaLLMPolicy(found.generate, found.constrained)
