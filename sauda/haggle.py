"""A visitor's game as a value: who plays which seat, what may be done next, how it compares.

Nothing here knows the page. The seed is drawn by whoever starts the game and stays hidden while it
runs, since it stands for every hidden value.
"""

from dataclasses import dataclass, replace
from functools import cached_property

from env import (
    Accept,
    Episode,
    Observation,
    Offer,
    Play,
    Task,
    WalkAway,
    advance,
    begin,
    episode,
    move,
    rollout,
    shares,
    task,
)
from sauda.policies import against, contestants

Action = Offer | Accept | WalkAway
LONGEST_SEED = 40  # digits


@dataclass(frozen=True)
class Game:
    """One visitor's game; `opponent` is what `against` takes, or "" for the task's own."""

    task_name: str
    opponent: str
    play: Play

    @cached_property
    def task(self) -> Task:
        """The task with the chosen opponent in its seat."""
        return against(task(self.task_name), self.opponent)

    @property
    def over(self) -> bool:
        return self.play.forfeit or self.task.env.to_act(self.play.state) is None

    @property
    def observation(self) -> Observation:
        """What the visitor sees."""
        return self.task.env.observe(self.play.state, self.task.learner)


def start(task_name: str, opponent: str, seed: int) -> Game:
    """A fresh game, played up to the visitor's first move; ValueError on an unknown name."""
    game = Game(task_name, opponent, begin(against(task(task_name), opponent), seed))
    return replace(game, play=advance(game.task, game.task.opponents, game.play))


def answer(game: Game, action: Action) -> Game:
    """The game after the visitor's move and every answer to it.

    Raises IllegalAction with one sentence on a move the rules forbid; the game is as it was.
    """
    play = move(game.task, game.play, action)
    return replace(game, play=advance(game.task, game.task.opponents, play))


def finished(game: Game) -> Episode:
    """The finished game as an episode."""
    return episode(game.task, game.play)


@dataclass(frozen=True)
class Standing:
    """One line of the comparison: what a player made of this very game."""

    name: str
    share: float  # mean over the deals, of the ZOPA
    grade: float
    price: float | None  # of the last deal
    visitor: bool = False


def standings(game: Game) -> list[Standing]:
    """The visitor's finished game beside every policy's on the same seed, best grade first."""
    here = game.task
    rows = [standing("you", here, finished(game), visitor=True)]
    rows += [
        standing(name, here, rollout(here, policy, game.play.seed))
        for name, policy in contestants(here).items()
    ]
    return sorted(rows, key=lambda row: (-row.grade, -row.share, not row.visitor))


def place(rows: list[Standing]) -> str:
    """The visitor's place among `rows`, such as "3 of 12"; shared where somebody did as well."""
    you = next(row for row in rows if row.visitor)
    ahead = sum((row.grade, row.share) > (you.grade, you.share) for row in rows)
    level = sum((row.grade, row.share) == (you.grade, you.share) for row in rows) > 1
    return f"{'shared ' if level else ''}{ahead + 1} of {len(rows)}"


def standing(name: str, here: Task, played: Episode, visitor: bool = False) -> Standing:
    """How one episode came out for the learner."""
    won = shares(played.final, here.learner)
    past = played.final.table.past
    own = [deal.price for deal in past if here.learner in ("seller", deal.buyer)]
    grade = here.grade(played.final)
    return Standing(name, sum(won) / len(won), grade, own[-1] if own else None, visitor)


@dataclass(frozen=True)
class Quick:
    """A move offered as a button; without an action it cannot be made now."""

    label: str
    action: Action | None


def quick_moves(obs: Observation) -> tuple[Quick, Quick, Quick, Quick]:
    """Accept, meet halfway, move a little, walk away."""
    sell = obs.agent == "seller"
    asks, bids = obs.table.asks, obs.table.bids
    mine, theirs = (asks, bids) if sell else (bids, asks)
    losing = bool(theirs) and (theirs[-1] - obs.reservation) * (1 if sell else -1) < 0
    payable = theirs and (sell or theirs[-1] <= obs.own.get("purse", obs.reservation))
    accept = Quick("Accept at a loss" if losing else "Accept", Accept() if payable else None)
    if mine and theirs:
        middle, little = (mine[-1] + theirs[-1]) / 2, mine[-1] + (theirs[-1] - mine[-1]) / 8
    elif theirs:  # a buyer's first bid
        middle, little = theirs[-1] / 2, 0.4 * theirs[-1]
    else:  # a seller's opening
        price = obs.table.item.list_price
        middle, little = price, 1.1 * price
    first, second = ("Halfway", "A little") if mine else ("Open", "Open bolder")
    return (
        accept,
        Quick(first, _legal(obs, middle)),
        Quick(second, _legal(obs, little)),
        Quick("Walk away", WalkAway()),
    )


def _legal(obs: Observation, price: float) -> Offer | None:
    """The nearest price the visitor may name that is not a loss to them; None if there is none."""
    price = round(price) if price >= 20 else obs.priced(price)  # people name whole rupees
    if obs.agent == "seller":
        price = max(price, obs.priced(obs.reservation))
        return Offer(price) if price > (obs.bid or 0) else None
    price = min(price, obs.budget)
    return Offer(price) if 0 < price < obs.ask else None


def whole_seed(value: object) -> int:
    """`value` as a seed; raises ValueError with one sentence on anything but a whole number from 0.

    Seeds are read from text, because a game's own may be longer than a float is exact.
    """
    text = str(value).strip() if isinstance(value, str | int) and value is not True else ""
    if not (text.isascii() and text.isdigit() and len(text) <= LONGEST_SEED):
        raise ValueError(
            f"a seed is a whole number from 0, of at most {LONGEST_SEED} digits, not {value!r:.40}"
        )
    return int(text)
