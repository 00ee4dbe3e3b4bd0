"""Bargaining from reward alone: whole games and their grades, and nobody's moves to imitate.

    python -m sauda train form      # where it begins
    python -m sauda train reward

Expert iteration (Anthony et al. 2017) with a cheap partner in the place of a search, a network of
7,400 weights that begins by playing as the model does. In each step the model plays some games. Its
partner plays on from every turn of them, and other games from their beginnings, and raises the
chances of moves by the grades that came of them. Then the model learns the chances that its partner
gives every move in each state of the model's own games. No act, price or value of a planner is in
it.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from env import IllegalAction, begin
from env.bazaar.prompt import completion, render
from sauda.llm.turn import ModelGame, PlayerSpec, new_game, play_games
from sauda.records.seeds import TRAINED, is_unseen_game, training_seeds
from sauda.records.store import write
from sauda.train import common, sft
from sauda.train.checks import agreements, check_player
from sauda.train.common import LOGGED, SAMPLE, PlayerSettings, Run, option
from sauda.train.model import Learner, tokenizer_of, trainable
from sauda.train.people_rows import task_of
from sauda.train.teacher_rows import Spoken, encode

TASK = "bazaar/open-3"
PARTNER = "partner-{}.pt"  # its partner after so many steps
STREAM = 10  # that draws the partner's moves
FOLLOWS, AHEAD = 100, 10  # steps in which a new partner learns to play as the model does, and how
# many times as often it then plays
LEAST = 1e-4  # chance of a move that is learnt
REWARD_LOGGED = (*LOGGED, "reward", "valid_rate", "agreement_rate", "games", "game_grade")
TOY = {
    "init_adapter": "", "per_device_train_batch_size": 2, "partner_games": 20, "max_steps": 3,
    "constrained": True, "save_steps": 1, "acceptance_prompts": 6, "eval_games": 2,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class RewardSettings(PlayerSettings):
    """Settings in the names of TRL's SFTConfig; the defaults are the numbers we report."""

    init_adapter: str = "form"
    per_device_train_batch_size: int = option("games of its own that the model learns from", 12)
    partner_games: int = option("games of its partner from the beginning in each step", 2_000)
    partner_rate: float = option("learning rate of its partner", 3e-3)
    max_steps: int = option("steps of the optimizer", 150)
    max_new_tokens: int = 16  # a move without words
    temperature: float = 1.0
    learning_rate: float = 8e-4
    first_seed: int = 20_000
    save_steps: int = 15
    eval_games: int = option("training games that checkpoints play", 80)
    stage: ClassVar[str] = "reward"
    gradient_accumulation_steps: ClassVar[int] = 1


SETTINGS = (RewardSettings,)


def train(settings: RewardSettings, folder: Path | None = None, resume: bool = False) -> dict:
    """Run the stage to its end, as `start_run`, `train_to_end` and `save_run` do."""
    run = common.start_run(settings, folder, resume)
    task = task_of(TASK, "training")
    seen = [seed for seed in TRAINED if not is_unseen_game(task, seed)]
    wanted = settings.max_steps * settings.per_device_train_batch_size
    fresh = training_seeds(TASK, settings.first_seed)
    seeds = [*islice((seed for seed in fresh if not is_unseen_game(task, seed)), wanted)]
    trainer = make_trainer(run, seeds, seen)
    common.train_to_end(run, trainer)
    served = common.save_and_load(run, trainer, REWARD_LOGGED)
    figures = {
        "games": {"task": {TASK: wanted}, "first_seed": seeds[0], "last_seed": seeds[-1]},
        "sample": json.loads((run.folder / SAMPLE).read_text("utf-8")),
    }
    return common.save_run(run, trainer, check_player(run, served) | figures, REWARD_LOGGED)


def make_trainer(run: Run, seeds: Sequence[int], seen: Sequence[int]) -> Any:
    """TRL's SFTTrainer, whose rows are made in each step from games of `seeds` in their order.

    The partner plays games of the seeds `seen`.
    """
    from datasets import Dataset
    from trl import SFTConfig

    settings = run.settings
    network = trainable(run.base, common.init_adapter(settings))
    tokenizer = tokenizer_of(run.base)
    rows = Rows(run, Learner(network, tokenizer, run.base, settings.sampling), seen)

    class Iterated(sft.sft_trainer()):
        def compute_loss(self, model: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
            made, figures = rows.make(inputs["seeds"], self.state.global_step)
            for name, figure in figures.items():
                self._metrics["train"][name].append(figure)
            batch = sft.collate(made, tokenizer.pad_token_id)
            tensors = {name: x for name, x in batch.items() if hasattr(x, "to")}
            moved = {name: x.to(model.device) for name, x in tensors.items()}
            return super().compute_loss(model, batch | moved, *args, **kwargs)

    return Iterated(
        model=network,
        args=SFTConfig(
            **common.training_arguments(run),
            max_steps=settings.max_steps,
            train_sampling_strategy="sequential",
            max_length=None,
            remove_unused_columns=False,
            dataset_kwargs={"skip_prepare_dataset": True},
        ),
        data_collator=lambda rows: {"seeds": [row["seed"] for row in rows]},
        train_dataset=Dataset.from_dict({"seed": seeds}),
        processing_class=tokenizer,
    )


class Rows:
    """What is learnt in each step: the learner's games, with the chances its partner gives."""

    def __init__(self, run: Run, learner: Learner, seen: Sequence[int]) -> None:
        from sauda.train.partner import Partner

        self.run, self.learner, self.seen = run, learner, seen
        self.partner = Partner(run.settings.seed, run.settings.partner_rate)
        self.steps = 0  # that the partner has learnt

    def make(self, seeds: Sequence[int], step: int) -> tuple[list[dict], dict[str, float]]:
        """The rows of a step, encoded, and its figures; grades and deals are of the learner."""
        settings, tokenizer = self.run.settings, self.learner.tokenizer
        games = self.play(seeds, step)
        grades = self.improve(games, step)
        rows = [encode(self.teach(game), tokenizer) for game in games]
        first = self.run.folder / SAMPLE
        if not first.exists():
            sample = common.sample(rows[0]["input_ids"], rows[0]["labels"], tokenizer)
            write(first, json.dumps(sample))
        replies = [turn.parsed.proposal for game in games for turn in game.turns]
        return rows, {
            "reward": float(np.mean([game.grade for game in games])),
            "valid_rate": sum(not isinstance(x, IllegalAction) for x in replies) / len(replies),
            "agreement_rate": agreements(games),
            "games": float((step + 1) * len(seeds) + (step + AHEAD) * settings.partner_games),
            "game_grade": float(grades.mean()),
        }

    def play(self, seeds: Sequence[int], step: int) -> list[ModelGame]:
        """The learner's games, as it is now."""
        settings, task = self.run.settings, task_of(TASK, "training")
        self.learner.refresh()
        games = [new_game(task, seed, (step + 1, settings.seed)) for seed in seeds]
        play_games(games, PlayerSpec(self.learner, settings.constrained))
        return games

    def improve(self, games: Sequence[ModelGame], step: int) -> np.ndarray:
        """Let the partner play and learn; the grades of its last games from their beginnings."""
        from sauda.train.partner import index_of, see

        settings, task = self.run.settings, task_of(TASK, "training")
        if step != self.steps:
            self.partner.load(self.run.folder / PARTNER.format(step))
        turns = [turn for game in games for turn in game.turns]
        if step == 0:
            pairs = ((turn.obs, index_of(turn.action, turn.obs)) for turn in turns)
            made = [(obs, place) for obs, place in pairs if place is not None]
            if made:
                observations, places = zip(*made, strict=True)
                self.partner.follow(see(observations), np.array(places), FOLLOWS)
        rng = np.random.default_rng([settings.seed, STREAM, step])
        for _ in range(1 if step else AHEAD):
            seeds = rng.choice(self.seen, settings.partner_games, replace=False).tolist()
            starts = [*(begin(task, seed) for seed in seeds), *(turn.before for turn in turns)]
            grades = self.partner.improve(task, starts, rng)[: len(seeds)]
        self.steps = step + 1
        self.partner.save(self.run.folder / PARTNER.format(self.steps))
        return grades

    def teach(self, game: ModelGame) -> Spoken:
        """A game of the learner as a row: of each turn all moves, with their chances."""
        from sauda.train.partner import see, text_at

        observations = [turn.obs for turn in game.turns]
        choices, labels = [], []
        for turn, chances in zip(game.turns, self.partner.chances(see(observations)), strict=True):
            places = np.flatnonzero(chances > LEAST).tolist()
            texts = [(text_at(place, turn.obs), float(chances[place])) for place in places]
            made = completion(turn.action, turn.obs) if turn.action is not None else ""
            likeliest = max(texts, key=lambda pair: pair[1])[0]
            labels.append(made if made in dict(texts) else likeliest)
            choices.append(texts)
        chat = [*render(observations[-1]), {"role": "assistant", "content": labels[-1]}]
        return Spoken(TASK, game.play.seed, 0, labels, chat, choices, 1.0)
