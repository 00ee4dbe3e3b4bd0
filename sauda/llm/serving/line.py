"""The fair line before a model: who is next, who has to wait and for how long, who is refused.

A value without threads and without a clock of its own. Addresses take turns, and so do the visitors
of one address. No visitor has two replies at once. No address has all the places, and it has fewer
beside others, since every reply that runs slows down theirs.
"""

from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, replace

FIRST_GUESS = 4.0  # seconds of a reply, before any was timed
MEMORY = 0.2  # weight of the newest reply in the mean of their seconds


@dataclass(frozen=True)
class Visitor:
    """Who requests a reply. The page's own requests have a session and no address."""

    session: str
    address: str = ""
    is_patient: bool = False  # runs when nobody else waits, and takes nobody's place in line

    def for_review(self) -> "Visitor":
        """Who requests replies for the review of a game that is over: it holds no move."""
        return replace(self, session=f"review {self.session}", is_patient=True)


PAGE = Visitor("")  # the page itself, for tabs whose requests no visitor makes


@dataclass(frozen=True)
class Limits:
    """How many replies run and wait at a time."""

    running: int = 6
    waiting: int = 16
    running_of_address: int = 4
    running_beside_others: int = 2  # of an address, while another one plays too
    running_patient: int = 1
    waiting_of_address: int = 8


LIMITS = Limits()


class LineFull(Exception):
    """No place is left; `seconds` estimates when one will be."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the line is full for about {seconds:.0f} s")
        self.seconds = seconds


class FairLine:
    """Requests by key: those that run and those that wait. Not thread-safe."""

    def __init__(self, limits: Limits = LIMITS) -> None:
        self.limits = limits
        self.running: dict[Hashable, Visitor] = {}
        self.waiting: dict[Hashable, Visitor] = {}  # the oldest first
        self.reply_seconds = FIRST_GUESS
        # Whose replies began last: an address that thinks about its move still plays.
        self._recent: deque[str] = deque(maxlen=2 * limits.running)
        self._served: dict[str, int] = {}  # by address and by session: when last, as a count
        self._count = 0

    def enter(self, key: Hashable, visitor: Visitor) -> None:
        """Put a request at the end of the line; LineFull where there is no place for it."""
        before = [v for v in self.waiting.values() if v.is_patient == visitor.is_patient]
        of_address = sum(one.address == visitor.address for one in before)
        own = any(one.session == visitor.session for one in before)
        crowded = of_address >= self.limits.waiting_of_address
        if own or crowded or len(before) >= self.limits.waiting:
            raise LineFull(self._seconds(len(before) + 1))
        self.waiting[key] = visitor

    def leave(self, key: Hashable) -> None:
        """Forget a request that was answered, cancelled or refused."""
        self.running.pop(key, None)
        self.waiting.pop(key, None)

    def start_next(self) -> Hashable | None:
        """The request that runs from now on; None where nobody can."""
        order = self.order()
        if not order:
            return None
        key = order[0]
        if not self._may_run(self.waiting[key], list(self.running.values())):
            return None
        visitor = self.running[key] = self.waiting.pop(key)
        self._count += 1
        self._recent.append(visitor.address)
        self._served[_mark(visitor.address)] = self._served[visitor.session] = self._count
        if len(self._served) > 1000:  # those served long ago have no claim left
            newest = sorted(self._served, key=self._served.get)[-500:]
            self._served = {name: self._served[name] for name in newest}
        return key

    def order(self) -> list[Hashable]:
        """The waiting requests in the order in which they will run, as far as can be told."""
        waiting, running, order = dict(self.waiting), list(self.running.values()), []
        served, count = dict(self._served), self._count
        while waiting:
            able = [k for k, v in waiting.items() if self._may_run(v, running, full=False)]
            key = min(able or waiting, key=lambda k: self._turn(waiting[k], served))
            visitor = waiting.pop(key)
            order.append(key)
            count += 1
            served[_mark(visitor.address)] = served[visitor.session] = count
        return order

    def place(self, key: Hashable) -> tuple[int, float]:
        """How many requests run before this one, itself included, and seconds until it runs."""
        place = self.order().index(key) + 1
        return place, self._seconds(place)

    def timed(self, seconds: float) -> None:
        """Learn from a reply that took `seconds`."""
        self.reply_seconds += MEMORY * (seconds - self.reply_seconds)

    def _seconds(self, place: int) -> float:
        """Replies end one by one: of `running` at a time, one every `reply_seconds / running`."""
        return place * self.reply_seconds / self.limits.running

    def _may_run(self, visitor: Visitor, running: list[Visitor], full: bool = True) -> bool:
        if visitor.is_patient and (
            sum(one.is_patient for one in running) >= self.limits.running_patient
        ):
            return False
        of_address = sum(one.address == visitor.address for one in running if visitor.address)
        return (
            (len(running) < self.limits.running or not full)
            and of_address < self._most_of(visitor.address)
            and all(one.session != visitor.session for one in running)
        )

    def _most_of(self, address: str) -> int:
        """How many replies of an address may run: fewer while others play too."""
        waiting = (one.address for one in self.waiting.values())
        alone = all(other in ("", address) for other in (*self._recent, *waiting))
        most = self.limits.running_of_address
        return most if alone else min(most, self.limits.running_beside_others)

    @staticmethod
    def _turn(visitor: Visitor, served: dict[str, int]) -> tuple[bool, int, int]:
        """Sorts whoever was served longest ago first, by address and then by session."""
        address, session = served.get(_mark(visitor.address), 0), served.get(visitor.session, 0)
        return visitor.is_patient, address, session


def _mark(address: str) -> str:
    return f"address {address}"
