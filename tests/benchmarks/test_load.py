"""What the load test counts; its visitors are tried on the real page, in a browser's tests."""

import time

import httpx
import pytest

from benchmarks.load import Crowd, Failure, Missed, RefusedByPage, checkout


def test_successes_refusals_and_failures_are_counted_apart():
    crowd = Crowd(None, None, deadline=time.monotonic())
    errors = (RefusedByPage("full"), Failure("wrong"), Failure("wrong"), httpx.ReadTimeout("late"))
    for error in (*errors, TimeoutError()):
        with pytest.raises(Missed), crowd.time("reply"):
            raise error
    with pytest.raises(KeyError), crowd.time("reply"):
        raise KeyError("a fault of the load test itself")
    with crowd.time("reply"):
        pass
    (row,) = crowd.rows()
    assert (row["n"], row["refused"], row["failures"]) == (1, 1, 4)
    assert row["reasons"] == {"wrong": 2, "no answer in time": 2}


def test_a_commit_that_git_does_not_know_is_refused():
    with pytest.raises(Exception, match="no-such-commit"), checkout("no-such-commit"):
        pass
