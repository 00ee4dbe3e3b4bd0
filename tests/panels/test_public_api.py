"""What a caller of the page can start: scripted games from lists of names, within their slots."""

from inspect import Parameter, signature

import gradio as gr
import pytest

from app import build_app
from env import TASKS
from panels.artifacts import tab as artifacts
from panels.gpu_arena import callbacks as gpu_arena
from panels.site.serving import THREADS
from panels.transcripts import callbacks as transcripts
from panels.transcripts import episodes as played_episodes
from panels.transcripts.view import columns
from sauda.games import policies_of
from sauda.llm import model, registry

pytestmark = pytest.mark.slow

STRANGE = (
    "mini", "mini+/etc/passwd", "sauda-8b", "sauda-mini+honest", "../../x", "/etc/passwd",
    "expert:firm", "mini:friendly", "belief", "", "expert ", None, 7, ["expert"], {"a": 1},
)  # fmt: skip
BAD_SEEDS = (
    10**400, str(10**400), str(2**128), "9" * 40, "-1", "+7", "1.5", "1e3", "0x10", "", "७",
    "NaN", None, True, -7, 2**53, 7.5, ["7"], {"seed": "7"},
)  # fmt: skip


@pytest.fixture
def no_models(monkeypatch):
    """Fail where anything is loaded."""

    def load(*args, **more):
        raise AssertionError(f"loaded {args}")

    for module, name in ((model, "load"), (model, "base_weights"), (model, "load_once"),
                         (registry, "adapter_folder"), (played_episodes, "in_page")):  # fmt: skip
        monkeypatch.setattr(module, name, load)


@pytest.fixture(scope="module")
def events():
    return [event for event in build_app().fns.values() if event.fn]


def refused(*given) -> str:
    with pytest.raises(gr.Error) as error:
        artifacts.play(*given)
    return str(error.value.message)


@pytest.mark.parametrize("name", STRANGE, ids=repr)
def test_a_policy_that_is_no_script_is_refused_with_a_sentence_and_nothing_is_loaded(
    name, no_models
):
    for task in ("classic/single_deal", "bazaar/open", "bazaar/seller_brief"):
        sentence = refused(task, name, "7")
        assert sentence.startswith("There is no policy of that name; choose one of ")
        assert len(sentence) < 300


@pytest.mark.parametrize("name", ["bazaar", "../../x", "/etc/passwd", None, ["bazaar/open"], 7])
def test_a_task_that_is_not_there_is_refused_with_those_there_are(name, no_models):
    assert refused(name, "expert", "7").startswith("There is no task of that name; choose one of ")


@pytest.mark.parametrize("seed", BAD_SEEDS, ids=lambda seed: repr(seed)[:20])
def test_a_seed_that_is_no_whole_number_or_could_have_lost_digits_is_refused(seed):
    sentence = refused("classic/single_deal", "expert", seed)
    assert sentence.startswith("A seed is a whole number from 0 below 2**128")


def test_a_seed_may_be_a_number(events):
    assert artifacts.play("classic/single_deal", "expert", 7) == artifacts.play()
    (play,) = (event for event in events if event.api_visibility != "private")
    *_, seed = (part.api_info() for part in play.inputs)
    assert {kind["type"] for kind in seed["anyOf"]} == {"integer", "string"}


def test_a_seed_of_128_bits_comes_back_digit_by_digit():
    seed = str(2**128 - 1)
    assert artifacts.play("classic/single_deal", "expert", seed)["seed"] == seed


def test_every_game_that_the_api_plays_is_short():
    for task in TASKS.values():
        for name in policies_of(task):
            for seed in "012":
                assert len(artifacts.play(task.name, name, seed)["moves"]) <= 400


def test_a_game_that_takes_too_long_is_given_up():
    policy = artifacts.within(lambda obs, rng: None, seconds=-1)
    with pytest.raises(gr.Error, match="was not over after -1 s"):
        policy(None, None)
    assert artifacts.within(lambda obs, rng: "a move", seconds=60)(None, None) == "a move"


def test_play_is_the_only_public_endpoint_and_has_a_slot_of_its_own(events):
    (play,) = (event for event in events if event.api_visibility != "private")
    assert (play.api_name, play.queue) == ("play", True)
    assert (play.concurrency_id, play.concurrency_limit) == ("play", 1)


def test_every_public_endpoint_has_a_name_types_a_docstring_and_an_example(events):
    for event in events:
        if event.api_visibility == "private":
            continue
        assert event.api_name == event.fn.__name__
        parameters = signature(event.fn, eval_str=True)
        assert parameters.return_annotation is not Parameter.empty
        for name, parameter in parameters.parameters.items():
            assert parameter.annotation is not Parameter.empty
            assert f"\n        {name}: " in event.fn.__doc__
        example = [parameter.default for parameter in parameters.parameters.values()]
        assert [part.example_payload() for part in event.inputs] == example
        assert event.fn()["seed"] == "7"


def test_all_slots_of_the_queue_can_be_taken_at_once(events):
    slots = {}
    for event in events:
        if event.queue:
            limit = 1 if event.concurrency_limit == "default" else event.concurrency_limit
            slots[event.concurrency_id] = limit
    assert None not in slots.values()
    assert sum(slots.values()) <= THREADS


# The tabs


def named(events, module, name: str):
    """The event of a tab's module whose function is called `name`."""
    (event,) = (e for e in events if (e.fn.__module__, e.fn.__name__) == (module.__name__, name))
    return event


def test_the_step_slider_draws_the_games_that_were_played_and_plays_none(events, monkeypatch):
    games = played_episodes.play("classic/single_deal", 5, ["expert", "naive"])
    monkeypatch.setattr(transcripts, "play", None)
    slide = named(events, transcripts, "show_step")
    assert [type(part).__name__ for part in slide.inputs] == ["State", "Slider"]
    problem, shown = slide.outputs
    assert slide.fn(games, 2) == {problem: "", shown: columns(games, 2)}
    assert "put away after an hour" in slide.fn(None, 2)[problem]


def test_transcript_events_that_play_games_share_one_queue(events):
    for name in ("change_task", "show_median", "show_demo", "shoot_out", "replay"):
        event = named(events, transcripts, name)
        assert event.queue
        assert (event.concurrency_id, event.concurrency_limit) == ("transcripts", 2)


@pytest.mark.parametrize("name", ["mini+/etc/passwd", "../../x", "belief", ""])
def test_a_name_that_cannot_be_picked_is_played_in_no_tab(name, no_models, events):
    with pytest.raises(ValueError, match="the policies of bazaar/open are expert"):
        played_episodes.play("bazaar/open", 7, ["expert", name])
    game = gpu_arena.new_game("arena/single_trade", "5")
    for event in (named(events, gpu_arena, "take_step"), named(events, gpu_arena, "tick")):
        answer = " ".join(map(str, event.fn(game, name, None).values()))
        assert "The policies of lab_0 are planner" in answer
        assert event.queue
