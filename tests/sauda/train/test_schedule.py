"""The learning rate by step and by layer, and the running mean of a loss, in closed form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sauda.statistics import averaged
from sauda.train.schedule import AVERAGE, Cycles, RunningMean, layer_groups, loss_average

CYCLES = Cycles(steps=10, warmup_steps=2, count=2, restart=0.5, floor=0.1)


def network():
    """An embedding, three layers with a bias, a norm and a head."""
    import torch

    class Layer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.proj = torch.nn.Linear(4, 4)

        def forward(self, x):
            return self.proj(x)

    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed_tokens = torch.nn.Embedding(7, 4)
            self.layers = torch.nn.ModuleList(Layer() for _ in range(3))
            self.norm = torch.nn.LayerNorm(4)
            self.lm_head = torch.nn.Linear(4, 7, bias=False)

        def forward(self, input_ids, labels=None):
            x = self.embed_tokens(input_ids)
            for layer in self.layers:
                x = x + layer(x)
            logits = self.lm_head(self.norm(x))
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
            return {"loss": loss, "logits": logits}

    torch.manual_seed(0)
    return Network()


@pytest.mark.parametrize(
    ("step", "factor"),
    [
        (0, 0.0),
        (1, 0.5),
        (2, 1.0),  # the peak
        (6, 0.1 + 0.9 * 4 / 8),
        (9, 0.1 + 0.9 * 1 / 8),
        (10, 0.0),  # the second cycle starts from 0 again
        (11, 0.5 * 0.5),
        (12, 0.5),
        (19, 0.5 * (0.1 + 0.9 * 1 / 8)),
        (20, 0.5 * 0.1),  # after the last cycle
        (99, 0.5 * 0.1),
    ],
)
def test_the_factor_is_the_closed_form(step, factor):
    assert CYCLES.factor(step) == pytest.approx(factor)


def test_the_optimizer_has_the_rates_of_the_closed_form_and_they_restart():
    import torch

    optimizer = torch.optim.AdamW(layer_groups(network(), 0.1, decay=0.5))
    first = [group["lr"] for group in optimizer.param_groups]
    scheduler = CYCLES.scheduler(optimizer)
    for step in range(25):
        rates = [group["lr"] for group in optimizer.param_groups]
        assert rates == pytest.approx([rate * CYCLES.factor(step) for rate in first])
        optimizer.step()
        scheduler.step()
    rises = [CYCLES.factor(step + 1) > CYCLES.factor(step) for step in range(20)]
    assert sum(rises[8:12]) == 2  # a single decay never rises again


def test_a_resumed_scheduler_goes_on_where_it_was():
    import torch

    def fresh():
        optimizer = torch.optim.SGD(network().parameters(), lr=0.1)
        return optimizer, CYCLES.scheduler(optimizer)

    optimizer, scheduler = fresh()
    for _ in range(11):
        optimizer.step()
        scheduler.step()
    again, resumed = fresh()
    again.load_state_dict(optimizer.state_dict())
    resumed.load_state_dict(scheduler.state_dict())
    for _ in range(9):
        for o, s in ((optimizer, scheduler), (again, resumed)):
            o.step()
            s.step()
        assert resumed.get_last_lr() == scheduler.get_last_lr()


@given(st.integers(2, 50), st.integers(1, 4), st.floats(0.1, 1), st.floats(0, 1))
def test_every_cycle_is_the_first_one_scaled(steps, count, restart, floor):
    cycles = Cycles(steps, steps // 3, count, restart, floor)
    for step in range(steps):
        for cycle in range(count):
            expected = restart**cycle * cycles.factor(step)
            assert cycles.factor(cycle * steps + step) == pytest.approx(expected)


@pytest.mark.parametrize(
    "wrong",
    [
        {"steps": 5, "warmup_steps": 5},
        {"steps": 5, "warmup_steps": -1},
        {"steps": 5, "warmup_steps": 1, "count": 0},
        {"steps": 5, "warmup_steps": 1, "restart": 0},
        {"steps": 5, "warmup_steps": 1, "floor": 1.5},
    ],
)
def test_impossible_cycles_are_refused(wrong):
    with pytest.raises(ValueError, match=r"it has more steps|the share of a restart"):
        Cycles(**wrong)


@pytest.mark.parametrize(
    ("steps", "count", "expected"),
    [(28, 2, (14, 2)), (28, 1, (28, 3)), (28, 14, (2, 1)), (29, 2, (15, 2)), (2, 1, (2, 1))],
)
def test_cycles_over_the_steps_of_a_run_are_of_equal_length(steps, count, expected):
    assert Cycles.over(steps, count, 0.1) == Cycles(*expected, count)


def test_a_last_cycle_ends_early_where_the_cycles_do_not_divide_the_steps():
    cycles = Cycles.over(29, 2, 0.1)
    assert cycles.factor(14) == pytest.approx(1 / 13)  # the end of the first cycle
    assert cycles.factor(28) == pytest.approx(2 / 13)  # the last step


@pytest.mark.parametrize(("steps", "count"), [(28, 50), (28, 10), (28, 9), (3, 2), (1, 1)])
def test_every_cycle_has_room_for_a_warm_up_and_a_decay(steps, count):
    with pytest.raises(ValueError, match=f"{steps} steps have no room for both in {count} cycles"):
        Cycles.over(steps, count, 0.1)


def test_each_layer_has_the_rate_of_its_height():
    model = network()
    groups = layer_groups(model, 0.8, decay=0.5, weight_decay=0.02)
    rates = {group["name"]: group["lr"] for group in groups}
    assert rates == pytest.approx(
        {"embedding": 0.1, "layer 0": 0.2, "layer 1": 0.4, "layer 2": 0.8, "output": 0.8}
    )
    learnt = [parameter for group in groups for parameter in group["params"]]
    assert sorted(map(id, learnt)) == sorted(map(id, model.parameters()))
    for group in groups:
        vectors = {parameter.ndim < 2 for parameter in group["params"]}
        assert vectors == {group["weight_decay"] == 0.0}


def test_what_does_not_learn_has_no_group():
    model = network()
    model.embed_tokens.requires_grad_(False)
    model.layers[1].requires_grad_(False)
    names = {group["name"] for group in layer_groups(model, 0.1, decay=0.9)}
    assert names == {"layer 0", "layer 2", "output"}


def test_an_adapter_has_the_rates_of_its_layers():
    from peft import LoraConfig, get_peft_model

    adapted = get_peft_model(network(), LoraConfig(r=2, target_modules=["proj"]))
    groups = layer_groups(adapted, 0.8, decay=0.5)
    rates = {group["name"]: group["lr"] for group in groups}
    assert rates == pytest.approx({"layer 0": 0.2, "layer 1": 0.4, "layer 2": 0.8})


def test_a_model_without_layers_and_an_impossible_decay_are_refused():
    with pytest.raises(ValueError, match="no parameter of the model is in a numbered layer"):
        layer_groups(network().norm, 0.1, decay=0.9)
    with pytest.raises(ValueError, match=r"lies in \(0, 1\], not at 0"):
        layer_groups(network(), 0.1, decay=0)


def test_the_mean_of_equal_losses_is_that_loss_from_the_first_step():
    mean = RunningMean(0.98)
    assert [mean.update(4.0, 1) for _ in range(3)] == pytest.approx([4.0] * 3)


@given(st.lists(st.floats(0, 10), min_size=1, max_size=30))
def test_the_mean_is_the_debiased_average_of_every_loss(losses):
    mean = RunningMean(0.9)
    assert [mean.update(loss, 1) for loss in losses] == pytest.approx(averaged(losses, 0.9))


def test_the_mean_does_not_depend_on_how_often_it_is_told():
    often, rarely = RunningMean(0.9), RunningMean(0.9)
    for loss in (7.0, 3.0):
        for _ in range(5):
            last = often.update(loss, 1)
        assert rarely.update(loss, 5) == pytest.approx(last)


@pytest.mark.parametrize(("loss", "steps"), [(float("nan"), 1), (float("inf"), 1), (2.0, 0)])
def test_a_loss_that_is_none_is_refused(loss, steps):
    with pytest.raises(ValueError, match="a mean takes a finite loss"):
        RunningMean(0.9).update(loss, steps)


@pytest.mark.slow
def test_a_trainer_logs_the_mean_and_a_resumed_one_goes_on(tmp_path):
    from datasets import Dataset
    from transformers import Trainer, TrainingArguments

    rows = [{"input_ids": [i % 7, 1, 2], "labels": [1, 2, i % 7]} for i in range(12)]

    def trained(before=(), **options):
        arguments = TrainingArguments(
            str(tmp_path), max_steps=8, logging_steps=1, save_steps=4, report_to=[],
            per_device_train_batch_size=2, disable_tqdm=True, use_cpu=True, save_strategy="steps",
        )  # fmt: skip
        trainer = Trainer(
            network(), arguments, train_dataset=Dataset.from_list(rows),
            callbacks=[loss_average(0.5, before)],
        )  # fmt: skip
        trainer.train(**options)
        return [row for row in trainer.state.log_history if "loss" in row]

    whole = trained()
    losses = [row["loss"] for row in whole]
    assert [row[AVERAGE] for row in whole] == pytest.approx(averaged(losses, 0.5))
    resumed = trained(losses[:4], resume_from_checkpoint=str(tmp_path / "checkpoint-4"))
    assert [row[AVERAGE] for row in resumed] == pytest.approx([row[AVERAGE] for row in whole])
