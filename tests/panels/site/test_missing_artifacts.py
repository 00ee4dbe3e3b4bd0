"""Artifacts that are deleted or torn: the page opens, and names the command where one is needed."""

import json
from pathlib import Path

import pytest

from app import build_app
from env import WalkAway
from panels.gpu_arena import players
from panels.haggle.opponents import badge, stages
from panels.haggle.review.card import card
from panels.haggle.review.result_view import result
from sauda.policies import pilot
from sauda.records import store
from sauda.sessions.bazaar import answer, start
from tests.support.site import Site

pytestmark = pytest.mark.slow
COMMAND = "python -m sauda train pilot"


@pytest.fixture(params=["deleted", "torn"])
def no_artifacts(request, monkeypatch):
    """No artifact can be read until the test ends."""

    def read(path: Path) -> object:
        if request.param == "deleted":
            raise FileNotFoundError(path)
        return json.loads('{"kind": ')

    monkeypatch.setattr(store, "read_json", read)
    kept = (
        pilot.trained, badge.seller_figures, badge.persona_figures, stages.rows,
        players.script_rows, players.model_rows,
    )  # fmt: skip
    for cache in kept:
        cache.cache_clear()
    yield
    for cache in kept:
        cache.cache_clear()


def test_the_page_opens_and_says_in_each_place_what_makes_the_missing_artifact(no_artifacts):
    parts = [str(getattr(block, "value", "")) for block in build_app().blocks.values()]
    missing = [part for part in parts if "sauda-empty" in part]
    assert len(missing) > 10
    for part in missing:
        assert part.count("<code>") == part.count("sauda-empty")


def test_events_of_every_tab_answer_while_no_artifact_can_be_read(site: Site, no_artifacts):
    called = 0
    for number, event in site.blocks.fns.items():
        if event.fn is None or event.queue:
            continue
        data = [None if part.stateful else part.get_config().get("value") for part in event.inputs]
        body = {"data": data, "fn_index": number, "session_hash": "without"}
        answered = site.shared.post("/gradio_api/run/predict", json=body)
        assert answered.status_code == 200, (event.fn.__module__, event.fn.__name__, answered.text)
        called += 1
    assert called > 40


def test_transcripts_of_a_task_that_needs_an_artifact_name_its_command(site: Site, no_artifacts):
    number = site.event_number("transcripts.callbacks", "change_task")
    assert COMMAND in site.call(number, ["bazaar/open", None, "7"], "without")
    number = site.event_number("transcripts.callbacks", "shoot_out")
    assert COMMAND in site.call(number, ["7"], "without")


def test_the_api_names_the_command_of_an_artifact_that_a_task_needs(site: Site, no_artifacts):
    game = {"data": ["bazaar/open", "expert", "7"]}
    event = site.shared.post("/gradio_api/call/play", json=game).json()["event_id"]
    answered = site.shared.get(f"/gradio_api/call/play/{event}").text
    assert "event: error" in answered
    assert COMMAND in answered


def test_a_finished_game_is_shown_without_the_comparison_that_needs_an_artifact(no_artifacts):
    game = answer(start("bazaar/open", "", 7), WalkAway())
    assert game.over
    assert COMMAND in result(game)
    assert "sauda-stat" in card(game)
