"""The learning rate over the steps and over the layers, and a running mean of the loss.

`Cycles` restarts warm-up and decay in every cycle: its factor is a function of the step alone, so
that a resumed run has the rates of one that never stopped. `layer_groups` gives lower layers lower
rates. `loss_average` makes the callback that logs the mean, `step_figures` the one that logs the
rates of a step, its time and its memory.
"""

import math
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

_LAYER = re.compile(r"\.(?:layers|h|blocks)\.(\d+)\.")
_EMBEDDING = re.compile(r"(?:^|\.)(?:embed_tokens|embeddings?|wte|wpe)\.")
LOSS, AVERAGE = "loss", "loss_average"  # keys of a trainer's log
STEP_FIGURES = ("learning_rate_lowest", "step_time", "memory")  # and those of a step


@dataclass(frozen=True)
class Cycles:
    """Cycles of a linear warm-up and a linear decay, each starting anew.

    Raises ValueError for lengths and shares out of range.
    """

    steps: int  # of the optimizer, a cycle
    warmup_steps: int  # of those, in which the rate rises from 0
    count: int = 1  # of cycles
    restart: float = 1.0  # peak of a cycle as a share of the peak before
    floor: float = 0.0  # share of its peak to which a cycle falls

    def __post_init__(self) -> None:
        if not 0 <= self.warmup_steps < self.steps or self.count < 1:
            raise ValueError(
                "there is a cycle, and it has more steps than its warm-up; not "
                f"{self.count} of {self.steps} with {self.warmup_steps}"
            )
        if not (0 < self.restart <= 1 and 0 <= self.floor <= 1):
            raise ValueError("the share of a restart lies in (0, 1], that of the floor in [0, 1]")

    @classmethod
    def over(cls, steps: int, count: int, warmup: float) -> "Cycles":
        """`count` cycles over `steps` of the optimizer, of which the share `warmup` is a warm-up.

        A cycle has steps / count steps and its warm-up that share of it, both rounded up. Where the
        cycles do not divide the steps, the last cycle ends early, above its floor. Raises
        ValueError where no step of the last cycle follows its warm-up.
        """
        length = math.ceil(steps / count)
        last, warmup_steps = steps - (count - 1) * length, math.ceil(warmup * length)
        if last <= warmup_steps:
            raise ValueError(
                f"every cycle has a warm-up and a decay, and {steps} steps have no room for both "
                f"in {count} cycles of {length}; ask for fewer cycles or more steps"
            )
        return cls(length, warmup_steps, count)

    def factor(self, step: int) -> float:
        """The learning rate of `step`, counted from 0, as a share of the first peak.

        After the last cycle it stays at that cycle's floor.
        """
        cycle, place = divmod(step, self.steps)
        if cycle >= self.count:
            return self.restart ** (self.count - 1) * self.floor
        peak = self.restart**cycle
        if place < self.warmup_steps:
            return peak * place / self.warmup_steps
        left = (self.steps - place) / (self.steps - self.warmup_steps)
        return peak * (self.floor + (1 - self.floor) * left)

    def scheduler(self, optimizer: Any) -> Any:
        """A scheduler that multiplies the rate of every group of `optimizer` by the factor."""
        from torch.optim.lr_scheduler import LambdaLR

        return LambdaLR(optimizer, self.factor)


def layer_groups(
    model: Any, learning_rate: float, decay: float, weight_decay: float = 0.0
) -> list[dict[str, Any]]:
    """The parameters of `model` that learn, as groups of an optimizer, from the lowest layer up.

    Layer l of L has the rate learning_rate * decay ** (L - 1 - l), the embedding decay ** L, and
    what stands above the layers the whole rate. Vectors, such as biases and the weights of norms,
    have no weight decay and a group of their own. Each group has its place under "name"; a place
    where nothing learns has none. Raises ValueError without layers and for a decay out of (0, 1].
    """
    if not 0 < decay <= 1:
        raise ValueError(f"the decay of the layers lies in (0, 1], not at {decay}")
    layers = 1 + max((_layer_of(name) for name, _ in model.named_parameters()), default=-1)
    if layers == 0:
        raise ValueError("no parameter of the model is in a numbered layer")
    groups: dict[tuple[int, bool], dict[str, Any]] = {}
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            continue
        place, is_vector = _place(name, layers), parameter.ndim < 2
        group = {
            "params": [],
            "lr": learning_rate * decay ** max(0, layers - 1 - place),
            "weight_decay": 0.0 if is_vector else weight_decay,
            "name": _name(place, layers),
        }
        groups.setdefault((place, is_vector), group)["params"].append(parameter)
    return [groups[key] for key in sorted(groups)]


def _layer_of(name: str) -> int:
    match = _LAYER.search(f".{name}")
    return int(match[1]) if match else -1


def _place(name: str, layers: int) -> int:
    """-1 for the embedding, the number of a layer, or `layers` for what stands above them."""
    layer = _layer_of(name)
    return layer if layer >= 0 else -1 if _EMBEDDING.search(name) else layers


def _name(place: int, layers: int) -> str:
    return "embedding" if place < 0 else "output" if place == layers else f"layer {place}"


class RunningMean:
    """The exponential moving average of a loss over optimizer steps, without its start at zero.

    Kingma and Ba (2015), section 3: the sum starts at 0 and is divided by the weight that it has.
    `smoothing` is the weight of what was before, a step. Raises ValueError unless it is in [0, 1).
    """

    def __init__(self, smoothing: float) -> None:
        if not 0 <= smoothing < 1:
            raise ValueError(f"the smoothing of a mean lies in [0, 1), not at {smoothing}")
        self.smoothing, self.total, self.steps = smoothing, 0.0, 0

    def update(self, loss: float, steps: int) -> float:
        """The mean after a loss that is the mean of the last `steps` steps.

        Raises ValueError for a loss that is no number and for less than one step.
        """
        if not math.isfinite(loss) or steps < 1:
            raise ValueError(
                f"a mean takes a finite loss of at least one step, not {loss}, {steps}"
            )
        kept = self.smoothing**steps
        self.total = kept * self.total + (1 - kept) * loss
        self.steps += steps
        return self.total / (1 - self.smoothing**self.steps)


def loss_average(smoothing: float = 0.98, before: Iterable[float] = ()) -> Any:
    """A callback of transformers' Trainer that logs the running mean of its training loss.

    Each logged loss counts for the optimizer steps since the one before, so that the mean does not
    depend on how often the trainer logs. It stands in the log as "loss_average". `before` are the
    losses of the steps that a resumed run has made, one a step.
    """
    from transformers import TrainerCallback

    class LossAverage(RunningMean, TrainerCallback):
        def on_log(
            self, args: Any, state: Any, control: Any, logs: dict[str, Any], **_: Any
        ) -> None:
            steps = state.global_step - self.steps
            if LOSS in logs and steps > 0:
                logs[AVERAGE] = self.update(logs[LOSS], steps)
                state.log_history[-1][AVERAGE] = logs[AVERAGE]

    average = LossAverage(smoothing)
    for loss in before:
        average.update(loss, 1)
    return average


def step_figures(device: str) -> Any:
    """A callback that logs each step's rates, its seconds, and the memory it took, GiB.

    Rates are those that the step was made with, of the highest and of the lowest layer; seconds are
    without validation. On a GPU the memory is the peak of the step, on a CPU that of the process
    after it.
    """
    import psutil
    import torch
    from transformers import TrainerCallback

    class StepFigures(TrainerCallback):
        def __init__(self) -> None:
            self.figures: dict[str, float] = {}
            self.began = 0.0

        def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.began = time.monotonic()
            if device == "cuda":
                torch.cuda.reset_peak_memory_stats()

        def on_pre_optimizer_step(
            self, args: Any, state: Any, control: Any, optimizer: Any = None, **_: Any
        ) -> None:
            rates = [group["lr"] for group in optimizer.param_groups]
            self.figures = {"learning_rate": max(rates), "learning_rate_lowest": min(rates)}

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            on_gpu = device == "cuda"
            taken = (
                torch.cuda.max_memory_allocated() if on_gpu else psutil.Process().memory_info().rss
            )
            self.figures["step_time"] = time.monotonic() - self.began
            self.figures["memory"] = taken / 2**30

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            if "loss" in logs:
                logs |= self.figures

    return StepFigures()
