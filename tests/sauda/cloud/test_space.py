"""A page for a Space: what a staged folder is checked for, its imports, an upload that fails."""

import inspect
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import httpx
import pytest
from huggingface_hub import HfApi
from huggingface_hub.utils import httpx as hub_http

from sauda import __main__ as command
from sauda.cloud import CloudFault
from sauda.cloud.space import MOST_FILE, Staged, import_faults, stage, staging_faults, upload
from sauda.records.store import REPOSITORY
from tests.support.cases import cases

TOKEN = "hf_" + "a1" * 17  # put together here, so that no file holds it
FILES = {
    "README.md": '---\ntitle: S\nsdk: gradio\nsdk_version: 6.31.0\npython_version: "3.12"\n'
    "app_file: app.py\n---\n# S\n",
    "requirements.txt": "gradio==6.31.0  # a comment\n",
    "app.py": "import json\nfrom part import tool\n",
    "part/__init__.py": "",
    "part/tool.py": "",
}


@pytest.fixture
def folder(tmp_path) -> Path:
    """A small page that has no fault."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_the_committed_page_has_no_fault_and_leaves_its_tests_behind(tmp_path):
    staged = stage(tmp_path)
    assert staging_faults(staged.folder) == []
    assert sorted(path.name for path in tmp_path.iterdir() if path.name in ("tests", ".ci")) == []
    assert {"app.py", "README.md", "requirements.txt"} <= {path.name for path in tmp_path.iterdir()}
    head = ["git", "-C", str(REPOSITORY), "rev-parse", "HEAD"]
    assert staged.commit == subprocess.run(head, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize(("file", "old", "new", "fault"), cases("space_faults.csv", "staged"))
def test_each_fault_is_named_in_one_line_that_repeats_no_secret(folder, file, old, new, fault):
    assert staging_faults(folder) == []
    text = (folder / file).read_text()
    assert old in text
    new = new.format(token=TOKEN, large="#" * (MOST_FILE + 1))
    (folder / file).write_text(text.replace(old, new, 1))
    found = staging_faults(folder)
    assert any(fault in line for line in found), found
    assert not any(TOKEN in line or "secret1" in line for line in found)


def test_the_app_loads_in_a_fresh_environment_or_what_it_lacks_is_named(folder):
    assert import_faults(folder, sys.executable, []) == []
    (folder / "app.py").write_text("import trainer_kit\n")
    (fault,) = import_faults(folder, sys.executable, [])
    assert fault == "importing app: ModuleNotFoundError: No module named 'trainer_kit'"


SPACE, OID = "me/sauda", "c0ffee"


class Hub:
    """Takes what HfApi takes; `script` has, by method, what its next calls raise or return."""

    RETURNS: ClassVar = {
        "create_repo": None,
        "upload_folder": SimpleNamespace(oid=OID),
        "wait_for_space": SimpleNamespace(stage="RUNNING", raw={"sha": OID}),
        "fetch_space_logs": ["Collecting gradio\n", "no space left"],
        "space_info": SimpleNamespace(host="https://me-sauda.hf.space"),
    }  # fmt: skip

    def __init__(self, **script):
        self.script, self.calls = script, []

    def __getattr__(self, name):
        def call(**arguments):
            inspect.signature(getattr(HfApi, name)).bind(self, **arguments)
            self.calls.append((name, arguments))
            line = self.script[name].pop(0) if self.script.get(name) else self.RETURNS[name]
            if isinstance(line, Exception):
                raise line
            return line

        return call

    def named(self, name: str) -> list[dict]:
        return [arguments for called, arguments in self.calls if called == name]


def deploy(hub: Hub) -> str:
    return upload(Staged(Path("/staged"), "a" * 40, 0), SPACE, hub)


def test_the_folder_replaces_the_space_whose_former_commit_is_waited_out(monkeypatch):
    monkeypatch.setattr("sauda.cloud.space.POLL", 0.001)
    before = SimpleNamespace(stage="RUNNING", raw={"sha": "before"})
    hub = Hub(wait_for_space=[before, before])
    assert deploy(hub) == "https://me-sauda.hf.space"
    assert [name for name, _ in hub.calls] == [
        "create_repo", "upload_folder", *["wait_for_space"] * 3, "space_info",
    ]  # fmt: skip
    (sent,) = hub.named("upload_folder")
    assert sent["delete_patterns"] == "*"
    assert sent["commit_message"] == f"Deploy {'a' * 40}"
    assert hub.named("create_repo")[0]["space_sdk"] == "gradio"


def test_a_space_that_does_not_build_is_told_with_the_end_of_its_log():
    failed = SimpleNamespace(stage="BUILD_ERROR", raw={"sha": OID})
    hub = Hub(wait_for_space=[failed])
    with pytest.raises(CloudFault, match=r"stage BUILD_ERROR(.|\n)*no space left"):
        deploy(hub)
    assert hub.named("fetch_space_logs")[0]["build"]
    with pytest.raises(CloudFault, match="does not run the commit c0ffee"):
        deploy(Hub(wait_for_space=[TimeoutError()]))


def test_a_dry_run_stages_and_checks_and_asks_nobody(capsys, monkeypatch):
    def refuse(*arguments, **more):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(hub_http.Client, "send", refuse)
    monkeypatch.setattr(httpx.Client, "send", refuse)
    assert command.main(["deploy", "--space", SPACE, "--dry-run", "--skip-imports"]) == 0
    out = capsys.readouterr().out
    assert "ok   front matter, sizes, secrets, versions" in out
    assert "skip imports: no fresh environment was made" in out
    assert f"a dry run: nothing was uploaded to {SPACE}" in out
