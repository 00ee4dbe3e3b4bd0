"""How like people the sellers of `bazaar/people` answer, and the numbers fitted to people.

`python -m sauda likeness --data FILE` reads the labelled dialogues of CraigslistBargains (He et al.
2018), which are not shipped; the artifact keeps what each bid was answered with, as shares of the
list price, and everything is computed from that. One half of the dialogues is fitted to, the other
is what the simulated games are compared with. A dialogue's half follows from its listing.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from env import ear, people
from sauda.experiments.base import experiment
from sauda.language import read_rows
from sauda.language.acts import Dialogue
from sauda.records.store import Artifact
from sauda.statistics import exact_share

ANSWERS = ("accepts", "gives", "stands", "leaves")
AFTER = ("first bid", "rise", "stand")  # what is answered
LIKELY = (0.25, 1.3)  # shares of the list price that a price lies in; others are mistakes of labels
SAME = 0.005  # share of the list price: a change of less is none
GAMES = 4000  # simulated


class Reply(NamedTuple):
    """A bid and what a person answered; prices are shares of the list price."""

    game: int
    half: int  # 0 is fitted to, 1 held out
    number: int  # of the bid in its dialogue, from 1
    ask: float  # before the bid
    before: float  # the best bid before it, 0 for none
    bid: float
    answer: int  # index into ANSWERS
    after: float  # the ask after it


def replies_in(dialogue: Dialogue, game: int) -> list[Reply]:
    """What the seller answered to each bid of a labelled dialogue; none where a price is odd."""
    ask, best, number, open_bid = 1.0, 0.0, 0, None
    rows: list[Reply] = []
    half = int(dialogue.place >= 0.5)

    def answer(what: str, after: float) -> None:
        nonlocal open_bid, ask
        rows.append(Reply(game, half, number, ask, open_bid[0], open_bid[1],
                          ANSWERS.index(what), after))  # fmt: skip
        ask, open_bid = after, None

    for turn in dialogue.turns:
        intent, price = turn.act.intent, turn.act.price
        share = price / dialogue.list_price if price is not None else None
        if share is not None and not LIKELY[0] <= share <= LIKELY[1]:
            return []
        if turn.agent == "buyer":
            if intent in ("accept", "reject", "quit") or (share is not None and share > ask - SAME):
                break
            if intent == "offer" and rows and not open_bid and abs(share - best) < SAME:
                last = rows.pop()  # the button after words: the same bid is still to be answered
                ask, open_bid = last.ask, (last.before, last.bid)
            elif share is not None and not (open_bid and abs(share - best) < SAME):
                if open_bid:
                    answer("stands", ask)
                number += 1
                open_bid, best = (best, share), max(best, share)
        elif not open_bid:
            ask = min(ask, share) if share is not None else ask
        elif intent in ("accept", "agree") or (share is not None and share <= best + SAME):
            answer("accepts", ask)
            break
        elif intent in ("quit", "reject"):
            answer("leaves", ask)
            break
        elif share is not None:
            answer("gives" if ask - share >= SAME else "stands", min(ask, share))
    if open_bid:
        answer("leaves" if dialogue.turns[-1].agent == "seller" else "stands", ask)
    return rows


# Simulated games ----------------------------------------------------------------------------------


def table_of(habits: Mapping[str, people.Habit]) -> np.ndarray:
    return np.array(list(habits.values()))


def simulate(replies: Sequence[Reply], seed: int = 5) -> list[Reply]:
    """GAMES games of the task's sellers, silent; the buyer's moves are drawn from people's.

    A buyer answers a gap as some person did a gap like it: by a rise, a stand, acceptance or by
    leaving.
    """
    rng = np.random.default_rng(seed)
    firsts = np.array([row.bid for row in replies if row.number == 1])
    moves = transitions(replies)
    rows: list[Reply] = []
    sellers = people.draw_many(GAMES, rng)
    for game in range(GAMES):
        s = SimpleNamespace(**{name: value[game] for name, value in sellers.items()})
        s.opening = s.list_price = 1.0
        s.unit, ask, bid, course = 0.001, 1.0, float(rng.choice(firsts)), people.Course()
        for number in range(1, 7):
            before = course.best
            course = people.after_bid(course, 1.0, ask, bid, number == 1)
            u = rng.random(3)
            least = people.threshold(s, ask, course, 0.0) + people.NOISE * (2 * u[0] - 1)
            what, after = "stands", ask
            if bid >= min(ask, max(s.reservation, float(least))):
                what = "accepts"
            elif u[1] < people.hazard(s, course, number == 1, 0.0, 0.0):
                what = "leaves"
            elif u[2] < people.chance_to_give(s, course):
                after = float(people.wish(s, ask, course, number == 1))
                what = "gives" if ask - after >= SAME else "stands"
            rows.append(Reply(game, 0, number, ask, float(before), bid, ANSWERS.index(what), after))
            ask = after
            gap = ask - float(course.best)
            share = rng.choice(moves[min(2, int(np.searchsorted((0.08, 0.2), gap)))])
            if what in ("accepts", "leaves") or np.isnan(share) or share >= 1:
                break
            bid = float(course.best) + share * gap
    return rows


def transitions(replies: Sequence[Reply]) -> list[np.ndarray]:
    """What share of the gap people closed after an ask, by small, middle and large gap.

    NaN for leaving; 1 for taking the ask.
    """
    by_gap: list[list[float]] = [[], [], []]
    for row, following in zip(replies, [*replies[1:], None], strict=True):
        if ANSWERS[row.answer] not in ("gives", "stands"):
            continue
        gap = row.after - max(row.before, row.bid)
        if gap < SAME:
            continue
        same = following is not None and following.game == row.game
        share = (following.bid - max(row.before, row.bid)) / gap if same else 1.0
        by_gap[min(2, int(np.searchsorted((0.08, 0.2), gap)))].append(float(np.clip(share, 0, 1)))
    return [np.array(shares) for shares in by_gap]


# Distances ----------------------------------------------------------------------------------------


def situation(row: Reply) -> str:
    return AFTER[0] if row.number == 1 else AFTER[1] if row.bid > row.before + SAME else AFTER[2]


def answered(replies: Sequence[Reply], after: str) -> np.ndarray:
    """The share of each answer to a kind of bid, (4,)."""
    answers = [row.answer for row in replies if situation(row) == after]
    return np.bincount(answers, minlength=len(ANSWERS)) / max(1, len(answers))


def distributions(replies: Sequence[Reply]) -> dict[str, np.ndarray]:
    """Samples of what games are like, by name."""
    games: dict[int, list[Reply]] = {}
    for row in replies:
        games.setdefault(row.game, []).append(row)
    named = [row for row in replies if ANSWERS[row.answer] in ("gives", "stands")]
    taken = [rows[-1] for rows in games.values() if ANSWERS[rows[-1].answer] == "accepts"]
    return {
        "bids per game": np.array([len(rows) for rows in games.values()], float),
        "first ask after a bid": np.array([row.after for row in named if row.number == 1]),
        "step of the seller": np.array([r.ask - r.after for r in named if r.ask - r.after >= SAME]),
        "share of the gap given": np.array([
            (row.ask - row.after) / (row.ask - row.bid)
            for row in named if row.ask - row.after >= SAME and row.ask - row.bid >= SAME
        ]),
        "bid that was accepted": np.array([max(row.before, row.bid) for row in taken]),
    }  # fmt: skip


def compare(replies: Sequence[Reply]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The tables `answers` and `distances`."""
    from scipy.stats import ks_2samp  # slow to import

    fitted, held_out = ([row for row in replies if row.half == half] for half in (0, 1))
    played = simulate(fitted)
    answers, distances = [], []
    for after in AFTER:
        shares = [answered(rows, after) for rows in (replies, played)]
        n = sum(situation(row) == after for row in replies)
        for who, share in zip(("people", "simulated"), shares, strict=True):
            named = dict(zip(ANSWERS, share.round(4).tolist(), strict=True))
            count = n if who == "people" else sum(situation(row) == after for row in played)
            answers.append({"after": after, "who": who, "n": count, **named})
        a, b, c = (answered(rows, after) for rows in (fitted, held_out, played))
        distances.append({
            "of": f"answers to a {after}", "n": sum(situation(row) == after for row in held_out),
            "people": None, "simulated": None,
            "distance": round(float(np.abs(c - b).sum() / 2), 4),
            "between_halves": round(float(np.abs(a - b).sum() / 2), 4),
        })  # fmt: skip

    def farthest(x: np.ndarray, y: np.ndarray) -> float:
        return round(float(ks_2samp(x, y, method="asymp").statistic), 4)

    samples = [distributions(rows) for rows in (fitted, held_out, played)]
    for name in samples[0]:
        a, b, c = (sample[name] for sample in samples)
        distances.append({
            "of": name, "n": len(b), "people": round(float(b.mean()), 4),
            "simulated": round(float(c.mean()), 4), "distance": farthest(b, c),
            "between_halves": farthest(a, b),
        })  # fmt: skip
    return answers, distances


# Fits ---------------------------------------------------------------------------------------------

LIMITS = np.linspace(0.3, 0.97, 28)  # reservation prices that are weighed, shares of the list price
WIDTHS = 0.15  # deviation of the share of the gap that is given
START = {"even": (0.0, 0.0, 0.0, 2.5, 1.7), "splitter": (0.0, 0.0, 0.0, 2.5, -0.8)}
RIDGE = 0.02  # on the numbers in their unbounded form
ITERATIONS = 40


def unpack(x: np.ndarray) -> tuple[dict[str, people.Habit], dict[str, float]]:
    """Two habits and what they share, from numbers without bounds; shape (14,)."""
    shares = 1 / (1 + np.exp(-x))
    first = {"even": shares[0], "splitter": 1 - shares[0]}
    habits = {
        name: people.Habit(float(first[name]), *map(float, shares[at : at + 4]))
        for name, at in (("even", 1), ("splitter", 5))
    }
    names = ("mean", "deviation", "keep", "noise", "stand")
    spans = ((0.4, 0.9), (0.05, 0.25), (0.05, 1.0), (0.015, 0.1), (0.0, 1.0))
    shared = {
        name: float(low + (high - low) * share)
        for name, (low, high), share in zip(names, spans, shares[9:], strict=True)
    }
    return habits, shared


DESIGN = {
    "mean": people.LIMIT[0], "deviation": people.LIMIT[1], "keep": people.KEEP,
    "noise": people.NOISE, "stand": people.STAND,
}  # fmt: skip


def loss(
    habits: Mapping[str, people.Habit], shared: Mapping[str, float], replies: Sequence[Reply]
) -> float:
    """Mean negative log-likelihood per answer; limits and habits are summed over."""
    chance = np.exp(-0.5 * ((LIMITS - shared["mean"]) / shared["deviation"]) ** 2)
    table = table_of(habits)
    prior = np.log(table[:, 0] / table[:, 0].sum())[:, None] + np.log(chance / chance.sum())
    games: dict[int, list[Reply]] = {}
    for row in replies:
        games.setdefault(row.game, []).append(row)
    first, later, gives, strict = (column[:, None] for column in table[:, 1:].T)
    mirrors = np.array([name == "mirror" for name in habits])[:, None]
    total = 0.0
    for rows in games.values():
        log, course = prior.copy(), people.Course()
        for row in rows:
            start = row.number == 1
            course = people.after_bid(course, 1.0, row.ask, row.bid, start)
            share = np.minimum(1, strict * shared["keep"] ** course.warm)
            least = LIMITS + share * np.maximum(row.ask - LIMITS, 0)
            taken = 0.01 + 0.98 / (1 + np.exp((least - course.best) / shared["noise"]))
            give = gives * (
                shared["stand"] + (1 - shared["stand"]) * min(1.0, course.rise / people.NEAR)
            )
            gap = max(row.ask - course.best, SAME)
            wanted = (first if start else later) * np.maximum(
                row.ask - np.maximum(course.best, LIMITS), 0
            )
            if not start:
                wanted = np.where(mirrors, later * (course.best - course.before), wanted)
            off = ((row.ask - row.after) / gap - np.clip(wanted / gap, 0, 1)) / WIDTHS
            near = 0.95 * np.exp(-0.5 * off**2) / (WIDTHS * np.sqrt(2 * np.pi)) + 0.05
            chances = {
                "accepts": taken, "gives": (1 - taken) * give * near,
                "stands": (1 - taken) * (1 - give),
            }  # fmt: skip
            log = log + np.log(np.maximum(chances.get(ANSWERS[row.answer], 1.0), 1e-6))
        total += np.log(np.exp(log - log.max()).sum()) + log.max()
    return -total / len(replies)


def fit(replies: Sequence[Reply]) -> tuple[dict[str, people.Habit], dict[str, float]]:
    """The two habits of least loss, found from START; a light ridge keeps them off 0 and 1."""
    from scipy.optimize import minimize

    start = np.array([0.0, *START["even"][1:], *START["splitter"][1:], -1.0, 0.5, -0.7, 0.5, 0.0])

    def objective(x: np.ndarray) -> float:
        return loss(*unpack(x), replies) + RIDGE * float(np.mean((x - start) ** 2))

    solution = minimize(objective, start, method="L-BFGS-B", options={"maxiter": ITERATIONS},
                     bounds=[(-4, 4)] * len(start))  # fmt: skip
    return unpack(solution.x)


@experiment("likeness.json")
def likeness(*, dialogues: Sequence[Dialogue], counts: Mapping[str, int]) -> dict[str, Any]:
    """The data of the artifact from labelled dialogues; `counts` says what their file had."""
    labelled = [dialogue for dialogue in dialogues if dialogue.annotated]
    replies = [row for game, each in enumerate(labelled) for row in replies_in(each, game)]
    tables = tabulate([Reply(*(round(x, 4) for x in row)) for row in replies])
    return {**tables, "counts": dict(counts), "heard": hear_labelled(dialogues)}


def replay(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """The data with every figure computed from the recorded answers."""
    recorded = artifact.data.as_json()
    same = {name: recorded[name] for name in ("counts", "heard")}
    return tabulate([Reply(*map(_number, row)) for row in artifact.data.replies]) | same


def hear_labelled(dialogues: Sequence[Dialogue]) -> list[dict[str, Any]]:
    """What the ear makes of the lines that `heard_lines.csv` labels by their place in the file."""
    turns = {dialogue.id.rpartition("/")[2]: dialogue.turns for dialogue in dialogues}
    rows = []
    for seat in ear.SEATS:
        heard = {"bears": [0, 0, 0], "none": [0, 0, 0]}  # lines, right, wrong
        for row in read_rows("heard_lines.csv"):
            if row["seat"] != seat or row["line"] not in turns:
                continue
            meant = set(row["meanings"].split())
            meanings = ear.meanings(turns[row["line"]][int(row["turn"])].text, seat)
            group = heard["none" if meant == {"none/none"} else "bears"]
            group[0] += 1
            group[1] += bool(meanings & meant)
            group[2] += bool(meanings) and not meanings & meant
        (n, right, wrong), (others, _, taken) = heard.values()
        rows.append({
            "seat": seat, "n": n, "right": exact_share(right, n), "wrong": exact_share(wrong, n),
            "none": others, "taken": exact_share(taken, others),
        })  # fmt: skip
    return rows


def _number(value: float) -> float:
    return int(value) if float(value).is_integer() else value


def tabulate(replies: Sequence[Reply]) -> dict[str, Any]:
    """Every table, from the answers of people."""
    fitted, held_out = ([row for row in replies if row.half == half] for half in (0, 1))
    answers, distances = compare(replies)
    habits, shared = fit(fitted)
    mean_habit = people.Habit(
        *np.average(table_of(people.HABITS), 0, table_of(people.HABITS)[:, 0])
    )
    sets = {"design": (people.HABITS, DESIGN), "two fitted": (habits, shared),
            "one, the mean of the design": ({"even": mean_habit}, DESIGN)}  # fmt: skip
    return {
        "replies": [list(row) for row in replies],
        "answers": answers,
        "distances": distances,
        "fits": [
            {"habits": name, "fitted": round(loss(*numbers, fitted), 3),
             "held_out": round(loss(*numbers, held_out), 3), "n": len(held_out)}
            for name, numbers in sets.items()
        ],
        "habits": [
            {"habit": name, **{k: round(v, 2) for k, v in habit._asdict().items()}}
            for name, habit in habits.items()
        ],
        "shared": {name: round(value, 2) for name, value in shared.items()},
    }  # fmt: skip
