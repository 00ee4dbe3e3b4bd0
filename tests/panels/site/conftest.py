"""One served page for the tests of how it is served."""

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
