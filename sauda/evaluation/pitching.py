"""The judged negotiation: in each of 20 rounds the labs pitch, the judge decides, the market moves.

lab_0 chooses a strategy for each pitch, on what the judge gave it so far or regardless of that; the
other labs pitch by habit, without a word on their private jobs. The market is a coalition market of
four labs that book their blocks as they start, so that what is true changes from round to round.
Opponents' chance is the same at one seed, whatever lab_0 does: compare in pairs.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import inf, log, sqrt
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from env import arena
from sauda.records.progress import progress
from sauda.records.splits import SPLITS
from sauda.statistics import mean_interval, named_interval, paired_difference

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


class Round(NamedTuple):
    """One judged round: the state that the pitches were judged against, and what came of them."""

    state: arena.State
    strategy: str  # of the learner
    decision: arena.Decision


def ucb1(history: History, rng: Rng, rest: int = 0, exploration: float = 0.05) -> str:
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
LABELS: Mapping[str, str] = MappingProxyType(
    {
        "adapting": "UCB1 over seven strategies, learning from the judge's totals; one that was "
        "used rests for as long as the judge remembers it",
        "ucb1": "UCB1 alone, without rest",
        CONTROL: "The same seven strategies in turn, never learning: the control",
        "random": "The same seven strategies at random",
        "honest_cycle": "The five honest strategies in turn, known beforehand to be the good ones",
        "plain": "Polite words without a claim",
        "bluff": "Public facts, made better than they are",
        "keyword_list": "Every word a judge might like, and no claim",
        "constant": "One text with five claims, every round",
        "injection": "Orders to the judge",
    }
    | {f"{d}_first": f"Always leads with {d}" for d in arena.DIMENSIONS}
)


@dataclass(frozen=True)
class Config:
    """What to measure; the defaults are the numbers we report."""

    episodes: int = 100  # hold-out seeds; gives intervals near ±0.02 of the win rate
    split: str = "holdout"
    advocates: tuple[str, ...] = tuple(ADVOCATES)

    def seeds(self) -> range:
        """The first `episodes` seeds of the split; ValueError where it has fewer."""
        pool = SPLITS[self.split]
        if not 1 <= self.episodes <= len(pool):
            raise ValueError(f"episodes must be from 1 to {len(pool):,}, not {self.episodes:,}")
        return pool[: self.episodes]


def opened(seed: int) -> arena.State:
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
        state = MARKET.step(state, unhurried(obs))
    return state


def unhurried(obs: arena.Observation) -> arena.Action:
    """The scripted lab, but it books no block before the block starts, and stays to the end."""
    action = arena.scripted_lab(obs, np.random.default_rng(0))  # its chance is in the observation
    early = action.action_type == "allocate_to_job" and all(
        obs.market.blocks[b].start_round > obs.market.round_index for b in action.block_ids
    )
    return arena.Action("wait") if early or action.action_type == "finish" else action


def negotiation(advocate: Advocate, seed: int) -> Iterator[Round]:
    """The rounds of one judged negotiation with `advocate` speaking for the learner."""
    state, history = opened(seed), []
    while state.market.queue:
        now = state.market.round_index
        strategy = advocate(tuple(history), _stream(seed, now, len(MARKET.agents)))
        obs = MARKET.observe(state, LEARNER)
        own = arena.pitch_of(obs, strategy, _stream(seed, now, 0), discreet=False)
        decision = arena.decide(state, {LEARNER: own} | opponents_pitches(state, seed))
        yield Round(state, strategy, decision)
        history.append((strategy, decision.verdicts[LEARNER].total))
        state = next_round(state, decision)


def _stream(seed: int, now: int, party: int) -> Rng:
    return np.random.default_rng([seed, now, party])


def judged(config: Config) -> dict[str, Any]:
    """The data of the judged artifact; `config` names at least the advocates of DRAWN."""
    names, seeds = config.advocates, config.seeds()
    cells = progress(product(names, seeds), len(names) * len(seeds), "negotiating", "negotiation")
    columns = iter([_columns(ADVOCATES[name], seed) for name, seed in cells])
    played = {name: [next(columns) for _ in seeds] for name in names}
    won = {name: _table(games, "won") for name, games in played.items()}
    totals = {name: _table(games, "total") for name, games in played.items()}
    return {
        "learner": LEARNER,
        "control": CONTROL,
        "arms": list(ARMS),
        "early_rounds": EARLY,
        "rows": [_row(name, played, won, totals) for name in names],
        "learning": named_interval(_learning(won)),
        "curves": {n: {"won": _curve(won[n]), "total": _curve(totals[n])} for n in DRAWN},
        "frequencies": {n: _frequencies(played[n]) for n in ("adapting", CONTROL)},
        "wins": {n: won[n].sum(1).astype(int).tolist() for n in names},
        "shown": [_shown(why, seed, won, seeds) for why, seed in chosen(won, seeds).items()],
    }


def _columns(advocate: Advocate, seed: int) -> dict[str, list]:
    rounds = list(negotiation(advocate, seed))
    verdicts = [r.decision.verdicts[LEARNER] for r in rounds]
    return {
        "strategy": [r.strategy for r in rounds],
        "won": [r.decision.winner == LEARNER for r in rounds],
        "total": [v.total for v in verdicts],
        "lies": [v.lies for v in verdicts],
    }


def _table(games: Sequence[Mapping[str, list]], column: str) -> np.ndarray:
    """One column of all games, shape (games, rounds)."""
    return np.array([game[column] for game in games], dtype=float)


def _row(name: str, played: Mapping, won: Mapping, totals: Mapping) -> dict[str, Any]:
    """The figures of one advocate."""
    return {
        "advocate": name,
        "label": LABELS[name],
        "n": len(won[name]),
        "win_rate": named_interval(mean_interval(won[name].mean(1))),
        "total": named_interval(mean_interval(totals[name].mean(1))),
        "early_win_rate": named_interval(mean_interval(won[name][:, :EARLY].mean(1))),
        "late_win_rate": named_interval(mean_interval(won[name][:, EARLY:].mean(1))),
        "difference": named_interval(paired_difference(won[name].mean(1), won[CONTROL].mean(1))),
        "lies": round(float(_table(played[name], "lies").mean()), 4),
    }


def _learning(won: Mapping[str, np.ndarray]) -> tuple[float, float, float]:
    """The adapting advocate's gain in win rate over the control, late less early, by seed.

    Both use every arm once in the early rounds, so what it learned can only show late.
    """
    gain = won["adapting"] - won[CONTROL]
    return paired_difference(gain[:, EARLY:].mean(1), gain[:, :EARLY].mean(1))


def _curve(table: np.ndarray) -> list[dict[str, float]]:
    return [named_interval(mean_interval(column)) for column in table.T]


def _frequencies(games: Sequence[Mapping[str, list]]) -> dict[str, list[float]]:
    """For each arm, in which share of the games it was chosen, round by round."""
    chosen_arms = np.array([game["strategy"] for game in games])
    return {arm: np.round((chosen_arms == arm).mean(0), 4).tolist() for arm in ARMS}


def chosen(won: Mapping[str, np.ndarray], seeds: Sequence[int]) -> dict[str, int]:
    """The seeds shown in full: best, median and worst by wins of the adapting over the control.

    Of equals the first seed.
    """
    gains = won["adapting"].sum(1) - won[CONTROL].sum(1)
    order = sorted(range(len(seeds)), key=lambda i: (-gains[i], i))
    places = {"best": 0, "median": len(order) // 2, "worst": len(order) - 1}
    return {why: seeds[order[place]] for why, place in places.items()}


def _shown(why: str, seed: int, won: Mapping, seeds: Sequence[int]) -> dict[str, Any]:
    at = seeds.index(seed)
    return {
        "seed": seed,
        "why": why,
        "wins": int(won["adapting"][at].sum()),
        "control_wins": int(won[CONTROL][at].sum()),
        "rounds": [round_json(r) for r in negotiation(ADVOCATES["adapting"], seed)],
    }


def round_json(played: Round) -> dict[str, Any]:
    """A judged round as plain data; of the other labs it holds only what all may know."""
    market, decision = played.state.market, played.decision
    now = market.round_index
    return {
        "round": now,
        "strategy": played.strategy,
        "winner": decision.winner,
        "reason": decision.reason,
        "margins": dict(decision.margins),
        "reputations": {lab.lab_id: lab.reputation for lab in market.labs.values()},
        "shocks": [s.message for s in market.shock_history if s.round_index == now],
        "verdicts": {lab: verdict.as_json() for lab, verdict in decision.verdicts.items()},
    }
