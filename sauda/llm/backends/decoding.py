"""Tokens, one after the other: sampling, the cache of the static prompt, batches, stop tokens.

Our own loop and not `generate` of transformers, because it needs four things together: a seed for
each row, replies that can be watched while they grow, prompts of which nothing is read twice, and a
grammar for each row.
"""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

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
REMEMBERED = 20_000  # tokens of conversations whose keys and values are kept: 0.5 GB for the mini
LIKELIEST = 50  # tokens that are drawn among: sorting a whole vocabulary costs more than a layer


@dataclass(frozen=True)
class Sampling:
    """How tokens are drawn; the published evaluation's numbers, but for the likeliest."""

    temperature: float = 0.7  # 0 takes the likeliest token
    top_p: float = 0.9
    max_new_tokens: int = 64  # of a reply


USUAL = Sampling()


def stop_tokens(tokenizer: Any, network: Any) -> list[int]:
    """Every token that ends a turn in this model's family, sorted (R3)."""
    vocabulary = tokenizer.get_vocab()
    stops = {vocabulary[mark] for mark in END_OF_TURN if mark in vocabulary}
    for source in (network.config, getattr(network, "generation_config", None), tokenizer):
        found = getattr(source, "eos_token_id", None)
        stops |= set(found if isinstance(found, list | tuple) else [found])
    return sorted(stops - {None})


@contextmanager
def generation_mode(network: Any) -> Iterator[None]:
    """Evaluation mode, cache on, gradient checkpointing off; afterwards all is as it was (R1)."""
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


@dataclass
class Row:
    """One reply as it grows."""

    draws: np.ndarray  # a uniform draw a token
    matcher: Any = None  # of llguidance, where a schema binds the reply
    tokens: list[int] = field(default_factory=list)
    text: str = ""
    finish: str = ""


@dataclass(frozen=True)
class Read:
    """A conversation that was read: its tokens, those of its prompt, their keys and values."""

    tokens: tuple[int, ...]
    prompt: int  # of the tokens
    layers: Sequence[tuple[Any, Any]]

    def shared(self, prompt: Sequence[int]) -> int:
        """How many tokens of `prompt` need not be read again; 0 where it is another conversation.

        Never the last one, whose logits begin the reply.
        """
        same = 0
        for mine, other in zip(self.tokens, prompt[:-1], strict=False):
            if mine != other:
                break
            same += 1
        return same if same >= self.prompt else 0


class Memory:
    """The conversations read last; the oldest go first. Safe for calls that overlap."""

    def __init__(self, most: int = REMEMBERED) -> None:
        self.most, self.tokens = most, 0
        self._kept: list[Read] = []
        self._lock = threading.Lock()

    def longest(self, prompt: Sequence[int]) -> tuple[int, Sequence[tuple[Any, Any]]]:
        """The most tokens of `prompt` that were read, and the keys and values they are part of."""
        with self._lock:
            kept = list(self._kept)
        found = max(kept, key=lambda read: read.shared(prompt), default=None)
        if found is None or not found.shared(prompt):
            return 0, ()
        return found.shared(prompt), found.layers

    def keep(self, read: Read) -> None:
        """Remember `read` in the place of what it goes on from."""
        with self._lock:
            self._kept = [
                old for old in self._kept if read.tokens[: old.prompt] != old.tokens[: old.prompt]
            ]
            self._kept.append(read)
            self.tokens = sum(len(old.tokens) for old in self._kept)
            while self.tokens > self.most and len(self._kept) > 1:
                self.tokens -= len(self._kept.pop(0).tokens)


class Decoder:
    """A network and its tokenizer, ready to write. Calls share nothing but what was read."""

    def __init__(
        self, network: Any, tokenizer: Any, sampling: Sampling = USUAL, prefix: bool = True
    ) -> None:
        self.network, self.tokenizer, self.sampling = network, tokenizer, sampling
        self.stops = stop_tokens(tokenizer, network)
        self.reuses_prefix = prefix
        self.memory = Memory()
        self._prefixes: dict[tuple[int, ...], Any] = {}
        self._grammars: Any = None

    def replies(
        self, chats: Sequence[Messages], seeds: Sequence[int], schemas: Sequence[Schema | None]
    ) -> Iterator[tuple[int, Row]]:
        """Every row after each of its tokens, by number, until all are finished."""
        rows = [
            Row(np.random.default_rng(seed).random(self.sampling.max_new_tokens)) for seed in seeds
        ]
        for row, schema in zip(rows, schemas, strict=True):
            row.matcher = None if schema is None else self._matcher(schema)
        growing = list(range(len(rows)))
        prompts = [self._ids(chat) for chat in chats]
        state = self._read(prompts, chats)
        while True:
            for number, token in zip(
                growing, self._choose(state.logits, growing, rows), strict=True
            ):
                self._take(rows[number], token)
                yield number, rows[number]
            kept = []
            for i, number in enumerate(growing):
                if not rows[number].finish:
                    kept.append(i)
                elif self.reuses_prefix:
                    self.memory.keep(state.read(i, prompts[number], rows[number].tokens))
            if not kept:
                return
            if len(kept) < len(growing):
                state.keep(kept)
                growing = [growing[i] for i in kept]
            self._advance(state, [rows[number].tokens[-1] for number in growing])

    def _ids(self, chat: Messages) -> list[int]:
        text = self.tokenizer.apply_chat_template(
            list(chat), tokenize=False, add_generation_prompt=True
        )
        return self.tokenizer(text, add_special_tokens=False)["input_ids"]

    def _static(self, chat: Messages) -> list[int]:
        """The tokens of the chat's first message, which all prompts of a seat begin with."""
        text = self.tokenizer.apply_chat_template(list(chat[:1]), tokenize=False)
        return self.tokenizer(text, add_special_tokens=False)["input_ids"]

    def _read(self, prompts: list[list[int]], chats: Sequence[Messages]) -> "_State":
        """The prompts, read one by one and put side by side, padded on the left.

        One by one because unpadded attention takes the fast path: a padded batch of 32 took a CPU
        three times as long.
        """
        import torch

        read = [self._read_one(prompt, chat) for prompt, chat in zip(prompts, chats, strict=True)]
        if len(read) == 1:
            return read[0]
        width = max(state.mask.shape[1] for state in read)
        return _State(
            _side_by_side([state.cache for state in read], width),
            torch.cat([_padded(state.mask, width, 1) for state in read]),
            torch.cat([state.logits for state in read]),
        )

    def _read_one(self, prompt: list[int], chat: Messages) -> "_State":
        """A prompt of its own; what was read of its conversation comes from memory."""
        import torch

        device = self.network.device
        known, layers = self.memory.longest(prompt) if self.reuses_prefix else (0, ())
        if not known:
            prefix = self._prefix(prompt, chat)
            known, layers = len(prefix), self._static_layers(prefix)
        state = _State(
            self._cache(layers, known), torch.ones((1, len(prompt)), dtype=int).to(device)
        )
        self._forward(state, torch.tensor([prompt[known:]], device=device))
        return state

    def _prefix(self, prompt: list[int], chat: Messages) -> tuple[int, ...]:
        """The prompt's static beginning, the same for every prompt of a seat."""
        if not self.reuses_prefix:
            return ()
        static = self._static(chat)
        same = (a == b for a, b in zip(prompt[:-1], static, strict=False))
        return tuple(static[: next((i for i, equal in enumerate(same) if not equal), len(static))])

    def _static_layers(self, prefix: tuple[int, ...]) -> Sequence[tuple[Any, Any]]:
        """The keys and values of a static beginning, which is read only once."""
        import torch
        from transformers import DynamicCache

        if prefix and prefix not in self._prefixes:
            first = _State(DynamicCache(config=self.network.config), None)
            self._forward(first, torch.tensor([prefix], device=self.network.device))
            self._prefixes[prefix] = [(layer.keys, layer.values) for layer in first.cache.layers]
        return self._prefixes.get(prefix, ())

    def _cache(self, layers: Sequence[tuple[Any, Any]], tokens: int) -> Any:
        """A fresh cache that begins with the first `tokens` of `layers`."""
        from transformers import DynamicCache

        cache = DynamicCache(config=self.network.config)
        for index, (keys, values) in enumerate(layers):
            cache.update(keys[:, :, :tokens], values[:, :, :tokens], index)  # which copies them
        return cache

    def _advance(self, state: "_State", tokens: list[int]) -> None:
        import torch

        device = self.network.device
        ones = torch.ones((len(tokens), 1), dtype=state.mask.dtype, device=device)
        state.mask = torch.cat([state.mask, ones], dim=1)
        self._forward(state, torch.tensor(tokens, device=device)[:, None])

    def _forward(self, state: "_State", ids: Any) -> None:
        import torch

        place = {}
        if state.mask is not None and not state.mask.all():  # padded: say where each token stands
            positions = (state.mask.cumsum(1) - 1).clamp(min=0)[:, -ids.shape[1] :]
            place = {"attention_mask": state.mask, "position_ids": positions}
        # a tensor, not 1: a slice keeps strides with which torch copies the whole vocabulary matrix
        last = torch.tensor([-1], device=ids.device)
        with torch.inference_mode():
            out = self.network(
                input_ids=ids,
                past_key_values=state.cache,
                use_cache=True,
                logits_to_keep=last,
                **place,
            )
        state.logits = out.logits[:, -1].float()

    def _choose(self, logits: Any, growing: Sequence[int], rows: Sequence[Row]) -> list[int]:
        """The next token of each growing row."""
        import torch

        if any(rows[number].matcher is not None for number in growing):
            logits = self._allowed(logits, [rows[number] for number in growing])
        if self.sampling.temperature == 0:
            return logits.argmax(dim=1).tolist()
        top, ids = torch.topk(logits / self.sampling.temperature, min(LIKELIEST, logits.shape[1]))
        chances = torch.softmax(top, dim=1).cpu().numpy().astype(float)
        before = np.cumsum(chances, axis=1) - chances
        chances = np.where(before < self.sampling.top_p, chances, 0.0)  # the first always stays
        reached = np.cumsum(chances, axis=1)
        draws = np.array([rows[n].draws[len(rows[n].tokens)] for n in growing])
        picked = (reached <= (draws * reached[:, -1])[:, None]).sum(axis=1)
        return [int(ids[i, p]) for i, p in enumerate(picked)]

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

    def _take(self, row: Row, token: int) -> None:
        """`row` one token on."""
        if token in self.stops:
            row.tokens.append(token)
            row.finish = "stop"
            return
        row.tokens.append(token)
        row.text = self.tokenizer.decode(row.tokens, skip_special_tokens=True).rstrip("\ufffd")
        if row.matcher is not None:
            row.matcher.consume_token(token)
        if row.text.endswith("}") and _balanced(row.text):
            row.finish = "object"
        elif len(row.tokens) >= self.sampling.max_new_tokens:
            row.finish = "length"


@dataclass
class _State:
    cache: Any
    mask: Any  # 1 for real tokens, 0 for padding; None where there is none
    logits: Any = None

    def read(self, row: int, prompt: Sequence[int], written: Sequence[int]) -> Read:
        """What this row read and wrote, the last token left out: it was never read."""
        tokens = (*prompt, *written[:-1])
        one, last = slice(row, row + 1), -len(tokens)
        layers = [
            (layer.keys[one, :, last:].clone(), layer.values[one, :, last:].clone())
            for layer in self.cache.layers
        ]
        return Read(tokens, len(prompt), layers)

    def keep(self, rows: list[int]) -> None:
        """Drop all rows but these."""
        import torch

        index = torch.tensor(rows, device=self.mask.device)
        self.cache.batch_select_indices(index)
        self.mask = self.mask[index]


def _padded(numbers: Any, width: int, axis: int) -> Any:
    """`numbers` with zeros before them along `axis`, up to `width`."""
    import torch

    gap = list(numbers.shape)
    gap[axis] = width - gap[axis]
    return torch.cat([numbers.new_zeros(gap), numbers], dim=axis)


def _side_by_side(caches: Sequence[Any], width: int) -> Any:
    """One cache whose rows are `caches` of one row each, padded on the left to `width` tokens."""
    import torch

    from sauda.llm.backends.kv_cache import roomy

    whole = roomy()
    for index, layers in enumerate(zip(*(cache.layers for cache in caches), strict=True)):
        keys = torch.cat([_padded(layer.keys, width, 2) for layer in layers])
        values = torch.cat([_padded(layer.values, width, 2) for layer in layers])
        whole.update(keys, values, index)
    return whole


def _balanced(text: str) -> bool:
    """Whether `text` ends with the brace that closes its first JSON object."""
    start = text.find("{")
    try:
        found, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, Mapping) and end == len(text)
