"""Supervised fine-tuning of a role: buyer, seller, or a generalist that speaks for both.

    python -m sauda train roles --role buyer
    python -m sauda train roles --role buyer --no-schedule     # its control
    python -m sauda train roles --role buyer --cycles 1        # a control for the cycles alone
    python -m sauda train roles --role buyer --layer-decay 1   # and for the rates by layer alone

    python -m sauda train roles --role buyer --source craigslist_bargains --data train.json

The supervised tokens are the role's words in dialogues, turn by turn; the prompt holds the earlier
turns and what the turn is to do. The learning rate has two cycles, and is lower in lower layers.
The control has the same data, initial weights and steps, but one cycle and one rate in all layers:
the difference between the two is the effect of the schedule. A control for the cycles keeps the
rates by layer, one for the rates keeps the cycles. Of all checkpoints, the one with the lowest
validation loss is kept, and judged on dialogues that neither training nor that choice has seen.
"""

import math
import re
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from sauda.language import acts
from sauda.llm.model import Model
from sauda.records.store import digest
from sauda.statistics import best_step, loss_and_perplexity, moving_average
from sauda.train import common, model
from sauda.train.checks import fault_in, reply_to
from sauda.train.common import option
from sauda.train.dialogues import SOURCES, load_dialogues, report_use, sequence, source_of
from sauda.train.losses import score_tokens

CONTROL, ONE_CYCLE, ONE_RATE = "control", "one-cycle", "one-rate"  # in the name of a control
ROLES_LOGGED = (*common.LOGGED, "loss_average", "learning_rate_lowest", "step_time", "memory")
LEAST_SAID = 0.8  # share of replies that must name the price of the thought, and no other
MOST_BROKEN = 0.05  # share of replies that may be broken text
LAYER = re.compile(r"\.(?:layers|h|blocks)\.(\d+)\.")
TOY = {"dialogues": 8, "validation_dialogues": 2, "holdout_dialogues": 4, "save_steps": 2}


@dataclass(frozen=True, kw_only=True)
class RoleSettings(common.StageSettings):
    """Settings in the names of transformers' TrainingArguments; the defaults are what we report."""

    role: str = option(
        "buyer, seller (of a division: opener, responder), or generalist", acts.GENERALIST
    )
    source: str = option(f"{', '.join(SOURCES)}; without one, the shipped dialogues", "")
    data: str = option("local file of the source, as it is published", "")
    hub: str = option("split of the source to download from the Hub, not a file", "")
    no_schedule: bool = option("the control: one cycle, and one rate for all layers", False)
    four_bits: str = option("where the base is in nf4: gpu, always (slow on a CPU), short", "gpu")
    dialogues: int = option("training dialogues to learn from, each from one side", 56)
    validation_dialogues: int = option("from its own sides, at every checkpoint", 10)
    holdout_dialogues: int = option("from each side, at the end", 32)
    lora: model.LoRA = model.LoRA(r=32, lora_alpha=16)  # noqa: RUF009 (frozen)
    lora_dropout: float = 0.1
    cycles: int = option("of the learning rate; 1 is a control for the cycles alone", 2)
    warmup_steps: float = 0.1  # share of a cycle; then a line to 0
    layer_decay: float = option(
        "rate of a layer as a share of that of the layer above; 1 is a control", 0.95
    )
    smoothing: float = 0.98  # of the running mean of the loss, per step
    per_device_train_batch_size: int = 1  # dialogues differ in length, and none is padded
    gradient_accumulation_steps: int = option("dialogues per step of the optimizer", 2)
    learning_rate: float = 2e-3  # of the highest layer; high, as the run is short
    weight_decay: float = 0.02
    save_steps: int = 7  # each checkpoint has a validation
    acceptance_prompts: int = 24  # hold-out turns of its own roles; half as many of another role
    stage: ClassVar[str] = "roles"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.validation_dialogues < len(self.sides) or self.holdout_dialogues < 1:
            raise ValueError("each of its sides needs a validation dialogue and a hold-out one")
        if not 0 < self.layer_decay <= 1:
            raise ValueError(f"--layer-decay lies in (0, 1], not at {self.layer_decay}")
        if self.four_bits not in model.FOUR_BITS:
            raise ValueError(f"--four-bits is {', '.join(model.FOUR_BITS)}; not {self.four_bits!r}")
        length, warmup = self.cycle
        last = self.max_steps - (self.cycle_count - 1) * length
        if last <= warmup:
            raise ValueError(
                "every cycle has a warm-up and a decay, and "
                f"{self.max_steps} steps have no room for both "
                f"in {self.cycle_count} cycles of {length}; ask for fewer cycles or more steps"
            )

    @property
    def is_trial(self) -> bool:
        """Also a run on a data set that is not shipped: its words are not ours to publish."""
        return super().is_trial or bool(self.source)

    @property
    def name(self) -> str:
        """The name of the run: roles-buyer, roles-buyer-control, roles-opener-deal_or_no_deal."""
        parts = (self.stage, self.role, self.control, self.source)
        return common.run_name("-".join(filter(None, parts)), self.model, seed=self.seed)

    @property
    def control(self) -> str:
        """What a control leaves out, as its name has it; "" for a run with the whole schedule."""
        one_cycle, one_rate = self.cycles == 1, self.layer_decay == 1
        if self.no_schedule or (one_cycle and one_rate):
            return CONTROL
        return ONE_CYCLE if one_cycle else ONE_RATE if one_rate else ""

    @property
    def agents(self) -> tuple[str, ...]:
        """The two sides of the dialogues; ValueError for an unknown data set."""
        return source_of(self.source).agents if self.source else acts.SELLING

    @property
    def sides(self) -> tuple[str, ...]:
        """The sides whose turns are supervised; ValueError for a role that the data set lacks."""
        return acts.sides_of(self.role, self.agents)

    @property
    def max_steps(self) -> int:
        """Optimizer steps of the run."""
        return math.ceil(self.dialogues / self.gradient_accumulation_steps)

    @property
    def cycle_count(self) -> int:
        """The cycles of the learning rate."""
        return 1 if self.no_schedule else self.cycles

    @property
    def cycle(self) -> tuple[int, int]:
        """Steps of a cycle of the learning rate and of its warm-up, both rounded up."""
        length = math.ceil(self.max_steps / self.cycle_count)
        return length, math.ceil(self.warmup_steps * length)

    def rate_factor(self, step: int) -> float:
        """The learning rate of `step`, from 0, as a share of its peak.

        Each cycle is a linear warm-up and a linear decay. transformers' restarts have the warm-up
        once and decay by a cosine. The last cycle ends early where the steps do not fill it.
        """
        length, warmup = self.cycle
        cycle, place = divmod(step, length)
        if cycle >= self.cycle_count:
            return 0.0
        if place < warmup:
            return place / warmup
        return (length - place) / (length - warmup)


SETTINGS = (RoleSettings,)


def train(settings: RoleSettings, folder: Path | None = None, resume: bool = False) -> dict:
    """Run the stage to its end, after a report on the dialogues.

    Raises ValueError, before anything else, where the dialogues cannot be read or used.
    """
    file = Path(settings.data) if settings.data else None
    dialogues = report_use(load_dialogues(settings.source, file, settings.hub))
    run = common.start_run(settings, folder, resume)
    tokenizer = model.tokenizer_of(run.base)
    taught = acts.choose_views(dialogues, settings.sides, settings.dialogues, settings.seed)
    sequences = [sequence(view, tokenizer) for view in taught]
    network = make_network(settings, run.base)
    count = settings.validation_dialogues // len(settings.sides)
    validation = acts.views(dialogues, settings.sides, "validation", count)
    trainer = make_trainer(run, network, tokenizer, sequences, validation)
    common.train_to_end(run, trainer)

    steps = common.log_steps(trainer.state.log_history)
    means = moving_average([row["loss"] for row in steps], settings.smoothing)
    for row, mean in zip(steps, means, strict=True):
        row["loss_average"] = mean
    validations = [  # of the base model and of every checkpoint
        {"step": row["step"]}
        | {n: row[f"eval_{n}"] for n in ("dialogues", "tokens", "loss", "perplexity")}
        for row in trainer.state.log_history
        if "eval_loss" in row
    ]
    best = best_step(validations)
    model.read_adapter(network, run.folder / f"checkpoint-{best}")
    served = common.save_and_load(run, trainer, ROLES_LOGGED)
    in_loss = [label != -100 for row in sequences for label in row["labels"]]
    figures = judge_role(served, settings, dialogues, tokenizer) | {
        "role": settings.role,
        "schedule": not settings.control,
        "taught": {
            "dialogues": len(taught),
            **acts.counts(taught),
            "tokens": {"all": len(in_loss), "in_loss": sum(in_loss)},
            "sha256": digest([view.chat() for view in taught]),
        },
        "validations": validations,
        "best_step": best,
        "sample": common.sample(sequences[0]["input_ids"], sequences[0]["labels"], tokenizer),
    }
    # What is measured of a role is kept, whichever way it points; of a control, figures alone.
    publishes = not settings.control
    return common.save_run(run, trainer, figures, ROLES_LOGGED, publishes, must_pass=False)


def make_network(settings: RoleSettings, base: model.Base) -> Any:
    """The base with a new adapter, the same for every run of one seed."""
    from peft import get_peft_model, prepare_model_for_kbit_training
    from transformers import set_seed

    set_seed(settings.seed)
    network = model.read_base(base)
    if base.precision == "nf4":
        network = prepare_model_for_kbit_training(network, base.device != "cpu")
    elif base.device != "cpu":
        network.enable_input_require_grads()  # or checkpointed activations pass no gradient on
    return get_peft_model(network, model.peft_config(settings.lora, settings.lora_dropout))


def make_trainer(
    run: common.Run,
    network: Any,
    tokenizer: Any,
    sequences: Sequence[dict[str, list[int]]],
    validation: Sequence[acts.View],
) -> Any:
    """A Trainer with the schedule of the settings, which validates at every checkpoint."""
    import torch
    from torch.optim.lr_scheduler import LambdaLR
    from transformers import TrainingArguments, default_data_collator

    settings = run.settings
    decay = 1.0 if settings.no_schedule else settings.layer_decay
    groups = layer_groups(network, settings.learning_rate, decay, settings.weight_decay)
    optimizer = torch.optim.AdamW(groups)
    arguments = {
        "weight_decay": settings.weight_decay,
        "max_steps": settings.max_steps,
        "train_sampling_strategy": "sequential",
        "remove_unused_columns": False,
        "eval_strategy": "steps",
        "eval_steps": settings.save_steps,
        "eval_on_start": not (run.resume and common.last_checkpoint(run.folder)),
        "metric_for_best_model": "loss",  # its checkpoint is not removed
    }
    return role_trainer()(
        model=network,
        args=TrainingArguments(**common.training_arguments(run) | arguments),
        train_dataset=sequences,
        eval_dataset=validation,
        processing_class=tokenizer,
        data_collator=default_data_collator,
        optimizers=(optimizer, LambdaLR(optimizer, lambda step: settings.rate_factor(step))),
        callbacks=[step_figures(run.base.device)],
    )


def layer_groups(
    network: Any, learning_rate: float, decay: float, weight_decay: float
) -> list[dict[str, Any]]:
    """The adapter's parameters as groups of an optimizer, from the lowest layer up.

    Layer l of L has the rate learning_rate * decay ** (L - 1 - l).
    """
    layers: dict[int, list[Any]] = defaultdict(list)
    for name, parameter in network.named_parameters():
        if parameter.requires_grad:
            layers[int(LAYER.search(name)[1])].append(parameter)
    return [
        {
            "params": layers[layer],
            "lr": learning_rate * decay ** (max(layers) - layer),
            "weight_decay": weight_decay,
        }
        for layer in sorted(layers)
    ]


def role_trainer() -> Any:
    """A Trainer whose loss counts every supervised token of a step alike, by `losses.score_tokens`.

    Its evaluation is `dialogue_losses` of its `eval_dataset`, dialogues from one side.
    """
    from transformers import Trainer

    class RoleTrainer(Trainer):
        num_tokens = 0
        learnt, entropy, hits = 0, 0.0, 0  # of the step's dialogues

        def compute_loss(
            self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch=None
        ) -> Any:
            scores = score_tokens(model, inputs["input_ids"], inputs["labels"])
            count = len(scores.log_probs)
            self.num_tokens += inputs["input_ids"].numel()
            self.learnt += count
            self.entropy += scores.entropy.sum().item()
            self.hits += int(scores.hits.sum())
            return -scores.log_probs.sum() / (num_items_in_batch or count)

        def log(self, logs: dict[str, float], *args: Any) -> None:
            if "loss" in logs:
                logs = logs | {
                    "num_tokens": self.num_tokens,
                    "entropy": self.entropy / self.learnt,
                    "mean_token_accuracy": self.hits / self.learnt,
                }
                self.learnt, self.entropy, self.hits = 0, 0.0, 0
            super().log(logs, *args)

        def evaluate(self, *args: Any, **options: Any) -> dict[str, float]:
            rows = dialogue_losses(self.model, self.processing_class, self.eval_dataset)
            figures = {"dialogues": len(rows), "tokens": sum(row["tokens"] for row in rows)}
            figures |= loss_and_perplexity(rows)
            self.log(metrics := {f"eval_{name}": x for name, x in figures.items()})
            self.control = self.callback_handler.on_evaluate(
                self.args, self.state, self.control, metrics
            )
            return metrics

    return RoleTrainer


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
            self.figures |= {"step_time": time.monotonic() - self.began, "memory": taken / 2**30}

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            if "loss" in logs:
                state.log_history[-1] |= self.figures

    return StepFigures()


def judge_role(
    served: Model, settings: RoleSettings, dialogues: Sequence[acts.Dialogue], tokenizer: Any
) -> dict[str, Any]:
    """The losses of hold-out dialogues, and replies at some of their turns, checked.

    A specialist plays the other role too; a control is compared in its own roles alone.
    """
    taught = settings.sides
    sides = taught if settings.control else settings.agents
    judged = {s: acts.views(dialogues, [s], "holdout", settings.holdout_dialogues) for s in sides}
    print("measuring the loss of hold-out dialogues", flush=True)
    network = served.decoder.network  # what is served is what is measured
    losses = dialogue_losses(network, tokenizer, [v for seen in judged.values() for v in seen])
    print("replying to hold-out turns", flush=True)
    count = {s: settings.acceptance_prompts // (len(taught) if s in taught else 2) for s in sides}
    prompted = [view for side, seen in judged.items() for view in seen[: count[side]]]
    replies = speak(served, prompted, taught)
    return {
        "acceptance": role_check([reply for reply in replies if not reply["off_role"]]),
        "replies": replies,
        "holdout": [row | {"off_role": row["role"] not in taught} for row in losses],
    }


def dialogue_losses(
    network: Any, tokenizer: Any, views: Sequence[acts.View]
) -> list[dict[str, Any]]:
    """Per view: its dialogue and role, its supervised tokens, and the sum of their losses in nats.

    The network is in evaluation mode meanwhile: no dropout.
    """
    import torch

    was_training = network.training
    network.eval()
    rows = []
    with torch.no_grad():
        for view in views:
            tokens = sequence(view, tokenizer)
            ids, labels = (
                torch.tensor([tokens[key]], device=network.device)
                for key in ("input_ids", "labels")
            )
            log_probs = score_tokens(network, ids, labels).log_probs
            rows.append(
                {
                    "dialogue": view.dialogue.id,
                    "role": view.role,
                    "tokens": len(log_probs),
                    "nats": -log_probs.double().sum().item(),
                }
            )
    network.train(was_training)
    return rows


def speak(
    model: Model, views: Sequence[acts.View], taught: Sequence[str], batch_size: int = 12
) -> list[dict[str, Any]]:
    """A reply of the model to one turn of each view, and the act that is read from it.

    `taught` lists the roles the model was trained for; "off_role" marks other roles. View k uses
    its turn k modulo its number of turns, so that openings and ends occur as well.
    """
    asked = [(view, number % len(view.turns)) for number, view in enumerate(views)]
    chats = [view.chat()[: 2 * turn + 2] for view, turn in asked]
    rows = []
    for (view, turn), reply in zip(asked, reply_to(model, chats, batch_size), strict=True):
        example = view.turns[turn]
        reply_turn = acts.Turn(view.role, reply.text.strip())
        turns = view.dialogue.turns
        heard = replace(view.dialogue, turns=(*turns[: example.turn], reply_turn))
        act = acts.read_acts(heard)[-1] if reply_turn.text else None
        rows.append(
            {
                "dialogue": view.dialogue.id,
                "turn": example.turn,
                "role": view.role,
                "off_role": view.role not in taught,
                "intention": example.intention,
                "text": reply.text,
                "meant": asdict(
                    turns[example.turn].act or acts.read_acts(view.dialogue)[example.turn]
                ),
                "read": act and asdict(act),
                "tokens": reply.tokens,
                "fault": fault_in(reply),
            }
        )
    return rows


def role_check(replies: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The acceptance check over replies of `speak`; `passed` is whether the words can be used.

    "valid" is the share whose price is that of the thought, or which name none where it has none;
    "same_kind" the share that is read as the act of the thought.
    """
    heard = [reply for reply in replies if reply["read"] is not None]
    same_price = sum(reply["read"]["price"] == reply["meant"]["price"] for reply in heard)
    same_kind = sum(reply["read"]["intent"] == reply["meant"]["intent"] for reply in heard)
    faults = [reply["fault"] for reply in replies if reply["fault"]]
    n = len(replies)
    return {
        "n": n,
        "valid": round(same_price / n, 4),
        "same_kind": round(same_kind / n, 4),
        "tokens": round(sum(reply["tokens"] for reply in replies) / n, 2),
        "faults": faults,
        "passed": same_price >= LEAST_SAID * n and len(faults) <= MOST_BROKEN * n,
    }
