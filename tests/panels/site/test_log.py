"""What the log says of many errors."""

import io
import logging

import pytest

from panels.site.log import LONGEST, MINUTE, OncePerMinute


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def log(clock):
    """A logger of its own, and what it wrote."""
    written, logger = io.StringIO(), logging.Logger("page")
    handler = logging.StreamHandler(written)
    handler.addFilter(OncePerMinute(clock))
    logger.addHandler(handler)
    return logger, written


def test_a_kind_is_written_once_a_minute_with_the_number_left_out(log, clock):
    logger, written = log
    for moment in (0, 1, MINUTE - 1, MINUTE):
        clock.now = 100 + moment
        logger.warning("refused %s", moment)
    assert written.getvalue().splitlines() == ["refused 0", f"refused {MINUTE} (2 more like it)"]


def test_kinds_do_not_silence_one_another(log):
    logger, written = log
    for error in (ValueError, KeyError, ValueError):
        try:
            raise error("x")
        except (LookupError, ValueError):
            logger.exception("failed")
    for _ in range(2):
        logger.error("it failed")
    entries = [line for line in written.getvalue().splitlines() if "failed" in line]
    assert entries == ["failed", "failed", "it failed"]
    assert written.getvalue().count("Traceback") == 2


def test_an_entry_is_one_short_line_whatever_was_sent(log):
    logger, written = log
    logger.warning("cannot read %s", "a\nb" * 10_000)
    (line,) = written.getvalue().splitlines()
    assert len(line) <= LONGEST


def test_what_is_no_warning_is_left_alone(log):
    logger, written = log
    for _ in range(2):
        logger.info("opened")
    assert written.getvalue() == "opened\nopened\n"
