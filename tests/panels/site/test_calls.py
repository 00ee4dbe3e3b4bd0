"""What a call of an event may hold."""

import gradio as gr
import pytest

from panels.site.calls import BadCall, may_hold, names_file, read

PICKER = gr.Dropdown(["a", 3], value="a", render=False)
SEVERAL = gr.Dropdown(["a", "b"], value=["a"], multiselect=True, render=False)


@pytest.mark.parametrize(
    ("part", "value"),
    [
        (gr.Textbox(max_length=3, render=False), "abc"),
        (gr.Slider(1, 5, render=False), 2.5),
        (gr.Number(render=False), None),
        (PICKER, 3),
        (PICKER, None),
        (SEVERAL, ["b", "a"]),
        (gr.Radio(["x"], value="x", render=False), "x"),
        (gr.Radio(["x"], render=False), None),
        (gr.Radio([("linear", False), ("logarithmic", True)], value=False, render=False), True),
        (gr.CheckboxGroup(["x", "y"], render=False), []),
        (gr.HTML(render=False), "?tab=judge&round=3"),
        (gr.HTML(render=False), None),
        (gr.BrowserState(render=False), {"2026-01-01": "a-code", "seen": [1, None, True]}),
        (gr.JSON(render=False), [[{"right": 2.5}]]),
    ],
)
def test_what_a_browser_sends_may_be_held(part, value):
    assert may_hold(part, value)


@pytest.mark.parametrize(
    ("part", "value"),
    [
        (gr.Textbox(max_length=3, render=False), "abcd"),
        (gr.Textbox(render=False), 7),
        (gr.Textbox(render=False), "x" * 100_000),
        (gr.Slider(1, 5, render=False), 6),
        (gr.Slider(1, 5, render=False), None),
        (gr.Slider(0, 5, render=False), True),
        (gr.Number(render=False), 10**400),
        (gr.Number(minimum=0, render=False), -1),
        (PICKER, "mini+/etc/passwd"),
        (PICKER, ["a"]),
        (SEVERAL, "a"),
        (SEVERAL, ["a"] * 3),
        (SEVERAL, [["a"]]),
        (gr.Radio(["x"], value="x", render=False), None),
        (gr.Dropdown(["x"], value="x", filterable=False, render=False), None),
        (gr.Radio(["x"], render=False), {"path": "/etc/passwd"}),
        (gr.Radio([("one", 1), ("two", 2)], value=1, render=False), True),
        (gr.CheckboxGroup(["x"], render=False), ["z"]),
        (gr.HTML(render=False), {"a": 1}),
        (gr.Markdown(render=False), ["a"]),
        (gr.HTML(render=False), "x" * 100_000),
        (gr.BrowserState(render=False), {"a": [{"path": "/etc/passwd"}]}),
        (gr.BrowserState(render=False), ["x" * 100_000]),
        (gr.JSON(render=False), [[[[[[[[[[[]]]]]]]]]]]),
    ],
)
def test_what_no_browser_sends_is_refused(part, value):
    assert not may_hold(part, value)


def test_a_dropdown_whose_choices_change_may_hold_another_name_and_no_structure():
    assert may_hold(PICKER, "former", of_choices=False)
    assert not may_hold(PICKER, {"a": 1}, of_choices=False)


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[1]", b"[" * 100_000, b'{"a": NaN}', b'{"a": ' + b"9" * 5000 + b"}",
     b'{"a": "\\ud800"}', b"\xff"],
    ids=lambda body: repr(body)[:20],
)  # fmt: skip
def test_a_body_that_is_no_object_that_can_be_sent_on_is_refused(body):
    with pytest.raises(BadCall) as error:
        read(body)
    assert error.value.status == 400


@pytest.mark.parametrize(
    "value",
    [
        {"path": "x", "meta": {"_type": "gradio.FileData"}},
        [{"a": {"path": 7}}],
        {"url": "http://a.example"},
        {"name": "x", "data": "data:image/png;base64,AA=="},
        {"a": [[{"__type__": "update"}]]},
    ],
)
def test_a_file_is_found_at_any_depth(value):
    assert names_file(value)


@pytest.mark.parametrize("value", ["/etc/passwd", "data:,x", {"2026-01-01": "path"}, [None, 1]])
def test_words_about_files_are_no_files(value):
    assert not names_file(value)
