"""The games as a package of their own: built, installed where nothing else is, and played."""

import re
import shutil
import subprocess
import sys
import venv
from email import message_from_string
from pathlib import Path

import numpy as np
import pytest

from sauda.records.store import REPOSITORY as ROOT

POLICY = re.search(r"```python\n(from env import.*?)```", (ROOT / "README.md").read_text(), re.S)


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that holds the package's wheel and numpy alone."""
    tmp_path = tmp_path_factory.mktemp("package")
    source, wheels = tmp_path / "source", tmp_path / "wheels"
    shutil.copytree(ROOT / "env", source, ignore=shutil.ignore_patterns("__pycache__"))
    pip = [sys.executable, "-m", "pip", "--quiet"]
    wheel = ["wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(wheels), str(source)]
    subprocess.run([*pip, *wheel], check=True)
    (built,) = wheels.glob("sauda_env-*.whl")
    venv.create(tmp_path / "empty", with_pip=False)
    (site,) = (tmp_path / "empty").glob("lib/python*/site-packages")
    subprocess.run([*pip, "install", "--no-deps", "--target", str(site), str(built)], check=True)
    for package in Path(np.__file__).parents[1].glob("numpy*"):
        (site / package.name).symlink_to(package)
    return tmp_path / "empty" / "bin" / "python"


@pytest.mark.slow
def test_the_wheel_says_what_it_is_and_carries_its_licence(python):
    (info,) = python.parents[1].glob("lib/python*/site-packages/sauda_env-*.dist-info")
    told = message_from_string((info / "METADATA").read_text(encoding="utf-8"))
    assert told["License-Expression"] == "MIT"
    (licence,) = (info / "licenses").iterdir()
    assert licence.read_text() == (ROOT / "LICENSE").read_text()
    assert told["Description-Content-Type"] == "text/markdown"
    (program,) = re.findall(r"```python\n(.*?)```", told.get_payload(), re.S)
    assert program == POLICY[1].replace("from env import", "from sauda_env import")
    for name in ("Summary", "Author", "Keywords", "Requires-Python"):
        assert told[name]
    assert any(each.endswith("Python :: 3.11") for each in told.get_all("Classifier"))


MODEL = """
import sys
from sauda_env import TASKS, prompt_of, rollout
for name, task in TASKS.items():
    prompt = prompt_of(task)
    def answer(obs, rng):
        system, *_, user = prompt.render(obs)
        assert system["content"] and user["content"] and prompt.schema(obs)["anyOf"]
        reply = '{"walk":true}' if prompt.RULES.get("buyer") else '{"wait":true}'
        return prompt.parse(f"Well: {reply}", obs)
    print(name, rollout(task, answer, 7).end)
assert not {"scipy", "tqdm", "sauda"} & set(sys.modules)
"""


@pytest.mark.slow
def test_the_package_alone_renders_every_tasks_prompt_and_reads_the_answers(python, tmp_path):
    done = subprocess.run(
        [python, "-I", "-c", MODEL], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    ends = dict(line.split() for line in done.stdout.splitlines())
    assert ends["bazaar/open-3"] == "walkaway"
    assert ends["arena/market_round"] == "deadline"


@pytest.mark.slow
def test_the_readmes_policy_plays_by_the_package_alone_from_another_folder(python, tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    program = POLICY[1].replace("from env import", "from sauda_env import")
    done = subprocess.run(
        [python, "-I", "-c", program], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "agreement" in done.stdout
