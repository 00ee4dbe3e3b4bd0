"""Transcripts side by side: strips, steps, seeds, downloads."""

import json

import pytest

from env import EndReason, get_task, rollout
from panels.transcripts import episodes as played_episodes
from panels.transcripts import view
from panels.ui.offers import Offers, offers_of
from sauda.llm.registry import get_policy


@pytest.fixture(scope="module")
def naive():
    """naive on single_deal: 60, 48, 54, 51, accepted at 51 in round 2."""
    task = get_task("classic/single_deal")
    return rollout(task, get_policy(task, "naive"), 0)


def test_a_step_shows_that_many_moves(naive):
    assert offers_of(naive, 3) == Offers((60.0, 54.0), (48.0,), 8, None, (30, 100))
    assert str(view.talk(naive, 3)).count("<li") == 3


def test_a_strip_is_as_long_as_the_rounds_and_says_who_gave_in(naive):
    shown = str(view.strips(naive, len(naive.turns)))
    assert "2 of 8 rounds" in shown
    assert "✓ seller accepted ₹51" in shown


@pytest.mark.parametrize(
    ("end", "mark"),
    [(EndReason.AGREEMENT, "✓"), (EndReason.WALKAWAY, "✕"), (EndReason.DEADLINE, "⧗")],
)
def test_each_end_has_a_mark_of_its_own(end, mark):
    assert view.MARKS[str(end)][0] == mark


def test_a_career_has_a_strip_a_deal():
    task = get_task("classic/career_10")
    played = rollout(task, get_policy(task, "naive"), 0)
    assert str(view.strips(played, len(played.turns))).count("sauda-strip-row") == 10


@pytest.mark.parametrize("seed", [-1, 1.5, None, "abc", "NaN", True, 10**41])
def test_a_bad_seed_is_answered_with_what_was_expected(seed):
    with pytest.raises(ValueError, match="whole number"):
        played_episodes.play("classic/single_deal", seed, ["naive"])


@pytest.mark.parametrize("names", [[], ["naive"] * 5])
def test_none_or_five_policies_are_refused(names):
    with pytest.raises(ValueError, match="one to 4 policies"):
        played_episodes.play("classic/single_deal", 0, names)


def test_the_download_of_transcripts_is_the_episodes_that_were_shown():
    episodes = played_episodes.play("classic/single_deal", 3, ["naive", "wait"])
    with open(played_episodes.json_file(episodes), encoding="utf-8") as file:
        rows = json.load(file)
    assert [row["policy"] for row in rows] == ["naive", "wait"]
    assert [len(row["moves"]) for row in rows] == [len(e.turns) for e in episodes.values()]


def test_moves_scroll_from_the_last_one_until_the_game_is_over(naive):
    shown = {step: str(view.columns({"naive": naive}, step)) for step in (3, len(naive.turns))}
    begun, over = shown.values()
    assert 'class="sauda-moves sauda-latest" role="region" tabindex="0"' in begun
    assert 'class="sauda-moves" role="region" tabindex="0" aria-label="Moves of naive"' in over
