"""What Results says of the language model's stages, on made-up grades."""

import numpy as np
import pytest

from panels.results import model_comparison
from sauda.records.store import Artifact


@pytest.mark.parametrize(
    ("adds", "verdict"),
    [(0.1, "the model adds to it"), (-0.1, "takes away"), (0.0, "cannot be told from nothing")],
)
def test_what_a_wrapper_wins_is_told_beside_what_it_wins_around_no_model(adds, verdict):
    none = [0.1, 0.3, 0.2, 0.4]
    steered = [round(grade + adds, 3) for grade in none[:3]]  # fewer games than no model's
    episodes = {
        "mini": {"grade": none},
        "null+steering": {"grade": none},
        "mini+steering": {"grade": steered},
    }
    ladder = Artifact("", "ladder/1", "measured", {}, {}, {"episodes": {"bazaar/open": episodes}})
    (said,) = model_comparison._wrapped(ladder, "bazaar/open")
    assert f"{np.mean(steered):.3f} around the untrained base and 0.200 around no model" in said
    assert f"{adds:+.3f} [{adds:+.3f}, {adds:+.3f}] on n = 3" in said
    assert verdict in said
