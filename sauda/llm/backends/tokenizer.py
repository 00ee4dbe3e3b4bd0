"""The small model's tokenizer without transformers, whose import brings torch into a process."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sauda.llm.backends.weights import CACHE, FOLDER, TOKENIZER_SHA256, NoWeights
from sauda.records.store import sha256

FILE, CONFIG, TEMPLATE = "tokenizer.json", "tokenizer_config.json", "chat_template.jinja"


@dataclass(frozen=True)
class ChatTokenizer:
    """What conversations need of transformers' tokenizer, with the same results."""

    encoder: Any  # a tokenizers.Tokenizer
    template: Any  # a jinja2.Template
    special: Mapping[str, str]  # tokens that the template may name

    @property
    def eos_token_id(self) -> int:
        """The token that ends a turn."""
        return self.encoder.token_to_id(self.special["eos_token"])

    def apply_chat_template(
        self,
        messages: Sequence[Mapping[str, str]],
        tokenize: bool = False,
        add_generation_prompt: bool = False,
    ) -> str:
        """The text of a conversation. Raises ValueError where tokens are asked for."""
        if tokenize:
            raise ValueError("call the tokenizer with the text of the conversation")
        return self.template.render(
            messages=messages, add_generation_prompt=add_generation_prompt, **self.special
        )

    def __call__(self, text: str, add_special_tokens: bool = True) -> dict[str, list[int]]:
        encoded = self.encoder.encode(text, add_special_tokens=add_special_tokens)
        return {"input_ids": encoded.ids}

    def decode(self, ids: Sequence[int]) -> str:
        """The text of tokens, special ones included."""
        return self.encoder.decode(list(ids), skip_special_tokens=False)


def chat_tokenizer(cache: Path = CACHE) -> ChatTokenizer:
    """The tokenizer of the small model. Raises NoWeights where that is not prepared."""
    from jinja2.sandbox import ImmutableSandboxedEnvironment
    from tokenizers import Tokenizer

    folder = cache / FOLDER
    if not (folder / FILE).exists() or sha256(folder / FILE) != TOKENIZER_SHA256:
        raise NoWeights(
            "the small model's tokenizer is not on this machine; `python -m sauda weights` prepares"
            " it"
        )
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    names = ("bos_token", "eos_token", "pad_token", "unk_token")
    rules = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    template = (folder / TEMPLATE).read_text(encoding="utf-8")
    return ChatTokenizer(
        Tokenizer.from_file(str(folder / FILE)),
        rules.from_string(template),
        {name: config[name] for name in names if name in config},
    )
