"""Language models of a few lines, for the tests of what stands around a model."""

import json
from collections.abc import Callable
from typing import Any

from sauda.llm.types import Reply

GARBAGE = "I give up"
CHAT_TEMPLATE = """{% for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""


class Canned:
    """A model that replies with what `write` makes of the messages and the seed."""

    def __init__(self, write: Callable[[Any, int], str], finish: str = "object") -> None:
        self.write, self.finish = write, finish

    def __call__(self, messages, seed, schema=None) -> Reply:
        return Reply(self.write(messages, seed), "canned", 5, self.finish)

    def batch(self, chats, seeds, schemas=None) -> list[Reply]:
        return [self(*request) for request in zip(chats, seeds, strict=True)]


def own_moves(messages: Any) -> int:
    """How often the model has moved before in a chat."""
    return sum(message["role"] == "assistant" for message in messages)


def bids(first: int, step: int = 4, garbage: int = 0, act: str = "") -> Canned:
    """Bids `first` percent, then `step` more each time; garbage at every seed of `garbage`.

    It says `act` with its first bid.
    """

    def write(messages: Any, seed: int) -> str:
        if garbage and seed % garbage == 0:
            return GARBAGE
        made = own_moves(messages)
        reply = {"offer": first + made * step}
        return json.dumps(reply | ({"say": act} if act and not made else {}))

    return Canned(write)


def tiny_network() -> tuple[Any, Any]:
    """A random Llama of two layers in fp32, and a tokenizer whose tokens are bytes."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    marks = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    tokens = [*marks, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    by_bytes = Tokenizer(models.BPE({token: i for i, token in enumerate(tokens)}, merges=[]))
    by_bytes.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    by_bytes.decoder = decoders.ByteLevel()
    by_bytes.add_special_tokens(marks)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=by_bytes, eos_token=marks[2])
    tokenizer.chat_template = CHAT_TEMPLATE
    torch.set_num_threads(1)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokens), hidden_size=64, intermediate_size=128, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, eos_token_id=2, pad_token_id=2,
    )  # fmt: skip
    return LlamaForCausalLM(config).eval(), tokenizer
