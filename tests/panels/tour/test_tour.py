"""The Tour's figures are those of the artifacts."""

from dataclasses import replace
from itertools import pairwise

import pytest

from env import EndReason, Offer, rupees
from panels.results.model_summary import rows_by_policy
from panels.tour import figures, race
from panels.tour import tab as tour
from panels.tour.facts import chain, facts, in_short
from panels.transcripts.before_after import FILE, typical
from sauda.evaluation.models.config import OURS
from sauda.llm.model import SAUDA
from sauda.records.kinds import ArtifactError
from sauda.records.store import load


def test_the_tours_figures_are_those_of_the_artifacts():
    comparison = load("evaluation/model-comparison.json")
    shown = str(figures.glance(comparison, load("evaluation/reproduction.json")))
    rows = rows_by_policy(comparison, figures.MARKET)
    grades = {name: row.grade.mean for name, row in rows.items()}
    last = OURS
    assert f">{grades[last]:.3f}" in shown
    closed = (grades[last] - grades["mini"]) / (grades["belief"] - grades["mini"])
    assert f"{closed:.0%}" in shown
    (way,) = [
        way
        for way in comparison.data.gap_closed
        if (way.task, way.policy) == (figures.MARKET, last)
    ]
    assert way.share == pytest.approx(closed, abs=1e-4)
    assert way.low < way.share < way.high
    assert f"[{way.low:.0%}, {way.high:.0%}]" in shown


def test_the_tour_says_who_still_wins_more_than_the_model():
    comparison = load("evaluation/model-comparison.json")
    rows = rows_by_policy(comparison, figures.MARKET)
    said = figures.still_ahead(comparison)
    assert said.startswith("Two players without a language model still win more: the belief buyer")
    for name in ("belief", "pilot"):
        assert f"({rows[name].grade.mean:.3f})" in said
    assert f"n = {rows['belief'].n} games each" in said
    assert said in str(figures.glance(comparison, load("evaluation/reproduction.json")))


def test_the_tour_tells_the_tuned_rule_beside_the_untuned_scripts():
    comparison = load("evaluation/model-comparison.json")
    shown = str(figures.glance(comparison, load("evaluation/reproduction.json")))
    rows = rows_by_policy(comparison, figures.MARKET)
    assert "best untuned script" in shown
    assert f"wins {rows['tuned'].grade.mean:.3f}" in shown


def test_where_no_script_wins_more_the_tour_says_so():
    comparison = load("evaluation/model-comparison.json")
    rows = [row for row in comparison.data.rows if row.policy not in ("belief", "pilot")]
    fewer = replace(comparison, data=comparison.data.model_copy(update={"rows": rows}))
    assert figures.still_ahead(fewer).startswith("No player without a language model wins more")


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (-0.3, -0.1, "still earns less than"),
        (-0.1, 0.1, "earns about as much as"),
        (0.1, 0.3, "earns more than"),
    ],
)
def test_the_model_as_a_lab_is_compared_with_one_that_never_trades(low, high, verdict):
    comparison = load("evaluation/arena-model-comparison.json")
    last = comparison.config["stages"][-1]
    rows = [
        row.model_copy(update={"grade": row.grade.model_copy(update={"low": low, "high": high})})
        if row.policy == last
        else row
        for row in comparison.data.rows
    ]
    changed = replace(comparison, data=comparison.data.model_copy(update={"rows": rows}))
    assert f"As a lab the model {verdict} one that never trades" in figures.lab_sentence(changed)


def test_the_rank_of_the_shown_game_is_told_in_plain_words():
    among = "the 89 games in which a deal is possible."
    assert race.rank("50th", 89) == f"The median of {among}"
    assert race.rank("90th", 89) == f"The 90th percentile of the gain in {among}"
    assert race.rank("best", 89) == "Of the games that end in a deal, this one improved most."


def test_the_deals_that_are_possible_are_counted_in_the_record():
    artifact = load(FILE)
    (row,) = [row for row in artifact.data.tasks if row.task == race.TASK]
    assert race.possible_deals(artifact) == row.zopa.count(True) < len(row.seeds)


def test_a_ladder_without_a_trained_model_is_said_to_lack_it():
    comparison = load("evaluation/model-comparison.json")
    rows = [row for row in comparison.data.rows if row.policy in ("mini", "linear", "belief")]
    with pytest.raises(ArtifactError, match="lacks a trained model on bazaar/open"):
        figures.trained(replace(comparison, data=comparison.data.model_copy(update={"rows": rows})))


def test_the_facts_are_those_of_the_runs_from_the_base_to_the_served_stage():
    runs = chain()
    assert runs[0].data.stage == "sft"
    assert runs[-1].data.stage == SAUDA
    for earlier, later in pairwise(runs):
        assert later.data.init_adapter.name == earlier.data.stage
    shown = str(facts(runs))
    hours = sum(run.data.seconds for run in runs) / 3600
    assert f"{hours:.1f} hours" in shown
    assert f"{sum(run.data.num_tokens for run in runs):,} tokens" in shown
    assert "135 million" in shown
    assert f"135 million parameters, trained for {hours:.1f} hours on 2 CPU cores" in in_short(runs)


def test_the_race_shows_a_typical_game_that_ends_in_a_deal(monkeypatch):
    pair = typical(load(FILE), race.TASK)
    before, after = games = race.recorded_games(pair)
    assert after.end == EndReason.AGREEMENT
    rounds = max(len(race.rounds(game)) for game in games)
    monkeypatch.setattr(race, "ROWS", rounds)
    shown = str(race.race(games, pair))
    for turn in after.trajectory("buyer"):
        if isinstance(turn.action, Offer):
            assert f">{rupees(turn.action.price)}<" in shown
    assert shown.count("<tr") == 2 + rounds
    assert "…</td>" not in shown
    assert f"seed {pair.seed}, two buyers" in race.about(pair, games, 89)
    assert before.seed == after.seed == pair.seed


def test_the_middle_rounds_of_a_long_game_share_a_row(monkeypatch):
    pair = typical(load(FILE), race.TASK)
    _, after = games = race.recorded_games(pair)
    rounds = len(race.rounds(after))
    monkeypatch.setattr(race, "ROWS", rounds - 1)
    shown = str(race.race(games, pair))
    assert shown.count("<tr") == 2 + rounds - 1
    last = rounds - race.LAST
    assert f'<th scope="row">{last - 1}–{last}</th><td></td><td>…</td>' in shown
    for number in (last - 2, last + 1, rounds):
        assert f'<th scope="row">{number}</th>' in shown


def test_a_reply_that_is_no_move_is_quoted_short_and_escaped():
    pair = typical(load(FILE), race.TASK)
    games = race.recorded_games(pair)
    assert games[0].end == EndReason.FORFEIT
    reply = "<img src=x onerror=alert(1)>" + "z" * 200
    written = pair.model_copy(
        update={"before": pair.before.model_copy(update={"replies": [reply]})}
    )
    shown = str(race.race(games, written))
    assert "<img" not in shown
    assert "&lt;img" in shown
    assert "z" * 100 not in shown


def test_games_played_again_are_compared_move_by_move():
    pair = typical(load(FILE), race.TASK)
    games = race.recorded_games(pair)
    assert "move by move as recorded" in race.compared(games, games)
    other = [games[1], games[1]]
    assert "before training took other moves" in race.compared(games, other)


def test_the_address_names_the_step_from_1_and_the_first_needs_none():
    for number in range(1, len(tour.STEPS)):
        assert tour.step_named(tour.named_in_address(number)) == number
    assert tour.named_in_address(0) == {}
    for query in ({}, {"step": "0"}, {"step": "99"}, {"step": "<b>"}):
        assert tour.step_named(query) == 0
