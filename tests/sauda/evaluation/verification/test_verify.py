"""A recorded number that is not what comes out again is found and named by its place."""

import json
import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import sauda.__main__ as command_line
import sauda.games.bazaar_columns
from env import TASKS, rollout
from sauda.evaluation.speed import figure
from sauda.evaluation.verification.verify import differences, verify, verify_models
from sauda.experiments import comparison
from sauda.experiments.comparison import Replayed
from sauda.experiments.evaluate import EvaluationSpec, evaluate
from sauda.games.transcript import to_json
from sauda.llm.registry import get_policy
from sauda.records.kinds import FILES, KINDS, METHODS, ArtifactError, amount
from sauda.records.store import CHECKSUMS, ROOT, load, renew_checksums, save, write

EVALUATION, SHOWCASE = "evaluation/classic-train.json", "episodes/showcase.json"
TASK = "classic/single_deal"


@pytest.fixture(scope="module")
def written_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with small artifacts, each as its command would write it."""
    root = tmp_path_factory.mktemp("artifacts")
    config = EvaluationSpec((TASK, "classic/career_10"), ("rule_based", "naive"), episodes=4)
    save(EVALUATION, asdict(config), evaluate(config, workers=1), root)
    names = ("naive", "rule_based")
    episodes = [to_json(rollout(TASKS[TASK], get_policy(TASKS[TASK], n), 3), n) for n in names]
    save(SHOWCASE, {"seed": 3}, {"episodes": episodes}, root)
    speeds = [figure("reply", "s", [0.1, 0.2, 0.4], p95=True)]
    save("bench.json", {}, {"machine": {}, "figures": speeds, "ratios": [], "left_out": []}, root)
    write(root / "published.json", (ROOT / "published.json").read_text(encoding="utf-8"))
    renew_checksums(["published.json"], root)
    return root


@pytest.fixture
def changed(written_root: Path, tmp_path: Path) -> Callable[..., list[str]]:
    """Verifies a copy of one file with `change` made to its content and a new checksum."""

    def check(file: str, change: Callable[[Any], None]) -> list[str]:
        content = json.loads((written_root / file).read_text(encoding="utf-8"))
        change(content)
        write(tmp_path / file, json.dumps(content))
        renew_checksums([file], tmp_path)
        return verify(file, workers=1, root=tmp_path)

    return check


@pytest.mark.parametrize("file", [EVALUATION, SHOWCASE, "bench.json", "published.json"])
def test_a_new_artifact_is_verified_without_faults(written_root: Path, file: str):
    assert verify(file, workers=1, root=written_root) == []


# Evaluations


def test_a_digit_of_a_price_is_found(changed):
    def change(content):
        content["data"]["episodes"][TASK]["naive"]["price"][2] += 0.01

    (place,) = changed(EVALUATION, change)
    assert place.startswith(f"data.episodes['{TASK}'].naive.price[2]: recorded 51.01, played")


def test_a_digit_of_a_share_is_found(changed):
    def change(content):
        content["data"]["episodes"]["classic/career_10"]["rule_based"]["share"][39] += 1e-6

    (place,) = changed(EVALUATION, change)
    assert place.startswith("data.episodes['classic/career_10'].rule_based.share[39]: recorded")


def test_a_digit_of_a_rows_mean_is_found(changed):
    def change(content):
        content["data"]["rows"][1]["share"]["mean"] += 0.000001

    (place,) = changed(EVALUATION, change)
    assert place.startswith("data.rows[1].share.mean: recorded 0.700001, played again 0.7")


def test_a_way_to_end_is_found(changed):
    def change(content):
        columns = content["data"]["episodes"][TASK]["naive"]
        columns["end"] = "B" + columns["end"][1:]

    (place,) = changed(EVALUATION, change)
    assert place == f"data.episodes['{TASK}'].naive.end: recorded 'BAAA', played again 'AAAA'"


def test_another_game_under_the_same_name_is_found(changed):
    def change(content):
        content["data"]["rows"][0]["hashes"]["opponents"] = "0123456789ab"

    (place,) = changed(EVALUATION, change)
    assert place.startswith("data.rows[0].hashes.opponents: recorded '0123456789ab', but today's")


def test_columns_that_are_gone_or_cut_short_are_found(changed):
    def cut(content):
        content["data"]["episodes"][TASK]["naive"]["share"].pop()

    def remove(content):
        del content["data"]["episodes"][TASK]["naive"]

    assert changed(EVALUATION, cut) == [
        f"data.episodes['{TASK}'].naive.share: 3 recorded, 4 when played again"
    ]
    (place,) = changed(EVALUATION, remove)
    assert place.startswith(f"data.episodes['{TASK}'].naive: recorded 'nothing', played again {{")


def test_a_config_that_does_not_say_what_was_played_is_refused(changed):
    with pytest.raises(ArtifactError, match="has no split in its config"):
        changed(EVALUATION, lambda content: content["config"].pop("split"))


def test_an_evaluation_is_verified_without_the_engine_that_recorded_it(written_root, monkeypatch):
    def broken(games, buyers):
        raise AssertionError("the batch engine must not check itself")

    monkeypatch.setattr(sauda.games.bazaar_columns, "play_batch", broken)
    assert verify(EVALUATION, workers=1, root=written_root) == []


# Episodes


def test_a_move_that_its_policy_does_not_make_is_found(changed):
    def change(content):
        content["data"]["episodes"][0]["moves"][1]["price"] = 47.99

    (place,) = changed(SHOWCASE, change)
    assert place == "data.episodes[0].moves[1].price: recorded 47.99, played again 48.0"


def test_a_move_that_breaks_the_rules_is_found_in_its_episode(changed):
    def change(content):
        content["data"]["episodes"][1]["moves"][1]["price"] = 1000

    (place,) = changed(SHOWCASE, change)
    assert place.startswith("data.episodes[1]: recorded {")
    assert "move 2 breaks the rules: the budget is ₹100" in place


def test_a_grade_that_the_moves_do_not_earn_is_found(changed):
    def change(content):
        content["data"]["episodes"][0]["grade"] = 1.0

    (place,) = changed(SHOWCASE, change)
    assert place == "data.episodes[0].grade: recorded 1.0, played again 0.7"


# Published figures and speeds


def test_a_changed_file_is_found_by_its_checksum(written_root: Path, tmp_path: Path):
    text = (written_root / "published.json").read_text(encoding="utf-8")
    write(tmp_path / "published.json", text.replace("0.5", "0.6", 1))
    write(tmp_path / CHECKSUMS, (written_root / CHECKSUMS).read_text(encoding="utf-8"))
    (fault,) = verify("published.json", workers=1, root=tmp_path)
    assert fault.startswith("published.json was changed: its SHA-256 is ")


def test_a_file_without_a_checksum_is_found(written_root: Path, tmp_path: Path):
    write(tmp_path / "published.json", (written_root / "published.json").read_text("utf-8"))
    (fault,) = verify("published.json", workers=1, root=tmp_path)
    assert fault.startswith(f"published.json has no line in {CHECKSUMS}")


def test_a_median_that_its_samples_do_not_have_is_found(changed):
    def change(content):
        content["data"]["figures"][0]["median"] = 0.1

    assert changed("bench.json", change) == [
        "data.figures[0].median: recorded 0.1, played again 0.2"
    ]


# Places, and the command


def test_equal_values_have_no_difference_and_others_are_named_in_order():
    assert list(differences({"a": [1, {"b": 2}]}, {"a": (1, {"b": 2.0})}, "data")) == []
    lines = list(differences({"b": [1, 2], "a": 1}, {"b": [1], "c c": 3}, "data"))
    assert lines == [
        "data.a: recorded 1, played again 'nothing'",
        "data.b: 2 recorded, 1 when played again",
        "data['c c']: recorded 'nothing', played again 3",
    ]


def test_the_command_says_what_is_to_do_and_then_ok_and_returns_0(capsys):
    assert command_line.main(["verify", "artifacts/published.json"]) == 0
    todo, verdict = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"to do published.json: \d+ figures", todo)
    assert verdict.startswith(
        "ok   published.json: checksum only: every figure, as it was transcribed"
    )


def test_every_kind_has_a_check_in_words_a_method_and_an_amount():
    kinds = {known.kind for known in FILES}
    assert kinds == set(KINDS)
    assert {kind.check.method for kind in KINDS.values()} == set(METHODS)
    assert all(callable(kind.check.recompute()) for kind in KINDS.values())


@pytest.mark.slow
def test_the_command_can_say_how_much_there_is_to_check():
    for known in FILES:
        artifact = load(known.file)
        said = amount(artifact.kind, artifact.config, artifact.data)
        assert re.match(r"[1-9][\d,]* \w+", said), known.file


GRADES = [0.1, 0.4, 0.0, 0.3]


@pytest.mark.parametrize(
    ("again", "cpu", "holds", "verdict"),
    [
        (GRADES, "avx2", True, "to the last digit"),
        ([0.1, 0.4, 0.0, 0.3001], "avx2", False, "to the last digit"),
        ([0.2, 0.31, 0.0, 0.3], "avx512_f", True, "grades differ by +0.00"),
        ([0.3, 0.6, 0.2, 0.4], "avx512_f", False, "grades differ by +0.175"),
    ],
)
def test_a_models_games_come_out_to_the_last_digit_or_on_another_cpu_on_average(
    monkeypatch, again, cpu, holds, verdict
):
    pair = Replayed("bazaar/open", "mini+x", {"grade": GRADES}, {"grade": again}, "avx2", cpu)
    monkeypatch.setattr(comparison, "replay_stages", lambda *_: [pair])
    (played,) = verify_models(["bazaar/open"])
    assert played.verdict.startswith(verdict)
    assert (played.faults == []) == holds
    assert played.n == len(GRADES)
