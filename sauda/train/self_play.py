"""The network in training as a player: it plays whole games as it would be served.

Its adapter is merged into a copy of the base, as `load` does for the page, so that what is trained
is what plays. A 4-bit network has no room for a copy and plays as it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sauda.games.messages import ModelTurn
from sauda.llm.backends.decoding import Decoder, Sampling, generation_mode
from sauda.llm.backends.model import read_network
from sauda.llm.registry import PlayerSpec
from sauda.llm.types import Messages, Reply, Schema
from sauda.train.base import Base


@dataclass(frozen=True, slots=True)
class Sampled(Reply):
    """A reply with its tokens, the one that ended the turn among them where it was sampled."""

    ids: tuple[int, ...] = ()


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
        self._decoder = Decoder(self._served, self.tokenizer, self.sampling)  # remembers nothing

    def player_spec(self, constrained: bool = False) -> PlayerSpec:
        """It in a seat."""
        return PlayerSpec(self, constrained)

    def __call__(self, messages: Messages, seed: int, schema: Schema | None = None) -> Reply:
        return self.batch([messages], [seed], [schema])[0]

    def batch(
        self, chats: Sequence[Messages], seeds: Sequence[int], schemas: Sequence[Schema | None]
    ) -> list[Reply]:
        with generation_mode(self._served):
            rows = dict(self._decoder.replies(chats, seeds, schemas))
        return [
            Sampled(row.text, "learner", len(row.tokens), row.finish, ids=tuple(row.tokens))
            for row in (rows[number] for number in range(len(chats)))
        ]


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


def learnt(moves: Sequence[ModelTurn], tokenizer: Any) -> dict[str, list[int]]:
    """Moves of one conversation as "input_ids" and "labels" of one length.

    Labels are -100 where nothing is learnt. Learnt are the tokens that were sampled, of `Sampled`
    replies. A reply that was read as a move but is not its canonical form stands in the
    conversation as that form, and is not learnt; the last one stands as it is.
    """
    last = moves[-1]
    ids = [*prompt_ids(last.request.messages, tokenizer), *last.reply.ids]
    labels = [-100] * len(ids)
    for turn in moves:
        start = len(prompt_ids(turn.request.messages, tokenizer))
        place = slice(start, start + len(turn.reply.ids))
        if ids[place] == list(turn.reply.ids):
            labels[place] = ids[place]
    return {"input_ids": ids, "labels": labels}


def prompt_ids(chat: Messages, tokenizer: Any) -> list[int]:
    """The tokens after which a reply to `chat` begins, as `Decoder` reads them."""
    text = tokenizer.apply_chat_template(list(chat), tokenize=False, add_generation_prompt=True)
    return tokenizer(text, add_special_tokens=False)["input_ids"]
