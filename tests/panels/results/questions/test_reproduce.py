"""Reproduce: a sample of a row played again, equal or not, plainly."""

from dataclasses import replace
from statistics import fmean
from types import SimpleNamespace

from panels.results.model_comparison import LAB_FILE
from panels.results.questions import reproduce
from panels.results.questions.reproduce import SCRIPTED, reproduced, rows_of, shown, title
from panels.results.questions.verdict import listed
from sauda.experiments.comparison import OURS
from sauda.experiments.verify import replay_row
from sauda.llm.registry import player_spec
from sauda.records.store import load

MARKET, ARENA = "evaluation/market-holdout.json", "evaluation/arena-holdout.json"
COMPARISON = "evaluation/model-comparison.json"


def test_a_script_comes_out_as_recorded_and_says_so_with_both_means():
    artifact = load(MARKET)
    begins, ends = map(str, reproduced(rows_of([artifact]), "bazaar/open linear"))
    mean = fmean(artifact.data.episodes["bazaar/open"]["linear"].grade[:SCRIPTED])
    assert f"Playing {SCRIPTED} games" in begins
    assert f"recorded {mean:.3f}, played now {mean:.3f}, n = {SCRIPTED} games." in ends
    assert "<b>Equal" in ends
    assert ends.count("<tr") == SCRIPTED + 1
    assert "≠" not in ends


def test_a_game_that_differs_is_shown_as_such_and_a_loss_of_nothing_as_0():
    artifact, cell = next(iter(rows_of([load(MARKET)]).values()))
    sample = replay_row(artifact, cell, 2)
    changed = {**sample.replayed, "grade": [0.25, -1e-9]}
    text = str(shown(replace(sample, replayed=changed)))
    assert "<b>Not equal" in text
    assert "Not the same in grade." in text
    assert text.count("≠") == 2
    assert ">0.000000<" in text
    assert "-0.000000" not in text


def test_the_cpu_of_a_recorded_model_stands_beside_this_machines(tmp_path, monkeypatch):
    flags = tmp_path / "cpuinfo"
    flags.write_text("processor\t: 0\nflags\t\t: fpu avx2 avx512f sse\n")
    monkeypatch.setattr(reproduce, "CPU_FLAGS", flags)
    monkeypatch.setattr(reproduce, "gpu_of_this_process", lambda: False)

    def told(cpu: str) -> str:
        models = {player_spec(OURS).weights: SimpleNamespace(cpu=cpu)}
        return reproduce.cpus(SimpleNamespace(data=SimpleNamespace(models=models)), OURS)

    assert told("avx2 avx512_f avx512_bf16") == (
        "Recorded on a CPU with avx2, avx512_f and avx512_bf16; this machine has one with avx2 and"
        " avx512_f."
    )
    assert told("avx2 avx512_f") == (
        "Recorded on a CPU with avx2 and avx512_f, as this machine has."
    )
    assert told("avx2 or avx2 avx512_f") == (
        "Recorded on a CPU with avx2 and on a CPU with avx2 and avx512_f, of which this machine"
        " has one."
    )
    kinds = load(COMPARISON).data.models[player_spec(OURS).weights].cpu.split(" or ")
    there = reproduce.cpus(load(COMPARISON), OURS)
    assert all(f"a CPU with {listed(kind.split())}" in there for kind in kinds)
    flags.unlink()
    assert reproduce.cpus(load(COMPARISON), OURS).endswith("one of an unknown kind.")


def test_a_row_that_is_not_in_the_list_is_answered_in_words():
    (only,) = reproduced({}, "<b>x</b>")
    assert "Pick one of the rows" in only


def test_a_row_in_two_artifacts_is_listed_once():
    both = rows_of([load(MARKET), load(COMPARISON)])
    assert both["bazaar/open linear"][0].file == MARKET


def test_rows_have_plain_titles_and_the_model_and_the_best_scripts_come_first():
    titles = [title(cell) for _, cell in rows_of([load(MARKET), load(COMPARISON)]).values()]
    assert titles[0] == "Open market · Sauda (SFT + distillation)"
    ours = [name for name in titles if name.endswith("Sauda (SFT + distillation)")]
    assert titles[: len(ours)] == ours
    assert titles[len(ours)].startswith("Open market · ")
    assert not any("/" in name or "_" in name for name in titles)
    assert len(set(titles)) == len(titles)


def test_the_arena_offers_the_trained_lab_first():
    comparison = load(LAB_FILE)
    rows = rows_of([load(ARENA), comparison], comparison.config["stages"][-1])
    titles = [title(cell) for _, cell in rows.values()]
    assert titles[0] == "Market round · SFT + GRPO as a lab"
    assert "Single trade · Planner" in titles[1:4]
    assert any(name.endswith(", other labs planner") for name in titles)
    assert len(set(titles)) == len(titles)
