"""What the page reads of Gradio beyond its documented interface is as it was written for."""

import hashlib
import inspect

import gradio as gr
from gradio import blocks, component_meta, state_holder
from gradio.utils import get_upload_folder

from panels.site.internals import remember_constants


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
