"""The network in training as a player: it plays whole games as it would be served.

Its adapter is merged into a copy of the base, as `load` does for the page, so that what is trained
is what plays. A 4-bit network has no room for a copy and plays as it is.
"""

from collections.abc import Sequence
from typing import Any

from sauda.instep import Game
from sauda.policies.decoding import Decoder, Sampling
from sauda.policies.lineup import Contestant
from sauda.policies.llm import completion
from sauda.policies.model import Model, read_network
from sauda.policies.reply import Messages, Reply, Schema
from sauda.train.base import Base
from sauda.train.data import Row, tokens


class Learner:
    """The player that a PEFT `network` is after each `refresh`. A `BatchGenerate`."""

    def __init__(self, network: Any, tokenizer: Any, found: Base, sampling: Sampling) -> None:
        self.network, self.tokenizer, self.found = network, tokenizer, found
        self.sampling = sampling
        in_place = found.precision == "nf4"
        self._served = (
            network
            if in_place
            else read_network(found.weights.folder, None, found.precision, found.device)
        )
        self.refresh()

    def refresh(self) -> None:
        """Play with the adapter's numbers as they are now."""
        if self._served is not self.network:
            _merge(self.network, self._served)
        decoder = Decoder(self._served, self.tokenizer, self.sampling)  # remembers nothing yet
        self._model = Model(decoder, "learner", self.found.precision, self.found.weights.origin, "")

    def contestant(self, constrained: bool = False) -> Contestant:
        """It in a seat."""
        return Contestant(self, constrained)

    def __call__(self, messages: Messages, seed: int, schema: Schema | None = None) -> Reply:
        return self._model(messages, seed, schema)

    def batch(
        self, chats: Sequence[Messages], seeds: Sequence[int], schemas: Sequence[Schema | None]
    ) -> list[Reply]:
        return self._model.batch(chats, seeds, schemas)


def _merge(network: Any, served: Any) -> None:
    """Give `served` the weights of the base in `network` plus its adapter's."""
    import torch
    from peft.tuners.lora import LoraLayer

    with torch.no_grad():
        for name, module in network.get_base_model().named_modules():
            if isinstance(module, LoraLayer):
                delta = module.get_delta_weight("default")
                whole = module.get_base_layer().weight.float() + delta.float()
                served.get_submodule(name).weight.copy_(whole)


def learnt(game: Game, tokenizer: Any) -> dict[str, list[int]]:
    """A finished deal as "input_ids" and "labels" of one length; -100 where nothing is learnt.

    Learnt are the replies as they were sampled. One that was read as a move but is not its
    canonical form stands in the conversation as that form, and is not learnt. A game of one deal.
    """
    last = game.asked[-1]
    messages = [*last.chat, {"role": "assistant", "content": last.reply.text}]
    kinds = [
        "sampled" if message["content"] == asked.reply.text.strip() else ""
        for asked, message in zip(game.asked, messages[2::2], strict=True)
    ]
    row = Row(game.here.name, game.play.seed, 0, "", kinds, [dict(m) for m in messages])
    return tokens(row, tokenizer)


def as_asked(game: Game) -> float:
    """The share of a game's replies that were the canonical form of a move."""
    same = [
        not isinstance(asked.proposal, Exception)
        and completion(asked.proposal, asked.obs) == asked.reply.text.strip()
        for asked in game.asked
    ]
    return sum(same) / len(same)
