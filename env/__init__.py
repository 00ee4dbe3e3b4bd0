"""The games: rules, tasks and scripted opponents. Knows no player, page or model."""

from env.bazaar.buyers import aggressive, naive, rule_based, smart
from env.bazaar.classic import CLASSIC
from env.bazaar.classic_seller import classic_seller
from env.bazaar.listings import CATALOGUE, Item
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
from env.bazaar.tells import Tells
from env.bazaar.time_dependent import TimeDependent
from env.concession import conceded
from env.core import EndReason, Env, Episode, IllegalAction, Policy, Task, Turn
from env.money import grouped, rupees
from env.rollout import Play, advance, begin, episode, move, rollout
from env.tasks import TASKS, task
from env.welfare import frontier_distance, nash_product, surplus_share, zopa_width

__all__ = [
    "CATALOGUE",
    "CLASSIC",
    "TASKS",
    "Accept",
    "Bazaar",
    "Deal",
    "EndReason",
    "Env",
    "Episode",
    "IllegalAction",
    "Instance",
    "Item",
    "Move",
    "Observation",
    "Offer",
    "Play",
    "Policy",
    "Table",
    "Task",
    "Tells",
    "TimeDependent",
    "Turn",
    "WalkAway",
    "advance",
    "aggressive",
    "begin",
    "bonus",
    "classic_seller",
    "conceded",
    "episode",
    "frontier_distance",
    "grouped",
    "move",
    "naive",
    "nash_product",
    "rollout",
    "rule_based",
    "rupees",
    "shares",
    "smart",
    "surplus_share",
    "task",
    "zopa_width",
]
