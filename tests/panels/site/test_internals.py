"""What the page reads of Gradio beyond its documented interface is as it was written for."""

import hashlib
import inspect

import gradio as gr
import pytest
from gradio import blocks, component_meta, state_holder
from gradio.utils import get_upload_folder

from panels.site.internals import Page, remember_constants
from tests.support.coroutines import run

LEFT = {"__type__": "update"}  # the answer for an output that an event leaves alone


def test_gradio_is_the_version_that_the_internals_were_read_in():
    """With another version, read again what panels/site/ takes from Gradio, then change this."""
    assert gr.__version__ == "6.31.0"


def test_gradios_sessions_are_those_that_the_lean_ones_stand_for():
    source = inspect.getsource(state_holder).encode()
    assert hashlib.sha256(source).hexdigest()[:16] == "ba948b8980416879"


def test_gradio_reads_the_signature_of_a_component_and_its_folder_once(monkeypatch):
    monkeypatch.setattr(component_meta, "inspect", inspect)
    monkeypatch.setattr(blocks, "get_upload_folder", get_upload_folder)
    assert "inspect.getfullargspec(fn)" in inspect.getsource(component_meta)
    remember_constants()
    read = component_meta.inspect.getfullargspec
    gr.Button("a", render=False)
    before = read.cache_info()
    gr.Button("b", render=False)
    after = read.cache_info()
    assert (after.misses, after.hits > before.hits) == (before.misses, True)
    assert component_meta.inspect.isclass is inspect.isclass
    folder = blocks.get_upload_folder.cache_info()
    assert folder.misses == 1
    assert folder.hits >= 1


@pytest.fixture(params=[gr.Blocks, Page])
def with_event(request):
    """A page with one event that may set each of its five components."""
    with request.param() as page:
        state, text, button = gr.State(1), gr.Textbox("a"), gr.Button("b")
        words, number = gr.Textbox("c"), gr.Number(2)
        outputs = [state, text, button, words, number]
        button.click(lambda: None, None, outputs)
        text.change(lambda: None, None, number)
    return page, outputs


def shown(page, predictions):
    """What the browser gets for the values that the event returns."""
    (event,) = (fn for fn in page.fns.values() if len(fn.outputs) == 5)
    return run(page.postprocess_data(event, predictions, None))


def test_an_event_shows_what_it_sets_and_leaves_the_rest(with_event):
    page, (_state, text, button, words, number) = with_event
    some = {text: "new", button: gr.update(visible=False)}
    hidden = {"__type__": "update", "visible": False}
    assert shown(page, some) == [None, "new", hidden, LEFT, LEFT]
    assert shown(page, {number: 3}) == [None, LEFT, LEFT, LEFT, 3]
    assert shown(page, {words: LEFT}) == [None, LEFT, LEFT, LEFT, LEFT]
    every = [7, LEFT, LEFT, "<b>", LEFT]
    assert shown(page, every) == [None, LEFT, LEFT, "<b>", LEFT]
    assert shown(page, [7, "d", "e", "f", 4]) == [None, "d", "e", "f", 4]


def test_a_wrong_number_of_values_is_named(with_event):
    with pytest.raises(ValueError, match="needed: 5, returned: 2"):
        shown(with_event[0], [1, 2])


def test_a_page_makes_no_component_anew_that_an_event_leaves_alone(monkeypatch):
    with Page() as page:
        text, words, button = gr.Textbox(), gr.HTML(), gr.Button()
        button.click(lambda: None, None, [text, words, button])
    (event,) = page.fns.values()
    made, create = [], gr.HTML.__init__

    def counted(self, *args, **settings):
        made.append(self)
        create(self, *args, **settings)

    monkeypatch.setattr(gr.HTML, "__init__", counted)
    run(page.postprocess_data(event, {text: "new"}, None))
    assert run(page.postprocess_data(event, LEFT, None)) == [LEFT, LEFT, LEFT]
    assert not made
    run(page.postprocess_data(event, {words: gr.update(visible=False)}, None))
    assert len(made) == 1


def test_states_to_whose_changes_no_event_listens_are_not_tracked():
    with Page() as page:
        silent, watched, button = gr.State(1), gr.State(2), gr.Button()
        watched.change(lambda: None, None, button)
        button.click(lambda: None, None, silent)
        button.click(lambda: None, None, [silent, watched])
    session = page.state_holder["a"]
    tracked = {
        len(fn.outputs): page.get_state_ids_to_track(fn, session)
        for fn in page.fns.values()
        if fn.outputs[0] is silent
    }
    assert tracked[1] == ([], [])
    ids, hashes = tracked[2]
    assert len(ids) == len(hashes) == 1
