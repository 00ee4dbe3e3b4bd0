"""Transcripts of the GPU arena: its own pair of policies, steps, downloads, the median seed."""

import json
import re
from dataclasses import replace

import pytest

from env import ARENA_TASKS
from panels.transcripts import arena as arena_transcripts
from panels.transcripts import episodes as played_episodes
from panels.transcripts import view
from sauda.experiments.episodes import POLICIES, SEED
from sauda.experiments.evaluate import Arena, ArenaColumns
from sauda.records.seeds import SPLITS

MARKET = "arena/coalition_market"


@pytest.fixture(scope="module")
def demo():
    """The default of the arena: both experts on coalition_market at seed 5."""
    names, seed = played_episodes.usual(MARKET, list(POLICIES), "50000")
    return played_episodes.play(MARKET, seed, names)


def test_going_to_the_arena_shows_its_own_pair_and_seed_and_back_the_bazaars(demo):
    assert list(demo) == ["planner", "rule_based_expert"]
    assert {episode.seed for episode in demo.values()} == {5}
    back = played_episodes.usual("classic/single_deal", list(demo), "5")
    assert back == (list(POLICIES), str(SEED))
    assert played_episodes.usual("arena/market_round", ["wait"], "9") == (["wait"], "9")


def test_a_step_shows_so_many_actions_of_the_learner_with_codes_and_sums(demo):
    taken = [len(episode.trajectory("lab_0")) for episode in demo.values()]
    for step in (1, 3, 6):
        shown = str(view.columns(demo, step))
        assert shown.count("sauda-money") == sum(min(step, count) for count in taken)
    assert "Utility" not in str(view.columns(demo, 1))
    whole = str(view.columns(demo, view.longest(demo)))
    for episode in demo.values():
        assert f"Grade {ARENA_TASKS[MARKET].grade(episode.final):.3f}" in whole
        own = episode.final.private["lab_0"]
        assert f"Utility {own.utility:.2f} credits" in whole
    assert whole.count("<b>shock</b>") == sum(
        len(episode.final.market.shock_history) for episode in demo.values()
    )


def test_rounds_are_counted_from_1_on_the_page_and_in_prose(demo):
    whole = str(view.columns(demo, view.longest(demo)))
    with open(played_episodes.markdown_file(demo), encoding="utf-8") as file:
        prose = file.read()
    rounds = next(iter(demo.values())).final.market.max_rounds
    for told, heading in ((whole, r"<h4>Round (\d+)</h4>"), (prose, r"(?m)^## Round (\d+)$")):
        numbers = {int(number) for number in re.findall(heading, told)}
        assert numbers == set(range(1, rounds + 1))


def test_what_is_downloaded_is_what_is_shown_as_data_and_as_prose(demo):
    with open(played_episodes.json_file(demo), encoding="utf-8") as file:
        rows = json.load(file)
    assert [len(row["moves"]) for row in rows] == [len(e.turns) for e in demo.values()]
    with open(played_episodes.markdown_file(demo), encoding="utf-8") as file:
        text = file.read()
    assert text.count(f"# {MARKET}, seed 5: ") == 2
    assert "job_allocated" in text


def test_before_and_after_is_the_seed_of_the_median_difference(arena_evaluation):
    def recorded(after, before):
        grades = {"planner": after, "rule_based_expert": before}
        pair = {name: ArenaColumns.model_construct(grade=own) for name, own in grades.items()}
        data = Arena.model_construct(episodes={"as drawn": {MARKET: pair}})
        return replace(arena_evaluation, data=data)

    first = SPLITS["holdout"][0]
    odd = recorded([0.9, 0.2, 0.5], [0.0, 0.0, 0.0])
    assert arena_transcripts.before_and_after(odd, MARKET) == first + 2
    even = recorded([0.4, 0.1, 0.3, 0.9], [0.0, 0.0, 0.0, 0.0])
    assert arena_transcripts.before_and_after(even, MARKET) == first + 2
    against = recorded([0.5, 0.5, 0.5], [0.4, 0.0, 0.2])  # differences 0.1, 0.5, 0.3
    assert arena_transcripts.before_and_after(against, MARKET) == first + 2
    name, names, seed = played_episodes.median_pair(odd, "classic/single_deal")
    assert (name, names, seed) == (MARKET, ["planner", "rule_based_expert"], str(first + 2))


def test_without_a_record_there_is_no_median_but_a_sentence():
    with pytest.raises(ValueError, match=r"arena-holdout\.json is missing"):
        played_episodes.median_pair(None, MARKET)
