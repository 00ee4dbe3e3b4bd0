"""The stage for roles: its data, its schedule, its losses, and the files it learns from."""

import json
import re
from dataclasses import asdict

import pytest

from sauda.__main__ import main
from sauda.experiments.runs import NAMES
from sauda.experiments.verify import verify
from sauda.language.acts import SELLING, choose_views, sides_of, views
from sauda.records import store
from sauda.statistics import moving_average
from sauda.train import roles
from sauda.train.dialogues import load_shipped, sequence
from sauda.train.model import find_base, tokenizer_of
from tests.support.cases import cases
from tests.support.dialogues import craigslist_row, divisions, lines

TOY = roles.RoleSettings(
    role="buyer", model="toy", dialogues=4, gradient_accumulation_steps=1, validation_dialogues=1,
    holdout_dialogues=2, save_steps=2, acceptance_prompts=2,
)  # fmt: skip


@pytest.fixture(scope="module")
def dialogues():
    return load_shipped().dialogues[:60]


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


def test_a_generalist_learns_from_as_many_dialogues_each_from_one_side(dialogues):
    both, buyer = (
        choose_views(dialogues, sides_of(role), 20, 0) for role in ("generalist", "buyer")
    )
    assert [view.role for view in both] == ["buyer", "seller"] * 10
    assert [view.dialogue.id for view in both] == [view.dialogue.id for view in buyer]
    with pytest.raises(ValueError, match="training dialogues, and 9999 were asked for"):
        choose_views(dialogues, ["buyer"], 9999, 0)
    with pytest.raises(ValueError, match="no role 'broker'; roles are buyer, seller, generalist"):
        roles.RoleSettings(role="broker")
    with pytest.raises(ValueError, match="each of its sides needs a validation dialogue"):
        roles.RoleSettings(validation_dialogues=1)


@pytest.mark.parametrize(
    ("changes", "name", "cycles", "decay"),
    [
        ({}, "roles-buyer", 2, 0.95),
        ({"no_schedule": True}, "roles-buyer-control", 1, 0.95),
        ({"cycles": 1}, "roles-buyer-one-cycle", 1, 0.95),
        ({"layer_decay": 1.0}, "roles-buyer-one-rate", 2, 1),
        ({"layer_decay": 1.0, "cycles": 1}, "roles-buyer-control", 1, 1),
    ],
)
def test_a_control_is_named_for_what_it_leaves_out(changes, name, cycles, decay):
    settings = roles.RoleSettings(role="buyer", **changes)
    assert (settings.name, settings.cycle_count, settings.layer_decay) == (name, cycles, decay)
    factors = [settings.rate_factor(step) for step in range(settings.max_steps)]
    length, warmup = settings.cycle
    assert factors[:length] == factors[-length:]
    assert [step for step, x in enumerate(factors) if x == 1] == [
        cycle * length + warmup for cycle in range(cycles)
    ]
    assert factors[0] == settings.rate_factor(settings.max_steps) == 0
    assert factors[length - 1] == pytest.approx(1 / (length - warmup))


def test_each_layer_has_the_rate_of_its_height(tmp_path):
    base = find_base("toy", tmp_path, 1)
    groups = roles.layer_groups(roles.make_network(TOY, base), 0.8, 0.5, 0.02)
    assert [group["lr"] for group in groups] == [0.4, 0.8]
    assert all(parameter.requires_grad for group in groups for parameter in group["params"])


@pytest.mark.parametrize("name", NAMES)
def test_a_committed_run_is_the_one_that_the_defaults_describe(name):
    less = {"one-cycle": {"cycles": 1}, "one-rate": {"layer_decay": 1.0}}
    _, role, *control = name.split("-", 2)
    left_out = next((less.get(part, {"no_schedule": True}) for part in control), {})
    config = roles.RoleSettings(role=role, **left_out)
    assert config.name == name
    recorded = store.load(f"training/{name}.json").config
    defaults = json.loads(json.dumps(asdict(config)))
    for setting in recorded.keys() - {"threads", "keep_in"}:
        assert recorded[setting] == defaults[setting], setting


@pytest.mark.model
def test_only_the_roles_words_are_learnt(dialogues, tmp_path):
    tokenizer = tokenizer_of(find_base("toy", tmp_path, 1))
    view = views(dialogues, ["buyer"], "train")[0]
    tokens = sequence(view, tokenizer)
    kept = [token for token in tokens["labels"] if token != -100]
    said = "<|im_end|>".join(turn.utterance for turn in view.turns) + "<|im_end|>"
    assert tokenizer.decode(kept) == said


@pytest.mark.model
def test_a_run_keeps_the_checkpoint_of_the_lowest_validation_loss(tmp_path):
    data = roles.train(TOY, tmp_path)
    assert store.load("training/roles-buyer-toy.json", tmp_path).data.as_json() == data
    assert verify("training/roles-buyer-toy.json", root=tmp_path) == []
    assert [row["step"] for row in data["validations"]] == [0, 2, 4]
    losses = {row["step"]: row["loss"] for row in data["validations"][1:]}
    assert data["best_step"] == min(losses, key=losses.get)
    log = data["log"]
    rates = [TOY.learning_rate * TOY.rate_factor(step) for step in range(len(log))]
    assert [row["learning_rate"] for row in log] == pytest.approx(rates)
    lowest = [rate * TOY.layer_decay for rate in rates]  # the toy has two layers
    assert [row["learning_rate_lowest"] for row in log] == pytest.approx(lowest)
    means = moving_average([row["loss"] for row in log], TOY.smoothing)
    assert [row["loss_average"] for row in log] == means
    marked = {(row["role"], row["off_role"]) for row in (*data["holdout"], *data["replies"])}
    assert marked == {("buyer", False), ("seller", True)}


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


@pytest.mark.parametrize(("options", "told"), cases("train_refused.csv", "dialogues"))
def test_dialogues_that_cannot_be_learnt_from_are_a_sentence_and_no_run(
    options, told, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "columns.json").write_text('{"text": "hello"}\n')
    assert main(["train", "roles", *SMALL, "--out", "run", *options.split()]) == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    assert told in sentence
    assert not (tmp_path / "run").exists()
