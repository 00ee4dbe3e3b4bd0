"""Distillation: soft labels token by token, shared games, the loss; weights in four bits."""

from dataclasses import replace

import pytest

from env import (
    ARENA_TASKS,
    Accept,
    Offer,
    WalkAway,
    agent_stream,
    arena_prompt,
    begin,
    get_task,
    rollout,
)
from sauda.llm.engine import Sampling
from sauda.llm.model import base_weights, load, smollm2
from sauda.llm.turn import PlayerSpec, new_game
from sauda.players import get_policy
from sauda.policies import LABS
from sauda.records.seeds import is_unseen_listing
from sauda.records.store import read_lines
from sauda.train import distill
from sauda.train.distill import Teacher, along, collate, label, play_shared, soft_tokens
from sauda.train.losses import score_tokens, soft_cross_entropy
from sauda.train.model import (
    Base,
    Learner,
    find_base,
    read_adapter,
    save_adapter,
    tokenizer_of,
    trainable,
)
from sauda.train.teacher_rows import Mix
from tests.support.models import Canned

pytestmark = pytest.mark.xdist_group("model")
OPEN = get_task("bazaar/open-3")
TEACHER = Teacher(OPEN, get_policy(OPEN, "linear"), 1.5, 1)
TOY = distill.DistillSettings(
    model="toy",
    init_adapter="",
    shares=(Mix("bazaar/open-3", 0.75, "linear"), Mix("classic/single_deal", 0.25, "expert")),
    teacher_turns=(0.5, 0.0),
    deals_per_round=8,
    games_at_once=4,
    constrained=True,
    save_steps=1,
    acceptance_prompts=3,
    eval_games=0,
)


LOW = PlayerSpec(Canned(lambda messages, seed: '{"offer":30}'))


def test_a_label_is_normal_around_the_teachers_price_and_sums_to_one():
    obs = new_game(OPEN, 10_001).observation
    chances = label(obs, Offer(0.4 * obs.table.item.list_price), sd=1.5, near=1)
    assert sum(chances.values()) == pytest.approx(1)
    assert max(chances, key=chances.get) == '{"offer":40}'
    assert chances['{"offer":39}'] == pytest.approx(chances['{"offer":41}'], rel=0.1)
    assert '{"offer":60}' not in chances


def test_prices_at_or_above_an_affordable_ask_are_labelled_as_an_acceptance():
    task, naive = get_task("classic/single_deal"), get_policy(OPEN, "boulware")
    states = (turn.observation for turn in rollout(task, naive, 10_000).trajectory("buyer"))
    obs = next(obs for obs in states if obs.ask <= obs.budget)
    chances = label(obs, Offer(obs.ask), sd=1.5, near=1)
    assert chances['{"accept":true}'] > 0.5
    assert label(obs, Accept(), 1.5, 1) == {'{"accept":true}': 1.0}
    assert label(obs, WalkAway(), 1.5, 1) == {'{"walk":true}': 1.0}


def test_the_labels_along_a_reply_are_conditional_on_what_it_says_so_far():
    paths = {(1, 4, 0): 0.5, (1, 4, 9): 0.25, (1, 5, 0): 0.25}
    assert list(along((1, 4, 9), paths)) == [
        ([1], [1.0], 1.0),
        ([4, 5], [0.75, 0.25], 1.0),
        ([0, 9], [pytest.approx(2 / 3), pytest.approx(1 / 3)], 0.75),
    ]
    assert len(list(along((1, 7, 9), paths))) == 2  # nothing is known after a 7
    assert len(list(along((1, 5, 0, 3), paths))) == 3  # nor past the end


def test_the_teacher_moves_in_its_share_of_the_turns_and_labels_all_of_them():
    seeds = range(10_000, 10_012)
    for share in (0.0, 0.5, 1.0):
        rows = list(play_shared(TEACHER, seeds, LOW, share, (0, 0)))
        own = [turn for row in rows for turn in row.own]
        assert {0.0: all(own), 0.5: 0.2 < sum(own) / len(own) < 0.8, 1.0: not any(own)}[share]
        for row in rows:
            replies = [m["content"] for m in row.messages if m["role"] == "assistant"]
            assert len(replies) == len(row.labels) == len(row.own)
            assert all(sum(chances.values()) == pytest.approx(1) for chances in row.labels)
            if share == 0.0:
                assert set(replies[:-1]) <= {'{"offer":30}'}
    assert not any(is_unseen_listing(begin(OPEN, row.seed).state.table.item) for row in rows)


def test_a_label_stands_where_its_reply_does_and_weighs_what_the_reply_so_far_is_worth(toy):
    tokenizer = tokenizer_of(toy)
    row = max(
        play_shared(TEACHER, range(10_000, 10_006), LOW, 0.5, (0, 0)),
        key=lambda row: len(row.labels),
    )
    tokens = soft_tokens(row, tokenizer, late=2, late_weight=3.0)
    ids, labels = tokens["input_ids"], tokens["labels"]
    assert tokenizer.decode(ids) == tokenizer.apply_chat_template(row.messages, tokenize=False)
    starts = [
        i for i, (position, *_) in enumerate(labels) if ids[position + 1] == ids[labels[0][0] + 1]
    ]
    assert len(starts) >= len(row.labels)
    for _, choices, chances, weight in labels:
        assert sum(chances) == pytest.approx(1)
        assert 0 < weight < 3.001
        assert len(choices) > 1 or choices[0] in ids
    first = [labels[i][3] for i in starts]  # of the first token of each reply
    assert first == pytest.approx([1.0, 1.0, *[3.0] * (len(first) - 2)])
    assert min(weight for *_, weight in labels) < 0.5  # of a digit after one the label excludes


@pytest.mark.model
def test_the_loss_of_a_certain_label_is_the_loss_of_its_token(toy):
    import torch

    network = trainable(toy, None)
    ids = torch.tensor([[1, 5, 9, 7], [1, 5, 8, 2]])
    hard = torch.tensor([[-100, -100, 9, 7], [-100, -100, 8, -100]])
    places = torch.tensor([[-100, -100, 0, 1], [-100, -100, 2, -100]])
    tokens = torch.tensor([[9, 0], [7, 0], [8, 0]])
    chances = torch.tensor([[1.0, 0.0]] * 3)
    loss, entropy, _ = soft_cross_entropy(network, ids, places, tokens, chances)
    expected = score_tokens(network, ids, hard)
    torch.testing.assert_close(loss, -expected.log_probs)
    torch.testing.assert_close(entropy, expected.entropy)
    mixed, *_ = soft_cross_entropy(
        network, ids, places, torch.tensor([[9, 3]] * 3), torch.tensor([[0.25, 0.75]] * 3)
    )
    apart = [score_tokens(network, ids.where(places != 0, token), hard.where(places != 0, token))
             for token in (9, 3)]  # fmt: skip
    torch.testing.assert_close(
        mixed[0], -(0.25 * apart[0].log_probs[0] + 0.75 * apart[1].log_probs[0])
    )


@pytest.mark.model
@pytest.mark.nightly
def test_a_run_plays_each_round_anew_on_games_of_its_own(tmp_path):
    first, second = distill.train(TOY, tmp_path)["rounds"]
    assert 0 < first["own"] < first["completions"]
    assert second["own"] == second["completions"]
    assert first["sha256"] != second["sha256"]
    rows = [read_lines(tmp_path / f"rows-{n}.jsonl") for n in (0, 1)]
    seeds = [{row["seed"] for row in some if row["task"] == OPEN.name} for some in rows]
    assert not seeds[0] & seeds[1]


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
    """A deal of a script with its labels."""
    task = get_task("bazaar/open-3")
    teacher = Teacher(task, get_policy(task, "linear"), 1.5, 1)
    return next(play_shared(teacher, [20_000], None, 1.0, (0,)))


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
        soft_tokens(row, shifting, 2, 2.0)
