"""Replies that one network decodes side by side; rows may join and leave between two tokens."""

from collections.abc import Hashable, Iterator, Mapping, Sequence

from sauda.llm.backends.decoding import Decoder, ReplyRequest, Row
from sauda.llm.backends.joint import JointDecoder, Prompt
from sauda.llm.backends.kv_cache import BatchState, side_by_side
from sauda.llm.types import Messages, Schema


class DecodingBatch:
    """Replies of one decoder that share its forward passes."""

    def __init__(self, decoder: Decoder) -> None:
        self.decoder = decoder
        self.rows: dict[Hashable, Row] = {}
        self._state: BatchState | None = None

    def join(self, requests: Mapping[Hashable, ReplyRequest]) -> None:
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
        """Draw the next token of every row; returns all rows, of which some may be finished."""
        sampled = self.decoder.sample(self._state.logits, list(self.rows.values()))
        for row, token in zip(self.rows.values(), sampled, strict=True):
            self.decoder.append(row, token)
        return list(self.rows.items())

    def advance(self, cancelled: frozenset[Hashable] = frozenset()) -> None:
        """Drop the finished and the cancelled rows, and read the last token of the others.

        What a dropped row has read stays in the cache: its conversation may go on.
        """
        kept = []
        for i, (key, row) in enumerate(self.rows.items()):
            if not row.finish and key not in cancelled:
                kept.append(i)
            elif self.decoder.reuses_prefix:
                self.decoder.keep(self._state.conversation(i, row.prompt, row.tokens))
        if len(kept) < len(self.rows):
            keys = list(self.rows)
            self.rows = {keys[i]: self.rows[keys[i]] for i in kept}
            if not kept:
                self._state = None
                return
            self._state.keep(kept)
        self.decoder.read(self._state, [row.tokens[-1] for row in self.rows.values()])


def replies(
    decoder: Decoder,
    chats: Sequence[Messages],
    seeds: Sequence[int],
    schemas: Sequence[Schema | None],
) -> Iterator[tuple[int, Row]]:
    """Yields each row with its number after each of its tokens, until all are finished."""
    requests = {
        number: ReplyRequest(chat, seed, schema, decoder.sampling)
        for number, (chat, seed, schema) in enumerate(zip(chats, seeds, schemas, strict=True))
    }
    batch = DecodingBatch(decoder)
    batch.join(requests)
    while batch.rows:
        yield from batch.sample()
        batch.advance()
