"""The ladder: persons to bargain with, from easy to the one who bluffs about everything.

A level is one game, the same for everybody, and the shares of what could be won that earn one, two
and three stars. `ladder.csv` lists the levels. A person's line hints at its manner, the hidden
thing that a good word meets.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from env import get_task
from sauda.language.lines import ENGLISH
from sauda.records import read_table
from sauda.records.seeds import DAILY, deal_at, seller_type
from sauda.sessions import daily
from sauda.sessions.bazaar import Game, as_episode, stand

AHEAD = 2  # levels that are open and not beaten: nobody is stuck before one person


@dataclass(frozen=True)
class Level:
    """A person and its game."""

    number: int  # from 1
    face: str  # the parts of its drawing
    manner: str  # of a seller its type; of a buyer "rival", or its patience where it has none
    task: str
    seed: int
    shares: tuple[float, ...]  # of what could be won, in [0, 1], one for each star
    texts: Mapping[str, str]  # "name_en", "trade_hi", "line_hinglish" and so on

    @cached_property
    def item(self) -> str:
        """The goods, by their name in the catalogue."""
        return deal_at(get_task(self.task), self.seed).item.name

    @property
    def buys(self) -> bool:
        """Whether the person buys, and the visitor sells."""
        return get_task(self.task).learner == "seller"

    def text(self, what: str, language: str = ENGLISH) -> str:
        """The name, the trade or the line of introduction in a language."""
        return self.texts.get(f"{what}_{language}") or self.texts[f"{what}_{ENGLISH}"]


def _level(row: dict[str, str]) -> Level:
    number, face, manner, task, seed = (
        row.pop(name) for name in ("number", "face", "manner", "task", "seed")
    )
    shares = tuple(int(row.pop(star)) / 100 for star in ("one", "two", "three"))
    return Level(int(number), face, manner, task, int(seed), shares, row)


LEVELS = tuple(map(_level, read_table(Path(__file__).with_name("ladder.csv"))))
_BY_GAME = {(level.task, level.seed): level for level in LEVELS}


def level_of(game: Game) -> Level | None:
    """The level whose game `game` is, against its own person; None for any other game."""
    return None if game.opponent else _BY_GAME.get((game.task_name, game.play.seed))


@lru_cache(maxsize=1024)  # a day's seller is drawn for it
def person_at(task_name: str, seed: int, opponent: str = "") -> Level | None:
    """The level whose person sits across.

    In a day's bargain it is the one of the seller's own manner that speaks by the same rules: what
    the others are introduced by, such as a slate or a package, is not in its game.
    """
    if opponent:
        return None
    if task_name != daily.TASK or seed not in DAILY:
        return _BY_GAME.get((task_name, seed))
    manner = seller_type(get_task(task_name), seed)
    return next(level for level in LEVELS if (level.task, level.manner) == (daily.TASK, manner))


def person_of(game: Game) -> Level | None:
    """The level whose person sits across in `game`."""
    return person_at(game.task_name, game.play.seed, game.opponent)


def stars(game: Game) -> int:
    """The stars that a game earns: none while it runs, after a move taken back, or of no level."""
    level = level_of(game)
    if level is None or not game.over or game.undone:
        return 0
    share = stand("you", game.task, as_episode(game)).share
    return sum(share >= least for least in level.shares)


def open_numbers(won: Mapping[int, int]) -> set[int]:
    """The numbers of the levels that can be played by who won so many stars by level number."""
    beaten = {level.number for level in LEVELS if won.get(level.number)}
    ahead = [level.number for level in LEVELS if level.number not in beaten]
    return beaten | set(ahead[:AHEAD])
