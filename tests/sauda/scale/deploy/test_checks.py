"""What a staged folder is checked for, and whether it runs with its requirements alone."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sauda.records.store import REPOSITORY
from sauda.scale.deploy.checks import MOST_FILE, faults
from sauda.scale.deploy.imports import (
    NoEnvironment,
    NoPython,
    fresh_environment,
    import_faults,
    package_faults,
)
from sauda.scale.deploy.staging import stage

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
    assert faults(staged.folder) == []
    assert sorted(path.name for path in tmp_path.iterdir() if path.name in ("tests", ".ci")) == []
    assert {"app.py", "README.md", "requirements.txt"} <= {path.name for path in tmp_path.iterdir()}
    head = ["git", "-C", str(REPOSITORY), "rev-parse", "HEAD"]
    assert staged.commit == subprocess.run(head, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize(
    ("file", "old", "new", "fault"),
    [
        ("README.md", "sdk: gradio\n", "sdk: docker\n", "sdk is gradio, not 'docker'"),
        ("README.md", '"3.12"', '"3.11"', "python_version is one of 3.10, 3.12 as text"),
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
    assert faults(folder) == []
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1))
    found = faults(folder)
    assert any(fault in line for line in found), found
    assert not any(TOKEN in line or "secret1" in line for line in found)


def test_a_file_whose_name_says_that_it_holds_secrets_is_named(folder):
    (folder / ".env").write_text("")
    assert faults(folder) == [".env: a file of that name holds secrets"]


def test_imports_resolve_in_a_fresh_environment_or_are_named_with_their_place(folder, tmp_path):
    python = fresh_environment(tmp_path / "fresh", sys.executable, [])
    assert import_faults(python, folder) == []
    (folder / "part" / "tool.py").write_text("def show():\n    import gradio\n")
    assert import_faults(python, folder) == [
        "part/tool.py:2: imports gradio, which requirements.txt does not bring and no extra names"
    ]
    (folder / "app.py").write_text("import trainer_kit\n")
    (fault,) = import_faults(python, folder)
    assert fault == "importing app: ModuleNotFoundError: No module named 'trainer_kit'"


def test_imports_are_looked_for_in_the_packages_of_a_python_that_is_not_here(folder, tmp_path):
    packages = tmp_path / "packages"
    (packages / "gradio").mkdir(parents=True)
    (folder / "part" / "tool.py").write_text("def show():\n    import gradio\n    import numpy\n")
    assert package_faults(packages, folder) == [
        "part/tool.py:3: imports numpy, which requirements.txt does not bring and no extra names"
    ]
    (packages / "numpy.py").write_text("raise RuntimeError('loaded')")
    assert package_faults(packages, folder) == []


def test_where_no_environment_can_be_made_the_reason_is_told(tmp_path, monkeypatch):
    with pytest.raises(NoPython, match=r"for Python 3\.99: "):
        fresh_environment(tmp_path / "fresh", "3.99", [])
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with pytest.raises(NoEnvironment, match="uv is not installed"):
        fresh_environment(tmp_path / "fresh", "3.11", [])
