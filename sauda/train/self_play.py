"""The network in training as a player of whole games, with the decoding that is served.

Its adapter is merged into a copy of the base, as `load` does for the page, so that the trained
model is the one that plays. A network without an adapter is copied whole. A 4-bit network has no
room for a copy and plays with its adapter beside it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sauda.games.adapter import ModelTurn
from sauda.llm.engine import JointDecoder, Sampling, generation_mode, prompt_ids, replies
from sauda.llm.model import read_network
from sauda.llm.turn import PlayerSpec
from sauda.llm.types import Messages, Reply, Schema
from sauda.train.model import Base, is_adapted


@dataclass(frozen=True, slots=True)
class Sampled(Reply):
    """A reply with the ids of its tokens, a sampled end-of-turn token included."""

    ids: tuple[int, ...] = ()


class Learner:
    """A `network` in training as a player with its weights as of the last `refresh`.

    A `BatchGenerate`.
    """

    def __init__(self, network: Any, tokenizer: Any, base: Base, sampling: Sampling) -> None:
        self.network, self.tokenizer = network, tokenizer
        self.sampling = sampling
        in_place = base.precision == "nf4"
        self._served = (
            network
            if in_place
            else read_network(base.weights.folder, None, base.precision, base.device)
        )
        self.refresh()

    def refresh(self) -> None:
        """Take over the network's current numbers, and forget every conversation.

        A GPU reads whole prompts again: that is faster than to copy what is known of each.
        """
        if self._served is not self.network:
            _merge(self.network, self._served)
        on_cpu = self._served.device.type == "cpu"
        self._decoder = JointDecoder(
            self._served, self.tokenizer, self.sampling, reuses_prefix=on_cpu
        )

    def player_spec(self, constrained: bool = False) -> PlayerSpec:
        """This player in a seat, its replies under the grammar of moves if `constrained`."""
        return PlayerSpec(self, constrained)

    def __call__(self, messages: Messages, seed: int, schema: Schema | None = None) -> Reply:
        return self.batch([messages], [seed], [schema])[0]

    def batch(
        self, chats: Sequence[Messages], seeds: Sequence[int], schemas: Sequence[Schema | None]
    ) -> list[Reply]:
        with generation_mode(self._served):
            rows = dict(replies(self._decoder, chats, seeds, schemas))
        return [
            Sampled(row.text, "learner", len(row.tokens), row.finish, ids=tuple(row.tokens))
            for row in (rows[number] for number in range(len(chats)))
        ]


def _merge(network: Any, served: Any) -> None:
    """Give `served` the weights of `network`, or of the base in it plus its adapter's."""
    import torch
    from peft.tuners.lora import LoraLayer

    if not is_adapted(network):
        served.load_state_dict(network.state_dict())
        return
    with torch.no_grad():
        for name, module in network.get_base_model().named_modules():
            if isinstance(module, LoraLayer):
                delta = module.get_delta_weight("default")
                whole = module.get_base_layer().weight.float() + delta.float()
                served.get_submodule(name).weight.copy_(whole)


def as_sequence(moves: Sequence[ModelTurn], tokenizer: Any) -> dict[str, list[int]]:
    """The moves of one conversation as "input_ids" and "labels" of one length.

    The sampled tokens of `Sampled` replies are supervised; all other labels are -100. A reply that
    is a move in another form than the canonical one is written in canonical form and is not
    supervised; the last reply is kept as it was sampled.
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
