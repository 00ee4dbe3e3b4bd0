"""On-policy distillation: the learner plays, a teacher labels each of its states, and it learns.

    python -m sauda train distill
    python -m sauda train distill --game arena     # a lab of the GPU arena

DAgger (Ross et al. 2011) with soft labels, as GKD (Agarwal et al. 2023) has them. TRL's trainers
for that want a teacher with the learner's vocabulary, and ours is a policy of the game. In each
round the learner plays new games; a share of the turns, which falls from round to round, is the
teacher's. The loss is the cross-entropy between a label and the learner's next token.

A label is a distribution over moves: a teacher names one, and prices near it are nearly as good.
The labels of a reply's tokens follow from the tree of all labelled completions, and weigh as much
as the label gives to what the reply began with. So the learner's own games can be labelled as they
are. Without these weights a wrong first digit taught the second to be 9 or 0, the nearest to the
label, and then right first digits were followed by 9 and 0 too.

A lab picks from numbered options, none of which is near another. So in the arena a label is the
broker's pick, and a round of own games is learnt as SFT learns.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import groupby, islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from env import ARENA_TASKS, Observation, Offer, Policy, Task, agent_stream, begin, get_task
from env.bazaar.prompt import completion, parse, percent_of, render, schema, unit
from sauda.games.adapter import ModelTurn, ParsedReply, Reply, Request
from sauda.llm.turn import ModelGame, PlayerSpec, new_game, play_games, play_turn
from sauda.records.seeds import is_unseen_listing, training_seeds
from sauda.records.store import digest
from sauda.train import common, teacher_rows
from sauda.train.checks import check_player
from sauda.train.common import option
from sauda.train.losses import soft_cross_entropy
from sauda.train.model import Learner, tokenizer_of, trainable
from sauda.train.sft import ROWS, train_on

LEAST_CHANCE = 1e-4  # probability of a completion, below which it is left out
TURNS = 5  # the stream that draws whose turn it is
TOY = {
    "init_adapter": "", "deals_per_round": 24, "rows": 12, "games_at_once": 4, "constrained": True,
    "save_steps": 2, "acceptance_prompts": 6, "eval_games": 2,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class DistillSettings(common.PlayerSettings):
    """Settings in the names of transformers' TrainingArguments; the defaults are what we report."""

    init_adapter: str = "sft"
    full_fine_tuning: bool = option("all weights learn, in fp32, and no adapter", False)
    teacher: str = option("of all tasks, also module:function; '' for each task's own", "")
    shares: tuple[teacher_rows.Mix, ...] = (  # of a round's games
        teacher_rows.Mix("bazaar/open", 0.60, "listener"),
        teacher_rows.Mix("bazaar/rushed", 0.25, "listener"),
        teacher_rows.Mix("bazaar/mute", 0.09, "bayesian"),
        *teacher_rows.CLASSIC_MIX,
    )
    teacher_turns: tuple[float, ...] = option("the teacher's share of turns, by round", (0.3, 0.1))
    hand: float = 3.0  # standard deviation of the error in the teacher's prices, in percent
    deals_per_round: int = option("deals that each round plays and learns from", 240)
    games_at_once: int = 24  # games played in one batch; more crowd out the cache of prefixes
    label_sd: float = 1.5  # of a label's prices, in percent
    near: int = 1  # percent: a bid so near to the ask takes it
    late: int = 2  # replies of a deal from this one on, counted from 0, ...
    late_weight: float = 2.0  # ... weigh so much: openings that are off cost little
    gradient_accumulation_steps: int = option("passes per step of the optimizer", 1)
    learning_rate: float = 1e-4  # at 5e-4 it lost what SFT had taught
    first_seed: int = 20_000
    save_steps: int = 120
    eval_games: int = 24
    stage: ClassVar[str] = "distill"

    @property
    def batch_size(self) -> int:
        """Deals per step of the optimizer."""
        return self.per_device_train_batch_size * self.gradient_accumulation_steps

    @property
    def deals(self) -> list[int]:
        """Deals per task in a round; the first task gets the remainder of rounding."""
        counts = [round(self.deals_per_round * share.part) for share in self.shares]
        return [self.deals_per_round - sum(counts[1:]), *counts[1:]]


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


SETTINGS = {"bazaar": DistillSettings, "arena": ArenaDistillSettings}  # by game


def train(
    settings: common.PlayerSettings, folder: Path | None = None, resume: bool = False
) -> dict:
    """Run the stage to its end, as `start_run`, `train_to_end` and `save_run` do."""
    from transformers import TrainingArguments

    run = common.start_run(settings, folder, resume)
    network = trainable(run.base, common.init_adapter(settings), settings.full_fine_tuning)
    tokenizer = tokenizer_of(run.base)
    if settings.game == "arena":
        learner = Learner(network, tokenizer, run.base, settings.sampling)
        label_games = partial(label_own_games, settings, learner)
        rows = teacher_rows.load_rows(run.folder / ROWS, teacher_rows.Row, label_games)
        return train_on(run, rows, network)
    rounds = Rounds(run, Learner(network, tokenizer, run.base, settings.sampling))
    steps_per_round = settings.deals_per_round // settings.batch_size
    trainer = distill_trainer()(
        model=network,
        args=TrainingArguments(
            **common.training_arguments(run),
            max_steps=steps_per_round * len(settings.teacher_turns),
            train_sampling_strategy="sequential",
            remove_unused_columns=False,
        ),
        train_dataset=rounds,
        data_collator=lambda rows: {"rows": rows},
    )
    common.train_to_end(run, trainer)
    served = common.save_and_load(run, trainer)

    first = rounds.deals(0)[0]
    learnt = {position + 1 for position, *_ in first["labels"]}
    labels = [i if n in learnt else -100 for n, i in enumerate(first["input_ids"])]
    figures = {
        "rounds": rounds.summary(),
        "sample": common.sample(first["input_ids"], labels, tokenizer),
    }
    publishes = not settings.full_fine_tuning  # an adapter is small enough
    return common.save_run(run, trainer, check_player(run, served) | figures, publishes=publishes)


def label_own_games(settings: ArenaDistillSettings, learner: Learner) -> list[teacher_rows.Row]:
    """The states of the learner's own games of the arena with the teacher's action at each.

    Raises ValueError where the training seeds run out.
    """
    rows: list[teacher_rows.Row] = []
    player = PlayerSpec(learner, settings.constrained)
    for number, name in enumerate(settings.tasks, 1):
        task, wanted = get_task(name), settings.rows * number // len(settings.tasks)
        seeds, teacher = (
            training_seeds(name, settings.first_seed),
            teacher_rows.find_teacher(task, settings.teacher),
        )
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


@dataclass(frozen=True)
class SoftRow:
    """One deal as a conversation, with a distribution over completions for each reply in it."""

    task: str
    seed: int
    deal: int  # of the game, from 0
    messages: list[dict[str, str]]
    labels: list[dict[str, float]]  # by completion, one for each message of the assistant
    own: list[bool]  # whether the learner made the move; else the teacher did


def label(obs: Observation, move: teacher_rows.Action, sd: float, near: int) -> dict[str, float]:
    """The probability of each completion at `obs`, around a teacher's `move`.

    Offers are normal with the standard deviation `sd` in percent, and say what the move says. What
    of it is within `near` percent of an affordable ask, or above, is the probability to accept. An
    acceptance and a walk are certain.
    """
    if not isinstance(move, Offer):
        return {completion(move, obs): 1.0}
    (offers, *_) = [m for m in schema(obs)["anyOf"] if "offer" in m["properties"]]
    legal = offers["properties"]["offer"]
    mean = 100 * move.price / unit(obs)
    weights: dict[str, float] = defaultdict(float)
    for percent in range(legal["minimum"], legal["maximum"] + 1):
        weight = math.exp(-((percent - mean) ** 2) / (2 * sd**2))
        if percent_of(obs, obs.ask) - near <= percent and obs.ask <= obs.budget:
            weights['{"accept":true}'] += weight
        elif weight >= LEAST_CHANCE:
            offer = parse(f'{{"offer":{percent}}}', obs)
            weights[completion(replace(offer, message=move.message), obs)] += weight
    total = sum(weights.values())
    likely = {text: w / total for text, w in weights.items() if w / total >= LEAST_CHANCE}
    return {text: p / sum(likely.values()) for text, p in likely.items()}


def soft_tokens(row: SoftRow, tokenizer: Any, late: int, late_weight: float) -> dict[str, Any]:
    """`row` as "input_ids" and "labels"; a label is (position, token ids, probabilities, weight).

    The position is that of the token before, whose logits the label is for. A label weighs the
    probability of the reply up to there; replies from the one numbered `late` on, counted from 0,
    weigh `late_weight` times that.
    """
    ids: list[int] = []
    labels: list[tuple[int, list[int], list[float], float]] = []
    turns = zip(row.labels, teacher_rows.reply_spans(row.messages, tokenizer), strict=True)
    for number, (chances, (read, reply)) in enumerate(turns):
        ids += read
        weight = late_weight if number >= late else 1.0
        paths = {(*_ids(text, tokenizer), tokenizer.eos_token_id): p for text, p in chances.items()}
        for depth, (tokens, shares, mass) in enumerate(along(reply, paths)):
            labels.append((len(ids) + depth - 1, tokens, shares, weight * mass))
        ids += reply
    return {"input_ids": ids, "labels": labels}


@lru_cache(4096)  # labels repeat the same few hundred completions
def _ids(text: str, tokenizer: Any) -> tuple[int, ...]:
    return tuple(tokenizer(text, add_special_tokens=False)["input_ids"])


def along(
    reply: Sequence[int], paths: Mapping[tuple[int, ...], float]
) -> Iterator[tuple[list[int], list[float], float]]:
    """Per token of `reply`: the possible tokens, their probabilities, and their total mass.

    The mass is the probability of all paths that begin as `reply` does up to that token. Ends where
    no path of `paths` goes the way of `reply`, and at a path's end.
    """
    for depth in range(len(reply)):
        shares: dict[int, float] = defaultdict(float)
        for path, p in paths.items():
            if len(path) > depth and path[:depth] == tuple(reply[:depth]):
                shares[path[depth]] += p
        total = sum(shares.values())
        if not total:
            return
        yield list(shares), [share / total for share in shares.values()], total


@dataclass(frozen=True)
class Teacher:
    """A policy of `task` that labels states; `sd` and `near` are those of `label`.

    Its prices are off by `hand` percent, so that its games also reach states off its path.
    """

    task: Task
    policy: Policy
    sd: float
    near: int
    hand: float = 0.0

    def move(self, obs: Observation, seed: int, turn: int) -> teacher_rows.Action:
        """The teacher's move, before it is rounded."""
        stream = agent_stream(self.task, seed, self.task.learner, turn)
        return teacher_rows.teacher_move(self.policy, obs, stream, teacher_rows.RowSettings())

    def label(self, obs: Observation, seed: int, turn: int) -> dict[str, float]:
        """The probability of each completion at `obs`, around its move."""
        return label(obs, self.move(obs, seed, turn), self.sd, self.near)

    def turn(self, game: ModelGame, rng: np.random.Generator) -> ModelTurn:
        """The teacher's move in a game, as a turn of the learner; `rng` draws its errors."""
        obs = game.observation
        move = self.move(obs, game.play.seed, len(game.turns))
        if isinstance(move, Offer) and obs.table.standing and self.hand:
            chances = label(obs, move, self.hand, self.near)
            text = str(rng.choice(list(chances), p=list(chances.values())))
            move = parse(text, obs)
        else:
            move = teacher_rows.round_action(obs, move, self.near)
            text = completion(move, obs)
        request = Request(render(obs), 0)
        return ModelTurn(obs, request, Reply(text, "teacher"), ParsedReply(parse(text, obs), move))


def play_shared(
    teacher: Teacher, seeds: Sequence[int], player: PlayerSpec, share: float, salt: tuple[int, ...]
) -> Iterator[SoftRow]:
    """Play the games of `seeds` and label the learner's states in them, one row per deal.

    A turn is the teacher's with the probability `share`. Deals about unseen listings are left out.
    """
    games = {seed: new_game(teacher.task, seed, salt) for seed in seeds}
    # whose turn it is, and the teacher's errors
    chance = {seed: np.random.default_rng([seed, TURNS, *salt]) for seed in seeds}
    learner: dict[int, list[bool]] = {seed: [] for seed in seeds}  # which turns were the learner's
    while running := [seed for seed, game in games.items() if game.running]:
        for seed in running:
            learner[seed].append(chance[seed].random() >= share)
            if not learner[seed][-1]:
                games[seed].apply(teacher.turn(games[seed], chance[seed]))
        if learners := [games[seed] for seed in running if learner[seed][-1]]:
            play_turn(learners, player)
    for seed, game in games.items():
        yield from label_game(game, learner[seed], teacher)


def label_game(game: ModelGame, learner: Sequence[bool], teacher: Teacher) -> Iterator[SoftRow]:
    """The deals of one game; in a forfeited deal the last reply is the teacher's."""
    seed = game.play.seed
    for deal, group in groupby(enumerate(game.turns), lambda turn: len(turn[1].obs.table.past)):
        numbers, turns = zip(*group, strict=True)
        last = turns[-1]
        if is_unseen_listing(last.obs.table.item):
            continue
        labels = [teacher.label(t.obs, seed, n) for n, t in zip(numbers, turns, strict=True)]
        reply = max(labels[-1], key=labels[-1].get)
        if last.action is not None:
            reply = completion(last.action, last.obs)
        chat: list[dict[str, Any]] = [*render(last.obs), {"role": "assistant", "content": reply}]
        yield SoftRow(teacher.task.name, seed, deal, chat, labels, [learner[n] for n in numbers])


class Rounds:
    """The deals of all rounds as a dataset, in training order.

    A round is played when its first deal is requested, and is then on disk. The loader is one batch
    ahead, so the last batch of a round is trained on after the next round's games were played.
    """

    def __init__(self, run: common.Run, learner: Learner) -> None:
        self.settings, self.run, self.learner = run.settings, run, learner
        self._round: tuple[int, list[dict[str, Any]]] = (-1, [])  # the last one read

    def __len__(self) -> int:
        return self.settings.deals_per_round * len(self.settings.teacher_turns)

    def __getitem__(self, index: int) -> dict[str, Any]:
        number, place = divmod(index, self.settings.deals_per_round)
        if number != self._round[0]:
            self._round = number, self.deals(number)
        return self._round[1][place]

    def deals(self, number: int) -> list[dict[str, Any]]:
        """The deals of a round as `soft_tokens` gives them, those of a batch of similar length."""
        settings = self.settings
        tokenizer = self.learner.tokenizer
        deals = [
            soft_tokens(row, tokenizer, settings.late, settings.late_weight)
            for row in self.rows(number)
        ]
        rng = np.random.default_rng([settings.seed, number])
        lengths = [len(deal["input_ids"]) for deal in deals]
        return [deals[i] for i in teacher_rows.order_by_length(lengths, settings.batch_size, rng)]

    def file(self, number: int) -> Path:
        """Where the deals of a round are kept."""
        return self.run.folder / f"rows-{number}.jsonl"

    def rows(self, number: int) -> list[SoftRow]:
        """The deals of a round, played once and then read from the run's folder."""
        return teacher_rows.load_rows(self.file(number), SoftRow, lambda: self.play(number))

    def play(self, number: int) -> list[SoftRow]:
        """Play and label the games of a round: each task's share of its deals."""
        self.learner.refresh()
        settings = self.settings
        rows: list[SoftRow] = []
        for share, wanted in zip(settings.shares, settings.deals, strict=True):
            print(f"round {number + 1}: playing {share.task}", flush=True)
            task = get_task(share.task)
            teacher = Teacher(
                task,
                teacher_rows.find_teacher(task, settings.teacher or share.teacher),
                settings.label_sd,
                settings.near,
                settings.hand,
            )
            # rounds take turns at the seeds, so that none is played twice
            first, rounds = settings.first_seed + number, len(settings.teacher_turns)
            seeds = training_seeds(task.name, first, rounds)
            per_game = begin(task, settings.first_seed).state.table.deals
            dealt: list[SoftRow] = []
            while (missing := wanted - len(dealt)) > 0:
                dealt += play_shared(
                    teacher,
                    list(islice(seeds, min(math.ceil(missing / per_game), settings.games_at_once))),
                    PlayerSpec(self.learner, settings.constrained),
                    settings.teacher_turns[number],
                    (settings.seed, number),
                )
            rows += dealt[:wanted]
        return rows

    def summary(self) -> list[dict[str, Any]]:
        """What each round was trained on, without rounds whose deals are not on this machine."""
        rounds = []
        for number, share in enumerate(self.settings.teacher_turns):
            if not self.file(number).exists():
                continue
            rows = self.rows(number)
            rounds.append(
                {
                    "teacher_turns": share,
                    "rows": len(rows),
                    "completions": sum(len(row.labels) for row in rows),
                    "own": sum(sum(row.own) for row in rows),
                    "task": dict(Counter(row.task for row in rows)),
                    "sha256": digest(teacher_rows.to_lines(rows)),
                }
            )
        return rounds


def distill_trainer() -> Any:
    """A Trainer of transformers whose loss is the cross-entropy with soft labels."""
    from transformers import Trainer

    class DistillTrainer(Trainer):
        num_tokens = 0

        def compute_loss(
            self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch=None
        ) -> Any:
            batch = collate(inputs["rows"], model.device)
            losses, entropy, hits = soft_cross_entropy(model, *batch[:4])
            weights = batch[4]
            self.num_tokens += sum(len(row["input_ids"]) for row in inputs["rows"])
            self.figures = {
                "num_tokens": self.num_tokens,
                "entropy": entropy.mean().item(),
                "mean_token_accuracy": hits.float().mean().item(),
            }
            return (losses * weights).sum() / weights.sum()

        def log(self, logs: dict[str, float], *args: Any) -> None:
            super().log(logs | self.figures, *args)

    return DistillTrainer


def collate(rows: Sequence[dict[str, Any]], device: Any = "cpu") -> tuple[Any, ...]:
    """Token ids, places of labels, choices, their probabilities, and the labels' weights."""
    import torch
    from torch.nn.utils.rnn import pad_sequence

    def pad(sequences: Sequence[Sequence[Any]], value: float = 0) -> Any:
        return pad_sequence(list(map(torch.tensor, sequences)), True, value)

    labels = [each for row in rows for each in row["labels"]]
    ids = pad([row["input_ids"] for row in rows])
    places = torch.full_like(ids, -100)
    number = 0
    for i, row in enumerate(rows):
        for position, *_ in row["labels"]:
            places[i, position + 1] = number
            number += 1
    tokens, chances = (pad([t for _, t, _, _ in labels]), pad([p for _, _, p, _ in labels], 0.0))
    weights = torch.tensor([w for *_, w in labels])
    return tuple(numbers.to(device) for numbers in (ids, places, tokens, chances, weights))
