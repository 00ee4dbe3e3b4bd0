"""The broker of the GPU arena: it plans its jobs exactly, and trades by what others will take.

It values a trade by the change of its best plan (`arena.trade_gain`). What a seller will take it
estimates from the five archetypes, weighed by what each lab has said, asked and refused, and bids
as a first-price buyer who does not know the seller's reservation price (Chatterjee and Samuelson,
1983): gain against the chance of a refusal, less what a later bid would bring. Each offer carries
the words that lower the seller's price most.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import exp, inf
from typing import NamedTuple

import numpy as np

from .. import arena

WORDS: Mapping[str, str] = {  # by the signal that labs read in them
    "neutral": "You have no use for it, we do.",
    "urgency": "This is urgent for us.",
    "fairness": "A fair price for what you may not need.",
    "coalition": "Let us be partners.",
    "threat": "We never pay more than this.",
}
PURSES = {"low": 20.0, "medium": 50.0, "high": 90.0}  # credits that a lab of that budget can pay
GRID = tuple((2 * k + 1) / 20 for k in range(10))  # of a uniform number
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)  # of the gain, that it offers to partners
JITTER = 1.0  # credits: the mean of what chance adds to a lab's price
TURN_WORTH = 6.0  # credits: the least expected loss that is worth a turn to hedge
SURGE_JOB = (3, 65.0, 1.2, 0.8)  # hours, value, urgency, reliability that it expects of a surge
MOST_BIDS = 6  # for blocks of other labs that are options


class Option(NamedTuple):
    """Something a lab may do: its verb, the action, and what it brings in credits if all agree."""

    verb: str  # one of VERBS
    action: arena.Action
    gain: float = 0.0
    loss: float = 0.0  # credits that a booking loses by waiting a round


VERBS = (
    "book", "reserve", "withdraw", "counter", "accept", "partner", "buy", "sell",
)  # fmt: skip


@dataclass(frozen=True)
class Broker:
    """Plans first, then trades. The settings were chosen on training seeds."""

    speaks: bool = True
    least_gain: float = 2.0  # credits: least gain of a trade
    idle: float = 0.7  # probability that a block of another lab is idle to it
    worth: float = 40.0  # credits: the most that a block seems worth to its owner
    swap_worth: float = 60.0  # credits: the most that a block it gives seems worth to who gets it
    second_worth: float = 1.25  # factor on it if it gives two
    most_told: float = 90.0  # credits: the most that a bid tells of the worth of a block
    spare_price: float = 8.0  # credits: of a block that it gives to itself
    patience: float = 0.4  # weight of what a later bid would bring
    ask_an_hour: float = 8.0  # credits: first ask for a spare hour
    lower_by: float = 0.35  # share by which an ask falls after each failure
    energy_reserve: float = 15.0  # credits kept for energy

    def __call__(self, obs: arena.Observation, rng: np.random.Generator) -> arena.Action:
        return next((option.action for option in self.options(obs)), arena.Action("wait"))

    def options(self, obs: arena.Observation) -> Iterator[Option]:
        """What it may do now, in its order of preference; an action can occur twice."""
        plan, then = _affordable_plan(obs), foresee(obs)
        spare = _to_trade(then, _affordable_plan(then))
        yield from _urgent_booking(obs, plan)
        yield from _hedge(obs, plan)
        yield from self._withdraw(then)
        yield from self._take(then)
        yield from self._use_pool(obs, plan, joint=True)
        yield from self._partner(obs, plan, joint=True)
        yield from self._buy(then, spare)
        yield from self._use_pool(obs, plan)
        yield from self._partner(obs, plan)
        yield from _book_now(obs, plan)
        yield from self._sell(obs, spare)
        yield from (_booking(obs, part) for part in sorted(plan.parts, key=lambda part: -part.gain))

    def _withdraw(self, obs: arena.Observation) -> Iterator[Option]:
        """Withdraws a bid for blocks that would no longer be worth it once the bid is taken."""
        then = when_taken(obs)
        for offer in obs.outgoing:
            lost = offer.payment - arena.trade_gain(then, (), offer.requested_blocks, 0.0)
            if lost > 0:
                action = arena.Action("reject_offer", offer_id=offer.offer_id)
                yield Option("withdraw", action, lost)

    def belief(self, obs: arena.Observation, lab: str) -> Mapping[str, float]:
        """The probability of each archetype of `lab`."""
        return belief(obs, lab)

    def _take(self, obs: arena.Observation) -> Iterator[Option]:
        """Counters or accepts the incoming offers, the best first."""
        gains = [(self._brings(obs, o), o) for o in obs.incoming if o.ask <= self._purse(obs)]
        for brings, offer in sorted(gains, key=lambda pair: -pair[0]):
            if brings < self.least_gain:
                return
            yield from self._haggle(obs, offer, brings)
            action = arena.Action("accept_offer", offer_id=offer.offer_id)
            yield Option("accept", action, brings)

    def _brings(self, obs: arena.Observation, offer: arena.Offer) -> float:
        """The gain of accepting `offer`, its own open bids accepted and not."""
        obs = when_taken(obs)
        brings, requested = arena.offer_gain(obs, offer), _requested_blocks(obs)
        if not requested or not offer.offered_blocks:
            return brings
        both = arena.trade_gain(
            obs, offer.requested_blocks, (*requested, *offer.offered_blocks), 0.0
        )
        return min(
            brings, both - arena.trade_gain(obs, (), requested, 0.0) + offer.payment - offer.ask
        )

    def _haggle(
        self, obs: arena.Observation, offer: arena.Offer, brings: float
    ) -> Iterator[Option]:
        """Asks for more of what a block is worth to the bidder, of which a bid is a share."""
        left = obs.market.max_rounds - obs.market.round_index - 1
        if offer.linked_offer_id or offer.offered_blocks or left < 2:
            return
        beliefs = self.belief(obs, offer.from_lab_id)
        asks = {
            kind: offer.payment / arena.CHARACTERS[kind].bid - arena.CHARACTERS[kind].margin - 2
            for kind in beliefs
        }
        best, ask = offer.payment, None
        refused = min(
            (
                o.ask
                for o in obs.market.closed.values()
                if o.from_lab_id == obs.agent and o.offered_blocks == offer.requested_blocks
            ),
            default=inf,
        )
        most = min(refused - 1, PURSES[obs.market.labs[offer.from_lab_id].public_budget_band])
        for limit in asks.values():
            tried = min(limit, most)
            taken = sum(w for kind, w in beliefs.items() if asks[kind] >= tried)
            if taken * tried > best:
                best, ask = taken * tried, tried
        if ask is not None:
            action = arena.Action(
                "counter_offer",
                offer_id=offer.offer_id,
                block_ids=offer.requested_blocks,
                message=WORDS["neutral"],
                conditions=(("ask", round(ask, 2)),),
            )
            yield Option("counter", action, brings + ask - offer.payment)

    def _use_pool(
        self, obs: arena.Observation, plan: arena.Plan, joint: bool = False
    ) -> Iterator[Option]:
        """Books a partner's pooled blocks, with its own, where that adds most to its plan."""
        share = max((pool.share for pool in obs.coalitions), default=1.0)
        gain, job_id, ids = pooled_booking(obs, plan, _find_pooled(obs), share, joint)
        if gain > self.least_gain:
            action = arena.Action("allocate_to_job", job_id=job_id, block_ids=ids)
            yield Option("book", action, gain)

    def _partner(
        self, obs: arena.Observation, plan: arena.Plan, joint: bool = False
    ) -> Iterator[Option]:
        """Consents to a coalition or proposes one, for the blocks that would help it most."""
        market = obs.market
        if not market.coalitions_allowed:
            return
        if joint and market.queue.count(obs.agent) == 1:
            return  # one proposal in a round, the other action is for trades
        asked = {pool.members[0]: pool for pool in obs.proposals}
        met = {
            member
            for pool in market.coalitions.values()
            if pool.active or (pool.expires_round >= market.round_index and not pool.ended)
            for member in pool.members
            if obs.agent in pool.members
        }
        best, chosen, words = self.least_gain, None, ("", 0.0)
        for lab in obs.others:
            if lab.lab_id in met and lab.lab_id not in asked:
                continue
            blocks = [b for b in market.blocks.values() if b.owner_lab_id == lab.lab_id]
            theirs = tuple(b.block_id for b in blocks if b.status in arena.FREE)
            theirs += _find_pooled(obs)
            for share, signal, chance in self._proposals(obs, lab.lab_id):
                gain = chance * pooled_booking(obs, plan, theirs, share, joint)[0]
                if gain > best:
                    best, chosen, words = gain, lab.lab_id, (signal, share)
        if chosen is None:
            return
        signal, share = words
        if chosen in asked:
            name = asked[chosen].coalition_id
            action = arena.Action("commit_to_coalition", coalition_id=name)
        else:
            conditions = (("share", share),)
            action = arena.Action(
                "form_coalition", chosen, message=WORDS[signal], conditions=conditions
            )
        yield Option("partner", action, best)

    def _proposals(self, obs: arena.Observation, lab: str) -> Iterator[tuple[float, str, float]]:
        """Shares of a coalition with their best words and the chance that `lab` commits blocks."""
        beliefs = self.belief(obs, lab)
        for share in SHARES:
            chances = {
                signal: sum(
                    w
                    for kind, w in beliefs.items()
                    if arena.CHARACTERS[kind].commits
                    and share
                    >= arena.CHARACTERS[kind].least_share
                    * arena.regard(obs.market, kind, obs.agent, signal)
                )
                for signal in (WORDS if self.speaks else ("neutral",))
            }
            signal = max(chances, key=chances.__getitem__)
            yield share, signal, chances[signal]

    def _buy(self, obs: arena.Observation, spare: list[arena.Block]) -> Iterator[Option]:
        """Bids for blocks of other labs, the highest expected gain first."""
        requested, then = _requested_blocks(obs), when_taken(obs)
        hoped = arena.trade_gain(then, (), requested, 0.0) if requested else 0.0
        purse, bids = self._purse(obs), []
        swaps = {lab.lab_id: _swap(obs, lab.lab_id, spare) for lab in obs.others}
        for blocks in wanted_sets(obs):
            ids = tuple(block.block_id for block in blocks)
            if not set(requested).isdisjoint(ids):
                continue
            owner, best = blocks[0].owner_lab_id, (self.least_gain / 2, None)
            single = swaps[owner][:1]
            wishes = [o.requested_blocks for o in obs.incoming if o.from_lab_id == owner]
            wishes += [wish + single for wish in wishes if set(wish).isdisjoint(single)]
            for given in dict.fromkeys(((), single, swaps[owner], *wishes)):
                adds = arena.trade_gain(then, given, (*requested, *ids), 0.0) - hoped
                adds -= self.spare_price * len(given)
                if adds <= self.least_gain:
                    continue
                hope, payment, signal = self._bid_for(obs, owner, ids, adds, purse, given)
                if hope > best[0]:
                    action = offer_to(owner, given, ids, payment, WORDS[signal])
                    best = (hope, Option("buy", action, adds - payment))
            if best[1]:
                bids.append(best)
        bids.sort(key=lambda bid: -bid[0])
        yield from (option for _, option in bids[:MOST_BIDS])

    def _bid_for(
        self,
        obs: arena.Observation,
        lab: str,
        ids: Sequence[str],
        adds: float,
        purse: float,
        given: Sequence[str],
    ) -> tuple[float, float, str]:
        """The expected gain of the best bid for blocks that add `adds`: (gain, payment, signal).

        A payment below 0 is asked for.
        """
        beliefs = self.belief(obs, lab)
        signal = self._best_signal(beliefs)
        prices = {kind: price(obs, kind, lab, ids, signal) for kind in beliefs}
        refused = _refused_payment(obs, ids, given)
        mean = sum(w * prices[kind] for kind, w in beliefs.items())
        time_left = 1 - obs.market.round_index / max(1, obs.market.max_rounds - 1)
        later = self.patience * max(0.0, adds - mean) * time_left
        best = (0.0, 0.0, signal)
        least = -PURSES[obs.market.labs[lab].public_budget_band] if given else 0.0
        worths = {kind: self._net_worths(obs, lab, kind, given) for kind in beliefs}
        for payment in {
            round(p - worth + 0.5, 2)
            for kind, p in prices.items()
            for worth in worths[kind][:: 1 + len(worths[kind]) // 12]
        }:
            if not max(refused, least) < payment <= min(purse, adds - self.least_gain):
                continue
            taken = sum(
                w * _chance_between(worths[kind], prices[kind] - payment, prices[kind] - refused)
                for kind, w in beliefs.items()
            )
            hope = taken * (adds - payment - later)
            if hope > best[0]:
                best = (hope, payment, signal)
        return best

    def _net_worths(
        self, obs: arena.Observation, lab: str, kind: str, given: Sequence[str]
    ) -> Sequence[float]:
        """Equally likely worths of blocks that it gets to a lab, less that of what it gives.

        A lab's bid for one of the blocks, of which its archetype bids a share, tells the worth.
        """
        for offer in obs.incoming:
            wished = offer.requested_blocks
            if offer.from_lab_id == lab and wished and set(wished) <= set(given):
                named = min(self.most_told, offer.payment / arena.CHARACTERS[kind].bid)
                return _spread((named,), self.idle, self.worth)
        if not given:
            return _spread((0.0,), self.idle, self.worth)
        most = self.swap_worth * (self.second_worth if len(given) > 1 else 1.0)
        gains = tuple(max(0.0, u * 1.12 - 0.12) * most for u in GRID)  # about one in ten has no use
        return _spread(gains, self.idle, self.worth)

    def _best_signal(self, beliefs: Mapping[str, float]) -> str:
        """The signal that lowers the expected price most."""
        if not self.speaks:
            return "neutral"

        def cost(signal: str) -> float:
            return sum(
                w * arena.CHARACTERS[kind].hold * arena.SWAY[kind].get(signal, 1.0)
                for kind, w in beliefs.items()
            )

        return min(WORDS, key=cost)

    def _purse(self, obs: arena.Observation) -> float:
        """Credits that no open offer promises and that are not kept for energy."""
        promised = sum(offer.payment for offer in obs.outgoing)
        return obs.own.budget - promised - self.energy_reserve

    def _sell(self, obs: arena.Observation, spare: list[arena.Block]) -> Iterator[Option]:
        """Offers its spare blocks to a lab that it has not offered them to, the dearest first."""
        market = obs.market
        offered = {b for offer in obs.outgoing for b in offer.offered_blocks}
        idle = [block for block in spare if block.block_id not in offered]
        if not (idle and obs.others):
            return
        left = {b: arena.live_hours(b, market.round_index, market.max_rounds) for b in idle}
        block = max(idle, key=left.__getitem__)
        order = ("high", "medium", "low")
        tries = {x.lab_id: _tries(obs, block.block_id, x.lab_id) for x in obs.others}
        buyer = min(
            obs.others,
            key=lambda x: (
                tries[x.lab_id] + (not _suits(obs, x.lab_id, block)),
                order.index(x.public_demand),
            ),
        )
        lowered = (1 - self.lower_by) ** sum(tries.values())
        ask = max(2.0, round(self.ask_an_hour * left[block] * lowered, 2))
        words = WORDS[self._best_signal(self.belief(obs, buyer.lab_id))]
        action = offer_to(buyer.lab_id, (block.block_id,), (), -ask, words)
        yield Option("sell", action, ask)


broker = Broker()


def offer_to(
    lab: str, given: tuple[str, ...], wanted: tuple[str, ...], payment: float, words: str
) -> arena.Action:
    """Offers blocks and `payment` to a lab for others of its; a payment below 0 is asked for."""
    return arena.Action(
        "send_offer",
        target_lab_id=lab,
        block_ids=given,
        requested_block_ids=wanted,
        payment=max(0.0, payment),
        message=words,
        conditions=(("ask", -payment),) if payment < 0 else (),
    )


def price(obs: arena.Observation, kind: str, lab: str, ids: Sequence[str], signal: str) -> float:
    """Credits for which a `lab` of that archetype gives blocks that are idle to it."""
    held_out = arena.held_out(obs.market, kind, obs.agent, ids, signal)
    return arena.CHARACTERS[kind].margin + JITTER + held_out


def belief(obs: arena.Observation, lab: str) -> dict[str, float]:
    """The probability of each archetype of `lab`, from its words, asks and the trades it took."""
    weights = dict.fromkeys(arena.ARCHETYPES, 1.0)
    market = obs.market
    for message in market.messages:
        if message.from_lab_id == lab and message.kind == "offer":
            for kind, sentences in arena.SENTENCES.items():
                matches = sum(message.message[:12] == sentence[:12] for sentence in sentences)
                weights[kind] *= 0.02 + matches / len(sentences)
    for offer in (*market.offers.values(), *market.closed.values()):
        if offer.from_lab_id == lab and offer.ask and offer.to_lab_id == obs.agent:
            for kind in weights:
                weights[kind] *= _likelihood(obs, offer, kind)
    total = sum(weights.values())
    return {kind: weight / total for kind, weight in weights.items()}


def _likelihood(obs: arena.Observation, offer: arena.Offer, kind: str) -> float:
    """How likely an ask is of an archetype: never below its price, and seldom far above it."""
    market, character = obs.market, arena.CHARACTERS[kind]
    made = offer.round_created
    hours = sum(
        arena.live_hours(market.blocks[b], made, market.max_rounds) for b in offer.offered_blocks
    )
    left = max(0.0, 1 - made / max(1, market.max_rounds - 1)) ** character.patience
    least = character.margin + JITTER + character.hold * hours * left
    if offer.linked_offer_id:
        least *= character.greed
    else:
        least = max(least, character.ask * hours)
    above = offer.ask - least
    return exp(-abs(above) / (15.0 if above > 0 else 4.0)) + 0.02


def pooled_booking(
    obs: arena.Observation, plan: arena.Plan, pool: Sequence[str], share: float, joint: bool
) -> tuple[float, str, tuple[str, ...]]:
    """The best booking with blocks of others in `pool`, at most three in all: gain, job, blocks.

    The gain is net of the owners' `share` and of what the plan loses. With `joint` only jobs that
    need a partner are counted.
    """
    market, best = obs.market, (0.0, "", ())
    now, horizon = market.round_index, market.max_rounds
    theirs = {b for b in pool if market.blocks[b].owner_lab_id != obs.agent}
    pooled = (market.blocks[b] for b in sorted(theirs))  # sets have no order
    usable = [*arena.free_blocks(obs), *(b for b in pooled if arena.live_hours(b, now, horizon))]
    jobs = [job for job in obs.open_jobs if job.joint or not joint]
    for job in jobs if theirs else ():
        able = [block for block in usable if block.reliability >= job.min_reliability]
        for blocks in (chosen for count in (1, 2, 3) for chosen in combinations(able, count)):
            ids = tuple(block.block_id for block in blocks)
            if theirs.isdisjoint(ids):
                continue
            gain = arena.booking_gain(job, blocks, now, horizon)
            if gain is None or gain <= best[0]:
                continue
            dues = arena.pool_dues(obs, job, blocks, share * gain)
            if dues + sum(block.energy_cost for block in blocks) > obs.own.budget:
                continue
            net = gain - dues + _plan_without(obs, job, ids) - plan.gain
            if net > best[0]:
                best = (net, job.job_id, ids)
    return best


def wanted_sets(obs: arena.Observation) -> Iterator[tuple[arena.Block, ...]]:
    """Every block of another lab that could serve an open job, and every pair of one lab."""
    jobs = [job for job in obs.open_jobs if not job.joint]
    if not jobs:
        return
    floor = min(job.min_reliability for job in jobs)
    for lab in obs.others:
        theirs = arena.tradable_blocks(obs.market, lab.lab_id)
        able = [block for block in theirs if block.reliability >= floor]
        yield from ((block,) for block in able)
        yield from combinations(able, 2)


def _affordable_plan(obs: arena.Observation) -> arena.Plan:
    """The best plan, without the parts whose energy it cannot pay."""
    plan, blocks = arena.own_plan(obs), obs.market.blocks
    costs = [sum(blocks[b].energy_cost for b in part.block_ids) for part in plan.parts]
    parts = [p for p, cost in zip(plan.parts, costs, strict=True) if cost <= obs.own.budget]
    return plan._replace(parts=tuple(parts))


def _suits(obs: arena.Observation, lab: str, block: arena.Block) -> bool:
    """Whether the jobs that a lab with such blocks tends to have can use `block`."""
    owned = [b.reliability for b in obs.market.blocks.values() if b.owner_lab_id == lab]
    return block.reliability >= 0.86 or sum(owned) >= 0.85 * len(owned)


def _swap(obs: arena.Observation, lab: str, spare: list[arena.Block]) -> tuple[str, ...]:
    """Spare blocks that may be worth more to `lab` than credits, at most two."""
    offered = {b for offer in obs.outgoing for b in offer.offered_blocks}
    idle = [b for b in spare if b.block_id not in offered and _suits(obs, lab, b)]
    idle.sort(key=lambda b: -arena.live_hours(b, obs.market.round_index, obs.market.max_rounds))
    return tuple(b.block_id for b in idle[:2])


def _to_trade(obs: arena.Observation, plan: arena.Plan) -> list[arena.Block]:
    """The blocks that neither its plan nor its bids need, less one that its joint job can use."""
    spare, market, requested = arena.spare_blocks(obs, plan), obs.market, _requested_blocks(obs)
    if requested:
        hoped = [*arena.free_blocks(obs), *(market.blocks[b] for b in requested)]
        parts = arena.best_plan(hoped, obs.own.jobs, market.round_index, market.max_rounds).parts
        needed = {block_id for part in parts for block_id in part.block_ids}
        spare = [block for block in spare if block.block_id not in needed]
    joint = [job for job in obs.open_jobs if job.joint]
    useful = [
        (sum(arena.hours(block, joint[0], market.round_index, market.max_rounds)), block.block_id)
        for block in spare
        if joint and block.reliability >= joint[0].min_reliability
    ]
    reserved = min(useful)[1] if useful else ""
    return [block for block in spare if block.block_id != reserved]


def _find_pooled(obs: arena.Observation) -> tuple[str, ...]:
    """The blocks in its coalitions that others committed."""
    ids = (block_id for pool in obs.coalitions for block_id in pool.commitments)
    return tuple(b for b in ids if obs.market.blocks[b].owner_lab_id != obs.agent)


def when_taken(obs: arena.Observation) -> arena.Observation:
    """What it would see at its next turn, when an offer that it makes or takes now is settled."""
    market = obs.market
    if market.queue.count(obs.agent) > 1:
        return obs
    return obs._replace(market=market._replace(round_index=market.round_index + 1))


def _book_now(obs: arena.Observation, plan: arena.Plan) -> Iterator[Option]:
    """The booking that loses most by waiting a round."""
    if urgent := arena.urgent_parts(obs, plan):
        yield _booking(obs, max(urgent)[1])


def _plan_without(obs: arena.Observation, job: arena.Job, ids: Sequence[str]) -> float:
    """The gain of its best plan for its other jobs, without these blocks."""
    market = obs.market
    free = [block for block in arena.free_blocks(obs) if block.block_id not in ids]
    jobs = tuple(other for other in obs.own.jobs if other.job_id != job.job_id)
    return arena.best_plan(free, jobs, market.round_index, market.max_rounds).gain


def _requested_blocks(obs: arena.Observation) -> tuple[str, ...]:
    """The blocks that its own active offers request."""
    return tuple(b for offer in obs.outgoing for b in offer.requested_blocks)


@lru_cache
def _spread(gains: tuple[float, ...], idle: float, worth: float) -> tuple[float, ...]:
    """Equally likely net worths: each of `gains`, less blocks that are idle or worth something."""
    losses = [max(0.0, (u - idle) / (1 - idle)) * worth for u in GRID]
    return tuple(sorted(gain - loss for gain in gains for loss in losses))


def _chance_between(worths: Sequence[float], low: float, high: float) -> float:
    """The share of `worths` from `low` on among those below `high`."""
    below = bisect_left(worths, high)
    return max(0, below - bisect_left(worths, low)) / below if below else 0.0


def _refused_payment(obs: arena.Observation, ids: Sequence[str], given: Sequence[str]) -> float:
    """The most that the owner refused for these blocks or some of them; -inf for nothing."""
    return max(
        (
            offer.payment - offer.ask
            for offer in obs.market.closed.values()
            if offer.from_lab_id == obs.agent
            and offer.status in ("rejected", "expired")
            and offer.requested_blocks
            and set(offer.requested_blocks) <= set(ids)
            and set(offer.offered_blocks) >= set(given)
            and obs.market.round_index - offer.round_created <= 1
        ),
        default=-inf,
    )


def _tries(obs: arena.Observation, block_id: str, lab: str) -> int:
    """How many of its closed offers to `lab` held the block."""
    return sum(
        block_id in offer.offered_blocks
        for offer in obs.market.closed.values()
        if (offer.from_lab_id, offer.to_lab_id) == (obs.agent, lab)
    )


def _urgent_booking(obs: arena.Observation, plan: arena.Plan) -> Iterator[Option]:
    """The most urgent booking, if the turns left in the round just suffice for all urgent ones."""
    urgent = arena.urgent_parts(obs, plan)
    if urgent and len(urgent) >= obs.market.queue.count(obs.agent):
        yield _booking(obs, max(urgent)[1])


def _hedge(obs: arena.Observation, plan: arena.Plan) -> Iterator[Option]:
    """Books or reserves, in the last turn before an announced shock, what it would strike."""
    market = obs.market
    if not market.announced or market.queue.count(obs.agent) > 1:
        return
    risks = [(_at_risk(obs, part), part) for part in plan.parts]
    at_stake = sum(risk for risk, _ in risks)
    if at_stake < TURN_WORTH:
        return
    risk, part = max(risks)
    if risk == at_stake:
        yield _booking(obs, part)
    else:
        bare = tuple(
            block.block_id
            for block in obs.owned_blocks
            if block.status == "available"
            and arena.live_hours(block, market.round_index + 1, market.max_rounds)
        )
        if bare:
            yield Option("reserve", arena.Action("reserve_capacity", block_ids=bare))


def foresee(obs: arena.Observation) -> arena.Observation:
    """What it sees, with a job as a surge brings them if one is announced, to trade for it now."""
    if obs.market.announced != "demand_surge":
        return obs
    opens = obs.market.round_index + 1
    deadline = min(obs.market.max_rounds, opens + 2)
    job = arena.Job("surge", *SURGE_JOB[:1], deadline, *SURGE_JOB[1:], True, "", opens=opens)
    return obs._replace(own=obs.own._replace(jobs=(*obs.own.jobs, job)))


def _at_risk(obs: arena.Observation, part: arena.Part) -> float:
    """Credits that `part` is expected to lose by the announced shock, unless it is hedged."""
    market, announced = obs.market, obs.market.announced
    bare = [b for b in map(market.blocks.__getitem__, part.block_ids) if b.status == "available"]
    if not bare:
        return 0.0
    if announced == "energy_spike":
        return (arena.SPIKE - 1) * sum(block.energy_cost for block in bare)
    if announced == "reliability_degradation":
        job = next(job for job in obs.own.jobs if job.job_id == part.job_id)
        weakest = min(block.reliability for block in bare)
        return part.gain if weakest - arena.DEGRADATION < job.min_reliability else 0.0
    if announced == "capacity_failure":
        struck = sum(arena.is_requestable(block) for block in market.blocks.values())
        return part.gain * len(bare) / struck
    return 0.0


def _booking(obs: arena.Observation, part: arena.Part) -> Option:
    loss = max(arena.loss_by_delay(obs, part), _at_risk(obs, part))
    return Option("book", part.booking, part.gain, loss)
