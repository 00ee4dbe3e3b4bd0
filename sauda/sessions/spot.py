"""Two hidden buyers before one seller: which of them is the trained one?

A duel is a value, as every game is. Its sides come from recorded games, whose seller is a script,
or from two live games in which a visitor sells and both buyers hear the same ask.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from env import Deal, IllegalAction, Item, Offer, Table, Turn
from sauda.games.transcript import from_json
from sauda.llm.types import Generate
from sauda.players import CUSTOMERS
from sauda.sessions.bazaar import Game, after_reply, answer, back, doubt, moves_of, request, start

TASK = CUSTOMERS  # of a live duel: the visitor sells
EXCHANGES = 8  # asks with their answers, at most


@dataclass(frozen=True)
class Side:
    """One buyer's part of a duel: its name, the turns of its game, its reply that was no move."""

    policy: str
    turns: tuple[Turn, ...]
    no_move: str = ""
    deal: Deal | None = None  # how its game ended; None while it runs

    def exchanges(self) -> list[tuple[Turn, ...]]:
        """The turns by exchange: the seller's ask, then the buyer's answer if there is one."""
        grouped: list[tuple[Turn, ...]] = []
        for turn in self.turns:
            if turn.agent == "seller":
                grouped.append((turn,))
            else:
                grouped[-1] += (turn,)
        return grouped


@dataclass(frozen=True)
class Duel:
    """Two sides in the order in which they are shown; `games` are those of a live duel."""

    task: str
    seed: int
    item: Item
    recorded: tuple[Side, ...] = ()
    games: tuple[Game, ...] = ()
    shown: int = 1  # exchanges on show
    worded: bool = False  # whether the visitor asked to read the buyers' words before the guess
    guess: int | None = None  # the side that the visitor took for the trained one
    unconfirmed: float | None = None  # a doubtful ask that waits for the visitor's confirmation

    @property
    def sides(self) -> tuple[Side, ...]:
        return self.recorded or tuple(
            Side(
                game.opponent,
                game.play.turns,
                game.invalid_replies[-1] if game.out_of_tries else "",
                _deal_of(game.play.state.table),
            )
            for game in self.games
        )

    @property
    def moved(self) -> bool:
        """Whether the visitor has asked both buyers, or guessed."""
        return self.guess is not None or any(game.moved for game in self.games)

    @property
    def is_live(self) -> bool:
        return bool(self.games)

    @property
    def has_more(self) -> bool:
        """Whether another exchange can be shown, or asked for in a live duel."""
        if self.guess is not None or self.waiting:
            return False
        if self.is_live:
            return any(map(_is_open, self.games)) and len(self._asks) < EXCHANGES
        longest = max(len(side.exchanges()) for side in self.recorded)
        return self.shown < min(EXCHANGES, longest)

    @property
    def can_guess(self) -> bool:
        """Whether there is something to guess by, and no guess was made."""
        asked = any(side.exchanges() for side in self.sides)
        return asked and self.guess is None and not self.waiting

    @property
    def waiting(self) -> tuple[int, ...]:
        """The sides of a live duel that are to answer the last ask."""
        return tuple(i for i in self.listening if self.games[i].waiting)

    @property
    def listening(self) -> tuple[int, ...]:
        """The sides of a live duel that are still there."""
        return tuple(i for i, game in enumerate(self.games) if _is_open(game))

    @property
    def _asks(self) -> tuple[Turn, ...]:
        """The asks of the game that lasted longest: both sides heard the same ones."""
        turns = max((game.play.turns for game in self.games), key=len)
        return tuple(turn for turn in turns if turn.agent == "seller")


def _deal_of(table: Table) -> Deal | None:
    return table.past[-1] if table.past else None


def _is_open(game: Game) -> bool:
    return not (game.over or game.out_of_tries)


def load_duel(rows: Sequence[Mapping[str, Any]]) -> Duel:
    """A duel of two recorded games of one seed, a `EpisodeRecord` each as JSON, in this order."""
    games = [from_json(row) for row in rows]
    sides = tuple(
        Side(
            row["policy"],
            game.turns,
            row["replies"][-1] if game.turns[-1].action is None else "",
            _deal_of(game.final.table),
        )
        for row, game in zip(rows, games, strict=True)
    )
    return Duel(games[0].task, games[0].seed, games[0].final.table.item, recorded=sides)


def live_duel(players: Sequence[str], seed: int) -> Duel:
    """A duel of two language models that buy from the visitor, before the first ask."""
    games = tuple(start(TASK, name, seed) for name in players)
    return Duel(TASK, seed, games[0].observation.table.item, games=games)


def propose_to_both(duel: Duel, price: float) -> Duel:
    """A live duel after the visitor's ask, or with it `unconfirmed` where it may be a slip.

    An unconfirmed ask is heard by nobody. The same ask again is made. Raises as `ask_both`.
    """
    after = ask_both(duel, price)
    is_doubtful = any(doubt(duel.games[number], Offer(price)) for number in duel.listening)
    return replace(duel, unconfirmed=price) if is_doubtful and duel.unconfirmed != price else after


def without_open_ask(duel: Duel) -> Duel:
    """A live duel before the ask that a buyer has yet to answer; any other duel as it is."""
    if not duel.waiting:
        return duel
    last = max(len(moves_of(game)) for game in duel.games) - 1
    games = tuple(back(game, last) if len(moves_of(game)) > last else game for game in duel.games)
    return replace(duel, games=games, shown=duel.shown - 1)


def ask_both(duel: Duel, price: float) -> Duel:
    """A live duel after the visitor's ask, which all buyers still there hear.

    Raises IllegalAction where the rules forbid it before one of them, or no ask is left.
    """
    if not duel.has_more:
        raise IllegalAction("no further price can be asked in this pair; make your guess")
    games = tuple(answer(game, Offer(price)) if _is_open(game) else game for game in duel.games)
    return replace(duel, games=games, shown=duel.shown + 1, unconfirmed=None)


def answer_duel(duel: Duel, number: int, model: Generate) -> Duel:
    """A live duel after the buyer of side `number` has answered; raises what `model` raises."""
    game = duel.games[number]
    while game.waiting and not game.out_of_tries:
        question = request(game)
        game = after_reply(game, model(question.messages, question.seed, question.schema))
    games = tuple(game if i == number else other for i, other in enumerate(duel.games))
    return replace(duel, games=games)


def make_guess(duel: Duel, number: int) -> Duel:
    """The duel after a guess; raises IllegalAction where none can be made, or one was."""
    if not duel.can_guess:
        raise IllegalAction("there is nothing to guess in this pair now; start another one")
    return replace(duel, guess=number)
