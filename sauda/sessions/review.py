"""What each of a visitor's moves cost, found by playing the finished game again from before it.

The worth of a position is what the best line known from there earns. A line is advice: it names no
price beyond the visitor's own limit and takes no own price back. A move costs the worth of the
position before it less that of the position after it, so the costs of a deal add up to what the
visitor missed in it. Each deal of a career is reviewed by itself, after the earlier deals as they
were played: what a deal teaches the seller for the next one is left out.

`findings` searches where code decides the other side's moves (`search.py` says how exactly). A
language model that buys is asked for its reply to a few other prices (`asked_findings`); beyond
that reply nothing is known but that the visitor could take it or leave.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from env import Accept, Deal, IllegalAction, Offer, Play, Turn, WalkAway
from sauda.sessions.bazaar import Action, Game, answer, back, moves_of
from sauda.sessions.search import Line, Search, Worth, worth

# Prices and width of a search, so that a review takes at most a second or two of one core.
FINE, MEDIUM, COARSE = (12, 8), (10, 6), (6, 4)
FINE_MOVES = 12  # own moves that are searched finely, or MEDIUM where rivals move too
ASKED_MOVES = 4  # offers, the last ones, for which a language model is asked other prices
ASKED_PRICES = 2  # for each of them: a queue of eight replies is what one visitor may ask for
LEAST_GAP = 0.01  # of the buyer's limit: for less than that no reply is asked for
NOTHING = Worth(0, 0)


@dataclass(frozen=True)
class Finding:
    """A line from before the visitor's move `number`, counted from 0."""

    number: int
    line: Line


@dataclass(frozen=True)
class OwnMove:
    """One of the visitor's moves, with what could be earned before it and after it."""

    number: int  # among the visitor's moves, from 0
    deal: int  # from 0
    action: Action
    before: Worth
    after: Worth
    line: Line | None  # the line that earns more than the game after this move did, if one is known
    most: Worth  # what the deal could earn at its start

    @property
    def cost(self) -> Worth:
        """What the move gave away, at least 0."""
        return self.before - self.after

    @property
    def left(self) -> float | None:
        """The share of the deal's best grade that is still to win; None where that is 0."""
        if self.most.grade <= 0:
            return None
        return min(1.0, max(0.0, self.after.grade / self.most.grade))


@dataclass(frozen=True)
class Review:
    """The visitor's moves in a finished game, each with its cost as far as the findings show it."""

    game: Game
    findings: tuple[Finding, ...]

    @cached_property
    def moves(self) -> tuple[OwnMove, ...]:
        """Every move of the visitor, in order."""
        known: dict[int, Line] = {}
        for found in self.findings:
            best = known.get(found.number, found.line)
            known[found.number] = max(best, found.line, key=lambda line: line.worth)
        reviewed: list[OwnMove] = []
        for first, last in deals_of(self.game):
            reviewed += self._deal(first, last, known)
        return tuple(reviewed)

    def _deal(self, first: int, last: int, known: dict[int, Line]) -> list[OwnMove]:
        """The moves `first` to `last`, which made one deal."""
        after, rows = earned(self.game, first, last), []
        for number in range(last, first - 1, -1):
            line = known.get(number)
            line = line if line is not None and line.worth > after else None
            before = line.worth if line else after
            rows.append((number, before, after, line))
            after = before
        turns = [self.game.play.turns[i] for i in moves_of(self.game)]
        return [
            OwnMove(number, deal_of(turns[number]), turns[number].action, *found, most=after)
            for number, *found in reversed(rows)
        ]

    @property
    def tried(self) -> tuple[Finding, ...]:
        """The findings that begin with a price of the visitor: the other prices that were tried."""
        return tuple(found for found in self.findings if isinstance(found.line.action, Offer))

    @cached_property
    def missed(self) -> Worth:
        """What all moves cost together."""
        costs = [move.cost for move in self.moves]
        total = Worth(sum(c.grade for c in costs), sum(c.rupees for c in costs))
        return total - NOTHING

    @cached_property
    def costliest(self) -> OwnMove | None:
        """The move that cost most; None where none cost anything."""
        costly = [move for move in self.moves if move.cost > NOTHING]
        return max(costly, key=lambda move: move.cost, default=None)

    @cached_property
    def best(self) -> Line | None:
        """The best line of the deal with the costliest move, from the first move it changes.

        None where no better line is known.
        """
        if self.costliest is None:
            return None
        deal = [move for move in self.moves if move.deal == self.costliest.deal]
        return next(move.line for move in deal if move.line)


def deal_of(turn: Turn) -> int:
    """The number of the deal, from 0, that a turn belongs to."""
    return len(turn.observation.table.past)


def deals_of(game: Game) -> list[tuple[int, int]]:
    """The numbers of the visitor's first and last move in each deal."""
    deals: dict[int, list[int]] = {}
    for number, turn in enumerate(moves_of(game)):
        deals.setdefault(deal_of(game.play.turns[turn]), []).append(number)
    return [(numbers[0], numbers[-1]) for numbers in deals.values()]


def earned(game: Game, first: int, last: int) -> Worth:
    """What the deal earned that the visitor's moves `first` to `last` made."""
    ended = game if last + 1 == len(moves_of(game)) else back(game, last + 1)
    return worth(game.task, ended.play) - worth(game.task, back(game, first).play)


def outcome_of(line: Line) -> Deal | None:
    """How the deal of a line ended; None where the other side forfeited."""
    deals = line.play.state.table.past
    number = deal_of(line.play.turns[line.first])
    return deals[number] if number < len(deals) else None


def is_asked(game: Game) -> bool:
    """Whether the other moves can only be learnt from a language model, which buys."""
    return game.model_seat is not None and game.model_seat.agent == "buyer"


def findings(game: Game) -> Iterator[Finding]:
    """The best line from before each move of the visitor, the last move first.

    For a finished game in which code decides the other side's moves. Raises ValueError otherwise.
    """
    if not game.over or is_asked(game):
        raise ValueError("only a finished game against moves that code decides can be searched")
    numbers = range(len(moves_of(game)))
    size = FINE if len(game.task.env.agents) == 2 else MEDIUM
    size = size if len(numbers) <= FINE_MOVES else COARSE
    search = Search(game.task, *size, as_advice=True)
    for number in reversed(numbers):
        yield Finding(number, search.best(back(game, number).play))


def searched(game: Game) -> Review:
    """The whole review of a finished game, by `findings`; raises ValueError as it does."""
    return Review(game, tuple(findings(game)))


def closing_findings(game: Game) -> Iterator[Finding]:
    """The better of taking the other side's price and leaving, at each move of the visitor."""
    for number in range(len(moves_of(game))):
        position = back(game, number)
        yield Finding(number, _closed(position, len(position.play.turns)))


async def asked_findings(
    game: Game, known: Sequence[Finding], reply: Callable[[Game], Awaitable[Game]]
) -> AsyncIterator[Finding]:
    """What a language model that buys replies to other prices at the last offers of the visitor.

    A price is halfway between what is known to be earned from before that offer, by the findings,
    and the least price that the model did not take there, at first the buyer's limit. `reply`
    returns the game after the model's move, or the same game where the model made none.
    """
    found = list(known)
    for number in offers_to_ask(game):
        position = back(game, number)
        refused = position.play.state.private["buyer"]["reservation"]
        for _ in range(ASKED_PRICES):
            made = Review(game, tuple(found)).moves[number]
            price = _another_price(position, made, refused)
            if price is None:
                break
            after = await reply(answer(position, Offer(price)))
            if after.waiting:
                break
            found.append(Finding(number, _closed(after, len(position.play.turns))))
            yield found[-1]
            if not _takes(after, price):
                refused = price


def _takes(after: Game, price: int) -> bool:
    """Whether the model closed at `price`."""
    past = after.play.state.table.past
    return after.over and bool(past) and past[-1].price == price


def offers_to_ask(game: Game) -> list[int]:
    """The numbers of the visitor's last offers, the last one first."""
    turns = [game.play.turns[i] for i in moves_of(game)]
    offers = [i for i, turn in enumerate(turns) if isinstance(turn.action, Offer)]
    return offers[: -ASKED_MOVES - 1 : -1]


def _another_price(position: Game, made: OwnMove, refused: float) -> int | None:
    """A price to ask of a buyer instead of the one that was asked; None where none is better.

    `refused` is the least price that the buyer is known not to take here.
    """
    obs, limit = position.observation, position.play.state.private["buyer"]["reservation"]
    least = max(obs.reservation + made.before.rupees, obs.bid or 0)
    asks = obs.table.asks
    price = round((least + min(refused, asks[-1] if asks else refused)) / 2)
    if price - least < LEAST_GAP * limit or price == made.action.price:
        return None
    return price


def _closed(game: Game, first: int) -> Line:
    """The better of taking the other side's price in `game` and leaving; `game` itself if over."""
    ends: list[Play] = [game.play] if game.over else []
    if not game.over:
        for action in (Accept(), WalkAway()):
            try:
                ends.append(answer(game, action).play)
            except IllegalAction:  # no price is named yet
                continue
    lines = [Line(play, first, worth(game.task, play)) for play in ends]
    return max(lines, key=lambda line: line.worth)
