"""What several tests of the games share."""

import pytest

from env import corpus


@pytest.fixture
def spoken(monkeypatch):
    """What sellers mean to say, as (speech, ask), in order."""
    said, line = [], corpus.line

    def listened(meant, ask, *rest):
        said.append((meant, ask))
        return line(meant, ask, *rest)

    monkeypatch.setattr(corpus, "line", listened)
    return said
