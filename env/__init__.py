"""The games: rules, tasks and scripted opponents. Knows no player, page or model."""

from env import arena
from env.bazaar.batch import SELLER, BatchView, Buyers, Games, Moves, Results
from env.bazaar.batch_buyers import batch_form
from env.bazaar.batch_games import BATCH_TASKS, draw_games, games_of
from env.bazaar.batch_play import play_batch
from env.bazaar.batch_sellers import ACCEPT, OFFER, WALK, asks_at, hazards_at
from env.bazaar.buyers import aggressive, naive, rule_based, smart
from env.bazaar.classic import CLASSIC
from env.bazaar.classic_seller import classic_seller
from env.bazaar.exact import conceded_of, rounded
from env.bazaar.listings import CATALOGUE, Item
from env.bazaar.market import MARKETS, SELLER_LIMIT, facing
from env.bazaar.rules import (
    Accept,
    Bazaar,
    Deal,
    Instance,
    Move,
    Observation,
    Offer,
    Table,
    WalkAway,
    shares,
)
from env.bazaar.seller_brief import bonus
from env.bazaar.sellers import (
    CLAIMS,
    LOW_BID,
    RIVAL_HURRY,
    TALK,
    TYPES,
    claim_at,
    draw_type,
)
from env.bazaar.tells import Tells
from env.bazaar.time_dependent import TimeDependent
from env.concession import conceded
from env.core import EndReason, Env, Episode, IllegalAction, Policy, Task, Turn
from env.money import grouped, rupees
from env.rollout import Play, advance, agent_stream, begin, episode, move, rollout
from env.tasks import ARENA_TASKS, BAZAAR_TASKS, TASKS, task
from env.welfare import frontier_distance, nash_product, surplus_share, zopa_width

__all__ = [
    "ACCEPT",
    "ARENA_TASKS",
    "BATCH_TASKS",
    "BAZAAR_TASKS",
    "CATALOGUE",
    "CLAIMS",
    "CLASSIC",
    "LOW_BID",
    "MARKETS",
    "OFFER",
    "RIVAL_HURRY",
    "SELLER",
    "SELLER_LIMIT",
    "TALK",
    "TASKS",
    "TYPES",
    "WALK",
    "Accept",
    "BatchView",
    "Bazaar",
    "Buyers",
    "Deal",
    "EndReason",
    "Env",
    "Episode",
    "Games",
    "IllegalAction",
    "Instance",
    "Item",
    "Move",
    "Moves",
    "Observation",
    "Offer",
    "Play",
    "Policy",
    "Results",
    "Table",
    "Task",
    "Tells",
    "TimeDependent",
    "Turn",
    "WalkAway",
    "advance",
    "agent_stream",
    "aggressive",
    "arena",
    "asks_at",
    "batch_form",
    "begin",
    "bonus",
    "claim_at",
    "classic_seller",
    "conceded",
    "conceded_of",
    "draw_games",
    "draw_type",
    "episode",
    "facing",
    "frontier_distance",
    "games_of",
    "grouped",
    "hazards_at",
    "move",
    "naive",
    "nash_product",
    "play_batch",
    "rollout",
    "rounded",
    "rule_based",
    "rupees",
    "shares",
    "smart",
    "surplus_share",
    "task",
    "zopa_width",
]
