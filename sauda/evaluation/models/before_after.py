"""The same games before and after training, and which of them to show: chosen by rule, not by hand.

Grades are the task's own, in [-1, 1]; a difference is after less before, at one seed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tqdm import tqdm

from env import (
    Accept,
    EndReason,
    Observation,
    Offer,
    Task,
    WalkAway,
    begin,
    episode,
    get_task,
    rollout,
    zopa_width,
)
from sauda.evaluation.models.config import BAZAAR, CLASSIC, OURS
from sauda.evaluation.models.config import Config as Comparison
from sauda.evaluation.models.sources import models_behind
from sauda.games import BAZAAR as BAZAAR_GAME
from sauda.games.bazaar_prompt import parse
from sauda.games.transcript import to_json
from sauda.llm.registry import player_spec
from sauda.llm.turn import ModelGame, PlayerSpec, new_game, play_games
from sauda.records.splits import SPLITS

SIDES = ("before", "after")
BEST = "best"  # the largest gain of a game that ends in a deal
PERCENTILES = {"10th": 0.10, "50th": 0.50, "90th": 0.90}  # of the gains where there is a ZOPA
CHOSEN = (BEST, *PERCENTILES)


@dataclass(frozen=True)
class Config:
    """Which policies and games are compared: those of the model comparison."""

    before: str = Comparison.baseline
    after: str = OURS
    tasks: tuple[str, ...] = ("bazaar/open", "bazaar/rushed")
    episodes: int = 400  # a task and model, from the first hold-out seed
    batch: int = Comparison.batch  # games played together

    @property
    def seeds(self) -> range:
        """The hold-out seeds that both play; raises ValueError where there are too few."""
        if not 1 <= self.episodes <= len(SPLITS["holdout"]):
            raise ValueError(
                f"episodes are 1 to {len(SPLITS['holdout'])} hold-out seeds, not {self.episodes}"
            )
        return SPLITS["holdout"][: self.episodes]


def compare(config: Config, seat: Callable[[str], PlayerSpec] = player_spec) -> dict[str, Any]:
    """The data of the artifact; `seat` returns the model seat of a policy name.

    Raises ValueError for a task of several deals or a player that a wrapper would correct.
    """
    if wrong := set(config.tasks) - {*BAZAAR, *CLASSIC}:
        raise ValueError(f"tasks are {', '.join((*BAZAAR, *CLASSIC))}, not {', '.join(wrong)}")
    players = {side: seat(getattr(config, side)) for side in SIDES}
    if any(player.wrapper is not None for player in players.values()):
        raise ValueError(f"{config.before} and {config.after} are compared bare, not wrapped")
    tasks = []
    for name in tqdm(config.tasks, unit="task", desc="playing", leave=False):
        task = get_task(name)
        games = {side: {seed: new_game(task, seed) for seed in config.seeds} for side in SIDES}
        for side, player in players.items():
            for start in range(0, config.episodes, config.batch):
                play_games(list(games[side].values())[start : start + config.batch], player)
        rows = {
            (side, seed): recorded(game, getattr(config, side))
            for side in SIDES
            for seed, game in games[side].items()
        }
        grades = {side: [rows[side, seed]["grade"] for seed in config.seeds] for side in SIDES}
        deals = [rows["after", seed]["end"] == EndReason.AGREEMENT for seed in config.seeds]
        tasks.append(_summarised(config, name, grades, deals, rows))
    return {"tasks": tasks, "models": models_behind({config.before, config.after}, BAZAAR_GAME)}


def chosen(
    seeds: Sequence[int],
    before: Sequence[float],
    after: Sequence[float],
    zopa: Sequence[bool],
    deals: Sequence[bool],
) -> dict[str, int]:
    """The seeds of the games to show, by CHOSEN: one entry a seed in each argument.

    The largest gain among games that end in a deal after training, and percentiles of the gain
    among games with a ZOPA, the lower of two neighbours. Of equal gains the lowest seed counts as
    the smallest, and as the largest. A rank without any game is left out. Raises ValueError where
    the lengths differ or there is no seed.
    """
    columns = (before, after, zopa, deals)
    if not seeds or any(len(column) != len(seeds) for column in columns):
        raise ValueError(
            f"each of {len(seeds)} seeds needs both grades, a ZOPA and a deal; there are "
            + ", ".join(str(len(column)) for column in columns)
        )
    gains = {seed: gain(b, a) for seed, b, a in zip(seeds, before, after, strict=True)}
    picks = {}
    if ended := [seed for seed, deal in zip(seeds, deals, strict=True) if deal]:
        picks[BEST] = min(ended, key=lambda seed: (-gains[seed], seed))
    shared = [seed for seed, there in zip(seeds, zopa, strict=True) if there]
    order = sorted(shared, key=lambda seed: (gains[seed], seed))
    if order:
        picks |= {why: order[int(share * (len(order) - 1))] for why, share in PERCENTILES.items()}
    return picks


def gain(before: float, after: float) -> float:
    """The difference of two recorded grades, to their six digits: equal ones stay equal."""
    return round(after - before, 6)


def recorded(game: ModelGame, name: str) -> dict[str, Any]:
    """A finished game of `name` as JSON, with the model's reply to each of its turns."""
    return to_json(episode(game.task, game.play), name) | {
        "replies": [turn.reply.text for turn in game.turns]
    }


def _summarised(
    config: Config,
    name: str,
    grades: Mapping[str, Sequence[float]],
    deals: Sequence[bool],
    rows: Mapping[tuple[str, int], Any],
) -> dict[str, Any]:
    """A task's grades, one a seed, and its chosen games; `rows` go by side and seed."""
    at = {seed: place for place, seed in enumerate(config.seeds)}
    task = get_task(name)
    columns = {**grades, "zopa": [_has_zopa(task, s) for s in config.seeds], "deals": list(deals)}
    return {
        "task": name,
        "seeds": list(config.seeds),
        **columns,
        "chosen": [
            {
                "why": why,
                "seed": seed,
                "difference": gain(*(grades[side][at[seed]] for side in SIDES)),
                **{side: rows.get((side, seed), "no game recorded") for side in SIDES},
            }
            for why, seed in chosen(config.seeds, **columns).items()
        ],
    }


def _has_zopa(task: Task, seed: int) -> bool:
    """Whether buyer and seller of a game of one deal can agree."""
    (instance,) = begin(task, seed).state.private["nature"]
    return zopa_width(instance.buyer["reservation"], instance.seller["reservation"]) > 0


def again(config: Config, data: Mapping[str, Any]) -> dict[str, Any]:
    """The data for `verify`: games replayed from the recorded replies, pairs chosen again.

    No weights are asked. A grade whose game is not among the chosen stays as it is recorded.
    """
    task_rows = {row["task"]: row for row in data["tasks"]}
    return {
        "tasks": [
            _task_again(config, task_rows[name]) if name in task_rows else f"nothing of {name}"
            for name in config.tasks
        ],
        "models": data["models"],
    }


def _task_again(config: Config, task_row: Mapping[str, Any]) -> dict[str, Any]:
    task, at = get_task(task_row["task"]), {seed: place for place, seed in enumerate(config.seeds)}
    grades = {side: list(task_row[side]) for side in SIDES}
    deals = list(task_row["deals"])
    rows = {}
    for side in SIDES:
        for game in (entry[side] for entry in task_row["chosen"]):
            seed = game["seed"]
            rows[side, seed] = replayed(task, getattr(config, side), seed, game["replies"])
            if at.get(seed, len(grades[side])) < len(grades[side]):
                grades[side][at[seed]] = rows[side, seed]["grade"]
                if side == "after":
                    deals[at[seed]] = rows[side, seed]["end"] == EndReason.AGREEMENT
    return _summarised(config, task_row["task"], grades, deals, rows)


def replayed(task: Task, name: str, seed: int, replies: Sequence[str]) -> dict[str, Any]:
    """The game that `replies` give at `seed` against the task's own opponents, as JSON."""
    texts = iter(replies)

    def says(obs: Observation, rng: Any) -> Offer | Accept | WalkAway:
        return parse(next(texts, ""), obs)  # a reply that is missing is no move

    played = rollout(task, says, seed)
    used = len(played.trajectory(task.learner))
    return to_json(played, name) | {"replies": list(replies[:used])}
