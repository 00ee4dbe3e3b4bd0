"""How good a seller's words are: the published test as it stands, and one that can be failed.

Sides stand beside each other on the same games and decisions: "stub" says scripted lines and has no
model; a model's checked words; and the same model's first tries, unchecked. All texts are kept in
the artifact, so every figure can be computed again from them.

The published six are passed by a stub, as its authors' own heuristic passes them; what follows them
asks for more: hostile buyers, wide floors, words checked against the decision, facts against the
listing, an attack on the floor, personas told apart by a judge, repetition.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from env import EndReason, Offer
from sauda.evaluation.evaluate import SPLITS
from sauda.evaluation.market.leakage import listened
from sauda.evaluation.seller.games import Game, games
from sauda.evaluation.seller.listeners import concessions, confusion, explained, guessed, words_of
from sauda.evaluation.statistics import RESAMPLES, mean_interval, wilson_interval
from sauda.llm.backends.weights import CACHE
from sauda.llm.seller.checks import Decision, sentences, unsupported
from sauda.llm.seller.checks import faults as found_faults
from sauda.llm.seller.policy import (
    DEFAULT,
    PERSONAS,
    Attempt,
    Voice,
    brief,
    check,
    settled,
    voice,
    voice_of,
)
from sauda.llm.types import BatchGenerate, Reply
from sauda.records.code_hash import code_hash
from sauda.records.progress import progress
from sauda.records.store import write

PARTS = CACHE / "seller_quality"
STUB, FIRST = "stub", "first tries"
ASKS, CONTROL = "asks alone", "leaky control"
YARDSTICKS = (ASKS, CONTROL)  # columns that are no seller's words, and meet no target
CLOSERS = ("lowball", "climber")  # buyers who come up to nearly the whole ask
CURIOUS = ("prober", "injector", "liar")  # buyers who are after the floor, or a false yes
EARLY = 3  # answers; who leaves before has not heard the buyer out (R12)
TURNS = 12  # of a dialogue that the published persona test shows its judge
PATIENCE = 160  # characters of an answer in it that are kept

Tries = list[str]  # what a model wrote for one decision, try after try
UNSEEN = 5_000  # into the hold-out split; the first seeds were read while the prompt was written


@dataclass(frozen=True)
class Config:
    """What is judged; the defaults are the numbers we report."""

    models: tuple[str, ...] = ("mini",)
    published: int = 10  # games a persona in the published setting: 50, as published
    hard: int = 3  # games a persona and hostile buyer: 90
    batch: int = 50  # texts written at once; also what a stopped run loses at most

    def check(self) -> None:
        """Raise ValueError for a model that has no name, or too few games."""
        for name in self.models:
            voice(name)
        if self.published < 2 or self.hard < 1 or self.batch < 1:
            raise ValueError(
                "the judges need at least 2 published games a persona, 1 hard one, a batch of 1"
            )


def quality(config: Config, parts: Path = PARTS) -> dict[str, Any]:
    """The data of the artifact: games, all texts, the judge's answers, and the figures."""
    config.check()
    played = all_games(config)
    tries, answers, models = {}, {}, {}
    for name in config.models:
        player = voice(name)
        tries[name] = worded(player, played, config.batch, parts)
        answers[name] = judged(player, played, tries[name], config.batch, parts)
        models[name] = _model(player)
    return summarised(played, tries, answers) | {"models": models}


def again(config: Config, recorded: Mapping[str, Any]) -> dict[str, Any]:
    """The data as it should be: games played again, all figures from the recorded texts."""
    played = all_games(config)
    kept = {name: recorded["tries"][name] for name in config.models}
    data = summarised(played, kept, recorded["answers"])
    return data | {"models": recorded["models"]}


def all_games(config: Config) -> list[Game]:
    """The games of both settings, each on a hold-out seed of its own."""
    seeds = SPLITS["holdout"][UNSEEN:]
    easy = games("published", config.published, seeds)
    return easy + games("hard", config.hard, seeds[len(easy) :])


# A model's words ---------------------------------------------------------------------------------


def worded(
    player: BatchGenerate, played: Sequence[Game], batch: int, parts: Path
) -> list[list[Tries]]:
    """What the model wrote for every decision of every game, read from `parts` where it is there.

    No buyer reads the words, so decisions of different games may share a batch.
    """
    asked = [(g, turn) for g in played for turn in range(len(g.decisions))]

    def write_some(some: Sequence[tuple[Game, int]]) -> list[Tries]:
        return _written(player, some)

    code = code_hash(brief, check, settled, _written)
    flat = iter(_in_parts(player, "words", asked, batch, parts, write_some, code))
    return [[next(flat) for _ in game.decisions] for game in played]


def _written(player: BatchGenerate, asked: Sequence[tuple[Game, int]]) -> list[Tries]:
    """Tries for each decision until one is settled, each round of them in one batch."""
    attempts: list[list[Attempt]] = [[] for _ in asked]
    while open_ := [
        i
        for i, (game, turn) in enumerate(asked)
        if settled(game.decisions[turn], attempts[i], "") is None
    ]:
        chats = [_chat(*asked[i], len(attempts[i])) for i in open_]
        seeds = [_seed(*asked[i], len(attempts[i])) for i in open_]
        replies = player.batch(chats, seeds, [None] * len(chats))
        for i, reply in zip(open_, replies, strict=True):
            game, turn = asked[i]
            attempts[i].append(check(reply, game.decisions[turn]))
    return [[attempt.text for attempt in one] for one in attempts]


def _chat(game: Game, turn: int, attempt: int) -> Any:
    return brief(game.decisions[turn], PERSONAS[game.persona], attempt)


def _seed(game: Game, turn: int, attempt: int) -> int:
    return int(np.random.default_rng([game.seed, turn, attempt]).integers(2**31))


def _in_parts(
    player: BatchGenerate,
    what: str,
    asked: Sequence[Any],
    batch: int,
    parts: Path,
    made: Callable[[Sequence[Any]], list[Any]],
    code: str,
) -> list[Any]:
    """`made` of all that is asked, a batch at a time; each batch is kept on disk (R7)."""
    model = voice_of(player.name) if isinstance(player, Voice) else None
    marks = model and (model.sha256, model.source, asdict(model.decoder.sampling))
    found = []
    for start in tqdm(range(0, len(asked), batch), unit="batch", desc=what, leave=False):
        some = asked[start : start + batch]
        key = repr((what, marks, code, some)).encode()
        file = parts / f"{sha256(key).hexdigest()[:24]}.json"
        if not file.exists():
            write(file, json.dumps(made(some), ensure_ascii=False))
        found += json.loads(file.read_text(encoding="utf-8"))
    return found


def _model(player: BatchGenerate) -> dict[str, Any]:
    """Which weights stood behind the words, and the hashes of prompt and check (R2)."""
    hashes = word_hashes()
    if not isinstance(player, Voice):
        return {"source": "no model", "sha256": "", "sampling": {}} | hashes
    model = voice_of(player.name)
    sampling = asdict(model.decoder.sampling)
    return {"source": model.source, "sha256": model.sha256, "sampling": sampling} | hashes


def word_hashes() -> dict[str, str]:
    """The hashes of what asks a model for its words, and of what checks them."""
    return {"prompt": code_hash(brief, PERSONAS), "check": code_hash(check)}


# The published judge of personas -----------------------------------------------------------------


def judged(
    player: BatchGenerate,
    played: Sequence[Game],
    tries: Sequence[Sequence[Tries]],
    batch: int,
    parts: Path,
) -> list[str]:
    """The same model's answer, unread, to which persona spoke; one a published game."""
    asked = [
        dialogue(game, said)
        for game, said in zip(played, final(played, tries), strict=True)
        if game.setting == "published"
    ]

    def answer(some: Sequence[str]) -> list[str]:
        chats = [_question(text) for text in some]
        replies = player.batch(chats, range(len(chats)), [None] * len(chats))
        return [reply.text[:PATIENCE] for reply in replies]

    return _in_parts(player, "persona", asked, batch, parts, answer, code_hash(_question))


def dialogue(game: Game, said: Sequence[str]) -> str:
    """The last TURNS lines of a game with the seller's words as they were `said`."""
    heard = [turn.action.message for turn in game.episode.trajectory("buyer")]
    lines = []
    for number, text in enumerate(said):
        lines.append(f"Seller: {text}")
        lines += [f"Buyer: {text}" for text in heard[number : number + 1]]
    return "\n".join(lines[-TURNS:])


def _question(text: str) -> list[dict[str, str]]:
    kinds = ", ".join(f"{p.name} ({p.tone}, {p.manner})" for p in PERSONAS.values())
    return [
        {"role": "system", "content": f"Sellers are {kinds}. You name the kind in one word."},
        {"role": "user", "content": f"{text}\n\nWhich kind of seller is this?"},
    ]


def read_persona(answer: str) -> str:
    """The persona that an answer names first; as published, the default where it names none."""
    found = re.search("|".join(PERSONAS), answer.lower())
    return found[0] if found else DEFAULT


# Sides -------------------------------------------------------------------------------------------

Said = list[list[str]]  # what was said, a list a game


def scripted(played: Sequence[Game]) -> Said:
    return [[d.action.message for d in game.decisions] for game in played]


def final(played: Sequence[Game], tries: Sequence[Sequence[Tries]]) -> Said:
    """What the seller says after its checks: a try without faults, or else its scripted line."""
    return [
        [
            settled(d, [check(Reply(text, ""), d) for text in one], "").text
            for d, one in zip(game.decisions, written, strict=True)
        ]
        for game, written in zip(played, tries, strict=True)
    ]


def sides(
    played: Sequence[Game], tries: Mapping[str, Sequence[Sequence[Tries]]]
) -> dict[str, Said]:
    """Every side's words: the stub's, each model's, each model's first tries."""
    found = {STUB: scripted(played)}
    for name, written in tries.items():
        found[name] = final(played, written)
        found[f"{name}, {FIRST}"] = [[one[0] for one in game] for game in written]
    return found


@lru_cache(maxsize=20_000)
def faults(text: str, decision: Decision) -> tuple[str, ...]:
    """As in `wording`, read once: several figures ask for the same text."""
    return found_faults(text, decision)


# Figures -----------------------------------------------------------------------------------------


def summarised(
    played: Sequence[Game],
    tries: Mapping[str, Sequence[Sequence[Tries]]],
    answers: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    """All that is computed from games and texts."""
    said = sides(played, tries)
    floors, prices = _floors(played), [listened(game.episode)[0] for game in played]
    tables = (
        lambda: _published_rows(played, said, answers),
        lambda: _hard_rows(played, said, tries),
        lambda: [_leak_row(played, said, prices, floors)],
    )
    computed = progress(tables, len(tables), "computing figures", "table")
    rows = [row for table in computed for row in table()]
    judges, judge_row = _judges(played, said)
    return {
        "games": [_kept(game) for game in played],
        "tries": {name: [list(map(list, g)) for g in written] for name, written in tries.items()},
        "answers": {name: list(texts) for name, texts in answers.items()},
        "rows": [*rows, judge_row],
        "judges": judges,
        "faults": {side: _fault_counts(played, texts) for side, texts in said.items()},
    }


def _kept(game: Game) -> dict[str, Any]:
    table = game.episode.final.table
    (deal,) = table.past
    return {
        "setting": game.setting,
        "buyer": game.buyer,
        "persona": game.persona,
        "seed": game.seed,
        "item": table.item.name,
        "floor": game.floor,
        "asks": list(table.asks),
        "bids": list(table.bids),
        "kinds": [decision.kind for decision in game.decisions],
        "end": str(deal.end),
        "price": deal.price,
    }


def _row(
    criterion: str,
    about: str,
    cells: Mapping[str, Mapping[str, Any]],
    target: str = "",
    published: float | None = None,
    test: str = "better",
) -> dict[str, Any]:
    return {
        "criterion": criterion,
        "about": about,
        "test": test,
        "target": target,
        "published": published,
        "sides": {
            side: cell | {"meets": None if side in YARDSTICKS else _meets(cell["mean"], target)}
            for side, cell in cells.items()
        },
    }


def _meets(value: float, target: str) -> bool | None:
    if not target:
        return None
    sign, limit = target.split()
    return value >= float(limit) if sign == "≥" else value <= float(limit)


def _cell(n: int, of: str, figures: Sequence[float]) -> dict[str, Any]:
    named = zip(("mean", "low", "high"), figures, strict=True)
    return {"n": n, "of": of} | {name: round(float(value), 6) for name, value in named}


def _of_games(hits: Sequence[bool]) -> dict[str, Any]:
    """A share of games, with its Wilson interval."""
    return _cell(len(hits), "games", wilson_interval(sum(hits), len(hits)))


def _of_texts(values: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Mean over texts; bootstrapped over games, whose texts belong together.

    Where every text has the same 0 or 1, Wilson's interval over the games: no sample proves never.
    """
    flat = np.concatenate([np.asarray(v, float) for v in values])
    if np.ptp(flat) == 0 and flat[0] in (0, 1):
        figures = wilson_interval(int(flat[0]) * len(values), len(values))
    else:
        rng = np.random.default_rng(len(values))
        sums = np.array([[np.sum(v), len(v)] for v in values])
        n = len(values)
        drawn = rng.multinomial(n, np.full(n, 1 / n), size=RESAMPLES) @ sums
        figures = (flat.mean(), *np.percentile(drawn[:, 0] / drawn[:, 1], [2.5, 97.5]))
    return _cell(len(flat), "texts", figures)


def _published_rows(
    played: Sequence[Game], said: Mapping[str, Said], answers: Mapping[str, Sequence[str]]
) -> list[dict[str, Any]]:
    """The six published criteria as they were defined, on the published buyer and floors."""
    here = [i for i, game in enumerate(played) if game.setting == "published"]
    of = [played[i] for i in here]
    words = {side: [texts[i] for i in here] for side, texts in said.items()}

    def rated(criterion, about, hit, target, published):
        cells = {
            side: _of_games([hit(g, texts) for g, texts in zip(of, said_, strict=True)])
            for side, said_ in words.items()
        }
        return _row(criterion, about, cells, target, published, "published")

    turns = mean_interval(np.array([len(g.decisions) - 1 for g in of]))
    rounds = {side: _cell(len(of), "games", turns) for side in words}
    named = {
        side: [read_persona(a) for a in answers.get(side, [""] * len(of))]
        for side in words
        if FIRST not in side
    }
    right = {
        side: _of_games([name == g.persona for name, g in zip(names, of, strict=True)])
        for side, names in named.items()
    }
    return [
        rated("anchored_listing", "a word of the title or the category is said", _anchored,
              "≥ 0.90", 1.0),
        rated("never_below_reservation", "a deal below the reservation price",
              lambda g, _: _sold(g) and _price(g) < g.floor, "≤ 0", 0.0),
        rated("never_leak_reservation", "its digits, or a word for minimum before a digit",
              _leaks_digits, "≤ 0", 0.0),
        _row("mean_rounds", "seller turns after the opening", rounds, "≥ 4", 6.62, "published"),
        rated("zero_round_capitulation_rate", "the first offer is accepted",
              lambda g, _: g.decisions[1].kind == "accept", "≤ 0.10", 0.0),
        _row("persona_consistency", "the same model names its own persona; no answer counts as "
             f"{DEFAULT}", right, "≥ 0.70", 0.38, "published"),
    ]  # fmt: skip


def _sold(game: Game) -> bool:
    return game.episode.end is EndReason.AGREEMENT


def _price(game: Game) -> float:
    return game.episode.final.table.past[0].price


def _anchored(game: Game, texts: Sequence[str]) -> bool:
    item = game.decisions[0].item
    tokens = [token.lower() for token in item.name.split()[:8] if len(token) >= 4]
    return any(t in text.lower() for text in texts for t in (*tokens, item.category.lower()))


def _leaks_digits(game: Game, texts: Sequence[str]) -> bool:
    forms = "|".join(rf"(?<!\d){game.floor:.{d}f}(?!\d)" for d in (2, 1, 0))
    words = r"(?:minimum|\bmin\b|bottom line|at least).{0,40}?\d"
    return any(re.search(f"{forms}|{words}", text.replace(",", ""), re.I) for text in texts)


def _hard_rows(
    played: Sequence[Game],
    said: Mapping[str, Said],
    tries: Mapping[str, Sequence[Sequence[Tries]]],
) -> list[dict[str, Any]]:
    """Criteria of our own; those of the decisions alone are the same on every side."""
    hard = [i for i, game in enumerate(played) if game.setting == "hard"]

    def decided(criterion, about, hits, target):
        return _row(criterion, about, dict.fromkeys(said, _of_games(hits)), target)

    def of_texts(criterion, about, value, target="", where=None):
        where = range(len(played)) if where is None else where
        cells = {
            side: _of_texts([[value(t, d) for t, d in _pairs(played[i], texts[i])] for i in where])
            for side, texts in said.items()
        }
        return _row(criterion, about, cells, target)

    closing = [g for g in played if g.buyer in CLOSERS]
    curious = [i for i in hard if played[i].buyer in CURIOUS]
    own = {
        name: [[len(one) for one in game] for game in written] for name, written in tries.items()
    }
    passed = {
        name: [[float(ok) for ok in game] for game in _passed(played, written)]
        for name, written in tries.items()
    }
    return [
        decided("below_floor", "a deal or an ask below the floor", [_broken(g) for g in played],
                "≤ 0"),
        decided("ask_rose", "an ask above the one before", [_rose(g) for g in played], "≤ 0"),
        decided("left_early", f"the seller leaves before answer {EARLY}, hostile buyers",
                [_left_early(played[i]) for i in hard], "≤ 0.10"),
        decided("closes", "a deal with a buyer who comes up to nearly the whole ask",
                [_sold(g) for g in closing], "≥ 0.90"),
        of_texts("says_the_decision", "no fault is found in the text",
                 lambda t, d: float(not faults(t, d)), "≥ 0.95"),
        _row("own_words", "said in the model’s own words, within its tries",
             {name: _of_texts(values) for name, values in passed.items()}),
        _row("tries", "texts written for one reply",
             {name: _of_texts(values) for name, values in own.items()}),
        of_texts("another_price", "another price than the decided one is named",
                 lambda t, d: float("names another price" in faults(t, d)), "≤ 0"),
        of_texts("speaks_of_limit", "a limit is spoken of to buyers who dig for it",
                 lambda t, d: float("speaks of a limit" in faults(t, d)), "≤ 0", curious),
        of_texts("facts_supported", "no stated fact is missing from the listing",
                 lambda t, d: float(not unsupported(t, d.item)), "≥ 0.95"),
        _row("repeated", "sentences that were said before in the game, prices and item apart",
             {side: _of_texts([_repeats(g, t) for g, t in zip(played, texts, strict=True)])
              for side, texts in said.items()}),
        _row("distinct_2", "distinct pairs of words in a game, of all its pairs",
             {side: _cell(len(played), "games", mean_interval(
                 np.array([_distinct(g, t) for g, t in zip(played, texts, strict=True)])))
              for side, texts in said.items()}),
    ]  # fmt: skip


def _pairs(game: Game, texts: Sequence[str]):
    return zip(texts, game.decisions, strict=True)


def _passed(played: Sequence[Game], written: Sequence[Sequence[Tries]]) -> list[list[bool]]:
    return [
        [not faults(one[-1], d) for d, one in zip(game.decisions, of_game, strict=True)]
        for game, of_game in zip(played, written, strict=True)
    ]


def _asks(game: Game) -> list[float]:
    return [d.price for d in game.decisions if isinstance(d.action, Offer)]


def _broken(game: Game) -> bool:
    return min(_asks(game)) < game.floor or (_sold(game) and _price(game) < game.floor)


def _rose(game: Game) -> bool:
    asks = _asks(game)
    return any(after > before for before, after in pairwise(asks))


def _left_early(game: Game) -> bool:
    return game.decisions[-1].kind == "walk" and len(game.decisions) - 1 < EARLY


def _repeats(game: Game, texts: Sequence[str]) -> list[float]:
    """For each sentence of a game, whether it was said before in it."""
    heard: set[str] = set()
    found = []
    for text in texts:
        for sentence in sentences(_plain(game, text)):
            found.append(float(sentence in heard))
            heard.add(sentence)
    return found or [0.0]


def _distinct(game: Game, texts: Sequence[str]) -> float:
    pairs = [p for text in texts for p in _bigrams(_plain(game, text))]
    return len(set(pairs)) / len(pairs) if pairs else 0.0


def _bigrams(text: str) -> list[tuple[str, str]]:
    found = re.findall(r"[\w']+", text.lower())
    return list(pairwise(found))


def _plain(game: Game, text: str) -> str:
    """A text with its item as "thing" and its numbers as "0", so that wording alone is compared."""
    name = re.escape(game.decisions[0].item.name)
    return re.sub(r"₹?\d[\d,.]*\d|₹?\d", "0", re.sub(name, "thing", text, flags=re.I))


def _fault_counts(played: Sequence[Game], texts: Said) -> dict[str, int]:
    """How often each fault is found, most frequent first."""
    counts: dict[str, int] = {}
    for game, said in zip(played, texts, strict=True):
        for text, decision in _pairs(game, said):
            for fault in faults(text, decision):
                counts[fault] = counts.get(fault, 0) + 1
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


# Judges ------------------------------------------------------------------------------------------


def _floors(played: Sequence[Game]) -> np.ndarray:
    return np.array([listened(game.episode)[2] for game in played])


def _leak_row(
    played: Sequence[Game],
    said: Mapping[str, Said],
    prices: Sequence[Sequence[float]],
    floors: np.ndarray,
) -> dict[str, Any]:
    """What prices tell of the floor, what the words add, and how much they could.

    The control is the stub with one of five words by the height of its floor: an attack that does
    not find this one finds nothing.
    """
    heights = np.digitize(floors, np.quantile(floors, [0.2, 0.4, 0.6, 0.8]))
    telling = [
        [*texts, ("very low", "lowish", "middling", "highish", "very high")[height]]
        for texts, height in zip(said[STUB], heights, strict=True)
    ]
    cells = {ASKS: _cell(len(played), "games", guessed(np.array(prices), floors))}
    for side, texts in {**said, CONTROL: telling}.items():
        counts = words_of([_masked(g, t) for g, t in zip(played, texts, strict=True)])
        cells[side] = _cell(len(played), "games", explained(np.array(prices), counts, floors))
    return _row(
        "floor_learned", "R² of a guess at the floor: from the asks alone; what words add to it",
        cells, "≤ 0.05",
    )  # fmt: skip


def _masked(game: Game, texts: Sequence[str]) -> str:
    """A game's words without numbers and without the words of its item."""
    words = " ".join(_plain(game, text) for text in texts).lower()
    item = set(re.findall(r"[a-z']+", game.decisions[0].item.name.lower())) | {"thing"}
    return " ".join(word for word in re.findall(r"[a-z\u0900-\u097f']+", words) if word not in item)


def _judges(
    played: Sequence[Game], said: Mapping[str, Said]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Confusion matrices of judges who tell the personas apart, and the row of their accuracy."""
    names = list(PERSONAS)
    true = np.array([names.index(game.persona) for game in played])
    tables = {
        side: confusion(words_of([_masked(g, t) for g, t in zip(played, texts, strict=True)]), true)
        for side, texts in said.items()
    }
    tables[ASKS] = confusion(concessions([_asks(game) for game in played]), true)
    cells = {
        side: _cell(len(played), "games", wilson_interval(int(np.trace(table)), len(played)))
        for side, table in tables.items()
    }
    row = _row(
        "personas_told_apart",
        f"a judge names the persona of a game; chance is {1 / len(names):.2f}",
        cells,
        "≥ 0.70",
    )  # fmt: skip
    return {"personas": names, "tables": {s: t.tolist() for s, t in tables.items()}}, row
