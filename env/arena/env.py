"""The environment of the GPU arena: the order of turns, applying an action, closing a round.

In a round every lab acts at most twice: all labs once in the order of their seats, then all again.
A lab that waits is done for the round; a lab that finishes is done for good. When nobody is left to
act, the round closes: its GPU-hours expire, offers and holds may lapse, a shock may strike. The
market closes for good once the learner has left, as in the published game.

An action that the rules refuse returns a code and uses up the turn; nothing else changes. The three
tasks stand at the end.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ..core import EndReason, IllegalAction, Task
from . import rules
from .actions import Action, Malformed, action_fault
from .labs import opening_offer, scripted_lab
from .rules import Draft, Refused, advance_round, apply_shock, settle, settlement
from .types import Observation, Result, State
from .world import Size, draw_world, with_public_bands

SEATS = ("lab_0", "lab_1", "lab_2", "lab_3", "lab_4")
LEARNER = "lab_0"
ACTIONS_PER_ROUND = 2  # for every lab alike


def finish(draft: Draft, agent: str, action: Action) -> tuple[str, str]:
    """Leaves the market: closes the lab's offers and, without a breach, its coalitions."""
    draft.labs = {**draft.labs, agent: draft.labs[agent]._replace(finished=True)}
    for coalition in tuple(draft.coalitions.values()):
        if agent in coalition.members and not coalition.ended:
            draft.close_coalition(coalition, coalition.breach_status)
    draft.void_offers()
    return "finished", "you have left the market"


RULES: Mapping[str, Callable[[Draft, str, Action], tuple[str, str]]] = {
    "send_offer": rules.send_offer,
    "accept_offer": rules.accept_offer,
    "reject_offer": rules.reject_offer,
    "counter_offer": rules.counter_offer,
    "make_pitch": rules.pitch,
    "counter_pitch": rules.pitch,
    "reserve_capacity": rules.reserve_capacity,
    "release_capacity": rules.release_capacity,
    "form_coalition": rules.form_coalition,
    "commit_to_coalition": rules.commit_to_coalition,
    "allocate_to_job": rules.allocate_to_job,
    "send_message": rules.send_message,
    "finish": finish,
}


@dataclass(frozen=True)
class GpuBudgetNegotiationEnv:
    """The rules of a market of one `size`. Holds settings only."""

    name: str
    size: Size

    @property
    def agents(self) -> tuple[str, ...]:
        """The seats; in a smaller market the last ones stay empty and never act."""
        return SEATS[: max(self.size.labs)]

    def reset(self, rng: np.random.Generator) -> State:
        state = draw_world(self.name, self.size, self.agents, rng)
        opened = open_round(state)
        return make_opening_offers(opened) if self.size.opening_offers else opened

    def to_act(self, state: State) -> str | None:
        queue = state.market.queue
        return queue[0] if queue else None

    def observe(self, state: State, agent: str) -> Observation:
        return state.seen_by(agent)

    def step(self, state: State, action: Action | Malformed) -> State:
        """The state after the next lab's action.

        Raises IllegalAction after the end, or if `action` is no Action or Malformed.
        """
        return close_if_done(act(state, action))

    def end(self, state: State) -> EndReason | None:
        """WALKAWAY if the learner has left, DEADLINE if the rounds are over, None before."""
        if state.market.queue:
            return None
        left = state.market.labs[LEARNER].finished
        return EndReason.WALKAWAY if left else EndReason.DEADLINE

    def payoffs(self, state: State) -> dict[str, float]:
        """Each lab's utility so far less its BATNA, in credits; 0 for an empty seat."""
        owns = {agent: state.private[agent] for agent in self.agents}
        return {a: round(lab.utility - lab.batna, 2) if lab else 0.0 for a, lab in owns.items()}


def make_opening_offers(state: State) -> State:
    """The state after each other lab made the learner one offer, if it has one to make."""
    draft = Draft(state)
    for lab in state.market.labs:
        if lab != LEARNER and (offer := opening_offer(state.seen_by(lab), LEARNER)):
            rules.send_offer(draft, lab, offer)
    return draft.state()


def act(state: State, action: Action | Malformed) -> State:
    """The state after the next lab's action, without closing the round.

    Raises IllegalAction after the end, or if `action` is no Action or Malformed.
    """
    queue = state.market.queue
    if not queue:
        raise IllegalAction("this market is over; no action is left to take")
    if isinstance(action, Action):
        reason = action_fault(action)
    elif isinstance(action, Malformed):
        reason = action.reason
    else:
        raise IllegalAction(f"expected an Action or Malformed, got {type(action).__name__}")
    agent, rest = queue[0], queue[1:]
    if reason:
        return _end_turn(state, rest, Result(False, "malformed_action", reason))
    if action.action_type == "wait":
        rest = tuple([lab for lab in rest if lab != agent])
        result = Result(True, "waited", "nothing more in this round")
        return _end_turn(state, rest, result, action)
    draft = Draft(state)
    try:
        code, words = RULES[action.action_type](draft, agent, action)
    except Refused as refusal:
        return _end_turn(state, rest, Result(False, refusal.code, refusal.message), action)
    former = draft.private[agent]
    results = (Result(True, code, words),)
    if code == "finished":
        rest = () if agent == LEARNER else tuple([lab for lab in rest if lab != agent])
        results += (settlement(former),)
    draft.private[agent] = former._replace(results=results, recent=(*former.recent[-2:], action))
    return draft.state(rest)


def _end_turn(
    state: State, rest: tuple[str, ...], result: Result, action: Action | None = None
) -> State:
    """The state after a turn that changed nothing but its lab's last result and actions."""
    agent = state.market.queue[0]
    lab = state.private[agent]
    recent = lab.recent if action is None else (*lab.recent[-2:], action)
    private = {**state.private, agent: lab._replace(results=(result,), recent=recent)}
    return State(state.market._replace(queue=rest), private)


def close_if_done(state: State) -> State:
    """The state as the next round opens, or settled, if no lab is left to act in this one."""
    if state.market.queue:
        return state
    if not state.market.labs[LEARNER].finished:
        return open_round(apply_shock(advance_round(state)))
    draft = Draft(state)
    settle(draft)
    return draft.state()


def open_round(state: State) -> State:
    """The state with its public bands up to date and the queue of its round's turns.

    The queue is empty once the rounds are over.
    """
    market, private = state.market, state.private
    over = market.round_index >= market.max_rounds
    present = () if over else tuple([lab for lab in market.labs if not market.labs[lab].finished])
    return State(with_public_bands(market, private, present * ACTIONS_PER_ROUND), private)


# The three tasks of the arena and the learner's grade.

SIZES = {
    "arena/single_trade": Size((2,), 3, blocks=2, jobs=1, coalitions=False),
    "arena/market_round": Size(
        (3,),
        5,
        blocks=3,
        jobs=2,
        shocks=((1, ("capacity_failure",)), (2, ("energy_spike", "reliability_degradation"))),
        opening_offers=True,
    ),
    "arena/coalition_market": Size(
        (4, 5),
        9,
        blocks=4,
        jobs=3,
        shocks=(
            (2, ("energy_spike", "reliability_degradation")),
            (4, ("demand_surge",)),
            (6, ("capacity_failure",)),
        ),
        joint=1,
        opening_offers=True,
    ),
}
ABOUT = (
    "Two labs, three rounds, one job each: trade a block, or make do.",
    "Three labs, five rounds, two jobs each; shocks, the first in round 1.",
    "Four or five labs, nine rounds, three jobs each, one of which needs a partner; three shocks.",
)


def grade(state: State) -> float:
    """The learner's surplus over its BATNA as a share of the full value of its first jobs.

    0 is what the lab could earn alone. 1 is every job done at no cost by a lab that could do
    nothing alone. Clipped to [-1, 1].
    """
    lab = state.private[LEARNER]
    return max(-1.0, min(1.0, (lab.utility - lab.batna) / lab.stake))


def _task(name: str, about: str) -> Task:
    env = GpuBudgetNegotiationEnv(name, SIZES[name])
    opponents = dict.fromkeys([seat for seat in env.agents if seat != LEARNER], scripted_lab)
    return Task(name, env, LEARNER, opponents, grade, success=0.0, about=about)


TASKS = tuple(map(_task, SIZES, ABOUT))
