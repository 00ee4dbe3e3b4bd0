"""The path of the 8B model, as far as a CPU goes: nf4 weights, LoRA on them, Llama 3.1's template.

The weights are those of the small model's first layers; the tokenizer is the small model's, with
the special tokens, the splitting into words and a chat template of Llama 3.1's form.
"""

from copy import copy
from dataclasses import replace

import pytest

from env import get_task
from sauda.games.bazaar_prompt import completion, render
from sauda.llm.engine import Sampling, prompt_ids
from sauda.llm.model import base_weights, load, smollm2
from sauda.llm.registry import get_policy
from sauda.llm.turn import PlayerSpec, new_game, play_games
from sauda.train.distill import Teacher, collate, play_shared, soft_tokens
from sauda.train.losses import soft_cross_entropy
from sauda.train.model import (
    Base,
    Learner,
    find_base,
    read_adapter,
    save_adapter,
    tokenizer_of,
    trainable,
)
from tests.support.training import Bidder

pytestmark = [pytest.mark.xdist_group("model"), pytest.mark.model]

# As Llama 3.1's: dates in the system turn, texts stripped, a header before each turn.
LLAMA = """{{- bos_token }}
{%- if messages[0]['role'] == 'system' %}
    {%- set system = messages[0]['content'] | trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system = '' %}
{%- endif %}
{{- '<|start_header_id|>system<|end_header_id|>\\n\\n' }}
{{- 'Cutting Knowledge Date: December 2023\\nToday Date: 26 Jul 2024\\n\\n' }}
{{- system + '<|eot_id|>' }}
{%- for message in messages %}
    {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' }}
    {{- message['content'] | trim + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}"""
WORDS = (  # how Llama 3 splits text before it merges bytes
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
LAYERS = 3
MARKS = ["<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"]


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
def llama(four_bits):
    """The small model's tokenizer with the template and the special tokens of Llama 3.1."""
    from tokenizers import Regex
    from tokenizers.pre_tokenizers import ByteLevel, Sequence, Split

    tokenizer = tokenizer_of(four_bits)
    tokenizer.backend_tokenizer.pre_tokenizer = Sequence(
        [Split(Regex(WORDS), "isolated"), ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.add_special_tokens({"additional_special_tokens": MARKS})
    tokenizer.bos_token, tokenizer.eos_token = MARKS[0], MARKS[-1]
    tokenizer.chat_template = LLAMA
    return tokenizer


@pytest.fixture(scope="module")
def row():
    """A deal of a script with its labels."""
    task = get_task("bazaar/open")
    teacher = Teacher(task, get_policy(task, "linear"), 1.5, 1)
    return next(play_shared(teacher, [20_000], None, 1.0, (0,)))


def test_a_lora_learns_on_weights_in_four_bits_and_is_served_beside_them(four_bits, row, tmp_path):
    import torch
    from bitsandbytes.nn import Linear4bit

    network, tokenizer = trainable(four_bits, None), tokenizer_of(four_bits)
    held = [m for m in network.modules() if isinstance(m, Linear4bit)]
    assert len(held) == 7 * LAYERS
    state = held[0].weight.quant_state
    assert (state.quant_type, state.nested, state.dtype) == ("nf4", True, torch.bfloat16)

    first = replace(row, messages=row.messages[:3], labels=row.labels[:1], own=row.own[:1])
    ids, places, tokens, chances, _ = collate([soft_tokens(first, tokenizer, 2, 2.0)])
    learnt = [p for p in network.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(learnt, lr=2e-3)
    losses, weights = [], []
    for _ in range(2):
        loss, *_ = soft_cross_entropy(network, ids, places, tokens, chances)
        loss.mean().backward()
        losses.append(loss.mean().item())
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


def test_a_prompt_of_llama_3_1_grows_by_whole_turns(llama):
    """So that a game is one sequence, and what was read once stays read."""
    task = get_task("bazaar/open")
    game = new_game(task, 20_000)
    texts = [f'{{"offer":{percent}}}' for percent in range(30, 60, 3)]
    play_games([game], PlayerSpec(Bidder(llama, *texts)))
    prompts = [prompt_ids(render(turn.obs), llama) for turn in game.turns]
    end = llama.convert_tokens_to_ids("<|eot_id|>")
    assert len(prompts) > 2
    for prompt, after, turn in zip(prompts, prompts[1:], game.turns, strict=False):
        reply = llama(completion(turn.action, turn.obs), add_special_tokens=False)["input_ids"]
        assert after[: len(prompt) + len(reply) + 1] == [*prompt, *reply, end]
    assert llama.decode(prompts[0]).count("Today Date") == 1


def test_a_template_that_does_not_grow_by_whole_turns_is_refused(llama, row):
    """Dates of the day, or thoughts that are cut from earlier turns, would shift every label."""
    turns = "{%- for message in messages %}"
    shifting = copy(llama)
    shifting.chat_template = LLAMA.replace(turns, "{{- messages | length }}" + turns)
    with pytest.raises(ValueError, match="grow by whole turns"):
        soft_tokens(row, shifting, 2, 2.0)
