"""Teacher rows, the log and checkpoints of a run, the exact loss, a kill in the middle.

What trains here is the toy: a random Llama of two layers with the small model's tokenizer.
"""

import errno
import json
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from safetensors import SafetensorError

from env import CATALOGUE, Accept, Offer, begin, get_task
from sauda import __main__ as command_line
from sauda.commands.train import configured
from sauda.experiments.verify import verify
from sauda.games.bazaar_prompt import LETTERS, parse, render, shown, unit
from sauda.llm.engine import Decoder
from sauda.llm.model import BYTES, TRAINED, CannotLoad, load
from sauda.llm.registry import player_spec
from sauda.llm.types import Reply
from sauda.records import store
from sauda.records.kinds import FILES
from sauda.records.seeds import SPLITS
from sauda.train import run as runs
from sauda.train import stage
from sauda.train.buyer_lines import LINES, situation
from sauda.train.checks import fault_in, spread
from sauda.train.data.teacher import (
    DataConfig,
    Mix,
    from_lines,
    grouped,
    rounded,
    rows,
    summary,
    taught,
    to_lines,
    tokens,
    written,
)
from sauda.train.losses import groups_of_similar_length, scored, shared_prefix
from sauda.train.model import (
    ADAPTER_CONFIG,
    ADAPTER_WEIGHTS,
    PARAMETERS,
    find_base,
    read_base,
    save_adapter,
    trainable,
)
from sauda.train.run import Stopped
from sauda.train.stages import sft
from tests.support.training import KILLED

ROOT = Path(__file__).parents[3]
SMALL = DataConfig(rows=30)
pytestmark = pytest.mark.xdist_group("model")


@pytest.fixture(scope="module")
def sft_rows():
    return rows(SMALL)


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return find_base("toy", tmp_path_factory.mktemp("toy"), 4)


@pytest.fixture(scope="module")
def seen():
    games = (
        ("bazaar/open", 10_000),
        ("bazaar/open", 10_001),
        ("bazaar/rushed", 10_000),
        ("classic/amazon_realistic", 10_000),
    )
    return [
        state
        for name, seed in games
        for state in taught(get_task(name), seed, "linear", "plain", SMALL)
    ]


def test_there_are_lines_for_every_situation_in_every_register():
    every = [line for kinds in LINES.values() for lines in kinds.values() for line in lines]
    assert len(every) == len(set(every)) >= 60
    assert len({tuple(kinds) for kinds in LINES.values()}) == 1
    for line in every:
        assert re.fullmatch(f"[{LETTERS}]{{1,60}}", line), line


def test_every_line_means_the_move_it_goes_with(seen):
    """Written with each line that suits it, a move is read back as it is, price and all."""
    met = set()
    for state in seen:
        for register, kinds in LINES.items():
            wanted = rounded(state.obs, state.move)
            kind = situation(state.obs, wanted)
            for number in range(len(kinds[kind])):
                kind, text = written(state.obs, wanted, register, Fixed(number))
                move = parse(text, state.obs)
                assert replace(move, message="") == wanted, text
                assert move.message
                met.add(kind)
    assert met >= {"first", "more", "walk", "accept"}


@pytest.mark.slow
def test_no_row_has_a_listing_or_a_seller_type_that_is_kept_for_evaluation(sft_rows):
    every = [item.name for item in CATALOGUE]
    texts = [row.messages[1]["content"] for row in sft_rows]
    listed = [next(name for name in every if text.startswith(f"{name}, ")) for text in texts]
    kept = {every.index(name) % 4 for name in listed}
    stances = [
        begin(get_task(r.task), r.seed).state.private["seller"].get("stance") for r in sft_rows
    ]
    assert kept == {0, 1, 2}
    assert {stance.type.name for stance in stances if stance} == {"firm", "hasty", "bluffer"}
    evaluated = [begin(get_task("bazaar/open"), seed).state for seed in SPLITS["holdout"][:200]]
    assert {every.index(s.table.item.name) % 4 for s in evaluated} == {0, 1, 2, 3}
    assert "fair" in {s.private["seller"]["stance"].type.name for s in evaluated}


class Fixed:
    """A generator that draws one number."""

    def __init__(self, number: int) -> None:
        self.number = number

    def integers(self, high: int) -> int:
        return self.number % high


def test_a_rounded_price_is_within_a_percent_and_never_turns_a_gain_into_a_loss(seen):
    for state in seen:
        obs = state.obs
        for price in np.linspace(1, obs.budget, 40):
            action = rounded(obs, Offer(obs.priced(price)))
            if isinstance(action, Accept):
                assert shown(obs, price) >= shown(obs, obs.ask)
            else:
                assert abs(action.price - price) <= max(0.01 * unit(obs), 1)
                assert action.price <= obs.budget or action.price == obs.bid


def test_a_bid_within_a_percent_of_an_affordable_ask_takes_it(seen):
    affordable = [state.obs for state in seen if state.obs.ask <= state.obs.budget]
    assert affordable
    for obs in affordable:
        near, far = (Offer(obs.priced(obs.ask - p * obs.opening_ask / 100)) for p in (1, 3))
        assert rounded(obs, near, near=1) == Accept()
        assert isinstance(rounded(obs, far, near=1), Offer)


@pytest.mark.slow
def test_rows_are_the_same_each_time_keep_to_training_seeds_and_are_counted(sft_rows):
    assert rows(SMALL) == sft_rows
    assert all(10_000 <= row.seed < 50_000 for row in sft_rows)
    counted = summary(sft_rows)
    assert sum(counted["task"].values()) == counted["rows"] == len(sft_rows)
    assert sum(counted["moves"].values()) == counted["completions"] > len(sft_rows)
    assert from_lines(to_lines(sft_rows)) == sft_rows
    with pytest.raises(ValueError, match="too few training seeds"):
        rows(replace(SMALL, first_seed=49_999))


@pytest.mark.slow
def test_a_teacher_that_accepts_or_leaves_is_labelled_so():
    mixes = (Mix("bazaar/rushed", 0.5, "wait"), Mix("bazaar/open", 0.5, "belief"))
    counted = summary(rows(DataConfig(rows=40, mixes=mixes)))
    assert counted["moves"]["accept"] == counted["kind"]["accept"] > 0
    assert counted["moves"]["walk"] == counted["kind"]["walk"] > 0


@pytest.mark.slow
def test_a_row_is_a_deal_as_it_was_played_and_only_the_teachers_moves_are_learnt(sft_rows):
    kinds = [kind for row in sft_rows for kind in row.kinds]
    assert kinds.count("") > 0.1 * len(kinds)
    for row in sft_rows:
        assert [m["role"] for m in row.messages] == [
            "system", *["user", "assistant"] * len(row.kinds)
        ]  # fmt: skip
        assert any(row.kinds)


@pytest.mark.model
def test_learnt_completions_follow_the_served_prompts(toy, sft_rows):
    """Each learnt completion follows the tokens of `render` at its state, and nothing else is."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(toy.weights.folder)
    decoder = Decoder(read_base(toy), tokenizer)
    row = sft_rows[0]
    sequence = tokens(row, tokenizer)
    ids, labels = sequence["input_ids"], sequence["labels"]
    states = taught(get_task(row.task), row.seed, "belief", row.register, SMALL)
    learnt = set()
    for state in states:
        prompt = decoder.prompt_ids(render(state.obs))
        assert ids[: len(prompt)] == prompt
        text = f"{state.completion}<|im_end|>"
        reply_ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        place = range(len(prompt), len(prompt) + len(reply_ids))
        if state.kind:
            learnt |= set(place)
            assert [labels[i] for i in place] == reply_ids
    assert learnt == {i for i, label in enumerate(labels) if label != -100}


def test_batches_hold_rows_of_like_length_and_every_row_once():
    rng = np.random.default_rng(0)
    lengths = rng.integers(50, 250, 203)
    order = grouped(lengths, 10, rng)
    assert sorted(order) == list(range(203))
    spans = [np.ptp(lengths[order[i : i + 10]]) for i in range(0, 200, 10)]
    assert np.mean(spans) < 40 < np.ptp(lengths)


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
    log_probs, entropy, hits, _ = scored(network, ids, labels)
    (-log_probs.mean()).backward()
    ours = {name: p.grad.clone() for name, p in network.named_parameters()}
    network.zero_grad()
    loss = network(input_ids=ids, attention_mask=mask, labels=labels).loss
    loss.backward()
    assert len(log_probs) == len(entropy) == len(hits) == (labels != -100).sum()
    assert -log_probs.mean().item() == pytest.approx(loss.item(), rel=1e-5)
    assert shared_prefix(ids, labels) == 11
    assert [rows for rows, _ in groups_of_similar_length([60, 24, 55, 13, 28])] == [
        [0, 2],
        [4, 1],
        [3],
    ]
    for name, p in network.named_parameters():
        torch.testing.assert_close(ours[name], p.grad, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize(
    ("steps", "chosen"),
    [
        ([], []),
        ([50], [50]),
        (list(range(50, 501, 50)), list(range(50, 501, 50))),
        (list(range(50, 801, 50)), list(range(100, 801, 100))),
        ([2, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14], [2, 6, 8, 10, 12, 14]),
    ],
)
def test_checkpoints_to_evaluate_are_spread_up_to_the_last(steps, chosen):
    assert spread(steps, 10) == chosen


@pytest.mark.model
def test_a_run_that_is_killed_goes_on_and_ends_as_if_it_had_not_been(tmp_path):
    config = KILLED
    whole = sft.train(config, tmp_path / "whole")
    folder = tmp_path / "killed"
    code = (
        "import sys; from pathlib import Path; from sauda.train.stages import sft;"
        "from tests.support.training import KILLED; sft.train(KILLED, Path(sys.argv[1]))"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(folder)], cwd=ROOT, stderr=subprocess.DEVNULL
    )
    while len(runs.lines(folder / "log.jsonl")) < 5 and child.poll() is None:
        time.sleep(0.02)
    child.send_signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    folder = folder.rename(tmp_path / "elsewhere")  # as a job's next attempt finds it
    data = sft.train(config, folder, resume=True)
    assert [row["step"] for row in data["log"]] == [row["step"] for row in whole["log"]]
    assert data["resumed"][0] >= 2
    for row, other in zip(data["log"], whole["log"], strict=True):
        assert row["loss"] == pytest.approx(other["loss"], rel=1e-4)
        assert row["num_tokens"] == other["num_tokens"]
    assert data["adapter"]["sha256"] == whole["adapter"]["sha256"]
    assert [probe["step"] for probe in data["checkpoint_evaluations"]] == [2, 4, 6, 7]
    assert data["checkpoint_evaluations"] == whole["checkpoint_evaluations"]
    again = sft.train(config, folder, resume=True)  # there is nothing left to train
    assert (again["log"], again["adapter"]) == (data["log"], data["adapter"])
    assert store.load("training/sft-toy.json", folder).data.as_json() == again
    assert verify("training/sft-toy.json", root=folder) == []
    assert len(data["log"]) == sft.steps_of(config, data["rows"]["rows"])
    with pytest.raises(Stopped, match="there is a run"):
        sft.train(config, folder)
    with pytest.raises(Stopped, match="started with another save_steps"):
        sft.train(replace(config, save_steps=8), folder, resume=True)
    adapter = folder / "adapters" / "sft-toy"
    size = (folder / "base" / "model.safetensors").stat().st_size
    assert size == pytest.approx(PARAMETERS["toy"] * BYTES["fp32"], rel=0.01)
    assert load(f"{folder / 'base'}+{adapter}").sha256.endswith(data["adapter"]["sha256"][:16])
    trained = json.loads((adapter / TRAINED).read_text())
    (adapter / TRAINED).write_text(json.dumps(trained | {"base_sha256": "0" * 64}))
    with pytest.raises(CannotLoad, match="was trained on weights 0000"):
        load(f"{folder / 'base'}+{adapter}")


DAMAGES = {
    "weights cut short": lambda f: (f / ADAPTER_WEIGHTS).write_bytes(
        (f / ADAPTER_WEIGHTS).read_bytes()[:900]
    ),
    "no weights": lambda f: (f / ADAPTER_WEIGHTS).unlink(),
    "config cut short": lambda f: (f / ADAPTER_CONFIG).write_text('{"r": 8'),
    "another rank": lambda f: (f / ADAPTER_CONFIG).write_text(
        (f / ADAPTER_CONFIG).read_text().replace('"r": 8', '"r": 4')
    ),
    "trained.json cut short": lambda f: (f / TRAINED).write_text("{"),
}


@pytest.mark.model
@pytest.mark.parametrize("harm", DAMAGES)
def test_a_damaged_adapter_is_one_clear_sentence_to_train_on_and_to_play(toy, tmp_path, harm):
    save_adapter(trainable(toy, None), tmp_path, toy, {})
    DAMAGES[harm](tmp_path)
    for used in (
        lambda: trainable(toy, tmp_path),
        lambda: load(f"{toy.weights.folder}+{tmp_path}", precision="fp32"),
    ):
        with pytest.raises(CannotLoad) as refused:
            used()
        assert str(tmp_path) in str(refused.value)
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "full",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        SafetensorError("I/O error: No space left on device"),
        RuntimeError("[enforce fail at inline_container.cc:603] . unexpected pos 64 vs 0"),
    ],
)
def test_a_full_disk_is_one_clear_sentence_and_what_was_done_is_kept(tmp_path, full):
    with (
        pytest.raises(Stopped, match="there is no checkpoint yet"),
        stage.disk_errors_explained(tmp_path),
    ):
        raise full
    checkpoint = tmp_path / "checkpoint-4"
    checkpoint.mkdir()
    runs.seal(checkpoint)
    with (
        pytest.raises(Stopped, match="checkpoint-4 is kept"),
        stage.disk_errors_explained(tmp_path),
    ):
        raise full


def test_errors_that_are_not_about_the_disk_are_not_explained_as_such(tmp_path):
    for other in (RuntimeError("shapes differ"), FileNotFoundError("x"), ValueError("y")):
        with pytest.raises(type(other)), stage.disk_errors_explained(tmp_path):
            raise other


def test_a_run_that_was_refused_early_leaves_nothing_in_the_way(tmp_path):
    runs.open_run(tmp_path, {"max_steps": 8}, resume=False)
    run = runs.open_run(tmp_path, {"max_steps": 4}, resume=False)
    runs.append(run.log, {"begun": 0})
    with pytest.raises(Stopped, match="there is a run"):
        runs.open_run(tmp_path, {"max_steps": 4}, resume=False)


def test_a_run_goes_on_with_other_threads_and_with_nothing_else_changed(tmp_path):
    runs.open_run(tmp_path, {"max_steps": 4, "threads": 1}, resume=False)
    assert runs.open_run(tmp_path, {"max_steps": 4, "threads": 2}, resume=True).folder == tmp_path
    with pytest.raises(Stopped, match="started with another max_steps"):
        runs.open_run(tmp_path, {"max_steps": 8, "threads": 1}, resume=True)


def test_a_line_half_written_by_a_kill_is_cut_off_and_none_before_it(tmp_path):
    log = tmp_path / "log.jsonl"
    runs.append(log, {"begun": 0})
    runs.append(log, {"step": 1, "loss": 2.0})
    with log.open("a") as file:
        file.write('{"step": 2, "lo')
    assert len(runs.lines(log)) == 2
    runs.append(log, {"begun": 1})
    assert runs.lines(log) == [{"begun": 0}, {"step": 1, "loss": 2.0}, {"begun": 1}]


@pytest.mark.parametrize("known", [e for e in FILES if e.kind == "training_run/1"])
def test_a_committed_run_is_the_one_that_its_registered_command_makes(known):
    """But for the threads, which belong to the machine, and the tasks, of which some are gone.

    A setting added later has its default.
    """
    arguments = known.command.removeprefix("python -m sauda ").split()
    config = configured(command_line.parse(arguments))
    default, today = (json.loads(json.dumps(asdict(c))) for c in (type(config)(), config))
    recorded = store.load(known.file).config
    made = default | recorded | {"threads": today["threads"]}
    assert without_tasks(made) == without_tasks(today)


def without_tasks(config):
    """The settings of a run that name no tasks."""
    if not isinstance(config, dict):
        return config
    names = config.keys() - {"tasks", "shares", "mixes"}
    return {name: without_tasks(config[name]) for name in names}


def test_steps_after_the_checkpoint_gone_on_from_count_once():
    log = [
        {"begun": 0},
        {"step": 1, "x": 0},
        {"step": 2, "x": 0},
        {"begun": 1},
        {"step": 2, "x": 1},
    ]
    assert runs.curve(log) == [{"step": 1, "x": 0}, {"step": 2, "x": 1}]
    assert runs.curve(log[:4]) == [{"step": 1, "x": 0}]
    assert runs.resumed_steps(log) == [1]


def test_a_checkpoint_that_the_log_does_not_tell_of_is_refused(tmp_path):
    run = runs.Run(tmp_path)
    runs.check_log(run, 0)
    with pytest.raises(Stopped, match=r"a checkpoint of step 2 in .*, and log.jsonl lacks"):
        runs.check_log(run, 2)
    for line in ({"begun": 0}, {"step": 1}, {"step": 2}):
        runs.append(run.log, line)
    runs.check_log(run, 2)


def test_a_half_checkpoint_is_passed_over_and_a_damaged_one_refused(tmp_path):
    for step in (2, 4, 10):
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        (folder / "adapter.bin").write_bytes(b"numbers")
        if step < 10:
            runs.seal(folder)
    assert runs.latest(tmp_path).name == "checkpoint-4"
    (tmp_path / "checkpoint-4" / "adapter.bin").write_bytes(b"other")
    with pytest.raises(Stopped, match=r"adapter\.bin is damaged; remove .*checkpoint-4"):
        runs.latest(tmp_path)
    shutil.rmtree(tmp_path / "checkpoint-4")
    assert runs.latest(tmp_path).name == "checkpoint-2"


def test_a_loss_that_is_no_number_stops_and_names_what_is_kept(tmp_path):
    runs.check_finite({"loss": 1.0}, 3, tmp_path)
    folder = tmp_path / "checkpoint-2"
    folder.mkdir()
    runs.seal(folder)
    with pytest.raises(Stopped, match=r"loss is nan at step 3; .*checkpoint-2 is kept"):
        runs.check_finite({"loss": float("nan")}, 3, tmp_path)


def test_a_full_disk_is_refused_before_anything_is_trained(tmp_path):
    with pytest.raises(Stopped, match="make room"):
        runs.check_disk(tmp_path, 2**60)


@pytest.mark.model
def test_a_model_too_large_to_train_here_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("sauda.train.model.free_memory", lambda device: 2**20)
    with pytest.raises(CannotLoad, match="training toy on 4 rows a pass needs about"):
        find_base("toy", tmp_path, 4)


def test_a_heartbeat_beats_within_a_long_step():
    lines: list[str] = []
    with runs.Heartbeat("step 1 of 2", every=0.01, say=lines.append) as heartbeat:
        time.sleep(0.1)
        heartbeat.status = "over"
    assert len(lines) >= 3
    assert "step 1 of 2" in lines[0]
    assert lines[-1] == "over"


def test_the_gate_names_foreign_letters_loops_and_replies_without_an_end():
    assert fault_in(Reply('{"offer":45,"say":"Bhaiya, # mein?"}', "", 20, "object")) == ""
    assert fault_in(Reply('{"offer":45,"say":"भाई, #..."}', "", 20, "object")) == ""
    assert "CJK" in fault_in(Reply('{"offer":45,"say":"好的"}', "", 20, "object"))
    assert "repeats" in fault_in(Reply("no no no no no", "", 5, "stop"))
    assert "does not end" in fault_in(Reply("I would like to", "", 64, "length"))


def test_a_trained_adapter_is_a_part_of_a_contestants_name(tmp_path, monkeypatch):
    monkeypatch.setattr("sauda.llm.model.ADAPTERS", tmp_path)
    with pytest.raises(ValueError, match="no model policy 'mini"):
        player_spec("mini+sft")
    (tmp_path / "sft").mkdir()
    (tmp_path / "sft" / "adapter_config.json").write_text("{}")
    assert player_spec("mini+sft").weights == "mini+sft"
    assert player_spec("mini+sft+constrained").constrained
    assert player_spec("mini+sft+honest").wrapper == player_spec("mini+honest").wrapper
    with pytest.raises(ValueError, match="no model policy"):
        player_spec("null+sft")
