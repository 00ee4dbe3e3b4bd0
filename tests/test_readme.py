"""The README claims what the artifacts show, and nothing else."""

import re
import shlex
from pathlib import Path

import pytest

from sauda.__main__ import parser
from sauda.artifact import entry, load

COMMAND = re.compile(r"^sauda ([^#\n]*)", re.MULTILINE)
README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def row(file, task, policy):
    rows = load(file).data["rows"]
    return next(r for r in rows if (r["task"], r["policy"]) == (task, policy))


def figure(name):
    return next(f for f in load("bench.json").data["figures"] if f["name"] == name)


def test_the_share_of_each_buyer_stands_with_its_interval_and_n():
    for task, policy in (
        ("classic/deceptive_seller", "expert"),
        ("classic/deceptive_seller", "wait"),
        ("classic/amazon_realistic", "expert"),
        ("classic/amazon_realistic", "wait"),
    ):
        found = row("evaluation/classic-holdout.json", task, policy)
        share = found["share"]
        claim = f"{share['mean']:.3f} [{share['low']:.3f}, {share['high']:.3f}] | {found['n']} |"
        assert f"| `{policy}` on `{task}`, hold-out seeds: share of the ZOPA | {claim}" in README


def test_the_agreement_with_the_published_game_stands_as_recorded():
    a = load("evaluation/reproduction.json").data["agreement"]
    sampled = a["figures"] - a["without_error"]
    assert f"{a['within_two']} of {sampled} within two standard errors" in README
    assert f"{a['without_error_equal']} of {a['without_error']} equal to four decimals" in README


def test_speeds_stand_with_their_n():
    episodes = figure("episodes a second, rule_based")
    assert f"| {episodes['median']:,.0f} (published: 531) | {episodes['n']} x 2,000 |" in README
    reply = figure("scripted reply")
    assert f"| {1000 * reply['p95']:.0f} ms | {reply['n']} |" in README
    for name in ("import of app", "first figure visible"):
        found = figure(name)
        assert f"| {found['median']:.1f} s | {found['n']} |" in README


@pytest.mark.parametrize("command", COMMAND.findall(README.replace("\\\n", " ")))
def test_every_command_of_the_tour_is_one_the_command_line_takes(command):
    options = parser().parse_args(shlex.split(command))
    if getattr(options, "out", None):
        assert entry(options.out).kind == "evaluation/1"


def test_each_open_market_task_stands_with_its_oracle_its_best_script_and_wait():
    for found in load("oracle.json").data["rows"]:
        informed, scripts = found["informed"], {p["policy"]: p for p in found["policies"]}
        best = max((p for name, p in scripts.items() if name != "leave"), key=lambda p: p["mean"])
        span = f"{informed['mean']:.3f} [{informed['low']:.3f}, {informed['high']:.3f}]"
        row = next(line for line in README.splitlines() if line.startswith(f"| `{found['task']}`"))
        assert f"| {found['n']} | {span} |" in row
        assert f"| `{best['policy']}` {best['mean']:.3f} ({best['share']:.0%}) |" in row
        assert f"| {scripts['wait']['mean']:.3f} ({scripts['wait']['share']:.0%}) |" in row
        assert not any(p["flagged"] for p in scripts.values())
