"""A visit as one value, what is on the table, and every move beside the calendar.

The browser holds what is typed and picked, and sends all of it with each press. The server writes
the defaults of the fields, which the browser takes where the key of a part changes. A worth is the
change of the lab's best plan, computed from what the lab itself may see.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from markupsafe import Markup

from env import arena
from env.arena.broker import WORDS
from panels.gpu_arena import words
from panels.gpu_arena.players import TASK
from panels.ui.components.moves import button
from panels.ui.html import macros
from panels.ui.look import folded, note, table
from panels.ui.terms import capital, list_names, term
from sauda.sessions.arena import ArenaGame

HTML = macros("arena")
CREDITS, SHARE = "credits", "Owner’s share of a pooled gain, 0 to 1"  # the labels of the numbers
MOST_CREDITS = 1_000_000  # that the form takes for an amount; a lab has about 100
OTHER_MOVES = (
    "form_coalition", "commit_to_coalition", "reserve_capacity", "release_capacity",
    "send_message", "make_pitch", "counter_pitch", "finish",
)  # fmt: skip
PAY, ASK = "pay", "ask for"  # the two ways of the money in an offer


@dataclass(frozen=True)
class Fields:
    """What a browser sends with a move: what it is about, and what the fields of the tab hold.

    Fields are called by their names in the HTML.
    """

    value: str = ""  # a job, a block, an offer, an action as JSON, a player
    blocks: tuple[str, ...] = ()  # those that are pressed on the calendar
    search: str = ""  # the query string of the page's address
    task: str = TASK
    seed: str = ""
    player: str = words.EXPERT
    give: tuple[str, ...] = ()  # blocks of the offer
    want: tuple[str, ...] = ()
    way: str = PAY
    credits: str = "0"
    to: str = ""  # a lab; "" for the first one
    say: str = ""
    answered: str = ""  # the open offer that the offer answers
    move: str = ""  # the chosen other move as JSON; "" for the first one
    share: str = ""
    message: str = ""


def read(sent: object) -> Fields:
    """What a browser sent; any client can send anything, and what is no text counts as missing."""
    by_name, known = sent if isinstance(sent, Mapping) else {}, {}
    for field in fields(Fields):
        value = by_name.get(field.name)
        if isinstance(field.default, tuple):
            each = value if isinstance(value, list) else ()
            known[field.name] = tuple(text for text in each if isinstance(text, str))
        elif isinstance(value, str):
            known[field.name] = value
    return Fields(**known)


@dataclass(frozen=True)
class Visit:
    """A visitor's game, which the session keeps, and what the fields of the page hold beside it."""

    game: ArenaGame | None  # None where the page no longer has it
    running: bool = False  # whether the browser asks for steps by itself
    advice: str = ""  # HTML
    fields: Fields = Fields()
    said: str = ""  # HTML about the last press
    place: str = ""  # where that stands: "problem", "hint", "deal" or "purpose"

    @property
    def is_idle(self) -> bool:
        """Whether the game waits for the visitor."""
        return self.game is not None and not (self.running or self.game.over)

    def said_at(self, place: str) -> str:
        """What is said at a place."""
        return self.said if place == self.place else ""

    def say(self, place: str, remark: Markup) -> "Visit":
        """This visit with a sentence at a place, under the buttons where it has no game."""
        return replace(self, said=remark, place=place if self.game else "problem")

    def fill(self, **typed: Any) -> "Visit":
        """This visit with other values in its fields."""
        return replace(self, fields=replace(self.fields, **typed))

    def show(self, game: ArenaGame, running: bool = False) -> "Visit":
        """A game that has changed; the fields of the offer and of the other moves are empty."""
        now = self.fields
        emptied = Fields(task=game.task_name, seed=now.seed, player=now.player)
        return Visit(game, running and not game.over, fields=emptied)


# The open offers --------------------------------------------------------------------------------


def offers(obs: arena.Observation) -> Markup:
    """Every open offer: those to the visitor, its own, and those between others; and the pools."""
    market = obs.market
    of_visitor = [_offer(obs, offer) for offer in (*obs.incoming, *obs.outgoing)]
    between = [
        (
            *(words.lab_name(market, lab) for lab in (offer.from_lab_id, offer.to_lab_id)),
            words.goods(market, offer.offered_blocks, offer.payment),
            words.goods(market, offer.requested_blocks, offer.ask),
            offer.expires_round,
        )
        for offer in market.offers.values()
        if obs.agent not in (offer.from_lab_id, offer.to_lab_id)
    ]
    return HTML.offers(of_visitor, between, _pools(obs))


def _offer(obs: arena.Observation, offer: arena.Offer) -> Markup:
    """An offer to the visitor, or its own, with the buttons that answer it."""
    is_own = offer.from_lab_id == obs.agent
    sides, money = (offer.requested_blocks, offer.offered_blocks), offer.payment - offer.ask
    if is_own:
        sides, money = sides[::-1], -money
    lab = words.lab_name(obs.market, offer.to_lab_id if is_own else offer.from_lab_id)
    gives = words.goods(obs.market, offer.offered_blocks, offer.payment)
    asks = words.goods(obs.market, offer.requested_blocks, offer.ask)
    title = f"{f'You offer {lab}' if is_own else f'{lab} offers'} {gives} for {asks}"
    worth = HTML.worth(*words.worth(obs, *sides, money))
    message = words.with_names(obs.market, offer.message, words.job_names(obs.own.jobs))
    outcome = capital(words.told_price(obs, offer)) if is_own else ""
    return HTML.offer(offer, is_own, title, worth, message, outcome)


def take(label: str, action: Mapping[str, Any], press: str = "take") -> Markup:
    """A button that takes an action."""
    return button(label, f"{press}:{json.dumps(action)}", "sauda-try")


def _pools(obs: arena.Observation) -> Markup:
    """The pools of the market, with a button to join one that the visitor is asked into."""
    pools, asked = obs.market.coalitions.values(), {pool.coalition_id for pool in obs.proposals}
    if not pools:
        return Markup("")

    def state(pool: arena.Coalition) -> str:
        if pool.coalition_id in asked:
            join = {"action_type": "form_coalition", "target_lab_id": pool.members[0]}
            return take("Join", join)
        if pool.breached_by:
            return f"broken by {words.lab_name(obs.market, pool.breached_by)}"
        return "runs" if pool.active else "ended" if pool.ended else "proposed"

    rows = [
        (
            term(
                list_names([words.lab_name(obs.market, lab) for lab in pool.members]),
                pool.coalition_id,
            ),
            state(pool),
            capital(words.goods(obs.market, pool.commitments)) if pool.commitments else "–",
            f"{pool.share:.0%}",
        )
        for pool in pools
    ]
    heads = (term("pool of", "coalition"), "state", "blocks in it", "owner’s share of a gain")
    return table(heads, rows, "lllr")


# The sentence of an offer ------------------------------------------------------------------------


def sentence(visit: Visit) -> Markup:
    """An offer as one sentence with fields; its price is one that the other side may take."""
    obs, now, step = visit.game.observation, visit.fields, len(visit.game.movers)
    labs = [(lab.public_name, lab.lab_id) for lab in obs.others]
    to, money = recipient(obs, now), suggested_money(obs, now)
    blocks = own_blocks(obs), wanted_blocks(obs)
    return HTML.sentence(now, step, blocks, (PAY, ASK), money, labs, to, WORDS.values())


def deal(visit: Visit) -> Markup:
    """What the offer of the sentence is worth to the visitor, and what the other side may take.

    ValueError with one sentence where the amount cannot be.
    """
    obs, fields = visit.game.observation, visit.fields
    give, want = known_ids(obs, fields.give), known_ids(obs, fields.want)
    if not (give or want):
        return Markup("")
    price, to = _paid(fields), recipient(obs, fields)
    worth_of = HTML.worth(*words.worth(obs, give, want, -price))
    hint = words.suggested_price(obs, to, give, want) if to else None
    if hint is None:
        return worth_of
    money = f"{'pay' if hint < 0 else 'take'} {abs(hint):.0f} credits"
    return worth_of + note(f"{words.lab_name(obs.market, to)} may {money}.")


def suggested_money(obs: arena.Observation, fields: Fields) -> dict[str, str]:
    """The fields of the money at the price that the other side may take for the chosen blocks."""
    sides, to = (known_ids(obs, fields.give), known_ids(obs, fields.want)), recipient(obs, fields)
    price = (words.suggested_price(obs, to, *sides) or 0.0) if to and any(sides) else 0.0
    return {"way": ASK if price < 0 else PAY, "credits": f"{abs(price):g}"}


def own_blocks(obs: arena.Observation) -> list[tuple[str, str]]:
    """The visitor's blocks that an offer can give, in words and by id."""
    blocks = arena.tradable_blocks(obs.market, obs.agent)
    return [(_in_words(obs, block), block.block_id) for block in blocks]


def wanted_blocks(obs: arena.Observation) -> list[tuple[str, str]]:
    """The other labs' blocks that an offer can ask for, those first that add most to the jobs."""
    blocks = arena.tradable_blocks(obs.market, *(lab.lab_id for lab in obs.others))
    adds = {block: arena.trade_gain(obs, (), (block.block_id,), 0.0) for block in blocks}
    gains = {block: f", {gain:+.1f} for you" if gain > 0.05 else "" for block, gain in adds.items()}
    return [
        (_in_words(obs, block) + gains[block], block.block_id)
        for block in sorted(adds, key=lambda block: -adds[block])
    ]


def _in_words(obs: arena.Observation, block: arena.Block) -> str:
    name = capital(words.block_name(obs.market, block.block_id))
    # A block keeps its first lab's name, so a traded one is told with its owner.
    if words.is_traded(block):
        owner = words.lab_name(obs.market, block.owner_lab_id)
        name += ", now yours" if owner == "you" else f", now {owner}’s"
    return (
        f"{name}: {words.hours_left(obs, [block.block_id])} h, reliability {block.reliability:.2f}"
    )


def recipient(obs: arena.Observation, fields: Fields) -> str:
    """The lab that the offer goes to: the owner of the wanted blocks, else the chosen or first."""
    if known := known_ids(obs, fields.want):
        return obs.market.blocks[known[0]].owner_lab_id
    present = [lab.lab_id for lab in obs.others]
    return fields.to if fields.to in present else next(iter(present), "")


def offer_of(obs: arena.Observation, fields: Fields) -> arena.Action | arena.Malformed:
    """The offer of the sentence; a counter-offer where it answers an open offer of that lab.

    ValueError with one sentence where the amount cannot be; Malformed where the rest is
    unreadable.
    """
    price, to = _paid(fields), recipient(obs, fields)
    open_offer = obs.market.offers.get(fields.answered)
    kind = {"action_type": "send_offer", "target_lab_id": to}
    if open_offer is not None and open_offer.from_lab_id == to:
        kind = {"action_type": "counter_offer", "offer_id": fields.answered}
    row = {
        "block_ids": list(fields.give),
        "requested_block_ids": list(fields.want),
        "payment": max(0.0, price),
        "conditions": {"ask": -price} if price < 0 else {},
        "message": fields.say,
    }
    return arena.action_from(kind | row)


def known_ids(obs: arena.Observation, sent: Sequence[str]) -> tuple[str, ...]:
    """The ids of blocks of this market in what a browser sent."""
    return tuple(block_id for block_id in sent if block_id in obs.market.blocks)


def _paid(fields: Fields) -> float:
    """Credits that the visitor pays; below 0 it asks for them."""
    amount = _number(CREDITS, fields.credits or "0", MOST_CREDITS)
    return -amount if fields.way == ASK else amount


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


# The other moves ---------------------------------------------------------------------------------


def other_moves(visit: Visit) -> Markup:
    """A list of the other moves, with the fields that the chosen one takes."""
    options = choices(visit.game)
    offered = [value for _, value in options]
    chosen = visit.fields.move if visit.fields.move in offered else offered[0]
    action = chosen_action(chosen)
    share = SHARE if action.action_type == "form_coalition" else ""
    longest = arena.LONGEST_MESSAGE if takes_words(action.action_type) else 0
    purpose = visit.said_at("purpose") or note(arena.KINDS[action.action_type].purpose)
    step = len(visit.game.movers)
    body = HTML.other_moves(step, options, chosen, action, share, longest, purpose)
    return folded("Pool, hold a block, talk or leave", body)


def choices(game: ArenaGame) -> list[tuple[str, str]]:
    """The legal ones of OTHER_MOVES as (words, JSON), without what the form sets."""
    obs, options = game.observation, {}
    moves = [move for move in arena.legal_actions(obs) if move.action_type in OTHER_MOVES]
    for move in sorted(moves, key=lambda move: OTHER_MOVES.index(move.action_type)):
        label = capital(words.tell_advice(obs, move._replace(message="")))
        options.setdefault(label, json.dumps(move.as_json()))
    return list(options.items())


def compose(fields: Fields) -> arena.Action | arena.Malformed:
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


def chosen_action(choice: str) -> arena.Action:
    """The action in a value that the page wrote as JSON; ValueError where it holds none."""
    try:
        action = arena.action_from(json.loads(choice))
    except (ValueError, RecursionError):  # a number of 5,000 digits is a plain ValueError
        action = None
    if not isinstance(action, arena.Action):
        raise ValueError("choose one of the actions in the list")
    return action
