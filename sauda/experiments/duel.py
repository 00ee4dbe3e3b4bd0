"""One bargain with a person to watch: by the model that speaks, its earlier stages, other buyers.

All play one seed, which a rule chooses among the games of the model that speaks. The share is the
buyer's part of what lies between both limits.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import env
from sauda.experiments.base import experiment
from sauda.experiments.episodes import play, play_replies, record_games
from sauda.games.transcript import from_json
from sauda.language.lines import HINGLISH
from sauda.language.phrases import language_of
from sauda.played import models_behind
from sauda.players import (
    BASE,
    BAYESIAN,
    LISTENER,
    PEOPLE,
    SERVED,
    TUNED,
    get_policy,
    is_model,
    player_spec,
)
from sauda.records.schemas.episodes import DUEL_FILE
from sauda.records.seeds import first_seeds
from sauda.records.store import Artifact

MOVES, LETTERS = range(5, 8), 120  # that a game on show has, and each of its lines at most


def replay_duel(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """The games on show, from the recorded replies of models, and the choice among the shares."""
    data, seeds = artifact.data.as_json(), first_seeds(artifact.settings()["episodes"])
    task, seed = env.get_task(PEOPLE), choose(data["seeds"], data["shares"])
    games = [
        play_replies(task, game["policy"], seed, game["replies"])
        if is_model(game["policy"])
        else by_script(game["policy"], seed)
        for game in data["games"]
    ]
    shares = [
        share_of(games[0]) if at == seed else share
        for at, share in zip(seeds, data["shares"], strict=True)
    ]
    return {"games": games, "seeds": list(seeds), "shares": shares}


@experiment(DUEL_FILE)
def duel(
    episodes: int = 100,  # from the first hold-out seed, from which the rule chooses
    others: tuple[str, ...] = (BASE, "mini+people", TUNED, BAYESIAN, LISTENER),
    batch: int = 50,  # games played together, as those before and after training
) -> dict[str, Any]:
    """The data of the artifact.

    The game on show has the median share, the lower of two, of those in which both sides speak
    Hinglish in each move and agree, after two bids at least, with few moves and short lines.
    """
    task, seeds = env.get_task(PEOPLE), first_seeds(episodes)
    for name in others:
        get_policy(task, name)  # raises where there is none, before a model plays for minutes
    records = record_games(task, SERVED, player_spec(SERVED), seeds, batch)
    shares = [share_of(record) if can_be_shown(record) else None for record in records]
    seed = choose(seeds, shares)
    games = [records[seeds.index(seed)]]
    for name in others:
        if is_model(name):
            games += record_games(task, name, player_spec(name), [seed], batch)
        else:
            games.append(by_script(name, seed))
    names = {SERVED, *filter(is_model, others)}
    return {
        "games": games,
        "seeds": list(seeds),
        "shares": shares,
        "models": models_behind(names, "people"),
    }


def can_be_shown(record: Mapping[str, Any]) -> bool:
    """Whether a game is one that the rule chooses from."""
    lines = [move.get("message", "") for move in record["moves"]]
    return (
        record["end"] == env.EndReason.AGREEMENT
        and len(lines) in MOVES
        and all(len(line) <= LETTERS and language_of(line) == HINGLISH for line in lines)
    )


def share_of(record: Mapping[str, Any]) -> float:
    """The buyer's share of what could be won in a recorded game."""
    (share,) = env.shares(from_json(record).final, "buyer")
    return round(share, 6)


def choose(seeds: Sequence[int], shares: Sequence[float | None]) -> int:
    """The seed of the median share, the lower of two; of equal shares the first.

    Raises ValueError where no game can be shown.
    """
    known = [(s, seed) for seed, s in zip(seeds, shares, strict=True) if s is not None]
    if not known:
        raise ValueError(f"none of {len(seeds)} games can be shown: play more")
    return sorted(known)[(len(known) - 1) // 2][1]


def by_script(name: str, seed: int) -> dict[str, Any]:
    """The game of a script or a planner, with no replies, as those of models have them."""
    return play(PEOPLE, name, seed) | {"replies": []}
