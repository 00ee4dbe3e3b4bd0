"""The judged negotiation: in each of 20 rounds the labs pitch, the judge decides, the market moves.

lab_0 chooses a strategy for each pitch, on what the judge gave it so far or regardless of that; the
other labs pitch by habit, their private jobs too. The market is a coalition market of four labs
that book their blocks as they start, so that what is true changes from round to round.
Opponents' chance is the same at one seed, whatever lab_0 does: compare in pairs.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import inf, log, sqrt
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from env import arena

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
ADVERSARIAL = ("plain", "bluff", "keyword_list", "constant", "injection")
CONTROL = "cycle"


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


def open_market(seed: int) -> arena.State:
    """The market of `seed` before its first pitch."""
    return MARKET.reset(_stream(seed, ROUNDS, 0))


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


def _stream(seed: int, now: int, party: int) -> Rng:
    return np.random.default_rng([seed, now, party])


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
