"""How well a model of a role says a script's moves in a game.

The same script decides in both seats and both sides speak; only in one seat a language model finds
the words, and what is read from them is played. So a difference from the script's own game is due
to words that name another price, or none. Shares are of the ZOPA.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np

import env
from env.fingerprint import TEXTS, fingerprint, positions
from sauda.experiments.base import experiment
from sauda.games.adapter import Messages, ParsedReply, Reply, Request, Schema
from sauda.language import acts
from sauda.language.acts import Acts
from sauda.language.spoken import announce
from sauda.llm.model import NamedModel, load_once
from sauda.llm.turn import ModelGame, new_game, play_seats
from sauda.llm.types import BatchGenerate
from sauda.played import model_source
from sauda.players import BASE, GENERALIST, ROLES, SPECIALISTS, is_off_role, player_spec
from sauda.policies import BUYERS, SELLERS
from sauda.records import progress
from sauda.records.seeds import SPLITS, deal_at, has_zopa, is_unseen_game
from sauda.records.store import Artifact
from sauda.statistics import difference_of, mean_of, name_interval, pooled_share

SEATS = {"buyer": BUYERS, "seller": SELLERS}  # with their scripts
ROLE_SCRIPTS = [name for name in BUYERS if name in SELLERS]
UNSAID = "x"  # stands for the words that are asked for


# What they play for ------------------------------------------------------------------------------


def draw_deal(rng: np.random.Generator) -> tuple[env.Instance]:
    """One deal: item, rounds, both limits, the buyer's cost of time.

    Numbers of a seller type are drawn first and thrown away: in the recorded games they come first
    in the stream, and these games must come out again.
    """
    rng.integers(4)
    rng.random(7)
    discount = rng.uniform(0.94, 0.98)  # factor on the buyer's gain per round after the first
    item = env.CATALOGUE[rng.integers(len(env.CATALOGUE))]
    rounds = int(rng.integers(8, 12, endpoint=True))
    seller, buyer = (
        round(item.list_price * rng.uniform(*shares)) for shares in ((0.40, 0.80), (0.60, 1.10))
    )
    private = {"reservation": buyer, "discount": discount, "purse": round(1.5 * item.list_price)}
    return (env.Instance(item, private, {"reservation": seller}, rounds=rounds),)


PAIR_TASK = env.Task(
    name="bazaar/pair",
    env=env.Bazaar(draw=draw_deal, rounds=12),
    learner="buyer",
    opponents={"seller": Acts(SELLERS["linear"])},
    grade=env.market.market_grade,
    success=0.3,
    about="A buyer and a seller who see prices and their own limits, and nothing else.",
)


@dataclass(frozen=True)
class Recorded:
    """Replies of one game, read again in their order."""

    texts: Iterator[str]

    def batch(
        self, chats: Sequence[Messages], seeds: Sequence[int], schemas: Sequence[Schema | None]
    ) -> list[Reply]:
        return [Reply(next(self.texts, ""), "recorded") for _ in chats]


def replay(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """Every game played again from its recorded replies; no weights are needed."""
    settings, games = artifact.settings(), artifact.data.as_json()["games"]
    script = settings["script"]
    for cell in games:
        cell["games"] = [
            row
            for game in cell["games"]
            for row in play_role(
                script, cell["seat"], Recorded(iter(game["replies"])), [game["seed"]]
            )
        ]
    return summarize(script, scenarios(settings["games"]), games)


@experiment("role_play.json")
def role_play(
    models: tuple[str, ...] = (BASE, *ROLES),
    script: str = "linear",  # decides the moves of both seats
    games: int = 20,  # per model and seat: hold-out scenarios with a ZOPA
    batch: int = 20,  # games played together
) -> dict[str, Any]:
    """The data of the artifact: the games of every model in both seats, rows and contrasts.

    Raises ValueError for a model or a script that there is not, before anything is played.
    """
    for model in models:
        if player_spec(model).weights != model:
            raise ValueError(f"{model}: a role is a model and at most an adapter, such as {BASE}")
    if script not in ROLE_SCRIPTS:
        raise ValueError(f"no script {script!r} for both seats; there is {', '.join(ROLE_SCRIPTS)}")
    seeds, played = scenarios(games), []
    cells = list(product(models, SEATS))
    for model, seat in progress(cells, len(cells), "playing", "model"):
        rows = play_role(script, seat, NamedModel(model), seeds, batch)
        played.append({"model": model, "seat": seat, "games": rows})
    sources = {
        model: model_source(load_once(model), "bazaar") | prompt_hashes() for model in models
    }
    return summarize(script, seeds, played) | {"models": sources}


def scenarios(games: int) -> list[int]:
    """The seeds of so many hold-out scenarios with a ZOPA, about listings that no training has.

    Raises ValueError for fewer than 2, or too many.
    """
    unseen = (seed for seed in SPLITS["holdout"] if is_unseen_game(PAIR_TASK, seed))
    with_zopa = (seed for seed in unseen if has_zopa(deal_at(PAIR_TASK, seed)))
    seeds = list(islice(with_zopa, max(0, games)))
    if games < 2 or len(seeds) < games:
        raise ValueError(f"games are at least 2 hold-out scenarios with a ZOPA, not {games}")
    return seeds


@dataclass(frozen=True)
class RoleSeat:
    """The seat in which `strategy` decides each move and a model says it.

    The strategy must be a script that draws nothing. A price counts as it is read from the model's
    words; words that hold no price to offer are no move.
    """

    strategy: env.Policy
    tries = 1

    def request(
        self, obs: env.Observation, seed: int, invalid_replies: tuple[str, ...] = ()
    ) -> Request:
        return Request(role_prompt(obs, self._decide(obs)), seed)

    def parse(
        self, obs: env.Observation, reply: Reply, invalid_replies: tuple[str, ...] = ()
    ) -> ParsedReply:
        """The decided move as proposal, the move that was said as action; none without a price.

        A price that differs from the decided one is a change.
        """
        decided, words = self._decide(obs), " ".join(reply.text.split())
        if not isinstance(decided, env.Offer):
            return ParsedReply(decided, replace(decided, message=words), reply.source)
        price = price_said(obs, words)
        if price is None:
            error = f"expected the price {decided.price:g} in words, got {words[:80]!r}"
            return ParsedReply(decided, None, reply.source, error=error)
        changes = () if price == decided.price else (f"{decided.price:g} became {price:g}",)
        return ParsedReply(decided, env.Offer(price, words), reply.source, changes)

    def _decide(self, obs: env.Observation) -> env.Offer | env.Accept | env.WalkAway:
        return self.strategy(obs, np.random.default_rng(0))


def price_said(obs: env.Observation, words: str) -> float | None:
    """The price that `words` propose, read by the parser of the dialogues."""
    context = replace(acts.context_of(obs.table, obs.agent, True), notes=obs.table.item.name)
    price = acts.parse_act(words, context).price
    return None if price is None else obs.priced(price)


def role_prompt(obs: env.Observation, decided: env.Offer | env.Accept | env.WalkAway) -> Messages:
    """The chat in which a role says `decided`: the game so far in words, then the intention.

    An offer without words is told as its price. Raises IllegalAction where `decided` is no move.
    """
    table = obs.table
    moves = [(move.agent, move.action) for move in table.moves if move.agent in acts.SELLING]
    lines = [
        acts.Turn(
            agent,
            announce(action) if action.message else acts.format_amount(action.price, acts.RUPEES),
        )
        for agent, action in moves
    ]
    act = acts.act_of(decided, acts.context_of(table, obs.agent, True))
    (other,) = (agent for agent in acts.SELLING if agent != obs.agent)
    dialogue = acts.Dialogue(
        id="game",
        group="game",
        scenario=acts.describe_item(
            table.item.name, table.item.category, table.item.list_price, acts.RUPEES
        ),
        values={obs.agent: {"limit": obs.reservation}, other: {}},
        turns=(*lines, acts.Turn(obs.agent, UNSAID, act)),
        currency=acts.RUPEES,
        list_price=table.item.list_price,
        notes=table.item.name,
    )
    return acts.view(dialogue, obs.agent).chat()[:-1]


@cache
def prompt_hashes() -> dict[str, str]:
    """The fingerprints of a role's prompt and of the reading of a price from its words."""
    moves = env.Offer(1000), env.Accept(), env.WalkAway()
    seen = [obs for seat in SEATS for obs in positions(PAIR_TASK, seat)]
    asked = [role_prompt(obs, move) for obs in seen for move in moves]
    actions = [
        price_said(obs, words.format(price=f"{obs.reservation:.0f}"))
        for obs in seen
        for words in TEXTS["offer"]
    ]
    return {"prompt": fingerprint(asked), "parser": fingerprint(actions)}


def play_role(
    script: str, seat: str, model: BatchGenerate, seeds: Sequence[int], batch: int = 1
) -> list[dict[str, Any]]:
    """One row per game of a model in a seat, against the script that speaks in the other seat."""
    others = {name: Acts(by_name[script]) for name, by_name in SEATS.items() if name != seat}
    task = replace(PAIR_TASK, learner=seat, opponents=others)
    says, rows = RoleSeat(SEATS[seat][script]), []
    for start in range(0, len(seeds), batch):
        games = [new_game(task, seed) for seed in seeds[start : start + batch]]
        while running := [game for game in games if game.running]:
            play_seats(running, [says] * len(running), model)
        rows += [_row(game, seat) for game in games]
    return rows


def _row(game: ModelGame, seat: str) -> dict[str, Any]:
    """One game: how its offers were said, how it ended, and what the seat got of the ZOPA."""
    offers = [turn for turn in game.turns if isinstance(turn.parsed.proposal, env.Offer)]
    unsaid = sum(turn.action is None for turn in offers)
    return {
        "seed": game.play.seed,
        "offers": len(offers),  # that the script decided
        "said": sum(not turn.parsed.changes for turn in offers) - unsaid,  # at their price
        "unsaid": unsaid,  # without a price in their words: 1 forfeits the game
        "share": round(env.shares(game.play.state, seat)[0], 6),
        "replies": [turn.reply.text for turn in game.turns],
    }


def summarize(
    script: str, seeds: Sequence[int], games: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Rows and contrasts, all computed from the games; the script's own games are played."""
    scripted = {seat: script_shares(script, seat, seeds) for seat in SEATS}
    cells = {(cell["model"], cell["seat"]): cell["games"] for cell in games}
    rows = [_figures(*cell, played, scripted[cell[1]]) for cell, played in cells.items()]
    at_price = {  # shares of the offers that were said at their price
        cell: np.array([game["said"] / game["offers"] for game in games])
        for cell, games in cells.items()
    }
    contrasts = [
        {
            "question": question,
            "model": model,
            "beside": beside,
            "seat": seat,
            "n": len(at_price[model, seat]),
            "difference": difference_of(at_price[model, seat], at_price[beside, seat]),
        }
        for seat, specialist in SPECIALISTS.items()
        for question, model, beside in (
            ("base", specialist, BASE),
            ("specialist", specialist, GENERALIST),
            ("off_role", next(m for m in SPECIALISTS.values() if m != specialist), specialist),
        )
        if {(model, seat), (beside, seat)} <= cells.keys()
    ]
    return {"rows": rows, "contrasts": contrasts, "games": list(games)}


def script_shares(script: str, seat: str, seeds: Sequence[int]) -> np.ndarray:
    """The seat's shares where both sides are scripts that speak, shape (games,)."""
    buyer, seller = (Acts(by_name[script]) for by_name in SEATS.values())
    task = replace(PAIR_TASK, opponents={"seller": seller})
    games = [env.rollout(task, buyer, seed) for seed in seeds]
    return np.array([round(env.shares(game.final, seat)[0], 6) for game in games])


def _figures(
    model: str, seat: str, games: Sequence[Mapping[str, Any]], script: np.ndarray
) -> dict[str, Any]:
    """One row: a model in a seat, beside the script whose moves it says."""
    offers, at_price, share = (
        np.array([game[column] for game in games], float) for column in ("offers", "said", "share")
    )
    unsaid = sum(game["unsaid"] for game in games)
    return {
        "model": model,
        "seat": seat,
        "off_role": is_off_role(model, seat),
        "n": len(games),
        "offers": int(offers.sum()),
        "said": name_interval(pooled_share(at_price, offers)),
        "wrong": int((offers - at_price).sum()) - unsaid,  # at another price, which was then played
        "unsaid": unsaid,
        "share": mean_of(share),
        "script_share": mean_of(script),
        "difference": difference_of(share, script),
        "losses": int((share < 0).sum()),  # deals below the seat's own limit
    }
