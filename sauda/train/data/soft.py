"""Soft labels: a distribution over moves at each of a learner's states, token by token.

A teacher names one move; prices near it are nearly as good, and a price alone does not say so. Its
label is a normal distribution over whole percents around it. The labels of a reply's tokens follow
from the tree of all labelled completions, and weigh as much as the label gives to what the reply
began with. So the learner's own games can be labelled as they are. Without these weights a wrong
first digit taught the second to be 9 or 0, the nearest to the label, and then right first digits
were followed by 9 and 0 too.
"""

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from env import Accept, Observation, Offer, WalkAway
from sauda.games.bazaar_prompt import completion, schema, shown
from sauda.train.data.teacher import replies

Action = Offer | Accept | WalkAway
LEAST = 1e-4  # probability of a completion, below which it is left out


@dataclass(frozen=True)
class SoftRow:
    """One deal as a conversation, with a distribution over completions for each reply in it."""

    task: str
    seed: int
    deal: int  # of the game, from 0
    messages: list[dict[str, str]]
    labels: list[dict[str, float]]  # by completion, one for each message of the assistant
    own: list[bool]  # whether the learner made the move; else the teacher did


def label(obs: Observation, move: Action, sd: float, near: int) -> dict[str, float]:
    """The probability of each completion at `obs`, around a teacher's `move`.

    Offers are normal with the standard deviation `sd` in percent of the limit. What of it is within
    `near` percent of an affordable ask, or above, is the probability to accept. An acceptance and a
    walk are certain.
    """
    if not isinstance(move, Offer):
        return {completion(move, obs): 1.0}
    (offers, *_) = [m for m in schema(obs)["anyOf"] if "offer" in m["properties"]]
    legal = offers["properties"]["offer"]
    mean = 100 * move.price / obs.reservation
    weights: dict[str, float] = defaultdict(float)
    for percent in range(legal["minimum"], legal["maximum"] + 1):
        weight = math.exp(-((percent - mean) ** 2) / (2 * sd**2))
        taken = shown(obs, obs.ask) - near <= percent and obs.ask <= obs.budget
        weights['{"accept":true}' if taken else f'{{"offer":{percent}}}'] += weight
    total = sum(weights.values())
    kept = {text: w / total for text, w in weights.items() if w / total >= LEAST}
    return {text: p / sum(kept.values()) for text, p in kept.items()}


def soft_tokens(row: SoftRow, tokenizer: Any, late: int, late_weight: float) -> dict[str, Any]:
    """`row` as "input_ids" and "labels"; a label is (position, token ids, probabilities, weight).

    The position is that of the token before, whose logits the label is for. A label weighs the
    probability of the reply up to there; replies from the one numbered `late` on, counted from 0,
    weigh `late_weight` times that.
    """
    ids: list[int] = []
    labels: list[tuple[int, list[int], list[float], float]] = []
    turns = zip(row.labels, replies(row.messages, tokenizer), strict=True)
    for number, (chances, (read, reply)) in enumerate(turns):
        ids += read
        weight = late_weight if number >= late else 1.0
        paths = {(*_ids(text, tokenizer), tokenizer.eos_token_id): p for text, p in chances.items()}
        for depth, (tokens, shares, mass) in enumerate(along(reply, paths)):
            labels.append((len(ids) + depth - 1, tokens, shares, weight * mass))
        ids += reply
    return {"input_ids": ids, "labels": labels}


@lru_cache(4096)  # labels repeat the same few hundred completions
def _ids(text: str, tokenizer: Any) -> tuple[int, ...]:
    return tuple(tokenizer(text, add_special_tokens=False)["input_ids"])


def along(
    reply: Sequence[int], paths: Mapping[tuple[int, ...], float]
) -> Iterator[tuple[list[int], list[float], float]]:
    """For each token of `reply`: what may stand in its place, how probable each is, the mass there.

    The mass is the probability of all paths that begin as `reply` does up to that token. Ends where
    no path of `paths` goes the way of `reply`, and at a path's end.
    """
    for depth in range(len(reply)):
        shares: dict[int, float] = defaultdict(float)
        for path, p in paths.items():
            if len(path) > depth and path[:depth] == tuple(reply[:depth]):
                shares[path[depth]] += p
        total = sum(shares.values())
        if not total:
            return
        yield list(shares), [share / total for share in shares.values()], total


def to_lines(rows: Sequence[SoftRow]) -> str:
    """The rows as JSON lines."""
    return "".join(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in rows)


def from_lines(text: str) -> list[SoftRow]:
    """The rows of `to_lines`."""
    return [SoftRow(**json.loads(line)) for line in text.splitlines()]
