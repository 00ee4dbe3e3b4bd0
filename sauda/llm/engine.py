"""Decodes replies: what a network does for each token, under a grammar if wanted.

It is not `generate` of transformers, because it needs five things together: a seed for each row,
replies that stream, prompts of which no part is read twice, a grammar for each row, and rows that
join and leave while others are decoded. torch is imported when a network is there, not before.
"""

import json
import re
import threading
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from sauda.games.adapter import Messages, Request, Schema

END_OF_TURN = ("<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<end_of_turn>", "<|end|>",
               "<|endoftext|>", "</s>")  # fmt: skip
TOP_K = 50  # tokens that are drawn among: sorting a whole vocabulary costs more than a layer
MAX_TOKENS = 20_000  # of all cached conversations: 0.5 GB for the small model in bf16
SPARE_TOKENS = 64  # that a batch's cache allocates ahead
# Guesses: by how many last tokens, how many of these are kept, and how many one pass reads, of one
# row and of all: more take longer.
LAST, MOST_CONTEXTS, MOST_GUESSES, TOKENS_OF_PASS = 3, 100_000, 8, 16

Layers = Sequence[tuple[Any, Any]]  # keys and values, each of shape (1, heads, tokens, width)
Prompt = tuple[int, ...]


@dataclass(frozen=True)
class Sampling:
    """How tokens are drawn; the published evaluation's numbers, with top-k sampling added."""

    temperature: float = 0.7  # 0 is greedy decoding
    top_p: float = 0.9
    max_new_tokens: int = 64  # of a reply
    median: bool = False  # where decoding is greedy, a price is the median and not the mode


DEFAULT_SAMPLING = Sampling(temperature=0.0, median=True)
WORDS = 0.7  # temperature of a sentence of its own
PRICE = re.compile(r'"(?:offer|raise)":\s?(\d{0,3})$')  # a reply that is within its price
# A reply that has come to its own sentence.
SENTENCE = re.compile(r'"(?:raise|hold)":\d+,(?:"with":\[[^\]]*\],)?"say":"')
# Digits in the order of the prices that begin with them: one that begins with 1 has three digits,
# since nobody bids a tenth of the list price.
FIRST_DIGITS, DIGITS = "2345678910", "0123456789"


def stop_tokens(tokenizer: Any, network: Any) -> list[int]:
    """The ids of all tokens that end a turn, sorted: a chat template may use another than EOS."""
    vocabulary = tokenizer.get_vocab()
    stops = {vocabulary[mark] for mark in END_OF_TURN if mark in vocabulary}
    for source in (network.config, getattr(network, "generation_config", None), tokenizer):
        ids = getattr(source, "eos_token_id", None)
        stops |= set(ids if isinstance(ids, list | tuple) else [ids])
    return sorted(stops - {None})


def prompt_ids(chat: Messages, tokenizer: Any, begins_reply: bool = True) -> list[int]:
    """The tokens of `chat`, up to where the reply begins if it does."""
    how = {"tokenize": False, "add_generation_prompt": begins_reply}
    text = tokenizer.apply_chat_template(list(chat), **how)
    return tokenizer(text, add_special_tokens=False)["input_ids"]


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
    said: int = 0  # tokens of its sentence so far
    taken: frozenset[tuple[int, ...]] = frozenset()  # the beginnings of earlier sentences
    quantile: float = 0.5  # of the price in what is left of its distribution
    may_guess: bool = False  # whether a pass may read guessed tokens
    guessed: list[int] = field(default_factory=list)  # those that were read and may follow


class Guesses:
    """What a reply goes on with, guessed by what followed its last tokens in earlier replies.

    Speculative decoding without a draft model, as prompt lookup decoding (Saxena 2023) has it, in
    what the model has written: to read eight tokens takes hardly longer than to read one, and where
    they are those that are drawn, none is read again.
    """

    def __init__(self) -> None:
        self._next: dict[tuple[int, ...], int] = {}

    def learn(self, tokens: Sequence[int]) -> None:
        """Remember a reply."""
        for at, token in enumerate(tokens):
            self._next[tuple(tokens[max(0, at - LAST) : at])] = token
        while len(self._next) > MOST_CONTEXTS:
            self._next.pop(next(iter(self._next)))

    def after(self, tokens: Sequence[int], most: int) -> list[int]:
        """Up to `most` tokens that may follow these."""
        text = list(tokens)
        while len(text) < len(tokens) + most:
            if (token := self._next.get(tuple(text[-LAST:]))) is None:
                break
            text.append(token)
        return text[len(tokens) :]


def _common_length(tokens: Sequence[int], other: Sequence[int]) -> int:
    pairs = enumerate(zip(tokens, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(tokens), len(other)))


@dataclass(frozen=True, eq=False)
class CachedConversation:
    """The keys and values of a prompt and its reply, or of a beginning that prompts share."""

    tokens: tuple[int, ...]  # of both
    prompt_length: int  # tokens
    layers: Layers
    shared: bool = False  # the beginning of many conversations: stays when one of them is kept
    network: Hashable = None  # whose keys and values they are

    def reusable(self, prompt: Sequence[int], network: Hashable = None) -> int:
        """How many leading tokens of `prompt` are cached; 0 for another conversation or network.

        The last token of `prompt` never counts, because its logits begin the reply.
        """
        if network != self.network:
            return 0
        same = _common_length(self.tokens, prompt[:-1])
        return same if same >= self.prompt_length else 0

    def continues(self, earlier: "CachedConversation") -> bool:
        """Whether this is a later turn of the conversation `earlier`."""
        begin = earlier.tokens[: earlier.prompt_length]
        same = self.tokens[: earlier.prompt_length] == begin
        return same and self.network == earlier.network and self.shared == earlier.shared


class PrefixCache:
    """The latest entries of one or several networks, up to `max_tokens`. Thread-safe."""

    def __init__(self, max_tokens: int = MAX_TOKENS) -> None:
        self.max_tokens, self.tokens = max_tokens, 0
        self._entries: list[CachedConversation] = []  # the least recently used first
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def longest(self, prompt: Sequence[int], network: Hashable = None) -> tuple[int, Layers]:
        """The largest number of cached leading tokens of `prompt`, and their keys and values."""
        with self._lock:
            lengths = [entry.reusable(prompt, network) for entry in self._entries]
            if known := max(lengths, default=0):
                self._entries.append(self._entries.pop(lengths.index(known)))
                return known, self._entries[-1].layers
        return 0, ()

    def keep(self, conversation: CachedConversation) -> None:
        """Add `conversation`; it replaces the cache entry of its own earlier turns."""
        with self._lock:
            others = [entry for entry in self._entries if not conversation.continues(entry)]
            self._entries = [*others, conversation]
            self.tokens = sum(len(entry.tokens) for entry in self._entries)
            while self.tokens > self.max_tokens and len(self._entries) > 1:
                self.tokens -= len(self._entries.pop(0).tokens)


@dataclass
class BatchState:
    """The cache of a batch, its attention mask and the logits of what follows its last tokens."""

    cache: Any  # of transformers
    mask: Any  # shape (rows, tokens), 0 for padding and for what was forgotten
    logits: Any = None  # shape (rows, places, vocabulary); of a row with fewer, the last places

    def conversation(
        self, row: int, prompt: Sequence[int], reply: Sequence[int]
    ) -> CachedConversation:
        """A row's `prompt` and what was read of `reply`: all but its last token."""
        tokens = (*prompt, *reply[:-1])
        index, at = slice(row, row + 1), self.mask[row].nonzero()[-len(tokens) :, 0]
        layers = [
            (layer.keys[index, :, at], layer.values[index, :, at]) for layer in self.cache.layers
        ]
        return CachedConversation(tokens, len(prompt), layers)

    def forget(self, counts: Sequence[int]) -> None:
        """Drop so many of the tokens that each row has read last."""
        width = self.mask.shape[1]
        for row, count in enumerate(counts):
            self.mask[row, width - count :] = 0
        if of_all := min(counts):
            self.cache.crop(-of_all)
            self.mask = self.mask[:, :-of_all]

    def keep(self, rows: list[int]) -> None:
        import torch

        index = torch.tensor(rows, device=self.mask.device)
        self.cache.batch_select_indices(index)
        self.mask = self.mask[index]

    @property
    def padding(self) -> int:
        """How many leading tokens are padding in every row, as ended rows may leave behind."""
        return int(self.mask.any(dim=0).int().argmax())


def side_by_side(states: Sequence[BatchState]) -> BatchState:
    """One batch of the rows of all `states`, padded on the left to equal length."""
    import torch

    if len(states) == 1:
        return states[0]
    tokens = [state.mask.shape[1] - state.padding for state in states]
    width = max(tokens)

    def stack(tensors: Sequence[Any], axis: int) -> Any:
        rows = zip(tensors, tokens, strict=True)
        return torch.cat([_pad(t.narrow(axis, t.shape[axis] - n, n), width, axis) for t, n in rows])

    batch = make_cache()
    for index, layers in enumerate(zip(*(state.cache.layers for state in states), strict=True)):
        keys = stack([layer.keys for layer in layers], 2)
        batch.update(keys, stack([layer.values for layer in layers], 2), index)
    mask = stack([state.mask for state in states], 1)
    places = max(state.logits.shape[1] for state in states)
    logits = [_pad(state.logits, places, 1) for state in states]
    return BatchState(batch, mask, torch.cat(logits))


def _pad(tensor: Any, width: int, axis: int) -> Any:
    """`tensor` with zeros before it along `axis`, up to `width`."""
    from torch.nn.functional import pad

    behind = (0, 0) * (tensor.ndim - 1 - axis)
    return pad(tensor, (*behind, width - tensor.shape[axis], 0))


def make_cache() -> Any:
    """An empty cache for transformers whose layers have spare memory."""
    from transformers.cache_utils import Cache

    return Cache(layer_class_to_replicate=_layer())


@cache
def _layer() -> type:
    """Keys and values, shape (rows, heads, tokens, width): the front of a larger buffer."""
    from transformers.cache_utils import DynamicLayer

    class PreallocatedLayer(DynamicLayer):
        _buffers: tuple[Any, Any] | None = None

        def update(self, key_states: Any, value_states: Any, *args: Any, **more: Any) -> Any:
            """Append keys and values; returns all of them."""
            held = self.get_seq_length()
            tokens = held + key_states.shape[-2]
            if self._buffers is None or self._buffers[0].shape[-2] < tokens:
                self._buffers = _allocate(key_states, held), _allocate(value_states, held)
                if held:
                    self._buffers[0][:, :, :held] = self.keys
                    self._buffers[1][:, :, :held] = self.values
            for buffer, fresh in zip(self._buffers, (key_states, value_states), strict=True):
                buffer[:, :, held:tokens] = fresh
            self.keys, self.values = (buffer[:, :, :tokens] for buffer in self._buffers)
            self.is_initialized = True
            return self.keys, self.values

        def batch_select_indices(self, indices: Any) -> None:
            """Keep only these rows."""
            super().batch_select_indices(indices)
            self._buffers = None  # the rows are copies now

    return PreallocatedLayer


def _allocate(fresh: Any, held: int) -> Any:
    rows, heads, more, width = fresh.shape
    return fresh.new_empty((rows, heads, held + more + SPARE_TOKENS, width))


class Decoder:
    """A network with its tokenizer: the operations of `DecodingBatch`, which holds the loop.

    Calls may overlap: they share the prefix cache alone.
    """

    def __init__(
        self,
        network: Any,
        tokenizer: Any,
        sampling: Sampling = DEFAULT_SAMPLING,
        reuses_prefix: bool = True,
        prefix_cache: PrefixCache | None = None,
        fresh: int = 0,
        first: float = WORDS,
    ) -> None:
        """No two sentences of a chat begin with the same `fresh` tokens; 0: they may.

        `first` is the temperature of a sentence's first token, which tells what it argues.
        """
        self.network, self.tokenizer, self.sampling = network, tokenizer, sampling
        self.fresh, self.first = fresh, first
        self.stops = stop_tokens(tokenizer, network)
        self.reuses_prefix = reuses_prefix
        self.prefix_cache = PrefixCache() if prefix_cache is None else prefix_cache
        self.guesses = Guesses()
        self._grammars: Any = None
        digits = {tokenizer.convert_tokens_to_ids(digit): digit for digit in DIGITS}
        self._digits = digits if len(digits) == len(DIGITS) else {}

    def row(self, request: Request) -> Row:
        """The empty row of `request`; raises ValueError where its schema makes no grammar."""
        draws = np.random.default_rng(request.seed).random(request.sampling.max_new_tokens)
        matcher = None if request.schema is None else self._matcher(request.schema)
        row = Row(request.sampling, self.prompt_ids(request.messages), draws, matcher)
        row.taken = self._beginnings(request.messages) if self.fresh else row.taken
        row.may_guess = request.guesses
        return row

    def _beginnings(self, chat: Messages) -> frozenset[tuple[int, ...]]:
        """The first tokens of its own sentences in `chat`, `fresh` of each."""
        begin = set()
        for message in chat:
            if message["role"] == "assistant" and (opens := SENTENCE.search(message["content"])):
                ids = self.tokenizer.encode(message["content"], add_special_tokens=False)
                text, at = "", 0
                while len(text) < opens.end() and at < len(ids):
                    at += 1
                    text = self.tokenizer.decode(ids[:at])
                if len(ids) >= at + self.fresh:
                    begin.add(tuple(ids[at : at + self.fresh]))
        return frozenset(begin)

    def prompt_ids(self, chat: Messages) -> list[int]:
        return prompt_ids(chat, self.tokenizer)

    def prefill(self, prompt: Sequence[int], chat: Messages) -> BatchState:
        """The state after the prompt of `chat`; what the cache holds of it is not read again.

        Read alone, a prompt gives the same logits whatever else the batch holds.
        """
        return self._read_prompt(prompt, *self._lookup(prompt, chat))

    def _read_prompt(self, prompt: Sequence[int], known: int, layers: Layers) -> BatchState:
        """The state after `prompt`, whose first `known` tokens have these keys and values."""
        import torch
        from transformers import DynamicCache

        device = self.network.device
        cache = DynamicCache(config=self.network.config)
        for index, (keys, values) in enumerate(layers):
            cache.update(keys[:, :, :known], values[:, :, :known], index)  # which copies them
        state = BatchState(cache, torch.ones((1, len(prompt)), dtype=int).to(device))
        self._forward(state, torch.tensor([prompt[known:]], device=device))
        return state

    def _lookup(self, prompt: Sequence[int], chat: Messages) -> tuple[int, Layers]:
        """How many leading tokens of `prompt` are read already, and their keys and values.

        Reads the chat's first message where no conversation holds more.
        """
        if not self.reuses_prefix:
            return 0, ()
        known, layers = self.prefix_cache.longest(prompt, id(self.network))
        if known:
            return known, layers
        # The prompt shares it with its first message alone: the same for all of a seat.
        static = prompt_ids(chat[:1], self.tokenizer, begins_reply=False)
        prefix = tuple(static[: _common_length(prompt[:-1], static)])
        if prefix:
            state = self._read_prompt(prefix, 0, ())
            layers = [(layer.keys, layer.values) for layer in state.cache.layers]
            self.keep(CachedConversation(prefix, len(prefix), layers, shared=True))
        return len(prefix), layers

    def keep(self, conversation: CachedConversation) -> None:
        """Cache a conversation of this network."""
        self.prefix_cache.keep(replace(conversation, network=id(self.network)))

    def read(self, state: BatchState, tokens: Sequence[Sequence[int]]) -> None:
        """Read more tokens of each row, and set the logits of what follows each of them."""
        import torch

        width, device = max(map(len, tokens)), self.network.device
        ids = [[0] * (width - len(row)) + [*row] for row in tokens]
        mask = [[0] * (width - len(row)) + [1] * len(row) for row in tokens]
        more = torch.tensor(mask, dtype=state.mask.dtype, device=device)
        state.mask = torch.cat([state.mask, more], dim=1)
        self._forward(state, torch.tensor(ids, device=device), width)

    def _forward(self, state: BatchState, ids: Any, places: int = 1) -> None:
        """Read `ids`, shape (rows, tokens); set the logits of what follows the last `places`."""
        import torch

        padding = {}
        if not state.mask.all():
            positions = (state.mask.cumsum(1) - 1).clamp(min=0)[:, -ids.shape[1] :]
            padding = {"attention_mask": state.mask, "position_ids": positions}
        # a tensor, not 1: a slice keeps strides with which torch copies the whole vocabulary matrix
        last = torch.arange(-places, 0, device=ids.device)
        given = {"input_ids": ids, "past_key_values": state.cache, "use_cache": True}
        with torch.inference_mode():
            out = self.network(**given, logits_to_keep=last, **padding)
        state.logits = out.logits.float()

    def sample(self, logits: Any, rows: Sequence[Row]) -> list[int]:
        import torch

        if any(row.matcher is not None or self._taken(row) for row in rows):
            logits = self._forbid(logits, rows)
        temperatures = [self._temperature(row) for row in rows]
        tokens = [self._median_digit(logits[i], row, token) if row.sampling.median else token
                  for i, (row, token) in enumerate(
                      zip(rows, logits.argmax(dim=1).tolist(), strict=True))]  # fmt: skip
        if not any(temperatures):
            return tokens
        divisors = torch.tensor([t or 1.0 for t in temperatures], dtype=logits.dtype)
        divisors = divisors.to(logits.device)
        top, ids = torch.topk(logits / divisors[:, None], min(TOP_K, logits.shape[1]))
        chances = torch.softmax(top, dim=1).cpu().numpy().astype(float)
        before = np.cumsum(chances, axis=1) - chances
        top_p = np.array([row.sampling.top_p for row in rows])
        chances = np.where(before < top_p[:, None], chances, 0.0)  # the first always stays
        reached = np.cumsum(chances, axis=1)
        draws = np.array([row.draws[len(row.tokens)] for row in rows])
        picked = (reached <= (draws * reached[:, -1])[:, None]).sum(axis=1)
        return [int(ids[i, p]) if temperatures[i] else tokens[i] for i, p in enumerate(picked)]

    def _temperature(self, row: Row) -> float:
        """The temperature of the row's next token.

        With `median` a move is greedy and the sentence that goes with it is drawn: the likeliest
        one would be said in every round.
        """
        if not (row.sampling.median and SENTENCE.search(row.text)):
            return row.sampling.temperature
        return WORDS if row.said else self.first

    def _median_digit(self, logits: Any, row: Row, best: int) -> int:
        """The token of the median price in the place of a digit; elsewhere the `best` token.

        The inverse of the distribution of prices at one half, digit by digit. After the first digit
        only those count that the price can go on with.
        """
        within = PRICE.search(row.text)
        if within is None or best not in self._digits:
            return best
        order = DIGITS if within[1] else FIRST_DIGITS
        ids = {digit: token for token, digit in self._digits.items()}
        chances = logits[[ids[digit] for digit in order]].softmax(0).tolist()
        below = 0.0
        for digit, chance in zip(order, chances, strict=True):
            if below + chance > row.quantile:
                row.quantile = (row.quantile - below) / chance
                return ids[digit]
            below += chance
        return best  # the quantile is 1 but for rounding

    def _forbid(self, logits: Any, rows: Sequence[Row]) -> Any:
        """The logits, minus infinity where a schema forbids a token or a beginning is taken."""
        import torch

        forbidden = np.zeros(tuple(logits.shape), dtype=bool)
        for row, never in zip(rows, forbidden, strict=True):
            if row.matcher is not None:
                mask = np.frombuffer(row.matcher.compute_bitmask(), dtype=np.uint8)
                bits = np.unpackbits(mask, bitorder="little")[: len(never)]
                never[:] = True
                never[: len(bits)] = bits == 0
            never[self._taken(row)] = True
        return logits.masked_fill(torch.from_numpy(forbidden).to(logits.device), float("-inf"))

    def _taken(self, row: Row) -> list[int]:
        """The tokens with which the sentence would begin as an earlier one."""
        if not row.taken or row.said != self.fresh - 1 or not SENTENCE.search(row.text):
            return []
        so_far = tuple(row.tokens[len(row.tokens) - row.said :])
        return [begin[-1] for begin in row.taken if begin[:-1] == so_far]

    def _matcher(self, schema: Schema) -> Any:
        import llguidance
        import llguidance.hf

        if self._grammars is None:  # reads the whole vocabulary: about a second, once
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
        row.said += bool(SENTENCE.search(row.text))
        if token in self.stops:
            row.finish = "stop"
            return
        row.text = self.tokenizer.decode(row.tokens, skip_special_tokens=True).rstrip("\ufffd")
        if row.matcher is not None:
            row.matcher.consume_token(token)
        if row.text.endswith("}") and _ends_object(row.text):
            row.finish = "object"
        elif len(row.tokens) >= row.sampling.max_new_tokens:
            row.finish = "length"


def _ends_object(text: str) -> bool:
    """Whether `text` ends with the brace that closes its first JSON object."""
    start = text.find("{")
    try:
        value, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, Mapping) and end == len(text)


class JointDecoder(Decoder):
    """A Decoder that reads the prompts of a batch in one pass: faster, with different rounding.

    In bf16 a logit may differ in its last digits from that of a prompt read alone, and a reply with
    it. Training plays with this decoder; what is recorded or served reads each prompt alone.
    """

    def sample(self, logits: Any, rows: Sequence[Row]) -> list[int]:
        """The next token of each row; only the logits that are drawn among leave the device."""
        import torch

        if any(row.matcher is not None or row.sampling.median for row in rows):
            return super().sample(logits, rows)
        top, ids = torch.topk(logits, min(TOP_K, logits.shape[1]))
        picked = super().sample(top.cpu(), rows)
        return [row[place] for row, place in zip(ids.tolist(), picked, strict=True)]

    def prefill_together(
        self, prompts: Mapping[Prompt, Messages], order: Sequence[Prompt]
    ) -> BatchState:
        """The state after several prompts, given with their chats; its rows are in `order`.

        All read as many tokens as the prompt of which the cache holds least.
        """
        import torch

        known = [self._lookup(prompt, chat) for prompt, chat in prompts.items()]
        width = max(map(len, prompts))
        unread = max(len(prompt) - held for prompt, (held, _) in zip(prompts, known, strict=True))
        if not all(layers for _, layers in known):
            unread = width
        cache, device = make_cache(), self.network.device
        held = [max(0, len(prompt) - unread) for prompt in prompts]

        def stack(tensors: Sequence[Any]) -> Any:
            rows = zip(tensors, held, strict=True)
            return torch.cat([_pad(row[:, :, :n], width - unread, 2) for row, n in rows])

        if width > unread:
            for index, rows in enumerate(zip(*(layers for _, layers in known), strict=True)):
                cache.update(*map(stack, zip(*rows, strict=True)), index)
        ids = [([0] * unread + list(prompt))[-unread:] for prompt in prompts]
        mask = [[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in prompts]
        state = BatchState(cache, torch.tensor(mask, device=device))
        self._forward(state, torch.tensor(ids, device=device))
        if len(order) > len(prompts):
            places = {prompt: place for place, prompt in enumerate(prompts)}
            rows = [places[prompt] for prompt in order]
            state.keep(rows)
            state.logits = state.logits[rows]
        return state


class DecodingBatch:
    """Replies of one decoder that share its forward passes."""

    def __init__(self, decoder: Decoder) -> None:
        self.decoder = decoder
        self.rows: dict[Hashable, Row] = {}
        self._state: BatchState | None = None

    def join(self, requests: Mapping[Hashable, Request]) -> None:
        """Read the prompts of `requests` and add a row for each, by the key that it has there.

        Requests with one prompt share its reading, as the replies of a GRPO group do. Raises
        ValueError, and adds none, where a schema makes no grammar.
        """
        rows = {key: self.decoder.row(request) for key, request in requests.items()}
        prompts = {tuple(rows[key].prompt): request.messages for key, request in requests.items()}
        before = [] if self._state is None else [self._state]
        fresh = self._read(prompts, [tuple(row.prompt) for row in rows.values()])
        self._state = side_by_side([*before, *fresh])
        self.rows |= rows

    def _read(
        self, prompts: Mapping[Prompt, Messages], order: Sequence[Prompt]
    ) -> list[BatchState]:
        """The states after `prompts` whose rows are in `order`; one batch, or one of each row."""
        if isinstance(self.decoder, JointDecoder) and len(prompts) > 1:
            return [self.decoder.prefill_together(prompts, order)]
        states = {prompt: self.decoder.prefill(prompt, chat) for prompt, chat in prompts.items()}
        return [states[prompt] for prompt in order]

    def sample(self) -> list[tuple[Hashable, Row]]:
        """Draw the next tokens of every row; returns all rows, of which some may be finished.

        A row gets a token, and one more after each guess that was right: the same as without
        guesses, but for rounding.
        """
        rows, places = list(self.rows.values()), self._state.logits.shape[1]
        drawn = list(range(len(rows)))
        wrong = [len(row.guessed) for row in rows]  # of the guesses, or not looked at yet
        while drawn:
            logits = self._state.logits[drawn, [places - 1 - wrong[i] for i in drawn]]
            sampled = self.decoder.sample(logits, [rows[i] for i in drawn])
            right = []
            for i, token in zip(drawn, sampled, strict=True):
                row = rows[i]
                self.decoder.append(row, token)
                if wrong[i] and not row.finish and row.guessed[-wrong[i]] == token:
                    wrong[i] -= 1
                    right.append(i)
            drawn = right
        self._state.forget(wrong)
        return list(self.rows.items())

    def advance(self, cancelled: frozenset[Hashable] = frozenset()) -> None:
        """Drop the finished and the cancelled rows, and read the last token of the others.

        What a dropped row has read stays in the cache: its conversation may go on.
        """
        running = []
        for i, (key, row) in enumerate(self.rows.items()):
            if not row.finish and key not in cancelled:
                running.append(i)
            elif self.decoder.reuses_prefix:
                self.decoder.keep(self._state.conversation(i, row.prompt, row.tokens))
            if row.finish:
                self.decoder.guesses.learn(row.tokens)
        if len(running) < len(self.rows):
            keys = list(self.rows)
            self.rows = {keys[i]: self.rows[keys[i]] for i in running}
            if not running:
                self._state = None
                return
            self._state.keep(running)
        rows, guesses = self.rows.values(), self.decoder.guesses
        most = min(MOST_GUESSES, TOKENS_OF_PASS // len(rows))
        for row in rows:
            row.guessed = guesses.after(row.tokens, most) if row.may_guess else []
        self.decoder.read(self._state, [[row.tokens[-1], *row.guessed] for row in rows])


def replies(
    decoder: Decoder,
    chats: Sequence[Messages],
    seeds: Sequence[int],
    schemas: Sequence[Schema | None],
) -> Iterator[tuple[int, Row]]:
    """Yields each row with its number after each of its tokens, until all are finished."""
    requests = {
        number: Request(chat, seed, schema, decoder.sampling)
        for number, (chat, seed, schema) in enumerate(zip(chats, seeds, schemas, strict=True))
    }
    batch = DecodingBatch(decoder)
    batch.join(requests)
    while batch.rows:
        yield from batch.sample()
        batch.advance()
