"""The upload to a Space, against a Hub that fails now and then, and the commands around it."""

import inspect
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import httpx
import pytest
from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError
from huggingface_hub.utils import httpx as hub_http

from sauda import __main__ as command
from sauda.scale.deploy.staging import Staged
from sauda.scale.deploy.upload import DeployFault, passing, upload

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
    assert not passing(ValueError())


def test_a_space_that_still_runs_the_former_commit_is_waited_for():
    before = SimpleNamespace(stage="RUNNING", raw={"sha": "before"})
    hub = Hub(wait_for_space=[before, before])
    deploy(hub)
    assert len(hub.named("wait_for_space")) == 3


def test_a_space_that_does_not_build_is_told_with_the_end_of_its_log():
    failed = SimpleNamespace(stage="BUILD_ERROR", raw={"sha": OID})
    hub = Hub(wait_for_space=[failed])
    with pytest.raises(DeployFault, match=r"stage BUILD_ERROR(.|\n)*no space left"):
        deploy(hub)
    assert hub.named("fetch_space_logs")[0]["build"]
    with pytest.raises(DeployFault, match="does not run the commit c0ffee"):
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
