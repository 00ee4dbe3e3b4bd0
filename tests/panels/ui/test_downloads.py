"""Files for download: few, small, whole, and never in the way of the page."""

import base64
import errno
import os
import re

import pytest

from panels.ui.downloads import Downloads, NotWritten, offered, text_link


def test_a_link_holds_the_whole_text_under_its_name():
    link = text_link('a"><b>.json', "₹1,200 <b>", "JSON")
    held = re.search(r'base64,([^"]+)"', link)[1]
    assert base64.b64decode(held).decode() == "₹1,200 <b>"
    assert "<b>" not in link


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


def test_the_files_used_longest_ago_give_way_by_bytes_and_the_newest_stays(tmp_path):
    files = Downloads(tmp_path, most_bytes=10)
    for name, size in (("a", 6), ("b", 4), ("c", 5)):
        write(files, name, name * size)
    assert on_disk(files) == ["b", "c"]
    write(files, "large", "x" * 11)
    assert on_disk(files) == ["large"]


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
