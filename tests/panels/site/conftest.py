"""One served page for the tests of how it is served."""

from collections.abc import Iterator

import pytest

from tests.support.site import Site, served_page


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    """The whole page, served from this process; other modules want the page's own models."""
    with served_page() as page:
        yield page
