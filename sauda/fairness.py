"""The fair order of those who wait: who is next, who waits and for how long, who is refused.

A value without threads and without a clock of its own. Addresses take turns, and so do the visitors
of one address, whoever was served longest ago first. No address has all the places.
"""

import math
from collections import Counter, deque
from collections.abc import Hashable
from dataclasses import dataclass, replace

FIRST_GUESS = 4.0  # seconds of a request, before any was timed
MEMORY = 0.2  # weight of the newest request in the mean of their seconds
REMEMBERED = 500  # addresses and sessions of which the queue knows when they were served


@dataclass(frozen=True)
class Visitor:
    """Who makes a request. The page's own requests have a session and no address."""

    session: str
    address: str = ""
    is_patient: bool = False  # runs when nobody else waits, and takes nobody's place in the queue

    def for_review(self) -> "Visitor":
        """Who requests replies for the review of a game that is over: it holds no move."""
        return replace(self, session=f"review {self.session}", is_patient=True)


PAGE = Visitor("")  # the page itself, for tabs whose requests no visitor makes


@dataclass(frozen=True)
class Limits:
    """How many requests run and wait at a time; the defaults are those of a language model."""

    running: int = 6
    waiting: float = 16
    running_of_address: int = 4
    running_beside_others: int = 2  # of an address, while another one plays too
    running_patient: int = 1
    running_of_session: float = 1
    waiting_of_address: int = 8
    waiting_of_session: float = 1
    waiting_bytes_of_address: float = math.inf


class QueueFull(Exception):
    """No place is left; `seconds` estimates when one will be."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the queue is full for about {seconds:.0f} s")
        self.seconds = seconds


class FairQueue:
    """Requests by key: those that run and those that wait. Not thread-safe."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.running: dict[Hashable, Visitor] = {}
        self.waiting: dict[Hashable, Visitor] = {}  # the oldest first
        self.seconds_per_request = FIRST_GUESS
        self._bytes: dict[Hashable, int] = {}  # of the requests that wait
        # Whose requests began last: an address that thinks about its move still plays.
        self._recent: deque[str] = deque(maxlen=2 * self.limits.running)
        self._served: dict[tuple[str, str], int] = {}  # when an address or session was last served
        self._count = 0

    def enter(self, key: Hashable, visitor: Visitor, size: int = 0) -> None:
        """Put a request of `size` bytes in the queue; QueueFull where there is no place for it."""
        before = {k: v for k, v in self.waiting.items() if v.is_patient == visitor.is_patient}
        of_address = [k for k, v in before.items() if v.address == visitor.address]
        of_session = sum(one.session == visitor.session for one in before.values())
        most = self.limits
        if (
            len(before) >= most.waiting
            or len(of_address) >= most.waiting_of_address
            or of_session >= most.waiting_of_session
            or size + sum(self._bytes[k] for k in of_address) > most.waiting_bytes_of_address
        ):
            raise QueueFull(self._seconds_until(len(before) + 1))
        self.waiting[key], self._bytes[key] = visitor, size

    def leave(self, key: Hashable) -> None:
        """Forget a request that was answered, cancelled or refused."""
        for of_key in (self.running, self.waiting, self._bytes):
            of_key.pop(key, None)

    def start_next(self) -> Hashable | None:
        """The request that runs from now on; None where nobody can."""
        able = self._able(self.waiting) if len(self.running) < self.limits.running else []
        if not able:
            return None
        key = min(able, key=lambda k: _turn(self.waiting[k], self._served))
        visitor = self.running[key] = self.waiting.pop(key)
        del self._bytes[key]
        self._count += 1
        self._recent.append(visitor.address)
        _mark(visitor, self._served, self._count)
        if len(self._served) > 2 * REMEMBERED:  # those served long ago have no claim left
            newest = sorted(self._served, key=self._served.get)[-REMEMBERED:]
            self._served = {name: self._served[name] for name in newest}
        return key

    def place(self, key: Hashable) -> tuple[int, float]:
        """How many requests run before this one, itself included, and seconds until it runs."""
        place = self.order().index(key) + 1
        return place, self._seconds_until(place)

    def order(self) -> list[Hashable]:
        """The waiting requests in the order in which they will run, as far as can be told."""
        waiting, served, order = dict(self.waiting), dict(self._served), []
        while waiting:
            key = min(self._able(waiting) or waiting, key=lambda k: _turn(waiting[k], served))
            order.append(key)
            _mark(waiting.pop(key), served, self._count + len(order))
        return order

    def learn_time(self, seconds: float) -> None:
        """Learn from a request that took `seconds`."""
        self.seconds_per_request += MEMORY * (seconds - self.seconds_per_request)

    def _seconds_until(self, place: int) -> float:
        """Of `running` requests at a time, one ends every `seconds_per_request / running`."""
        return place * self.seconds_per_request / self.limits.running

    def _able(self, waiting: dict[Hashable, Visitor]) -> list[Hashable]:
        """Those of `waiting` that may run as soon as there is a place."""
        most, running = self.limits, self.running.values()
        patient = sum(one.is_patient for one in running)
        by_address = Counter(one.address for one in running if one.address)
        by_session = Counter(one.session for one in running)
        play = {*self._recent, *(one.address for one in self.waiting.values())} - {""}
        beside = min(most.running_of_address, most.running_beside_others)
        return [
            key
            for key, one in waiting.items()
            if not (one.is_patient and patient >= most.running_patient)
            and by_session[one.session] < most.running_of_session
            and by_address[one.address]
            < (beside if play - {one.address} else most.running_of_address)
        ]


def _turn(visitor: Visitor, served: dict[tuple[str, str], int]) -> tuple[bool, int, int]:
    """Sorts whoever was served longest ago first, by address and then by session."""
    address, session = _marks(visitor)
    return visitor.is_patient, served.get(address, 0), served.get(session, 0)


def _mark(visitor: Visitor, served: dict[tuple[str, str], int], count: int) -> None:
    served.update(dict.fromkeys(_marks(visitor), count))


def _marks(visitor: Visitor) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("address", visitor.address), ("session", visitor.session)
