"""The games: rules, tasks and scripted opponents. Knows no player, page or model."""

from env.bazaar.batch import (
    BatchSchedule,
    BatchTimeDependent,
    BatchView,
    Games,
    Results,
    batch_rule_based,
    batch_wait,
    play_batch,
)
from env.bazaar.batch_games import BATCH_TASKS, draw_games, games_of
from env.bazaar.buyers import aggressive, naive, rule_based, smart
from env.bazaar.classic import CLASSIC
from env.bazaar.classic_seller import classic_seller
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
    INSULT,
    LOW_BID,
    RIVAL_HURRY,
    STRIDE,
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
from env.tasks import TASKS, task
from env.welfare import frontier_distance, nash_product, surplus_share, zopa_width

__all__ = [
    "BATCH_TASKS",
    "CATALOGUE",
    "CLAIMS",
    "CLASSIC",
    "INSULT",
    "LOW_BID",
    "MARKETS",
    "RIVAL_HURRY",
    "SELLER_LIMIT",
    "STRIDE",
    "TASKS",
    "TYPES",
    "Accept",
    "BatchSchedule",
    "BatchTimeDependent",
    "BatchView",
    "Bazaar",
    "Deal",
    "EndReason",
    "Env",
    "Episode",
    "Games",
    "IllegalAction",
    "Instance",
    "Item",
    "Move",
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
    "batch_rule_based",
    "batch_wait",
    "begin",
    "bonus",
    "claim_at",
    "classic_seller",
    "conceded",
    "draw_games",
    "draw_type",
    "episode",
    "facing",
    "frontier_distance",
    "games_of",
    "grouped",
    "move",
    "naive",
    "nash_product",
    "play_batch",
    "rollout",
    "rule_based",
    "rupees",
    "shares",
    "smart",
    "surplus_share",
    "task",
    "zopa_width",
]
