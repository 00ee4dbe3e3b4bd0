"""What single questions of Results show: optimum, gap, words, published figures, design."""

from dataclasses import replace
from statistics import fmean

import pytest

from env import arena
from panels.results.arena import design as arena_design
from panels.results.arena import differences
from panels.results.questions import optimum
from panels.results.questions.reproduce import SCRIPTED, reproduced, rows_of
from panels.results.questions.reproduce import shown as sample_shown
from panels.results.questions.verdict import Verdict, verdict_html
from sauda.experiments.hearing import Hearing, hearing
from sauda.experiments.verify import replay_row
from sauda.records.store import load

pytestmark = pytest.mark.slow
LAB_TASK = "arena/coalition_market"


def test_every_component_has_a_bar_a_formula_and_a_mean(arena_evaluation):
    (bar,) = arena_design.component_bars(arena_evaluation, LAB_TASK, "broker").data
    shown = str(arena_design.component_table(arena_evaluation, LAB_TASK, "broker"))
    row = next(
        row
        for row in arena_evaluation.data.rows
        if (row.others, row.task, row.policy) == ("as drawn", LAB_TASK, "broker")
    )
    assert list(bar.x) == [row.components[c.name].mean for c in arena.COMPONENTS][::-1]
    for component in (*arena.COMPONENTS, arena.TOTAL):
        assert component.name in shown
        assert component.formula.replace("'", "&#39;") in shown
    for example in arena_evaluation.data.examples:
        assert f"{example.amount:+.3f}: " in shown
        assert f"seed {example.seed}, round {example.round + 1})" in shown


def test_there_is_a_card_for_each_action_with_all_its_fields_and_codes():
    shown = str(arena_design.action_cards())
    assert shown.count("sauda-card") - 1 == len(arena.KINDS) == 14
    for name, kind in arena.KINDS.items():
        card = str(arena_design.action_card(name, kind))
        assert card in shown
        for part in (name, *kind.required, *kind.success, *kind.failures):
            assert f"<code>{part}</code>" in card
        for field in kind.optional:
            assert f"{field}?</code>" in card


def test_a_verdict_is_a_sentence_above_its_evidence_with_nothing_taken_for_markup():
    shown = str(verdict_html(Verdict("<b> wins.", ("n < 4", "n = 5"))))
    assert '<p class="sauda-answer">&lt;b&gt; wins.</p>' in shown
    assert shown.count('class="sauda-note"') == 2
    assert "n &lt; 4" in shown


MARKET, ARENA = "evaluation/market-holdout.json", "evaluation/arena-holdout.json"


def test_a_script_comes_out_as_recorded_and_says_so_with_both_means():
    artifact = load(MARKET)
    begins, ends = map(str, reproduced(rows_of([artifact]), "bazaar/open linear"))
    mean = fmean(artifact.data.episodes["bazaar/open"]["linear"].grade[:SCRIPTED])
    assert f"Playing {SCRIPTED} games" in begins
    assert f"recorded {mean:.3f}, played now {mean:.3f}, n = {SCRIPTED} games." in ends
    assert "<b>Equal" in ends
    assert ends.count("<tr") == SCRIPTED + 1
    assert "≠" not in ends


def test_a_game_that_differs_is_shown_as_such_and_a_loss_of_nothing_as_0():
    artifact, cell = next(iter(rows_of([load(MARKET)]).values()))
    sample = replay_row(artifact, cell, 2)
    changed = {**sample.replayed, "grade": [0.25, -1e-9]}
    text = str(sample_shown(replace(sample, replayed=changed)))
    assert "<b>Not equal" in text
    assert "Not the same in grade." in text
    assert text.count("≠") == 2
    assert ">0.000000<" in text
    assert "-0.000000" not in text


def test_a_row_that_is_not_in_the_list_is_answered_in_words():
    (only,) = reproduced({}, "<b>x</b>")
    assert "Pick one of the rows" in only


def test_what_words_are_worth_is_said_with_its_interval_by_type_and_in_unseen_phrases():
    data = load("words.json").data
    worth = {row.what: row for row in data.worth}
    verdict = optimum.words_verdict(data)
    for row in (worth[optimum.BOTH].all, worth[optimum.BOTH].bluffer):
        assert f"{row.mean:+.3f}" in f"{verdict.sentence} {' '.join(verdict.evidence)}".replace(
            "−", "-"
        )
    figure = optimum.grades_figure(data)
    means = [row.interval.mean for row in optimum.words_rows(data)]
    assert max(means) == means[0]  # nobody who does not know the seller passes the bound
    assert len(figure.data) == len(means)
    assert str(optimum.worth_table(data.worth)).count("<tr") == len(data.worth) + 1


def test_the_optimum_stands_above_all_players_and_says_whether_an_exploit_pays():
    (row, *_) = load("oracle.json").data.rows
    shown = str(optimum.players_table(row))
    assert shown.count("<tr") == len(row.policies) + 3  # head, bound, silent bound
    assert "None beats" in optimum.exploits_sentence([row])
    first = row.exploits[0]
    better = first.model_copy(update={"gain": first.gain.model_copy(update={"low": 0.01})})
    paying = row.model_copy(update={"exploits": [better, *row.exploits[1:]]})
    assert f"“{first.what}” in the open market beat" in optimum.exploits_sentence([paying])


def test_the_gap_is_told_by_part_with_a_row_for_each_player_and_bin():
    data = load("gap.json").data
    sentence = optimum.gap_verdict(data).sentence
    assert f"{data.uncertainty.mean:.3f}" in sentence
    assert len(optimum.split_figure(data).data) == len(optimum.gap_rows(data))
    shown = str(optimum.bins_table(data))
    assert all(part.name in shown for part in data.bins)
    stating = [row for row in data.rows if row.beliefs]
    assert str(optimum.beliefs_table(data.rows)).count("<tr") == len(stating) + 1


def test_what_a_player_loses_with_other_words_stands_in_one_row():
    data = hearing(("tuned", "linear"), episodes=3, workers=1)
    shown = str(optimum.hearing_table(Hearing.model_validate(data)))
    assert shown.count("<tr") == 3
    assert "tuned script" in shown


def test_every_rule_of_the_arena_stands_beside_the_published_one_with_its_worth_in_both():
    published, rules = load("published.json"), load("arena_rules.json")
    shown = differences.differences_table(published, rules)
    told = {one.rule for one in differences.DIFFERENCES if one.rule}
    assert told == {row.rule for row in rules.data.ablations}
    for one in differences.DIFFERENCES:
        assert differences.worth_there(published, one) in shown
        assert differences.worth_here(rules, one) in shown
    words = next(one for one in differences.DIFFERENCES if one.rule == "words")
    assert "of reward" in differences.worth_there(published, words)
