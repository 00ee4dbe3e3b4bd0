"""Texts that stay what they were: a test compares with them, UPDATE_GOLDEN=1 writes them anew."""

import html
import os
import re
from pathlib import Path

import gradio as gr
from pandas.io.formats.style import Styler

GOLDEN = Path(__file__).parents[1] / "golden"


def assert_golden(name: str, text: str) -> None:
    """Fail where `text` is not the one kept in tests/golden/`name`."""
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    again = f"if the change is meant, run this test with UPDATE_GOLDEN=1: {path}"
    assert path.exists(), again
    kept = path.read_text(encoding="utf-8")
    if kept != text:  # without pytest's comparison, which takes minutes on long texts
        gone = [line for line in kept.splitlines() if line not in set(text.splitlines())]
        new = [line for line in text.splitlines() if line not in set(kept.splitlines())]
        raise AssertionError(
            "\n".join([again, *(f"- {x}" for x in gone), *(f"+ {x}" for x in new)])
        )


def without_numbers(text: str) -> str:
    """The text with # for each number and digest, which a new artifact may change."""
    return re.sub(r"\b[0-9a-f]{7,}\b|[0-9][0-9.,]*", "#", text)


def plain(markup: str) -> str:
    """The text of some HTML, without tags."""
    markup = re.sub(r"data:[^\"']*", "", str(markup))
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", markup)).split())


def table_lines(shown: Styler) -> list[str]:
    """The headings and the rows of a frame as `gr.Dataframe` shows them."""
    table = gr.Dataframe(render=False).postprocess(shown)
    return [" | ".join(row) for row in (table.headers, *table.metadata["display_value"])]
