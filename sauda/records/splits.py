"""Which seeds train a player and which judge it, and what no training game may show.

Training draws its games from the "train" seeds and every reported figure from the "holdout" seeds.
One seller type and every fourth listing are unseen: no training game has them, so that hold-out
games also measure how a trained player meets something new.
"""

from env import CATALOGUE, Item, Task, begin
from sauda.records.seeds import SEED_BITS

SPLITS = {"train": range(50_000), "holdout": range(50_000, 100_000)}
DAILY = range(100_000, 1_000_000)  # for visitors' games of a day; no training, no evaluation
# For entries of the leaderboard; no other game is given a seed of this range. Too large to search.
LEADERBOARD = range(2 ** (SEED_BITS - 1), 2**SEED_BITS)

UNSEEN_SELLER = "fair"  # the seller type that no training game has
_PLACES = {item.name: place for place, item in enumerate(CATALOGUE)}
_EVERY = 4  # listings; the last of each four is unseen


def seller_type(task: Task, seed: int) -> str:
    """The type of the open market's seller in the game of `seed`; "" where sellers have none."""
    stance = begin(task, seed).state.private["seller"].get("stance")
    return "" if stance is None else stance.type.name


def is_unseen_listing(item: Item) -> bool:
    """Whether no training game may be about `item`, a listing of the catalogue."""
    return _PLACES[item.name] % _EVERY == _EVERY - 1


def is_unseen_game(task: Task, seed: int, unseen_seller: str) -> bool:
    """Whether no training may use this game of one deal: its listing or its seller is unseen."""
    listing = begin(task, seed).state.table.item
    return seller_type(task, seed) == unseen_seller or is_unseen_listing(listing)
