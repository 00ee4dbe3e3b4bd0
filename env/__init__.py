"""The games: rules, tasks and scripted opponents. Needs numpy and nothing else.

`core.py` holds the types that every game shares, `rollout.py` plays episodes, `tasks.py` lists the
tasks by name. `bazaar/` is bargaining over one item, `arena/` the market of GPU time.
`amounts.py` holds formulas that both use. `__all__` is the whole public interface; the arena's
names stand under `env.arena`, those of the next market under `env.market2` and `env.speech`.
"""

from . import arena
from .amounts import conceded, group_digits, rupees, zopa_width
from .bazaar import market2, speech
from .bazaar.classic import aggressive, classic_seller, naive, rule_based, smart
from .bazaar.market import (
    CLAIM_RATE,
    CLAIMS,
    LOW_BID,
    MARKETS,
    RIVAL_HAZARD_FACTOR,
    SELLER_RESERVATION,
    SELLER_TYPES,
    Market,
    SellerType,
    TimeDependent,
    bonus,
    claim_at,
    market_seller,
    market_task,
    with_seller_type,
)
from .bazaar.rules import Bazaar, shares
from .bazaar.types import (
    CATALOGUE,
    Accept,
    Deal,
    Instance,
    Item,
    Move,
    Observation,
    Offer,
    Table,
    Tells,
    WalkAway,
)
from .bazaar.vectorized import (
    ACCEPT,
    BATCH_TASKS,
    OFFER,
    SELLER,
    WALK,
    BatchView,
    Buyers,
    Games,
    Moves,
    Results,
    asks_at,
    batch_conceded,
    batch_form,
    draw_games,
    games_of,
    hazards_at,
    play_batch,
    rounded,
)
from .core import EndReason, Env, Episode, IllegalAction, Policy, Task, Turn
from .rollout import (
    Play,
    advance,
    agent_stream,
    begin,
    episode,
    instance_stream,
    move,
    rollout,
)
from .tasks import ARENA_TASKS, BAZAAR_TASKS, TASKS, get_task

__all__ = [
    "ACCEPT", "ARENA_TASKS", "BATCH_TASKS", "BAZAAR_TASKS", "CATALOGUE", "CLAIMS", "CLAIM_RATE",
    "LOW_BID", "MARKETS", "OFFER", "RIVAL_HAZARD_FACTOR", "SELLER", "SELLER_RESERVATION",
    "SELLER_TYPES", "TASKS", "WALK", "Accept", "BatchView", "Bazaar", "Buyers", "Deal", "EndReason",
    "Env", "Episode", "Games", "IllegalAction", "Instance", "Item", "Market", "Move", "Moves",
    "Observation", "Offer", "Play", "Policy", "Results", "SellerType", "Table", "Task", "Tells",
    "TimeDependent", "Turn", "WalkAway", "advance", "agent_stream", "aggressive", "arena",
    "asks_at", "batch_conceded", "batch_form", "begin", "bonus", "claim_at", "classic_seller",
    "conceded", "draw_games", "episode", "games_of", "get_task", "group_digits", "hazards_at",
    "instance_stream", "market2", "market_seller", "market_task", "move", "naive", "play_batch",
    "rollout", "rounded", "rule_based", "rupees", "shares", "smart", "speech", "with_seller_type",
    "zopa_width",
]  # fmt: skip
