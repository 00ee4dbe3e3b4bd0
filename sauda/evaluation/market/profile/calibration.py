"""What a player believes about the seller's limit, scored by a proper rule.

A player names the range that holds the limit with 80 % chance. The interval score (Gneiting and
Raftery 2007, section 6.2) is the width of the range and, where the limit lies outside, ten times
the distance to it: the least expected score is that of the player's true 10 % and 90 % quantiles.
Prices are shares of the list price; lower is better.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from env import SELLER_RESERVATION, IllegalAction, Observation
from sauda.games import BAZAAR
from sauda.games.adapter import Messages
from sauda.games.bazaar_prompt import HIGHEST, first_object, unit
from sauda.llm.types import BatchGenerate
from sauda.statistics import mean_interval, named_interval, wilson_interval

LEVEL = 0.8  # chance that the range is to hold the limit with
QUESTION = (
    "You haggle to buy. Prices are percent of your limit. Make no move now. The seller has a limit "
    "too, the least price it would sell at. Name a range that holds the seller's limit with 80 "
    'percent chance. Reply in JSON: {"low":40,"high":70}.'
)


class Range(NamedTuple):
    """A range of prices in rupees."""

    low: float
    high: float


def question(obs: Observation) -> Messages:
    """The chat that asks a language model for its belief: the game so far under other rules."""
    return [{"role": "system", "content": QUESTION}, *BAZAAR.prompt.render(obs)[1:]]


def answer(text: str, obs: Observation) -> Range | None:
    """The range in a reply, in rupees; None where it holds none."""
    try:
        row = first_object(text)
    except IllegalAction:
        return None
    ends = [row.get("low"), row.get("high")]
    if any(isinstance(end, bool) or not isinstance(end, int | float) for end in ends):
        return None
    low, high = ends
    if not 0 <= low <= high <= HIGHEST:
        return None
    return Range(low * unit(obs) / 100, high * unit(obs) / 100)


def asked(
    generate: BatchGenerate, at: Sequence[Observation], seeds: Sequence[int], batch: int
) -> list[Range | None]:
    """The answers of a language model to `question` at each observation."""
    answers = []
    for start in range(0, len(at), batch):
        some = at[start : start + batch]
        chats = [question(obs) for obs in some]
        replies = generate.batch(chats, seeds[start : start + batch], [None] * len(some))
        answers += [answer(reply.text, obs) for reply, obs in zip(replies, some, strict=True)]
    return answers


def prior(obs: Observation) -> Range:
    """The range of a player that knows only how the market draws limits."""
    low, high = SELLER_RESERVATION
    tail = (1 - LEVEL) / 2 * (high - low)
    price = obs.table.item.list_price
    return Range((low + tail) * price, (high - tail) * price)


def scored(
    ranges: Sequence[Range | None], at: Sequence[Observation], truth: Sequence[float]
) -> dict[str, Any]:
    """The scores of ranges for the true limits, one a position.

    An answer that is no range is scored as the whole range from 0 to the ask.
    """
    given = [
        Range(0.0, obs.ask) if one is None else one for one, obs in zip(ranges, at, strict=True)
    ]
    price = np.array([obs.table.item.list_price for obs in at], float)
    low, high = (np.array(ends) / price for ends in zip(*given, strict=True))
    limit = np.array(truth) / price
    miss = np.maximum(0, low - limit) + np.maximum(0, limit - high)
    n, held = len(given), int((miss == 0).sum())
    return {
        "n": n,
        "answered": sum(one is not None for one in ranges),
        "coverage": named_interval(wilson_interval(held, n)),
        "width": named_interval(mean_interval(high - low)),
        "score": named_interval(mean_interval(high - low + 2 / (1 - LEVEL) * miss)),
    }
