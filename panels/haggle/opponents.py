"""What a visitor can choose before a game: the seat, the market or the item, the opponent.

The opponents are the served models, the stages of training and the scripts; the stages and their
figures come from the artifacts, so that a new stage with rows is offered. Choices are
(label, value) pairs, as Gradio takes them; everything else reads the values.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache

from env import CATALOGUE, TYPES, instance_stream
from panels.haggle.words import ENGLISH, Translate, Trouble, translator
from panels.measured import FILE
from panels.results.winners import HOLDOUT, Entry, contest
from panels.site.card import HIDDEN
from panels.ui.provenance import load_or_say
from sauda.language.lines import name_in
from sauda.llm.backends import SEATS, THIS_PAGE, find_backends
from sauda.llm.model import adapter_folder
from sauda.llm.seller import PERSONAS
from sauda.llm.server import ModelWorker
from sauda.players import (
    BASE,
    CONSTRAINED,
    PEOPLE,
    SERVED,
    TUNED,
    buyer_name,
    is_model,
    player_spec,
    policy_label,
)
from sauda.policies import BUYERS
from sauda.records.seeds import draw_seed
from sauda.sessions.bazaar import PLANNER, STAND_IN, Game, start

Choices = list[tuple[str, str]]
BUY, SELL = "buy", "sell"
# What a visitor who sells plays with people and with language models: the rules of `bazaar/people`
# with the seats changed, in which these were measured. Scripts buy by the published brief.
SELLING_TASK, BRIEF_TASK = "bazaar/customers", "bazaar/sell"
SELLING_TASKS = (SELLING_TASK, BRIEF_TASK)
MODEL_MARKET = "bazaar/open-3"  # where a model, or a type of seller, is picked
MARKETS = (
    PEOPLE,
    MODEL_MARKET,
    "bazaar/package",
    "bazaar/mute-3",
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
ANY_ITEM = "any item"
MOST_DRAWS = 50 * len(CATALOGUE)  # of seeds until one is about an item; all miss with e**-50
MANNERS = (  # scripts of which words.csv tells how they play
    "expert", "wait", "rule_based", "smart", "aggressive", "naive", "boulware", "linear",
    "conceder", "tit_for_tat", "random", TUNED,
)  # fmt: skip
SCRIPTED_BUYERS = (PLANNER, *BUYERS)
SELLER_MODEL = SEATS["seller"].model
SELLER_MODELS = tuple(f"{SELLER_MODEL}:{persona}" for persona in PERSONAS)
ANY_SELLER = f"{SELLER_MODEL}:hidden"  # its type shows at the end


@cache
def models() -> dict[str, dict[str, ModelWorker]]:
    """The language models that the page serves by seat and backend; all visitors share them."""
    return find_backends()


def load_in_background() -> None:
    """Start to load the page's own buyer, so that the first visitor finds it ready."""
    models()["buyer"][THIS_PAGE].start()


# Opponents ----------------------------------------------------------------------------------------


Rows = Mapping[str, Mapping[str, Entry]]  # of the open market in Results: by task, then by policy


@cache
def rows() -> tuple[Rows, tuple[str, ...]]:
    """The rows as Results shows them, and the stages of training; none without an artifact."""
    holdout, comparison = (load_or_say(file)[0] for file in (HOLDOUT, FILE))
    field = contest((holdout, comparison))
    by_task = {task: {row.policy: row for row in ranked} for task, ranked in field.items()}
    compared = dict.fromkeys(row.policy for row in comparison.data.rows) if comparison else ()
    return by_task, tuple(filter(is_stage, compared))


def is_stage(policy: str) -> bool:
    """Whether a policy is the bare base, or the base with an adapter, and can be loaded."""
    base, _, adapter = policy.partition("+")
    return base == BASE and (not adapter or adapter_folder(adapter) is not None)


def read_measured(task_name: str = PEOPLE) -> Mapping[str, Entry]:
    """The rows of a task by policy."""
    return rows()[0].get(task_name, {})


def bare_stages(task_name: str) -> tuple[str, ...]:
    """The stages, without a wrapper, that have a row of a task of the open market."""
    return tuple(stage for stage in rows()[1] if stage in read_measured(task_name))


def buyer_models() -> tuple[str, ...]:
    """The language models that a visitor can sell to, the one that the page serves first."""
    return tuple(dict.fromkeys((SERVED, *bare_stages(PEOPLE))))


def is_language_model(opponent: str) -> bool:
    """Whether a visitor can choose `opponent` and it is a language model, in either seat."""
    return opponent in (ANY_SELLER, *SELLER_MODELS, *buyer_models())


def weights_of(opponent: str) -> str:
    """The name under which the page loads the weights of a language model that buys."""
    return SEATS["buyer"].model if opponent == SERVED else player_spec(opponent).weights


def stage_name(stage: str, translate: Translate) -> str:
    """The stage of training of a language model that buys, in words."""
    return translate("untrained") if stage == BASE else buyer_name(stage)


def opponent_name(opponent: str, translate: Translate) -> str:
    """Any opponent in words, such as "SFT, guard rails off", "SmolLM2, firm" or "tit for tat"."""
    if opponent == SERVED:
        return translate("talker")
    if opponent == ANY_SELLER:
        return translate("any_seller")
    if opponent in SELLER_MODELS:
        return f"SmolLM2, {translate(f'style_{persona_of(opponent)}')}"
    if opponent in TYPES:
        return translate(f"style_{opponent}")
    if opponent == PLANNER:
        return translate("planner")
    if not is_model(opponent):
        return policy_label(opponent)
    stage = opponent.removesuffix(f"+{CONSTRAINED}")
    name = stage_name(stage, translate)
    return name if stage == opponent else translate("how_constrained", stage=name)


def about_script(name: str, translate: Translate) -> str:
    """How a script plays, in a few words; "" for any other player."""
    return translate(f"about_{name}") if name in MANNERS else ""


def persona_of(opponent: str) -> str:
    """The type of seller that a model plays; "" for a model that buys."""
    return opponent.partition(":")[2]


def model_name(opponent: str, translate: Translate) -> str:
    """The short name of a language model, for a sentence about its replies."""
    if opponent in SELLER_MODELS:
        return "SmolLM2"
    return "Sauda" if opponent == SERVED else stage_name(opponent, translate)


# Choices ------------------------------------------------------------------------------------------


def seat_choices(translate: Translate) -> Choices:
    """The two seats."""
    return [(translate("buy"), BUY), (translate("sell"), SELL)]


@cache
def market_choices(seat: str, language: str = ENGLISH) -> Choices:
    """The hundreds of items to sell, or the tasks to buy in; all visitors share the list."""
    translate = translator(language)
    if seat == SELL:
        items = dict.fromkeys(item.name for item in CATALOGUE)
        named = [(name_in(language, name), name) for name in items]
        return [(translate("any_item"), ANY_ITEM), *named]
    return [(translate(name), name) for name in MARKETS]


@lru_cache(maxsize=64)
def opponent_choices(seat: str, market: str, language: str = ENGLISH) -> Choices:
    """Who can take the other seat: buyers to sell to, or the seller types of the open market."""
    translate = translator(language)
    hidden = (translate("hidden_opponent"), HIDDEN)
    if seat == SELL:
        language_models, scripts = buyer_models(), SCRIPTED_BUYERS
    elif market == MODEL_MARKET:  # the scripted stranger first: a model's seller is slower and dull
        language_models, scripts = (), (ANY_SELLER, *SELLER_MODELS, *TYPES)
    else:
        return [hidden]

    def labelled(names: Iterable[str]) -> Choices:
        """Of a script how it plays, too: "linear: gives in evenly"."""
        words = [(opponent_name(name, translate), about_script(name, translate)) for name in names]
        return [(": ".join(filter(None, each)), n) for each, n in zip(words, names, strict=True)]

    return [*labelled(language_models), hidden, *labelled(scripts)]


def choose_offered(seat: str, market: str, opponent: str) -> tuple[str, str]:
    """Market and opponent, each the first that is offered where it is not."""
    market = one_of(values(market_choices(seat)), market)
    return market, one_of(values(opponent_choices(seat, market)), opponent)


def values(choices: Choices) -> list[str]:
    """The values of `choices`, without their labels."""
    return [value for _, value in choices]


def one_of(offered: Sequence[str], chosen: object) -> str:
    """`chosen` where it is offered, else the first that is."""
    return chosen if chosen in offered else offered[0]


def new_game(seat: str, market: str, opponent: str, ready: bool = True) -> Game:
    """A fresh game at a secret seed: in a market to buy in, or as the seller of an item.

    A scripted opponent stands in for a language model that is not `ready`. Raises ValueError on a
    market or an opponent that the seat does not offer.
    """
    _check(seat, market, opponent)
    if seat == BUY:
        return _start(market, opponent, ready, draw_seed())
    seed = draw_seed() if market == ANY_ITEM else _seed_of(market)
    return _start(selling_task(opponent), opponent, ready, seed)


def selling_task(opponent: str) -> str:
    """The task in which a visitor sells to an opponent."""
    return BRIEF_TASK if opponent in SCRIPTED_BUYERS else SELLING_TASK


def _seed_of(item: str) -> int:
    """A secret seed whose game is about `item`; Trouble where MOST_DRAWS give none."""
    for _ in range(MOST_DRAWS):
        if item_of(seed := draw_seed()) == item:
            return seed
    raise Trouble("bad_choice")


def item_of(seed: int) -> str:
    """The item that a game of SELLING_TASKS is about: the first thing that its seed draws.

    Drawing the whole game takes two and a half times as long.
    """
    stream = instance_stream(seed)
    return CATALOGUE[stream.integers(len(CATALOGUE))].name


def game_at(task_name: str, seed: int, opponent: str, ready: bool = True) -> Game:
    """The game of a task at a known seed, against any opponent; raises as `new_game`.

    Who sells to somebody by name plays the task that this one is offered in.
    """
    seat, market = seat_and_market(task_name)
    _check(seat, market, opponent)
    if seat == SELL and opponent != HIDDEN:
        task_name = selling_task(opponent)
    return _start(task_name, opponent, ready, seed)


def _check(seat: str, market: str, opponent: str) -> None:
    """Raises ValueError unless there is such a seat that offers the market and the opponent."""
    known = seat in (BUY, SELL) and market in values(market_choices(seat))
    if not known or opponent not in values(opponent_choices(seat, market)):
        raise Trouble("bad_choice")


def _start(task_name: str, opponent: str, ready: bool, seed: int) -> Game:
    """The game against the chosen opponent, or against the script that stands in for it.

    The seed draws a hidden buyer or type of seller, so that a link to a game leads to the same one.
    """
    selling = task_name in SELLING_TASKS
    player, absent = opponent, ""
    if opponent == HIDDEN:  # the customers of SELLING_TASK are its own
        player = tuple(BUYERS)[seed % len(BUYERS)] if task_name == BRIEF_TASK else ""
    elif opponent == ANY_SELLER:
        player = SELLER_MODELS[seed % len(SELLER_MODELS)]
    if is_language_model(player) and not ready:
        player, absent = STAND_IN if selling else persona_of(player), player
    game = start(task_name, player, seed)
    return replace(game, stands_in_for=absent, hidden=opponent in (HIDDEN, ANY_SELLER))


def seat_and_market(task_name: str) -> tuple[str, str]:
    """The choices that lead to a task."""
    return (SELL, ANY_ITEM) if task_name in SELLING_TASKS else (BUY, task_name)


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
