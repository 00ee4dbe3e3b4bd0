"""The arena in words: what the page calls things, why a player makes a move, what a trade is worth.

Ids stay in tooltips. The engine counts rounds, blocks and jobs from 0 and the page from 1. A
deadline keeps its number: the hours that count are those of rounds before `deadline_round` from 0,
which are the rounds up to and with `deadline_round` from 1. Reasons and prices are computed from
what the lab itself may see.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from math import ceil

from env import arena
from env.arena.broker import belief, broker, price
from panels.ui.terms import from_one, list_names
from sauda.games.arena_words import action_in_words

_BLOCK = re.compile(r"b_(\d+)_(\d+)")
_IDS = re.compile(r"\b(?:(?:offer|block|coalition) )?(b_\d+_\d+|j_\d+_\w+|[oc]_\d+|lab_\d+)\b")
_NUMBERED = {"o": "offer", "c": "pool"}
_KINDS = {"paper_deadline": "paper experiments"}  # names that say what a job is; others are plain
_BLOCKS_ALONE = {  # of these actions only the blocks are told
    "reserve_capacity": "reserves",
    "release_capacity": "releases",
    "allocate_to_job": "books",
}
_ORDERS = {  # of deeds that are not an order once they lose their "s"
    "rejects": "turn down", "pitches": "argue in public", "reserves": "hold", "releases": "free",
    "waits": "wait for the next round", "leaves": "leave the market",
}  # fmt: skip


def job_names(jobs: Iterable[arena.Job]) -> dict[str, str]:
    """What each job is for, by its id; jobs of one kind are numbered: "Paper experiments 2"."""
    kinds = {job.job_id: job.private_notes.removeprefix("shock_") for job in jobs}
    names: dict[str, str] = {}
    for job_id, kind in kinds.items():
        alike = [other for other in kinds if kinds[other] == kind]
        number = f" {alike.index(job_id) + 1}" if len(alike) > 1 else ""
        plain = _KINDS.get(kind, kind or "job").replace("_", " ")
        names[job_id] = f"{plain.capitalize()}{number}"
    return names


def lab_name(market: arena.Market, lab_id: str) -> str:
    """A lab's public name within a sentence; the id itself where there is no such lab."""
    lab = market.labs.get(lab_id)
    name = lab.public_name if lab else lab_id
    return "you" if name == "You" else name


def block_name(market: arena.Market, block_id: str) -> str:
    """A block by the lab that had it at first: "your block 3", "Lab A’s block 1".

    The name stays when the block changes hands, so that what was said of it stays true. An id of
    another form stays as it is.
    """
    maker, number = _maker_and_number(block_id)
    name = lab_name(market, maker)
    whose = "your" if name == "you" else f"{name}’s"
    return f"{whose} block {number}" if number else block_id


def is_traded(block: arena.Block) -> bool:
    """Whether another lab has the block than at first."""
    return _maker_and_number(block.block_id)[0] not in ("", block.owner_lab_id)


def short_block_name(market: arena.Market, block: arena.Block) -> str:
    """A block among those of its present owner: "Block 3", or "Block 3 from Lab A"."""
    maker, number = _maker_and_number(block.block_id)
    bought = "" if block.owner_lab_id == maker else f" from {lab_name(market, maker)}"
    return f"Block {number}{bought}" if number else block.block_id


def _maker_and_number(block_id: str) -> tuple[str, int]:
    """The lab that had the block at first and the block's number there, from 1; else ("", 0)."""
    match = _BLOCK.fullmatch(block_id)
    return (f"lab_{match[1]}", int(match[2]) + 1) if match else ("", 0)


def goods(market: arena.Market, block_ids: Iterable[str], credits: float = 0) -> str:
    """One side of a trade: blocks and credits as a list in a sentence; "nothing" for none.

    The blocks stand in the order of their labs and numbers.
    """
    named = [block_name(market, block_id) for block_id in sorted(block_ids)]
    return list_names([*named, *([amount(credits)] if credits else [])]) or "nothing"


def amount(credits: float) -> str:
    """Credits in a sentence, as short as they can be where somebody typed a huge number."""
    return f"{credits:{'.2f' if abs(credits) < 1e9 else 'g'}} credits"


def tell_terms(market: arena.Market, offer: arena.Offer) -> str:
    """An offer by what it is: "the offer of 16.46 credits for Lab A’s block 2"."""
    gives = goods(market, offer.offered_blocks, offer.payment)
    return f"the offer of {gives} for {goods(market, offer.requested_blocks, offer.ask)}"


def due(job: arena.Job, market: arena.Market) -> str:
    """The last round whose hours count in full for a job."""
    return f"end of round {min(job.deadline_round, market.max_rounds)}"


def readable(obs: arena.Observation, text: str) -> str:
    """A sentence of the rules with the page's names in place of ids, and rounds from 1."""
    return with_names(obs.market, from_one(text), job_names(obs.own.jobs))


def with_names(market: arena.Market, text: str, jobs: Mapping[str, str]) -> str:
    """A text with the page's names in place of ids; `jobs` are the names of known jobs by id."""

    def name_of(match: re.Match[str]) -> str:
        reference = match[1]
        if reference in market.labs:
            return lab_name(market, reference)
        if offer := market.offers.get(reference) or market.closed.get(reference):
            return tell_terms(market, offer)
        if reference[0] in _NUMBERED:
            return f"{_NUMBERED[reference[0]]} {reference[2:]}"
        return jobs.get(reference) or block_name(market, reference)

    return _IDS.sub(name_of, text)


# Actions -----------------------------------------------------------------------------------------


def tell_action(obs: arena.Observation, agent: str, action: arena.Action | arena.Malformed) -> str:
    """An action as a phrase with the page's names: "books Benchmark run with your block 2".

    Of another lab's booking it tells the blocks alone, because its jobs are its own.
    """
    if isinstance(action, arena.Malformed):
        return action_in_words(action)
    market, kind, is_own = obs.market, action.action_type, agent == obs.agent
    offer = market.offers.get(action.offer_id) or market.closed.get(action.offer_id)
    if kind in ("send_offer", "counter_offer"):
        words = _offer_in_words(obs, action)
    elif kind == "reject_offer" and offer and offer.from_lab_id == agent:
        words = f"withdraws {readable(obs, action.offer_id)}"
    elif kind in _BLOCKS_ALONE and not (is_own and kind == "allocate_to_job"):
        words = f"{_BLOCKS_ALONE[kind]} {goods(market, action.block_ids)}"
    else:
        known = action if is_own else action._replace(job_id=None)
        words = readable(obs, action_in_words(known._replace(message="")))
    if not is_own:
        words = words.replace(f"{lab_name(market, agent)}’s block", "its block")
    if not action.message:
        return words
    return f"{words}: “{with_names(market, action.message, job_names(obs.own.jobs))}”"


def _offer_in_words(obs: arena.Observation, action: arena.Action) -> str:
    """An offer as a phrase: "offers Lab A 16.46 credits for its block 2"."""
    market = obs.market
    gives = goods(market, action.block_ids, action.payment)
    asks = goods(market, action.requested_block_ids, action.condition("ask", 0.0))
    terms = "".join(
        f", {name} {value}" for name, value in action.conditions if name not in arena.CONDITIONS
    )
    if action.action_type == "counter_offer":
        answered = readable(obs, action.offer_id or "an offer")
        return f"answers {answered} with other terms: {gives} for {asks}{terms}"
    whom = lab_name(market, action.target_lab_id or "")
    if whom != "you":
        asks = asks.replace(f"{whom}’s block", "its block")
    return f"offers {whom} {gives} for {asks}{terms}"


def tell_advice(obs: arena.Observation, action: arena.Action | arena.Malformed) -> str:
    """An action of the visitor's lab as an order: "offer Lab A 16.46 credits for its block 2"."""
    if isinstance(action, arena.Malformed):
        return f"no action; its reply holds none: {action.reason}"
    verb, _, rest = tell_action(obs, obs.agent, action).partition(" ")
    return f"{_ORDERS.get(verb, verb.removesuffix('s'))} {rest}".strip()


# Reasons -----------------------------------------------------------------------------------------


EXPERT, PUBLISHED = "broker", "rule_based_expert"  # the players that can be watched at a press
CHANCES = {
    "less than 1 in 10": 0.03, "about 1 in 5": 0.2, "about 1 in 3": 1 / 3, "about 1 in 2": 0.5,
    "about 2 in 3": 2 / 3, "about 4 in 5": 0.8,
}  # fmt: skip
LIKELY = 0.7  # probability with which a lab takes a suggested price, if its blocks are idle to it
ANNOUNCED: Mapping[str, str] = {  # what a shock is about to do, in the words of its round
    "capacity_failure": "a block fails",
    "energy_spike": "energy costs double",
    "reliability_degradation": "reliability falls",
    "demand_surge": "every lab has one more urgent job",
}
USUAL: Mapping[str, str] = {  # why a move of these kinds is made
    "form_coalition": "in a pool each side may use the other’s blocks and pays a share of what"
    " they add",
    "commit_to_coalition": "your jobs do not need what goes into the pool, and its owner gets a"
    " share of what it adds",
    "reserve_capacity": "a shock spares a held block, and nobody can ask for it",
    "wait": "no trade and no booking adds anything now",
    "finish": "nothing is left to gain here",
}


def why(obs: arena.Observation, action: arena.Action | arena.Malformed) -> str:
    """Why the lab makes this move, without a full stop; "" where the move says it all."""
    kind = action.action_type
    if kind in ("send_offer", "counter_offer"):
        return _why_offer(obs, action)
    if kind in ("accept_offer", "reject_offer"):
        return _why_answer(obs, obs.market.offers[action.offer_id])
    if kind == "allocate_to_job":
        return _why_booking(obs, action)
    return USUAL.get(kind, "")


def _why_offer(obs: arena.Observation, action: arena.Action) -> str:
    """What a bid, a sale or a swap brings to the jobs, and what the price leaves of it."""
    given, received = action.block_ids, action.requested_block_ids
    money = action.condition("ask", 0.0) - action.payment
    adds = arena.trade_gain(obs, given, received, 0.0)
    left = f"at this price {adds + money:+.1f} credits are yours"
    if not received:
        worth_now = "you do not need" if adds > -0.05 else f"bring you {-adds:.1f}"
        return f"{hours_left(obs, given)} GPU-hours that {worth_now}; {left}"
    owner = lab_name(obs.market, obs.market.blocks[received[0]].owner_lab_id)
    hours, jobs = (
        f"{owner}’s {hours_left(obs, received)} GPU-hours",
        _name_served(obs, given, received),
    )
    use = f"{hours} serve {list_names(jobs)}" if jobs else f"no job of yours needs {hours}"
    return f"{use}: {adds:+.1f}; {owner} has not booked them; {left}"


def hours_left(obs: arena.Observation, block_ids: Sequence[str]) -> int:
    """GPU-hours that the blocks have left from this round on."""
    market = obs.market
    return sum(
        arena.live_hours(market.blocks[b], market.round_index, market.max_rounds) for b in block_ids
    )


def _name_served(
    obs: arena.Observation, given: Sequence[str], received: Sequence[str]
) -> list[str]:
    """The names of the jobs for which the best plan after the trade uses the received blocks."""
    market, names = obs.market, job_names(obs.own.jobs)
    remaining = {b.block_id for b in obs.owned_blocks if b.status in arena.FREE} - {*given}
    blocks = [block for name, block in market.blocks.items() if name in remaining | {*received}]
    plan = arena.best_plan(blocks, obs.own.jobs, market.round_index, market.max_rounds)
    return [names[part.job_id] for part in plan.parts if set(part.block_ids) & set(received)]


def _why_answer(obs: arena.Observation, offer: arena.Offer) -> str:
    if offer.from_lab_id == obs.agent:
        return f"it is no longer worth the {offer.payment:.2f} credits that are held for it"
    gives, total = worth(
        obs, offer.requested_blocks, offer.offered_blocks, offer.payment - offer.ask
    )
    return f"{gives[0].lower()}{gives[1:]}: {total:+z.1f}"


def _why_booking(obs: arena.Observation, action: arena.Action) -> str:
    market = obs.market
    job = next(job for job in obs.own.jobs if job.job_id == action.job_id)
    blocks = [market.blocks[block_id] for block_id in action.block_ids]
    gain = arena.booking_gain(job, blocks, market.round_index, market.max_rounds)
    if gain is None:
        return ""
    loss = arena.loss_by_delay(obs, arena.Part(action.job_id, action.block_ids, gain))
    late = f"; a round later it would be {gain - loss:.1f}" if loss > 0.05 else ""
    return f"it pays {gain:.1f} credits after energy{late}"


# Worth -------------------------------------------------------------------------------------------


def worth(
    obs: arena.Observation, given: Sequence[str], received: Sequence[str], money: float
) -> tuple[str, float]:
    """What a trade gives and costs the lab, in words, and what it is worth in all, in credits.

    `given` and `received` are ids of blocks, `money` the credits that the lab receives less those
    that it pays.
    """
    gain = arena.trade_gain(obs, given, received, 0.0)
    is_swap = given and received  # the worth of one side cannot be told from the other's

    def side(blocks: Sequence[str], worth_of: float, credits: float) -> str:
        valued = "" if is_swap else f" (worth {worth_of:z.1f} to your jobs)"
        parts = [f"{goods(obs.market, blocks)}{valued}"] if blocks else []
        parts += [f"{credits:.2f} credits"] if credits > 0 else []
        return list_names(parts) or "nothing"

    swap = f"; the swap is worth {gain:+z.1f} to your jobs" if is_swap else ""
    gives, gets = side(given, -gain, -money), side(received, gain, money)
    return f"You give {gives} and get {gets}{swap}", gain + money


# Prices ------------------------------------------------------------------------------------------


def suggested_price(
    obs: arena.Observation, lab_id: str, given: Sequence[str], received: Sequence[str]
) -> float | None:
    """Credits to pay for a trade with a lab, which it may take; negative: credits to ask for.

    What the lab itself has named for these blocks comes first. None where no price pays.
    """
    sides = {*received}, {*given}
    for offer in obs.incoming:
        same = ({*offer.offered_blocks}, {*offer.requested_blocks}) == sides
        if offer.from_lab_id == lab_id and same:
            return offer.ask - offer.payment
    adds = arena.trade_gain(obs, given, received, 0.0)
    if received and adds <= 1:
        return None
    asked = broker.ask_an_hour * hours_left(obs, given)
    if not received:
        return -float(ceil(max(asked, 1 - adds)))
    wanted = _likely_price(obs, lab_id, received) - asked
    return float(min(ceil(wanted), int(adds) - 1))


def _likely_price(obs: arena.Observation, lab_id: str, block_ids: Sequence[str]) -> float:
    """The least price that covers LIKELY of what the broker believes of the lab's character."""
    beliefs, covered = belief(obs, lab_id), 0.0
    prices = sorted(
        (price(obs, kind, lab_id, block_ids, "neutral"), weight) for kind, weight in beliefs.items()
    )
    for amount, weight in prices:
        covered += weight
        if covered >= LIKELY:
            return amount
    return prices[-1][0]


def tell_chance(obs: arena.Observation, action: arena.Action) -> str:
    """How likely another lab takes a bid, as far as can be known: "about 1 in 2"; "" for no bid.

    It may need the blocks itself; else it takes what its character asks, which the broker guesses.
    """
    given, received = action.block_ids, action.requested_block_ids
    if action.action_type not in ("send_offer", "counter_offer") or not received:
        return ""
    owner = obs.market.blocks[received[0]].owner_lab_id
    paid = action.payment + broker.ask_an_hour * hours_left(obs, given)
    asked = {kind: price(obs, kind, owner, received, "neutral") for kind in belief(obs, owner)}
    takes = sum(w for kind, w in belief(obs, owner).items() if asked[kind] <= paid)
    return min(CHANCES, key=lambda each: abs(CHANCES[each] - broker.idle * takes))


def told_price(obs: arena.Observation, offer: arena.Offer) -> str:
    """What became of an offer of the visitor's, as far as the other lab let it be known."""
    lab, asked = lab_name(obs.market, offer.to_lab_id), _find_counter(obs, offer)
    named = tell_terms(obs.market, offer)
    if asked:
        return f"{lab} wants about {asked:.0f} credits; it may take less"
    if offer.status == "rejected":
        return f"{lab} turns down {named}"
    if offer.status == "withdrawn":
        return f"{named} is withdrawn"
    if offer.status == "invalid":
        return f"{named} is void, because a block of it is gone"
    if offer.requested_blocks:
        return (
            f"{lab} has not answered your bid for {goods(obs.market, offer.requested_blocks)}:"
            " it wants more, and names its price only to a bid of at least a quarter of it"
        )
    return f"{lab} has not taken {goods(obs.market, offer.offered_blocks)} at this price"


def _find_counter(obs: arena.Observation, offer: arena.Offer) -> float:
    """The credits that the other lab asked in its answer to an offer; 0 where it named none."""
    market = obs.market
    for other in (*market.offers.values(), *market.closed.values()):
        if other.linked_offer_id == offer.offer_id and other.from_lab_id == offer.to_lab_id:
            return max(0.0, other.ask - other.payment)
    return 0.0
