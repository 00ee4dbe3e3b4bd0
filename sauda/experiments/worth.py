"""What words are worth where any words count: in the open market and with people.

The planner of each task plays every seed with its ears and its mouth open or shut, with ears that
slip, and with ears that hear another sentence than was said; and with sellers that say what one of
another type would say in their place. All sellers say evaluation sentences.
Differences are paired by seed, over all games, by type of the seller and by its language. By the
kind of its sentences they come from games in which sellers say sentences of one kind alone; who
neither reads nor speaks plays alike whatever they say.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import env
from sauda.experiments.base import experiment
from sauda.played import grades, play_cells, round_all
from sauda.players import TOLD, planners_of, scripts_of
from sauda.policies import SLOW_PACKAGES
from sauda.policies.listener import Informed
from sauda.policies.people import Planner
from sauda.records.schemas.open_market import OTHER_TYPE, SPOKEN
from sauda.records.seeds import deal_at, first_seeds
from sauda.records.store import Artifact
from sauda.statistics import difference_of, mean_of

MARKETS: Mapping[str, env.Task] = {
    name: env.get_task(f"bazaar/{name}")
    for name in ("open-3", "mute-3", "people", "package", "package-mute")
}
SAMPLE = 40  # games of each player and market that `verify` plays again
Cell = tuple[str, str]  # a market and a player
SWITCHES = {"silent": "bayesian", "reads": "reader", "speaks": "speaker", "both": "listener"}
SCRIPTS = ("boulware", "linear", "conceder")
# What is compared: what it is the worth of, the player with it, the player without it.
WORTH = (
    ("reading", "reads", "silent"),
    ("speaking", "speaks", "silent"),
    ("both", "both", "silent"),
    ("packages, silently", "silent", "prices alone"),
    ("the costs told", "told the costs", "both"),
    ("reading, permuted", "reads, permuted", "silent"),
    (OTHER_TYPE, OTHER_TYPE, "silent"),
    ("both, 10 % misread", "both, 10 % misread", "silent"),
    ("both, 20 % misread", "both, 20 % misread", "silent"),
)


@dataclass(frozen=True)
class Misreader:
    """Ears that take each part of a line for another one with the chance `error`."""

    error: float

    def __call__(self, text: str) -> env.speech.Speech:
        heard, rng = env.ear.hear(text), np.random.default_rng(number_of(text))

        def slip(value: str, options: Sequence[str]) -> str:
            wrong = rng.random() < self.error
            return options[rng.integers(len(options))] if value and wrong else value

        keys = keys_of_families()
        content = slip(heard.content, keys.get(heard.topic, ()))
        cost = heard.cost if content in ("price", "about") else 0
        topic = "" if heard.topic == "cost" and content != "evade" and not cost else heard.topic
        return env.speech.Speech(
            slip(heard.style, env.market.TYPES),
            topic,
            content if topic else "",
            cost,
            slip(heard.mark, env.market.MARKS),
            slip(heard.reaction, keys["reaction"]),
        )


def hear_another(text: str) -> env.speech.Speech:
    """What ears hear that hear for each line what another seller said elsewhere."""
    heard = meanings()
    return heard[number_of(text) % len(heard)]


def number_of(text: str) -> int:
    """A number of 64 bits that looks random and is the same for the same text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


@cache
def meanings() -> tuple[env.speech.Speech, ...]:
    """What the ear hears in the opening lines of training games of the open market."""
    task = env.market.market_task("open-3", replace(env.market.MARKETS["open-3"], use="training"))
    return tuple(map(env.ear.hear, opening_lines(task, range(10_000, 10_400))))


def opening_lines(task: env.Task, seeds: Sequence[int]) -> Sequence[str]:
    """What sellers say with their first ask, one line per seed."""
    seller, rng = task.opponents["seller"], np.random.default_rng(0)
    states = (task.env.reset(np.random.default_rng(seed)) for seed in seeds)
    return [seller(task.env.observe(state, "seller"), rng).message for state in states]


def task_of(name: str) -> env.Task:
    """The task of a market, or of one whose sellers say sentences of one kind: "people, voice"."""
    name, _, kind = name.partition(", ")
    task = MARKETS[name]
    if not kind:
        return task
    says = partial(task.opponents["seller"], use=f"evaluation/{kind}")
    return replace(task, opponents={"seller": says})


@dataclass(frozen=True)
class InOtherWords:
    """A seller that prices, sells and leaves as it is, and speaks as one of another type would.

    `other` holds its private values with that type. Where such a seller would sell or leave, which
    this one does not, it says its price alone.
    """

    seller: env.Policy
    other: Mapping[str, Any]

    def __call__(
        self, obs: env.Observation, rng: np.random.Generator
    ) -> env.Accept | env.Offer | env.WalkAway:
        move = self.seller(obs, rng)
        if not isinstance(move, env.Offer):
            return move
        words = self.seller(replace(obs, own=self.other), rng)
        return replace(
            move,
            message=words.message if isinstance(words, env.Offer) else f"{env.rupees(move.price)}.",
        )


def with_other_words(task: env.Task, seed: int) -> env.Task:
    """The task in whose game of a seed the seller says what one of another type would say.

    What is so stays so: the type decides its style, what pleases it and how honest it is, as far in
    the range of that type as in its own. Each of the other types is as frequent.
    """
    private = deal_at(task, seed).seller
    stance = private["stance"]
    kind = (stance.kind + 1 + seed % (len(env.market.TYPES) - 1)) % len(env.market.TYPES)
    (low, high), (least, most) = (
        env.market.RANGES[env.market.TYPES[each]]["honesty"] for each in (stance.kind, kind)
    )
    honesty = least + (stance.honesty - low) / (high - low) * (most - least)
    other = {**private, "stance": replace(stance, kind=kind, honesty=honesty)}
    if "told" in private:  # what it says of extras goes by its honesty
        other["told"] = deal_at(env.with_seller_type(task, env.market.TYPES[kind]), seed).seller[
            "told"
        ]
    return replace(task, opponents={"seller": InOtherWords(task.opponents["seller"], other)})


def always(policy: env.Policy) -> Callable[[env.Instance], env.Policy]:
    """A player that is the same in every game."""
    return lambda deal: policy


def players(task: env.Task) -> Mapping[str, Callable[[env.Instance], env.Policy]]:
    """The players of a task, by name: functions from the deal of a game to its policy."""
    planner = planners_of(task)
    if "mute" in task.name:  # there are no words to hear otherwise
        return {name: always(planner[SWITCHES[name]]) for name in ("silent", "both")}
    reads, both = planner["reader"], planner["listener"]
    fixed = {
        **{name: planner[policy] for name, policy in SWITCHES.items()},
        "reads, permuted": replace(reads, read=hear_another),
        OTHER_TYPE: both,
        "both, 10 % misread": replace(both, read=Misreader(0.1)),
        "both, 20 % misread": replace(both, read=Misreader(0.2)),
        **{name: scripts_of(task)[name] for name in SCRIPTS},
    }
    made = {name: always(policy) for name, policy in fixed.items()}
    if "package" in task.name:
        made |= {"prices alone": always(planner["bare"]), "told the costs": tell_costs}
    if task.name == "bazaar/people":
        return made | {TOLD: lambda deal: Planner(truth=deal.seller["stance"])}
    return made | {TOLD: Informed.of}


def tell_costs(deal: env.Instance) -> env.Policy:
    """The planner of packages that is told what each extra costs: no contestant."""
    return replace(SLOW_PACKAGES["listener"], costs=deal.seller["costs"])


@cache
def keys_of_families() -> Mapping[str, Sequence[str]]:
    """The keys of each family of meanings in the corpus."""
    keys: dict[str, list[str]] = {}
    for family, key in env.corpus.sentences("en", "evaluation"):
        keys.setdefault(family, []).append(key)
    return keys


def play(cell: Cell, seeds: Sequence[int]) -> list[float]:
    """The grades of a player in a market, one per seed."""
    task = task_of(cell[0])
    player = players(task)[cell[1]]
    met = with_other_words if cell[1] == OTHER_TYPE else lambda task, seed: task
    return round_all(
        grades(met(task, seed), player(deal_at(task, seed)), [seed])[0] for seed in seeds
    )


def summarize(
    played: Mapping[Cell, Sequence[float]], deals: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Rows and comparisons, computed from the grades."""
    won = {cell: np.array(values) for cell, values in played.items()}
    rows = [
        {"market": at, "player": name, "n": len(values), "grade": mean_of(won[at, name]),
         "grades": list(values)}
        for (at, name), values in played.items()
    ]  # fmt: skip
    worth = []
    for met in deals:
        at, columns = met["market"], {part: np.array(met[part]) for part in ("type", "language")}
        everything = np.full(len(met["type"]), True)
        parts = [("all", "all", everything)] + [
            (part, value, column == value)
            for part, column in columns.items()
            for value in dict.fromkeys(column.tolist())
        ]
        for what, better, worse in WORTH:
            if not {(at, better), (at, worse)} <= won.keys():
                continue
            for part, value, mask in parts:
                less = difference_of(won[at, better][mask], won[at, worse][mask])
                named = {"market": at, "what": what, "part": part, "value": value}
                worth.append(named | {"n": int(mask.sum()), "difference": less})
        for kind in env.corpus.KINDS:
            if (of := won.get((f"{at}, {kind}", "both"))) is not None:
                less = difference_of(of, won[at, "silent"][: len(of)])
                named = {"market": at, "what": "both", "part": "kind", "value": kind}
                worth.append(named | {"n": len(of), "difference": less})
    return {"deals": list(deals), "played": rows, "worth": worth}


def replay(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """Each player's first games played again, all figures computed again from the grades."""
    recorded = artifact.data.as_json()
    played = {(row["market"], row["player"]): row["grades"] for row in recorded["played"]}
    seeds = first_seeds(min(SAMPLE, *map(len, played.values())))
    for cell, renewed in play_cells(play, dict.fromkeys(played, seeds), workers).items():
        played[cell] = renewed + played[cell][len(seeds) :]
    return summarize(played, recorded["deals"])


@experiment("worth.json")
def worth(
    episodes: int = 1000,  # hold-out seeds, from 50,000
    by_kind: int = 200,  # of those, games of each kind of sentences
    *,
    workers: int = 2,
) -> dict[str, Any]:
    """The data of the artifact. ValueError for more seeds than there are."""
    seeds = first_seeds(episodes)
    deals = [
        {
            "market": name,
            "type": [deal.seller["stance"].type for deal in met],
            "language": [deal.seller["language"] for deal in met],
        }
        for name, task in MARKETS.items()
        for met in [[deal_at(task, seed) for seed in seeds]]
    ]
    cells = {(name, player): seeds for name, task in MARKETS.items() for player in players(task)}
    spoken = [f"{name}, {kind}" for name in SPOKEN for kind in env.corpus.KINDS]
    cells |= dict.fromkeys([(name, "both") for name in spoken], seeds[:by_kind])
    return summarize(play_cells(play, cells, workers), deals)
