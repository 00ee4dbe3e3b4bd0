"""The judged negotiation: in each of 20 rounds the labs pitch, the judge decides, the market moves.

lab_0 chooses a strategy for each pitch, on what the judge gave it so far or regardless of that; the
other labs pitch by habit, their private jobs too. The market is a coalition market of
four labs that book their blocks as they start, so that what is true changes from round to round.
Opponents' chance is the same at one seed, whatever lab_0 does: compare in pairs.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from math import inf, log, sqrt
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from env import arena
from sauda.experiments.base import experiment
from sauda.records import progress, read_table
from sauda.records.schemas.base import Interval, Record, Row, Rows, Table
from sauda.records.seeds import first_seeds
from sauda.statistics import difference_of, mean_of

Rng = np.random.Generator
History = Sequence[tuple[str, float]]  # strategy and total of each round so far
Advocate = Callable[[History, Rng], str]  # the strategy of the next pitch

LEARNER = "lab_0"
ROUNDS = 20
MARKET = arena.GpuBudgetNegotiationEnv(
    "arena/judged",
    arena.Size(
        (4,),
        ROUNDS,
        blocks=5,
        jobs=4,
        shocks=(
            (4, ("capacity_failure",)),
            (8, ("energy_spike",)),
            (11, ("demand_surge",)),
            (15, ("capacity_failure",)),
        ),
    ),
)
ARMS = (*arena.HONEST, "plain", "bluff")  # what an advocate may choose from
EARLY = len(ARMS)  # rounds in which the adapting advocate and the control use each arm once
ADVERSARIAL = ("plain", "bluff", "keyword_list", "constant", "injection")
CONTROL = "cycle"
DRAWN = ("adapting", "ucb1", CONTROL, "random", "honest_cycle")  # with a curve over the rounds
SHOWN = ("adapting", CONTROL)  # with the strategies that they choose


class Round(NamedTuple):
    """One judged round: the state that the pitches were judged against, and what came of them."""

    state: arena.State
    strategy: str  # of the learner
    decision: arena.Decision


def ucb1(history: History, rng: Rng, rest: int = 0, exploration: float = 0.1) -> str:
    """The arm with the best upper bound on its mean total; each is tried once, in any order.

    Auer, Cesa-Bianchi and Fischer (2002), section 2. An arm is left to rest for `rest` rounds once
    it was used. The exploration, on the scale of totals, was chosen on training seeds.
    """
    count = Counter(strategy for strategy, _ in history)
    earned = {arm: sum(total for strategy, total in history if strategy == arm) for arm in ARMS}
    resting = {strategy for strategy, _ in history[-rest:]} if rest else set()

    def bound(arm: str) -> float:
        if not count[arm]:
            return inf
        return earned[arm] / count[arm] + exploration * sqrt(log(len(history)) / count[arm])

    shuffled = [ARMS[i] for i in rng.permutation(len(ARMS))]
    return max([arm for arm in shuffled if arm not in resting], key=bound)


def in_turn(arms: Sequence[str], history: History, rng: Rng) -> str:
    """Takes the arms in turn from a random first one; ignores the judge's grades.

    So every round meets every arm equally often over the seeds, and early and late compare.
    """
    if not history:
        return arms[int(rng.integers(len(arms)))]
    return arms[(arms.index(history[-1][0]) + 1) % len(arms)]


def at_random(history: History, rng: Rng) -> str:
    """Draws an arm at random; ignores the judge's grades."""
    return ARMS[int(rng.integers(len(ARMS)))]


ADVOCATES: Mapping[str, Advocate] = MappingProxyType(
    {
        "adapting": partial(ucb1, rest=arena.JUDGE_MEMORY),
        "ucb1": ucb1,
        CONTROL: partial(in_turn, ARMS),
        "random": at_random,
        "honest_cycle": partial(in_turn, arena.HONEST),
        **{name: partial(in_turn, (name,)) for name in (*arena.HONEST, *ADVERSARIAL)},
    }
)
# What each does, in words.
LABELS = {
    row["advocate"]: row["label"] for row in read_table(Path(__file__).with_name("advocates.csv"))
}


class Verdict(Row):
    """The judge's verdict on one pitch."""

    findings: Rows  # one per claim, as the judge checked it


class JudgedRound(Row):
    """One round of a negotiation: the pitches and the award."""

    verdicts: dict[str, Verdict]  # the judge's verdict, by lab


class ShownGame(Row):
    """A negotiation shown in full."""

    rounds: Table[JudgedRound]


class Pitching(Record):
    """Judged negotiation: an adapting advocate, a control, hostile pitches; rounds to read."""

    learner: str  # the lab that the advocates speak for
    control: str  # name of the control
    arms: list[str]  # strategies to choose from
    early_rounds: int  # rounds in which each strategy is used once
    rows: Rows  # one per advocate
    learning: Interval  # gain over the control, late less early rounds
    # per round and advocate: the share of seeds in which it is "won", the judge's mean "total"
    curves: dict[str, dict[str, list[Interval]]]
    # share of seeds that chose a strategy in each round, by advocate and strategy
    frequencies: dict[str, dict[str, list[float]]]
    wins: dict[str, list[int]]  # rounds won, one per seed, by advocate
    shown: Table[ShownGame]  # negotiations shown in full


def open_market(seed: int) -> arena.State:
    """The market of `seed` before its first pitch."""
    return MARKET.reset(_stream(seed, ROUNDS, 0))


def opponents_pitches(state: arena.State, seed: int) -> dict[str, str]:
    """What the other labs say in this round."""
    pitches = {}
    for index, lab in enumerate(state.market.labs):
        if lab != LEARNER:
            rng, obs = _stream(seed, state.market.round_index, index), MARKET.observe(state, lab)
            pitches[lab] = arena.pitch_of(obs, arena.usual_strategy(obs, rng), rng)
    return pitches


def next_round(state: arena.State, decision: arena.Decision) -> arena.State:
    """The state as the next round opens: the judge's award paid, a round of the market played."""
    now, state = state.market.round_index, arena.award(state, decision)
    while state.market.queue and state.market.round_index == now:
        obs = MARKET.observe(state, state.market.queue[0])
        state = MARKET.step(state, wait_for_pitch(obs))
    return state


def wait_for_pitch(obs: arena.Observation) -> arena.Action:
    """The scripted lab, but it books no block before the block starts, and stays to the end."""
    action = arena.scripted_lab(obs, np.random.default_rng(0))  # its chance is in the observation
    early = action.action_type == "allocate_to_job" and all(
        obs.market.blocks[b].start_round > obs.market.round_index for b in action.block_ids
    )
    return arena.Action("wait") if early or action.action_type == "finish" else action


def negotiation(advocate: Advocate, seed: int) -> Iterator[Round]:
    """The rounds of one judged negotiation with `advocate` speaking for the learner."""
    state, history = open_market(seed), []
    while state.market.queue:
        now = state.market.round_index
        strategy = advocate(tuple(history), _stream(seed, now, len(MARKET.agents)))
        obs = MARKET.observe(state, LEARNER)
        pitch = arena.pitch_of(obs, strategy, _stream(seed, now, 0))
        decision = arena.decide(state, {LEARNER: pitch} | opponents_pitches(state, seed))
        yield Round(state, strategy, decision)
        history.append((strategy, decision.verdicts[LEARNER].total))
        state = next_round(state, decision)


def _stream(seed: int, now: int, party: int) -> Rng:
    return np.random.default_rng([seed, now, party])


def _play_rounds(name: str, seed: int) -> Iterator[tuple[str, bool, float, int]]:
    """Of each round what the learner did, whether it won, its total and its lies."""
    for played in negotiation(ADVOCATES[name], seed):
        verdict = played.decision.verdicts[LEARNER]
        yield played.strategy, played.decision.winner == LEARNER, verdict.total, verdict.lies


def check_advocates(names: Sequence[str]) -> None:
    """Raise ValueError for an advocate that there is not, and where one of DRAWN is not named."""
    for name in names:
        if name not in ADVOCATES:
            raise ValueError(f"no advocate {name!r}; advocates are {', '.join(ADVOCATES)}")
    if missing := [name for name in DRAWN if name not in names]:
        raise ValueError(f"the curves need {', '.join(missing)} among the advocates as well")


@experiment("pitching.json", Pitching, checks="every negotiation and every verdict")
def pitching(
    episodes: int = 100,  # hold-out seeds; gives intervals near ±0.02 of the win rate
    split: str = "holdout",
    advocates: tuple[str, ...] = tuple(ADVOCATES),
) -> dict[str, Any]:
    """The data of the judged artifact. ValueError for advocates that cannot be judged."""
    check_advocates(advocates)
    names, seeds = advocates, first_seeds(episodes, split)
    cells = progress(product(names, seeds), len(names) * len(seeds), "negotiating", "negotiation")
    games = [list(_play_rounds(name, seed)) for name, seed in cells]
    # Each of shape (advocates, seeds, rounds).
    columns = zip(*(zip(*game, strict=True) for game in games), strict=True)
    chosen, won, totals, lies = (
        dict(zip(names, np.reshape(column, (len(names), len(seeds), -1)), strict=True))
        for column in columns
    )
    won = {name: hits.astype(float) for name, hits in won.items()}
    # Both use every arm once in the early rounds, so what was learned can only show late.
    gain = won["adapting"] - won[CONTROL]
    return {
        "learner": LEARNER,
        "control": CONTROL,
        "arms": list(ARMS),
        "early_rounds": EARLY,
        "rows": [
            {
                "advocate": name,
                "label": LABELS[name],
                "n": len(seeds),
                "win_rate": mean_of(won[name].mean(1)),
                "total": mean_of(totals[name].mean(1)),
                "early_win_rate": mean_of(won[name][:, :EARLY].mean(1)),
                "late_win_rate": mean_of(won[name][:, EARLY:].mean(1)),
                "difference": difference_of(won[name].mean(1), won[CONTROL].mean(1)),
                # False claims a pitch.
                "lies": round(float(lies[name].mean()), 4),
            }
            for name in names
        ],
        "learning": difference_of(gain[:, EARLY:].mean(1), gain[:, :EARLY].mean(1)),
        "curves": {
            n: {"won": list(map(mean_of, won[n].T)), "total": list(map(mean_of, totals[n].T))}
            for n in DRAWN
        },
        "frequencies": {
            n: {arm: np.round((chosen[n] == arm).mean(0), 4).tolist() for arm in ARMS}
            for n in SHOWN
        },
        "wins": {n: won[n].sum(1).astype(int).tolist() for n in names},
        "shown": [
            {
                "seed": seed,
                "why": why,
                "wins": int(won["adapting"][seeds.index(seed)].sum()),
                "control_wins": int(won[CONTROL][seeds.index(seed)].sum()),
                "rounds": list(map(round_json, negotiation(ADVOCATES["adapting"], seed))),
            }
            for why, seed in choose_examples(won, seeds).items()
        ],
    }


def choose_examples(won: Mapping[str, np.ndarray], seeds: Sequence[int]) -> dict[str, int]:
    """The seeds shown in full: best, median and worst by wins of the adapting over the control.

    Of equals the first seed.
    """
    gains = won["adapting"].sum(1) - won[CONTROL].sum(1)
    order = sorted(range(len(seeds)), key=lambda i: (-gains[i], i))
    places = {"best": 0, "median": len(order) // 2, "worst": len(order) - 1}
    return {why: seeds[order[place]] for why, place in places.items()}


def round_json(played: Round) -> dict[str, Any]:
    """A judged round as plain data; of the other labs it holds only what all may know."""
    market, decision = played.state.market, played.decision
    now = market.round_index
    return {
        "round": now,
        "strategy": played.strategy,
        "winner": decision.winner,
        "reason": decision.reason,
        "margins": dict(decision.margins),  # total less the best other's
        "reputations": {lab.lab_id: lab.reputation for lab in market.labs.values()},
        "shocks": [s.message for s in market.shock_history if s.round_index == now],
        "verdicts": {lab: verdict.as_json() for lab, verdict in decision.verdicts.items()},
    }
