"""Files for download: few, small, whole, and never in the way of the page."""

import errno
import os

import pytest

from panels.ui import downloads as room
from panels.ui.downloads import Downloads, NotWritten, offered


def write(files: Downloads, name: str, text: str):
    return files.write(name, text, lambda path: path.write_text(text))


def on_disk(files: Downloads) -> list[str]:
    return sorted(path.name for path in files.folder.rglob("*") if path.is_file())


def test_two_files_of_one_name_lie_side_by_side(tmp_path):
    files = Downloads(tmp_path)
    first, second = write(files, "a/b c.csv", "1"), write(files, "a/b c.csv", "2")
    assert first.name == second.name == "a-b-c.csv"
    assert (first.read_text(), second.read_text()) == ("1", "2")
    assert write(files, "a/b c.csv", "1") == first


def test_the_files_used_longest_ago_give_way_by_number(tmp_path):
    files = Downloads(tmp_path, most_files=3)
    for name in "abc":
        write(files, name, name)
    write(files, "a", "a")  # used again
    write(files, "d", "d")
    assert on_disk(files) == ["a", "c", "d"]


def test_the_files_used_longest_ago_give_way_by_bytes_and_the_newest_stays(tmp_path):
    files = Downloads(tmp_path, most_bytes=10)
    for name, size in (("a", 6), ("b", 4), ("c", 5)):
        write(files, name, name * size)
    assert on_disk(files) == ["b", "c"]
    write(files, "large", "x" * 11)
    assert on_disk(files) == ["large"]


def test_files_of_the_page_itself_are_kept_even_if_visitors_ask_for_them_too(tmp_path):
    files = Downloads(tmp_path, most_files=1)
    write(files, "own", "own")
    files.keep_all()
    for name in ("own", "a", "b"):
        write(files, name, name)
    assert on_disk(files) == ["b", "own"]


def test_a_full_disk_is_a_sentence_and_leaves_no_part_of_a_file(tmp_path):
    files = Downloads(tmp_path)

    def fill(path) -> None:
        path.write_text("half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(NotWritten, match=r"no space left on device.*nothing else is lost"):
        files.write("a", "1", fill)
    assert on_disk(files) == []
    assert not files.sizes
    path, sentence = offered(lambda: str(files.write("a", "1", fill)))
    assert path is None
    assert sentence.startswith('<p class="sauda-bad" role="alert">The file for download could')
    assert write(files, "a", "1").read_text() == "1"  # there is room again


def test_a_page_without_a_folder_for_temporary_files_says_so_and_tries_again(monkeypatch):
    def none(**options) -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    room.downloads.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(room.tempfile, "mkdtemp", none)
        path, sentence = offered(lambda: room.text_file("a", "1"))
        assert path is None
        assert "no usable temporary directory found" in sentence
    path, sentence = offered(lambda: room.text_file("a", "1"))
    assert (path is not None, sentence) == (True, "")
