"""SERVED: the teacher's rows and their tokens, the loss, the acceptance check; distillation."""

import json
from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from env import ARENA_TASKS, CATALOGUE, Accept, Offer, agent_stream, arena_prompt, get_task
from env.arena.prompt import completion
from env.bazaar.prompt import percent_of, render, unit
from sauda.games import ARENA
from sauda.llm.engine import Decoder, Sampling
from sauda.llm.model import base_weights, load, smollm2
from sauda.llm.turn import new_game
from sauda.llm.types import Reply
from sauda.policies import LABS
from sauda.records.seeds import TRAINED
from sauda.records.store import read_lines
from sauda.train import distill, sft
from sauda.train.checks import acceptance, fault_in, holdout_states
from sauda.train.losses import groups_of_similar_length, score_tokens, shared_prefix
from sauda.train.model import (
    Base,
    Learner,
    find_base,
    read_adapter,
    read_base,
    save_adapter,
    tokenizer_of,
    trainable,
)
from sauda.train.people_rows import conversation, make_rows, teach
from sauda.train.sft import SFTSettings
from sauda.train.teacher_rows import (
    ArenaRowSettings,
    arena_rows,
    label_tokens,
    round_action,
    summarize_rows,
)
from tests.support.models import Canned

SMALL = sft.SFTSettings(rows=30, teacher="sauda.policies.bazaar:linear")  # for its speed
pytestmark = pytest.mark.xdist_group("model")


@pytest.fixture(scope="module")
def sft_rows():
    return make_rows(SMALL)


@pytest.fixture(scope="module")
def seen():
    games = (("bazaar/open-3", 10_001), ("bazaar/people", 10_000), ("bazaar/package", 10_000))
    return [state for name, seed in games for state in teach(name, seed, SMALL)]


def test_a_rounded_price_is_within_a_percent_and_never_turns_a_gain_into_a_loss(seen):
    for state in seen:
        obs = state.obs
        for price in np.linspace(1, obs.budget, 40):
            action = round_action(obs, Offer(obs.priced(price)))
            if isinstance(action, Accept):
                assert percent_of(obs, price) >= percent_of(obs, obs.ask)
            else:
                assert abs(action.price - price) <= max(0.01 * unit(obs), 1)
                assert action.price <= obs.budget or action.price == obs.bid


@pytest.mark.slow
def test_rows_are_the_same_each_time_and_nothing_is_in_them_that_is_kept_for_evaluation(sft_rows):
    assert make_rows(SMALL) == sft_rows
    assert all(row.seed in TRAINED[10_000:] for row in sft_rows)
    every = [item.name for item in CATALOGUE]
    texts = [row.messages[1]["content"] for row in sft_rows]
    listed = [next(name for name in every if text.startswith(f"{name}, ")) for text in texts]
    assert {every.index(name) % 4 for name in listed} == {0, 1, 2}
    counted = summarize_rows(sft_rows)
    assert sum(counted["task"].values()) == counted["rows"] == len(sft_rows)
    assert sum(counted["moves"].values()) == counted["completions"] > len(sft_rows)
    with pytest.raises(ValueError, match="too few training seeds"):
        make_rows(replace(SMALL, first_seed=TRAINED[-1]))
    with pytest.raises(ValueError, match="too few training seeds"):
        arena_rows(ArenaRowSettings(rows=900, first_seed=TRAINED[-1]))


@pytest.mark.model
def test_learnt_completions_follow_the_served_prompts(toy, sft_rows):
    """Each follows the tokens of `render` at its state, up to where the move made is another."""
    tokenizer = tokenizer_of(toy)
    decoder = Decoder(read_base(toy), tokenizer)
    row = next(row for row in sft_rows if row.labels[0])
    sequence = label_tokens(row.messages, row.labels, tokenizer)
    ids, labels = sequence["input_ids"], sequence["labels"]
    learnt = set()
    for state in teach(row.task, row.seed, SMALL):
        prompt = decoder.prompt_ids(render(state.obs))
        assert ids[: len(prompt)] == prompt
        made, label = (
            tokenizer(f"{text}<|im_end|>", add_special_tokens=False)["input_ids"]
            for text in (state.completion, state.label)
        )
        place = range(len(prompt), len(prompt) + len(made))
        assert [ids[i] for i in place] == made
        pairs = enumerate(zip(made, label, strict=False))
        same = next((n for n, (a, b) in pairs if a != b), len(label) - 1)
        learnt |= set(place[: same + 1])
        assert [labels[i] for i in place[: same + 1]] == label[: same + 1]
    assert learnt == {i for i, label in enumerate(labels) if label != -100}


@pytest.mark.model
@pytest.mark.parametrize("checkpointing", [False, True])
def test_the_loss_and_its_gradients_are_those_of_the_whole_computation(toy, checkpointing):
    """Rows of one beginning and other ends and lengths; beside transformers' own loss."""
    import torch

    torch.manual_seed(1)
    network = read_base(toy)
    if checkpointing:
        network.train().gradient_checkpointing_enable()
    ids = torch.randint(5, 900, (5, 60))
    ids[:, :12] = ids[0, :12]
    labels = ids.clone()
    labels[:, :20] = -100
    mask = torch.ones_like(ids)
    for row, length in enumerate((60, 24, 55, 12, 28)):  # the fourth has nothing to learn
        labels[row, length:], mask[row, length:] = -100, 0
    log_probs, entropy, hits, _ = score_tokens(network, ids, labels)
    (-log_probs.mean()).backward()
    ours = {name: p.grad.clone() for name, p in network.named_parameters()}
    network.zero_grad()
    loss = network(input_ids=ids, attention_mask=mask, labels=labels).loss
    loss.backward()
    assert len(log_probs) == len(entropy) == len(hits) == (labels != -100).sum()
    assert -log_probs.mean().item() == pytest.approx(loss.item(), rel=1e-5)
    assert shared_prefix(ids, labels) == 11
    groups = [rows for rows, _ in groups_of_similar_length([60, 24, 55, 13, 28])]
    assert groups == [[0, 2], [4, 1], [3]]
    for name, p in network.named_parameters():
        torch.testing.assert_close(ours[name], p.grad, rtol=1e-3, atol=1e-6)


def test_the_check_names_foreign_letters_loops_and_replies_without_an_end():
    assert fault_in(Reply('{"offer":45,"say":"Bhaiya, # mein?"}', "", 20, "object")) == ""
    assert fault_in(Reply('{"offer":45,"say":"भाई, #..."}', "", 20, "object")) == ""
    assert "CJK" in fault_in(Reply('{"offer":45,"say":"好的"}', "", 20, "object"))
    assert "repeats" in fault_in(Reply("no no no no no", "", 5, "stop"))
    assert "does not end" in fault_in(Reply("I would like to", "", 64, "length"))


@pytest.mark.model
def test_a_lab_learns_the_planners_actions(tmp_path):
    settings = sft.ArenaSFTSettings(
        model="toy", rows=24, acceptance_prompts=3, eval_games=0, max_steps=3
    )
    data = sft.train(settings, tmp_path)
    assert data["rows"]["completions"] == 24
    learnt = "".join(token["text"] for token in data["sample"] if token["in_loss"])
    assert json.loads(learnt.partition("<|im_end|>")[0])


def test_the_acceptance_check_counts_actions_that_the_rules_accept():
    actions = {
        ARENA.prompt.render(state.obs)[1]["content"]: completion(state.action, state.obs)
        for state in holdout_states("arena", 6)
    }
    theft = '{"action_type":"allocate_to_job","job_id":"j_0_0","block_ids":["b_1_0"]}'
    for write, valid, accepted, passed in (
        (lambda messages, seed: actions[messages[1]["content"]], 1.0, 1.0, True),
        (lambda messages, seed: theft, 1.0, 0.0, True),
        (lambda messages, seed: "I would rather wait.", 0.0, 0.0, False),
    ):
        report = acceptance(Canned(write, "stop"), "arena", list(holdout_states("arena", 6)))
        assert (report["valid"], report["accepted"], report["passed"]) == (valid, accepted, passed)


# Distillation of a lab in games of its own; weights in four bits


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
