"""What single questions of Results show: optimum, gap, words, published figures, design."""

from dataclasses import replace
from statistics import fmean

import pytest

from env import arena
from panels.results import arena as arena_question
from panels.results import optimum
from panels.results.question import HTML
from panels.results.reproduce import SCRIPTED, draw_sample, reproduced, rows_of
from sauda.experiments.verify import replay_row
from sauda.records.store import load

pytestmark = pytest.mark.slow
LAB_TASK = "arena/coalition_market"


def test_every_component_has_a_point_a_formula_and_a_mean(arena_evaluation):
    row = next(
        row
        for row in arena_evaluation.data.rows
        if (row.others, row.task, row.policy) == ("as drawn", LAB_TASK, "broker")
    )
    points = arena_question.component_figure(row).data
    shown = str(arena_question.component_table(arena_evaluation, row))
    assert [p.x[0] for p in points] == [row.components[c.name].mean for c in arena.COMPONENTS]
    for component in (*arena.COMPONENTS, arena.TOTAL):
        assert component.name in shown
        assert component.formula.replace("'", "&#39;") in shown
    for example in arena_evaluation.data.examples:
        assert f"{example.amount:+.3f}: " in shown
        assert f"seed {example.seed}, round {example.round + 1})" in shown


def test_there_is_a_card_for_each_action_with_all_its_fields_and_codes():
    _, *cards = str(HTML.action_space(arena.KINDS)).split('<section class="sauda-card">')
    for card, (name, kind) in zip(cards, arena.KINDS.items(), strict=True):
        for part in (name, *kind.required, *kind.success, *kind.failures):
            assert f"<code>{part}</code>" in card
        for field in kind.optional:
            assert f"{field}?</code>" in card


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
    text = str(draw_sample(replace(sample, replayed=changed)))
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
    means = [row.interval.mean for row in optimum.words_rows(data)]
    assert max(means) == means[0]  # nobody who does not know the seller passes the bound
    assert str(optimum.worth_table(data.worth)).count("<tr") == len(data.worth) + 1


def test_every_rule_of_the_arena_stands_beside_the_published_one_with_its_worth_in_both():
    published, rules = load("published.json"), load("arena_rules.json")
    shown = arena_question.rules_table(published, rules)
    rows = {row.rule for row in rules.data.ablations}
    for rule in rows:
        there, here = arena_question.rule_worth(published, rules, rule)
        assert "of reward" in there
        assert f">{there}<" in shown
        assert f">{here}<" in shown
    assert shown.count("of the broker’s grade") == len(rows)
