"""DPO on pairs of replies that the learner gave to the same position (`pairs`).

Rafailov et al. (2023), by TRL's DPOTrainer. Where an endpoint is configured (SAUDA_ENDPOINT_URL),
its model judges each pair in both orders; one that it holds to be the wrong way round is left out.
Pairs are learnt as often as their grades lie apart (`by_gap`).
"""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sauda.llm.backends.decoding import Sampling
from sauda.llm.backends.served import ENDPOINT, answering, remote
from sauda.llm.types import Generate
from sauda.train import stage
from sauda.train.base import Base
from sauda.train.data.preferences import PairConfig, collect, kept, summary
from sauda.train.losses import scores_on_cpu
from sauda.train.run import LOGGED, Heartbeat, Run, lines
from sauda.train.self_play import Learner

STAGE = "dpo"
FIGURES = {  # our name of each figure of TRL's log that we keep
    **LOGGED,
    "rewards/margins": "margin",
    "rewards/accuracies": "accuracy",
    "rewards/chosen": "chosen",
    "rewards/rejected": "rejected",
}
JUDGING = Sampling(temperature=0.0, tokens=8)


@dataclass(frozen=True)
class Config:
    """What is learnt from which pairs; the defaults are the numbers we report."""

    model: str = "mini"  # toy, mini, 8b, or a folder or repository
    after: str = "grpo"  # the adapter that learns on: one of ours, or a folder
    data: PairConfig = PairConfig()  # noqa: RUF009 (frozen)
    temperature: float = 0.7  # of the replies that are compared and of the games they go on in
    longest: int = 40  # tokens of a reply
    constrained: bool = False  # replies under a grammar, for a base that writes no moves yet
    epochs: int = 1
    batch: int = 8  # pairs a step
    at_once: int = 1  # pairs a pass; one, because its two replies share their prompt
    learning_rate: float = 5e-5
    warmup: float = 0.1  # of the steps; then a cosine to 0
    beta: float = 0.1  # how near the learner stays to the adapter it began with
    clip: float = 1.0  # of the gradient's norm
    checkpoint_every: int = 10  # steps
    gate: int = 48  # hold-out prompts
    probe: int = 0  # training games that every checkpoint's adapter plays
    threads: int = 1  # of torch on a CPU, and players who look for pairs side by side
    seed: int = 0
    trial: bool = False  # the adapter is not to be published
    copies = 1  # of the weights beside those that learn: the player's
    game = "bazaar"


CONFIGS = {"bazaar": Config}  # by game


def train(config: Config, folder: Path | None = None, resume: bool = False) -> dict[str, Any]:
    """Run the stage to its end; see `stage.train`."""
    return stage.train(STAGE, config, folder, resume, _prepare)


def judge(environment: Mapping[str, str] = os.environ) -> Generate | None:
    """The endpoint's model that judges pairs; None where none is configured.

    Raises CannotLoad where it is and does not answer.
    """
    there = remote(environment, JUDGING)
    return answering(there[ENDPOINT]) if ENDPOINT in there else None


def by_gap(pairs: Sequence[Mapping[str, Any]], seed: int) -> list[Mapping[str, Any]]:
    """As many rows as there are `pairs`, drawn from them by their gaps, with replacement.

    A preference says which reply earned more and not how much more; learnt evenly, small gains that
    are frequent outvote losses that are rare and large. Some pairs come often, some never.
    """
    gaps = np.array([pair["gap"] for pair in pairs])
    drawn = np.random.default_rng(seed).choice(len(pairs), len(pairs), p=gaps / gaps.sum())
    return [pairs[number] for number in drawn]


def _prepare(config: Config, run: Run, found: Base, heartbeat: Heartbeat) -> stage.Prepared:
    import torch
    from datasets import Dataset
    from trl import DPOConfig, DPOTrainer

    adapter = stage.after(config)
    heartbeat.status = f"reading the model and its adapter {config.after}"
    network = stage.learner(found, adapter)
    tokenizer = stage.tokenizer_of(found)
    sampling = Sampling(config.temperature, 1.0, config.longest)

    def say(text: str) -> None:
        heartbeat.status = text

    file = run.folder / "pairs.jsonl"
    pairs = kept(file)[: config.data.pairs]
    if len(pairs) < config.data.pairs:
        beside = config.threads if found.device == "cpu" else 1
        seats = [
            Learner(network, tokenizer, found, sampling).player_spec(config.constrained)
            for _ in range(beside)
        ]
        torch.set_num_threads(1)  # a player
        pairs = collect(config.data, seats, file, judge(), say)
        torch.set_num_threads(config.threads)
    if found.device == "cpu":
        network.config.use_cache = False
    arguments = DPOConfig(
        **stage.arguments(config, run, found),
        num_train_epochs=config.epochs,
        per_device_train_batch_size=config.at_once,
        gradient_accumulation_steps=max(1, config.batch // config.at_once),
        beta=config.beta,
        max_length=None,
    )
    rows = [
        {
            "prompt": pair["chat"],
            "chosen": [{"role": "assistant", "content": pair["chosen"]}],
            "rejected": [{"role": "assistant", "content": pair["rejected"]}],
        }
        for pair in by_gap(pairs, config.seed)
    ]
    trainer = DPOTrainer(
        model=network,
        args=arguments,
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
    )
    if found.device == "cpu":
        scores_on_cpu(network.get_base_model())
    first = trainer.train_dataset[0]
    ids = first["prompt_ids"] + first["chosen_ids"]
    labels = [-100] * len(first["prompt_ids"]) + first["chosen_ids"]
    spent = round(sum(row["seconds"] for row in lines(file)), 1)
    told = {
        "pairs": summary(pairs) | {"seconds": spent},
        "sample": stage.sample(ids, labels, tokenizer),
    }
    passes = math.ceil(len(rows) / config.at_once)
    steps = config.epochs * math.ceil(passes / max(1, config.batch // config.at_once))
    return stage.Prepared(stage.quiet(trainer), steps, lambda: told, FIGURES)
