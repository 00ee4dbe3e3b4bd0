"""The stage for roles: its data, its schedule, a run that is killed, and copies that fail."""

import json
import re
from dataclasses import asdict, replace
from functools import partial

import pytest
from huggingface_hub import HfApi

from benchmarks.page import free_port
from sauda.__main__ import main
from sauda.experiments.roles import NAMES
from sauda.experiments.verify import verify
from sauda.language.acts import PARTS, SELLING, learnt, sides_of, views
from sauda.records import store
from sauda.train import kept_runs, run
from sauda.train.data.dialogues.sequences import sequence
from sauda.train.data.dialogues.sources import shipped
from sauda.train.kept_runs import Keeper, Retries, download, upload
from sauda.train.stages import roles
from sauda.train.validation import Validations
from tests.support.dialogues import craigslist_row, divisions, lines

TOY = roles.Config(
    "buyer", model="toy", dialogues=4, gradient_accumulation_steps=1, validation_dialogues=1,
    holdout_dialogues=2, save_steps=2, acceptance_prompts=2,
)  # fmt: skip


@pytest.fixture(scope="module")
def dialogues():
    return shipped().dialogues[:60]


def test_a_chat_tells_the_other_sides_secret_to_nobody(dialogues):
    for role in SELLING:
        for view in views(dialogues, [role], "train")[:40]:
            first, *others = view.chat()
            (other,) = (side for side in view.dialogue.values if side != role)
            secrets, own = (
                {f"₹{value:,.0f}" for value in view.dialogue.values[side].values()}
                for side in (other, role)
            )
            said = " ".join(turn.text for turn in view.dialogue.turns)
            secrets -= own  # both may have one limit
            assert not [s for s in secrets if s in first["content"]]
            read = " ".join(m["content"] for m in others if m["role"] == "user")
            offered = [s for s in secrets if s in read and s not in said + view.dialogue.scenario]
            assert not offered


def test_a_chat_has_all_that_was_said_before_in_order(dialogues):
    for view in views(dialogues, ["seller"], "holdout"):
        lines = []
        for message in view.chat()[1:]:
            if message["role"] == "assistant":
                lines.append(f"seller: {message['content']}")
            else:
                *heard, intention = message["content"].splitlines()
                lines += heard
                assert re.fullmatch(r"\(.+\.\)", intention)
        last = view.turns[-1]
        assert "\n".join(lines) == f"{last.context}\nseller: {last.utterance}"


def test_no_posting_is_in_two_parts(dialogues):
    groups = [{view.dialogue.group for view in views(dialogues, ["buyer"], part)} for part in PARTS]
    assert all(groups)
    assert len(set.union(*groups)) == sum(map(len, groups))


def test_a_generalist_learns_from_as_many_dialogues_each_from_one_side(dialogues):
    both, buyer = (learnt(dialogues, sides_of(role), 20, 0) for role in ("generalist", "buyer"))
    assert [view.role for view in both] == ["buyer", "seller"] * 10
    assert [view.dialogue.id for view in both] == [view.dialogue.id for view in buyer]
    with pytest.raises(ValueError, match="training dialogues, and 9999 were asked for"):
        learnt(dialogues, ["buyer"], 9999, 0)
    with pytest.raises(ValueError, match="no role 'broker'; roles are buyer, seller, generalist"):
        roles.Config("broker")
    with pytest.raises(ValueError, match="each of its sides needs a validation dialogue"):
        roles.Config("generalist", validation_dialogues=1)


def test_two_cycles_start_anew_and_the_control_has_one():
    config = roles.Config("buyer")
    assert config.max_steps == 28
    factors = [config.rates.factor(step) for step in range(28)]
    assert factors[:14] == factors[14:]
    assert factors[2] == max(factors) == 1
    control = replace(config, no_schedule=True).rates
    assert (control.count, control.steps) == (1, 28)
    assert (config.name, replace(config, no_schedule=True).name) == (
        "roles-buyer", "roles-buyer-control",
    )  # fmt: skip


def test_a_control_for_one_cause_keeps_the_other_and_is_named_for_it():
    config = roles.Config("generalist")
    one_cycle, one_rate = replace(config, cycles=1), replace(config, layer_decay=1.0)
    assert (one_cycle.control, one_cycle.rates.count, one_cycle.layer_decay) == (
        "one-cycle",
        1,
        0.95,
    )
    assert (one_rate.control, one_rate.rates, one_rate.layer_decay) == ("one-rate", config.rates, 1)
    assert one_cycle.name == "roles-generalist-one-cycle"
    both = replace(one_cycle, layer_decay=1.0)
    assert both.control == replace(config, no_schedule=True).control == "control"


@pytest.mark.parametrize("name", NAMES)
def test_a_committed_run_is_the_one_that_the_defaults_describe(name):
    less = {"one-cycle": {"cycles": 1}, "one-rate": {"layer_decay": 1.0}}
    _, role, *control = name.split("-", 2)
    left_out = next((less.get(part, {"no_schedule": True}) for part in control), {})
    config = roles.Config(role, **left_out)
    assert config.name == name
    recorded = store.load(f"training/{name}.json").config
    defaults = json.loads(json.dumps(asdict(config)))
    assert defaults | recorded | {"threads": config.threads} == defaults
    younger = {"source", "data", "hub"}  # than the runs that lack them
    assert defaults.keys() - recorded.keys() in (younger, set())


@pytest.mark.model
def test_only_the_roles_words_are_learnt(dialogues, tmp_path):
    from sauda.train.model import find_base, tokenizer_of

    tokenizer = tokenizer_of(find_base("toy", tmp_path, 1))
    view = views(dialogues, ["buyer"], "train")[0]
    tokens = sequence(view, tokenizer)
    kept = [token for token in tokens["labels"] if token != -100]
    said = "<|im_end|>".join(turn.utterance for turn in view.turns) + "<|im_end|>"
    assert tokenizer.decode(kept) == said


@pytest.mark.model
@pytest.mark.nightly
def test_a_killed_run_ends_as_one_that_was_not_and_is_kept_elsewhere(tmp_path, monkeypatch):
    whole = roles.train(replace(TOY, keep_in=f"file:{tmp_path / 'kept'}"), tmp_path / "whole")
    folder = tmp_path / "killed"
    measure_at = Validations.at

    def dies(self, step):
        if step == 4:
            raise KeyboardInterrupt
        measure_at(self, step)

    with monkeypatch.context() as patch:
        patch.setattr(Validations, "at", dies)
        with pytest.raises(KeyboardInterrupt):
            roles.train(TOY, folder)
    data = roles.train(TOY, folder, resume=True)
    assert data["resumed"] == [2]
    figures = ("loss", "loss_average", "learning_rate", "learning_rate_lowest", "num_tokens")
    for row, other in zip(data["log"], whole["log"], strict=True):
        assert [row[name] for name in figures] == pytest.approx([other[name] for name in figures])
    assert data["validations"] == whole["validations"]
    assert [row["step"] for row in data["validations"]] == [0, 2, 4]
    assert data["adapter"]["sha256"] == whole["adapter"]["sha256"]
    _check_artifact(whole, tmp_path / "whole")
    back = kept_runs.download("whole", f"file:{tmp_path / 'kept'}", tmp_path / "back")
    assert run.latest(back).name == "checkpoint-4"
    assert (back / "adapter" / "adapter_model.safetensors").exists()


def _check_artifact(data, folder):
    recorded = store.load("training/roles-buyer-toy.json", folder)
    assert recorded.data.as_json() == data
    assert verify("training/roles-buyer-toy.json", root=folder) == []
    peak = TOY.learning_rate
    steps = range(len(data["log"]))
    rates = [peak * TOY.rates.factor(step) for step in steps]
    assert [row["learning_rate"] for row in data["log"]] == pytest.approx(rates)
    lowest = [rate * TOY.layer_decay for rate in rates]  # the toy has two layers
    assert [row["learning_rate_lowest"] for row in data["log"]] == pytest.approx(lowest)
    marked = {(row["role"], row["off_role"]) for row in (*data["holdout"], *data["replies"])}
    assert marked == {("buyer", False), ("seller", True)}
    assert data["acceptance"]["n"] == 2
    assert all(row["memory"] > 0 for row in data["log"])


@pytest.mark.model
def test_a_control_keeps_its_figures_and_no_adapter(tmp_path):
    config = replace(TOY, no_schedule=True, dialogues=2, save_steps=1, holdout_dialogues=1)
    data = roles.train(config, tmp_path)
    assert "adapter" not in data
    assert {row["role"] for row in data["holdout"]} == {"buyer"}
    assert all(r["learning_rate"] == r["learning_rate_lowest"] for r in data["log"])
    assert verify("training/roles-buyer-control-toy.json", root=tmp_path) == []


SMALL = ["--model", "toy", "--dialogues", "4", "--gradient-accumulation-steps", "1",
         "--validation-dialogues", "2", "--holdout-dialogues", "1",
         "--save-steps", "2"]  # fmt: skip
FILES = {  # the source's own roles, and its file of a few dialogues
    "craigslist_bargains": (
        SELLING, lines(*(craigslist_row(title=f"Lamp {i}") for i in range(28))) + "not JSON\n",
    ),
    "deal_or_no_deal": (("opener", "responder"), divisions(28)),
}  # fmt: skip


@pytest.mark.model
@pytest.mark.parametrize("source", FILES)
def test_a_role_is_learnt_from_a_file_of_another_data_set(source, tmp_path, capsys):
    (role, other), text = FILES[source]
    file, out = tmp_path / "rows", tmp_path / "run"
    file.write_text(text)
    place = ["--source", source, "--data", str(file), "--out", str(out)]
    assert main(["train", "roles", "--role", role, *SMALL, *place]) == 0
    assert "dialogues, used: 28\n" in capsys.readouterr().out
    name = f"training/roles-{role}-{source}-toy.json"
    recorded = store.load(name, out)
    assert recorded.data.taught.roles == {role: 4}
    assert {(row.role, row.off_role) for row in recorded.data.holdout} == {
        (role, False), (other, True),
    }  # fmt: skip
    assert all(row.dialogue.startswith(f"{source}/rows/") for row in recorded.data.holdout)
    assert recorded.config["data"] == str(file)
    assert verify(name, root=out) == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--source", "craigslist_bargains"], "its place with --data or --hub"),
        (["--data", "rows.json"], "name a data set with --source"),
        (["--source", "ebay", "--data", "rows.json"], "no data set 'ebay'; data sets are"),
        (["--source", "deal_or_no_deal", "--data", "none.txt"], "cannot read none.txt: No such"),
        (["--source", "craigslist_bargains", "--data", "."], "cannot read .: Is a directory"),
        (
            ["--source", "craigslist_bargains", "--data", "columns.json"],
            "no dialogue can be used: columns.json:1: missing column: agent_info",
        ),
        (
            ["--source", "deal_or_no_deal", "--data", "columns.json", "--role", "buyer"],
            "no role 'buyer'; roles are opener, responder, generalist",
        ),
        (["--role", "opener"], "no role 'opener'; roles are buyer, seller, generalist"),
    ],
)
def test_dialogues_that_cannot_be_learnt_from_are_a_sentence_and_no_run(
    options, told, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "columns.json").write_text('{"text": "hello"}\n')
    assert main(["train", "roles", *SMALL, "--out", "run", *options]) == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    assert told in sentence
    assert not (tmp_path / "run").exists()


class Faulty:
    """A destination that fails a few times before it takes a copy."""

    def __init__(self, faults):
        self.left, self.copies = faults, []

    def __call__(self, folder, results):
        if self.left:
            self.left -= 1
            raise ConnectionError("the line broke")
        self.copies.append((folder, results))


def test_a_copy_that_fails_is_tried_again_after_growing_waits(tmp_path):
    waits, copy = [], Faulty(3)
    keeper = Keeper(run.Run(tmp_path), "me/results", copy=copy, sleep=waits.append)
    assert keeper.keep(7)
    assert copy.copies == [(tmp_path, "me/results")]
    assert waits == pytest.approx([1, 2, 4], rel=0.2)
    (line,) = run.lines(keeper.record)
    assert line == {"step": 7, "kept": True, "errors": ["ConnectionError: the line broke"] * 3}


def test_a_copy_that_never_succeeds_is_recorded_and_ends_nothing(tmp_path, capsys):
    waits = []
    retries = Retries(attempts=4, base=10, cap=15)
    keeper = Keeper(run.Run(tmp_path), "me/results", retries, Faulty(99), waits.append)
    assert not keeper.keep(7)
    assert waits == pytest.approx([10, 15, 15], rel=0.2)
    assert max(waits) <= 18
    assert run.lines(keeper.record)[0]["kept"] is False
    assert "step 7 was not copied to me/results: ConnectionError" in capsys.readouterr().out


def test_a_hub_that_is_down_ends_no_training(tmp_path):
    """The Hub's client raises errors of its own kind, which are no OSError."""
    (tmp_path / "run").mkdir()
    down = HfApi(endpoint=f"http://127.0.0.1:{free_port()}", token=False)
    keeper = Keeper(
        run.Run(tmp_path / "run"), "me/results", Retries(attempts=2),
        partial(upload, api=down), sleep=lambda seconds: None,
    )  # fmt: skip
    assert not keeper.keep(7)
    (line,) = run.lines(keeper.record)
    assert len(line["errors"]) == 2
    assert all(
        error.startswith("OSError: me/results cannot be reached") for error in line["errors"]
    )
    with pytest.raises(OSError, match="cannot be reached"):
        download("run", "me/results", tmp_path, down)


def test_a_torn_checkpoint_does_not_replace_the_copy_that_is_there(tmp_path):
    checkpoint = tmp_path / "run" / "checkpoint-2"
    checkpoint.mkdir(parents=True)
    (checkpoint / "state").write_text("whole")
    run.seal(checkpoint)
    kept = f"file:{tmp_path / 'kept'}"
    retries = Retries(attempts=1)
    assert Keeper(run.Run(tmp_path / "run"), kept, retries).keep(2)
    (checkpoint / "state").write_text("torn")
    assert not Keeper(run.Run(tmp_path / "run"), kept, retries).keep(2)
    assert (tmp_path / "kept" / "run" / "checkpoint-2" / "state").read_text() == "whole"
