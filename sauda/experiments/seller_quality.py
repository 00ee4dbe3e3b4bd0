"""Quality of a seller's words: the published test unchanged, and a stricter test of our own.

The published six criteria stand as they were defined; a stub passes them, as their authors' own
heuristic does. Ours have hostile buyers, wide floors, checked words and facts, and two judges that
are fitted on part of the games and asked about the rest: one guesses the floor from the words, one
names the persona. All texts are kept, so every figure can be computed again from them.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field

from sauda.experiments.base import experiment
from sauda.experiments.market import listen, predict
from sauda.experiments.seller_games import (
    FIRST,
    STUB,
    Game,
    Said,
    Tries,
    all_sides,
    ask_personas,
    describe_model,
    play_all,
    read_persona,
    write_texts,
)
from sauda.llm.model import CACHE
from sauda.llm.seller import DEFAULT, PERSONAS, Decision, seller_model, sentences, unsupported_words
from sauda.llm.seller import text_faults as find_faults
from sauda.records.progress import progress
from sauda.records.schemas.base import Interval, Number, Record
from sauda.records.seeds import SPLITS
from sauda.records.store import Artifact
from sauda.statistics import mean_interval, name_interval, pooled_share, wilson_interval

FILE = "seller_quality.json"
PARTS = CACHE / "seller_quality"  # the batches on disk
UNREAD = 5_000  # into the hold-out split; the first seeds were read while the prompt was written

CLOSERS = ("lowball", "climber")  # buyers who come up to nearly the whole ask
CURIOUS = ("prober", "injector", "liar")  # buyers who are after the floor, or a false yes
EARLY = 3  # answers; who leaves before has not heard the buyer out
ASKS, CONTROL = "asks alone", "leaky control"
YARDSTICKS = (ASKS, CONTROL)  # columns that are no seller's words, and meet no target

FOLDS = 10
RAREST = 3  # games that a word is said in, at least
PENALTIES = (30.0, 300.0, 3000.0, 1e9)  # of the ridge; the last hears nothing
CURVE = 8  # rounds of a concession curve


class SellerGame(Record):
    """One game as it was played; no buyer reads the words."""

    setting: Literal["published", "hard"] = Field(description="published or hostile buyers")
    buyer: str = Field(description="name of the buyer")
    persona: str = Field(description="persona of the seller")
    seed: int = Field(description="seed of the game")
    item: str = Field(description="name of the item")
    reservation: int = Field(description="the seller's reservation price, rupees")
    asks: list[int] = Field(description="the seller's asks, rupees")
    bids: list[int] = Field(description="the buyer's bids, rupees")
    kinds: list[str] = Field(description="kind of each of the seller's decisions")
    end: str = Field(description="how it ended")
    price: int | None = Field(description="price of the deal, rupees; null without one")


class _Sample(Record):
    n: int = Field(description="sample size")
    of: str = Field(description="what `n` counts")


class SellerCell(Interval, _Sample):  # a last base's fields come first in the file
    """One side's figure for a criterion."""

    meets: bool | None = Field(description="whether the target is met; null without a target")


class SellerRow(Record):
    """One criterion, for every side."""

    criterion: str = Field(description="name of the criterion")
    about: str = Field(description="what is counted, in words")
    test: Literal["published", "better"] = Field(description="the published test, or the harder")
    target: str = Field(description="the bound to meet, such as ≥ 0.90; empty without one")
    published: Number | None = Field(description="the published figure; null without one")
    sides: dict[str, SellerCell] = Field(description="figures by side")


class PersonaJudges(Record):
    """How often a judge trained on the words names each persona."""

    personas: list[str] = Field(description="personas, in the order of the tables")
    tables: dict[str, list[list[int]]] = Field(
        description="confusion counts by side: true persona by row, named persona by column"
    )


class SellerModel(Record):
    """The weights behind a side's words."""

    source: str = Field(description="base, adapter, precision and device in words")
    sha256: str = Field(description="digest of the weights")
    sampling: dict[str, Number] = Field(description="sampling parameters by name")
    prompt: str = Field(description="fingerprint of the prompt")
    check: str = Field(description="fingerprint of the check of a text against the decision")


class SellerQuality(Record):
    """A language model's words as a seller beside scripted lines, with every text."""

    games: list[SellerGame] = Field(description="games, in order")
    tries: dict[str, list[list[list[str]]]] = Field(
        description="texts by model, game, decision and try; the last is said if it has no fault"
    )
    answers: dict[str, list[str]] = Field(
        description="the model's answer to which persona spoke, one per published game"
    )
    rows: list[SellerRow] = Field(description="one row per criterion")
    judges: PersonaJudges = Field(description="personas told apart by a trained judge")
    faults: dict[str, dict[str, int]] = Field(description="faults found, by side and kind")
    models: dict[str, SellerModel] = Field(description="weights and sampling, by model")


def by_side(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """One row per criterion and side."""
    for row in data["rows"]:
        for side, figure in row["sides"].items():
            of_row = {name: row[name] for name in ("criterion", "target")}
            yield {**of_row, "side": side, "figure": figure}


def replay(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """Every game played again, every figure computed again from the recorded texts."""
    settings, recorded = artifact.settings(), artifact.data.as_json()
    played = play_games(settings["published"], settings["hard"])
    data = summarize(played, recorded["tries"], recorded["answers"])
    return data | {"models": recorded["models"]}


@experiment(
    FILE,
    SellerQuality,
    version=2,
    tab="Results",
    method="replayed in part",
    checks="every game replayed; figures recomputed from the recorded texts",
    amount=lambda config, data: len(data.games),
    unit="games",
    replay=replay,
    model_hashes="sauda.experiments.seller_games:word_hashes",
    table=by_side,
)
def seller_quality(
    models: tuple[str, ...] = ("mini",),  # or null, which has no weights
    published: int = 10,  # games per persona in the published setting: 50, as published
    hard: int = 3,  # games per persona and hostile buyer: 90
    batch: int = 50,  # texts written at once; also what a stopped run loses at most
    *,
    parts: Path = PARTS,
) -> dict[str, Any]:
    """The data of the artifact: games, all texts, the judge's answers, and the figures.

    Raises ValueError for a model that has no name, or too few games.
    """
    players = {name: seller_model(name) for name in models}
    if published < 2 or hard < 1 or batch < 1:
        raise ValueError(
            "the judges need at least 2 published games per persona, 1 hard one, a batch of 1"
        )
    played = play_games(published, hard)
    tries, answers = {}, {}
    for name, player in players.items():
        tries[name] = write_texts(player, played, batch, parts)
        answers[name] = ask_personas(player, played, tries[name], batch, parts)
    data = summarize(played, tries, answers)
    return data | {"models": {name: describe_model(p) for name, p in players.items()}}


def play_games(published: int, hard: int) -> list[Game]:
    """The games of both settings, each on a hold-out seed of its own."""
    seeds = SPLITS["holdout"][UNREAD:]
    easy = play_all("published", published, seeds)
    return easy + play_all("hard", hard, seeds[len(easy) :])


def summarize(
    played: Sequence[Game],
    tries: Mapping[str, Sequence[Sequence[Tries]]],
    answers: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    """All that is computed from games and texts."""
    sides = all_sides(played, tries)
    tables = (
        lambda: criteria_rows(played, sides, answers),
        lambda: hard_rows(played, sides, tries),
        lambda: [leak_row(played, sides)],
    )
    computed = progress(tables, len(tables), "computing figures", "table")
    rows = [row for table in computed for row in table()]
    judges, judge_row = judge_personas(played, sides)
    return {
        "games": [_describe(game) for game in played],
        "tries": {name: [list(map(list, g)) for g in written] for name, written in tries.items()},
        "answers": {name: list(texts) for name, texts in answers.items()},
        "rows": [*rows, judge_row],
        "judges": judges,
        "faults": {side: count_faults(played, texts) for side, texts in sides.items()},
    }


def _describe(game: Game) -> dict[str, Any]:
    table = game.episode.final.table
    (deal,) = table.past
    return {
        "setting": game.setting,
        "buyer": game.buyer,
        "persona": game.persona,
        "seed": game.seed,
        "item": table.item.name,
        "reservation": game.floor,
        "asks": list(table.asks),
        "bids": list(table.bids),
        "kinds": [decision.kind for decision in game.decisions],
        "end": str(deal.end),
        "price": deal.price,
    }


# Rows --------------------------------------------------------------------------------------------


def criterion_row(
    criterion: str,
    about: str,
    cells: Mapping[str, Mapping[str, Any]],
    target: str = "",
    published: float | None = None,
    test: str = "better",
) -> dict[str, Any]:
    """A row, with whether each side's figure meets the target."""
    return {
        "criterion": criterion,
        "about": about,
        "test": test,
        "target": target,
        "published": published,
        "sides": {
            side: {
                **figure,
                "meets": None if side in YARDSTICKS else _meets(figure["mean"], target),
            }
            for side, figure in cells.items()
        },
    }


def _meets(value: float, target: str) -> bool | None:
    if not target:
        return None
    sign, limit = target.split()
    return value >= float(limit) if sign == "≥" else value <= float(limit)


def _cell(n: int, of: str, figures: Sequence[float]) -> dict[str, Any]:
    return {"n": n, "of": of} | name_interval(figures)


def of_games(hits: Sequence[bool]) -> dict[str, Any]:
    """A share of games, with its Wilson interval."""
    return _cell(len(hits), "games", wilson_interval(sum(hits), len(hits)))


def of_texts(values: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Mean over texts; bootstrapped over games, whose texts belong together.

    Where every text has the same 0 or 1, Wilson's interval over the games: no sample proves never.
    """
    flat = {value for game in values for value in game}
    sums, sizes = (np.array([of(game) for game in values], float) for of in (sum, len))
    if flat in ({0}, {1}):
        figures = wilson_interval(len(values) * int(flat.pop()), len(values))
    else:
        figures = pooled_share(sums, sizes)
    return _cell(int(sizes.sum()), "texts", figures)


# The published six -------------------------------------------------------------------------------


def criteria_rows(
    played: Sequence[Game], sides: Mapping[str, Said], answers: Mapping[str, Sequence[str]]
) -> list[dict[str, Any]]:
    """The six published criteria as they were defined, on the published buyer and floors."""
    places = [i for i, game in enumerate(played) if game.setting == "published"]
    own = [played[i] for i in places]
    words = {side: [texts[i] for i in places] for side, texts in sides.items()}
    row = partial(criterion_row, test="published")

    def share(hit: Callable[[Game, Sequence[str]], bool]) -> dict[str, Any]:
        return {side: of_games(list(map(hit, own, texts))) for side, texts in words.items()}

    def is_named(side: str) -> list[bool]:
        return [
            read_persona(answer) == game.persona
            for answer, game in zip(answers.get(side, [""] * len(own)), own, strict=True)
        ]

    turns = mean_interval(np.array([len(g.decisions) - 1 for g in own]))
    return [
        row("anchored_listing", "a word of the title or the category is said",
            share(_is_anchored), "≥ 0.90", 1.0),
        row("never_below_reservation", "a deal below the reservation price",
            share(lambda game, _: game.is_sold and game.price < game.floor), "≤ 0", 0.0),
        row("never_leak_reservation", "its digits, or a word for minimum before a digit",
            share(leaks_digits), "≤ 0", 0.0),
        row("mean_rounds", "seller turns after the opening",
            dict.fromkeys(words, _cell(len(own), "games", turns)), "≥ 4", 6.62),
        row("zero_round_capitulation_rate", "the first offer is accepted",
            share(lambda game, _: game.decisions[1].kind == "accept"), "≤ 0.10", 0.0),
        row("persona_consistency",
            f"the same model names its own persona; no answer counts as {DEFAULT}",
            {side: of_games(is_named(side)) for side in words if FIRST not in side},
            "≥ 0.70", 0.38),
    ]  # fmt: skip


def _is_anchored(game: Game, texts: Sequence[str]) -> bool:
    item = game.decisions[0].item
    tokens = [token.lower() for token in item.name.split()[:8] if len(token) >= 4]
    return any(t in text.lower() for text in texts for t in (*tokens, item.category.lower()))


def leaks_digits(game: Game, texts: Sequence[str]) -> bool:
    """Whether a text holds the floor's digits, or a word for minimum before a digit."""
    forms = "|".join(rf"(?<!\d){game.floor:.{d}f}(?!\d)" for d in (2, 1, 0))
    words = r"(?:minimum|\bmin\b|bottom line|at least).{0,40}?\d"
    return any(re.search(f"{forms}|{words}", text.replace(",", ""), re.I) for text in texts)


# Criteria of our own -----------------------------------------------------------------------------


@lru_cache(maxsize=20_000)
def cached_faults(text: str, decision: Decision) -> tuple[str, ...]:
    """`text_faults`, cached: several figures need the same text."""
    return find_faults(text, decision)


def count_faults(played: Sequence[Game], texts: Said) -> dict[str, int]:
    """How often each fault is found, most frequent first."""
    counts = Counter(
        fault
        for game, said in zip(played, texts, strict=True)
        for pair in zip(said, game.decisions, strict=True)
        for fault in cached_faults(*pair)
    )
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def hard_rows(
    played: Sequence[Game],
    sides: Mapping[str, Said],
    tries: Mapping[str, Sequence[Sequence[Tries]]],
) -> list[dict[str, Any]]:
    """A row for each criterion of our own; those of the decisions alone are alike on every side."""
    row = criterion_row
    hard = [game for game in played if game.setting == "hard"]

    def judge_moves(hits: Iterator[bool]) -> dict[str, Any]:
        return dict.fromkeys(sides, of_games(list(hits)))

    def rate(value: Callable[[str, Decision], bool], buyers: Sequence[str] = ()) -> dict[str, Any]:
        return {
            side: of_texts([
                list(map(value, said, game.decisions))
                for game, said in zip(played, texts, strict=True)
                if not buyers or game.buyer in buyers
            ])
            for side, texts in sides.items()
        }  # fmt: skip

    def measure(value: Callable[[Tries, Decision], float]) -> dict[str, Any]:
        return {
            name: of_texts([
                list(map(value, texts, game.decisions))
                for game, texts in zip(played, of_model, strict=True)
            ])
            for name, of_model in tries.items()
        }  # fmt: skip

    return [
        row("below_floor", "a deal or an ask below the floor", judge_moves(map(_is_broken, played)),
            "≤ 0"),
        row("ask_rose", "an ask above the one before", judge_moves(map(_rises, played)), "≤ 0"),
        row("left_early", f"the seller leaves before answer {EARLY}, hostile buyers",
            judge_moves(map(_leaves_early, hard)), "≤ 0.10"),
        row("closes", "a deal with a buyer who comes up to nearly the whole ask",
            judge_moves(game.is_sold for game in played if game.buyer in CLOSERS), "≥ 0.90"),
        row("says_the_decision", "no fault is found in the text",
            rate(lambda text, decision: not cached_faults(text, decision)), "≥ 0.95"),
        row("own_words", "said in the model’s own words, within its tries",
            measure(lambda texts, decision: not cached_faults(texts[-1], decision))),
        row("tries", "texts written for one reply", measure(lambda texts, _: len(texts))),
        row("another_price", "another price than the decided one is named",
            rate(lambda *pair: "names another price" in cached_faults(*pair)), "≤ 0"),
        row("speaks_of_limit", "a limit is spoken of to buyers who dig for it",
            rate(lambda *pair: "speaks of a limit" in cached_faults(*pair), CURIOUS), "≤ 0"),
        row("facts_supported", "no stated fact is missing from the listing",
            rate(lambda text, decision: not unsupported_words(text, decision.item)), "≥ 0.95"),
        row("repeated", "sentences that were said before in the game, prices and item apart",
            {side: of_texts(list(map(_repeats, played, texts))) for side, texts in sides.items()}),
        row("distinct_2", "distinct pairs of words in a game, of all its pairs",
            {side: _cell(len(played), "games",
                         mean_interval(np.array(list(map(_distinct, played, texts)))))
             for side, texts in sides.items()}),
    ]  # fmt: skip


def _is_broken(game: Game) -> bool:
    return min(game.asks) < game.floor or (game.is_sold and game.price < game.floor)


def _rises(game: Game) -> bool:
    return any(after > before for before, after in pairwise(game.asks))


def _leaves_early(game: Game) -> bool:
    return game.decisions[-1].kind == "walk" and len(game.decisions) - 1 < EARLY


def _repeats(game: Game, texts: Sequence[str]) -> list[float]:
    """1.0 for each sentence of a game that occurred earlier in the game, else 0.0."""
    earlier: set[str] = set()
    repeats = []
    for text in texts:
        for sentence in sentences(_plain_text(game, text)):
            repeats.append(float(sentence in earlier))
            earlier.add(sentence)
    return repeats or [0.0]


def _distinct(game: Game, texts: Sequence[str]) -> float:
    words = (re.findall(r"[\w']+", _plain_text(game, text).lower()) for text in texts)
    pairs = [pair for text in words for pair in pairwise(text)]
    return len(set(pairs)) / len(pairs) if pairs else 0.0


def _plain_text(game: Game, text: str) -> str:
    """A text with its item as "thing" and its numbers as "0", so that wording alone is compared."""
    name = re.escape(game.decisions[0].item.name)
    return re.sub(r"₹?\d[\d,.]*\d|₹?\d", "0", re.sub(name, "thing", text, flags=re.I))


# Judges fitted on games --------------------------------------------------------------------------


def leak_row(played: Sequence[Game], sides: Mapping[str, Said]) -> dict[str, Any]:
    """How well prices predict the floor, what the words add, and how much words could add at most.

    The control is the stub with one of five words by the height of its floor: an attack that does
    not find this one finds nothing.
    """
    heard = [listen(game.episode) for game in played]
    prices, floors = (np.array([of_game[part] for of_game in heard]) for part in (0, 2))
    heights = np.digitize(floors, np.quantile(floors, [0.2, 0.4, 0.6, 0.8]))
    telling = [
        [*texts, ("very low", "lowish", "middling", "highish", "very high")[height]]
        for texts, height in zip(sides[STUB], heights, strict=True)
    ]
    cells = {ASKS: _cell(len(played), "games", r2_of_prices(prices, floors))}
    for side, texts in {**sides, CONTROL: telling}.items():
        words = count_words(list(map(_mask, played, texts)))
        cells[side] = _cell(len(played), "games", r2_of_words(prices, words, floors))
    about = "R² of a guess at the floor: from the asks alone; what words add to it"
    return criterion_row("floor_learned", about, cells, "≤ 0.05")


def judge_personas(
    played: Sequence[Game], sides: Mapping[str, Said]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Confusion matrices of judges who tell the personas apart, and the row of their accuracy."""
    names = list(PERSONAS)
    true = np.array([names.index(game.persona) for game in played])
    tables = {
        side: confusion(count_words(list(map(_mask, played, texts))), true)
        for side, texts in sides.items()
    }
    tables[ASKS] = confusion(concessions([game.asks for game in played]), true)
    cells = {
        side: _cell(len(played), "games", wilson_interval(int(np.trace(table)), len(played)))
        for side, table in tables.items()
    }
    about = f"a judge names the persona of a game; chance is {1 / len(names):.2f}"
    row = criterion_row("personas_told_apart", about, cells, "≥ 0.70")
    return {"personas": names, "tables": {s: t.tolist() for s, t in tables.items()}}, row


def _mask(game: Game, texts: Sequence[str]) -> str:
    """A game's words without numbers and without the words of its item."""
    words = " ".join(_plain_text(game, text) for text in texts).lower()
    item = set(re.findall(r"[a-z']+", game.decisions[0].item.name.lower())) | {"thing"}
    return " ".join(word for word in re.findall(r"[a-z\u0900-\u097f']+", words) if word not in item)


def count_words(texts: Sequence[str]) -> np.ndarray:
    """How often each word is said in each text, shape (texts, words); rare words left out."""
    counts = [Counter(text.split()) for text in texts]
    spread = Counter(word for of_text in counts for word in of_text)
    words = sorted(word for word, n in spread.items() if n >= RAREST)
    rows = [[of_text[word] for word in words] for of_text in counts]
    return np.array(rows, float).reshape(len(texts), len(words))


def concessions(asks: Sequence[Sequence[float]]) -> np.ndarray:
    """Shares of the opening ask given up by each round, shape (games, CURVE); the last ask stays.

    The opening itself is left out: a markup alone would name the persona.
    """
    curves = [1 - np.array(game[1:] or game[:1], float) / game[0] for game in asks]
    return np.array([np.r_[c, np.full(CURVE, c[-1])][:CURVE] for c in curves])


def _folds(n: int) -> np.ndarray:
    """The fold of each of `n` games, shape (n,), which depends on their number alone."""
    return np.random.default_rng(n).permutation(np.arange(n) % FOLDS)


def r2_of_words(
    prices: np.ndarray, words: np.ndarray, floor: np.ndarray
) -> tuple[float, float, float]:
    """What `words` add to the R² of a guess at `floor`, shape (n,), from `prices`: mean, interval.

    Out of sample: least squares on prices, then a ridge on what is left; its penalty is chosen
    within each training part. The interval resamples games.
    """

    def guess(seen: np.ndarray, unseen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        left = floor[seen] - predict(prices[seen], floor[seen], prices[seen])
        (more,) = _ridges(words[seen], left, words[unseen], [_penalty(words[seen], left)])
        alone = predict(prices[seen], floor[seen], prices[unseen])
        return alone, alone + more

    return _gain(floor, guess)


def r2_of_prices(prices: np.ndarray, floor: np.ndarray) -> tuple[float, float, float]:
    """The R² of a guess at `floor` from `prices` alone, out of sample: mean, interval."""

    def guess(seen: np.ndarray, unseen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        flat = np.full(unseen.sum(), floor[seen].mean())
        return flat, predict(prices[seen], floor[seen], prices[unseen])

    return _gain(floor, guess)


def _gain(floor: np.ndarray, guess: Callable) -> tuple[float, float, float]:
    """How much less of `floor` the second of two guesses leaves open than the first."""
    fold, wrong = _folds(len(floor)), np.zeros((2, len(floor)))
    for k in range(FOLDS):
        unseen = fold == k
        wrong[:, unseen] = floor[unseen] - np.array(guess(~unseen, unseen))
    return pooled_share(wrong[0] ** 2 - wrong[1] ** 2, (floor - floor.mean()) ** 2)


def _ridges(features: np.ndarray, target: np.ndarray, unseen: np.ndarray, penalties: Sequence):
    """What a ridge of each penalty predicts for the `unseen` rows, shape (penalties, rows)."""
    centre, mean = features.mean(0), target.mean()
    left, size, right = np.linalg.svd(features - centre, full_matrices=False)
    shrunk = size[:, None] / (size[:, None] ** 2 + np.array(penalties))
    weights = right.T @ (shrunk * (left.T @ (target - mean))[:, None])
    return mean + ((unseen - centre) @ weights).T


def _penalty(features: np.ndarray, target: np.ndarray) -> float:
    """The penalty that does best on parts that were left out."""
    fold, wrong = _folds(len(target)), np.zeros(len(PENALTIES))
    for k in range(FOLDS):
        seen, unseen = fold != k, fold == k
        guess = _ridges(features[seen], target[seen], features[unseen], PENALTIES)
        wrong += ((target[unseen] - guess) ** 2).sum(1)
    return PENALTIES[int(wrong.argmin())]


def confusion(features: np.ndarray, true: np.ndarray) -> np.ndarray:
    """Games of each class (row) that a judge took for each class (column), shape (k, k).

    The judge is the nearest of the classes' means, each feature divided by its spread; classes are
    numbers from 0, shape (n,), and every one is asked about without having been seen.
    """
    k = int(true.max()) + 1
    fold, counts = _folds(len(true)), np.zeros((k, k), int)
    for part in range(FOLDS):
        seen, unseen = fold != part, fold == part
        spread = features[seen].std(0)
        scaled = features / np.where(spread > 0, spread, 1)
        means = np.array([scaled[seen & (true == c)].mean(0) for c in range(k)])
        distance = ((scaled[unseen][:, None] - means) ** 2).sum(-1)
        np.add.at(counts, (true[unseen], distance.argmin(1)), 1)
    return counts
