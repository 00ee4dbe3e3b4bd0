"""A disk that fills up while the page is open: games go on, downloads say why there is none."""

import builtins
import errno
import io
import os
import tempfile
import uuid
from pathlib import Path

import pytest
from gradio.utils import get_upload_folder

from sauda.records import store
from sauda.sessions.bazaar import Game
from tests.support.site import Site

pytestmark = [pytest.mark.slow, pytest.mark.nightly]
SENTENCE = "could not be written (no space left on device)"


@pytest.fixture
def full_disk(monkeypatch):
    """No file can be written, and no folder made, until the test ends."""
    opened = builtins.open

    def full(*given, **more):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def only_to_read(file, mode="r", *given, **more):
        return full() if set(mode) & set("wax+") else opened(file, mode, *given, **more)

    monkeypatch.setattr(builtins, "open", only_to_read)
    monkeypatch.setattr(io, "open", only_to_read)
    monkeypatch.setattr(os, "mkdir", full)
    monkeypatch.setattr(tempfile, "mkdtemp", full)
    with pytest.raises(OSError, match="No space"):
        Path(tempfile.gettempdir(), uuid.uuid4().hex).write_text("")


def called(site: Site, module: str, name: str, data: list, session: str) -> str:
    return site.call(site.event_number(module, name), data, session)


def first_values(site: Site, module: str, name: str) -> list:
    inputs = site.blocks.fns[site.event_number(module, name)].inputs
    return [None if part.stateful else getattr(part, "value", None) for part in inputs]


def kept_game(site: Site, session: str) -> Game:
    states = site.app.state_holder[session].state_data.values()
    return next(state for state in states if isinstance(state, Game))


def test_a_game_goes_on_while_the_disk_is_full(site, full_disk):
    session = uuid.uuid4().hex
    choice = ["buy", "classic/career_10", "hidden", "this page", "en"]
    called(site, "haggle.callbacks", "begin", [None, *choice], session)
    turns = len(kept_game(site, session).play.turns)
    for share in (0.4, 0.45):
        bid = str(round(share * kept_game(site, session).observation.opening_ask))
        text = called(
            site, "haggle.callbacks", "send", [None, None, bid, "this page", "en", None], session
        )
        assert 'role="alert"' not in text, text
        assert len(kept_game(site, session).play.turns) > turns
        turns = len(kept_game(site, session).play.turns)


@pytest.mark.parametrize(
    ("module", "name", "shown"),
    [
        ("transcripts.callbacks", "show_demo", "lab_0"),
        ("artifacts.tab", "make_zip", "nothing else is lost"),
    ],
)
def test_a_download_that_cannot_be_written_is_a_sentence_beside_what_is_shown(
    site, full_disk, module, name, shown
):
    text = called(site, module, name, first_values(site, module, name), uuid.uuid4().hex)
    assert SENTENCE in text
    assert shown in text


def test_downloads_are_served_from_their_own_folder_without_a_copy(site):
    before = set(Path(get_upload_folder()).rglob("*"))
    text = called(site, "artifacts.tab", "make_zip", [], uuid.uuid4().hex)
    address = text.partition('"url":')[2].split('"')[1]
    answer = site.shared.get(address)
    assert answer.content.startswith(b"PK")
    published = (file for file in store.ROOT.rglob("*") if file.is_file())
    assert 0 < len(answer.content) < sum(file.stat().st_size for file in published)
    called(site, "transcripts.callbacks", "show_demo", [], uuid.uuid4().hex)
    assert set(Path(get_upload_folder()).rglob("*")) == before
