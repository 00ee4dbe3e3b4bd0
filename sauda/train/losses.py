"""What a network makes of given tokens, on a CPU: exact, and nothing computed that is not needed.

What a batch's rows begin with alike is read once for all of them, rows of about one length are
read together, and only the tokens that are learnt are projected on the vocabulary.
"""

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any, NamedTuple


class Scored(NamedTuple):
    """Of each learnt token, in order, shape (learnt,)."""

    log_probs: Any
    entropy: Any
    hits: Any  # whether it was the likeliest
    mean_logits: Any


def scored(model: Any, input_ids: Any, labels: Any, temperature: float = 1.0) -> Scored:
    """What `model` makes of each learnt token of a batch; only `log_probs` has a gradient.

    `input_ids` and `labels` have shape (rows, tokens), padded on the right; labels are -100 where
    nothing is learnt. The tokens that all rows begin with are read once, their keys and values
    shared: gradients flow through them as through copies.
    """
    import torch

    network = model.get_base_model() if hasattr(model, "get_base_model") else model
    shared = _shared(input_ids, labels) if len(input_ids) > 1 else 0
    cache = _read_once(network, input_ids, shared) if shared else None
    found: dict[int, Sequence[Any]] = {}  # of each row
    for rows, end in _alike(_lengths(labels, shared + 2)):
        targets = labels[rows, shared + 1 : end]
        hidden = network.model(
            input_ids=input_ids[rows, shared:end],
            past_key_values=cache and _spread(cache, len(rows)),
            use_cache=cache is not None,
        ).last_hidden_state
        learnt = targets != -100
        logits = network.lm_head(hidden[:, :-1][learnt]).float() / temperature
        results = _results(logits, targets[learnt])
        counts = learnt.sum(1).tolist()
        found |= zip(rows, zip(*(x.split(counts) for x in results), strict=True), strict=True)
    ordered = zip(*(found[row] for row in range(len(input_ids))), strict=True)
    return Scored(*map(torch.cat, ordered))


def _results(logits: Any, told: Any) -> Scored:
    """Of logits of shape (learnt, vocabulary) and the tokens that came, shape (learnt,)."""
    import torch

    chances = torch.log_softmax(logits, dim=-1)
    with torch.no_grad():
        entropy = -(chances.exp() * chances).sum(-1)
        hits = logits.argmax(-1) == told
        mean = logits.mean(-1)
    return Scored(chances.gather(-1, told[:, None])[:, 0], entropy, hits, mean)


def scores_on_cpu(network: Any) -> None:
    """Let TRL's fused head of `network`, which DPO asks, be `scored`.

    Its rows must be padded on the right, as DPO's are.
    """
    from trl.trainer.utils import FusedCausalLMOutput

    usual = network.forward

    def forward(*args: Any, fused_lm_head: bool = False, **kwargs: Any) -> Any:
        if not fused_lm_head:
            return usual(*args, **kwargs)
        learnt = kwargs["labels"][:, 1:] != -100
        found = scored(network, kwargs["input_ids"], kwargs["labels"])
        placed = {
            name: x.new_zeros(learnt.shape).masked_scatter(learnt, x)
            for name, x in found._asdict().items()
        }
        placed["is_top1"] = placed.pop("hits")
        return FusedCausalLMOutput(label_mask=learnt, **placed)

    network.forward = forward


def _shared(input_ids: Any, labels: Any) -> int:
    """How many leading tokens all rows have alike, short of the first that predicts a label."""
    same = ((input_ids == input_ids[:1]) & (labels == -100)).all(0)
    return max(0, int(same.int().cumprod(0).sum()) - 1)


def _lengths(labels: Any, least: int) -> list[int]:
    """Of each row up to the last token that is learnt, and at least `least`."""
    import torch

    places = torch.arange(1, labels.shape[1] + 1, device=labels.device)
    return torch.where(labels != -100, places, least).amax(1).clamp(min=least).tolist()


def _alike(lengths: Sequence[int]) -> Iterator[tuple[list[int], int]]:
    """Rows of about one length and the longest's, so that at most a quarter of any is padding."""
    rows = sorted(range(len(lengths)), key=lambda row: -lengths[row])
    while rows:
        longest = lengths[rows[0]]
        taken = [row for row in rows if lengths[row] >= 0.75 * longest]
        yield taken, longest
        rows = rows[len(taken) :]


def _read_once(network: Any, input_ids: Any, shared: int) -> Any:
    """The cache of the first `shared` tokens, as one row."""
    from transformers import DynamicCache

    cache = DynamicCache(config=network.config)
    network.model(input_ids=input_ids[:1, :shared], past_key_values=cache, use_cache=True)
    return cache


def _spread(cache: Any, rows: int) -> Any:
    """A cache of `rows` rows that all begin with the one of `cache`."""
    spread = copy(cache)
    spread.layers = [copy(layer) for layer in cache.layers]
    for layer in spread.layers:
        layer.keys = layer.keys.expand(rows, -1, -1, -1)
        layer.values = layer.values.expand(rows, -1, -1, -1)
    return spread
