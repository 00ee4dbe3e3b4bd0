"""Preference learning (DPO) on pairs of replies to the same position, by TRL's DPOTrainer.

    python -m sauda train dpo

Rafailov et al. (2023). The learner gives the replies and plays each to the end of its game; the one
whose game earned more is preferred (`data.preferences`). Where an endpoint is configured
(SAUDA_ENDPOINT_URL), its model judges each pair in both orders and a pair that it would turn round
is left out. Pairs are drawn in proportion to the gap between their grades (`by_gap`).
"""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sauda.llm.backends import ENDPOINT, check_answers, find_servers
from sauda.llm.engine import Sampling
from sauda.llm.types import Generate
from sauda.records.store import read_lines
from sauda.train import stage
from sauda.train.data.preferences import PairConfig, collect, kept, summary
from sauda.train.losses import scores_on_cpu
from sauda.train.model import Base, tokenizer_of, trainable
from sauda.train.run import LOGGED, Heartbeat, Run, option
from sauda.train.self_play import Learner

STAGE = "dpo"
DPO_LOGGED = (
    *LOGGED, "rewards/margins", "rewards/accuracies", "rewards/chosen", "rewards/rejected",
)  # fmt: skip
JUDGING = Sampling(temperature=0.0, max_new_tokens=8)


@dataclass(frozen=True)
class Config:
    """Settings in the names of TRL's DPOConfig; the defaults are the numbers we report."""

    model: str = option("mini", "toy, mini, 8b, or a folder or repository")
    init_adapter: str = option("grpo", "adapter to train further: a stage's name, or a folder")
    data: PairConfig = PairConfig()  # noqa: RUF009 (frozen)
    temperature: float = 0.7  # of the replies, compared or later in the game
    max_new_tokens: int = 40  # of a reply
    constrained: bool = option(False, "replies under a grammar, for a base that writes no moves")
    num_train_epochs: int = option(1, "passes over the pairs")
    # one pair a pass, because its two replies share their prompt
    per_device_train_batch_size: int = option(1, "pairs a pass; lower where memory is short")
    gradient_accumulation_steps: int = option(8, "passes a step of the optimizer")
    learning_rate: float = option(5e-5, "peak, after the warmup")
    warmup_steps: float = 0.1  # below 1 a share of the steps; then a cosine to 0
    beta: float = 0.1  # how near the learner stays to the adapter it started from
    max_grad_norm: float = 1.0
    save_steps: int = 10  # between two checkpoints
    acceptance_prompts: int = 48  # hold-out prompts of the acceptance check
    eval_games: int = 0  # training games that every checkpoint's adapter plays
    threads: int = option(1, "of torch on a CPU, and players who look for pairs side by side")
    seed: int = option(0, "of the draws of pairs and of their order", least=0)
    trial: bool = option(False, "keep the adapter in the run's folder")
    copies = 1  # of the weights beside those that learn: the player's
    game = "bazaar"


CONFIGS = {"bazaar": Config}  # by game


def train(config: Config, folder: Path | None = None, resume: bool = False) -> dict[str, Any]:
    """Run the stage to its end; see `stage.train`."""
    return stage.train(STAGE, config, folder, resume, prepare)


def judge(environment: Mapping[str, str] = os.environ) -> Generate | None:
    """The endpoint's model that judges pairs; None where none is configured.

    Raises CannotLoad where one is configured and does not answer.
    """
    endpoints = find_servers(environment, JUDGING)
    return check_answers(endpoints[ENDPOINT]) if ENDPOINT in endpoints else None


def by_gap(pairs: Sequence[Mapping[str, Any]], seed: int) -> list[Mapping[str, Any]]:
    """As many rows as there are `pairs`, drawn with replacement in proportion to their gaps.

    A preference says which reply earned more and not how much more. Learnt evenly, frequent small
    gains outvote rare large losses. Some pairs come often, some never.
    """
    gaps = np.array([pair["gap"] for pair in pairs])
    drawn = np.random.default_rng(seed).choice(len(pairs), len(pairs), p=gaps / gaps.sum())
    return [pairs[number] for number in drawn]


def prepare(config: Config, run: Run, base: Base, heartbeat: Heartbeat) -> stage.Prepared:
    """TRL's trainer over the pairs, which are collected first; see `stage.train`."""
    adapter = stage.init_adapter(config)
    heartbeat.status = f"reading the model and its adapter {config.init_adapter}"
    network = trainable(base, adapter)
    tokenizer = tokenizer_of(base)
    pairs = _pairs(config, run, base, network, heartbeat)
    if base.device == "cpu":
        network.config.use_cache = False
    trainer = _trainer(config, run, base, network, pairs)
    first = trainer.train_dataset[0]
    ids = first["prompt_ids"] + first["chosen_ids"]
    labels = [-100] * len(first["prompt_ids"]) + first["chosen_ids"]
    spent = round(sum(row["seconds"] for row in read_lines(_pairs_file(run))), 1)
    about = {
        "pairs": summary(pairs) | {"seconds": spent},
        "sample": stage.sample(ids, labels, tokenizer),
    }
    passes = math.ceil(len(pairs) / config.per_device_train_batch_size)
    steps = config.num_train_epochs * math.ceil(passes / config.gradient_accumulation_steps)
    return stage.Prepared(stage.without_printer(trainer), steps, lambda: about, DPO_LOGGED)


def _pairs_file(run: Run) -> Path:
    return run.folder / "pairs.jsonl"


def _pairs(
    config: Config, run: Run, base: Base, network: Any, heartbeat: Heartbeat
) -> list[dict[str, Any]]:
    """The run's pairs: those in its folder, and as many new ones as are missing."""
    import torch

    file = _pairs_file(run)
    pairs = kept(file)[: config.data.pairs]
    if len(pairs) == config.data.pairs:
        return pairs
    sampling = Sampling(config.temperature, 1.0, config.max_new_tokens)
    tokenizer = tokenizer_of(base)
    players = [
        Learner(network, tokenizer, base, sampling).player_spec(config.constrained)
        for _ in range(config.threads if base.device == "cpu" else 1)
    ]
    torch.set_num_threads(1)  # a player
    pairs = collect(config.data, players, file, judge(), heartbeat.report)
    torch.set_num_threads(config.threads)
    return pairs


def _trainer(
    config: Config, run: Run, base: Base, network: Any, pairs: Sequence[Mapping[str, Any]]
) -> Any:
    """TRL's trainer over as many rows as there are `pairs`, drawn by their gaps."""
    from datasets import Dataset
    from trl import DPOConfig, DPOTrainer

    rows = [
        {
            "prompt": pair["chat"],
            "chosen": [{"role": "assistant", "content": pair["chosen"]}],
            "rejected": [{"role": "assistant", "content": pair["rejected"]}],
        }
        for pair in by_gap(pairs, config.seed)
    ]
    arguments = DPOConfig(
        **stage.arguments(config, run, base),
        num_train_epochs=config.num_train_epochs,
        beta=config.beta,
        max_length=None,
    )
    trainer = DPOTrainer(
        model=network,
        args=arguments,
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer_of(base),
    )
    if base.device == "cpu":
        scores_on_cpu(network.get_base_model())
    return trainer
