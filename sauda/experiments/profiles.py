"""Profiles of buyers: what each wins, where it loses, what it reads, believes and breaks.

One number hides why a player wins; TERMS-Bench (arXiv 2605.13909) diagnoses players by such parts.
Signals: a seller's claims and manner change none of its prices, so against the same sellers with
candid, neutral and misleading signals whoever reads them plays other games and whoever does not
plays the same ones. Belief: a player names the range that holds the seller's limit with 80 %
chance, scored by the interval score (Gneiting and Raftery 2007, section 6.2): the width of the
range and, where the limit lies outside, ten times the distance to it. The least expected score is
that of the player's true 10 % and 90 % quantiles.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from itertools import repeat
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import Field, FiniteFloat

from env import (
    CLAIMS,
    SELLER_RESERVATION,
    Accept,
    Episode,
    IllegalAction,
    Instance,
    Observation,
    Policy,
    Table,
    Task,
    Tells,
    WalkAway,
    begin,
    claim_at,
    episode,
    get_task,
    rollout,
)
from sauda.experiments.base import experiment
from sauda.experiments.batches import in_batches
from sauda.experiments.comparison import version_of
from sauda.experiments.pairs import TASK, Side, instance, play_sides, scenario_seeds
from sauda.experiments.regret import Action, Judged, Positions, by_belief, task_of
from sauda.experiments.tournament import ROLES, STAGES
from sauda.games import BAZAAR
from sauda.games.bazaar_columns import behaviour_metrics
from sauda.games.bazaar_prompt import HIGHEST, first_object, unit
from sauda.llm.backends import Endpoint, probe
from sauda.llm.model import CACHE, load_once
from sauda.llm.registry import PlayerSpec, get_policy, is_model, player_spec
from sauda.llm.sources import is_same_player, model_sources, prompt_hashes
from sauda.llm.types import BatchGenerate, Messages, Reply, ReplyError, Schema
from sauda.policies import BUYERS
from sauda.policies.belief import BeliefBuyer
from sauda.policies.best_response import MoveValues, informed_value
from sauda.records.progress import progress
from sauda.records.schemas.base import Interval, ModelSource, Record
from sauda.records.store import ROOT, Artifact, load, write
from sauda.statistics import (
    mean_interval,
    name_interval,
    paired_difference,
    share_of_gap,
    wilson_interval,
)

FILE = "profiles.json"
PHASES = ("opening", "middle", "closing", "walking")
CLOSING = 2  # moves left from which a position belongs to the closing
CANDID, NEUTRAL, MISLEADING = MODES = ("candid", "neutral", "misleading")
SILENT = 1.0  # the draw of a round in which no claim is considered
QUIET = (0.0,) * 7  # the noise of a manner that shows its causes as they are
LEVELS = (
    "verbal_urgency", "verbal_confidence", "verbal_deception_cue", "fidget_level",
    "emotional_escalation",
)  # fmt: skip
# The two words that an open-market seller's signal may have, each by the other.
OPPOSITE: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "price_rounding": {"precise": "round", "round": "precise"},
        "offer_speed": {"instant": "normal", "normal": "instant"},
        "eye_contact": {"avoidant": "steady", "steady": "avoidant"},
        "posture": {"leaning_in": "neutral", "neutral": "leaning_in"},
    }
)
LEVEL = 0.8  # chance that a range is to hold the limit with
TAILS = np.array([0.1, 0.9])  # quantiles of that range
QUESTION = (
    "You haggle to buy. Prices are percent of your limit. Make no move now. The seller has a limit "
    "too, the least price it would sell at. Name a range that holds the seller's limit with 80 "
    'percent chance. Reply in JSON: {"low":40,"high":70}.'
)
TOKEN = "SAUDA_ENDPOINT_TOKEN"  # the environment variable with the token of an endpoint


class PhaseRegret(Record):
    """What a player's moves give away in one phase of a game."""

    phase: Literal["opening", "middle", "closing", "walking"] = Field(
        description="first move; neither; deal due or two moves left; walking away is best"
    )
    n: int = Field(description="positions")
    regret: Interval = Field(description="mean grade given away in a position of the phase")
    part: FiniteFloat = Field(description="share of the mean regret over all positions")


class CueUse(Record):
    """Grades against the same sellers with other signals, on the same seeds."""

    n: int = Field(description="seeds")
    candid: Interval = Field(description="sellers whose signals are true")
    neutral: Interval = Field(description="sellers without signals")
    misleading: Interval = Field(description="sellers whose signals are false")
    gained: Interval = Field(description="candid less neutral, paired by seed")
    misled: Interval = Field(description="misleading less neutral, paired by seed")


class BeliefScore(Record):
    """Ranges that are to hold the seller's limit with 80 % chance, as shares of the list price."""

    n: int = Field(description="positions")
    answered: int = Field(description="of those, positions with an answer that is a range")
    coverage: Interval = Field(description="share of ranges that hold the limit")
    width: Interval = Field(description="mean width")
    score: Interval = Field(description="mean interval score; lower is better")


class Compliance(Record):
    """What a player breaks: the rules, its own last word, its limit."""

    games: int = Field(description="games")
    moves: int = Field(description="moves in them")
    invalid: int = Field(description="moves that the rules refuse; each forfeits its game")
    broken: int = Field(description="moves above a price that the player called its last")
    losses: int = Field(description="bids and acceptances above its own limit")
    clean: Interval = Field(description="share of games without any of these")


class ProfileRow(Record):
    """One buyer."""

    player: str = Field(description="name of the player")
    n: int = Field(description="hold-out games about listings that no training game has")
    grade: Interval = Field(description="mean grade")
    of_oracle: Interval | None = Field(
        description="mean grade as a share of the informed value; null where that is 0"
    )
    phases: list[PhaseRegret] = Field(description="regret on fixed positions, by phase")
    cues: CueUse = Field(description="use of the seller's signals")
    belief: BeliefScore | None = Field(description="null for a script without a belief")
    compliance: Compliance = Field(description="faults in its games")


class Profiles(Record):
    """Why each buyer wins or loses: surplus, regret by phase, cues, belief, compliance."""

    task: str = Field(description="name of the task")
    judge: str = Field(description="the policy by whose values moves are judged")
    informed: Interval = Field(description="mean value of the best response to the known seller")
    prior: BeliefScore = Field(description="a player that knows only how limits are drawn")
    rows: list[ProfileRow] = Field(description="one entry per player")
    models: dict[str, ModelSource] = Field(description="language models, by name")


# The experiment ----------------------------------------------------------------------------------


def count_scripted(config: Mapping[str, Any], data: Profiles) -> int:
    """Games of all scripts, those with three kinds of signals included."""
    models = tuple(data.models)
    return sum(row.n + 3 * row.cues.n for row in data.rows if not row.player.startswith(models))


def tabulate(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """One row per player: its figures without what they are computed from."""
    for row in data["rows"]:
        faults = {name: row["compliance"][name] for name in ("invalid", "broken", "losses")}
        yield {
            **{name: row[name] for name in ("player", "n", "grade", "of_oracle")},
            **{f"{part['phase']} regret": part["regret"] for part in row["phases"]},
            **{name: row["cues"][name] for name in ("gained", "misled")},
            "belief score": row["belief"] and row["belief"]["score"],
            **faults,
        }


def replay(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """The data computed again for `verify`; rows of language models are kept."""
    settings, recorded = artifact.settings(), artifact.data.as_json()
    names = settings.pop("players")
    kept = {row["player"]: row for row in recorded["rows"] if is_model(row["player"])}
    scripts = [find_player(name) for name in names if name not in kept]
    data = _measure(scripts, Trials.of(**settings), workers)
    by_name = {row["player"]: row for row in data["rows"]} | kept
    rows = [by_name.get(name) for name in names]
    return data | {"rows": rows, "models": recorded["models"]}


@experiment(
    FILE,
    Profiles,
    version=1,
    tab="Results",
    method="replayed in part",
    checks="every profile of a script computed again; those of language models are not",
    amount=count_scripted,
    unit="games",
    replay=replay,
    model_hashes=lambda: prompt_hashes(BAZAAR),
    table=tabulate,
)
def profiles(
    players: tuple[str, ...] = (*BUYERS, "pilot", "belief", *STAGES, *ROLES),
    games: int = 120,  # hold-out games about unseen listings, as in the tournament
    cues: int = 100,  # of those, games with each kind of signals
    states: int = 400,  # fixed positions: for regret and belief
    *,
    workers: int = 2,
    keep: bool = False,  # recorded rows of language models that are still the same
    root: Path = ROOT,
) -> dict[str, Any]:
    """The data of the artifact: one row per player.

    A player "MODEL@URL" is the model behind an endpoint that speaks OpenAI's chat protocol. Raises
    ValueError for a player that there is not, or one that does not answer.
    """
    found = [find_player(name) for name in players]
    recorded = (
        _load_recorded({"games": games, "cues": cues, "states": states}, root) if keep else None
    )
    weights = {player.model.weights for player in found if player.model} - {""}
    models = model_sources(weights, BAZAAR)
    kept = {} if recorded is None else keep_rows(found, models, recorded)
    models |= {
        weight: recorded["models"][weight]  # with the CPU that its games were played on
        for player in found
        if player.name in kept and (weight := player.model.weights)
    }
    rest = [player for player in found if player.name not in kept]
    try:
        data = _measure(rest, Trials.of(games, cues, states), workers)
    except ReplyError as error:
        raise ValueError(
            f"{error}; its replies so far are kept, run this again to resume"
        ) from error
    rows = kept | {row["player"]: row for row in data["rows"]}
    return data | {"rows": [rows[player.name] for player in found], "models": models}


def _load_recorded(size: Mapping[str, int], root: Path) -> dict[str, Any]:
    """The data of the recorded profiles; ValueError where they are of another size."""
    artifact = load(FILE, root)
    if any(artifact.config[name] != n for name, n in size.items()):
        raise ValueError(f"the recorded profiles are of another size ({', '.join(size)})")
    return artifact.data.as_json()


def keep_rows(
    players: Sequence["Player"], models: Mapping[str, Any], recorded: Mapping[str, Any]
) -> dict[str, Any]:
    """The rows in `recorded` of language models that are still the same, by player."""
    then = recorded["models"]
    same = {
        player.name
        for player in players
        if player.model
        and (weights := player.model.weights)
        and is_same_player(then.get(weights), models[weights])
    }
    return {row["player"]: row for row in recorded["rows"] if row["player"] in same}


@dataclass(frozen=True, eq=False)
class Trials:
    """What all players are measured on."""

    seeds: Sequence[int]
    informed: np.ndarray  # (n,), what a buyer that knows the seller would expect in each game
    cues: int  # games with each kind of signals
    judged: Judged
    limits: Sequence[float]  # the seller's limit in each position of `judged`, rupees

    @classmethod
    def of(cls, games: int, cues: int, states: int) -> "Trials":
        """The trials of these sizes; ValueError for too few games or positions."""
        if states < 1 or cues < 1:
            raise ValueError("a profile needs at least one position and one game of each signal")
        seeds = scenario_seeds(games)
        judged = Judged.of(Positions(states=states), by_belief)
        limits = [
            begin(task_of(state.task), state.seed).state.private["seller"]["reservation"]
            for state in judged.states
        ]
        informed = np.array([informed_value(instance(seed)) for seed in seeds])
        return cls(seeds, informed, cues, judged, limits)

    @property
    def positions(self) -> list[Observation]:
        """The observations at the fixed positions."""
        return [state.obs for state in self.judged.states]


def _measure(players: Sequence["Player"], trials: Trials, workers: int) -> dict[str, Any]:
    """The profiles of `players`, and what they compare with."""
    scripts = [player for player in players if player.policy is not None]
    scripts.sort(key=lambda player: not isinstance(player.policy, BeliefBuyer))  # the slow ones
    with ProcessPoolExecutor(workers) as pool:
        played = pool.map(profile, scripts, repeat(trials))
        rows = list(progress(played, len(scripts), "profiling", "player"))
    models = [player for player in players if player.model is not None]
    rows += [
        profile_or_read(player, trials)
        for player in progress(models, len(models), "profiling", "model")
    ]
    by_name = {row["player"]: row for row in rows}
    positions = trials.positions
    return {
        "task": TASK,
        "judge": "belief",
        "informed": name_interval(mean_interval(trials.informed)),
        "prior": score_ranges([prior(obs) for obs in positions], positions, trials.limits),
        "rows": [by_name[player.name] for player in players],
    }


def profile_or_read(player: "Player", trials: Trials) -> dict[str, Any]:
    """The profile of a language model; one of known weights is read from disk once it is there."""
    if not player.model.weights:
        return profile(player, trials)
    size = (list(trials.seeds), trials.cues, len(trials.judged.states), player.batch)
    key = repr((player.name, size, *version_of(load_once(player.model.weights))))
    (row,) = in_batches(
        [player], 1, CACHE / "profiles", lambda _: key, lambda _: profile(player, trials)
    )
    return row


def profile(player: "Player", trials: Trials) -> dict[str, Any]:
    """The profile of one player."""
    task = get_task(TASK)
    games = player.games(task, trials.seeds)
    grade = np.array([task.grade(game.final) for game in games])
    share = share_of_gap(grade, np.zeros(len(grade)), trials.informed)
    seeds = [state.seed for state in trials.judged.states]
    ranges = player.ranges(trials.positions, seeds)
    return {
        "player": player.name,
        "n": len(grade),
        "grade": name_interval(mean_interval(grade)),
        "of_oracle": share and name_interval(share),
        "phases": phases(trials.judged, trials.judged.regrets(player.moves(trials.judged))),
        "cues": compare_signals(player, trials.seeds[: trials.cues]),
        "belief": ranges and score_ranges(ranges, trials.positions, trials.limits),
        "compliance": compliance(games),
    }


# Belief ------------------------------------------------------------------------------------------


class Range(NamedTuple):
    """A range of prices in rupees."""

    low: float
    high: float


def ask_for_range(obs: Observation) -> Messages:
    """The chat that asks a language model for its belief: the game so far under other rules."""
    return [{"role": "system", "content": QUESTION}, *BAZAAR.prompt.render(obs)[1:]]


def read_range(text: str, obs: Observation) -> Range | None:
    """The range in a reply, in rupees; None where it holds none."""
    try:
        row = first_object(text)
    except IllegalAction:
        return None
    ends = [row.get("low"), row.get("high")]
    if any(isinstance(end, bool) or not isinstance(end, int | float) for end in ends):
        return None
    low, high = ends
    if not 0 <= low <= high <= HIGHEST:
        return None
    return Range(low * unit(obs) / 100, high * unit(obs) / 100)


def ask_ranges(
    generate: BatchGenerate, at: Sequence[Observation], seeds: Sequence[int], batch: int
) -> list[Range | None]:
    """The answers of a language model to `ask_for_range` at each observation."""
    answers = []
    for start in range(0, len(at), batch):
        some = at[start : start + batch]
        chats = [ask_for_range(obs) for obs in some]
        replies = generate.batch(chats, seeds[start : start + batch], [None] * len(some))
        answers += [read_range(reply.text, obs) for reply, obs in zip(replies, some, strict=True)]
    return answers


def prior(obs: Observation) -> Range:
    """The range of a player that knows only how the market draws limits."""
    low, high = SELLER_RESERVATION
    tail = (1 - LEVEL) / 2 * (high - low)
    price = obs.table.item.list_price
    return Range((low + tail) * price, (high - tail) * price)


def score_ranges(
    ranges: Sequence[Range | None], at: Sequence[Observation], truth: Sequence[float]
) -> dict[str, Any]:
    """The scores of ranges for the true limits, one per position.

    An answer that is no range is scored as the whole range from 0 to the ask.
    """
    given = [
        Range(0.0, obs.ask) if one is None else one for one, obs in zip(ranges, at, strict=True)
    ]
    price = np.array([obs.table.item.list_price for obs in at], float)
    low, high = (np.array(ends) / price for ends in zip(*given, strict=True))
    limit = np.array(truth) / price
    miss = np.maximum(0, low - limit) + np.maximum(0, limit - high)
    n, held = len(given), int((miss == 0).sum())
    return {
        "n": n,
        "answered": sum(one is not None for one in ranges),
        "coverage": name_interval(wilson_interval(held, n)),
        "width": name_interval(mean_interval(high - low)),
        "score": name_interval(mean_interval(high - low + 2 / (1 - LEVEL) * miss)),
    }


# Players -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Player:
    """A buyer by its name in the profile; exactly one of `policy` and `model` is given."""

    name: str
    policy: Policy | None = None
    model: PlayerSpec | None = None
    batch: int = 40  # games of a language model played together

    def games(self, task: Task, seeds: Sequence[int]) -> list[Episode]:
        """The games of `seeds` of `task` with this player as the buyer."""
        if self.policy is not None:
            return [rollout(task, self.policy, seed) for seed in seeds]
        side = Side(self.model.seat(BAZAAR), self.model.generate, self.model.weights)
        games = []
        for start in range(0, len(seeds), self.batch):
            some = seeds[start : start + self.batch]
            games += play_sides(task, {"buyer": side}, task.opponents, some)
        return [episode(task, game.play) for game in games]

    def moves(self, judged: Judged) -> list[Action | None]:
        """Its moves in the positions of `judged`; None for a reply without a move."""
        if self.policy is not None:
            return judged.moves(self.policy)
        return judged.moves_of_model(self.model)

    def ranges(self, at: Sequence[Observation], seeds: Sequence[int]) -> list[Range | None] | None:
        """The range that holds the seller's limit with 80 % chance, by its belief, in rupees.

        One for each observation, None for an answer that is none. Altogether None for a script that
        has no belief.
        """
        if self.model is not None:
            return ask_ranges(self.model.generate, at, seeds, self.batch)
        if isinstance(self.policy, BeliefBuyer):
            return [Range(*self.policy.belief(obs).quantile(TAILS).tolist()) for obs in at]
        return None


def find_player(name: str) -> Player:
    """The buyer called `name`; ValueError naming the buyers there are."""
    model, at, url = name.partition("@")
    if at:
        endpoint = Endpoint(url, model, os.environ.get(TOKEN))
        if not (health := probe(endpoint)).healthy:
            raise ValueError(f"the endpoint cannot play: {health.detail}")
        return Player(name, model=PlayerSpec(EndpointModel(endpoint, CACHE / "profiles")))
    if is_model(name):
        return Player(name, model=player_spec(name))
    return Player(name, policy=get_policy(get_task(TASK), name))


@dataclass(frozen=True)
class EndpointModel:
    """A `BatchGenerate` of an endpoint. Each reply is kept in `folder`, so a stopped run resumes.

    Raises ReplyError where the endpoint gives no reply.
    """

    endpoint: Endpoint
    folder: Path
    parallel: int = 8  # requests under way at a time

    def __call__(self, messages: Messages, seed: int, schema: Schema | None = None) -> Reply:
        asked = (self.endpoint.url, self.endpoint.model, [*messages], seed, schema)
        file = self.folder / f"{sha256(json.dumps(asked).encode()).hexdigest()[:24]}.json"
        if not file.exists():
            reply = self.endpoint(messages, seed, schema)
            kept = {"text": reply.text, "tokens": reply.tokens, "finish": reply.finish}
            write(file, json.dumps(kept, ensure_ascii=False))
        kept = json.loads(file.read_text(encoding="utf-8"))
        return Reply(kept["text"], self.endpoint.source, kept["tokens"], kept["finish"])

    def batch(
        self, chats: Sequence[Messages], seeds: Sequence[int], schemas: Sequence[Schema | None]
    ) -> list[Reply]:
        with ThreadPoolExecutor(self.parallel) as pool:
            return list(pool.map(self, chats, seeds, schemas))


# Regret and compliance ---------------------------------------------------------------------------


def phases(judged: Judged, regret: np.ndarray) -> list[dict[str, Any]]:
    """The mean regret in each of PHASES, and the share of the mean regret that falls in it."""
    where = np.array(
        [
            phase(state.obs, values)
            for state, values in zip(judged.states, judged.values, strict=True)
        ]
    )
    return [
        {
            "phase": name,
            "n": int((where == name).sum()),
            "regret": name_interval(mean_interval(regret[where == name])),
            "part": round(float(regret[where == name].sum() / len(regret)), 6),
        }
        for name in PHASES
        if (where == name).any()
    ]


def phase(obs: Observation, values: MoveValues) -> str:
    """The phase that a position belongs to, by the judge's best move and by the moves left."""
    best = values.best(obs)
    if isinstance(best, WalkAway):
        return "walking"
    if obs.round == 0:
        return "opening"
    return "closing" if isinstance(best, Accept) or obs.rounds_left <= CLOSING else "middle"


class Seen(NamedTuple):
    """One move of the player, as `behaviour_metrics` reads it."""

    obs: Observation
    action: Any


def compliance(games: Sequence[Episode]) -> dict[str, Any]:
    """What the player breaks: the rules, its own last word, its limit."""
    counts = {"moves": 0, "invalid": 0, "broken": 0, "losses": 0}
    clean = 0
    for game in games:
        turns = game.trajectory("buyer")
        seen = [Seen(turn.observation, turn.action) for turn in turns]
        kept = behaviour_metrics(seen, market=False)
        faults = {
            "invalid": sum(turn.action is None for turn in turns),
            "broken": kept["broken"],
            "losses": kept["over_limit"],
        }
        clean += not any(faults.values())
        for name, count in {"moves": len(turns), **faults}.items():
            counts[name] += count
    return {
        "games": len(games),
        **counts,
        "clean": name_interval(wilson_interval(clean, len(games))),
    }


# Signals -----------------------------------------------------------------------------------------


def compare_signals(player: "Player", seeds: Sequence[int]) -> dict[str, Any]:
    """Grades against the same sellers with candid, neutral and misleading signals, paired."""
    grade = {}
    for mode in MODES:
        task = with_signals(get_task(TASK), mode)
        grade[mode] = np.array([task.grade(game.final) for game in player.games(task, seeds)])
    return {
        "n": len(seeds),
        **{mode: name_interval(mean_interval(values)) for mode, values in grade.items()},
        "gained": name_interval(paired_difference(grade[CANDID], grade[NEUTRAL])),
        "misled": name_interval(paired_difference(grade[MISLEADING], grade[NEUTRAL])),
    }


def with_signals(task: Task, mode: str) -> Task:
    """An open-market `task` whose sellers signal in one of MODES; their prices are the same.

    Candid sellers claim only what is true, and their manner shows its causes without noise. Neutral
    ones claim nothing and show no manner. Misleading ones claim only what is false, and their
    manner shows the opposite.
    """
    manner = task.env.manner
    shown = {CANDID: manner, NEUTRAL: None, MISLEADING: partial(opposite, manner)}[mode]
    draw = partial(_draw_signals, task.env.draw, mode)
    return replace(task, env=replace(task.env, draw=draw, manner=shown))


def _draw_signals(
    draw: Callable[[np.random.Generator], Sequence[Instance]], mode: str, rng: np.random.Generator
) -> tuple[Instance, ...]:
    return tuple(
        replace(deal, seller={**deal.seller, **_signals(deal.seller, mode)}) for deal in draw(rng)
    )


def _signals(own: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """The seller's stance and draws, in which each round's claim is as `mode` has it."""
    stance = own["stance"]
    willing = replace(stance, type=replace(stance.type, bluff_rate=1.0))
    chance = []
    for t, row in enumerate(own["chance"], start=1):
        walk, _, _, _, line, *_ = row
        kind = None if mode == NEUTRAL else _claim(willing, own["chance"], t, mode == CANDID)
        speaks, draw = (SILENT, 0.0) if kind is None else (0.0, (kind + 0.5) / len(CLAIMS))
        chance.append((walk, speaks, draw, 0.0, line, *QUIET))
    return {"stance": willing, "chance": tuple(chance)}


def _claim(stance: Any, chance: Sequence[Sequence[float]], t: int, true: bool) -> int | None:
    """The index in CLAIMS of a claim of round `t` that is true or false; None without one.

    The search begins at another claim each round, so that sellers vary what they say.
    """
    for step in range(len(CLAIMS)):
        kind = (t + step) % len(CLAIMS)
        walk, _, _, _, *rest = chance[t - 1]
        tried = list(chance)
        tried[t - 1] = (walk, 0.0, (kind + 0.5) / len(CLAIMS), 0.0, *rest)
        if claim_at({"stance": stance, "chance": tried}, t)[1] == true:
            return kind
    return None


def opposite(
    manner: Callable[[Table, Mapping[str, Any]], Tells], table: Table, seller: Mapping[str, Any]
) -> Tells:
    """A manner that shows low for high and each word for its opposite."""
    shown = manner(table, seller)
    levels = {name: 1 - getattr(shown, name) for name in LEVELS}
    words = {name: words[getattr(shown, name)] for name, words in OPPOSITE.items()}
    return replace(shown, **levels, **words)
