"""What sellers of the open market reveal by manner and by words.

Manner: how much of a hidden cause a signal explains that public history leaves open (partial R²).
Words: how much better a listener guesses the floor than one who sees the prices alone.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from pydantic import Field, FiniteFloat

from env import (
    CLAIMS,
    RIVAL_HAZARD_FACTOR,
    EndReason,
    Episode,
    Offer,
    Tells,
    claim_at,
    get_task,
    rollout,
)
from sauda.experiments.base import experiment
from sauda.policies import BUYERS
from sauda.records.progress import progress
from sauda.records.schemas.base import Interval, Record
from sauda.records.seeds import SPLITS
from sauda.statistics import mean_interval, name_interval

RESAMPLES = 200  # of whole games, for the intervals of R²

# The published twelve, each with the hidden cause that the sellers draw it from; the last two only
# repeat what the asks show.
SIGNALS: Mapping[str, str | None] = {
    "verbal_urgency": "urgency",
    "offer_speed": "urgency",
    "emotional_escalation": "urgency",
    "verbal_deception_cue": "bluffing",
    "eye_contact": "bluffing",
    "topic_changes": "bluffing",
    "verbal_confidence": "nearness",
    "fidget_level": "nearness",
    "price_rounding": "nearness",
    "posture": "nearness",
    "concession_pattern": None,
    "repeat_phrases": None,
}
CAUSES = ("urgency", "bluffing", "nearness")
NEUTRAL_TELLS = Tells()  # a signal in words counts as 1 where it differs from this

WORDS = {
    "rival": "coming for it|Another buyer",
    "final": "last price|not a rupee less",
    "urgent": "decide now|little time",
}


class SignalRow(Record):
    """How much one signal of the seller's manner tells of each hidden cause."""

    signal: str = Field(description="name of the signal")
    cause: str | None = Field(description="the cause it is drawn from; null for a public one")
    r2: dict[str, FiniteFloat] = Field(description="partial R² given public history, by cause")
    low: dict[str, FiniteFloat] = Field(description="lower end of the 95 % interval, by cause")
    high: dict[str, FiniteFloat] = Field(description="upper end of the 95 % interval, by cause")


class Manner(Record):
    """What the sellers' manner tells in one task."""

    task: str = Field(description="name of the task")
    games: int = Field(description="games with at least one counter-offer")
    replies: int = Field(description="counter-offers observed")
    signals: list[SignalRow] = Field(description="one row per signal")


class WordLeakage(Record):
    """How well a listener guesses the reservation price: R² out of sample."""

    n: int = Field(description="games guessed")
    prices: Interval = Field(description="R² from prices alone")
    with_words: Interval = Field(description="R² from prices and words")
    gain: Interval = Field(description="what words add")


class Market(Record):
    """What the open market's sellers give away by manner and word."""

    manner: list[Manner] = Field(description="signals, one entry per task")
    words: WordLeakage = Field(description="what words tell of the reservation price")


def games_played(config: Mapping[str, Any], data: Market) -> int:
    """Games of the open market."""
    return sum(row.games for row in data.manner) + config["listened"]


def by_signal(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """One row per task and signal, its R² by cause; then what words tell of the floor."""
    for manner in data["manner"]:
        for row in manner["signals"]:
            yield {"task": manner["task"], "replies": manner["replies"], **row["r2"]} | {
                "signal": row["signal"]
            }
    yield data["words"]


@experiment(
    "market.json",
    Market,
    version=3,
    tab="Results",
    checks="every game",
    amount=games_played,
    unit="games",
    table=by_signal,
)
def market(
    games: int = 1000,  # per task, for the manner; `linear` plays them on hold-out seeds
    listened: int = 3000,  # of bazaar/open, for the words: a fit on one half, tested on the other
    tasks: tuple[str, ...] = ("bazaar/open", "bazaar/rushed"),
    *,
    workers: int = 2,
) -> dict[str, Any]:
    """The data of the market artifact."""
    with ProcessPoolExecutor(workers) as pool:
        manner = pool.map(partial(signals, games=games), tasks)
        words = pool.submit(inference_attack, listened)
        manner = list(progress(manner, len(tasks), "reading the sellers' manner", "task"))
        return {"manner": manner, "words": words.result()}


# Manner ------------------------------------------------------------------------------------------


def signals(task_name: str, games: int) -> dict[str, Any]:
    """How much each signal reveals about each hidden cause in the counter-offers of a task."""
    task = get_task(task_name)
    seeds = SPLITS["holdout"][:games]
    rows = [row for s in seeds for row in counter_offers(rollout(task, BUYERS["linear"], s), s)]
    game = np.array([row["game"] for row in rows])
    public = products(np.array([row["public"] for row in rows]))
    causes = np.array([[row[cause] for cause in CAUSES] for row in rows])
    cues = np.array([[level(row["tells"], signal) for signal in SIGNALS] for row in rows])
    shares = partial_r2(cues, public, causes)
    spread = resample(partial(partial_r2, cues, public, causes), game)
    low, high = np.percentile(spread, [2.5, 97.5], axis=0)
    return {
        "task": task_name,
        "games": len(np.unique(game)),
        "replies": len(rows),
        "signals": [
            {
                "signal": signal,
                "cause": cause,
                "r2": dict(zip(CAUSES, np.round(shares[i], 6).tolist(), strict=True)),
                "low": dict(zip(CAUSES, np.round(low[i], 6).tolist(), strict=True)),
                "high": dict(zip(CAUSES, np.round(high[i], 6).tolist(), strict=True)),
            }
            for i, (signal, cause) in enumerate(SIGNALS.items())
        ],
    }


def counter_offers(played: Episode, game: int) -> list[dict[str, Any]]:
    """Each counter-offer of a game: what is public when it is made, its causes, its tells."""
    table, own = played.final.table, played.final.private["seller"]
    stance, opening = own["stance"], own["stance"].opening
    replies = [move for move in table.moves[2:] if move.agent == "seller"]
    rows = []
    for t, reply in enumerate(replies, start=1):
        if not isinstance(reply.action, Offer):
            continue
        claim, true = claim_at(own, t)
        ask, before, bid = table.asks[t], table.asks[t - 1], table.bids[t - 1]
        shown = [opening / table.item.list_price, ask / opening, bid / opening]
        shown += [t / table.rounds, (before - ask) / opening]
        shown += [float(t > 1 and table.asks[t - 2] - before < 0.01 * opening)]  # a stall
        rows.append(
            {
                "game": game,
                "public": shown + [float(claim == kind) for kind in CLAIMS],
                "bluffing": float(bool(claim) and not true),
                "urgency": (RIVAL_HAZARD_FACTOR if stance.rival else 1.0) * stance.type.impatience,
                "nearness": 1 - (ask - stance.reservation) / (opening - stance.reservation),
                "tells": reply.tells,
            }
        )
    return rows


def level(tells: Tells, signal: str) -> float:
    """A signal as a number: one in words is 1 where it is not the usual."""
    shown = getattr(tells, signal)
    return (
        float(shown != getattr(NEUTRAL_TELLS, signal)) if isinstance(shown, str) else float(shown)
    )


def products(public: np.ndarray) -> np.ndarray:
    """Columns of `public`, shape (n, k), a constant, and the product of every two."""
    pairs = [public[:, i] * public[:, j] for i in range(public.shape[1]) for j in range(i + 1)]
    return np.column_stack([np.ones(len(public)), public, *pairs])


def partial_r2(
    cues: np.ndarray, public: np.ndarray, causes: np.ndarray, rows: Any = slice(None)
) -> np.ndarray:
    """Share of what `public` leaves open of each cause that each cue explains, (cues, causes).

    By the theorem of Frisch, Waugh and Lovell: the squared correlation of what is left of both.
    A cue that the public history tells wholly explains nothing.
    """
    both = np.column_stack([cues, causes])[rows]
    weights, *_ = np.linalg.lstsq(public[rows], both, rcond=None)
    left = both - public[rows] @ weights
    size = np.sqrt((left**2).sum(0))
    varies = size > 1e-9 * np.sqrt(len(left))
    left = np.where(varies, left / np.where(varies, size, 1), 0)
    k = cues.shape[1]
    return (left[:, :k].T @ left[:, k:]) ** 2


def resample(figure: Callable[[np.ndarray], np.ndarray], game: np.ndarray) -> np.ndarray:
    """`figure` on RESAMPLES bootstrap samples of games: replies in one game are not independent."""
    rng = np.random.default_rng(0)
    starts = np.flatnonzero(np.r_[True, game[1:] != game[:-1]])
    blocks = np.split(np.arange(len(game)), starts[1:])
    draws = rng.integers(len(blocks), size=(RESAMPLES, len(blocks)))
    return np.array([figure(np.concatenate([blocks[i] for i in draw])) for draw in draws])


# Words -------------------------------------------------------------------------------------------


def inference_attack(games: int) -> dict[str, Any]:
    """How well the floor is guessed from prices alone, and with the words, out of sample."""
    task, seeds = get_task("bazaar/open"), SPLITS["holdout"][:games]
    per_game = [listen(rollout(task, BUYERS["linear"], seed)) for seed in seeds]
    prices, words, floor = (np.array(column) for column in zip(*per_game, strict=True))
    half = games // 2
    wrong = [
        (floor[half:] - predict(features[:half], floor[:half], features[half:])) ** 2
        for features in (prices, np.c_[prices, words])
    ]
    open_ = (floor[half:] - floor[half:].mean()) ** 2

    def r2(rows: Any = slice(None)) -> np.ndarray:
        alone, both = (1 - error[rows].sum() / open_[rows].sum() for error in wrong)
        return np.array([alone, both, both - alone])

    low, high = np.percentile(resample(r2, np.arange(games - half)), [2.5, 97.5], axis=0)
    parts = np.round([r2(), low, high], 6).T.tolist()
    names = ("prices", "with_words", "gain")
    return {"n": games - half} | {
        name: dict(zip(("mean", "low", "high"), part, strict=True))
        for name, part in zip(names, parts, strict=True)
    }


def listen(played: Episode) -> tuple[list[float], list[float], float]:
    """A game's price features, its word features, and the floor; shares of the list price."""
    table, list_price = played.final.table, played.final.table.item.list_price
    agreed = float(played.end is EndReason.AGREEMENT)  # public, whatever is said with it
    prices = [table.asks[0] / list_price, table.asks[-1] / list_price, table.round, agreed]
    messages = [move.action.message for move in table.moves if move.agent == "seller"]
    words = [float(any(re.search(claim, text) for text in messages)) for claim in WORDS.values()]
    words += [float(bool(re.search(claim, messages[-1]))) for claim in WORDS.values()]
    words += [float("worth more" in messages[0])]
    return prices, words, played.final.private["nature"][0].seller["reservation"] / list_price


def predict(features: np.ndarray, target: np.ndarray, unseen: np.ndarray) -> np.ndarray:
    """What least squares with a constant predicts for the `unseen` rows."""
    weights, *_ = np.linalg.lstsq(np.c_[np.ones(len(features)), features], target, rcond=None)
    return np.c_[np.ones(len(unseen)), unseen] @ weights


def _interval(values: np.ndarray) -> dict[str, float]:
    return name_interval(mean_interval(values[~np.isnan(values)]))
