"""Exact losses of the supervised tokens only: log-probabilities and cross-entropies.

Only supervised tokens are projected on the vocabulary. On a CPU the common prefix of a batch's rows
is read once, and rows of similar length are read together.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

ALIKE = 0.75  # on a CPU at most a quarter of a row is padding


class Scored(NamedTuple):
    """Values per supervised token, in order: tensors of shape (supervised,)."""

    log_probs: Any
    entropy: Any
    hits: Any  # whether it has the highest probability
    mean_logits: Any


def score_tokens(
    model: Any, input_ids: Any, labels: Any, temperature: float = 1.0, rewards_entropy: bool = False
) -> Scored:
    """The values per supervised token; `log_probs` has a gradient, entropy if it is rewarded.

    `input_ids` and `labels` have shape (rows, tokens), padded on the right; labels are -100 at
    unsupervised tokens. The common prefix of the rows is read once; gradients flow through its
    shared keys and values as through copies.
    """
    results = partial(_results, temperature=temperature, rewards_entropy=rewards_entropy)
    return Scored(*_apply_to_supervised(model, input_ids, labels, lambda *x: results(*x)[:-1]))


def score_vocabulary(model: Any, input_ids: Any, labels: Any) -> tuple[Scored, Any]:
    """The values as of `score_tokens`, and the log-probability of every token in their places.

    The latter has the shape (supervised, vocabulary).
    """
    *scores, log_probs = _apply_to_supervised(model, input_ids, labels, _results)
    return Scored(*scores), log_probs


def _results(
    logits: Any, targets: Any, temperature: float = 1.0, rewards_entropy: bool = False
) -> tuple[Any, ...]:
    import torch

    logits = logits / temperature
    chances = torch.log_softmax(logits, dim=-1)
    with torch.set_grad_enabled(rewards_entropy and torch.is_grad_enabled()):
        entropy = -(chances.exp() * chances).sum(-1)
    with torch.no_grad():
        hits, mean = logits.argmax(-1) == targets, logits.mean(-1)
    return chances.gather(-1, targets[:, None])[:, 0], entropy, hits, mean, chances


def choices_loss(
    log_probs: Any, choices: Sequence[Sequence[int]], weights: Sequence[Sequence[float]]
) -> Any:
    """The weighted mean cross-entropy of the tokens that may stand in each supervised place.

    `log_probs` has the shape (supervised, vocabulary); the others have an entry for each place.
    """
    places = [place for place, tokens in enumerate(choices) for _ in tokens]
    weighed = log_probs.new_tensor([*chain.from_iterable(weights)])
    return -(log_probs[places, [*chain.from_iterable(choices)]] * weighed).sum() / weighed.sum()


@contextmanager
def in_bf16(model: Any) -> Iterator[None]:
    """Weights in bf16: what an fp32 adapter reads is not converted, but computed in bf16.

    A step of the small model takes a fifth less time so on a CPU.
    """
    import torch
    from peft.helpers import disable_input_dtype_casting

    weights = next(model.parameters())
    if weights.dtype != torch.bfloat16:
        yield
        return
    with torch.autocast(weights.device.type, torch.bfloat16), disable_input_dtype_casting(model):
        yield


def _apply_to_supervised(
    model: Any, input_ids: Any, labels: Any, results: Callable[[Any, Any], Sequence[Any]]
) -> list[Any]:
    """`results` of the logits and labels of all supervised tokens, row by row."""
    import torch

    network = model.get_base_model() if hasattr(model, "get_base_model") else model
    # a GPU is faster in one pass; activations that are computed again would lack the shared cache
    in_one = input_ids.is_cuda or network.is_activation_checkpointing
    shared = 0 if in_one or len(input_ids) == 1 else shared_prefix(input_ids, labels)
    by_row: dict[int, Sequence[Any]] = {}
    least = 0.0 if input_ids.is_cuda else ALIKE
    with in_bf16(model):
        cache = _read_once(network, input_ids, shared) if shared else None
        for rows, end in groups_of_similar_length(_lengths(labels, shared + 2), least):
            targets = labels[rows, shared + 1 : end]
            hidden = network.model(
                input_ids=input_ids[rows, shared:end],
                past_key_values=cache and _spread(cache, len(rows)),
                use_cache=cache is not None,
            ).last_hidden_state
            learnt = targets != -100
            logits = network.lm_head(hidden[:, :-1][learnt]).float()
            counts = learnt.sum(1).tolist()
            split = (x.split(counts) for x in results(logits, targets[learnt]))
            by_row |= zip(rows, zip(*split, strict=True), strict=True)
    ordered = zip(*(by_row[row] for row in range(len(input_ids))), strict=True)
    return list(map(torch.cat, ordered))


def scores_on_cpu(network: Any) -> None:
    """Replace TRL's fused head of `network`, which DPOTrainer calls, by `score_tokens`.

    The rows must be padded on the right, as DPO's are.
    """
    from trl.trainer.utils import FusedCausalLMOutput

    usual = network.forward

    def forward(*args: Any, fused_lm_head: bool = False, **kwargs: Any) -> Any:
        if not fused_lm_head:
            return usual(*args, **kwargs)
        learnt = kwargs["labels"][:, 1:] != -100
        scores = score_tokens(network, kwargs["input_ids"], kwargs["labels"])
        placed = {
            name: x.new_zeros(learnt.shape).masked_scatter(learnt, x)
            for name, x in scores._asdict().items()
        }
        placed["is_top1"] = placed.pop("hits")
        return FusedCausalLMOutput(label_mask=learnt, **placed)

    network.forward = forward


def grpo_on_cpu(labels_of: Callable[[tuple[int, ...]], list[int]]) -> Any:
    """A GRPOTrainer of TRL whose log-probabilities are those of `score_tokens`.

    `labels_of` gives the labels of a sequence of token ids, -100 at unsupervised tokens.
    """
    import torch
    from trl import GRPOTrainer
    from trl.trainer.utils import split_tensor_dict

    class OnCPU(GRPOTrainer):
        def _prepare_inputs(self, generation_batch: Any) -> Any:
            """As TRL in training, but unshuffled: the rows of a group share their prompt."""
            passes = self.args.steps_per_generation
            if self._step % passes == 0 or self._buffered_inputs is None:
                whole = self._generate_and_score_completions(generation_batch)
                self._buffered_inputs = split_tensor_dict(whole, passes)
            return self._buffered_inputs[self._step % passes]

        def _get_per_token_logps_and_entropies(
            self,
            model: Any,
            input_ids: Any,
            attention_mask: Any,
            logits_to_keep: int,
            batch_size: int | None = None,
            compute_entropy: bool = False,
            **_: Any,
        ) -> tuple[Any, Any, None]:
            """Zero at unsupervised tokens, which the loss leaves out anyway."""
            size = batch_size or len(input_ids)
            parts = [
                _per_token(model, ids, mask.bool(), labels_of, self.temperature)
                for ids, mask in zip(input_ids.split(size), attention_mask.split(size), strict=True)
            ]
            log_probs, entropies = map(torch.cat, zip(*parts, strict=True))
            last = slice(-logits_to_keep, None)
            return log_probs[:, last], entropies[:, last] if compute_entropy else None, None

    return OnCPU


def _per_token(
    model: Any,
    input_ids: Any,
    real: Any,
    labels_of: Callable[[tuple[int, ...]], list[int]],
    temperature: float,
) -> tuple[Any, Any]:
    """Log-probability and entropy of every supervised token in its place, 0 elsewhere.

    `input_ids` and `real` have shape (rows, tokens), padded on both sides; so have the results.
    """
    import torch
    from torch.nn.utils.rnn import pad_sequence

    rows = [ids[mask] for ids, mask in zip(input_ids, real, strict=True)]
    targets = [input_ids.new_tensor(labels_of(tuple(row.tolist()))) for row in rows]
    log_probs, entropy, *_ = score_tokens(
        model,
        pad_sequence(rows, batch_first=True),
        pad_sequence(targets, batch_first=True, padding_value=-100),
        temperature,
        rewards_entropy=True,
    )
    places = torch.zeros_like(real)
    places[real] = torch.cat(targets) != -100
    empty = log_probs.new_zeros(input_ids.shape)
    return empty.masked_scatter(places, log_probs), empty.masked_scatter(places, entropy)


def shared_prefix(input_ids: Any, labels: Any) -> int:
    """The length of the rows' common prefix, short of the first token that predicts a label."""
    same = ((input_ids == input_ids[:1]) & (labels == -100)).all(0)
    return max(0, int(same.int().cumprod(0).sum()) - 1)


def _lengths(labels: Any, least: int) -> list[int]:
    """The length of each row up to its last supervised token, at least `least`."""
    import torch

    places = torch.arange(1, labels.shape[1] + 1, device=labels.device)
    return torch.where(labels != -100, places, least).amax(1).clamp(min=least).tolist()


def groups_of_similar_length(
    lengths: Sequence[int], least: float = ALIKE
) -> Iterator[tuple[list[int], int]]:
    """Groups of rows with the longest row's length, of which any row has the share `least`."""
    rows = sorted(range(len(lengths)), key=lambda row: -lengths[row])
    while rows:
        longest = lengths[rows[0]]
        group = [row for row in rows if lengths[row] >= least * longest]
        yield group, longest
        rows = rows[len(group) :]


def _read_once(network: Any, input_ids: Any, shared: int) -> Any:
    """The cache of the first `shared` tokens, as one row."""
    from transformers import DynamicCache

    cache = DynamicCache(config=network.config)
    network.model(input_ids=input_ids[:1, :shared], past_key_values=cache, use_cache=True)
    return cache


def _spread(cache: Any, rows: int) -> Any:
    """A cache of `rows` copies of the one row of `cache`, which share its memory."""
    spread = copy(cache)
    spread.layers = [copy(layer) for layer in cache.layers]
    for layer in spread.layers:
        layer.keys = layer.keys.expand(rows, -1, -1, -1)
        layer.values = layer.values.expand(rows, -1, -1, -1)
    return spread
