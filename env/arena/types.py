"""The values of a market: blocks, jobs, offers, coalitions, and what each lab knows.

Money is in credits with two decimals, capacity in GPU-hours, time in rounds counted from 0. A block
of G GPUs gives G hours in each round from `start_round` for `duration` rounds, none after the last
round of the market. All of `Market` is public; `Own` holds one lab's private values.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

AVAILABLE, RESERVED, COMMITTED = "available", "reserved", "committed"
USED, FAILED = "used", "failed"
LIVE = frozenset({AVAILABLE, RESERVED, COMMITTED})  # can be sold, used or hit by a shock
FREE = frozenset({AVAILABLE, RESERVED})  # in no coalition's pool
REQUESTABLE = frozenset({AVAILABLE, COMMITTED})  # by another lab


class Block(NamedTuple):
    """A block of GPU time. Whoever uses it pays `energy_cost`; owner and status may change."""

    block_id: str
    start_round: int
    duration: int
    gpu_count: int
    reliability: float
    energy_cost: float
    owner_lab_id: str
    status: str = AVAILABLE
    held_until: int | None = None  # the last round of a reservation or commitment

    def with_status(self, status: str, held_until: int | None = None) -> "Block":
        """The block with another status."""
        return self._replace(status=status, held_until=held_until)


class Job(NamedTuple):
    """A lab's private job. Hours before `deadline_round` count in full, later ones less."""

    job_id: str
    gpu_hours_required: int
    deadline_round: int
    base_value: float
    urgency_multiplier: float
    min_reliability: float
    partial_credit_allowed: bool
    private_notes: str
    on_time: int = 0  # hours booked so far
    late: int = 0
    allocated_block_ids: tuple[str, ...] = ()
    joint: bool = False  # takes blocks of at least two labs, booked together
    opens: int = 0  # round from which hours count for it

    @property
    def full_value(self) -> float:
        """Credits for all required hours on time."""
        return self.base_value * self.urgency_multiplier

    @property
    def completed(self) -> bool:
        return self.on_time + self.late >= self.gpu_hours_required


class Lab(NamedTuple):
    """The public facts of a lab. The bands are brought up to date as a round opens."""

    lab_id: str
    public_name: str
    reputation: float  # in [0, 1]
    public_budget_band: str
    public_demand: str
    finished: bool = False


class Offer(NamedTuple):
    """A proposed trade: blocks and `payment` against blocks and `ask`, both in credits."""

    offer_id: str
    from_lab_id: str
    to_lab_id: str
    round_created: int
    expires_round: int  # the last round in which it can be accepted
    offered_blocks: tuple[str, ...]
    requested_blocks: tuple[str, ...]
    payment: float  # credits from the sender to the recipient
    ask: float = 0.0  # credits from the recipient to the sender: the condition "ask"
    message: str = ""
    conditions: tuple[tuple[str, Any], ...] = ()
    linked_offer_id: str | None = None
    status: str = "active"


class Coalition(NamedTuple):
    """Two labs with a pool of blocks: each may use the other's and pays it `share` of the gain."""

    coalition_id: str
    members: tuple[str, str]  # the proposer first
    purpose: str
    share: float  # of the net value that a pooled block adds, paid to its owner
    trust_score: float
    round_created: int
    expires_round: int  # last round of the proposal, then of the coalition
    consented: bool = False
    commitments: tuple[str, ...] = ()  # ids of the blocks in the pool
    breach_status: str = "none"
    breached_by: str | None = None
    ended: bool = False

    @property
    def active(self) -> bool:
        """Whether both labs agreed to it and neither broke it or left."""
        return self.consented and not self.ended


class Message(NamedTuple):
    """A message on the public board; `to_lab_id` is the addressee, None for everyone."""

    from_lab_id: str
    to_lab_id: str | None
    round_index: int
    message: str
    signal: str
    kind: str = "message"  # or "pitch", or "offer"


class Result(NamedTuple):
    """The result of an action: a code, and one sentence for people."""

    ok: bool
    code: str
    message: str


class Shock(NamedTuple):
    """A shock that hit the market as a round opened."""

    round_index: int
    kind: str
    message: str
    block_id: str | None = None


class Own(NamedTuple):
    """One lab's private values."""

    archetype: str  # of a scripted lab; "" for the learner
    budget: float
    jobs: tuple[Job, ...]
    chance: tuple[float, ...]  # one uniform draw in [0, 1) for each round
    started: float  # the initial budget
    batna: float  # gain of the best plan with its own blocks alone, a surge's job included
    stake: float  # full value of the jobs that it began with
    job_value: float = 0.0  # credits earned by jobs
    energy: float = 0.0  # credits paid for energy
    deals: float = 0.0  # credits received less paid in trades
    pool: float = 0.0  # credits received less paid in coalitions, fines included
    breaches: int = 0
    results: tuple[Result, ...] = ()  # of the last action, and of the settlement at the end
    recent: tuple[Any, ...] = ()  # the last three actions

    @property
    def utility(self) -> float:
        """Job value less energy and payments, plus money received; credits."""
        return self.job_value + self.budget - self.started


class Market(NamedTuple):
    """The public part of the state, the same for every lab. It contains no episode id or seed."""

    task: str
    round_index: int
    max_rounds: int
    coalitions_allowed: bool
    queue: tuple[str, ...]  # labs that act in this round from now on, the next one first
    labs: Mapping[str, Lab]
    blocks: Mapping[str, Block]
    offers: Mapping[str, Offer]  # the active ones
    closed: Mapping[str, Offer]  # all other offers, with their status
    coalitions: Mapping[str, Coalition]
    messages: tuple[Message, ...] = ()
    shock_history: tuple[Shock, ...] = ()
    market_pressure: str = ""  # a band, brought up to date as a round opens
    announced: str = ""  # the kind of shock that will strike as the next round opens; "" for none


class Nature(NamedTuple):
    """What nobody knows yet: the coming shocks, the order of failures, the jobs of a surge."""

    shocks: Mapping[int, str]
    frail: tuple[str, ...]  # all block ids, in the order in which they would fail
    surge: Mapping[str, Job]
    blocks: Mapping[str, Block]  # as drawn
    owns: Mapping[str, Own]  # of each lab, as drawn


@dataclass(frozen=True, slots=True)
class State:
    """The state of play. `private` holds each seat's `Own` (None if empty) and "nature"."""

    market: Market
    private: Mapping[str, Any]

    def seen_by(self, lab: str) -> "Observation":
        """What a lab may see."""
        return Observation(lab, self.market, self.private[lab])


class Observation(NamedTuple):
    """What one lab may see: the market and its private values `own`."""

    agent: str
    market: Market
    own: Own

    @property
    def owned_blocks(self) -> tuple[Block, ...]:
        """The lab's blocks, whatever their status."""
        return tuple([b for b in self.market.blocks.values() if b.owner_lab_id == self.agent])

    @property
    def open_jobs(self) -> tuple[Job, ...]:
        """The lab's jobs that are not completed."""
        return tuple([job for job in self.own.jobs if not job.completed])

    @property
    def incoming(self) -> tuple[Offer, ...]:
        """Active offers addressed to the lab, the oldest first."""
        return tuple([o for o in self.market.offers.values() if o.to_lab_id == self.agent])

    @property
    def outgoing(self) -> tuple[Offer, ...]:
        """Active offers that the lab made."""
        return tuple([o for o in self.market.offers.values() if o.from_lab_id == self.agent])

    @property
    def coalitions(self) -> tuple[Coalition, ...]:
        """Active coalitions of which the lab is a member."""
        pools = self.market.coalitions.values()
        return tuple([c for c in pools if self.agent in c.members and c.active])

    @property
    def proposals(self) -> tuple[Coalition, ...]:
        """Proposed coalitions that need the lab's consent."""
        return tuple(
            c
            for c in self.market.coalitions.values()
            if c.members[1] == self.agent
            and not (c.consented or c.ended)
            and c.expires_round >= self.market.round_index
        )

    @property
    def others(self) -> tuple[Lab, ...]:
        """The other labs that have not left the market."""
        labs = self.market.labs.values()
        return tuple([lab for lab in labs if not lab.finished and lab.lab_id != self.agent])


def live_hours(block: Block, now: int, horizon: int) -> int:
    """GPU-hours that the block has left from round `now` to the end of the market at `horizon`."""
    start, duration, gpus = block[1:4]
    end = start + duration if start + duration < horizon else horizon
    first = start if start > now else now
    return (end - first) * gpus if end > first else 0
