"""Supervised fine-tuning of a role: buyer, seller, or a generalist that speaks for both.

    python -m sauda train roles --role buyer
    python -m sauda train roles --role buyer --no-schedule     # its control
    python -m sauda train roles --role buyer --cycles 1        # a control for the cycles alone
    python -m sauda train roles --role buyer --layer-decay 1   # and for the rates by layer alone

    python -m sauda train roles --role buyer --source craigslist_bargains --data train.json

What is learnt are the role's words in dialogues, turn by turn; what was said before and what the
turn is to do are read. The learning rate has two cycles, and is lower in lower layers. The control
has the same data, first weights and steps, one cycle, and one rate in all layers: the difference of
the two is the effect of the schedule. A control for the cycles keeps the rates by layer, one for
the rates keeps the cycles. Of all checkpoints, the one with the lowest validation loss is kept, and
judged on dialogues that neither training nor that choice has seen.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sauda.language.acts import GENERALIST, SELLING, Dialogue, counts, learnt, sides_of, views
from sauda.llm.model import Model
from sauda.records.store import digest
from sauda.train import stage
from sauda.train.data.dialogues.reading import reported
from sauda.train.data.dialogues.sequences import sequence
from sauda.train.data.dialogues.sources import SOURCES, loaded_from, source_of
from sauda.train.kept_runs import check_place
from sauda.train.losses import scored
from sauda.train.model import FOUR_BITS, Base, LoRA, peft_config, read_base, tokenizer_of
from sauda.train.run import LOGGED, Heartbeat, Run, curve, latest, lines, option, step_of
from sauda.train.schedule import (
    AVERAGE,
    STEP_FIGURES,
    Cycles,
    layer_groups,
    loss_average,
    step_figures,
)
from sauda.train.validation import Validations, dialogue_losses, role_check, spoken

STAGE = "roles"
CONTROL, ONE_CYCLE, ONE_RATE = "control", "one-cycle", "one-rate"  # in the name of a control


@dataclass(frozen=True)
class Config:
    """Settings in the names of transformers' TrainingArguments; the defaults are what we report."""

    role: str = option(
        GENERALIST, "whose turns: buyer, seller (a division: opener, responder), generalist"
    )
    source: str = option("", f"{', '.join(SOURCES)}; without one, the dialogues that are shipped")
    data: str = option("", "local file of the source, as it is published")
    hub: str = option("", "split of the source to download from the Hub, in place of a file")
    no_schedule: bool = option(False, "the control: one cycle, and one rate for all layers")
    model: str = option("mini", "toy, mini, 8b, or a folder or repository")
    four_bits: str = option("gpu", "where the base is in nf4: gpu, always (slow on a CPU), short")
    dialogues: int = option(56, "training dialogues to learn from, each from one side")
    validation_dialogues: int = option(10, "from its own sides, at every checkpoint")
    holdout_dialogues: int = option(32, "from each side, at the end")
    lora: LoRA = LoRA(r=32, lora_alpha=16)  # noqa: RUF009 (frozen)
    lora_dropout: float = 0.1
    cycles: int = option(2, "of the learning rate; 1 is a control for the cycles alone")
    warmup_steps: float = 0.1  # share of a cycle; then a line to 0
    layer_decay: float = option(
        0.95, "rate of a layer as a share of that of the layer above; 1 is a control for this alone"
    )
    smoothing: float = 0.98  # of the running mean of the loss, a step
    per_device_train_batch_size: int = 1  # dialogues differ in length, and none is padded
    gradient_accumulation_steps: int = option(2, "dialogues a step of the optimizer")
    learning_rate: float = option(2e-3, "peak, of the highest layer; high, as the run is short")
    weight_decay: float = 0.02
    max_grad_norm: float = 1.0
    save_steps: int = option(7, "between two checkpoints and validations")
    acceptance_prompts: int = 24  # hold-out turns of its own roles; half as many of another role
    keep_in: str = option("", "copies checkpoints there: OWNER/NAME on the Hub, or file:FOLDER")
    threads: int = option(1, "of torch on a CPU")
    seed: int = option(
        0, "of the first weights, of dropout, and of the choice of dialogues", least=0
    )
    trial: bool = option(False, "keep the adapter in the run's folder")
    copies = 0  # of the weights beside those that learn
    game = "bazaar"

    def __post_init__(self) -> None:
        if self.validation_dialogues < len(self.sides) or self.holdout_dialogues < 1:
            raise ValueError("each of its sides needs a validation dialogue and a hold-out one")
        if self.cycles < 1 or not 0 < self.layer_decay <= 1:
            raise ValueError("there is at least one cycle, and --layer-decay lies in (0, 1]")
        if self.four_bits not in FOUR_BITS:
            raise ValueError(f"--four-bits is {', '.join(FOUR_BITS)}; not {self.four_bits!r}")
        if self.keep_in:
            check_place(self.keep_in)
        _ = self.rates  # raises ValueError where the steps are too few for the cycles

    @property
    def name(self) -> str:
        """The name of the run: roles-buyer, roles-buyer-control, roles-opener-deal_or_no_deal."""
        return "-".join(filter(None, (STAGE, self.role, self.control, self.source)))

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
        return source_of(self.source).agents if self.source else SELLING

    @property
    def sides(self) -> tuple[str, ...]:
        """Those whose turns are learnt; ValueError for a role that the data set has not."""
        return sides_of(self.role, self.agents)

    @property
    def max_steps(self) -> int:
        """Optimizer steps of the run."""
        return math.ceil(self.dialogues / self.gradient_accumulation_steps)

    @property
    def rates(self) -> Cycles:
        """The learning rate over the steps, as a share of its peak; see `Cycles.over`."""
        count = 1 if self.no_schedule else self.cycles
        return Cycles.over(self.max_steps, count, self.warmup_steps)


CONFIGS = {"bazaar": Config}  # by game


def train(config: Config, folder: Path | None = None, resume: bool = False) -> dict[str, Any]:
    """Run the stage to its end, after a report on the dialogues; see `stage.train`.

    Raises ValueError, before anything else, where the dialogues cannot be read or used.
    """
    loaded = loaded_from(config.source, Path(config.data) if config.data else None, config.hub)
    dialogues = reported(loaded)
    return stage.train(config.name, config, folder, resume, partial(prepare, dialogues))


def prepare(
    dialogues: Sequence[Dialogue], config: Config, run: Run, base: Base, heartbeat: Heartbeat
) -> stage.Prepared:
    """A trainer of transformers over the role's dialogues; see `stage.train`."""
    heartbeat.status = "reading the model"
    tokenizer = tokenizer_of(base)
    taught = learnt(dialogues, config.sides, config.dialogues, config.seed)
    sequences = [sequence(view, tokenizer) for view in taught]
    network = _network(config, base)
    count = config.validation_dialogues // len(config.sides)
    seen_often = views(dialogues, config.sides, "validation", count)
    validations = Validations(run, lambda: dialogue_losses(network, tokenizer, seen_often))

    def summary() -> dict[str, Any]:
        first = sequences[0]
        return {
            "stage": STAGE,
            "role": config.role,
            "schedule": not config.control,
            "taught": {
                "dialogues": len(taught),
                **counts(taught),
                "tokens": _token_counts(sequences),
                "sha256": digest([view.chat() for view in taught]),
            },
            "validations": validations.rows(),
            "best_step": validations.best(),
            "sample": stage.sample(first["input_ids"], first["labels"], tokenizer),
        }

    return stage.Prepared(
        _trainer(config, run, base, network, sequences, validations),
        config.max_steps,
        summary,
        (*LOGGED, AVERAGE, *STEP_FIGURES),
        validations.best,
        lambda served: _judged(served, config, dialogues, tokenizer, heartbeat),
        must_pass=False,  # what is measured of a role is kept, whichever way it points
        publishes=not config.control,
    )


def _judged(
    served: Model,
    config: Config,
    dialogues: Sequence[Dialogue],
    tokenizer: Any,
    heartbeat: Heartbeat,
) -> dict[str, Any]:
    """The losses of hold-out dialogues, and replies at some of their turns, checked.

    A specialist plays the other role too; a control is compared in its own roles alone.
    """
    own = config.sides
    sides = own if config.control else config.agents
    judged = {s: views(dialogues, [s], "holdout", config.holdout_dialogues) for s in sides}
    heartbeat.report("measuring the loss of hold-out dialogues")
    network = served.decoder.network  # what is served is what is measured
    losses = dialogue_losses(network, tokenizer, [v for seen in judged.values() for v in seen])
    heartbeat.report("replying to hold-out turns")
    count = {s: config.acceptance_prompts // (len(own) if s in own else 2) for s in sides}
    prompted = [view for side, seen in judged.items() for view in seen[: count[side]]]
    replies = spoken(served, prompted, own)
    return {
        "acceptance": role_check([reply for reply in replies if not reply["off_role"]]),
        "replies": replies,
        "holdout": [row | {"off_role": row["role"] not in own} for row in losses],
    }


def _token_counts(sequences: Sequence[dict[str, list[int]]]) -> dict[str, int]:
    return {
        "all": sum(len(sequence["input_ids"]) for sequence in sequences),
        "in_loss": sum(label != -100 for sequence in sequences for label in sequence["labels"]),
    }


def _network(config: Config, base: Base) -> Any:
    """The base with a new adapter, the same for every run of one seed."""
    from peft import get_peft_model, prepare_model_for_kbit_training
    from transformers import set_seed

    set_seed(config.seed)
    network = read_base(base)
    if base.precision == "nf4":
        network = prepare_model_for_kbit_training(network, base.device != "cpu")
    elif base.device != "cpu":
        network.enable_input_require_grads()  # or checkpointed activations pass no gradient on
    return get_peft_model(network, peft_config(config.lora, config.lora_dropout))


def _trainer(
    config: Config,
    run: Run,
    base: Base,
    network: Any,
    sequences: Sequence[dict[str, list[int]]],
    validations: Validations,
) -> Any:
    """A Trainer with the schedule of `config`, which logs and validates as its callbacks do."""
    import torch
    from transformers import TrainingArguments

    decay = 1.0 if config.no_schedule else config.layer_decay
    groups = layer_groups(network, config.learning_rate, decay, config.weight_decay)
    optimizer = torch.optim.AdamW(groups)
    arguments = stage.arguments(config, run, base) | {"weight_decay": config.weight_decay}
    trainer = _role_trainer()(
        model=network,
        args=TrainingArguments(
            **arguments,
            max_steps=config.max_steps,
            train_sampling_strategy="sequential",
            remove_unused_columns=False,
        ),
        train_dataset=sequences,
        data_collator=_collated,
        optimizers=(optimizer, config.rates.scheduler(optimizer)),
        callbacks=[
            step_figures(base.device),
            loss_average(config.smoothing, _losses_before(run)),
            validations.callback(),
        ],
    )
    return stage.without_printer(trainer)


def _losses_before(run: Run) -> list[float]:
    """The losses of the steps up to the checkpoint from which a run is resumed."""
    checkpoint = latest(run.folder)
    last = 0 if checkpoint is None else step_of(checkpoint)
    return [row["loss"] for row in curve(lines(run.log)) if row["step"] <= last]


def _collated(rows: Sequence[dict[str, list[int]]]) -> dict[str, Any]:
    """One dialogue as tensors of shape (1, tokens)."""
    import torch

    (row,) = rows
    return {key: torch.tensor([values]) for key, values in row.items()}


def _role_trainer() -> Any:
    """A Trainer whose loss counts every learnt token of a step alike, by `losses.scored`."""
    from transformers import Trainer

    class RoleTrainer(Trainer):
        num_tokens = 0
        learnt, entropy, hits = 0, 0.0, 0  # of the step's dialogues

        def compute_loss(
            self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch=None
        ) -> Any:
            scores = scored(model, inputs["input_ids"], inputs["labels"])
            count = len(scores.log_probs)
            self.num_tokens += inputs["input_ids"].numel()
            self.learnt += count
            self.entropy += scores.entropy.sum().item()
            self.hits += int(scores.hits.sum())
            return -scores.log_probs.sum() / (num_items_in_batch or count)

        def log(self, logs: dict[str, float], *args: Any) -> None:
            figures: dict[str, float] = {"num_tokens": self.num_tokens}
            if self.learnt:
                figures["entropy"] = self.entropy / self.learnt
                figures["mean_token_accuracy"] = self.hits / self.learnt
            self.learnt, self.entropy, self.hits = 0, 0.0, 0
            super().log(logs | figures, *args)

    return RoleTrainer
