"""Whole games, kept to be read, stepped through and played again.

`episodes` holds those of scripted policies, `before_after` the same games of a language model
before and after training, and which of them to show: chosen by rule, not by hand. Grades are the
task's own, in [-1, 1]; a difference is after less before, at one seed.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count, product
from pathlib import Path
from typing import Any

import env
from sauda.experiments.base import experiment
from sauda.experiments.comparison import CLASSIC
from sauda.games.transcript import play_replies, to_json
from sauda.llm.turn import PlayerSpec
from sauda.played import models_behind, play_together
from sauda.players import (
    BASE,
    BAYESIAN,
    LISTENER,
    OPEN_MARKET,
    PEOPLE,
    SERVED,
    get_policy,
    player_spec,
)
from sauda.records import progress
from sauda.records.schemas.episodes import BEST, PERCENTILES, POLICIES, SEED, SIDES, gain
from sauda.records.seeds import deal_at, first_seeds, has_zopa, seller_type
from sauda.records.store import Artifact

SELLERS = ("boulware", "linear", "tit_for_tat", "random")
MARKET = "bazaar/open-3"


def play(task_name: str, policy: str, seed: int) -> dict[str, Any]:
    """The episode of a scripted policy as JSON."""
    task = env.get_task(task_name)
    return to_json(env.rollout(task, get_policy(task, policy), seed), policy)


@experiment("episodes/showcase.json")
def episodes(seed: int = SEED) -> dict[str, Any]:
    """The data of the artifact: tasks at one seed under four policies each, and a deal by words."""
    shown = [
        play(task.name, name, seed)
        for task in env.BAZAAR_TASKS.values()
        for name in (SELLERS if task.learner == "seller" else POLICIES)
    ]
    return {"episodes": [*shown, *deal_by_words(seed)]}


def deal_by_words(first: int) -> list[dict[str, Any]]:
    """The first seed where only the planner that says what moves its seller gets a deal.

    Its episode, and that of the planner on numbers, which gets none.
    """
    for seed in count(first):
        spoken, silent = (play(MARKET, name, seed) for name in (LISTENER, BAYESIAN))
        lines = [move.get("message", "") for move in spoken["moves"] if move["agent"] == "buyer"]
        key = env.market.KEYS[seller_type(env.get_task(MARKET), seed)]
        is_key_said = any(env.ear.act_in(text)[0] == key for text in lines)
        if is_key_said and spoken["end"] == env.EndReason.AGREEMENT != silent["end"]:
            return [spoken, silent]


# Before and after training -----------------------------------------------------------------------


def replay_models(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """Games replayed from the recorded replies, pairs chosen again by the rule.

    No weights are asked. A grade whose game is not among the chosen stays as it is recorded.
    """
    settings = artifact.settings()
    seeds = first_seeds(settings["episodes"])
    recorded = {row["task"]: row for row in artifact.data.as_json()["tasks"]}
    tasks = [
        _replay_task(recorded[task], settings, seeds) if task in recorded else f"nothing of {task}"
        for task in settings["tasks"]
    ]
    return {"tasks": tasks}


def _replay_task(
    row: dict[str, Any], names: Mapping[str, str], seeds: Sequence[int]
) -> dict[str, Any]:
    task, games = env.get_task(row["task"]), {}
    row |= {"seeds": list(seeds), "zopa": [has_zopa(deal_at(task, seed)) for seed in seeds]}
    for side, pair in product(SIDES, row["chosen"]):
        seed, replies = pair[side]["seed"], pair[side]["replies"]
        game = games[side, seed] = play_replies(task, names[side], seed, replies)
        place = seeds.index(seed) if seed in seeds else len(seeds)
        if place < len(row[side]):
            row[side][place] = game["grade"]
            if side == "after":
                row["deals"][place] = game["end"] == env.EndReason.AGREEMENT
    return row | {"chosen": choose_pairs(row, games)}


@experiment("episodes/before_after.json")
def before_after(
    before: str = BASE,
    after: str = SERVED,
    tasks: tuple[str, ...] = (PEOPLE,),
    episodes: int = 100,  # per task and model, from the first hold-out seed
    batch: int = 50,  # games played together, as in the model comparison
    *,
    seat: Callable[[str], PlayerSpec] = player_spec,
) -> dict[str, Any]:
    """The data of the artifact; `seat` returns the model seat of a policy name.

    Raises ValueError for a task of several deals or a player that a wrapper would correct.
    """
    known = (PEOPLE, *OPEN_MARKET, *CLASSIC)
    if wrong := set(tasks) - {*known}:
        raise ValueError(f"tasks are {', '.join(known)}, not {', '.join(wrong)}")
    seeds, names = first_seeds(episodes), {"before": before, "after": after}
    players = {side: seat(name) for side, name in names.items()}
    if any(player.wrapper is not None for player in players.values()):
        raise ValueError(f"{before} and {after} are compared bare, not wrapped")
    rows = []
    for name in progress(tasks, len(tasks), "playing", "task"):
        task, games = env.get_task(name), {}
        for side, player in players.items():
            played = record_games(task, names[side], player, seeds, batch)
            games |= {(side, game["seed"]): game for game in played}
        row = {
            "task": name,
            "seeds": list(seeds),
            **{side: [games[side, seed]["grade"] for seed in seeds] for side in SIDES},
            "zopa": [has_zopa(deal_at(task, seed)) for seed in seeds],
            "deals": [games["after", seed]["end"] == env.EndReason.AGREEMENT for seed in seeds],
            "acts": {side: count_acts(games[side, seed] for seed in seeds) for side in SIDES},
        }
        rows.append(row | {"chosen": choose_pairs(row, games)})
    return {"tasks": rows, "models": models_behind({before, after}, "people")}


def choose_pairs(
    row: Mapping[str, Any], games: Mapping[tuple[str, int], Any]
) -> list[dict[str, Any]]:
    """The pairs of a task to show, by the rule; `games` go by side and seed."""
    columns = [row[name] for name in ("seeds", *SIDES, "zopa", "deals")]
    return [
        {
            "why": why,
            "seed": seed,
            "difference": gain(*(row[side][row["seeds"].index(seed)] for side in SIDES)),
            **{side: games.get((side, seed), "no game recorded") for side in SIDES},
        }
        for why, seed in choose(*columns).items()
    ]


def choose(
    seeds: Sequence[int],
    before: Sequence[float],
    after: Sequence[float],
    zopa: Sequence[bool],
    deals: Sequence[bool],
) -> dict[str, int]:
    """The seeds of the games to show, by rank; each argument has one entry per seed.

    The largest gain among games that end in a deal after training, and percentiles of the gain
    among games with a ZOPA, the lower of two neighbours. Of equal gains the lowest seed counts as
    the smallest, and as the largest. A rank without any game is left out.
    """
    gains = {seed: gain(b, a) for seed, b, a in zip(seeds, before, after, strict=True)}
    picks = {}
    if ended := [seed for seed, deal in zip(seeds, deals, strict=True) if deal]:
        picks[BEST] = min(ended, key=lambda seed: (-gains[seed], seed))
    shared = [seed for seed, there in zip(seeds, zopa, strict=True) if there]
    if order := sorted(shared, key=lambda seed: (gains[seed], seed)):
        picks |= {why: order[int(share * (len(order) - 1))] for why, share in PERCENTILES.items()}
    return picks


def record_games(
    task: env.Task, name: str, player: PlayerSpec, seeds: Sequence[int], batch: int
) -> list[dict[str, Any]]:
    """A model's games at `seeds`, `batch` together, as JSON with its reply to each of its turns."""
    played = [
        game
        for start in range(0, len(seeds), batch)
        for game in play_together(task, player, seeds[start : start + batch])
    ]
    return [
        to_json(env.episode(task, game.play), name)
        | {"replies": [turn.reply.text for turn in game.turns]}
        for game in played
    ]


def count_acts(games: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """How often sellers heard each speech act in games as JSON; none of the classic games."""
    acts = (
        env.ear.act_in(move.get("message", ""))[0]
        for game in games
        if game["task"] not in CLASSIC
        for move in game["moves"]
        if move["agent"] == "buyer"
    )
    counts = Counter(filter(None, acts))
    return {act: counts[act] for act in env.speech.ACTS if act in counts}
