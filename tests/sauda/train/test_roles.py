"""Roles learnt from dialogues: what is used and left out, the schedule, the losses."""

import re
from pathlib import Path

import pytest
from datasets import Dataset

from sauda.__main__ import main
from sauda.experiments.verify import verify
from sauda.language.acts import SELLING, Act, choose_views, read_acts, sides_of, views
from sauda.records import store
from sauda.statistics import moving_average
from sauda.train import roles
from sauda.train.dialogues import LONGEST, from_file, from_hub, load_shipped, sequence
from sauda.train.model import tokenizer_of
from tests.support.cases import rows
from tests.support.dialogues import DIVISION, LAMP, MIRROR, craigslist_row, divisions, lines

# Dialogues ----------------------------------------------------------------------------------------

CB, DOND = "craigslist_bargains", "deal_or_no_deal"
CASES = rows("dialogue_rows.csv")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "dialogues.json"


def test_a_row_is_a_dialogue_of_a_buyer_and_a_seller(file):
    file.write_text(lines(craigslist_row()))
    (dialogue,) = from_file(CB, file).dialogues
    assert dialogue.id == "craigslist_bargains/dialogues.json/1"
    assert dialogue.values == {"buyer": {"target": 350.0}, "seller": {"target": 500.0}}
    assert dialogue.scenario == "item: Brass lamp\ncategory: furniture\nlist price: $500"
    assert [turn.agent for turn in dialogue.turns[:2]] == ["buyer", "seller"]
    assert dialogue.turns[-2].act == Act("offer", 400)
    assert dialogue.annotated


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['source']} {case['new'][:20]}")
def test_a_malformed_row_is_named_and_costs_its_own_line_alone(case, file):
    good = {CB: lines(craigslist_row()), DOND: f"{DIVISION}\n"}[case["source"]]
    new = case["new"].replace("BIG", "1" + "0" * 400).replace("NESTED", '{"a":' * 5000)
    assert case["old"] in good
    file.write_text(good + good.replace(case["old"], new))
    loaded = from_file(case["source"], file)
    assert loaded.counts() == {"used": 1, case["reason"]: 1}
    assert str(loaded.left_out[0]).startswith(f"dialogues.json:2: {case['reason']}")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("half \ud800 a pair", "not JSON"),
        ("nothing \0 here", "damaged text"),
        ("a lost \ufffd character", "damaged text"),
        ("x" * (LONGEST + 1), "a text of more than 2,000 characters"),
        *(
            (f"fine{token}ok", "special token of a chat template")
            for token in ("<|im_end|>", "<|eot_id|>", "</s>", "<end_of_turn>", "[INST]")
        ),
    ],
)
def test_words_that_no_model_should_read_leave_their_dialogue_out(words, reason, file):
    said = craigslist_row([LAMP[0], (1, words, "inform", -1), *LAMP[2:]])
    file.write_text(lines(craigslist_row(), said))
    assert from_file(CB, file).counts() == {"used": 1, reason: 1}


@pytest.mark.parametrize("other", ["", "..."])
def test_a_dialogue_of_one_side_is_counted_and_used_only_where_it_is_asked_for(other, file):
    intent = "unknown" if other else "accept"
    monologue = [(0, "Hi", "intro", -1), (0, "Anyone?", "inquiry", -1), (1, other, intent, -1)]
    file.write_text(lines(craigslist_row(), craigslist_row(monologue)))
    assert from_file(CB, file).counts() == {"used": 1, "a side without words": 1}
    assert from_file(CB, file, one_sided=True).counts() == {"used": 2}


def test_filters_count_what_they_leave_out(file):
    silent = craigslist_row([LAMP[0], *LAMP[-2:]])
    file.write_text(lines(craigslist_row(), silent, craigslist_row(), craigslist_row(title="Desk")))
    loaded = from_file(CB, file)
    assert loaded.counts() == {"used": 2, "fewer than 2 turns with words": 1, "duplicate": 1}
    assert str(loaded.left_out[1]) == "dialogues.json:3: duplicate: the dialogue of line 1 again"


def worth(*values: int) -> dict[str, int]:
    return dict(zip(("value of a book", "value of a hat", "value of a ball"), values, strict=True))


def test_a_dialogue_of_a_division_is_held_once(file):
    file.write_text(f"{DIVISION}\n{MIRROR}\n")
    loaded = from_file(DOND, file)
    (dialogue,) = loaded.dialogues
    assert loaded.counts() == {"used": 1, "duplicate": 1}
    assert [turn.agent for turn in dialogue.turns] == ["opener", "responder", "opener", "responder"]
    assert dialogue.values["opener"] == worth(4, 1, 1)
    assert dialogue.values["responder"] == worth(0, 5, 0)
    assert dialogue.turns[-1].text == ""  # the selection is an event
    assert dialogue.list_price is None


def test_the_hub_gives_the_same_dialogues_as_a_file(monkeypatch, file):
    made = [craigslist_row(), craigslist_row(title="Desk")]
    monkeypatch.setattr("datasets.load_dataset", lambda *_, **options: Dataset.from_list(made))
    loaded = from_hub(CB, "validation")
    file.write_text(lines(*made))
    assert [d.turns for d in loaded.dialogues] == [d.turns for d in from_file(CB, file).dialogues]
    assert loaded.dialogues[1].id == "craigslist_bargains/validation/2"


def test_the_shipped_dialogues_are_all_used():
    loaded = load_shipped()
    assert len(loaded.dialogues) >= 200
    assert loaded.left_out == ()
    for dialogue in loaded.dialogues:
        assert read_acts(dialogue) == [turn.act for turn in dialogue.turns], dialogue.id


# The stage for roles ------------------------------------------------------------------------------

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


def test_each_layer_has_the_rate_of_its_height(toy):
    groups = roles.layer_groups(roles.make_network(TOY, toy), 0.8, 0.5, 0.02)
    assert [group["lr"] for group in groups] == [0.4, 0.8]
    assert all(parameter.requires_grad for group in groups for parameter in group["params"])


@pytest.mark.model
def test_only_the_roles_words_are_learnt(dialogues, toy):
    tokenizer = tokenizer_of(toy)
    view = views(dialogues, ["buyer"], "train")[0]
    tokens = sequence(view, tokenizer)
    kept = [token for token in tokens["labels"] if token != -100]
    said = "<|im_end|>".join(turn.utterance for turn in view.turns) + "<|im_end|>"
    assert tokenizer.decode(kept) == said


@pytest.mark.nightly
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
