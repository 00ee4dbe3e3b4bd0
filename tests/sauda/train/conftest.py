"""The base of the toy, which several stages read and none changes."""

import pytest

from sauda.train.model import find_base


@pytest.fixture(scope="session")
def toy(tmp_path_factory):
    """A random network and its tokenizer, to train on 4 rows per pass."""
    return find_base("toy", tmp_path_factory.mktemp("toy"), 4)
