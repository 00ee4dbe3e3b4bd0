"""Training of the ear, by logistic regression over the training sentences of the corpus.

    python -m sauda train ear

writes `env/bazaar/ear.npz`. A sentence is learnt as it stands and with a slip of the finger. Each
meaning counts alike, however many its sentences, and to mean nothing counts NOTHING times as much.
The margin of each seat is the least with at most WRONG of the development sentences that bear a
meaning taken for another, and at most TAKEN of the small talk for any.
"""

import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from env import corpus, ear

WRONG = 0.035  # share of development sentences with a meaning that may be taken for another
TAKEN = 0.06  # share of small talk of the development part that may be taken for a meaning
NOTHING = 2  # weight of the sentences that mean nothing, as against those of one meaning
LEAST = 4  # least size of a weight, of at most 127, that is kept: the file stays below 1 MB
STRENGTH = 100.0  # inverse of the regularisation, C of scikit-learn
ITERATIONS = 200
SLIPS = 1  # copies of each sentence with a slip of the finger
SEED = 0


@dataclass(frozen=True)
class Fit:
    """What a seat's ear learnt from, and how well it reads the development sentences."""

    seat: str
    meanings: int
    sentences: int
    margin: float
    right: float  # share of development sentences that bear a meaning and are read as it
    wrong: float  # share that are read as another
    taken: float  # share of small talk that is read as a meaning


def with_slip(text: str, rng: np.random.Generator) -> str:
    """The text with two neighbouring letters changed, one lost or one doubled, once or twice."""
    letters = list(text)
    for _ in range(int(rng.integers(1, 3))):
        at = int(rng.integers(max(1, len(letters) - 1)))
        match rng.integers(3):
            case 0:
                letters[at : at + 2] = reversed(letters[at : at + 2])
            case 1:
                del letters[at]
            case 2:
                letters.insert(at, letters[at])
        if len(letters) < 4:
            break
    return "".join(letters)


def examples(rows: Sequence[corpus.Row], rng: np.random.Generator) -> Iterator[tuple[str, str]]:
    """Text and meaning of what is learnt."""
    for row in rows:
        yield row.text, row.meaning
        for _ in range(SLIPS):
            yield with_slip(row.text, rng), row.meaning


def matrix(texts: Sequence[str]) -> tuple[Any, np.ndarray]:
    """The features of texts, weighed by their rarity, each row of length 1; and that rarity."""
    from scipy.sparse import csr_matrix, diags

    rows = [ear.features(text) for text in texts]
    ends = np.cumsum([0, *map(len, rows)])
    counts = csr_matrix(
        (np.ones(ends[-1]), np.concatenate(rows), ends), shape=(len(rows), ear.BUCKETS)
    )
    often = np.asarray(counts.sum(0)).ravel()
    rarity = np.log((1 + len(rows)) / (1 + often)).astype(np.float16)
    weighed = counts.multiply(rarity.astype(float)).tocsr()
    norms = np.sqrt(np.asarray(weighed.multiply(weighed).sum(1)).ravel())
    return diags(1 / np.maximum(norms, 1e-9)) @ weighed, rarity


def fit(seat: str) -> tuple[ear.Weights, Fit]:
    """The ear of a seat, and its figures on the development sentences."""
    from sklearn.linear_model import LogisticRegression

    learnt = list(examples(corpus.rows(seat, "training"), np.random.default_rng(SEED)))
    texts, meanings = zip(*learnt, strict=True)
    features, rarity = matrix(texts)
    counts = Counter(meanings)
    shares = {meaning: len(texts) / len(counts) / n for meaning, n in counts.items()}
    shares["none/none"] *= NOTHING
    model = LogisticRegression(C=STRENGTH, max_iter=ITERATIONS, class_weight=shares)
    model.fit(features, meanings)
    scale = np.abs(model.coef_).max(1) / 127
    weights = np.round(model.coef_ / scale[:, None]).astype(np.int8)
    weights[np.abs(weights) < LEAST] = 0
    silent = ear.Weights(
        tuple(model.classes_), rarity, weights, scale.astype(np.float32),
        model.intercept_.astype(np.float32), margin=0.0,
    )  # fmt: skip
    chosen, rates = judge(silent, corpus.rows(seat, "development"))
    return replace(silent, margin=chosen), Fit(
        seat, len(silent.meanings), len(learnt), chosen, *rates
    )


def judge(
    weights: ear.Weights, rows: Sequence[corpus.Row]
) -> tuple[float, tuple[float, float, float]]:
    """The least margin within WRONG and TAKEN, and the rates `right`, `wrong`, `taken`."""
    chances = np.array([weights.chances(row.text) for row in rows])
    best = np.array([weights.meanings[at] for at in chances.argmax(1)])
    truth, top = np.array([row.meaning for row in rows]), chances.max(1)
    talk = np.array([row.family == "none" for row in rows])
    act, bears = best != "none/none", truth != "none/none"

    def rates(margin: float) -> tuple[float, float, float]:
        heard = act & (top >= margin)
        right, wrong = heard & (best == truth), heard & (best != truth)
        return float(right[bears].mean()), float(wrong[bears].mean()), float(heard[talk].mean())

    steps = ((float(step), rates(step)) for step in np.linspace(0, 1, 101))
    return next((step, each) for step, each in steps if each[1] <= WRONG and each[2] <= TAKEN)


def train() -> list[Fit]:
    """Fit the ears of both seats, write their weights, and return their figures."""
    arrays, figures = {}, []
    for seat in ear.SEATS:
        weights, row = fit(seat)
        figures.append(row)
        arrays |= {
            f"{seat}_{field.name}": np.array(getattr(weights, field.name))
            for field in fields(weights)
        }
    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays)
    ear.FILE.write_bytes(packed.getvalue())
    return figures
