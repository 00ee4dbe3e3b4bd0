"""The documents' pictures: a machine without a browser is told so."""

import shutil

from benchmarks.screenshots import no_browser


def test_without_a_browser_the_reason_is_a_sentence(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert no_browser() in (
        "there is no chromium on this machine",
        "playwright is not installed here (it comes with the dev extra)",
    )
