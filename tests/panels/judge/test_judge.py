"""The Judge tab: recorded rounds and negotiations, and a visitor's own pitch."""

from statistics import fmean

import pytest

from panels import judge
from sauda.games.negotiation import LEARNER, ROUNDS
from sauda.records.schemas.base import Row
from sauda.records.store import Artifact, load


@pytest.fixture(scope="module")
def judged() -> Artifact:
    return load("pitching.json")


def test_claims_are_marked_and_the_text_stays_whole_and_escaped():
    findings = [
        Row(dimension="evidence", status=status, start=start, end=end, reason="why", points=0.2)
        for status, start, end in (("holds", 3, 6), ("false", 4, 8))  # which overlap
    ]
    shown = str(judge.mark("<b>abc</b>", findings, {}))
    assert shown.count("<mark") == 1
    assert '<mark class="sauda-good" title="why">abc</mark>' in shown
    assert shown.startswith("&lt;b&gt;")
    assert shown.endswith("&lt;/b&gt;")


def test_a_visitors_true_claim_scores_and_what_cannot_be_judged_gets_a_sentence(judged):
    game = judged.data.shown[0]
    index = next(i for i, row in enumerate(game.rounds) if row.verdicts[LEARNER].findings)
    true = (game.rounds[index].verdicts[LEARNER].text, judge.example_pitch(game.seed, index))
    sentences = {**dict.fromkeys(true, "is true"), "urgent fair coalition": "nothing is scored"}
    sentences |= {"": "Write a pitch first", "  ": "Write a pitch first", "a" * 501: "at most 500"}
    for text, sentence in sentences.items():
        assert sentence in str(judge.own_pitch(game.seed, index, text))


def test_an_untrue_claim_shows_its_cost_and_the_true_figures_of_the_own_jobs_alone(judged):
    game = judged.data.shown[0]
    played = judge.rounds_of(game.seed)[0]
    hours = [job.gpu_hours_required for job in played.state.seen_by(LEARNER).open_jobs]
    shown = str(judge.own_pitch(game.seed, 0, f"We need {sum(hours) + 1} hours."))
    assert "−0.20" in shown
    assert f"{sum(hours)} h in all" in shown
    assert "a total does not fall below 0" in shown
    (other, verdict), *_ = (pair for pair in game.rounds[0].verdicts.items() if pair[0] != LEARNER)
    assert "h in all" not in judge.reasons(other, verdict, played.state, {})


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
    won = fmean(row.winner == LEARNER for row in game.rounds)
    assert f"{ROUNDS} rounds" in begins
    assert f"Equal: rounds that your lab won, recorded {won:.1%}, played now {won:.1%}" in ends
    wrong = [row.model_copy(update={"winner": "lab_3"}) for row in game.rounds]
    *_, told = judge.rounds_again(game.model_copy(update={"rounds": wrong}))
    assert "Not the same in winner." in told


@pytest.mark.parametrize("advocate", ["adapting", "cycle", "injection"])
def test_an_advocates_negotiations_come_out_again(judged, advocate):
    *_, told = judge.played_again(judged, advocate)
    won = fmean(judged.data.wins[advocate][: judge.SAMPLE]) / ROUNDS
    assert f"advocate won, recorded {won:.1%}, played now {won:.1%}, n = {judge.SAMPLE}" in told
    assert told.count("<tr") == judge.SAMPLE + 1
    assert "≠" not in told


def test_the_address_of_a_round_leads_back_to_it_and_any_other_to_the_first(judged):
    games = {game.seed: game for game in judged.data.shown}
    first, other = list(games)[:2]
    assert judge.find_round(games, judge.named_in_address(first, other, 2)) == (other, 2)
    assert judge.named_in_address(first, first, 0) == {}
    assert judge.find_round(games, {"seed": "<b>", "round": "0"}) == (first, 0)


def test_the_first_round_on_show_can_be_won_by_facts_that_are_shown(judged):
    game = min(judged.data.shown, key=lambda game: game.rounds[0].winner != LEARNER)
    pitch, facts = game.rounds[0].verdicts[LEARNER].text, str(judge.knowledge(game.seed, 0))
    assert "✓ won" in str(judge.own_pitch(game.seed, 0, pitch))
    numbers = [word.strip(".") for word in pitch.split() if word.strip(".").isdigit()]
    assert numbers
    assert all(number in facts for number in numbers)


def test_a_pitch_with_one_number_changed_has_one_lie_that_its_facts_tell():
    facts, told = judge.with_one_lie()
    assert "your jobs" in facts
    assert sum(not is_true for _, is_true, _ in told) == 1
    assert len(told) > 2
