"""The Tour's figures are those of the artifacts."""

import re
from html import escape, unescape
from urllib.parse import parse_qsl

import pytest

from env import Offer, rupees
from panels import PANELS
from panels.haggle.tab import shared_game
from panels.measured import rows_by_policy
from panels.results.question import side
from panels.tour import duel, facts, tab
from panels.training.tab import RENTED, cost, overview
from panels.ui.tables import with_interval
from sauda.cloud.jobs import PRICES_READ, flavor
from sauda.experiments.manners import HABITS
from sauda.language.phrases import language_of
from sauda.players import BASE, LISTENER, SERVED, TUNED
from sauda.records.kinds import ArtifactError
from sauda.records.store import load
from tests.support.measured import changed


def test_the_tours_figures_are_those_of_the_artifacts():
    comparison, words = load("evaluation/model-comparison.json"), load("worth.json")
    grades = {name: row.grade for name, row in rows_by_policy(comparison, facts.MARKET).items()}
    told = facts.gain(comparison)
    assert f"{grades[BASE].mean:z.0%} to {with_interval(grades[SERVED], 'z.0%')}" in told
    ways = {(way.task, way.policy): way for way in comparison.data.gap_closed}
    way = ways[facts.MARKET, SERVED]
    assert f"{way.share:.0%} [{way.low:.0%}, {way.high:.0%}]" in told
    drawn = facts.grades_figure(comparison).data
    assert drawn[0].x[0] == grades[LISTENER].mean
    assert [trace.x[0] for trace in drawn] == sorted((t.x[0] for t in drawn), reverse=True)
    worth = next(row for row in words.data.worth if row.what == "both" and row.market == "open-3")
    manners = load("manners.json")
    found = facts.findings(comparison, words, manners)
    assert f"₹{1000 * worth.difference.mean:.0f} of every ₹1,000" in found[0].headline
    recorded = {round(1000 * row.share.mean) for row in manners.data.rows
                if row.habit in facts.OPENINGS and row.player in (LISTENER, SERVED)}  # fmt: skip
    assert {mean for _, mean, *_ in found[1].bars} == recorded
    low, high = (HABITS[habit].opening for habit in facts.OPENINGS)
    assert facts.OPENINGS["opens absurdly"] == f"{high / low:g} times that"


def test_a_finding_claims_what_its_interval_shows():
    worth, manners = load("worth.json"), load("manners.json")
    comparison = load("evaluation/model-comparison.json")

    def headlines(**data):
        found = facts.findings(changed(comparison, **data), worth, manners)
        return " ".join(each.headline for each in found)

    rows = facts.reinforced(comparison)
    moved = [row.model_copy(update={"difference": 0.2, "low": 0.1, "high": 0.3}) for row in rows]
    assert "changed some of what it wins" in headlines(stage_gains=moved)
    played = comparison.data.episodes
    level = played | {
        facts.MARKET: dict(played[facts.MARKET]) | {TUNED: played[facts.MARKET][SERVED]}
    }
    assert "is level with the best script" in headlines(episodes=level)


def test_what_training_further_changed_is_told_with_its_intervals():
    comparison = load("evaluation/model-comparison.json")
    rows = facts.reinforced(comparison)
    told = facts.trained_on(comparison)
    assert rows
    for row in rows:
        is_told = facts.points(row.interval) in told
        assert is_told == (row.on == "all" or side(row.interval) != "unclear")
    nothing = all(side(row.interval) == "unclear" for row in rows if row.on == "all")
    assert ("nothing that can be measured" in told) == nothing
    moved = [row.model_copy(update={"difference": 0.2, "low": 0.1, "high": 0.3}) for row in rows]
    played_better = facts.trained_on(changed(comparison, stage_gains=moved))
    assert "nothing that can be measured" not in played_better
    assert facts.trained_on(changed(comparison, stage_gains=[])) == ""


def test_a_second_stage_begins_where_the_first_ended():
    (run,) = facts.chain()[:1]
    figure = facts.curve([run, run], load("evaluation/model-comparison.json"))
    first, second = (trace.x for trace in figure.data if trace.mode == "lines")
    assert second[0] == pytest.approx(run.data.seconds / 60 + first[0])
    assert len(figure.layout.shapes) == 2


def test_a_run_costs_what_the_hub_rents_such_a_machine_for_and_says_when_that_was_read():
    def on(device):
        hardware = run.data.hardware.model_copy(update={"device": device, "cores": 2})
        return changed(run, hardware=hardware)

    (run,) = facts.chain()[:1]
    told = facts.in_short([on("x86_64 CPU"), on("NVIDIA H100")])
    assert "2 CPU cores, then an NVIDIA H100" in told
    assert "$" not in told
    assert cost(on("NVIDIA H100")) is None  # the Hub rents none
    hours = run.data.seconds / 3600
    for device, name in (("x86_64 CPU", RENTED), ("NVIDIA H200", "h200")):
        dollars = hours * flavor(name).price
        assert cost(on(device)) == pytest.approx(dollars)
        assert f"${dollars:.2f} (" in facts.in_short([on(device)])
        assert f"{PRICES_READ:%B %Y}" in facts.in_short([on(device)])
        _, table = overview({"sft": on(device)})
        assert f"${flavor(name).price:.2f} for {name}" in table.about
        assert f"{PRICES_READ:%B %Y}" in table.about
        assert "published" in table.about


def test_a_reply_that_is_no_move_is_quoted_short_and_escaped():
    games = duel.recorded()
    reply = "<img src=x onerror=alert(1)>" + "z" * 200
    shown = str(duel.draw(games[SERVED], BASE, (games[BASE][0], [reply])))
    assert "<img" not in shown
    assert "&lt;img" in shown
    assert "z" * 100 not in shown
    assert "names no price" in shown


def test_each_recorded_line_in_another_language_has_its_english():
    turns = [turn for game, _ in duel.recorded().values() for turn in game.turns if turn.action]
    lines = {turn.action.message for turn in turns} - {""}
    assert {line for line in lines if language_of(line) != "en" and not duel.gloss(line)} == set()
    assert all("#" not in duel.gloss(line) for line in lines)


def test_the_verdict_is_the_recorded_share_and_its_link_leads_to_the_same_seller():
    game, _ = duel.recorded()[SERVED]
    shown = str(duel.scene())
    assert f"Sauda took {duel.share_of(game):.0%}." in shown
    query = dict(parse_qsl(unescape(re.search(r'href="\?([^"]+)"', shown)[1])))
    begun = shared_game(query)
    assert begun.play.seed == game.seed
    assert begun.play.turns[0].action == game.turns[0].action


def test_another_buyers_recorded_game_is_drawn_at_once():
    script, _ = duel.recorded()[TUNED]
    shown = str(duel.scene(TUNED))
    assert all(rupees(turn.action.price) in shown for turn in script.trajectory("buyer")
               if isinstance(turn.action, Offer))  # fmt: skip
    assert f"took {duel.share_of(script):.0%}" in shown
    assert duel.scene("<b>") == duel.scene()  # any client can send anything


def test_without_artifacts_it_is_the_header_alone(monkeypatch):
    def missing(file):
        raise ArtifactError(f"artifacts/{file} is missing")

    monkeypatch.setattr(duel, "load", missing)
    shown = tab.first_view("<h1>Sauda</h1>", [panel.TITLE for panel in PANELS])
    assert "<h1>Sauda</h1>" in shown
    assert "<main></main>" in shown
    assert all(f"<span>{escape(panel.TITLE)}</span>" in str(shown) for panel in PANELS)


def test_games_played_now_are_compared_with_the_recorded_ones(monkeypatch):
    games = {name: game for name, (game, _) in duel.recorded().items()}
    monkeypatch.setattr(duel, "rollout", lambda task, name, seed: games[name])
    monkeypatch.setattr(duel, "of_this_page", lambda task, name: name)
    assert "move by move as recorded" in [*duel.play_live(TUNED)][-1]
    monkeypatch.setattr(duel, "of_this_page", lambda task, name: BASE)
    assert "other moves than in the recording" in [*duel.play_live(TUNED)][-1]
