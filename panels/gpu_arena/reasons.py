"""Why a player makes a move, in one sentence, and what price it would name for a trade.

Everything is computed from what the lab itself may see.
"""

from collections.abc import Mapping, Sequence
from math import ceil

from env import arena
from panels.gpu_arena.names import block_list, job_names, lab_name
from panels.ui.terms import listed
from sauda.policies.broker import belief, broker, price

EXPERT, PUBLISHED = "broker", "rule_based_expert"  # the players that can be watched at a press
LIKELY = 0.7  # probability with which a lab takes a suggested price, if its blocks are idle to it
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
    serves = listed(_served(obs, given, received)) or "nothing"
    return (
        f"{owner}’s {hours_left(obs, received)} GPU-hours serve {serves}: {adds:+.1f};"
        f" {owner} has not booked them; {left}"
    )


def hours_left(obs: arena.Observation, block_ids: Sequence[str]) -> int:
    """GPU-hours that the blocks have left from this round on."""
    market = obs.market
    return sum(
        arena.live_hours(market.blocks[b], market.round_index, market.max_rounds) for b in block_ids
    )


def _served(obs: arena.Observation, given: Sequence[str], received: Sequence[str]) -> list[str]:
    """The names of the jobs for which the best plan after the trade uses the received blocks."""
    market, names = obs.market, job_names(obs.own.jobs)
    kept = {b.block_id for b in obs.owned_blocks if b.status in arena.FREE} - {*given}
    blocks = [block for name, block in market.blocks.items() if name in kept | {*received}]
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
        parts = [f"{block_list(obs.market, blocks)}{valued}"] if blocks else []
        parts += [f"{credits:.2f} credits"] if credits > 0 else []
        return listed(parts) or "nothing"

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


def told_price(obs: arena.Observation, offer: arena.Offer) -> str:
    """What became of an offer of the visitor's, as far as the other lab let it be known."""
    lab, asked = lab_name(obs.market, offer.to_lab_id), _countered(obs, offer)
    named = f"offer {offer.offer_id.removeprefix('o_')}"
    if asked:
        return f"{lab} wants about {asked:.0f} credits; it may take less"
    if offer.status == "rejected":
        return f"{lab} turns {named} down"
    if offer.status == "withdrawn":
        return f"{named} is withdrawn"
    if offer.status == "invalid":
        return f"{named} is void, because a block of it is gone"
    if offer.requested_blocks:
        return (
            f"{lab} has not answered your bid for {block_list(obs.market, offer.requested_blocks)}:"
            " it wants more, and names its price only to a bid of at least a quarter of it"
        )
    return f"{lab} has not taken {block_list(obs.market, offer.offered_blocks)} at this price"


def _countered(obs: arena.Observation, offer: arena.Offer) -> float:
    """The credits that the other lab asked in its answer to an offer; 0 where it named none."""
    market = obs.market
    for other in (*market.offers.values(), *market.closed.values()):
        if other.linked_offer_id == offer.offer_id and other.from_lab_id == offer.to_lab_id:
            return max(0.0, other.ask - other.payment)
    return 0.0
