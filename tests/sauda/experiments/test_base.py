"""`@experiment`: options from a signature, a saved result, a replay, and nothing imported early."""

import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from pydantic import Field

from sauda.experiments import base, find, index
from sauda.records.kinds import Entry
from sauda.records.schemas.base import Record
from sauda.records.store import ROOT, load


class Sum(Record):
    """A sum."""

    rows: list[dict[str, int]] = Field(description="one row")


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "EXPERIMENTS", {})
    monkeypatch.setattr(base, "register_kind", lambda kind: kind)
    monkeypatch.setattr(base, "entry", lambda file: Entry(file, "sum/1", "", "A sum.", ""))


def sum_up(of: tuple[int, ...] = (1, 2), times: int = 1, *, workers: int = 2) -> dict[str, Any]:
    return {"rows": [{"sum": times * sum(of), "workers": workers}]}


def test_parameters_become_options_and_how_it_is_computed_is_no_setting(registered):
    made = base.experiment("sum.json", Sum, checks="all")(sum_up)
    usual = vars(made.parser("run sum").parse_args([]))
    assert usual == {"of": (1, 2), "times": 1, "workers": 2, "out": None}
    chosen = vars(made.parser("run sum").parse_args(["--of", "3", "4", "--times", "2"]))
    assert chosen == usual | {"of": [3, 4], "times": 2}
    assert made.settings() == {"of": (1, 2), "times": 1}


def test_other_settings_never_replace_the_artifact(tmp_path):
    oracle = find("oracle")
    recorded = load(oracle.file).data.as_json()

    def known(episodes: int = 4, *, workers: int = 2) -> dict[str, Any]:
        return recorded

    oracle, own = replace(oracle, function=known), tmp_path / "mine.json"
    made, file = oracle.run({"episodes": 5, "workers": 1}, root=tmp_path)
    assert (file, list(tmp_path.iterdir())) == (None, [])
    assert made.config == {"episodes": 5}
    _, file = oracle.run({"episodes": 5, "workers": 1}, own, root=tmp_path)
    assert ([file], json.loads(own.read_text())["config"]) == ([*tmp_path.iterdir()], made.config)
    _, file = oracle.run({"episodes": 4, "workers": 1}, root=tmp_path)
    assert file == tmp_path / oracle.file
    assert load(oracle.file, tmp_path).data == load(oracle.file).data


@pytest.mark.parametrize("name", index())
def test_the_table_of_an_experiment_has_a_line_per_row_under_its_names(name: str):
    made = find(name)
    rows = list(base.rows_in(load(made.file).data.as_json()))
    header, *lines = base.lines(rows)
    assert header.split() == " ".join(rows[0]).split()
    assert len(lines) >= len(rows) > 0


def test_the_list_of_experiments_imports_none_of_them():
    code = (
        "import sys\nfrom sauda.__main__ import parse_arguments\n"
        "try: parse_arguments(['run', '--help'])\nexcept SystemExit: pass\n"
        "print(*[m for m in sys.modules if m.startswith('sauda.experiments.')], file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT.parent, capture_output=True)
    assert ran.stderr.decode().split() == []
    assert all(f"  {name} " in ran.stdout.decode() for name in index())
