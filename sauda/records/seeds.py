"""Seeds: which train a player and which judge it, those of games for a score, and their JSON.

Training and searches draw their games from TRAINED, the first of the "train" seeds; what is learnt
is judged on the rest of them while it is learnt, and reported on the "holdout" seeds.
Every fourth listing is unseen: no training game has it, so that hold-out games also measure how a
trained player meets something new.
"""

import secrets
from collections.abc import Iterator

from env import CATALOGUE, Instance, Item, Task, begin, instance_stream, zopa_width

SEED_BITS = 128  # so many that a game's hidden draws cannot be searched for from what is public
LONGEST_SEED = len(str(2**SEED_BITS))  # digits
EXACT = 2**53 - 1  # the largest whole number that every reader of JSON keeps

SPLITS = {"train": range(50_000), "holdout": range(50_000, 100_000)}
TRAINED = range(45_000)  # of the training split: the games that a stage or a search may learn from
PLAYED = range(45_000, 50_000)  # games that the checkpoints of a run play
DAILY = range(100_000, 1_000_000)  # for visitors' games of a day; no training, no evaluation
# For entries of the leaderboard; no other game is given a seed of this range. Too large to search.
LEADERBOARD = range(2 ** (SEED_BITS - 1), 2**SEED_BITS)

_PLACES = {item.name: place for place, item in enumerate(CATALOGUE)}
_EVERY = 4  # listings; the last of each four is unseen


def draw_seed() -> int:
    """A seed that nobody can guess, none of the leaderboard's; hidden until its game is over."""
    return secrets.randbits(SEED_BITS - 1)


def leaderboard_seed() -> int:
    """A seed of the range LEADERBOARD that nobody can guess."""
    return 2 ** (SEED_BITS - 1) + secrets.randbits(SEED_BITS - 1)


def whole_seed(value: object) -> int:
    """`value` as a seed; raises ValueError with one sentence on anything but a whole number from 0.

    Seeds are read from text, because a game's own may be longer than a float is exact.
    """
    text = str(value).strip() if isinstance(value, str | int) and value is not True else ""
    written = text.isascii() and text.isdigit() and len(text) <= LONGEST_SEED
    if not written or int(text) >> SEED_BITS:
        raise ValueError(f"a seed is a whole number from 0 below 2**{SEED_BITS}, not {value!r:.40}")
    return int(text)


def seed_in_json(seed: int) -> int | str:
    """The seed as JSON: a number, or text where a reader such as JavaScript would lose digits."""
    return seed if seed <= EXACT else str(seed)


def first_seeds(episodes: int, split: str = "holdout") -> range:
    """The first `episodes` seeds of a split; ValueError where it has fewer, or is none."""
    if split not in SPLITS:
        raise ValueError(f"no split {split!r}; splits are {', '.join(SPLITS)}")
    pool = SPLITS[split]
    if not 1 <= episodes <= len(pool):
        raise ValueError(f"episodes must be from 1 to {len(pool):,}, not {episodes:,}")
    return pool[:episodes]


def deal_at(task: Task, seed: int) -> Instance:
    """The deal of a seed in a bazaar task of one deal, with all hidden values."""
    return task.env.draw(instance_stream(seed))[0]


def has_zopa(deal: Instance) -> bool:
    """Whether some price serves buyer and seller."""
    return zopa_width(deal.buyer["reservation"], deal.seller["reservation"]) > 0


def seller_type(task: Task, seed: int) -> str:
    """The type of the open market's seller in the game of `seed`; "" where sellers have none."""
    stance = begin(task, seed).state.private["seller"].get("stance")
    return "" if stance is None else stance.type


def is_unseen_listing(item: Item) -> bool:
    """Whether no training game may be about `item`, a listing of the catalogue."""
    return _PLACES[item.name] % _EVERY == _EVERY - 1


def is_unseen_game(task: Task, seed: int) -> bool:
    """Whether no training may use this game of one deal: its listing is unseen."""
    return is_unseen_listing(begin(task, seed).state.table.item)


def training_seeds(name: str, first: int) -> Iterator[int]:
    """The seeds of TRAINED from `first` on for games of that name, in order.

    Raises ValueError where they run out, so that nothing is learnt from a game that judges it.
    """
    yield from TRAINED[first:]
    raise ValueError(
        f"{name} has too few training seeds from {first:,}: "
        f"those from {TRAINED.stop:,} on judge what was learnt"
    )
