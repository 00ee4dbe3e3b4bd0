"""The options of `train`: what no run can have is refused in one sentence, before a run begins."""

from importlib import import_module

import pytest

from sauda.__main__ import main
from sauda.train import STAGES
from sauda.train.pilot.run import Config as Pilot
from sauda.train.run import options_of

CONFIGS = {
    name: import_module(f"sauda.train.stages.{name}").Config for name in (*STAGES, "roles")
} | {"pilot": Pilot}
WHOLE = [
    (stage, f"--{field.name.replace('_', '-')}")
    for stage, config in CONFIGS.items()
    for field in options_of(config)
    if field.type is int
]


def refusal(stage, options, folder, capsys) -> str:
    """The one sentence by which a run is refused; any other run ends at a file as its folder."""
    out = folder / "run"
    out.touch()
    assert main(["train", stage, *options, "--out", str(out)]) == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    return sentence


@pytest.mark.parametrize(("stage", "flag"), WHOLE)
def test_no_whole_number_is_far_below_zero(stage, flag, tmp_path, capsys):
    sentence = refusal(stage, [flag, "-2"], tmp_path, capsys)
    assert sentence.startswith(f"sauda: {flag} is a whole number of at least ")
    assert sentence.endswith(", not -2")


@pytest.mark.parametrize(
    ("stage", "flag"),
    [
        ("roles", "--save-steps"),
        ("roles", "--gradient-accumulation-steps"),
        ("sft", "--gradient-accumulation-steps"),
        ("sft", "--per-device-train-batch-size"),
        ("sft", "--num-train-epochs"),
        ("sft", "--rows"),
        ("distill", "--deals-per-round"),
        ("grpo", "--max-steps"),
        ("grpo", "--per-device-train-batch-size"),
        ("dpo", "--pairs"),
        ("dpo", "--threads"),
        ("pilot", "--save-rounds"),
    ],
)
def test_a_number_by_which_something_is_divided_or_repeated_is_not_zero(
    stage, flag, tmp_path, capsys
):
    sentence = refusal(stage, [flag, "0"], tmp_path, capsys)
    assert sentence == f"sauda: {flag} is a whole number of at least 1, not 0"


@pytest.mark.parametrize("cycles", ["50", "10", "9"])
def test_cycles_without_room_for_their_warm_up_and_decay_are_refused(cycles, tmp_path, capsys):
    sentence = refusal("roles", ["--cycles", cycles], tmp_path, capsys)
    assert f"28 steps have no room for both in {cycles} cycles of " in sentence
