"""The values a market is made of: blocks, jobs, offers, coalitions, and what each lab knows.

Money is in credits with two decimals, capacity in GPU-hours, time in rounds counted from 0. A block
of G GPUs gives G hours in each round from `start_round` for `duration` rounds, none after the last
round of the market. All of `Market` is public; `Own` is what one lab alone knows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

AVAILABLE, RESERVED, COMMITTED, USED, FAILED = STATUSES = (
    "available",
    "reserved",
    "committed",
    "used",
    "failed",
)
LIVE = frozenset({AVAILABLE, RESERVED, COMMITTED})  # may still be sold, used or struck by a shock
FREE = frozenset({AVAILABLE, RESERVED})  # promised to nobody else


class Block(NamedTuple):
    """GPU time. The first six fields never change hands; energy is paid by who uses it."""

    block_id: str
    start_round: int
    duration: int
    gpu_count: int
    reliability: float
    energy_cost: float
    owner_lab_id: str
    status: str = AVAILABLE
    held_until: int | None = None  # the last round of a reservation or commitment

    @property
    def gpu_hours(self) -> int:
        """Hours if none is lost to waiting or to the end of the market."""
        return self.duration * self.gpu_count


class Job(NamedTuple):
    """Work that one lab alone knows. Hours before `deadline_round` count whole, later ones less."""

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

    @property
    def full_value(self) -> float:
        """Credits for all its hours on time."""
        return self.base_value * self.urgency_multiplier

    @property
    def completed(self) -> bool:
        return self.on_time + self.late >= self.gpu_hours_required


class Lab(NamedTuple):
    """What everyone knows of a lab. Bands are posted as a round opens."""

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
    payment: float  # the sender pays the recipient
    ask: float = 0.0  # the recipient pays the sender: the condition "ask"
    message: str = ""
    conditions: tuple[tuple[str, Any], ...] = ()
    linked_offer_id: str | None = None
    status: str = "active"


class Coalition(NamedTuple):
    """Two labs with a pool: either may use what the other commits, and pays `share` of the gain."""

    coalition_id: str
    members: tuple[str, str]  # who proposed it comes first
    purpose: str
    share: float  # of the net value that a pooled block adds, to its owner
    trust_score: float
    round_created: int
    expires_round: int  # of a proposal, then of the coalition
    consented: bool = False
    commitments: tuple[str, ...] = ()  # block ids now in the pool
    breach_status: str = "none"
    breached_by: str | None = None
    ended: bool = False

    @property
    def active(self) -> bool:
        """Whether both agreed to it and neither broke it or left."""
        return self.consented and not self.ended


class Message(NamedTuple):
    """Said on the open floor; `to_lab_id` says who is meant, None is everyone."""

    from_lab_id: str
    to_lab_id: str | None
    round_index: int
    message: str
    signal: str
    kind: str = "message"  # or "pitch", or "offer"


class Result(NamedTuple):
    """What became of an action."""

    ok: bool
    code: str
    message: str


class Shock(NamedTuple):
    """Something that struck the market as a round opened."""

    round_index: int
    kind: str
    message: str
    block_id: str | None = None


class Own(NamedTuple):
    """What one lab alone knows."""

    archetype: str  # "" for who chooses for itself
    budget: float
    jobs: tuple[Job, ...]
    chance: tuple[float, ...]  # one draw in [0, 1) a round
    started: float  # the first budget
    batna: float  # the best it could do with its own blocks as the market opened
    stake: float  # what all the jobs it began with are worth in full
    job_value: float = 0.0  # credits earned by jobs
    energy: float = 0.0  # credits paid for energy
    deals: float = 0.0  # credits received less paid in trades
    pool: float = 0.0  # credits received less paid in coalitions, fines included
    breaches: int = 0
    results: tuple[Result, ...] = ()  # of the last action, and of the settlement once there is one
    recent: tuple[Any, ...] = ()  # the last three actions

    @property
    def utility(self) -> float:
        """The true utility: job value less energy and payments, plus money received."""
        return self.job_value + self.budget - self.started


class Market(NamedTuple):
    """The public part of the state, the same for every lab. It names no episode and no seed."""

    task: str
    round_index: int
    max_rounds: int
    coalitions_allowed: bool
    queue: tuple[str, ...]  # who acts in this round from now on, the next first
    labs: Mapping[str, Lab]
    blocks: Mapping[str, Block]
    offers: Mapping[str, Offer]  # the active ones
    closed: Mapping[str, Offer]  # all others, with their status
    coalitions: Mapping[str, Coalition]
    messages: tuple[Message, ...] = ()
    shock_history: tuple[Shock, ...] = ()
    market_pressure: str = ""  # a band, posted as a round opens


class Nature(NamedTuple):
    """What nobody knows yet: which shock strikes when, which blocks fail first, which jobs come."""

    shocks: Mapping[int, str]
    frail: tuple[str, ...]  # block ids, the first to fail first
    surge: Mapping[str, Job]


@dataclass(frozen=True, slots=True)
class State:
    """A market in play. `private` holds each seat's `Own` (None for an empty seat) and nature."""

    market: Market
    private: Mapping[str, Any]


class Observation(NamedTuple):
    """What one lab sees: the market and what it alone knows."""

    agent: str
    market: Market
    own: Own

    @property
    def owned_blocks(self) -> tuple[Block, ...]:
        """Its own blocks, whatever became of them."""
        return tuple(b for b in self.market.blocks.values() if b.owner_lab_id == self.agent)

    @property
    def open_jobs(self) -> tuple[Job, ...]:
        """Its jobs that still want hours."""
        return tuple(job for job in self.own.jobs if not job.completed)

    @property
    def incoming(self) -> tuple[Offer, ...]:
        """Active offers addressed to it, the oldest first."""
        return tuple(o for o in self.market.offers.values() if o.to_lab_id == self.agent)

    @property
    def outgoing(self) -> tuple[Offer, ...]:
        """Its own active offers."""
        return tuple(o for o in self.market.offers.values() if o.from_lab_id == self.agent)

    @property
    def coalitions(self) -> tuple[Coalition, ...]:
        """The coalitions that it is a member of and that run."""
        return tuple(
            c for c in self.market.coalitions.values() if c.active and self.agent in c.members
        )

    @property
    def proposals(self) -> tuple[Coalition, ...]:
        """Coalitions that wait for its consent."""
        return tuple(
            c
            for c in self.market.coalitions.values()
            if c.members[1] == self.agent
            and not (c.consented or c.ended)
            and c.expires_round >= self.market.round_index
        )

    @property
    def others(self) -> tuple[Lab, ...]:
        """The other labs that are still in the market."""
        return tuple(
            lab
            for lab in self.market.labs.values()
            if lab.lab_id != self.agent and not lab.finished
        )


def live_hours(block: Block, now: int, horizon: int) -> int:
    """GPU-hours the block still has from round `now` to the end of the market."""
    end = min(block.start_round + block.duration, horizon)
    return max(0, end - max(block.start_round, now)) * block.gpu_count
