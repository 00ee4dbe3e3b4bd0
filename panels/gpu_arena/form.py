"""What a visitor can do beside the calendar: an offer in one sentence, and every other move."""

import json
from collections.abc import Sequence
from typing import Any

from env import arena
from panels.gpu_arena.names import block_name, capital
from panels.gpu_arena.words import advised
from sauda.policies.broker import WORDS
from sauda.sessions.arena import ArenaGame

PAY, ASK = "pay", "ask for"  # the two ways of the money in the sentence
CREDITS, SHARE = "credits", "Owner’s share of a pooled gain, 0 to 1"  # the labels of the numbers
MOST_CREDITS = 1_000_000  # that the form takes for an amount; a lab has about 100
SAYINGS = tuple(WORDS.values())
OTHER_MOVES = (
    "form_coalition", "commit_to_coalition", "reserve_capacity", "release_capacity",
    "send_message", "make_pitch", "counter_pitch", "finish",
)  # fmt: skip


# The sentence of an offer ------------------------------------------------------------------------


def labs(obs: arena.Observation) -> list[tuple[str, str]]:
    """The labs that an offer can go to."""
    return [(lab.public_name, lab.lab_id) for lab in obs.others]


def own_blocks(obs: arena.Observation) -> list[tuple[str, str]]:
    """The visitor's blocks that an offer can give."""
    return [
        (_block_in_words(obs, block), block.block_id)
        for block in _tradable(obs)
        if block.owner_lab_id == obs.agent
    ]


def wanted_blocks(obs: arena.Observation) -> list[tuple[str, str]]:
    """The other labs' blocks that an offer can ask for, those first that add most to the jobs."""
    present = {lab.lab_id for lab in obs.others}
    adds = {
        block: arena.trade_gain(obs, (), (block.block_id,), 0.0)
        for block in _tradable(obs)
        if block.owner_lab_id in present
    }
    return [
        (
            _block_in_words(obs, block)
            + (f", {adds[block]:+.1f} for you" if adds[block] > 0.05 else ""),
            block.block_id,
        )
        for block in sorted(adds, key=lambda block: -adds[block])
    ]


def _tradable(obs: arena.Observation) -> list[arena.Block]:
    market = obs.market
    return [
        block
        for block in market.blocks.values()
        if arena.is_requestable(block)
        and arena.live_hours(block, market.round_index, market.max_rounds)
    ]


def _block_in_words(obs: arena.Observation, block: arena.Block) -> str:
    hours = arena.live_hours(block, obs.market.round_index, obs.market.max_rounds)
    name = capital(block_name(obs.market, block.block_id))
    return f"{name}: {hours} h, reliability {block.reliability:.2f}"


def recipient(obs: arena.Observation, wanted: object, chosen: Any) -> Any:
    """The lab that an offer goes to: the owner of the wanted blocks, else the chosen one."""
    known = [obs.market.blocks[b] for b in _ids(wanted) if b in obs.market.blocks]
    return known[0].owner_lab_id if known else chosen


def offer_of(
    obs: arena.Observation,
    given: Any,
    way: Any,
    credits: Any,
    wanted: Any,
    lab_id: Any,
    message: Any,
    answered: Any,
) -> arena.Action | arena.Malformed:
    """The offer of the sentence; a counter-offer where it answers an open offer of that lab.

    ValueError with one sentence where the amount cannot be; Malformed where the rest is
    unreadable.
    """
    price = amount(credits)
    open_offer = obs.market.offers.get(answered) if isinstance(answered, str) else None
    to = recipient(obs, wanted, lab_id)
    row = {
        "block_ids": given or [],
        "requested_block_ids": wanted or [],
        "payment": price if way == PAY else 0.0,
        "conditions": {"ask": price} if way == ASK and price else {},
        "message": message or "",
    }
    if open_offer is not None and open_offer.from_lab_id == to:
        return arena.action_from(row | {"action_type": "counter_offer", "offer_id": answered})
    return arena.action_from(row | {"action_type": "send_offer", "target_lab_id": to})


def _ids(value: object) -> Sequence[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def known_ids(obs: arena.Observation, value: object) -> tuple[str, ...]:
    """The ids of blocks of this market in what a browser sent."""
    return tuple(one for one in _ids(value) if one in obs.market.blocks)


# The other moves ---------------------------------------------------------------------------------


def choices(game: ArenaGame) -> list[tuple[str, str]]:
    """The legal ones of OTHER_MOVES as (words, JSON), without what the form sets."""
    if game.over:
        return []
    obs, options = game.observation, {}
    moves = [move for move in arena.legal_actions(obs) if move.action_type in OTHER_MOVES]
    for move in sorted(moves, key=lambda move: OTHER_MOVES.index(move.action_type)):
        words = capital(advised(obs, move._replace(message="")))
        options.setdefault(words, json.dumps(move.as_json()))
    return list(options.items())


def composed(choice: Any, share: Any, message: Any) -> arena.Action | arena.Malformed:
    """The chosen action with the share and the words of the form; Malformed if they are unreadable.

    ValueError with one sentence where `choice` holds no action or the share cannot be.
    """
    row = chosen_action(choice).as_json()
    if row["action_type"] == "form_coalition":
        row["conditions"] = {"share": _number(SHARE, share, 1)}
    if takes_words(row["action_type"]):
        row["message"] = message or ""
    return arena.action_from(row)


def takes_words(kind: str) -> bool:
    """Whether an action of this type can hold a message."""
    return "message" in (*arena.KINDS[kind].required, *arena.KINDS[kind].optional)


def amount(value: object) -> float:
    """Credits that were typed; an empty field is 0."""
    return 0.0 if value is None else _number(CREDITS, value, MOST_CREDITS)


def _number(label: str, value: object, most: float) -> float:
    """The number from 0 to `most` that was typed in a field; ValueError where it holds none."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= most:
        return value
    shown = f", not {value:g}" if isinstance(value, int | float) and abs(value) < 1e300 else ""
    raise ValueError(f"“{label}” takes a number from 0 to {most:,}{shown}; this cost no action")


def chosen_action(choice: object) -> arena.Action:
    """The action in a value that the page wrote as JSON; ValueError where it holds none."""
    try:
        action = arena.action_from(json.loads(choice)) if isinstance(choice, str) else None
    except (ValueError, RecursionError):  # a number of 5,000 digits is a plain ValueError
        action = None
    if not isinstance(action, arena.Action):
        raise ValueError("choose one of the actions in the list")
    return action
