"""What is on the table: open offers with their worth to the visitor's lab, and pools.

A worth is the change of the lab's best plan, computed from what the lab itself may see.
"""

import json
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from env import arena
from panels.gpu_arena.names import (
    block_list,
    capital,
    goods,
    job_names,
    lab_name,
    listed,
    with_names,
)
from panels.gpu_arena.reasons import told_price, worth
from panels.gpu_arena.visit import TO_SENTENCE
from panels.ui.look import note, table
from panels.ui.terms import shown_round, term
from panels.ui.wiring import button

WORTH = (
    "the change of your best plan: what your jobs could still earn with your blocks, less energy"
)
NO_OFFER = "No offer is open to you or from you."


def offers(obs: arena.Observation) -> Markup:
    """Every open offer: those to the visitor, its own, and those between others."""
    market = obs.market
    between = [o for o in market.offers.values() if obs.agent not in (o.from_lab_id, o.to_lab_id)]
    own = [*(_incoming(obs, o) for o in obs.incoming), *(_outgoing(obs, o) for o in obs.outgoing)]
    return Markup("<h3>On the table</h3>{}{}{}").format(
        Markup("").join(own) or note(NO_OFFER),
        _between(obs, between),
        _pools(obs),
    )


def explained(
    obs: arena.Observation, given: Sequence[str], received: Sequence[str], money: float
) -> Markup:
    """What a trade gives and costs the lab, with its worth in colour."""
    text, total = worth(obs, given, received, money)
    return Markup('<p>{}: <b class="sauda-{}" title="{}">{}</b></p>').format(
        text, "good" if total > 0 else "bad", WORTH, f"{total:+z.1f}"
    )


# Offers ------------------------------------------------------------------------------------------


def _incoming(obs: arena.Observation, offer: arena.Offer) -> Markup:
    """An offer to the visitor, with buttons that answer it."""
    worth_of = explained(
        obs, offer.requested_blocks, offer.offered_blocks, offer.payment - offer.ask
    )
    sender = lab_name(obs.market, offer.from_lab_id)
    answers = [
        take(label, {"action_type": kind, "offer_id": offer.offer_id})
        for label, kind in (("Accept", "accept_offer"), ("Turn down", "reject_offer"))
    ]
    terms = button("Other terms", "sauda-try", press="counter", value=offer.offer_id, **TO_SENTENCE)
    buttons = Markup(" ").join([*answers, terms])
    return _card(obs, f"{sender} offers you a trade", offer, worth_of, buttons)


def _outgoing(obs: arena.Observation, offer: arena.Offer) -> Markup:
    """An offer of the visitor's, with what it holds back until the answer."""
    worth_of = explained(
        obs, offer.offered_blocks, offer.requested_blocks, offer.ask - offer.payment
    )
    held = f" {offer.payment:.2f} credits are held for it." if offer.payment else ""
    withdraw = take("Withdraw", {"action_type": "reject_offer", "offer_id": offer.offer_id})
    told = note(f"{capital(told_price(obs, offer))}.{held}")
    below = told + withdraw
    recipient = lab_name(obs.market, offer.to_lab_id)
    return _card(obs, f"you offered {recipient} a trade", offer, worth_of, below)


def _card(
    obs: arena.Observation, title: str, offer: arena.Offer, sentence: Markup, below: Markup
) -> Markup:
    words = with_names(obs.market, offer.message, job_names(obs.own.jobs))
    said = Markup("<p>“{}”</p>").format(words) if words else ""
    named = term(f"Offer {offer.offer_id.removeprefix('o_')}: {title}", offer.offer_id)
    return Markup(
        '<section class="sauda-offer"><h4>{} <small>open to the end of round {}</small></h4>'
        "{}{}{}</section>"
    ).format(named, shown_round(offer.expires_round), sentence, said, below)


def take(label: str, action: dict[str, Any], press: str = "take") -> Markup:
    """A button that takes an action."""
    return button(label, "sauda-try", press=press, value=json.dumps(action))


def _between(obs: arena.Observation, offers: Sequence[arena.Offer]) -> Markup:
    """The offers among other labs, a line each."""
    lines = [
        Markup("<li>{} offers {} {} for {}, to the end of round {}</li>").format(
            lab_name(obs.market, offer.from_lab_id),
            lab_name(obs.market, offer.to_lab_id),
            goods(obs.market, offer.offered_blocks, offer.payment),
            goods(obs.market, offer.requested_blocks, offer.ask),
            shown_round(offer.expires_round),
        )
        for offer in offers
    ]
    return (
        Markup('<ul class="sauda-talk">{}</ul>').format(Markup("").join(lines))
        if lines
        else Markup("")
    )


# Pools -------------------------------------------------------------------------------------------


def _pools(obs: arena.Observation) -> Markup:
    """The pools of the market, with a button to join one that the visitor is asked into."""
    pools = obs.market.coalitions.values()
    if not pools:
        return Markup("")
    asked = {pool.coalition_id for pool in obs.proposals}
    rows = [
        (
            term(listed(lab_name(obs.market, lab) for lab in pool.members), pool.coalition_id),
            _join(pool) if pool.coalition_id in asked else _pool_state(obs, pool),
            capital(block_list(obs.market, pool.commitments)) if pool.commitments else "–",
            f"{pool.share:.0%}",
        )
        for pool in pools
    ]
    heads = (term("pool of", "coalition"), "state", "blocks in it", "owner’s share of a gain")
    return table(heads, rows, "lllr")


def _join(pool: arena.Coalition) -> Markup:
    return take("Join", {"action_type": "form_coalition", "target_lab_id": pool.members[0]})


def _pool_state(obs: arena.Observation, pool: arena.Coalition) -> str:
    if pool.breached_by:
        return f"broken by {lab_name(obs.market, pool.breached_by)}"
    return "runs" if pool.active else "ended" if pool.ended else "proposed"
