"""What `make`, a Space and a container install: exact versions, and two locks with hashes."""

import json
import os
import re
import subprocess
import sys
import threading
import tomllib
from http.server import BaseHTTPRequestHandler, HTTPServer

from packaging.requirements import Requirement

from sauda.records.store import REPOSITORY as ROOT

LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")  # of a container
DEV = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")  # what tests and training add
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def listed() -> list[Requirement]:
    """The requirements of the page, and those of every extra but the names of other extras."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    extras = [line for extra in PROJECT["optional-dependencies"].values() for line in extra]
    texts = [line.partition("#")[0].strip() for line in [*lines, *extras]]
    return [Requirement(text) for text in texts if text and not text.startswith("sauda[")]


def locked(lock: str) -> dict[str, Requirement]:
    """The requirements of a lock by name; their hashes stand on lines of their own."""
    texts = re.findall(r"^([a-z0-9].*?) \\$", lock, re.M)
    return {item.name: item for item in map(Requirement, texts)}


def instructions() -> dict[str, list[str]]:
    """The arguments of each instruction of the Dockerfile, in order."""
    recipe = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    steps = [line.split(maxsplit=1) for line in recipe.splitlines() if line and line[0].isupper()]
    return {name: [text for step, text in steps if step == name] for name, _ in steps}


def test_the_locks_name_a_hash_for_everything_and_neither_an_index_nor_a_path():
    for lock in (LOCK, DEV):
        entries = re.split(r"\n(?=\S)", lock.partition("make lock\n")[2].strip())
        for entry in entries:
            hashes = r"( \\\n    --hash=sha256:[0-9a-f]{64})+"
            assert re.fullmatch(rf"\S+==\S+( ;.*?)?{hashes}", entry), entry
        assert "://" not in lock
    assert len(locked(LOCK) | locked(DEV)) > len(listed())


def test_the_image_installs_by_the_lock_and_runs_as_a_plain_user():
    """No container is built here, so its recipe is read."""
    told = instructions()
    assert told["FROM"] == ["$BASE"]  # whoever passes an image on names it by its digest
    assert any(argument.startswith("BASE=python:3.11") for argument in told["ARG"])
    assert any("--require-hashes --requirement requirements.lock" in run for run in told["RUN"])
    assert told["USER"] == ["sauda"]
    assert list(told).index("USER") < list(told).index("CMD")
    assert told["EXPOSE"] == ["7860"]
    for copied in told["COPY"]:
        for name in copied.split()[:-1]:
            assert name.startswith("--") or (ROOT / name).exists(), name


def test_what_is_passed_on_of_others_is_named_with_its_licence():
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    (label,) = instructions()["LABEL"]
    fonts = [file.stem.removeprefix("OFL-") for file in (ROOT / "panels/ui/fonts").glob("OFL-*")]
    parts = {"Apache-2.0": ["SmolLM2-135M-Instruct"], "OFL-1.1": fonts}
    for licence, names in parts.items():
        assert licence in label
        for name in names:
            assert name in notice.replace(" ", "")
            assert name in (ROOT / "README.md").read_text(encoding="utf-8").replace(" ", "")
    assert "SmolLM2" in (ROOT / "artifacts/README.md").read_text(encoding="utf-8")
    assert fonts


def test_the_health_check_of_the_image_runs_without_a_shell_and_tells_a_dead_page():
    (text,) = instructions()["HEALTHCHECK"]
    _, command = text.split("CMD", 1)
    python, *arguments = json.loads(command)
    assert python == "python"

    class Health(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/health" else 404)
            self.end_headers()

    def check(port: int) -> int:
        environment = os.environ | {"PORT": str(port)}
        done = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True)
        return done.returncode

    with HTTPServer(("127.0.0.1", 0), Health) as page:
        threading.Thread(target=page.serve_forever, daemon=True).start()
        assert check(page.server_port) == 0
        page.shutdown()
    assert check(page.server_port) != 0
