"""What a visitor can choose before a game: the seat, the market or the item, the opponent.

Choices are (label, value) pairs, as Gradio takes them; everything else reads the values.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

from env import CATALOGUE, TYPES, get_task, instance_stream
from panels.haggle.opponents import (
    ANY_SELLER,
    SELLER_MODELS,
    STAND_IN,
    buyer_models,
    is_language_model,
    opponent_name,
    persona_of,
    scripted_buyers,
)
from panels.haggle.words import ENGLISH, Translate, Trouble, translator
from sauda.language.lines import name_in
from sauda.policies import BUYERS
from sauda.records.seeds import draw_seed
from sauda.sessions.bazaar import Game, start

BUY, SELL = "buy", "sell"
SELLING_TASK = "bazaar/sell"
ANY_ITEM = "any item"
HIDDEN = "hidden"  # a scripted buyer, or a seller type, that the end of the game reveals
Choices = list[tuple[str, str]]

MARKETS = (
    "bazaar/open",
    "bazaar/rushed",
    "classic/amazon_realistic",
    "classic/single_deal",
    "classic/deceptive_seller",
    "classic/impatient_seller",
    "classic/collaborative_seller",
    "classic/asymmetric_pressure",
    "classic/read_the_tells",
    "classic/career_10",
    "classic/marketplace_arena",
)


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
    return [(translator(language)(name), name) for name in MARKETS]


def opponent_choices(seat: str, market: str, language: str = ENGLISH) -> Choices:
    """Who can take the other seat: buyers to sell to, or the seller types of the open market."""
    translate = translator(language)
    hidden = (translate("hidden_opponent"), HIDDEN)
    if seat == SELL:
        models, scripts = buyer_models(), scripted_buyers()
    elif market.startswith("bazaar/"):
        models, scripts = (ANY_SELLER,), (*SELLER_MODELS, *TYPES)
    else:
        return [hidden]

    def labelled(names: Iterable[str]) -> Choices:
        return [(opponent_name(name, translate), name) for name in names]

    return [*labelled(models), hidden, *labelled(scripts)]


def new_game(seat: str, market: str, opponent: str, ready: bool = True) -> Game:
    """A fresh game at a secret seed: in a market to buy in, or as the seller of an item.

    A scripted opponent stands in for a language model that is not `ready`. Raises ValueError on a
    market or an opponent that the seat does not offer.
    """
    _check(seat, market, opponent)
    selling = seat == SELL
    seed = draw_seed()
    if selling and market != ANY_ITEM:  # the seed draws the item too: draw until it is this one
        while item_of(seed) != market:
            seed = draw_seed()
    return _started(SELLING_TASK if selling else market, opponent, ready, seed)


def item_of(seed: int) -> str:
    """The item that a game of SELLING_TASK is about: the first thing that its seed draws.

    Drawing the whole game takes two and a half times as long, and a wished item takes hundreds.
    """
    stream = instance_stream(get_task(SELLING_TASK), seed)
    return CATALOGUE[stream.integers(len(CATALOGUE))].name


def game_at(task_name: str, seed: int, opponent: str, ready: bool = True) -> Game:
    """The game of a task at a known seed, against any opponent; raises as `new_game`."""
    _check(*seat_and_market(task_name), opponent)
    return _started(task_name, opponent, ready, seed)


def seat_and_market(task_name: str) -> tuple[str, str]:
    """The choices that lead to a task."""
    return (SELL, ANY_ITEM) if task_name == SELLING_TASK else (BUY, task_name)


def leads_to(seat: str, market: str, game: Game) -> bool:
    """Whether these choices lead to `game`, by its task and item."""
    if seat == SELL == seat_and_market(game.task_name)[0]:
        return market in (ANY_ITEM, game.observation.table.item.name)
    return (seat, market) == seat_and_market(game.task_name)


def chosen_opponent(game: Game) -> str:
    """The choice of opponent that led to `game`."""
    player = game.stands_in_for or game.opponent
    if game.hidden:
        return ANY_SELLER if player in SELLER_MODELS else HIDDEN
    return player or HIDDEN


def _check(seat: str, market: str, opponent: str) -> None:
    """Raises ValueError unless the seat offers the market and the opponent."""
    offered = market in values(market_choices(seat))
    if not offered or opponent not in values(opponent_choices(seat, market)):
        raise Trouble("bad_choice")


def _started(task_name: str, opponent: str, ready: bool, seed: int) -> Game:
    """The game against the chosen opponent, or against the script that stands in for it.

    The seed draws a hidden buyer or type of seller, so that a link to a game leads to the same one.
    """
    selling = task_name == SELLING_TASK
    player, absent = opponent, ""
    if opponent == HIDDEN:
        player = tuple(BUYERS)[seed % len(BUYERS)] if selling else ""
    elif opponent == ANY_SELLER:
        player = SELLER_MODELS[seed % len(SELLER_MODELS)]
    if is_language_model(player) and not ready:
        player, absent = STAND_IN if selling else persona_of(player), player
    game = start(task_name, player, seed)
    return replace(game, stands_in_for=absent, hidden=opponent in (HIDDEN, ANY_SELLER))


def offered(seat: str, market: str, opponent: str) -> tuple[str, str]:
    """Market and opponent, each the first that is offered where it is not."""
    market = one_of(values(market_choices(seat)), market)
    return market, one_of(values(opponent_choices(seat, market)), opponent)


def values(choices: Choices) -> list[str]:
    """The values of `choices`, without their labels."""
    return [value for _, value in choices]


def one_of(offered: Sequence[str], chosen: object) -> str:
    """`chosen` where it is offered, else the first that is."""
    return chosen if chosen in offered else offered[0]
