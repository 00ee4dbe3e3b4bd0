"""Scripted contestants for the GPU arena, each with its source, and the arena's yardsticks.

`wait`, `always_accept`, `greedy_hoarder`, `naive_plea` and `rule_based_expert` follow the policies
of these names in the published game; `random` is random, unlike the published one. `autarky` is
ours: it earns the BATNA, which is grade 0.

The yardsticks are all gains from trade in a world, and a trader that sees all. Trades move credits
from lab to lab, so all utilities add up to the job value less the energy. What the best joint plan
adds to the labs' BATNAs is all that trading can bring, found by integer programming. Of the shocks
the program knows those that help (the jobs of a demand surge) and ignores those that hurt
(failures, dearer energy). The all-seeing trader knows every lab's private values and asks the price
that it will just pay.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from env import Episode, Task, advance, arena, begin, episode, move, next_stream
from env.arena.broker import WORDS, Broker, Option, offer_to, when_taken

if TYPE_CHECKING:
    from scipy.optimize import LinearConstraint

Rng = np.random.Generator

# Settings of the published expert.
EXPERT_TOLERANCE = 0.95  # least hours received for each hour given
CREDITS_AN_HOUR = 10.0  # its price of an hour
LEAST_REPUTATION = 0.45  # of a coalition partner
PLEA = "We need more GPU time, please help."


def wait(obs: arena.Observation, rng: Rng) -> arena.Action:
    """Does nothing at all."""
    return arena.Action("wait")


def autarky(obs: arena.Observation, rng: Rng) -> arena.Action:
    """Books its own best plan as fast as it can, never trades, and leaves once the plan is booked.

    It earns its BATNA, so its grade is 0: the plan is booked before the first shock, and a lab that
    has left gets no job in a demand surge. The one exception is a plan with three jobs to book in
    the first round, which allows two actions: there the grade is below 0.
    """
    parts = arena.own_plan(obs).parts
    if not parts:
        return arena.Action("finish")
    return max(parts, key=lambda part: (arena.loss_by_delay(obs, part), part.gain)).booking


def random(obs: arena.Observation, rng: Rng) -> arena.Action:
    """A random type of action, then a random one of its legal choices."""
    kinds: dict[str, list[arena.Action]] = {}
    for action in arena.legal_actions(obs):
        kinds.setdefault(action.action_type, []).append(action)
    choices = kinds[list(kinds)[int(rng.integers(len(kinds)))]]
    return choices[int(rng.integers(len(choices)))]


def greedy_hoarder(obs: arena.Observation, rng: Rng) -> arena.Action:
    """Books all usable blocks for the first job that has any, never trades, then leaves.

    The published policy does not count hours, so the rules may refuse its bookings.
    """
    return _hoard(obs, _live_blocks(obs))


def always_accept(obs: arena.Observation, rng: Rng) -> arena.Action:
    """Accepts the first offer, whatever its terms; else plays `greedy_hoarder`."""
    for offer in obs.incoming:
        return arena.Action("accept_offer", offer_id=offer.offer_id)
    return greedy_hoarder(obs, rng)


def naive_plea(obs: arena.Observation, rng: Rng) -> arena.Action:
    """Accepts an offer that says "urgent"; else pleads with the first other lab."""
    incoming = obs.incoming
    if incoming and "urgent" in incoming[0].message.lower():
        return arena.Action("accept_offer", offer_id=incoming[0].offer_id)
    if others := obs.others:
        return arena.Action("send_message", others[0].lab_id, message=PLEA)
    return arena.Action("wait")


def rule_based_expert(obs: arena.Observation, rng: Rng) -> arena.Action:
    """The published expert: answers offers by hours, books, pools, swaps, else hoards."""
    answer = _answer(obs)
    if answer is not None:
        return answer
    live = _live_blocks(obs)
    free = [block for block in live if block.status in arena.FREE]
    return (
        _book_what_suffices(obs, live) or _pool(obs, free) or _swap(obs, free) or _hoard(obs, live)
    )


def _answer(obs: arena.Observation) -> arena.Action | None:
    blocks = obs.market.blocks
    for offer in obs.incoming:
        given = [blocks[block_id] for block_id in offer.requested_blocks]
        received = [blocks[block_id] for block_id in offer.offered_blocks]
        if any(b.owner_lab_id != obs.agent or b.status not in arena.LIVE for b in given) or any(
            b.status not in arena.LIVE for b in received
        ):
            return arena.Action("reject_offer", offer_id=offer.offer_id)
        credits = (offer.payment - offer.ask) / CREDITS_AN_HOUR
        if _sure_hours(received) + credits >= EXPERT_TOLERANCE * _sure_hours(given):
            return arena.Action("accept_offer", offer_id=offer.offer_id)
    return None


def _book_what_suffices(obs: arena.Observation, live: list[arena.Block]) -> arena.Action | None:
    for job in sorted(obs.open_jobs, key=lambda job: (job.deadline_round, -job.base_value)):
        usable = _usable(live, job)
        if usable and _sure_hours(usable) >= job.gpu_hours_required:
            return _booking(job, usable)
    return None


def _pool(obs: arena.Observation, free: list[arena.Block]) -> arena.Action | None:
    """Commits its first block to its first coalition, or proposes one to the most reputable lab."""
    if not obs.market.coalitions_allowed:
        return None
    if coalitions := obs.coalitions:
        if not free:
            return None
        name = coalitions[0].coalition_id
        return arena.Action("commit_to_coalition", coalition_id=name, block_ids=(free[0].block_id,))
    has_proposed = any(obs.agent in c.members for c in obs.market.coalitions.values())
    best = max(obs.others, key=lambda lab: lab.reputation, default=None)
    if has_proposed or best is None or best.reputation < LEAST_REPUTATION:
        return None
    words = "Shared capacity serves both of us."
    return arena.Action("form_coalition", target_lab_id=best.lab_id, message=words)


def _swap(obs: arena.Observation, free: list[arena.Block]) -> arena.Action | None:
    """Offers its first free block and a little money for a block of the lab with most demand."""
    if not free or obs.outgoing:
        return None
    requestable: dict[str, arena.Block] = {}  # the first of each lab
    for block in obs.market.blocks.values():
        if block.status in ("available", "committed"):
            requestable.setdefault(block.owner_lab_id, block)
    others = [lab for lab in obs.others if lab.lab_id in requestable]
    if not others:
        return None
    lab = max(others, key=lambda lab: (lab.public_demand == "high", lab.reputation))
    return arena.Action(
        "send_offer",
        target_lab_id=lab.lab_id,
        block_ids=(free[0].block_id,),
        requested_block_ids=(requestable[lab.lab_id].block_id,),
        payment=min(4.0 if obs.market.max_rounds == 9 else 2.0, obs.own.budget),
        message="A fair swap for both sides.",
    )


def _hoard(obs: arena.Observation, live: list[arena.Block]) -> arena.Action:
    for job in obs.open_jobs:
        usable = _usable(live, job)
        if usable:
            return _booking(job, usable)
    return arena.Action("finish")


def _live_blocks(obs: arena.Observation) -> list[arena.Block]:
    return [block for block in obs.owned_blocks if block.status in arena.LIVE]


def _usable(live: list[arena.Block], job: arena.Job) -> list[arena.Block]:
    """The blocks that are reliable enough for the job.

    None for a joint job: the published game has none, and booking it alone is always refused.
    """
    if job.joint:
        return []
    return [block for block in live if block.reliability >= job.min_reliability]


def _sure_hours(blocks: list[arena.Block]) -> float:
    """GPU-hours weighted by reliability. As published, it ignores when the hours are."""
    return sum([b.duration * b.gpu_count * b.reliability for b in blocks])


def _booking(job: arena.Job, blocks: list[arena.Block]) -> arena.Action:
    ids = tuple(block.block_id for block in blocks)
    return arena.Action("allocate_to_job", job_id=job.job_id, block_ids=ids)


# The yardsticks.


class Bound(NamedTuple):
    """An upper bound on utility."""

    utility: float  # credits
    solved: bool  # whether the program was solved to optimality


def gains_from_trade(state: arena.State, seconds: float = inf) -> Bound:
    """An upper bound on what all labs together can gain by trading, from the first state.

    `seconds` limits the solver.
    """
    nature, horizon = state.private["nature"], state.market.max_rounds
    alone = sum(arena.batna_in_surge(nature, lab, horizon) for lab in state.market.labs)
    best = joint_optimum(state, seconds)
    return Bound(round(max(0.0, best.utility - alone), 2), best.solved)


def joint_optimum(state: arena.State, seconds: float = inf) -> Bound:
    """An upper bound on the joint utility of all labs, those of a demand surge's jobs included.

    A mixed-integer program: a zero-one variable says that a block serves a job, another that the
    job is done; hours on time and late are filled up to what the job requires. If the solver runs
    out of `seconds`, the bound that it has proved so far is returned, which holds all the same.
    """
    from scipy.optimize import Bounds, milp  # slow to import, and rarely needed

    jobs = [job for lab in state.market.labs for job in state.private[lab].jobs]
    jobs += state.private["nature"].surge.values()
    blocks = list(state.market.blocks.values())
    pairs = _pairs(blocks, jobs, state.market.max_rounds)
    count, size = len(pairs), len(jobs)
    hours = np.array([float(job.gpu_hours_required) for job in jobs])
    solution = milp(
        _cost(blocks, jobs, pairs),
        constraints=_constraints(blocks, jobs, pairs),
        integrality=np.concatenate([np.ones(count + size), np.zeros(2 * size)]),
        bounds=Bounds(
            np.zeros(count + 3 * size), np.concatenate([np.ones(count + size), hours, hours])
        ),
        options={"time_limit": seconds},
    )
    if solution.status == 0:
        return Bound(-solution.fun, True)
    return Bound(-solution.mip_dual_bound, False)


class _Pair(NamedTuple):
    """A block that can serve a job, both by index, and the GPU-hours that it adds."""

    block: int
    job: int
    on_time: int
    late: int


def _pairs(blocks: list[arena.Block], jobs: list[arena.Job], horizon: int) -> list[_Pair]:
    """Every block with every job that it is reliable enough for and has hours for."""
    pairs = []
    for b, block in enumerate(blocks):
        for j, job in enumerate(jobs):
            on_time, late = arena.hours(block, job, 0, horizon)
            if block.reliability >= job.min_reliability - 1e-9 and on_time + late:
                pairs.append(_Pair(b, j, on_time, late))
    return pairs


def _columns(pairs: list[_Pair], size: int, job: int) -> tuple[int, int, int]:
    """The columns of a job's variables: done, hours on time, hours late. The pairs come first."""
    return tuple(len(pairs) + part * size + job for part in range(3))


def _cost(blocks: list[arena.Block], jobs: list[arena.Job], pairs: list[_Pair]) -> np.ndarray:
    """Energy of the blocks less the value of the hours, shape (variables,); to be minimised."""
    cost = np.zeros(len(pairs) + 3 * len(jobs))
    for index, pair in enumerate(pairs):
        cost[index] = blocks[pair.block].energy_cost
    for j, job in enumerate(jobs):
        _, on_time, late = _columns(pairs, len(jobs), j)
        rate = job.full_value / job.gpu_hours_required
        cost[on_time], cost[late] = -rate, -arena.LATE * rate
    return cost


def _constraints(
    blocks: list[arena.Block], jobs: list[arena.Job], pairs: list[_Pair]
) -> "LinearConstraint":
    """A block serves one job; hours come from its blocks; a job without partial credit is whole.

    A joint job takes two blocks at least.
    """
    from scipy.optimize import LinearConstraint

    rows, lows, highs = [], [], []

    def limit(entries: dict[int, float], low: float, high: float) -> None:
        row = np.zeros(len(pairs) + 3 * len(jobs))
        for index, weight in entries.items():
            row[index] = weight
        rows.append(row)
        lows.append(low)
        highs.append(high)

    for b in range(len(blocks)):
        limit({i: 1.0 for i, pair in enumerate(pairs) if pair.block == b}, 0, 1)
    for j, job in enumerate(jobs):
        done, on_time, late = _columns(pairs, len(jobs), j)
        serving = [(i, pair) for i, pair in enumerate(pairs) if pair.job == j]
        limit({on_time: 1.0, **{i: -float(pair.on_time) for i, pair in serving}}, -np.inf, 0)
        limit({late: 1.0, **{i: -float(pair.late) for i, pair in serving}}, -np.inf, 0)
        if job.joint:
            limit({done: -2.0, **{i: 1.0 for i, _ in serving}}, 0, np.inf)
        low = -np.inf if job.partial_credit_allowed else 0.0
        limit({on_time: 1.0, late: 1.0, done: -float(job.gpu_hours_required)}, low, 0)
    return LinearConstraint(np.array(rows), lows, highs)


def play_all_seeing(task: Task, seed: int) -> Episode:
    """The game of `seed` with the all-seeing trader in the learner's seat."""
    play = advance(task, task.opponents, begin(task, seed))
    while task.env.to_act(play.state) is not None:
        obs = task.env.observe(play.state, task.learner)
        action = AllSeeing(state=play.state)(obs, next_stream(task, play, task.learner))
        play = advance(task, task.opponents, move(task, play, action))
    return episode(task, play)


@dataclass(frozen=True)
class AllSeeing(Broker):
    """The broker with every lab's private values in `state`; it makes the best trade at once."""

    state: arena.State | None = None

    def belief(self, obs: arena.Observation, lab: str) -> dict[str, float]:
        true = self.state.private[lab].archetype
        return {kind: float(kind == true) for kind in arena.ARCHETYPES}

    def _take(self, obs: arena.Observation) -> Iterator[Option]:
        deals = list(self._deals(obs))
        for offer in obs.incoming:
            if offer.ask <= obs.own.budget:
                action = arena.Action("accept_offer", offer_id=offer.offer_id)
                deals.append(Option("accept", action, self._brings(obs, offer)))
        best = max(deals, key=lambda deal: deal.gain, default=None)
        if best and best.gain >= 1:
            yield best

    def _buy(self, obs: arena.Observation, spare: list[arena.Block]) -> Iterator[Option]:
        """Its trades are made in `_take`."""
        yield from ()

    _sell = _buy

    def _deals(self, obs: arena.Observation) -> Iterator[Option]:
        """Trades of at most two blocks for at most two, each at the price that is just taken."""
        market, then, live = obs.market, when_taken(obs), arena.free_blocks(obs)
        for lab in obs.others:
            seller = self.state.seen_by(lab.lab_id)
            blocks = [b for b in market.blocks.values() if b.owner_lab_id == lab.lab_id]
            theirs = [block for block in blocks if arena.is_requestable(block)]
            purse = seller.own.budget - arena.ENERGY_RESERVE
            for wanted in _sets(theirs):
                signal = self._best_signal(self.belief(obs, lab.lab_id))
                least = arena.margin(seller, obs.agent)
                least += arena.held_out(market, seller.own.archetype, obs.agent, wanted, signal)
                for given in _sets(live):
                    if not (wanted or given):
                        continue
                    mine = arena.trade_gain(then, given, wanted, 0.0)
                    price = round(least - arena.trade_gain(seller, wanted, given, 0.0) + 0.01, 2)
                    if price > obs.own.budget or -price > purse or mine - price < 1:
                        continue
                    action = offer_to(lab.lab_id, given, wanted, price, WORDS[signal])
                    yield Option("buy", action, mine - price)


def _sets(blocks: list[arena.Block]) -> Iterator[tuple[str, ...]]:
    for count in range(3):
        for chosen in combinations(blocks, count):
            yield tuple(block.block_id for block in chosen)
