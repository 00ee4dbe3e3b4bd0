"""A long computation says how far it is, at a bounded rate where there is no terminal."""

import time

import sauda.records.progress
from sauda.records.progress import progress


def test_the_items_come_through_in_order_and_their_number_is_said_first(capsys):
    lines = []
    for item in progress(iter("abc"), 3, "playing", "cell"):
        lines.append(item)
    assert lines == ["a", "b", "c"]
    assert capsys.readouterr().err == "     playing: 3 cells\n"


def test_lines_come_while_one_item_takes_long_and_say_what_remains(capsys, monkeypatch):
    monkeypatch.setattr(sauda.records.progress, "INTERVAL", 0.05)
    for _ in progress(range(2), 2, "playing", "cell"):
        time.sleep(0.2)
    lines = capsys.readouterr().err.splitlines()
    assert lines[1] == "     playing: 0 of 2 cells, 0 s"
    assert lines[-1] == "     playing: 1 of 2 cells, 0 s, about 0 s left"
    assert 4 <= len(lines) <= 9  # 0.4 s, a line each 0.05 s, and the first


def test_a_computation_that_fails_ends_its_lines(capsys, monkeypatch):
    monkeypatch.setattr(sauda.records.progress, "INTERVAL", 0.02)
    try:
        for _ in progress(range(2), 2, "playing", "cell"):
            raise ValueError
    except ValueError:
        pass
    capsys.readouterr()
    time.sleep(0.1)
    assert capsys.readouterr().err == ""


def test_a_terminal_gets_a_bar(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert list(progress(range(3), 3, "playing", "cell")) == [0, 1, 2]
    assert "playing: " in capsys.readouterr().err
