"""Preference learning (DPO) on pairs of replies to the same position, by TRL's DPOTrainer.

    python -m sauda train dpo

Rafailov et al. (2023). The learner plays a game. At one of its turns it replies again several
times, and plays each reply to the end of the game, its later tokens drawn from the same random
numbers. The reply whose game earned most is chosen, the one whose game earned least is rejected.
Training draws pairs in proportion to the gap between their grades (`by_gap`).
"""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from env import IllegalAction, get_task
from env.bazaar.prompt import completion
from sauda.llm.turn import ModelGame, PlayerSpec, new_game, play_games, play_turn
from sauda.records.seeds import is_unseen_game, training_seeds
from sauda.records.store import digest, read_lines
from sauda.train import common
from sauda.train.checks import check_player
from sauda.train.common import option
from sauda.train.losses import scores_on_cpu
from sauda.train.model import Learner, tokenizer_of, trainable
from sauda.train.people_rows import task_of
from sauda.train.teacher_rows import verb_of

BRANCH, COMMON = 1, 0  # salts: of the replies that are compared; of all other replies
TURN = 4  # a stream of its own: which turn is compared
DPO_LOGGED = (
    *common.LOGGED, "rewards/margins", "rewards/accuracies", "rewards/chosen", "rewards/rejected",
)  # fmt: skip
PAIRS = "pairs.jsonl"  # in a run's folder: a row per position that was compared
TOY = {
    "init_adapter": "", "gradient_accumulation_steps": 2, "constrained": True, "save_steps": 1,
    "acceptance_prompts": 6, "pairs": 6,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class DPOSettings(common.PlayerSettings):
    """Settings in the names of TRL's DPOConfig; the defaults are the numbers we report."""

    pairs: int = option("pairs to learn from", 280)
    tasks: tuple[str, ...] = ("bazaar/people",)
    branches: int = 4  # replies that are compared, the game's own included
    batch_size: int = 24  # positions that are played side by side
    min_gap: float = 0.02  # least difference of two grades that tells a better reply
    patience: int = 200  # positions in a row without a pair, before it stops
    init_adapter: str = "talks"
    first_seed: int = 40_000
    num_train_epochs: int = option("passes over the pairs", 1)
    # one pair per pass, because its two replies share their prompt
    per_device_train_batch_size: int = option("pairs per pass; lower where memory is short", 1)
    gradient_accumulation_steps: int = option("passes per step of the optimizer", 8)
    learning_rate: float = 5e-5
    warmup_steps: float = 0.1
    beta: float = 0.1  # how near the learner stays to the adapter it started from
    save_steps: int = 10
    stage: ClassVar[str] = "dpo"


SETTINGS = (DPOSettings,)


def train(settings: DPOSettings, folder: Path | None = None, resume: bool = False) -> dict:
    """Run the stage to its end, as `start_run`, `train_to_end` and `save_run` do."""
    from datasets import Dataset
    from trl import DPOConfig, DPOTrainer

    run = common.start_run(settings, folder, resume)
    network = trainable(run.base, common.init_adapter(settings))
    tokenizer = tokenizer_of(run.base)
    learner = Learner(network, tokenizer, run.base, settings.sampling)
    player = PlayerSpec(learner, settings.constrained)
    pairs = collect(settings, player, run.folder / PAIRS)
    if run.base.device == "cpu":
        network.config.use_cache = False
    trainer = DPOTrainer(
        model=network,
        args=DPOConfig(
            **common.training_arguments(run),
            num_train_epochs=settings.num_train_epochs,
            beta=settings.beta,
            max_length=None,
        ),
        train_dataset=Dataset.from_list(
            [
                {
                    "prompt": pair["chat"],
                    "chosen": [{"role": "assistant", "content": pair["chosen"]}],
                    "rejected": [{"role": "assistant", "content": pair["rejected"]}],
                }
                for pair in by_gap(pairs, settings.seed)
            ]
        ),
        processing_class=tokenizer,
    )
    if run.base.device == "cpu":
        scores_on_cpu(network.get_base_model())
    common.train_to_end(run, trainer)
    served = common.save_and_load(run, trainer, DPO_LOGGED)

    first = trainer.train_dataset[0]
    prompt, chosen = first["prompt_ids"], first["chosen_ids"]
    spent = round(sum(row["seconds"] for row in read_lines(run.folder / PAIRS)), 1)
    figures = {
        "pairs": summarize_pairs(pairs) | {"seconds": spent},
        "sample": common.sample(prompt + chosen, [-100] * len(prompt) + chosen, tokenizer),
    }
    return common.save_run(run, trainer, check_player(run, served) | figures, DPO_LOGGED)


def by_gap(pairs: Sequence[Mapping[str, Any]], seed: int) -> list[Mapping[str, Any]]:
    """A sample of `pairs` of the same size, with replacement, in proportion to their gaps.

    A preference says which reply earned more and not how much more. Learnt evenly, frequent small
    gains outvote rare large losses. Some pairs come often, some never.
    """
    gaps = np.array([pair["gap"] for pair in pairs])
    drawn = np.random.default_rng(seed).choice(len(pairs), len(pairs), p=gaps / gaps.sum())
    return [pairs[number] for number in drawn]


def collect(settings: DPOSettings, player: PlayerSpec, file: Path) -> list[dict[str, Any]]:
    """Add the missing pairs to `file`, each batch as it is found, and return all pairs.

    Raises Stopped where `settings.patience` positions in a row give no pair, and ValueError where
    the training seeds run out.
    """
    known, fruitless = read_lines(file), 0
    tried = {(row["task"], row["seed"]) for row in known}
    pairs = [row for row in known if "chosen" in row]
    untried = (instance for instance in _instances(settings) if instance not in tried)
    while len(pairs) < settings.pairs:
        if fruitless >= settings.patience:
            raise common.Stopped(
                f"{fruitless} positions in a row gave no pair: replies to the same position "
                f"earn the same. {len(pairs)} pairs are kept in {file}"
            )
        started = time.monotonic()
        chosen = list(islice(untried, settings.batch_size))
        rows = list(pair_instances(settings, player, chosen))
        spent = time.monotonic() - started
        for row in rows:
            common.append(file, row | {"seconds": round(spent / len(rows), 3)})
            fruitless = 0 if "chosen" in row else fruitless + 1
            if "chosen" in row:
                pairs.append(row)
        print(f"{len(pairs)} of {settings.pairs} pairs", flush=True)
    return pairs[: settings.pairs]


def _instances(settings: DPOSettings) -> Iterator[tuple[str, int]]:
    for number, seed in enumerate(training_seeds(settings.stage, settings.first_seed)):
        name = settings.tasks[number % len(settings.tasks)]
        if not is_unseen_game(get_task(name), seed):
            yield name, seed


def pair_instances(
    settings: DPOSettings, player: PlayerSpec, instances: Sequence[tuple[str, int]]
) -> Iterator[dict[str, Any]]:
    """One row per instance: a pair, or the task and seed alone where there is none."""
    games = [new_game(task_of(name, "training"), seed, (COMMON,)) for name, seed in instances]
    play_games(games, player)
    groups = [_branches(settings, game) for game in games]
    play_turn([branch for group in groups for branch in group[1:]], player)
    groups = [_distinct(group) for group in groups]
    branches = [branch for group in groups for branch in group[1:]]
    for branch in branches:
        branch.salt = (COMMON,)
    play_games(branches, player)
    for (name, seed), group in zip(instances, groups, strict=True):
        yield {"task": name, "seed": seed} | (_pair(settings, group) or {})


def _branches(settings: DPOSettings, game: ModelGame) -> list[ModelGame]:
    """A finished `game` from one of its turns on, then its position there for each new reply."""
    turn = np.random.default_rng([game.play.seed, TURN]).integers(len(game.turns))
    before = game.turns[turn].before
    others = [
        ModelGame(game.task, before, (BRANCH, number)) for number in range(1, settings.branches)
    ]
    return [ModelGame(game.task, game.play, game.salt, game.turns[turn:]), *others]


def _distinct(group: Sequence[ModelGame]) -> list[ModelGame]:
    """The branches whose first reply differs; equal replies would end in the same way."""
    first: dict[str, ModelGame] = {}
    for branch in group:
        first.setdefault(branch.turns[0].reply.text, branch)
    return list(first.values())


def _pair(settings: DPOSettings, group: Sequence[ModelGame]) -> dict[str, Any] | None:
    """The best and the worst reply of a `group`; None where no reply is better."""
    legal = [game for game in group if game.turns[0].action is not None]
    if not legal:
        return None
    best, worst = max(legal, key=lambda g: g.grade), min(group, key=lambda g: g.grade)
    chosen, rejected = _text(best), _text(worst)
    gap = best.grade - worst.grade
    if gap < settings.min_gap or chosen == rejected:
        return None
    chat = [dict(message) for message in best.turns[0].request.messages]
    return {"chat": chat, "chosen": chosen, "rejected": rejected, "gap": round(gap, 6)}


def _text(game: ModelGame) -> str:
    """The first reply of a branch, in canonical form where it is a move."""
    turn = game.turns[0]
    if isinstance(turn.parsed.proposal, IllegalAction):
        return turn.reply.text
    return completion(turn.parsed.proposal, turn.obs)


def summarize_pairs(pairs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The number of pairs by task and by the chosen move, their mean gap and their hash."""
    content = [{k: v for k, v in row.items() if k != "seconds"} for row in pairs]
    return {
        "n": len(pairs),
        "task": dict(sorted(Counter(row["task"] for row in pairs).items())),
        "moves": dict(sorted(Counter(verb_of(row["chosen"]) for row in pairs).items())),
        "gap": round(float(np.mean([row["gap"] for row in pairs])), 4),
        "sha256": digest(content),
    }
