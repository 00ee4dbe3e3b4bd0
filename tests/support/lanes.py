"""What a machine may lack: the browser, the small model. On CI nothing may be lacking."""

import os
from typing import NoReturn

import pytest
from hypothesis import settings

# The same cases at each run. `make quick` tries fewer of them (--hypothesis-profile quick).
FULL = settings(derandomize=True, database=None, deadline=None, max_examples=300)
QUICK = settings(FULL, max_examples=20)


def unavailable(reason: str) -> NoReturn:
    """Skip the test with the reason in words; fail it on CI, where everything is installed."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
