"""Distillation of a lab in games of its own; weights in four bits."""

from itertools import count

import pytest

from env import ARENA_TASKS, agent_stream, arena_prompt, get_task
from sauda.llm.engine import Sampling
from sauda.llm.model import base_weights, load, smollm2
from sauda.llm.turn import new_game
from sauda.policies import LABS
from sauda.records.store import read_lines
from sauda.train import distill
from sauda.train.losses import score_tokens
from sauda.train.model import (
    Base,
    Learner,
    find_base,
    read_adapter,
    save_adapter,
    tokenizer_of,
    trainable,
)
from sauda.train.people_rows import conversation
from sauda.train.sft import SFTSettings
from sauda.train.teacher_rows import label_tokens

pytestmark = pytest.mark.xdist_group("model")


@pytest.mark.nightly
@pytest.mark.model
def test_a_lab_learns_the_experts_picks_in_games_of_its_own(tmp_path):
    settings = distill.ArenaDistillSettings(
        model="toy", rows=6, games_at_once=2, first_seed=20_000, save_steps=1, acceptance_prompts=3,
        eval_games=0, init_adapter="", constrained=True, waits=1.0,
    )  # fmt: skip
    learnt = distill.train(settings, tmp_path)
    rows = read_lines(tmp_path / "rows.jsonl")
    assert learnt["rows"]["task"] == dict.fromkeys(sorted(ARENA_TASKS), 2)
    for row in rows[::2]:
        task = get_task(row["task"])
        obs = new_game(task, row["seed"]).observation
        pick = LABS["broker"](obs, agent_stream(task, row["seed"], task.learner, 0))
        assert row["messages"][:2] == arena_prompt.render(obs)
        assert row["labels"] == [arena_prompt.completion(pick, obs)]
    assert [row["deal"] for row in rows] == [0, 1] * 3


# The path of the 8B model, as far as a CPU goes: nf4 weights and LoRA on them ---------------------


LAYERS = 3


@pytest.fixture(scope="module")
def four_bits(tmp_path_factory):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = tmp_path_factory.mktemp("small")
    AutoTokenizer.from_pretrained(smollm2().folder).save_pretrained(folder)
    AutoModelForCausalLM.from_pretrained(
        smollm2().folder, num_hidden_layers=LAYERS, dtype=torch.bfloat16
    ).save_pretrained(folder)
    return Base(str(folder), base_weights(str(folder)), "cpu", "nf4")


@pytest.fixture(scope="module")
def row():
    """A deal of the planner with its labels."""
    deals = (conversation("bazaar/open-3", seed, SFTSettings(passed=1.0)) for seed in count(20_000))
    return next(row for deal in deals for row in deal if len(row.labels) > 1)


@pytest.mark.model
def test_a_lora_learns_on_weights_in_four_bits_and_is_served_beside_them(four_bits, row, tmp_path):
    import torch
    from bitsandbytes.nn import Linear4bit

    torch.manual_seed(0)  # of the adapter; near ties are rounded in another way when it is served
    network, tokenizer = trainable(four_bits, None), tokenizer_of(four_bits)
    held = [m for m in network.modules() if isinstance(m, Linear4bit)]
    assert len(held) == 7 * LAYERS
    state = held[0].weight.quant_state
    assert (state.quant_type, state.nested, state.dtype) == ("nf4", True, torch.bfloat16)

    tokens = label_tokens(row.messages[:3], row.labels[:1], tokenizer)
    ids, labels = (torch.tensor([tokens[name]]) for name in ("input_ids", "labels"))
    learnt = [p for p in network.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(learnt, lr=2e-3)
    losses, weights = [], []
    for _ in range(2):
        loss = -score_tokens(network, ids, labels).log_probs.mean()
        loss.backward()
        losses.append(loss.item())
        weights.append([m.weight.detach().clone() for m in held])  # packed by the first pass
        assert all(p.grad is not None and torch.isfinite(p.grad).all() for p in learnt)
        optimizer.step()
        optimizer.zero_grad()
    assert losses[1] < losses[0]
    assert all(p.dtype == torch.float32 for p in learnt)
    assert all(map(torch.equal, *weights))

    greedy = Sampling(0.0, max_new_tokens=6)
    learner = Learner(network, tokenizer, four_bits, greedy)
    chat = row.messages[:2]
    said = learner(chat, 0)
    save_adapter(network, tmp_path / "adapter", four_bits, {"stage": "distill"})
    served = load(f"{four_bits.name}+{tmp_path / 'adapter'}", "nf4", sampling=greedy)
    assert served.precision == "nf4"
    assert served(chat, 0).text == said.text
    again = trainable(four_bits, tmp_path / "adapter")
    read_adapter(again, tmp_path / "adapter")
    halves = dict(again.named_parameters())
    for name, p in network.named_parameters():
        if p.requires_grad:
            assert torch.equal(halves[name].half(), p.half())


@pytest.mark.parametrize(
    ("free", "setting", "precision"),
    [(10.0, "short", "bf16"), (3.9, "short", "nf4"), (10.0, "gpu", "nf4")],
)
@pytest.mark.model
def test_a_gpu_that_is_short_of_memory_holds_the_weights_in_four_bits(
    four_bits, free, setting, precision, monkeypatch, tmp_path
):
    """`free` counts the weights in bf16: training takes twice that, and once more for a player."""
    import torch

    size = sum(file.stat().st_size for file in four_bits.weights.folder.glob("*.safetensors"))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr("sauda.train.model.free_memory", lambda device: int(free * size))
    base = find_base(four_bits.name, tmp_path, 4, copies=2, four_bits=setting)
    assert (base.device, base.precision) == ("cuda", precision)


@pytest.mark.model
def test_a_template_that_does_not_grow_by_whole_turns_is_refused(four_bits, row):
    """Dates of the day, or thoughts that are cut from earlier turns, would shift every label."""
    shifting = tokenizer_of(four_bits)
    shifting.chat_template = "{{ messages | length }}" + shifting.chat_template
    with pytest.raises(ValueError, match="grow by whole turns"):
        label_tokens(row.messages, row.labels, shifting)
