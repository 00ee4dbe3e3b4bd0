"""Decoding: what a network does for each token of a reply, under a grammar if wanted.

The loop is in `batch.py`. It is not `generate` of transformers, because it needs five things
together: a seed for each row, replies that stream, prompts of which no part is read twice, a
grammar for each row, and rows that join and leave while others are decoded.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sauda.llm.backends.kv_cache import BatchState
from sauda.llm.backends.prefix_cache import CachedConversation, PrefixCache
from sauda.llm.types import Messages, Schema

END_OF_TURN = (
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<end_of_turn>",
    "<|end|>",
    "<|endoftext|>",
    "</s>",
)
TOP_K = 50  # tokens that are drawn among: sorting a whole vocabulary costs more than a layer


@dataclass(frozen=True)
class Sampling:
    """How tokens are drawn; the published evaluation's numbers, with top-k sampling added."""

    temperature: float = 0.7  # 0 is greedy decoding
    top_p: float = 0.9
    max_new_tokens: int = 64  # of a reply


DEFAULT_SAMPLING = Sampling(temperature=0.0)  # chosen on training seeds: `python -m sauda decoding`


def stop_tokens(tokenizer: Any, network: Any) -> list[int]:
    """The ids of all tokens that end a turn, sorted: a chat template may use another than EOS."""
    vocabulary = tokenizer.get_vocab()
    stops = {vocabulary[mark] for mark in END_OF_TURN if mark in vocabulary}
    for source in (network.config, getattr(network, "generation_config", None), tokenizer):
        ids = getattr(source, "eos_token_id", None)
        stops |= set(ids if isinstance(ids, list | tuple) else [ids])
    return sorted(stops - {None})


@contextmanager
def generation_mode(network: Any) -> Iterator[None]:
    """Evaluation mode, cache on, gradient checkpointing off; the former mode is restored.

    Left in training mode, dropout and a missing cache would change what the network writes.
    """
    training, cached = network.training, network.config.use_cache
    checkpointing = any(getattr(m, "gradient_checkpointing", False) for m in network.modules())
    network.eval()
    network.config.use_cache = True
    if checkpointing:
        network.gradient_checkpointing_disable()
    try:
        yield
    finally:
        network.train(training)
        network.config.use_cache = cached
        if checkpointing:
            network.gradient_checkpointing_enable()


@dataclass(frozen=True)
class ReplyRequest:
    """A reply to be decoded: its chat, the seed of its draws, its grammar if any."""

    messages: Messages
    seed: int
    schema: Schema | None
    sampling: Sampling


@dataclass
class Row:
    """One reply while it is decoded."""

    sampling: Sampling
    prompt: Sequence[int]
    draws: np.ndarray  # shape (max_new_tokens,), uniform in [0, 1)
    matcher: Any = None  # of llguidance, where the reply follows a schema
    tokens: list[int] = field(default_factory=list)
    text: str = ""
    finish: str = ""  # stop, object or length; "" while it grows


class Decoder:
    """A network with its tokenizer: the operations that decode a reply token by token.

    `batch.py` holds the loop. Calls may overlap: they share the prefix cache alone.
    """

    def __init__(
        self,
        network: Any,
        tokenizer: Any,
        sampling: Sampling = DEFAULT_SAMPLING,
        reuses_prefix: bool = True,
        prefix_cache: PrefixCache | None = None,
    ) -> None:
        self.network, self.tokenizer, self.sampling = network, tokenizer, sampling
        self.stops = stop_tokens(tokenizer, network)
        self.reuses_prefix = reuses_prefix
        self.prefix_cache = PrefixCache() if prefix_cache is None else prefix_cache
        self._grammars: Any = None

    def row(self, request: ReplyRequest) -> Row:
        """The empty row of `request`; raises ValueError where its schema makes no grammar."""
        draws = np.random.default_rng(request.seed).random(request.sampling.max_new_tokens)
        matcher = None if request.schema is None else self._matcher(request.schema)
        return Row(request.sampling, self.prompt_ids(request.messages), draws, matcher)

    def prompt_ids(self, chat: Messages) -> list[int]:
        """The tokens of `chat` up to where the reply begins."""
        text = self.tokenizer.apply_chat_template(
            list(chat), tokenize=False, add_generation_prompt=True
        )
        return self.tokenizer(text, add_special_tokens=False)["input_ids"]

    def _static_ids(self, chat: Messages) -> list[int]:
        """The tokens of the chat's first message, which all prompts of a seat begin with."""
        text = self.tokenizer.apply_chat_template(list(chat[:1]), tokenize=False)
        return self.tokenizer(text, add_special_tokens=False)["input_ids"]

    def prefill(self, prompt: Sequence[int], chat: Messages) -> BatchState:
        """The state after the prompt of `chat`; what the cache holds of it is not read again.

        Read alone, a prompt gives the same logits whatever else the batch holds; `joint.py` reads
        several in one pass.
        """
        import torch

        device = self.network.device
        known, layers = self._cached(prompt, chat) if self.reuses_prefix else (0, ())
        mask = torch.ones((1, len(prompt)), dtype=int).to(device)
        state = BatchState(self._cache(layers, known), mask)
        self._forward(state, torch.tensor([prompt[known:]], device=device))
        return state

    def _cached(
        self, prompt: Sequence[int], chat: Messages
    ) -> tuple[int, Sequence[tuple[Any, Any]]]:
        """How many leading tokens of `prompt` are read already, and their keys and values.

        Reads the chat's first message where no conversation holds more.
        """
        known, layers = self.prefix_cache.longest(prompt, id(self.network))
        if not known and (prefix := self._static_prefix(prompt, chat)):
            known, layers = len(prefix), self._read_prefix(prefix)
        return known, layers

    def _static_prefix(self, prompt: Sequence[int], chat: Messages) -> tuple[int, ...]:
        """The prompt's static beginning, the same for every prompt of a seat."""
        static = self._static_ids(chat)
        same = (a == b for a, b in zip(prompt[:-1], static, strict=False))
        return tuple(static[: next((i for i, equal in enumerate(same) if not equal), len(static))])

    def _read_prefix(self, prefix: tuple[int, ...]) -> Sequence[tuple[Any, Any]]:
        """The keys and values of a static beginning, which are kept."""
        import torch
        from transformers import DynamicCache

        state = BatchState(DynamicCache(config=self.network.config), None)
        self._forward(state, torch.tensor([prefix], device=self.network.device))
        layers = [(layer.keys, layer.values) for layer in state.cache.layers]
        self.keep(CachedConversation(prefix, len(prefix), layers, shared=True))
        return layers

    def keep(self, conversation: CachedConversation) -> None:
        """Cache a conversation of this network."""
        self.prefix_cache.keep(replace(conversation, network=id(self.network)))

    def _cache(self, layers: Sequence[tuple[Any, Any]], tokens: int) -> Any:
        """A fresh cache that begins with the first `tokens` of `layers`."""
        from transformers import DynamicCache

        cache = DynamicCache(config=self.network.config)
        for index, (keys, values) in enumerate(layers):
            cache.update(keys[:, :, :tokens], values[:, :, :tokens], index)  # which copies them
        return cache

    def read(self, state: BatchState, tokens: list[int]) -> None:
        """Read one more token of each row."""
        import torch

        device = self.network.device
        ones = torch.ones((len(tokens), 1), dtype=state.mask.dtype, device=device)
        state.mask = torch.cat([state.mask, ones], dim=1)
        self._forward(state, torch.tensor(tokens, device=device)[:, None])

    def _forward(self, state: BatchState, ids: Any) -> None:
        """Read `ids`, shape (rows, tokens), and set the logits of each row's next token."""
        import torch

        padding = {}
        if state.mask is not None and not state.mask.all():
            positions = (state.mask.cumsum(1) - 1).clamp(min=0)[:, -ids.shape[1] :]
            padding = {"attention_mask": state.mask, "position_ids": positions}
        # a tensor, not 1: a slice keeps strides with which torch copies the whole vocabulary matrix
        last = torch.tensor([-1], device=ids.device)
        with torch.inference_mode():
            out = self.network(
                input_ids=ids,
                past_key_values=state.cache,
                use_cache=True,
                logits_to_keep=last,
                **padding,
            )
        state.logits = out.logits[:, -1].float()

    def sample(self, logits: Any, rows: Sequence[Row]) -> list[int]:
        """The next token of each row."""
        import torch

        if any(row.matcher is not None for row in rows):
            logits = self._allowed(logits, rows)
        greedy = [row.sampling.temperature == 0 for row in rows]
        if all(greedy):
            return logits.argmax(dim=1).tolist()
        temperatures = [row.sampling.temperature or 1.0 for row in rows]
        divisors = torch.tensor(temperatures, dtype=logits.dtype, device=logits.device)
        top, ids = torch.topk(logits / divisors[:, None], min(TOP_K, logits.shape[1]))
        chances = torch.softmax(top, dim=1).cpu().numpy().astype(float)
        before = np.cumsum(chances, axis=1) - chances
        top_p = np.array([row.sampling.top_p for row in rows])
        chances = np.where(before < top_p[:, None], chances, 0.0)  # the first always stays
        reached = np.cumsum(chances, axis=1)
        draws = np.array([row.draws[len(row.tokens)] for row in rows])
        picked = (reached <= (draws * reached[:, -1])[:, None]).sum(axis=1)
        return [int(ids[i, 0 if greedy[i] else p]) for i, p in enumerate(picked)]

    def _allowed(self, logits: Any, rows: Sequence[Row]) -> Any:
        """The logits with every token that a row's schema forbids at minus infinity."""
        import torch

        masks = [np.frombuffer(row.matcher.compute_bitmask(), dtype=np.uint8) for row in rows]
        bits = np.unpackbits(np.stack(masks), axis=1, bitorder="little")[:, : logits.shape[1]]
        if bits.shape[1] < logits.shape[1]:
            bits = np.pad(bits, ((0, 0), (0, logits.shape[1] - bits.shape[1])))
        forbidden = torch.from_numpy(bits == 0).to(logits.device)
        return logits.masked_fill(forbidden, float("-inf"))

    def _matcher(self, schema: Schema) -> Any:
        import llguidance
        import llguidance.hf

        if self._grammars is None:  # it reads the whole vocabulary: about a second, once
            self._grammars = llguidance.hf.from_tokenizer(self.tokenizer, eos_token=self.stops)
        matcher = llguidance.LLMatcher(
            self._grammars, llguidance.LLMatcher.grammar_from_json_schema(json.dumps(schema))
        )
        if matcher.is_error():
            raise ValueError(f"no grammar can be made of this schema: {matcher.get_error()}")
        return matcher

    def append(self, row: Row, token: int) -> None:
        """Add `token` to `row`, with its text and why it ends, if it does."""
        row.tokens.append(token)
        if token in self.stops:
            row.finish = "stop"
            return
        row.text = self.tokenizer.decode(row.tokens, skip_special_tokens=True).rstrip("\ufffd")
        if row.matcher is not None:
            row.matcher.consume_token(token)
        if row.text.endswith("}") and _balanced(row.text):
            row.finish = "object"
        elif len(row.tokens) >= row.sampling.max_new_tokens:
            row.finish = "length"


def _balanced(text: str) -> bool:
    """Whether `text` ends with the brace that closes its first JSON object."""
    start = text.find("{")
    try:
        value, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, Mapping) and end == len(text)
