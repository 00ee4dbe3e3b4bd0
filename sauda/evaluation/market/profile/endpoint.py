"""A language model behind an OpenAI-style endpoint as a buyer to profile."""

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from sauda.evaluation.market.profile.players import Player
from sauda.llm.backends import Endpoint, probe
from sauda.llm.turn import PlayerSpec
from sauda.llm.types import Messages, Reply, Schema
from sauda.records.store import write


@dataclass(frozen=True)
class EndpointModel:
    """A `BatchGenerate` of an endpoint. Each reply is kept in `folder`, so a stopped run resumes.

    Raises ReplyError where the endpoint gives no reply.
    """

    endpoint: Endpoint
    folder: Path
    parallel: int = 8  # requests under way at a time

    def __call__(self, messages: Messages, seed: int, schema: Schema | None = None) -> Reply:
        asked = (self.endpoint.url, self.endpoint.model, [*messages], seed, schema)
        file = self.folder / f"{sha256(json.dumps(asked).encode()).hexdigest()[:24]}.json"
        if not file.exists():
            reply = self.endpoint(messages, seed, schema)
            kept = {"text": reply.text, "tokens": reply.tokens, "finish": reply.finish}
            write(file, json.dumps(kept, ensure_ascii=False))
        kept = json.loads(file.read_text(encoding="utf-8"))
        return Reply(kept["text"], self.endpoint.source, kept["tokens"], kept["finish"])

    def batch(
        self, chats: Sequence[Messages], seeds: Sequence[int], schemas: Sequence[Schema | None]
    ) -> list[Reply]:
        with ThreadPoolExecutor(self.parallel) as pool:
            return list(pool.map(self, chats, seeds, schemas))


def behind(endpoint: Endpoint, name: str, folder: Path) -> Player:
    """The model behind `endpoint` as the player `name`; its replies are kept in `folder`.

    Raises ValueError where the endpoint does not answer with text.
    """
    health = probe(endpoint)
    if not health.healthy:
        raise ValueError(f"the endpoint cannot play: {health.detail}")
    return Player(name, model=PlayerSpec(EndpointModel(endpoint, folder)))
