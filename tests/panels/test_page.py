"""What holds for the page as a whole, what it shows when it opens, what a caller can start."""

import json
import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from functools import partial
from inspect import Parameter, signature
from types import SimpleNamespace
from typing import Any

import gradio as gr
import numpy as np
import pytest
from pandas.io.formats.style import Styler

from app import build_app
from panels import artifacts
from panels.gpu_arena import tab as gpu_arena
from panels.gpu_arena.offers import Visit
from panels.haggle.words import ENGLISH, HINDI, HINGLISH, WORDS
from panels.site.serving import THREADS
from panels.transcripts import episodes as played_episodes
from panels.ui.components.moves import Move
from panels.ui.wiring import OPENED
from sauda.llm import model
from tests.support.golden import assert_golden, plain, table_lines, without_numbers

SHOWN = 8000  # characters of a text that are compared
NOBODY = SimpleNamespace(client=None, session_hash="")


@pytest.fixture(scope="module")
def page() -> gr.Blocks:
    return build_app()


def test_a_value_of_former_choices_meets_the_events_own_sentence(page):
    """Gradio answers it with a bare 500 unless the event leaves the value unchecked."""
    changing = {"haggle-market", "haggle-other", "leaderboard-entry"}
    seen = set()
    for event in page.fns.values():
        pickers = {part.elem_id for part in event.inputs} & changing
        assert not (pickers and event.preprocess)
        seen |= pickers
    assert seen == changing


def test_an_event_has_at_most_ten_outputs(page):
    """Gradio's time for an answer grows with them."""
    large = {event.fn.__module__.split(".")[1] for event in page.fns.values()
             if event.fn and len(event.outputs) > 10}  # fmt: skip
    assert not large


def test_every_listener_calls_the_function_that_it_did(page):
    assert_golden("listeners.txt", "\n".join(sorted(listeners(page))) + "\n")


def test_the_page_opens_with_the_same_texts_and_figures(page):
    assert_golden("opening.txt", "\n".join([*texts(page), *figures(page)]) + "\n")


def listeners(page: gr.Blocks) -> Iterator[str]:
    """One line per listener: the component, the event and the function or script that answers."""
    for event in page.fns.values():
        answers = name_of(event.fn) if event.fn else "a script"
        for component, trigger in event.targets:
            yield f"{title(page.blocks.get(component))} {trigger}: {answers}"


def name_of(function: Callable) -> str:
    while isinstance(function, partial):
        function = function.func
    return f"{function.__module__}.{function.__qualname__}"


def title(part: Any) -> str:
    """The name by which a reader finds a component in the code."""
    if part is None:
        return "an event before"
    said = getattr(part, "elem_id", None) or getattr(part, "label", None)
    if said is None and isinstance(part, gr.Button):
        said = part.value
    return f"{type(part).__name__} {said or ''}".strip()


def shown(page: gr.Blocks) -> Iterator[tuple[Any, Any]]:
    """Each component with its value: as the page opens, then as each part of it is opened."""
    yield from ((part, getattr(part, "value", None)) for part in page.blocks.values())
    for event in page.fns.values():
        if event.js == OPENED:
            yield from event.fn("?", NOBODY).items()


def texts(page: gr.Blocks) -> Iterator[str]:
    """The text of each HTML component, without tags, and of each table."""
    for part, value in shown(page):
        if isinstance(part, gr.HTML) and value and (text := without_numbers(plain(value))):
            yield f"{part.elem_id or 'HTML'}: {text[:SHOWN]}"
        if isinstance(part, gr.Dataframe) and isinstance(value, Styler):
            yield f"{part.label}: {without_numbers(' / '.join(table_lines(value)))[:SHOWN]}"


def traces(page: gr.Blocks) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each trace of each figure, with the figure's name."""
    for part, value in shown(page):
        if isinstance(part, gr.Plot) and value:
            drawn = value["plot"] if isinstance(value, dict) else value.to_json()
            yield from ((part.elem_id, trace) for trace in json.loads(drawn)["data"])


def figures(page: gr.Blocks) -> Iterator[str]:
    """One line per trace of each figure: its kind, its name, and which axes hold numbers."""
    for name, trace in traces(page):
        axes = ", ".join(f"{axis} {summary(trace.get(axis))}" for axis in "xyz")
        yield without_numbers(f"{name}: {trace['type']} {trace.get('name')}: {axes}")


def test_every_whisker_reaches_from_below_its_point_to_above_it(page):
    ends = [
        (name, end)
        for name, trace in traces(page)
        for axis in ("error_x", "error_y")
        for side in ("array", "arrayminus")
        for end in numbers(trace.get(axis, {}).get(side))
    ]
    assert len(ends) > 50
    assert [(name, end) for name, end in ends if not end >= 0] == []


def numbers(values: Any) -> list[float]:
    """The numbers of an array as plotly writes it: a list, or bytes in base64."""
    if isinstance(values, dict):
        return np.frombuffer(b64decode(values["bdata"]), values["dtype"]).tolist()
    return values or []


def summary(values: Any) -> str:
    """ "numbers", the texts themselves, or "nothing"."""
    if not values:
        return "nothing"
    if isinstance(values, dict):  # as plotly writes an array of numbers
        return "numbers"
    texts = [value for value in values if isinstance(value, str)]
    return " ".join(texts)[:SHOWN] or "numbers"


STRANGE = (
    "mini", "mini+/etc/passwd", "sauda-8b", "sauda-mini+honest", "../../x", "/etc/passwd",
    "expert:firm", "mini:fair", "belief", "", "expert ", None, 7, ["expert"], {"a": 1},
)  # fmt: skip
BAD_SEEDS = (
    10**400, str(10**400), str(2**128), "9" * 40, "-1", "+7", "1.5", "1e3", "0x10", "", "७",
    "NaN", None, True, -7, 2**53, 7.5, ["7"], {"seed": "7"},
)  # fmt: skip
REFUSED = (
    *((("bazaar/sell", name, "7"), "There is no policy of that name; choose") for name in STRANGE),
    *(((name, "expert", "7"), "There is no task of that name; choose one of ")
      for name in ("bazaar", "../../x", None, ["bazaar/open-3"], 7)),
    *((("classic/single_deal", "expert", seed), "A seed is a whole number from 0 below 2**128")
      for seed in BAD_SEEDS),
)  # fmt: skip


@pytest.fixture
def no_models(monkeypatch):
    """Fail where anything is loaded."""

    def load(*args, **more):
        raise AssertionError(f"loaded {args}")

    for module, name in ((model, "load"), (model, "base_weights"), (model, "load_once"),
                         (model, "adapter_folder"), (played_episodes, "in_page")):  # fmt: skip
        monkeypatch.setattr(module, name, load)


@pytest.fixture(scope="module")
def events(page):
    return [event for event in page.fns.values() if event.fn]


@pytest.mark.parametrize(("given", "why"), REFUSED, ids=lambda value: repr(value)[:40])
def test_what_play_cannot_take_is_refused_with_a_sentence_and_nothing_is_loaded(
    given, why, no_models
):
    with pytest.raises(gr.Error) as error:
        artifacts.play(*given)
    assert str(error.value.message).startswith(why)
    assert len(str(error.value.message)) < 600


def test_a_game_that_takes_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr(artifacts, "PLAY_SECONDS", -1)
    with pytest.raises(gr.Error, match="The game was not over after -1 s"):
        artifacts.play()


def test_play_is_the_only_public_endpoint_and_says_what_it_takes(events):
    (play,) = (event for event in events if event.api_visibility != "private")
    assert (play.api_name, play.fn.__name__, play.queue) == ("play", "play", True)
    assert (play.concurrency_id, play.concurrency_limit) == ("play", 1)
    told = signature(play.fn, eval_str=True)
    assert told.return_annotation is not Parameter.empty
    for name, parameter in told.parameters.items():
        assert parameter.annotation is not Parameter.empty
        assert f"\n        {name}: " in play.fn.__doc__
    example = [parameter.default for parameter in told.parameters.values()]
    assert [part.example_payload() for part in play.inputs] == example
    assert play.fn()["seed"] == "7"


def test_all_slots_of_the_queue_can_be_taken_at_once(events):
    slots = {
        event.concurrency_id: 1 if event.concurrency_limit == "default" else event.concurrency_limit
        for event in events
        if event.queue
    }
    assert None not in slots.values()
    assert sum(slots.values()) <= THREADS


@pytest.mark.parametrize("name", ["mini+/etc/passwd", "../../x", "belief", ""])
def test_a_name_that_cannot_be_picked_is_played_in_no_tab(name, no_models, events):
    with pytest.raises(ValueError, match="the policies of bazaar/open-3 are expert"):
        played_episodes.play("bazaar/open-3", 7, ["expert", name])
    visit = Visit(gpu_arena.new_game("arena/single_trade", "5"))
    for event in (each for each in events if each.fn.__module__ == gpu_arena.__name__):
        trigger = event.targets[0][1]
        if trigger == "load":
            continue
        sent = name if trigger == "tick" else Move(None, {"id": "step", "fields": {"player": name}})
        given = (visit, sent) if trigger == "tick" else (sent, visit)
        answer = " ".join(map(str, event.fn(NOBODY, *given).values()))
        in_turn = trigger in ("tick", "submit")
        assert ("The policies of lab_0 are broker" in answer) == in_turn
        assert event.queue or not in_turn


@pytest.mark.parametrize("language", [HINGLISH, HINDI])
def test_every_language_has_the_same_keys_with_the_same_places(language):
    english, other = WORDS[ENGLISH], WORDS[language]
    assert english.keys() == other.keys()
    for key in english:
        assert places(english[key]) == places(other[key]), key


def places(text: str) -> set[str]:
    return set(re.findall(r"{(\w+)", text))
