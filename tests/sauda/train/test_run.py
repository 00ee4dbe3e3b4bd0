"""A run's folder belongs to one process at a time, and a damaged file is named with its place."""

import json
import subprocess
import sys

import pytest

from sauda.records.store import DamagedFile, read_lines, read_object
from sauda.train import run as runs
from sauda.train.pilot import run as pilot
from sauda.train.run import LOCK, Stopped, locked
from sauda.train.stages import sft

HOLD = """
import sys, time
from pathlib import Path
from sauda.train.run import locked
with locked(Path(sys.argv[1])):
    print("locked", flush=True)
    time.sleep(600)
"""


def test_a_second_run_into_a_folder_is_refused_by_name_until_the_first_is_killed(tmp_path):
    first = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert first.stdout.readline() == "locked\n"
        refusal = f"another training run is writing to {tmp_path}; wait"
        for resume in (False, True):
            for stage, config in ((sft, sft.Config(model="toy")), (pilot, pilot.Config())):
                with pytest.raises(Stopped, match=refusal):
                    stage.train(config, tmp_path, resume=resume)
        assert [file.name for file in tmp_path.iterdir()] == [LOCK]  # the second wrote nothing
    finally:
        first.kill()
        first.wait()
        first.stdout.close()
    with locked(tmp_path):
        pass


def test_the_folder_is_free_again_after_a_run_that_failed(tmp_path):
    with pytest.raises(KeyError), locked(tmp_path / "new"):
        raise KeyError("x")
    with locked(tmp_path / "new"):
        pass


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b'{"seed": 1,\n "steps": }', "line 2, column 11: Expecting value"),
        (b"", "line 1, column 1: Expecting value"),
        (b"[1, 2]", "line 1 holds no JSON object"),
        (b'{"name": "\xff"}', "byte 10 is not UTF-8"),
    ],
)
def test_damaged_settings_are_named_with_file_and_place(tmp_path, content, place):
    (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(DamagedFile) as stopped:
        runs.open_run(tmp_path, {"seed": 1}, resume=True)
    assert str(stopped.value) == f"{tmp_path / 'run.json'} is damaged: {place}"


def test_a_damaged_line_of_a_log_is_named(tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_text('{"begun": 0}\n{"step": 1, "loss"\n{"step": 2}\n')
    with pytest.raises(DamagedFile, match=r"log\.jsonl is damaged: line 2, column 19"):
        read_lines(log)
    log.write_text('{"begun": 0}\n{"loss": 1.0}\n')
    with pytest.raises(DamagedFile, match=r"log\.jsonl is damaged: line 2 has neither 'step'"):
        runs.lines(log)
    log.write_text('{"begun": 0}\n{"step": 1')  # cut off by a kill: the line counts for nothing
    assert runs.lines(log) == [{"begun": 0}]


def test_damaged_metadata_of_a_checkpoint_is_named(tmp_path):
    checkpoint = tmp_path / "checkpoint-4"
    checkpoint.mkdir()
    (checkpoint / "adapter.bin").write_bytes(b"numbers")
    runs.seal(checkpoint)
    hashes = checkpoint / "whole.json"
    hashes.write_text(hashes.read_text()[:-3])
    with pytest.raises(DamagedFile, match=r"checkpoint-4/whole\.json is damaged: line 2, column"):
        runs.latest(tmp_path)
    hashes.write_text(json.dumps({"adapter.bin": 7}))
    with pytest.raises(Stopped, match=r"adapter\.bin is damaged; remove"):
        runs.latest(tmp_path)
    checkpoint.rename(tmp_path / "checkpoint-last")
    with pytest.raises(Stopped, match="checkpoint-last is named after no step"):
        runs.latest(tmp_path)


def test_an_object_is_read_as_it_was_written(tmp_path):
    (tmp_path / "run.json").write_text('{"seed": 1}\n')
    assert read_object(tmp_path / "run.json") == {"seed": 1}
    assert read_lines(tmp_path / "none.jsonl") == []
