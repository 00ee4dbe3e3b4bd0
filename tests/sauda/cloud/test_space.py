"""A page for a Space: what a staged folder is checked for, its imports, an upload that fails."""

import inspect
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import httpx
import pytest
from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError
from huggingface_hub.utils import httpx as hub_http

from sauda import __main__ as command
from sauda.cloud import CloudFault
from sauda.cloud.space import (
    MOST_FILE,
    NoEnvironment,
    Staged,
    import_faults,
    may_pass,
    missing_packages,
    stage,
    staging_faults,
    upload,
)
from sauda.records.store import REPOSITORY

TOKEN = "hf_" + "a1" * 17  # put together here, so that no file holds it
FILES = {
    "README.md": '---\ntitle: S\nsdk: gradio\nsdk_version: 6.31.0\npython_version: "3.12"\n'
    "app_file: app.py\n---\n# S\n",
    "requirements.txt": "gradio==6.31.0  # a comment\n",
    "pyproject.toml": '[project.optional-dependencies]\ntrain = ["trainer-kit==1.0"]\n',
    "app.py": "import json\nfrom part import tool\n",
    "part/__init__.py": "",
    "part/tool.py": "def train():\n    import trainer_kit\n\n\ntry:\n    import not_there\n"
    "except ImportError:\n    not_there = None\n",
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


@pytest.mark.parametrize(
    ("file", "old", "new", "fault"),
    [
        ("README.md", "sdk: gradio\n", "sdk: docker\n", "sdk is gradio, not 'docker'"),
        ("README.md", '"3.12"', '"3.11"', "python_version is one of 3.10, 3.12, as text"),
        ("README.md", '"3.12"', "3.12", "as text, not 3.12"),
        ("README.md", "6.31.0", "6.30.0", "sdk_version is 6.30.0, and requirements.txt has"),
        ("README.md", "app_file: app.py", "app_file: main.py", "the app_file main.py is not"),
        ("README.md", "title: S\n", "", "the front matter has no title"),
        ("README.md", "title: S", "title: S\ncolor: red", "has color, which the Hub does not"),
        ("README.md", "title: S", "title: S\ncolorTo: pinkish", "not 'pinkish'"),
        ("README.md", "title: S", f"title: S\nshort_description: {'a ' * 40}", "more than 60"),
        ("requirements.txt", "==6.31.0", ">=6", "names no exact version"),
        ("app.py", "import json", f"import json\nT = '{TOKEN}'", "app.py:2: looks like a token"),
        ("app.py", "import json", "U = 'https://me:secret1@x.org'", "address with a password"),
        ("app.py", "import json", "-----BEGIN PRIVATE KEY-----", "looks like a private key"),
        ("app.py", "import json", "#" * (MOST_FILE + 1), "20.0 MiB; the most are 20"),
    ],
)
def test_each_fault_is_named_in_one_line_that_repeats_no_secret(folder, file, old, new, fault):
    assert staging_faults(folder) == []
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1))
    found = staging_faults(folder)
    assert any(fault in line for line in found), found
    assert not any(TOKEN in line or "secret1" in line for line in found)


def test_a_file_whose_name_says_that_it_holds_secrets_is_named(folder):
    (folder / ".env").write_text("")
    assert staging_faults(folder) == [".env: a file of that name holds secrets"]


def test_imports_resolve_in_a_fresh_environment_or_are_named_with_their_place(folder):
    assert import_faults(folder, sys.executable, []) == ([], "loaded")
    (folder / "part" / "tool.py").write_text("def show():\n    import gradio\n")
    ((fault,), _) = import_faults(folder, sys.executable, [])
    assert fault.startswith("part/tool.py:2: imports gradio, which requirements.txt does not bring")
    (folder / "part" / "tool.py").write_text("")
    (folder / "app.py").write_text("import trainer_kit\n")
    ((fault,), _) = import_faults(folder, sys.executable, [])
    assert fault == "importing app: ModuleNotFoundError: No module named 'trainer_kit'"


def test_imports_are_looked_for_in_packages_without_loading_them(folder, tmp_path):
    packages = tmp_path / "packages"
    (packages / "gradio").mkdir(parents=True)
    (folder / "part" / "tool.py").write_text("def show():\n    import gradio\n    import numpy\n")
    (fault,) = missing_packages(folder, packages)
    assert fault.startswith("part/tool.py:3: imports numpy")
    (packages / "numpy.py").write_text("raise RuntimeError('loaded')")
    assert missing_packages(folder, packages) == []


def test_where_no_environment_can_be_made_the_reason_is_told(folder, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with pytest.raises(NoEnvironment, match="uv is not installed"):
        import_faults(folder, "3.11", [])


SPACE, OID = "me/sauda", "c0ffee"


def status(code: int) -> HfHubHTTPError:
    """What the Hub's client raises for an HTTP status."""
    request = hub_http.Request("POST", "https://example.org")
    return HfHubHTTPError(str(code), response=hub_http.Response(code, request=request))


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


def deploy(hub: Hub, said: list[str] | None = None) -> str:
    staged = Staged(Path("/staged"), "a" * 40, 0)
    say = (said if said is not None else []).append
    return upload(staged, SPACE, hub, say=say, first_pause=0.001)


def test_a_hub_that_fails_and_then_succeeds_gets_the_folder_once_and_whole():
    refused = hub_http.ConnectError("refused")
    hub = Hub(create_repo=[refused], upload_folder=[status(503), status(500)])
    said: list[str] = []
    assert deploy(hub, said) == "https://me-sauda.hf.space"
    assert [name for name, _ in hub.calls] == [
        *["create_repo"] * 2, *["upload_folder"] * 3, "wait_for_space", "space_info",
    ]  # fmt: skip
    (sent, *_) = hub.named("upload_folder")
    assert sent["delete_patterns"] == "*"
    assert sent["commit_message"] == f"Deploy {'a' * 40}"
    assert hub.named("create_repo")[0]["space_sdk"] == "gradio"
    assert sum("again" in line for line in said) == 3


def test_a_refusal_is_raised_at_once_and_a_lasting_fault_after_five_attempts():
    hub = Hub(upload_folder=[status(403)])
    with pytest.raises(HfHubHTTPError, match="403"):
        deploy(hub)
    assert len(hub.named("upload_folder")) == 1
    hub = Hub(upload_folder=[status(502)] * 9)
    with pytest.raises(HfHubHTTPError, match="502"):
        deploy(hub)
    assert len(hub.named("upload_folder")) == 5
    assert not may_pass(ValueError())


def test_a_space_that_still_runs_the_former_commit_is_waited_for():
    before = SimpleNamespace(stage="RUNNING", raw={"sha": "before"})
    hub = Hub(wait_for_space=[before, before])
    deploy(hub)
    assert len(hub.named("wait_for_space")) == 3


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


def test_names_and_addresses_that_cannot_be_are_refused_in_a_sentence(capsys):
    assert command.main(["deploy", "--space", "sauda", "--dry-run"]) == 2
    assert "a Space is named OWNER/NAME, not 'sauda'" in capsys.readouterr().err
    assert command.main(["smoke", "localhost:7860"]) == 2
    assert "begins with http:// or https://" in capsys.readouterr().err
