"""The planner of the GPU arena: it plans its jobs exactly and trades by marginal value.

It values a trade, a bid or a coalition by the change of its best plan (`arena.trade_gain`), so it
never pays more than a block brings. It chooses a bid as a first-price buyer who does not know the
seller's reservation price (Chatterjee and Samuelson, 1983): gain against the chance of a refusal.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import sqrt

import numpy as np

from env import arena


@dataclass(frozen=True)
class Planner:
    """Plans first, then trades. The settings were chosen on training seeds."""

    least_gain: float = 1.0  # credits: least gain of a trade
    usual_limit: float = 6.0  # credits for which half of the sellers would give a spare block
    raise_by: float = 0.6  # share by which a bid rises after each failure
    ask_an_hour: float = 3.0  # credits: first ask for a spare hour
    lower_by: float = 0.35  # share by which an ask falls after each failure
    least_ask: float = 2.0  # credits
    markup: float = 2.0  # factor on a bid for its own blocks in a counter-offer
    least_haggle: float = 4.0  # credits: least bid that gets a counter-offer
    energy_reserve: float = 25.0  # credits kept for energy

    def __call__(self, obs: arena.Observation, rng: np.random.Generator) -> arena.Action:
        plan = arena.own_plan(obs)
        spare = arena.spare_blocks(obs, plan)
        return (
            _urgent_booking(obs, plan)
            or self._take(obs)
            or self._draw_from_pool(obs, plan, spare)
            or self._bid(obs, plan)
            or _book(plan)
            or self._propose(obs, plan)
            or self._sell(obs, spare)
            or self._share(obs, spare)
            or arena.Action("wait")
        )

    def _take(self, obs: arena.Observation) -> arena.Action | None:
        """Accepts or counters the best incoming offer, whether or not its open bids succeed."""
        gains = [(self._brings(obs, o), o) for o in obs.incoming if o.ask <= self._purse(obs)]
        brings, offer = max(gains, key=lambda pair: pair[0], default=(0.0, None))
        if brings < self.least_gain:
            return None
        return self._haggle(obs, offer) or arena.Action("accept_offer", offer_id=offer.offer_id)

    def _haggle(self, obs: arena.Observation, offer: arena.Offer) -> arena.Action | None:
        """Asks more for its own blocks: a first bid is rarely the bidder's limit."""
        firm = offer.linked_offer_id or offer.offered_blocks or offer.payment < self.least_haggle
        if firm or obs.market.round_index + 2 >= obs.market.max_rounds:
            return None
        ask = round(offer.payment * self.markup, 2)
        return arena.Action(
            "counter_offer",
            offer_id=offer.offer_id,
            block_ids=offer.requested_blocks,
            message="Worth more to both of us.",
            conditions=(("ask", ask),),
        )

    def _brings(self, obs: arena.Observation, offer: arena.Offer) -> float:
        brings, requested = arena.offer_gain(obs, offer), _requested_blocks(obs)
        if not requested or not offer.offered_blocks:
            return brings
        both = arena.trade_gain(
            obs, offer.requested_blocks, (*requested, *offer.offered_blocks), 0.0
        )
        return min(
            brings, both - arena.trade_gain(obs, (), requested, 0.0) + offer.payment - offer.ask
        )

    def _draw_from_pool(
        self, obs: arena.Observation, plan: arena.Plan, spare: list[arena.Block]
    ) -> arena.Action | None:
        """Books a partner's pooled blocks for a job that the plan leaves out."""
        part = arena.pooled_part(obs, plan, spare)
        return _booking(part) if part and part.gain > self.least_gain else None

    def _bid(self, obs: arena.Observation, plan: arena.Plan) -> arena.Action | None:
        """Bids for the blocks of another lab with the highest expected gain."""
        requested = _requested_blocks(
            obs
        )  # open bids may succeed, so only a gain on top of them counts
        hoped = arena.trade_gain(obs, (), requested, 0.0) if requested else 0.0
        best, chosen = self.least_gain, None
        for blocks in wanted_sets(obs):
            ids = tuple(block.block_id for block in blocks)
            if not set(requested).isdisjoint(ids):
                continue
            adds = arena.trade_gain(obs, (), (*requested, *ids), 0.0) - hoped
            if adds <= self.least_gain:
                continue
            bid = self._bid_for(adds, max(_tries(obs, b, "requested_blocks") for b in ids))
            bid = round(min(bid, adds - self.least_gain, self._purse(obs)), 2)
            hope = (adds - bid) * bid / (bid + self.usual_limit * len(ids))
            if bid > 0 and hope > best:
                best, chosen = hope, (blocks[0].owner_lab_id, ids, bid)
        if chosen is None:
            return None
        owner, ids, bid = chosen
        return arena.Action(
            "send_offer",
            target_lab_id=owner,
            requested_block_ids=ids,
            payment=bid,
            message="A fair price for what you may not need.",
        )

    def _purse(self, obs: arena.Observation) -> float:
        """Credits that no open offer promises and that are not kept for energy."""
        promised = sum(offer.payment for offer in obs.outgoing)
        return obs.own.budget - promised - self.energy_reserve

    def _bid_for(self, adds: float, tried: int) -> float:
        """The bid that maximises gain times the chance bid / (bid + usual_limit) of acceptance."""
        limit = self.usual_limit
        return (sqrt(limit * limit + limit * adds) - limit) * (1 + self.raise_by * tried)

    def _propose(self, obs: arena.Observation, plan: arena.Plan) -> arena.Action | None:
        """Proposes a coalition to the most reputable lab with low demand."""
        market = obs.market
        if not (market.coalitions_allowed and arena.unplanned_jobs(obs, plan)):
            return None
        pools = market.coalitions.values()
        met = {lab for c in pools if obs.agent in c.members for lab in c.members}
        able = [lab for lab in obs.others if lab.lab_id not in met and lab.public_demand != "high"]
        if not able:
            return None
        best = max(able, key=lambda lab: (lab.public_demand == "low", lab.reputation))
        return arena.Action(
            "form_coalition", target_lab_id=best.lab_id, message="Let us share what we can spare."
        )

    def _sell(self, obs: arena.Observation, spare: list[arena.Block]) -> arena.Action | None:
        """Offers the largest spare block to the lab with the highest demand."""
        market = obs.market
        offered = {b for offer in obs.outgoing for b in offer.offered_blocks}
        idle = [block for block in spare if block.block_id not in offered]
        buyers = [lab for lab in obs.others if lab.public_budget_band != "low"]
        if not (idle and buyers):
            return None
        left = {b: arena.live_hours(b, market.round_index, market.max_rounds) for b in idle}
        block = max(idle, key=left.__getitem__)
        order = ("high", "medium", "low")
        offered_before = [
            _tries(obs, block.block_id, "offered_blocks", lab.lab_id) for lab in buyers
        ]
        ranked = [
            (tries, order.index(lab.public_demand), index)
            for index, (lab, tries) in enumerate(zip(buyers, offered_before, strict=True))
        ]
        buyer = buyers[min(ranked)[2]]
        lowered = (1 - self.lower_by) ** sum(offered_before)
        ask = max(self.least_ask, round(self.ask_an_hour * left[block] * lowered, 2))
        return arena.Action(
            "send_offer",
            target_lab_id=buyer.lab_id,
            block_ids=(block.block_id,),
            message="A spare block at a fair price.",
            conditions=(("ask", ask),),
        )

    def _share(self, obs: arena.Observation, spare: list[arena.Block]) -> arena.Action | None:
        """Consents to a proposed coalition, and commits spare blocks that nobody bought."""
        if spare and obs.proposals:
            name = obs.proposals[0].coalition_id
            return arena.Action("commit_to_coalition", coalition_id=name)
        offered = {b for offer in obs.outgoing for b in offer.offered_blocks}
        unsold = tuple(
            b.block_id
            for b in spare
            if b.block_id not in offered and _tries(obs, b.block_id, "offered_blocks") > 1
        )
        if unsold and obs.coalitions:
            name = obs.coalitions[0].coalition_id
            return arena.Action("commit_to_coalition", coalition_id=name, block_ids=unsold)
        return None


planner = Planner()


def wanted_sets(obs: arena.Observation) -> Iterator[tuple[arena.Block, ...]]:
    """Every block of another lab that could serve an open job, and every pair of one lab."""
    market, jobs = obs.market, obs.open_jobs
    if not jobs:
        return
    floor = min(job.min_reliability for job in jobs)
    for lab in obs.others:
        able = [
            block
            for block in market.blocks.values()
            if block.owner_lab_id == lab.lab_id
            and block.status in ("available", "committed")
            and block.reliability >= floor
            and arena.live_hours(block, market.round_index, market.max_rounds)
        ]
        yield from ((block,) for block in able)
        yield from combinations(able, 2)


def _requested_blocks(obs: arena.Observation) -> tuple[str, ...]:
    """The blocks that its own active offers request."""
    return tuple(b for offer in obs.outgoing for b in offer.requested_blocks)


def _tries(obs: arena.Observation, block_id: str, side: str, lab: str | None = None) -> int:
    """How many of its closed offers held the block on that `side`, to `lab` or to anyone."""
    return sum(
        block_id in getattr(offer, side)
        for offer in obs.market.closed.values()
        if offer.from_lab_id == obs.agent and lab in (None, offer.to_lab_id)
    )


def _urgent_booking(obs: arena.Observation, plan: arena.Plan) -> arena.Action | None:
    """The most urgent booking, if the turns left in the round just suffice for all urgent ones."""
    losses = [(arena.loss_by_delay(obs, part), part) for part in plan.parts]
    urgent = [pair for pair in losses if pair[0] > 0.01]
    turns = obs.market.queue.count(obs.agent)
    return _booking(max(urgent)[1]) if urgent and len(urgent) >= turns else None


def _book(plan: arena.Plan) -> arena.Action | None:
    return _booking(max(plan.parts, key=lambda part: part.gain)) if plan.parts else None


def _booking(part: arena.Part) -> arena.Action:
    return arena.Action("allocate_to_job", job_id=part.job_id, block_ids=part.block_ids)
