"""The reward components and action cards of the arena, from its code and a small evaluation."""

import pytest

from env import arena
from panels.results.arena import design as arena_design

pytestmark = pytest.mark.slow

MARKET = "arena/coalition_market"


def test_every_component_has_a_bar_a_formula_and_a_mean(arena_evaluation):
    (bar,) = arena_design.component_bars(arena_evaluation, MARKET, "planner").data
    shown = str(arena_design.component_table(arena_evaluation, MARKET, "planner"))
    row = next(
        row
        for row in arena_evaluation.data.rows
        if (row.others, row.task, row.policy) == ("as drawn", MARKET, "planner")
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
