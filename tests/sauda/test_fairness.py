"""Who is next before a model, who waits, who is refused."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sauda.fairness import FairQueue, Limits, QueueFull, Visitor

TWO = Limits(running=2, waiting=8, running_of_address=1, waiting_of_address=4)


def started(line: FairQueue) -> list:
    """The keys that may run now, in order."""
    return list(iter(line.start_next, None))


def test_visitors_run_at_once_up_to_the_limit():
    line = FairQueue(Limits(running=3))
    for number in range(5):
        line.enter(number, Visitor(f"s{number}", f"a{number}"))
    assert started(line) == [0, 1, 2]
    line.leave(1)
    assert started(line) == [3]


def test_one_session_has_one_reply_at_a_time_and_one_in_line():
    line = FairQueue()
    line.enter("first", Visitor("s", "a"))
    assert started(line) == ["first"]
    line.enter("second", Visitor("s", "a"))
    assert started(line) == []
    with pytest.raises(QueueFull):
        line.enter("third", Visitor("s", "a"))
    line.leave("first")
    assert started(line) == ["second"]


def test_addresses_take_turns_whatever_number_of_requests_each_has():
    line = FairQueue(Limits(running=1, running_of_address=1))
    for number in range(4):
        line.enter(f"greedy {number}", Visitor(f"g{number}", "greedy"))
    line.enter("polite", Visitor("p", "polite"))
    order = []
    while key := line.start_next():
        order.append(key)
        line.leave(key)
    assert order == ["greedy 0", "polite", "greedy 1", "greedy 2", "greedy 3"]


def test_an_address_takes_neither_all_places_to_run_nor_all_to_wait():
    line = FairQueue()
    entered = 0
    for number in range(30):
        try:
            line.enter(number, Visitor(f"s{number}", "greedy"))
        except QueueFull:
            continue
        entered += 1
        started(line)
    assert entered == line.limits.running_of_address + line.limits.waiting_of_address
    line.enter("polite", Visitor("p", "polite"))
    assert started(line) == ["polite"]


def test_so_many_wait_and_whoever_is_refused_learns_for_how_long():
    line = FairQueue(Limits(running=6, waiting=8))
    line.seconds_per_request = 6.0
    for number in range(14):
        line.enter(number, Visitor(f"s{number}", f"a{number}"))
        started(line)
    with pytest.raises(QueueFull) as refused:
        line.enter("one more", Visitor("s", "a"))
    assert refused.value.seconds == pytest.approx(9.0)  # nine places, one free each second
    assert line.place(6) == (1, 1.0)


READING, TOKENS = 10, 30  # steps that a prompt takes, and tokens of a reply


def replied(greedy_games: int, replies: int = 20, thinking: int = 15) -> float:
    """Steps that a polite visitor's reply takes beside so many games of one other address.

    One engine serves all that run: each step is one token of one reply, or a part of reading one
    prompt, and they take turns. Nobody but the polite visitor ever thinks.
    """
    line, left, now, done = FairQueue(), {}, 0, []
    games = [Visitor(f"g{number}", "greedy") for number in range(greedy_games)]
    polite, asked, asks_at = Visitor("p", "polite"), None, 0
    while len(done) < replies:
        for visitor in games:
            if visitor not in [*line.running.values(), *line.waiting.values()]:
                with suppress(QueueFull):
                    line.enter(visitor.session, visitor)
        if asked is None and now >= asks_at:
            line.enter("p", polite)
            asked = now
        left |= dict.fromkeys(started(line), READING + TOKENS)
        for key in list(left):
            now, left[key] = now + 1, left[key] - 1
            if not left[key]:
                del left[key]
                line.leave(key)
                if key == "p":
                    done.append(now - asked)
                    asked, asks_at = None, now + thinking
        now += not left
    return sum(done) / replies


def test_thirty_games_of_one_address_slow_a_polite_visitor_down_by_their_places_and_no_more():
    """An engine shares its time among all that run, so beside others an address has fewer places.

    With four places for the greedy address the ratio would be near 5.
    """
    assert replied(greedy_games=30) < 3.5 * replied(greedy_games=0)


def test_an_address_has_more_places_again_once_it_is_alone():
    line = FairQueue()
    line.enter("other", Visitor("o", "other"))
    assert started(line) == ["other"]
    line.leave("other")
    most = 0
    for number in range(40):
        with suppress(QueueFull):
            line.enter(number, Visitor(f"s{number}", "class"))
        started(line)
        most = max(most, len(line.running))
        if number % 2:
            line.leave(next(iter(line.running)))
    assert most == line.limits.running_of_address


def test_a_review_waits_until_no_move_does_and_refuses_none():
    line = FairQueue(Limits(running=2, waiting=2, waiting_of_address=2))
    reviews = [Visitor(f"r{number}", "a").for_review() for number in range(2)]
    for number, review in enumerate(reviews):
        line.enter(f"review {number}", review)
    for number in range(2):
        line.enter(f"move {number}", Visitor(f"r{number}", f"b{number}"))
    assert started(line) == ["move 0", "move 1"]
    line.leave("move 0")
    assert started(line) == ["review 0"]
    line.leave("move 1")
    assert started(line) == []  # one place stays free of reviews
    line.enter("a move", Visitor("m", "c"))
    assert started(line) == ["a move"]


def test_the_estimate_follows_the_replies_that_were_timed():
    line = FairQueue()
    for _ in range(50):
        line.learn_time(2.0)
    assert line.seconds_per_request == pytest.approx(2.0, abs=0.01)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.booleans()), max_size=60))
def test_nobody_is_lost_and_no_limit_is_passed(events):
    line, entered, ran = FairQueue(TWO), set(), set()
    for number, (session, address, ends) in enumerate(events):
        if ends and line.running:
            line.leave(next(iter(line.running)))
        try:
            line.enter(number, Visitor(f"{address}-{session}", f"{address}"))
            entered.add(number)
        except QueueFull:
            pass
        ran.update(started(line))
        visitors = list(line.running.values())
        assert len(visitors) <= TWO.running
        assert len({v.address for v in visitors}) == len(visitors)
        assert sorted(line.order()) == sorted(line.waiting)
    while line.running:
        line.leave(next(iter(line.running)))
        ran.update(started(line))
    assert ran == entered
