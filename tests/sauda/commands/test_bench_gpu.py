"""Speed on a GPU: the same functions on a CPU with networks of a few weights."""

import pytest

from sauda.__main__ import main
from sauda.commands.bench import gpu
from sauda.evaluation.speed import recomputed
from sauda.train.model import find_base

pytestmark = pytest.mark.xdist_group("model")
SHAPE = {
    "vocab_size": 1000, "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2,
}  # fmt: skip


def test_a_shape_is_timed_at_writing_and_training_and_says_what_it_takes(tmp_path):
    gpu.write_random(tmp_path, SHAPE, "cpu")
    figures, ratios = gpu.of_shape(tmp_path, "cpu", rows=2, tokens=80)
    named = {each["name"]: each for each in figures}
    assert named["weights, nf4"]["median"] < named["weights, bf16"]["median"]
    assert [each["n"] for each in figures if each["unit"] == gpu.SPEED] == [gpu.ROUNDS] * 3
    assert [(each["of"], each["to"]) for each in ratios] == [
        ("writing, 2 replies to 80 tokens, bf16", "writing, 2 replies to 80 tokens, nf4")
    ]
    assert recomputed({"figures": figures, "ratios": ratios})["figures"] == figures


def test_an_adapter_and_all_weights_are_timed_on_the_same_deals(monkeypatch, tmp_path):
    toy = find_base("toy", tmp_path, 1)
    monkeypatch.setattr(gpu, "smollm2", lambda: toy.weights)
    monkeypatch.setattr(gpu, "PRECISIONS", ("bf16",))
    figures, (quotient,) = gpu.learning("cpu", 1)
    assert len(figures) == 2
    assert quotient["to"] == "training, 1 deals a pass, full fine-tuning"


def test_a_machine_without_a_gpu_is_told_so(monkeypatch, capsys):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert main(["bench", "--gpu"]) == 2
    assert "bench --gpu needs a GPU that CUDA finds" in capsys.readouterr().err
