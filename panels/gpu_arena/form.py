"""What a visitor can do beside the calendar: an offer in one sentence, and every other move."""

import json
from collections.abc import Sequence

from markupsafe import Markup

from env import arena
from panels.gpu_arena.names import block_name, capital, lab_name
from panels.gpu_arena.offers import explained
from panels.gpu_arena.reasons import suggested_price
from panels.gpu_arena.visit import ASK, PAY, Fields, Visit, checkboxes, text_field
from panels.gpu_arena.words import advised
from panels.ui.look import folded, note
from panels.ui.wiring import button, pick_list, region
from sauda.policies.broker import WORDS
from sauda.sessions.arena import ArenaGame

CREDITS, SHARE = "credits", "Owner’s share of a pooled gain, 0 to 1"  # the labels of the numbers
MOST_CREDITS = 1_000_000  # that the form takes for an amount; a lab has about 100
OTHER_MOVES = (
    "form_coalition", "commit_to_coalition", "reserve_capacity", "release_capacity",
    "send_message", "make_pitch", "counter_pitch", "finish",
)  # fmt: skip


# The sentence of an offer ------------------------------------------------------------------------


def sentence(visit: Visit) -> Markup:
    """An offer as one sentence with fields; its price is one that the other side may take."""
    obs, now, step = visit.game.observation, visit.fields, len(visit.game.movers)
    to, money = recipient(obs, now), suggested_money(obs, now)
    sayings = Markup("").join(Markup("<option>{}</option>").format(said) for said in WORDS.values())
    number = {"type": "number", "step": "any", "data_press": "weigh"}
    said = "and say (a sentence of the list, or your own)"
    return Markup(
        '<div id="arena-hand" data-key="{}"><h3>Make an offer</h3>{}'
        '<div class="sauda-fields" data-key="{}">{}{}</div>{}<div data-key="{}">{}</div>'
        '{}<datalist id="arena-sayings">{}</datalist>'
        '<input type="hidden" name="answered" value="{}"></div>'
    ).format(
        f"{step} {now.answered}",
        checkboxes("I give", "give", own_blocks(obs), now.give),
        f"{step} {now.give} {now.want} {to}",
        picker("and", [(PAY, PAY), (ASK, ASK)], "way", money["way"], "weigh"),
        text_field(CREDITS, "credits", money["credits"], **number),
        checkboxes("for", "want", wanted_blocks(obs), now.want),
        f"{step} {to}",
        picker("to", labs(obs), "to", to, "price"),
        text_field(said, "say", now.say, list="arena-sayings"),
        sayings,
        now.answered,
    )


def picker(
    label: str, choices: Sequence[tuple[str, str]], name: str, chosen: str, press: str
) -> Markup:
    """A list to pick from, which reports each choice as a press."""
    picks = pick_list(label, choices, f"arena-{name}", chosen, press=press)
    return Markup('<div class="sauda-entry">{}</div>').format(picks)


def deal(visit: Visit) -> Markup:
    """What the offer of the sentence is worth to the visitor, and what the other side may take.

    ValueError with one sentence where the amount cannot be.
    """
    obs, fields = visit.game.observation, visit.fields
    give, want = known_ids(obs, fields.give), known_ids(obs, fields.want)
    if not (give or want):
        return Markup("")
    price, to = _paid(fields), recipient(obs, fields)
    worth_of = explained(obs, give, want, -price)
    hint = suggested_price(obs, to, give, want) if to else None
    if hint is None:
        return worth_of
    money = f"{'pay' if hint < 0 else 'take'} {abs(hint):.0f} credits"
    return worth_of + note(f"{lab_name(obs.market, to)} may {money}.")


def suggested_money(obs: arena.Observation, fields: Fields) -> dict[str, str]:
    """The fields of the money at the price that the other side may take for the chosen blocks."""
    sides, to = (known_ids(obs, fields.give), known_ids(obs, fields.want)), recipient(obs, fields)
    price = (suggested_price(obs, to, *sides) or 0.0) if to and any(sides) else 0.0
    return {"way": ASK if price < 0 else PAY, "credits": f"{abs(price):g}"}


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


def recipient(obs: arena.Observation, fields: Fields) -> str:
    """The lab that the offer goes to: the owner of the wanted blocks, else the chosen or first."""
    if known := known_ids(obs, fields.want):
        return obs.market.blocks[known[0]].owner_lab_id
    present = [lab_id for _, lab_id in labs(obs)]
    return fields.to if fields.to in present else next(iter(present), "")


def offer_of(obs: arena.Observation, fields: Fields) -> arena.Action | arena.Malformed:
    """The offer of the sentence; a counter-offer where it answers an open offer of that lab.

    ValueError with one sentence where the amount cannot be; Malformed where the rest is
    unreadable.
    """
    price, to = _paid(fields), recipient(obs, fields)
    open_offer = obs.market.offers.get(fields.answered)
    row = {
        "block_ids": list(fields.give),
        "requested_block_ids": list(fields.want),
        "payment": max(0.0, price),
        "conditions": {"ask": -price} if price < 0 else {},
        "message": fields.say,
    }
    if open_offer is not None and open_offer.from_lab_id == to:
        answered = {"action_type": "counter_offer", "offer_id": fields.answered}
        return arena.action_from(row | answered)
    return arena.action_from(row | {"action_type": "send_offer", "target_lab_id": to})


def known_ids(obs: arena.Observation, sent: Sequence[str]) -> tuple[str, ...]:
    """The ids of blocks of this market in what a browser sent."""
    return tuple(one for one in sent if one in obs.market.blocks)


def _paid(fields: Fields) -> float:
    """Credits that the visitor pays; below 0 it asks for them."""
    amount = _number(CREDITS, fields.credits or "0", MOST_CREDITS)
    return -amount if fields.way == ASK else amount


# The other moves ---------------------------------------------------------------------------------


def other_moves(visit: Visit) -> Markup:
    """A list of the other moves, with the fields that the chosen one takes."""
    options, step = choices(visit.game), len(visit.game.movers)
    offered = [value for _, value in options]
    chosen = visit.fields.move if visit.fields.move in offered else offered[0]
    action = chosen_action(chosen)
    purpose = visit.said_at("purpose") or note(arena.KINDS[action.action_type].purpose)
    entries = []
    if action.action_type == "form_coalition":
        share = f"{action.condition('share', 0.5):g}"
        entries.append(text_field(SHARE, "share", share, type="number", step="any"))
    if takes_words(action.action_type):
        longest = arena.LONGEST_MESSAGE
        entries.append(text_field("What you say", "message", action.message, maxlength=longest))
    body = Markup(
        '<div class="sauda-fields" data-key="{}">{}{}</div>{}'
        '<div class="sauda-fields" data-key="{}">{}</div>'
    ).format(
        step,
        picker("Move", options, "move", chosen, "choose_move"),
        button("Do it", press="act"),
        region("arena-purpose", purpose),
        f"{step} {chosen}",
        Markup("").join(entries),
    )
    return folded("Pool, hold a block, talk or leave", body)


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


def composed(fields: Fields) -> arena.Action | arena.Malformed:
    """The chosen action with the share and the words of the form; Malformed if they are unreadable.

    ValueError with one sentence where no action is chosen or the share cannot be.
    """
    row = chosen_action(fields.move).as_json()
    if row["action_type"] == "form_coalition":
        row["conditions"] = {"share": _number(SHARE, fields.share, 1)}
    if takes_words(row["action_type"]):
        row["message"] = fields.message
    return arena.action_from(row)


def takes_words(kind: str) -> bool:
    """Whether an action of this type can hold a message."""
    return "message" in (*arena.KINDS[kind].required, *arena.KINDS[kind].optional)


def _number(label: str, typed: str, most: float) -> float:
    """The number from 0 to `most` that was typed in a field; ValueError where it holds none."""
    try:
        value = float(typed)
    except ValueError:
        value = float("nan")
    if 0 <= value <= most:
        return value
    shown = f", not {value:g}" if abs(value) < 1e300 else ""
    raise ValueError(f"“{label}” takes a number from 0 to {most:,}{shown}; this cost no action")


def chosen_action(choice: str) -> arena.Action:
    """The action in a value that the page wrote as JSON; ValueError where it holds none."""
    try:
        action = arena.action_from(json.loads(choice))
    except (ValueError, RecursionError):  # a number of 5,000 digits is a plain ValueError
        action = None
    if not isinstance(action, arena.Action):
        raise ValueError("choose one of the actions in the list")
    return action
