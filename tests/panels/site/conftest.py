"""One served page for the tests of how it is served."""

import signal
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.support.site import Site, served_page, toy_models


@pytest.fixture(scope="session")
def whole_page() -> Iterator[Site]:
    """The whole page, served from this process; it takes seconds to make."""
    with ExitStack() as kept:
        with toy_models():
            page = kept.enter_context(served_page())
        yield page


@pytest.fixture(scope="module")
def site(whole_page) -> Iterator[Site]:
    """The whole page while toys reply; other modules want the page's own models."""
    with toy_models():
        yield whole_page


@pytest.fixture
def handlers() -> Iterator[None]:
    """The handlers of the signals that end the page are those of before once the test is over."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
