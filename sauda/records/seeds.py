"""Seeds: drawn for games that are played for a score, read from text, written to JSON."""

import secrets

SEED_BITS = 128  # so many that a game's hidden draws cannot be searched for from what is public
LONGEST_SEED = len(str(2**SEED_BITS))  # digits
EXACT = 2**53 - 1  # the largest whole number that every reader of JSON keeps


def drawn_seed() -> int:
    """A seed that nobody can guess, none of the leaderboard's; hidden until its game is over."""
    return secrets.randbits(SEED_BITS - 1)


def leaderboard_seed() -> int:
    """A seed of the range `splits.LEADERBOARD` that nobody can guess."""
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
