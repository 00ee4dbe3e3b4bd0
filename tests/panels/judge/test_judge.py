"""The Judge and Training tabs: what they say of recorded rounds, pitches and runs."""

from dataclasses import replace
from statistics import fmean

import pytest

from panels import judge
from panels.results.models import policy_label
from panels.training import tab as training
from sauda.experiments.pitching import LEARNER, ROUNDS
from sauda.records.schemas.base import Row
from sauda.records.store import Artifact, load


@pytest.fixture(scope="module")
def judged() -> Artifact:
    return load("pitching.json")


@pytest.fixture(scope="module")
def selector() -> Artifact:
    return load("training/selector.json")


def test_the_rounds_on_screen_are_those_that_were_recorded(judged):
    game = judged.data.shown[0]
    for row, again in zip(game.rounds, judge.rounds_of(game.seed), strict=True):
        assert row.winner == again.decision.winner
        texts = {lab: verdict.text for lab, verdict in again.decision.verdicts.items()}
        assert {lab: verdict.text for lab, verdict in row.verdicts.items()} == texts


def test_claims_are_marked_and_the_text_stays_whole_and_escaped():
    findings = [
        Row(dimension="evidence", status="holds", start=3, end=6, reason="why", points=0.2),
        Row(dimension="evidence", status="false", start=4, end=8, reason="overlaps", points=-0.2),
    ]
    shown = str(judge.mark("<b>abc</b>", findings, {}))
    assert shown.count("<mark") == 1
    assert '<mark class="sauda-good" title="why">abc</mark>' in shown
    assert shown.startswith("&lt;b&gt;")
    assert shown.endswith("&lt;/b&gt;")


def test_a_visitors_true_claim_scores_and_a_list_of_words_does_not(judged):
    game = judged.data.shown[0]
    seed = game.seed
    index = next(i for i, row in enumerate(game.rounds) if row.verdicts[LEARNER].findings)
    own_text = game.rounds[index].verdicts[LEARNER].text
    verdicts = {
        name: str(judge.own_pitch(seed, index, text))
        for name, text in (
            ("own", own_text),
            ("words", "urgent deadline fair mutual coalition reliable evidence"),
        )
    }
    assert "is true" in verdicts["own"]
    assert "nothing is scored" in verdicts["words"]
    assert "is true" in str(judge.own_pitch(seed, index, judge.example_pitch(seed, index)))


@pytest.mark.parametrize(
    ("text", "fault"),
    [("", "Write a pitch first"), ("  ", "Write a pitch first"), ("a" * 501, "at most 500")],
)
def test_a_pitch_that_cannot_be_judged_is_refused_in_a_sentence(judged, text, fault):
    assert fault in judge.own_pitch(judged.data.shown[0].seed, 0, text)


def test_a_judged_pitch_tells_nothing_of_another_labs_papers(judged):
    seed = judged.data.shown[0].seed
    for index in (0, 7, 15):
        state = judge.rounds_of(seed)[index].state
        shown = str(judge.own_pitch(seed, index, "lab_1 needs 6 hours. Our reputation is 0.9."))
        shown += str(judge.knowledge(seed, index))
        for lab, own in state.private.items():
            if lab not in (LEARNER, "nature") and own is not None:
                assert not any(job.job_id in shown for job in own.jobs)


def test_recorded_rounds_come_out_again_and_a_changed_record_is_told(judged):
    game = judged.data.shown[-1]
    begins, ends = map(str, judge.rounds_again(game))
    mean = fmean(row.verdicts[LEARNER].total for row in game.rounds)
    assert f"{ROUNDS} rounds" in begins
    assert f"Equal: your lab’s mean total recorded {mean:.3f}, played now {mean:.3f}" in ends
    wrong = [row.model_copy(update={"winner": "lab_3"}) for row in game.rounds]
    *_, told = judge.rounds_again(game.model_copy(update={"rounds": wrong}))
    assert "Not the same in winner." in told


@pytest.mark.parametrize("advocate", ["adapting", "cycle", "injection"])
def test_an_advocates_negotiations_come_out_again(judged, advocate):
    *_, told = judge.played_again(judged, advocate)
    won = fmean(judged.data.wins[advocate][: judge.SAMPLE])
    assert f"advocate won recorded {won:.3f}, played now {won:.3f}, n = {judge.SAMPLE}" in told
    assert told.count("<tr") == judge.SAMPLE + 1
    assert "≠" not in told


def test_the_selectors_curves_are_those_of_its_log(selector):
    for final in selector.data.final:
        task = final.task
        rows = [row for row in selector.data.curve if row.task == task]
        raw, *_ = training.reward_figure(selector, task).data
        assert list(raw.y) == [row.reward for row in rows]
        chances = training.choice_figure(selector, task).data
        assert [trace.name for trace in chances] == [
            policy_label(arm) for arm in selector.data.arms
        ]
        assert sum(trace.y[-1] for trace in chances) == pytest.approx(1, abs=1e-3)
        assert policy_label(final.policy) in training.outcome(selector, task)


def test_the_selectors_episodes_come_out_again_and_a_changed_record_is_told(selector):
    task = selector.data.final[-1].task
    begins, ends = map(str, training.played_again(selector, task))
    rows = [row for row in selector.data.curve if row.task == task][: training.SAMPLE]
    mean = fmean(row.reward for row in rows)
    assert f"Playing {training.SAMPLE} training episodes" in begins
    assert f"recorded {mean:.3f}, played now {mean:.3f}, n = {training.SAMPLE} games." in ends
    curve = [row.model_copy(update={"expert": 2.0}) for row in selector.data.curve]
    data = selector.data.model_copy(update={"curve": curve})
    *_, told = training.played_again(replace(selector, data=data), task)
    assert "Not the same in expert." in told


def test_the_address_of_a_round_leads_back_to_it_and_the_first_needs_none(judged):
    games = {game.seed: game for game in judged.data.shown}
    first, other = list(games)[:2]
    assert judge.find_round(games, judge.named_in_address(first, other, 2)) == (other, 2)
    assert judge.named_in_address(first, first, 0) == {}
    assert judge.find_round(games, {"seed": "<b>", "round": "0"}) == (first, 0)
