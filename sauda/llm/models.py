"""Language models by name; none is loaded before its first request."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from sauda.llm.backends.model import MODELS, Model, load
from sauda.llm.types import Messages, Reply, Schema

NULL = "null"
BASES = (NULL, *MODELS)


@lru_cache(maxsize=2)
def loaded(name: str) -> Model:
    """The model of that name in this process."""
    return load(name)


@dataclass(frozen=True)
class NamedModel:
    """A `BatchGenerate` that loads its model at the first request, once a process."""

    name: str

    def __call__(self, messages: Messages, seed: int, schema: Schema | None = None) -> Reply:
        return loaded(self.name)(messages, seed, schema)

    def batch(
        self, chats: Sequence[Messages], seeds: Sequence[int], schemas: Sequence[Schema | None]
    ) -> list[Reply]:
        return loaded(self.name).batch(chats, seeds, schemas)


@dataclass(frozen=True)
class NullModel:
    """Replies with the same invalid text to every request: measures a wrapper without a model."""

    def __call__(self, messages: Messages, seed: int, schema: Schema | None = None) -> Reply:
        return Reply("Well { my friend, who can say what a {price} is?", NULL, finish="stop")

    def batch(
        self, chats: Sequence[Messages], seeds: Sequence[int], schemas: Sequence[Schema | None]
    ) -> list[Reply]:
        return [self(chat, seed) for chat, seed in zip(chats, seeds, strict=True)]
