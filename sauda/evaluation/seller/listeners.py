"""Regression and classification behind the judges: floor and persona predicted from words.

All are small, fitted on part of the games and asked about the rest, in folds that depend on the
number of games alone.
"""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from sauda.experiments.market import fitted
from sauda.statistics import RESAMPLES

FOLDS = 10
RAREST = 3  # games that a word is said in, at least
PENALTIES = (30.0, 300.0, 3000.0, 1e9)  # of the ridge; the last hears nothing
ROUNDS = 8  # of a concession curve


def words_of(texts: Sequence[str]) -> np.ndarray:
    """How often each word is said in each text, shape (texts, words); rare words left out."""
    counts_of_texts = [Counter(text.split()) for text in texts]
    spread = Counter(word for counts in counts_of_texts for word in counts)
    kept = sorted(word for word, games in spread.items() if games >= RAREST)
    return np.array([[counts[word] for word in kept] for counts in counts_of_texts], float).reshape(
        len(texts), len(kept)
    )


def concessions(asks: Sequence[Sequence[float]]) -> np.ndarray:
    """Shares of the opening ask given up by each round, shape (games, ROUNDS); the last ask stays.

    The opening itself is left out: a markup alone would name the persona.
    """
    curves = [1 - np.array(game[1:] or game[:1], float) / game[0] for game in asks]
    return np.array([np.r_[c, np.full(ROUNDS, c[-1])][:ROUNDS] for c in curves])


def folds(n: int) -> np.ndarray:
    """The fold of each of `n` games, shape (n,)."""
    return np.random.default_rng(n).permutation(np.arange(n) % FOLDS)


def explained(
    prices: np.ndarray, words: np.ndarray, floor: np.ndarray
) -> tuple[float, float, float]:
    """What `words` add to the R² of a guess at `floor`, shape (n,), from `prices`: mean, interval.

    Out of sample: least squares on prices, then a ridge on what is left; its penalty is chosen
    within each training part. The interval resamples games.
    """

    def guesses(fitted_part: np.ndarray, left_out: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        guess = fitted(prices[fitted_part], floor[fitted_part], prices[fitted_part])
        left = floor[fitted_part] - guess
        (more,) = _ridges(
            words[fitted_part], left, words[left_out], [_penalty(words[fitted_part], left)]
        )
        alone = fitted(prices[fitted_part], floor[fitted_part], prices[left_out])
        return alone, alone + more

    return _gain(floor, guesses)


def guessed(prices: np.ndarray, floor: np.ndarray) -> tuple[float, float, float]:
    """The R² of a guess at `floor` from `prices` alone, out of sample: mean, interval."""

    def guesses(fitted_part: np.ndarray, left_out: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.full(left_out.sum(), floor[fitted_part].mean()), fitted(
            prices[fitted_part], floor[fitted_part], prices[left_out]
        )

    return _gain(floor, guesses)


def _gain(floor: np.ndarray, guesses: Callable) -> tuple[float, float, float]:
    """How much less of `floor` the second of two guesses leaves open than the first."""
    fold, wrong = folds(len(floor)), np.zeros((2, len(floor)))
    for k in range(FOLDS):
        left_out = fold == k
        wrong[:, left_out] = [floor[left_out] - guess for guess in guesses(~left_out, left_out)]
    gain, open_ = wrong[0] ** 2 - wrong[1] ** 2, (floor - floor.mean()) ** 2
    n = len(floor)
    drawn = np.random.default_rng(n).multinomial(n, np.full(n, 1 / n), size=RESAMPLES)
    low, high = np.percentile((drawn @ gain) / (drawn @ open_), [2.5, 97.5])
    return float(gain.sum() / open_.sum()), float(low), float(high)


def _ridges(features: np.ndarray, target: np.ndarray, unseen: np.ndarray, penalties: Sequence):
    """What a ridge of each penalty predicts for the `unseen` rows, shape (penalties, rows)."""
    centre, mean = features.mean(0), target.mean()
    left, size, right = np.linalg.svd(features - centre, full_matrices=False)
    shrunk = size[:, None] / (size[:, None] ** 2 + np.array(penalties))
    weights = right.T @ (shrunk * (left.T @ (target - mean))[:, None])
    return mean + ((unseen - centre) @ weights).T


def _penalty(features: np.ndarray, target: np.ndarray) -> float:
    """The penalty that does best on parts that were left out."""
    fold, wrong = folds(len(target)), np.zeros(len(PENALTIES))
    for k in range(FOLDS):
        fitted_part, left_out = fold != k, fold == k
        guesses = _ridges(features[fitted_part], target[fitted_part], features[left_out], PENALTIES)
        wrong += ((target[left_out] - guesses) ** 2).sum(1)
    return PENALTIES[int(wrong.argmin())]


def confusion(features: np.ndarray, true: np.ndarray) -> np.ndarray:
    """Games of each class (row) that a judge took for each class (column), shape (k, k).

    The judge is the nearest of the classes' means, each feature divided by its spread; classes are
    numbers from 0, shape (n,), and every one is asked about without having been seen.
    """
    k = int(true.max()) + 1
    fold, counts = folds(len(true)), np.zeros((k, k), int)
    for part in range(FOLDS):
        fitted_part, left_out = fold != part, fold == part
        spread = features[fitted_part].std(0)
        scaled = features / np.where(spread > 0, spread, 1)
        means = np.array([scaled[fitted_part & (true == c)].mean(0) for c in range(k)])
        distance = ((scaled[left_out][:, None] - means) ** 2).sum(-1)
        np.add.at(counts, (true[left_out], distance.argmin(1)), 1)
    return counts
