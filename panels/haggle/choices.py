"""What a visitor can choose before a game: the seat, the market or the item, the opponent.

Choices are (label, value) pairs, as Gradio takes them; everything else reads the values.
"""

import secrets
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from env import CATALOGUE, SELLER_TYPES, begin, get_task
from panels.haggle.models import BUYER_MODELS, MODELS, SELLER_MODELS, STAND_IN
from panels.haggle.talk.names import market_in
from panels.haggle.talk.trouble import Trouble
from panels.haggle.words import ENGLISH, Translate, translator
from sauda.language.speech.items import name_in
from sauda.policies import BUYERS
from sauda.records.seeds import drawn_seed
from sauda.sessions.bazaar import Game, start

BUY, SELL = "buy", "sell"
SELLING_TASK = "bazaar/seller_brief"
ANY_ITEM = "any item"
HIDDEN = "hidden"  # a scripted buyer, or a seller type, that the end of the game reveals
Choices = list[tuple[str, str]]

MARKETS: Mapping[str, str] = {  # task: its label
    "classic/amazon_realistic": "A stall with goods of our catalogue",
    "classic/single_deal": "A plain seller",
    "classic/deceptive_seller": "A seller who bluffs",
    "classic/impatient_seller": "An impatient seller",
    "classic/collaborative_seller": "A fair-minded seller",
    "classic/asymmetric_pressure": "You have a deadline",
    "classic/read_the_tells": "Two rounds only, five times",
    "classic/career_10": "Ten deals with one seller",
    "classic/marketplace_arena": "Against two other buyers",
    "bazaar/open": "Open market: a stranger",
    "bazaar/rushed": "Open market: you are in a hurry",
    "bazaar/bluff": "Open market: a seller who talks",
    "bazaar/career": "Open market: ten deals, one purse",
    "bazaar/crowd": "Open market: two rivals",
}


def seat_choices(translate: Translate) -> Choices:
    """The two seats."""
    return [(translate("buy"), BUY), (translate("sell"), SELL)]


@cache
def item_names() -> tuple[str, ...]:
    """The items that a visitor can choose to sell."""
    return tuple(dict.fromkeys(item.name for item in CATALOGUE))


def market_choices(seat: str, language: str = ENGLISH) -> Choices:
    """The items to sell, or the tasks to buy in."""
    if seat == SELL:
        items = [(name_in(language, name), name) for name in item_names()]
        return [(translator(language)("any_item"), ANY_ITEM), *items]
    return [(market_in(language, name, label), name) for name, label in MARKETS.items()]


def opponent_choices(seat: str, market: str, language: str = ENGLISH) -> Choices:
    """Who can take the other seat: buyers to sell to, or the seller types of the open market."""
    hidden = (translator(language)("hidden_opponent"), HIDDEN)
    if seat == SELL:
        return [*_labelled(BUYER_MODELS), hidden, *((name, name) for name in BUYERS)]
    if not market.startswith("bazaar/"):
        return [hidden]
    return [*_labelled(SELLER_MODELS), hidden, *((name, name) for name in SELLER_TYPES)]


def _labelled(labels: Mapping[str, str]) -> Choices:
    return [(label, value) for value, label in labels.items()]


def new_game(seat: str, market: str, opponent: str, ready: bool = True) -> Game:
    """A fresh game at a secret seed: in a market to buy in, or as the seller of an item.

    A scripted opponent stands in for a language model that is not `ready`. Raises ValueError on a
    market or an opponent that the seat does not offer.
    """
    _check(seat, market, opponent)
    selling = seat == SELL
    seed = drawn_seed()
    if selling and market != ANY_ITEM:  # the seed draws the item too: draw until it is this one
        task = get_task(SELLING_TASK)
        while begin(task, seed).state.table.item.name != market:
            seed = drawn_seed()
    return _started(SELLING_TASK if selling else market, opponent, ready, seed)


def rematch(game: Game, opponent: str, ready: bool = True) -> Game:
    """The item and the seed of `game` again, against another opponent; raises as `new_game`."""
    selling = game.you == "seller"
    _check(*((SELL, ANY_ITEM) if selling else (BUY, game.task_name)), opponent)
    return _started(game.task_name, opponent, ready, game.play.seed)


def _check(seat: str, market: str, opponent: str) -> None:
    """Raises ValueError unless the seat offers the market and the opponent."""
    offered = market in values(market_choices(seat))
    if not offered or opponent not in values(opponent_choices(seat, market)):
        raise Trouble("bad_choice")


def _started(task_name: str, opponent: str, ready: bool, seed: int) -> Game:
    """The game against the chosen opponent, or against the script that stands in for it."""
    selling = task_name == SELLING_TASK
    player, absent = opponent, ""
    if opponent == HIDDEN:
        player = secrets.choice(tuple(BUYERS)) if selling else ""
    elif opponent in MODELS and not ready:
        player, absent = STAND_IN if selling else "", opponent
    return replace(start(task_name, player, seed), stands_in_for=absent)


def values(choices: Choices) -> list[str]:
    """The values of `choices`, without their labels."""
    return [value for _, value in choices]
