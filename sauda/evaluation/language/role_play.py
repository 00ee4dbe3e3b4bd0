"""How well a model of a role says a script's moves in a game, and what that costs the script.

The same script decides in both seats and both sides speak; only in one seat a language model finds
the words, and what is read from them is played. So a difference from the script's own game is due
to words that name another price, or none. Shares are of the ZOPA.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from env import Accept, Offer, Policy, Task, WalkAway, get_task, rollout, shares, zopa_width
from sauda.evaluation.market.tournament.model_games import ModelPlay, play_sides
from sauda.evaluation.market.tournament.players import Side, task_against
from sauda.evaluation.market.tournament.scenarios import instance, scenario_seeds
from sauda.evaluation.models.sources import model_source
from sauda.games import BAZAAR
from sauda.games.adapter import Messages, Reply, Schema
from sauda.language.acts import Acts
from sauda.llm.model import NamedModel, load_once
from sauda.llm.seats import RoleSeat, price_said, prompt
from sauda.llm.types import BatchGenerate
from sauda.policies import BUYERS, SELLERS
from sauda.records.fingerprint import fingerprint, positions
from sauda.records.progress import progress
from sauda.records.schemas.roles import SaidRow
from sauda.records.store import Artifact
from sauda.statistics import mean_interval, named_interval, paired_difference, pooled_share

FILE = "role_play.json"
SEATS: Mapping[str, Mapping[str, Policy]] = {"buyer": BUYERS, "seller": SELLERS}
BASE, GENERALIST = "mini", "mini+roles-generalist"
SPECIALISTS = {"buyer": "mini+roles-buyer", "seller": "mini+roles-seller"}  # by their own seat
MOST = 1000  # hold-out scenarios that are looked through for those with a ZOPA


@dataclass(frozen=True)
class Config:
    """Who says what, and in how many games."""

    models: tuple[str, ...] = (BASE, *SPECIALISTS.values(), GENERALIST)
    script: str = "linear"  # decides the moves of both seats
    games: int = 20  # a model and seat: hold-out scenarios with a ZOPA
    batch: int = 20  # games played together

    @cached_property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of the games; ValueError for fewer than 2, or for too many."""
        shared = (seed for seed in scenario_seeds(MOST) if _zopa(seed) > 0)
        seeds = tuple(islice(shared, max(0, self.games)))
        if self.games < 2 or len(seeds) < self.games:
            raise ValueError(f"games are 2 to {len(seeds)} or more scenarios, not {self.games}")
        return seeds


@dataclass(frozen=True)
class Recorded:
    """Replies of one game, read again in their order."""

    texts: Iterator[str]

    def batch(
        self, chats: Sequence[Messages], seeds: Sequence[int], schemas: Sequence[Schema | None]
    ) -> list[Reply]:
        return [Reply(next(self.texts, ""), "recorded") for _ in chats]


def role_play(config: Config) -> dict[str, Any]:
    """The data of the artifact: the games of every model in both seats, rows and contrasts."""
    cells = [(model, seat) for model in config.models for seat in SEATS]
    games = [
        {"model": model, "seat": seat, "games": played(config, seat, NamedModel(model))}
        for model, seat in progress(cells, len(cells), "playing", "model")
    ]
    sources = {
        model: model_source(load_once(model), BAZAAR) | prompt_hashes() for model in config.models
    }
    return summarised(config, games) | {"models": sources}


READ = (  # words whose price is fingerprinted, where the limit is {price}
    "Could you do ₹{price}?", "{price} is my final offer.", "I would pay 0.8 of it.", "Deal!",
    "Your price of {price} is too high, I can do half.", "no", "", "Would you take 1,250 rupees?",
    "I can give 900, not {price}.", "₹{price} or nothing, ₹1 more and I leave.", "$40?", "2k",
    "It is 3 years old and has 64 GB.", "पाँच सौ में दे दो", "paanch sau mein do", "{price}/-",
)  # fmt: skip


@cache
def prompt_hashes() -> dict[str, str]:
    """The fingerprints of a role's prompt and of the reading of a price from its words."""
    task = get_task("bazaar/open")
    seen = [obs for seat in SEATS for obs in positions(task, seat)]
    moves = Offer(1000), Accept(), WalkAway()
    asked = [prompt(obs, move) for obs in seen for move in moves]
    said = [
        price_said(obs, words.format(price=f"{obs.reservation:.0f}"))
        for obs in seen
        for words in READ
    ]
    return {"prompt": fingerprint(asked), "parser": fingerprint(said)}


def played(config: Config, seat: str, model: BatchGenerate) -> list[dict[str, Any]]:
    """The games of one model in one seat, a row each."""
    task, side, others = _table(config, seat, model)
    rows = []
    for start in range(0, len(config.seeds), config.batch):
        some = config.seeds[start : start + config.batch]
        rows += [_row(game, seat) for game in play_sides(task, {seat: side}, others, some)]
    return rows


def recomputed(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """Every game played again from its recorded replies, for `verify`; no weights are needed."""
    config, recorded = Config(**artifact.settings()), artifact.data.as_json()
    games = []
    for cell in recorded["games"]:
        rows = []
        for row in cell["games"]:
            task, side, others = _table(config, cell["seat"], Recorded(iter(row["replies"])))
            (game,) = play_sides(task, {cell["seat"]: side}, others, [row["seed"]])
            rows.append(_row(game, cell["seat"]))
        games.append({**cell, "games": rows})
    return summarised(config, games) | {"models": recorded["models"]}


def _table(
    config: Config, seat: str, model: BatchGenerate
) -> tuple[Task, Side, Mapping[str, Policy]]:
    """The task, the model's side, and the script that speaks in the other seat."""
    (other,) = (name for name in SEATS if name != seat)
    side = Side(RoleSeat(SEATS[seat][config.script]), model, getattr(model, "name", ""))
    return task_against(config.script), side, {other: Acts(SEATS[other][config.script])}


def _row(game: ModelPlay, seat: str) -> dict[str, Any]:
    """One game: how its offers were said, how it ended, and what the seat got of the ZOPA."""
    turns = [turn for _, turn in game.turns]
    offers = [turn for turn in turns if isinstance(turn.parsed.proposal, Offer)]
    unsaid = sum(turn.action is None for turn in offers)
    return {
        "seed": game.play.seed,
        "offers": len(offers),
        "said": sum(not turn.parsed.changes for turn in offers) - unsaid,
        "unsaid": unsaid,
        "share": round(shares(game.play.state, seat)[0], 6),
        "replies": [turn.reply.text for turn in turns],
    }


def summarised(config: Config, games: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Rows and contrasts, all computed from the games; the script's own games are played."""
    scripts = {seat: script_shares(config, seat) for seat in SEATS}
    cells = {(cell["model"], cell["seat"]): cell["games"] for cell in games}
    rows = [_figures(*cell, rows, scripts[cell[1]]) for cell, rows in cells.items()]
    contrasts = [
        _contrast(question, cells, model, beside, seat)
        for seat, specialist in SPECIALISTS.items()
        for question, model, beside in (
            ("base", specialist, BASE),
            ("specialist", specialist, GENERALIST),
            ("off_role", next(m for m in SPECIALISTS.values() if m != specialist), specialist),
        )
        if {(model, seat), (beside, seat)} <= cells.keys()
    ]
    return {"rows": rows, "contrasts": contrasts, "games": list(games)}


def script_shares(config: Config, seat: str) -> np.ndarray:
    """The seat's shares where both sides are scripts that speak, shape (games,)."""
    policies = {name: Acts(by_name[config.script]) for name, by_name in SEATS.items()}
    task = task_against(config.script)
    task = replace(task, opponents={**task.opponents, "seller": policies["seller"]})
    games = [rollout(task, policies["buyer"], seed) for seed in config.seeds]
    return np.array([round(shares(game.final, seat)[0], 6) for game in games])


def _figures(
    model: str, seat: str, games: Sequence[Mapping[str, Any]], script: np.ndarray
) -> dict[str, Any]:
    """One row: a model in a seat, beside the script whose moves it says."""
    offers, said, share = (
        np.array([game[column] for game in games], float) for column in ("offers", "said", "share")
    )
    unsaid = sum(game["unsaid"] for game in games)
    return {
        "model": model,
        "seat": seat,
        "off_role": is_off_role(model, seat),
        "n": len(games),
        "offers": int(offers.sum()),
        "said": named_interval(pooled_share(said, offers)),
        "wrong": int((offers - said).sum()) - unsaid,
        "unsaid": unsaid,
        "share": named_interval(mean_interval(share)),
        "script_share": named_interval(mean_interval(script)),
        "difference": named_interval(paired_difference(share, script)),
        "losses": int((share < 0).sum()),
    }


def _contrast(
    question: str,
    cells: Mapping[tuple[str, str], Sequence[Mapping[str, Any]]],
    model: str,
    beside: str,
    seat: str,
) -> dict[str, Any]:
    """How much more often `model` says the decided price than `beside`, paired by game."""
    ours, theirs = (
        np.array([game["said"] / game["offers"] for game in cells[name, seat]])
        for name in (model, beside)
    )
    return {
        "question": question,
        "model": model,
        "beside": beside,
        "seat": seat,
        "n": len(ours),
        "difference": named_interval(paired_difference(ours, theirs)),
    }


def verdict(rows: Sequence[SaidRow]) -> Iterator[str]:
    """A sentence a seat: how often each model says the decided price in games."""
    for seat, specialist in SPECIALISTS.items():
        by_model = {row.model: row for row in rows if row.seat == seat}
        if not {specialist, GENERALIST, BASE} <= by_model.keys():
            continue
        own = by_model[specialist]
        yield (
            f"As a {seat} in {own.n} games, the specialist says {_percent(own)} of the script's"
            f" prices as decided, the generalist {_percent(by_model[GENERALIST])} and the untrained"
            f" base {_percent(by_model[BASE])}."
        )


def _percent(row: SaidRow) -> str:
    said = row.said
    return f"{said.mean:.0%} [{said.low:.0%}, {said.high:.0%}]"


def _zopa(seed: int) -> float:
    deal = instance(seed)
    return zopa_width(deal.buyer["reservation"], deal.seller["reservation"])


def is_off_role(player: str, seat: str) -> bool:
    """Whether a player was trained for the other role than that of its seat, buyer or seller."""
    return seat in SPECIALISTS and player in set(SPECIALISTS.values()) - {SPECIALISTS[seat]}
