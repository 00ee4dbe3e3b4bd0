"""Runs that are kept in a folder or in a repository of the Hub, and brought back."""

import inspect
import shutil
from pathlib import Path

from huggingface_hub import HfApi

from sauda.cloud import kept_runs
from sauda.train.common import STATE_FILE, last_checkpoint


def run_in(folder: Path, steps: int, torn: int = 0) -> Path:
    """A run's folder with a whole checkpoint at each of `steps`, and a half one at `torn`."""
    run = folder / "sft"
    run.mkdir(parents=True)
    for step in [*range(1, steps + 1), *([torn] if torn else [])]:
        checkpoint = run / f"checkpoint-{step}"
        checkpoint.mkdir()
        (checkpoint / STATE_FILE).write_text("{}" if step != torn else "{")
    (run / "run.json").write_text("{}")
    return run


def test_an_uploaded_run_can_be_resumed(tmp_path):
    kept = f"file:{tmp_path / 'kept'}"
    kept_runs.upload(run_in(tmp_path, 3, torn=4), kept)
    shutil.rmtree(tmp_path / "sft" / "checkpoint-1")
    kept_runs.upload(tmp_path / "sft", kept)
    back = kept_runs.download("sft", kept, tmp_path / "elsewhere")
    assert sorted(p.name for p in back.glob("checkpoint-*")) == ["checkpoint-2", "checkpoint-3"]
    assert last_checkpoint(back).name == "checkpoint-3"
    assert [p.name for p in (tmp_path / "kept").iterdir()] == ["sft"]
    assert kept_runs.download("dpo", kept, tmp_path / "elsewhere") is None


class Repository:
    """A repository of results; it takes what `HfApi` takes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def create_repo(self, *arguments, **named):
        inspect.signature(HfApi.create_repo).bind(self, *arguments, **named)
        assert named["private"]
        self.folder.mkdir(exist_ok=True)

    def upload_folder(self, **arguments):
        inspect.signature(HfApi.upload_folder).bind(self, **arguments)
        assert arguments["delete_patterns"] == ["*"]
        shutil.rmtree(self.folder / arguments["path_in_repo"], ignore_errors=True)
        shutil.copytree(arguments["folder_path"], self.folder / arguments["path_in_repo"])

    def snapshot_download(self, *arguments, local_dir, allow_patterns):
        named = {"local_dir": local_dir, "allow_patterns": allow_patterns}
        inspect.signature(HfApi.snapshot_download).bind(self, *arguments, **named)
        shutil.copytree(self.folder, local_dir, dirs_exist_ok=True)


def test_a_run_comes_back_from_a_repository(tmp_path):
    hub = Repository(tmp_path / "hub")
    (there := tmp_path / "there").mkdir()
    assert kept_runs.download("sft", "me/results", there, hub) is None
    kept_runs.upload(run_in(tmp_path, 2), "me/results", hub)
    back = kept_runs.download("sft", "me/results", there, hub)
    assert last_checkpoint(back).name == "checkpoint-2"
    assert [p.name for p in there.iterdir()] == ["sft"]
