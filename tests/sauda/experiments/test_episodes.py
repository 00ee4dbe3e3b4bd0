"""Games before and after training that are recorded, and which of them are shown."""

import re
from pathlib import Path

import pytest

from sauda.experiments.episodes import before_after, choose
from sauda.experiments.verify import verify
from sauda.games.transcript import from_json
from sauda.records.schemas.episodes import SIDES
from sauda.records.store import Artifact, load, save
from tests.support.measured import PLAYERS
from tests.support.models import GARBAGE

# Before and after ---------------------------------------------------------------------------------

FILE = before_after.file
TASK = "bazaar/open-3"


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    """A root with an artifact of two canned players, the first of whom forfeits some games."""
    root = tmp_path_factory.mktemp("artifacts")
    config = {"before": "shaky", "after": "high", "tasks": (TASK, "bazaar/mute-3")}
    config |= {"episodes": 7, "batch": 3}
    save(FILE, config, before_after(**config, seat=PLAYERS.__getitem__), root)
    return root


@pytest.fixture
def artifact(root) -> Artifact:
    return load(FILE, root)


YES, NO = True, False


@pytest.mark.parametrize(
    ("gains", "zopa", "deals", "picks"),
    [
        ([0.1, 0.5, -0.2, 0.3, 0.0], None, None, (11, 12, 10, 13)),
        ([0.4, 0.1, 0.3, 0.2], None, None, (10, 11, 13, 12)),  # the lower of two neighbours
        ([0.2, 0.2, 0.2, 0.2], None, None, (10, 10, 11, 12)),  # all equal: by seed
        ([0.5], None, None, (10, 10, 10, 10)),
        ([n / 20 for n in range(21)], None, None, (30, 12, 20, 28)),
        # the best ends in a deal, percentiles are of games with a ZOPA
        ([0.9, 0.3, 0.2, 0.1], [NO, YES, YES, YES], [NO, NO, YES, YES], (12, 13, 12, 12)),
        ([0.3, 0.1], [NO, NO], [YES, YES], (10,)),
    ],
)
def test_games_are_chosen_by_the_gain_and_then_the_lowest_seed(gains, zopa, deals, picks):
    n, after = len(gains), [0.1 + gain for gain in gains]
    chosen = choose(range(10, 10 + n), [0.1] * n, after, zopa or [YES] * n, deals or [YES] * n)
    assert chosen == dict(zip(("best", "10th", "50th", "90th"), picks, strict=False))


def test_differences_that_are_equal_but_for_rounding_tie():
    assert 0.3 - 0.2 != 0.4 - 0.3
    picks = choose((5, 6), (0.2, 0.3), (0.3, 0.4), (YES, YES), (YES, YES))
    assert set(picks.values()) == {5}


def test_the_data_shows_the_games_of_the_rule_and_each_move_of_the_model_has_its_reply(artifact):
    first = artifact.data.tasks[0]
    assert first.acts == {"before": {}, "after": {"tea": len(first.seeds)}}
    for row in artifact.data.as_json()["tasks"]:
        picks = choose(row["seeds"], *(row[name] for name in ("before", "after", "zopa", "deals")))
        assert {pair["why"]: pair["seed"] for pair in row["chosen"]} == picks
        for pair in row["chosen"]:
            at = row["seeds"].index(pair["seed"])
            assert [pair[side]["grade"] for side in SIDES] == [row[side][at] for side in SIDES]
            for game in (pair[side] for side in SIDES):
                assert from_json(game).seed == pair["seed"]
                own = [move for move in game["moves"] if move["agent"] == "buyer"]
                assert len(game["replies"]) == len(own)
                assert (own[-1]["action"] == "forfeit") == (game["replies"][-1] == GARBAGE)


def test_the_artifact_comes_out_again_and_a_changed_reply_is_found_by_its_move(root, tmp_path):
    assert verify(FILE, root=root) == []
    recorded = load(FILE, root)
    data = recorded.data.as_json()
    data["tasks"][0]["chosen"][0]["after"]["replies"][0] = '{"offer":1}'
    save(FILE, recorded.config, data, tmp_path)
    faults = verify(FILE, root=tmp_path)
    assert any(re.match(r".*\.after\.moves\[1\]\.price: recorded", fault) for fault in faults)
