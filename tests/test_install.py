"""What `make` and a Space install: one list of exact versions, and a lock with hashes."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def listed() -> list[Requirement]:
    """The requirements of the page, and those of every extra but the names of other extras."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    extras = [line for extra in PROJECT["optional-dependencies"].values() for line in extra]
    texts = [line.partition("#")[0].strip() for line in [*lines, *extras]]
    return [Requirement(text) for text in texts if text and not text.startswith("sauda[")]


def locked() -> dict[str, Requirement]:
    """The requirements of the lock by name; their hashes stand on lines of their own."""
    texts = re.findall(r"^([a-z0-9].*?) \\$", LOCK, re.M)
    return {item.name: item for item in map(Requirement, texts)}


def test_every_listed_version_is_exact_and_the_one_that_is_locked():
    lock = locked()
    for requirement in listed():
        (pin,) = requirement.specifier
        assert pin.operator == "==", requirement
        if requirement.name != "torch":
            assert lock[canonicalize_name(requirement.name)].specifier == requirement.specifier, (
                requirement
            )


def test_tests_of_one_group_stay_on_one_worker(request):
    """As `make test` runs them: two browsers at once are slower than what the tests wait for."""
    grouped = getattr(request.config.option, "loadgroup", False)
    assert request.node.nodeid.endswith("@test_install.py") == grouped


def test_each_python_has_one_torch_and_that_of_a_space_is_one_zerogpu_takes():
    def version(python: str) -> list[str]:
        requirements = [r for r in listed() if r.name == "torch"]
        environment = {"python_version": python}
        return [str(r.specifier) for r in requirements if r.marker.evaluate(environment)]

    assert version("3.11") == ["==2.13.0"]
    assert version("3.12") == ["==2.11.0"]


def test_the_lock_names_a_hash_for_everything_and_neither_an_index_nor_a_path():
    entries = re.split(r"\n(?=\S)", LOCK.partition("make lock\n")[2].strip())
    assert len(entries) > len(listed())
    for entry in entries:
        assert re.fullmatch(r"\S+==\S+( ;.*?)?( \\\n    --hash=sha256:[0-9a-f]{64})+", entry), entry
    assert "://" not in LOCK


def test_nothing_of_torch_is_locked_since_its_builds_share_a_version():
    assert not [n for n in locked() if n.startswith(("torch", "nvidia", "cuda", "triton"))]


def test_the_image_installs_by_the_lock_and_runs_as_a_plain_user_with_a_health_check():
    """No container is built here, so its recipe is read."""
    recipe = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    steps = [line.split(maxsplit=1) for line in recipe.splitlines() if line and line[0].isupper()]
    told = {name: [text for step, text in steps if step == name] for name, _ in steps}
    (base,) = told["FROM"]
    assert base.startswith("python:3.11")
    assert any("--require-hashes --requirement requirements.lock" in run for run in told["RUN"])
    assert told["USER"] == ["sauda"]
    assert [step for step, _ in steps].index("USER") < [step for step, _ in steps].index("CMD")
    assert told["EXPOSE"] == ["7860"]
    assert "/health" in told["HEALTHCHECK"][0]
    for copied in told["COPY"]:
        for name in copied.split()[:-1]:
            assert name.startswith("--") or (ROOT / name).exists(), name
