"""On-policy distillation: a lab plays, the planner lab labels each of its states, and it learns.

    python -m sauda train distill --game arena

DAgger (Ross et al. 2011): the games are the learner's own, the labels a teacher's. A lab picks from
numbered options, none of which is near another, so a label is the teacher's pick, and the games are
learnt as SFT learns.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import ClassVar

from env import ARENA_TASKS, Policy, agent_stream, get_task
from sauda.llm.turn import ModelGame, PlayerSpec, new_game, play_games
from sauda.players import get_policy
from sauda.records.seeds import training_seeds
from sauda.train import common, teacher_rows
from sauda.train.common import option
from sauda.train.model import Learner, tokenizer_of, trainable
from sauda.train.sft import train_on

TOY = {
    "init_adapter": "", "rows": 12, "games_at_once": 4, "constrained": True, "save_steps": 2,
    "acceptance_prompts": 6, "eval_games": 2,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ArenaDistillSettings(common.PlayerSettings):
    """Settings of a lab of the GPU arena, which learns the teacher's picks in its own games."""

    init_adapter: str = "sft-arena"
    rows: int = option("actions to learn from", 720)
    tasks: tuple[str, ...] = option("tasks of the games, with equal shares", tuple(ARENA_TASKS))
    teacher: str = "broker"
    waits: float = 0.1  # share of the teacher's waits that is kept: they are frequent and alike
    games_at_once: int = 24
    num_train_epochs: int = option("passes over the rows", 1)
    gradient_accumulation_steps: int = option("passes per step of the optimizer", 1)
    max_steps: int = option("ends the run early, for a trial; -1 and 0 train on all rows", -1)
    per_device_train_batch_size: int = 8
    learning_rate: float = 1e-4  # at 5e-4 it lost what SFT had taught
    first_seed: int = 20_000
    save_steps: int = 30
    eval_games: int = 16
    stage: ClassVar[str] = "distill"
    game: ClassVar[str] = "arena"


SETTINGS = (ArenaDistillSettings,)


def train(
    settings: common.PlayerSettings, folder: Path | None = None, resume: bool = False
) -> dict:
    """Run the stage to its end, as `start_run`, `train_to_end` and `save_run` do."""
    run = common.start_run(settings, folder, resume)
    network = trainable(run.base, common.init_adapter(settings))
    learner = Learner(network, tokenizer_of(run.base), run.base, settings.sampling)
    label_games = partial(label_own_games, settings, learner)
    rows = teacher_rows.load_rows(run.folder, label_games)
    return train_on(run, rows, network)


def label_own_games(settings: ArenaDistillSettings, learner: Learner) -> list[teacher_rows.Row]:
    """The states of the learner's own games of the arena with the teacher's action at each.

    Raises ValueError where the training seeds run out.
    """
    rows: list[teacher_rows.Row] = []
    player = PlayerSpec(learner, settings.constrained)
    for number, name in enumerate(settings.tasks, 1):
        task, wanted = get_task(name), settings.rows * number // len(settings.tasks)
        seeds, by = training_seeds(name, settings.first_seed), settings.teacher
        teacher = common.named_object(by) if ":" in by else get_policy(task, by)
        while len(rows) < wanted:
            print(f"{len(rows)} of {settings.rows} actions", flush=True)
            chosen = islice(seeds, settings.games_at_once)
            games = [new_game(task, seed, (settings.seed,)) for seed in chosen]
            play_games(games, player)
            for game in games:
                rows += teacher_rows.supervise(
                    task, game.play.seed, relabel(game, teacher), settings.waits
                )
        del rows[wanted:]
    return rows


def relabel(game: ModelGame, teacher: Policy) -> Iterator[teacher_rows.ArenaTaught]:
    """The states of the learner in a game of the arena, and the teacher's action at each."""
    task = game.task
    for number, turn in enumerate(game.turns):
        stream = agent_stream(task, game.play.seed, task.learner, number)
        yield teacher_rows.ArenaTaught(
            task, number, turn.before, turn.obs, teacher(turn.obs, stream)
        )
