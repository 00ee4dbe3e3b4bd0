"""The small talk of one visitor's game, kept beside the game: it is no part of its history."""

from dataclasses import dataclass, replace

from env import Table

MOST = 30  # exchanges that are kept; an older one leaves the chat
LONGEST = 200  # characters of a text that is kept
QUESTIONS = ("loss_", "backwards_", "did_you_mean", "mean_", "take_it")  # how their kinds begin


@dataclass(frozen=True)
class Exchange:
    """A text of the visitor that made no move, and the kind of the answer to it."""

    turn: int  # turns of the game before it
    text: str
    kind: str  # a key of ANSWERS; of the page's words where `is_narrated`
    seen: Table  # the visitor's view at that time, for the facts of the answer
    values: tuple[tuple[str, str], ...] = ()  # of the page's words

    @property
    def is_narrated(self) -> bool:
        """Whether the page answers and not the other side: a rule, or a question about a move."""
        return self.kind.startswith(("rule_", "words_", *QUESTIONS))

    @property
    def is_question(self) -> bool:
        """Whether the page asks about a move that a yes would make."""
        return self.kind.startswith(QUESTIONS)


@dataclass(frozen=True)
class Talk:
    """The exchanges of a game in order."""

    exchanges: tuple[Exchange, ...] = ()

    def added(self, exchange: Exchange) -> "Talk":
        """The talk with one more exchange, its text cut to LONGEST, and the oldest left out."""
        text = exchange.text
        text = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
        return Talk((*self.exchanges, replace(exchange, text=text))[-MOST:])

    def last_at(self, turn: int) -> "Talk":
        """The talk with its last exchange after `turn` turns."""
        return Talk((*self.exchanges[:-1], replace(self.exchanges[-1], turn=turn)))

    def at(self, turn: int) -> tuple[Exchange, ...]:
        """What was said after `turn` turns."""
        return tuple(each for each in self.exchanges if each.turn == turn)

    def back_to(self, turns: int) -> "Talk":
        """The talk of a game that was taken back to `turns` turns: all of it stays."""
        return Talk(tuple(replace(e, turn=min(e.turn, turns)) for e in self.exchanges))


SILENT = Talk()  # a game without small talk
