"""Why a player makes a move, in one sentence, and what price it would name for a trade.

Everything is computed from what the lab itself may see.
"""

from collections.abc import Sequence
from math import ceil

from env import arena
from panels.gpu_arena.names import block_list, job_names, lab_name, listed
from sauda.policies.broker import belief, broker, price

EXPERT, PUBLISHED = "broker", "rule_based_expert"  # the players that can be watched at a press
LIKELY = 0.7  # probability with which a lab takes a suggested price, if its blocks are idle to it


def why(obs: arena.Observation, action: arena.Action | arena.Malformed) -> str:
    """Why the lab makes this move, without a full stop; "" where the move says it all."""
    kind = action.action_type
    if kind in ("send_offer", "counter_offer"):
        return _why_offer(obs, action)
    if kind in ("accept_offer", "reject_offer"):
        return _why_answer(obs, action)
    if kind == "allocate_to_job":
        return _why_booking(obs, action)
    return {
        "form_coalition": "in a pool each side may use the other’s blocks and pays a share of what"
        " they add",
        "commit_to_coalition": "your jobs do not need what goes into the pool, and its owner gets a"
        " share of what it adds",
        "reserve_capacity": "a held block fails last, and nobody can ask for it",
        "wait": "no trade and no booking adds anything now",
        "finish": "nothing is left to gain here",
    }.get(kind, "")


def _why_offer(obs: arena.Observation, action: arena.Action) -> str:
    """What a bid, a sale or a swap brings to the jobs, and what the price leaves of it."""
    given, received = action.block_ids, action.requested_block_ids
    money = action.condition("ask", 0.0) - action.payment
    adds = arena.trade_gain(obs, given, received, 0.0)
    left = f"at this price {adds + money:+.1f} credits are yours"
    if not received:
        worth_now = "you do not need" if adds > -0.05 else f"bring you {-adds:.1f}"
        return f"{_hours(obs, given)} GPU-hours that {worth_now}; {left}"
    owner = lab_name(obs.market, obs.market.blocks[received[0]].owner_lab_id)
    serves = listed(_served(obs, given, received))
    return (
        f"{owner}’s {_hours(obs, received)} GPU-hours serve {serves}: {adds:+.1f};"
        f" {owner} has not booked them; {left}"
    )


def _hours(obs: arena.Observation, block_ids: Sequence[str]) -> int:
    market = obs.market
    return sum(
        arena.live_hours(market.blocks[b], market.round_index, market.max_rounds) for b in block_ids
    )


def _served(obs: arena.Observation, given: Sequence[str], received: Sequence[str]) -> Sequence[str]:
    """The names of the jobs for which the best plan after the trade uses the received blocks."""
    market = obs.market
    blocks = [
        block
        for block in market.blocks.values()
        if block.block_id in received
        or (
            block.owner_lab_id == obs.agent
            and block.status in arena.FREE
            and block.block_id not in given
        )
    ]
    plan = arena.best_plan(blocks, obs.own.jobs, market.round_index, market.max_rounds)
    names = job_names(obs.own.jobs)
    return [names[part.job_id] for part in plan.parts if set(part.block_ids) & set(received)]


def _why_answer(obs: arena.Observation, action: arena.Action) -> str:
    offer = obs.market.offers[action.offer_id]
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
    part = arena.Part(action.job_id, action.block_ids, gain)
    loss = arena.loss_by_delay(obs, part)
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
    blocks = arena.trade_gain(obs, given, received, 0.0)
    one_way = not (given and received)
    gives = _valued(obs, given, -blocks if one_way else None) + _credits(-money)
    gets = _valued(obs, received, blocks if one_way else None) + _credits(money)
    swap = "" if one_way else f"; the swap is worth {blocks:+z.1f} to your jobs"
    return f"You give {listed(gives)} and get {listed(gets)}{swap}", blocks + money


def _valued(obs: arena.Observation, block_ids: Sequence[str], credits: float | None) -> list[str]:
    """The blocks of one side with their worth, where it can be told from the other side's."""
    if not block_ids:
        return []
    amount = "" if credits is None else f" (worth {credits:z.1f} to your jobs)"
    return [f"{block_list(obs.market, block_ids)}{amount}"]


def _credits(money: float) -> list[str]:
    return [f"{money:.2f} credits"] if money > 0 else []


# Prices ------------------------------------------------------------------------------------------


def suggested_price(
    obs: arena.Observation, lab_id: str, given: Sequence[str], received: Sequence[str]
) -> float | None:
    """Credits to pay for a trade with a lab, which it may take; negative: credits to ask for.

    What the lab itself has named for these blocks comes first. None where no price pays.
    """
    for offer in obs.incoming:
        same = (set(offer.offered_blocks), set(offer.requested_blocks)) == (
            set(received),
            set(given),
        )
        if offer.from_lab_id == lab_id and same:
            return offer.ask - offer.payment
    adds = arena.trade_gain(obs, given, received, 0.0)
    if received and adds <= 1:
        return None
    asked = broker.ask_an_hour * _hours(obs, given)
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
    if asked:
        return f"{lab} wants about {asked:.0f} credits; it may take less"
    goods = block_list(obs.market, offer.requested_blocks)
    if offer.status == "rejected":
        return f"{lab} turns offer {_number(offer)} down"
    if offer.status == "withdrawn":
        return f"offer {_number(offer)} is withdrawn"
    if offer.status == "invalid":
        return f"offer {_number(offer)} is void, because a block of it is gone"
    if offer.requested_blocks:
        return (
            f"{lab} has not answered your bid for {goods}: it wants more, and names its price only"
            " to a bid of at least a quarter of it"
        )
    return f"{lab} has not taken {block_list(obs.market, offer.offered_blocks)} at this price"


def _countered(obs: arena.Observation, offer: arena.Offer) -> float:
    """The credits that the other lab asked in its answer to an offer; 0 where it named none."""
    market = obs.market
    for other in (*market.offers.values(), *market.closed.values()):
        if other.linked_offer_id == offer.offer_id and other.from_lab_id == offer.to_lab_id:
            return max(0.0, other.ask - other.payment)
    return 0.0


def _number(offer: arena.Offer) -> str:
    return offer.offer_id.removeprefix("o_")
