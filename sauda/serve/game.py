"""The games as programs play them: the tasks, the action, one game as a value, the rules in words.

The caller has the learner's seat, scripts have the others. An illegal move changes nothing but
costs a step; a game that has used up its steps or its time is forfeited. The seed stays hidden
until the end unless the caller chose it, since it stands for every hidden value.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from inspect import getdoc
from pathlib import Path
from typing import Annotated, Any, Literal

from openenv.core.env_server import Action
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from typing_extensions import TypedDict

import env
from sauda.games import game_of
from sauda.records.seeds import SPLITS, draw_seed, seed_in_json
from sauda.serve.limits import describe_faults
from sauda.sessions import LearnerGame
from sauda.sessions.arena import LEARNER

NAME, VERSION = "sauda", "1.0.0"  # under which both games are served
ABOUT = (
    "Bargaining in two games: a bazaar, where a buyer and a seller haggle over a price, and an"
    " arena, where labs trade GPU time."
)
MOST_STEPS = 200  # of an episode; the longest game takes 80 moves
MOST_SECONDS = 3600.0  # of an episode
GRADE = "grade"  # the part of the bazaar's reward
REPLY = "Reply with one action as JSON and nothing else."  # to a harness that chats
WORST = -1.0  # the lowest grade, which a game of the leaderboard counts that has no end
PREVIEW = 1_000  # tasks that are listed at a time
TYPES = {"train": "train", "holdout": "test"}  # of the splits, in OpenEnv's words
LONGEST_TEXT = 2_000  # characters; the rules of a game may ask for fewer
LONGEST_ID = 40
MOST_IDS = 24
MOST_CONDITIONS = 4

BAZAAR = ("offer", "accept", "walk")
ARENA = tuple(env.arena.KINDS)
FIELDS: Mapping[str, frozenset[str]] = {
    "bazaar": frozenset({"price", "message", "extras"}),
    "arena": frozenset(env.arena.Action._fields) - {"action_type"},
}

Number = (
    Annotated[int, Field(strict=True)] | Annotated[float, Field(strict=True, allow_inf_nan=False)]
)
Identifier = Annotated[str, Field(max_length=LONGEST_ID)]
Identifiers = Annotated[list[Identifier], Field(max_length=MOST_IDS)]
Condition = Number | Annotated[str, Field(max_length=LONGEST_TEXT)] | bool


def _without_blanks(model: type[BaseModel], row: Any) -> Any:
    """What was sent without the "" by which some clients fill in a field that may be left out."""
    if not isinstance(row, dict):
        return row
    optional = {name for name, field in model.model_fields.items() if not field.is_required()}
    return {name: value for name, value in row.items() if value != "" or name not in optional}


BLANK_IS_ABSENT = model_validator(mode="before")(classmethod(_without_blanks))


class SaudaAction(Action):
    """One move. `action_type` says which of the other fields count.

    In the bazaar: offer (with its price), accept, walk. In the arena: the fourteen actions of a
    lab.
    """

    blank_is_absent = BLANK_IS_ABSENT
    _fault: str = ""  # why what was sent is no action

    action_type: Literal[BAZAAR + ARENA] = Field(
        description=f"Bazaar: {', '.join(BAZAAR)}. Arena: {', '.join(ARENA)}."
    )
    price: Number | None = Field(None, description="Bazaar: rupees of an offer.")
    extras: Identifiers = Field(
        [], description="Bazaar: what a bid asks for at its price, where the table has extras."
    )
    message: str = Field("", max_length=LONGEST_TEXT, description="What is said with the move.")
    target_lab_id: Identifier | None = Field(
        None, description="Arena: the lab addressed, such as lab_1."
    )
    offer_id: Identifier | None = Field(None, description="Arena: the offer answered.")
    coalition_id: Identifier | None = Field(None, description="Arena: the coalition committed to.")
    job_id: Identifier | None = Field(None, description="Arena: the own job served.")
    block_ids: Identifiers = Field([], description="Arena: own blocks given, held or booked.")
    requested_block_ids: Identifiers = Field([], description="Arena: the other lab's blocks.")
    payment: Number = Field(
        0, description="Arena: credits you pay to the other lab; what it pays you is the ask."
    )
    conditions: dict[Identifier, Condition] = Field(
        {},
        max_length=MOST_CONDITIONS,
        description="Arena: "
        + "; ".join(f"{name}: {about}" for name, about in env.arena.CONDITIONS.items()),
    )


class SentAction(SaudaAction):
    """A move as a player sent it: the rules refuse one that is malformed, as any illegal move.

    A client of OpenEnv ends its program where a move is answered with an error.
    """

    model_config = ConfigDict(
        title=SaudaAction.__name__, json_schema_extra={"description": getdoc(SaudaAction)}
    )

    @model_validator(mode="wrap")
    @classmethod
    def _read(cls, sent: Any, read: Callable[[Any], "SentAction"]) -> "SentAction":
        try:
            return read(sent)
        except ValidationError as error:
            action = cls.model_construct(action_type="malformed")
            action._fault = describe_faults(error.errors())
            return action


def env_action(action: SaudaAction, task_name: str) -> Any:
    """The action as the rules of the task's game take it; IllegalAction where it is none of theirs.

    What is malformed for the arena's rules alone becomes `arena.Malformed`, which they answer.
    """
    game = game_of(task_name)
    if action._fault:
        names = ", ".join(("action_type", *sorted(FIELDS[game.name])))
        raise env.IllegalAction(f"{action._fault}; an action of the {game.name} has {names}")
    kinds = BAZAAR if game.name == "bazaar" else ARENA
    if action.action_type not in kinds:
        raise env.IllegalAction(f"an action of the {game.name} is one of {', '.join(kinds)}")
    row = action.model_dump(exclude_defaults=True, exclude={"action_type", "metadata"})
    if foreign := sorted(row.keys() - FIELDS[game.name]):
        raise env.IllegalAction(f"an action of the {game.name} has no {', '.join(foreign)}")
    if action.action_type == "offer" and action.price is None:
        raise env.IllegalAction("an offer needs a price")
    if action.extras and action.action_type != "offer":
        raise env.IllegalAction("only an offer has extras")
    return game.words.from_json({"action": action.action_type, **row})


@dataclass(frozen=True)
class ServedGame(LearnerGame):
    """One episode in progress or over."""

    task_name: str
    play: env.Play
    episode_id: str
    began: float  # time.monotonic
    seed_is_chosen: bool
    is_entered: bool = False  # a game of the leaderboard: its seed stays hidden at the end, too
    steps: int = 0
    error: str = ""  # why the last action was refused
    refusals: int = 0  # of the last actions, in a row
    ended: str = ""  # why the game was forfeited
    parts: Mapping[str, float] = field(default_factory=dict)  # of the last step's reward, by name

    @property
    def seed(self) -> int | str | None:
        """The seed as JSON; None while it is hidden."""
        is_known = (self.seed_is_chosen or self.over) and not self.is_entered
        return seed_in_json(self.play.seed) if is_known else None

    @property
    def grade(self) -> float:
        """The task's grade of the state; of a forfeited game of the leaderboard the lowest."""
        lost = self.is_entered and self.play.forfeit
        return WORST if lost else self.task.grade(self.play.state)

    @property
    def end(self) -> env.EndReason | None:
        return env.EndReason.FORFEIT if self.play.forfeit else self.task.env.end(self.play.state)


def start(
    task_name: str, seed: int | None, episode_id: str, now: float, is_entered: bool = False
) -> ServedGame:
    """A fresh episode up to the learner's first move; without a `seed`, of one nobody knows.

    Raises ValueError for an unknown task.
    """
    task = env.get_task(task_name)
    play = env.begin(task, draw_seed() if seed is None else seed)
    play = env.advance(task, task.opponents, play)
    return ServedGame(task_name, play, episode_id, now, seed is not None, is_entered)


def act(game: ServedGame, action: SaudaAction, now: float) -> ServedGame:
    """The game after the learner's action and the answers to it; ValueError once it is over."""
    if game.over:
        raise ValueError("this episode is over; reset starts a new one")
    if now - game.began > MOST_SECONDS:
        return forfeit(game, f"an episode lasts at most {MOST_SECONDS:.0f} seconds")
    if game.steps >= MOST_STEPS:
        return forfeit(game, f"an episode has at most {MOST_STEPS} steps")
    task, before = game.task, game.play
    try:
        play = env.move(task, before, env_action(action, game.task_name))
    except env.IllegalAction as error:
        return refuse(game, str(error))
    play = env.advance(task, task.opponents, play)
    after = replace(game, play=play, steps=game.steps + 1, error="", refusals=0)
    return replace(after, parts=_parts(before, after))


def refuse(game: ServedGame, why: str) -> ServedGame:
    """The game after a move that the rules refuse: a step, and nothing else."""
    return replace(game, steps=game.steps + 1, error=why, refusals=game.refusals + 1, parts={})


def forfeit(game: ServedGame, why: str) -> ServedGame:
    """The game as its player loses it, for `why`."""
    play = replace(game.play, forfeit=True)
    after = replace(game, play=play, steps=game.steps + 1, error="", ended=why)
    return replace(after, parts=_parts(game.play, after))


def _parts(before: env.Play, after: ServedGame) -> Mapping[str, float]:
    """The named parts of the reward for the learner's step and everybody's answers to it."""
    if after.task.learner == LEARNER:
        new = after.play.turns[len(before.turns) :]
        step = env.arena.total(env.arena.episode_rewards(before.state, new, LEARNER))
        return {part.name: getattr(step, part.name) for part in env.arena.COMPONENTS}
    return {GRADE: after.grade} if after.over else {}


class UnknownSplit(ValueError):
    """There is no split of that name; the text is a sentence."""


class NumberedTask(TypedDict):
    """One task at one seed."""

    id: str
    split: str
    index: int
    task: str
    seed: int


class TaskCard(BaseModel):
    """A task by name."""

    game: str
    description: str
    seat: str = Field(description="The seat that the caller plays.")
    seats: list[str]
    success: float = Field(description="Least grade of a success.")


def task_cards() -> dict[str, TaskCard]:
    """Every task of both games by name."""
    return {
        task.name: TaskCard(
            game=game_of(task).name,
            description=task.about,
            seat=task.learner,
            seats=list(task.env.agents),
            success=task.success,
        )
        for task in env.TASKS.values()
    }


def seeds_of(split: Any) -> range:
    """The seeds of a split; UnknownSplit naming the splits there are."""
    if not isinstance(split, str) or split not in SPLITS:
        raise UnknownSplit(f"a split is one of {', '.join(SPLITS)}, not {split!r:.40}")
    return SPLITS[split]


def count_tasks(split: Any) -> int:
    """The number of tasks of a split, one per task name and seed; raises UnknownSplit."""
    return len(env.TASKS) * len(seeds_of(split))


def numbered_task(split: Any, index: Any) -> NumberedTask:
    """The task at `index` of a split; UnknownSplit, or IndexError with a sentence.

    The tasks of one seed stand together: index 0 is the first task at the split's first seed.
    """
    seeds, names = seeds_of(split), tuple(env.TASKS)
    whole = isinstance(index, int) and not isinstance(index, bool)
    if not whole or not 0 <= index < count_tasks(split):
        last = count_tasks(split) - 1
        raise IndexError(f"an index of {split} is a whole number from 0 to {last}")
    seed, task = seeds[index // len(names)], names[index % len(names)]
    return {"id": f"{split}-{index}", "split": split, "index": index, "task": task, "seed": seed}


def list_tasks(split: Any, start: int | None = None, stop: int | None = None) -> list[NumberedTask]:
    """The tasks of a slice, at most the first PREVIEW of it; UnknownSplit where it is none."""
    chosen = range(count_tasks(split))[slice(start, stop)][:PREVIEW]
    return [numbered_task(split, index) for index in chosen]


RULES: Mapping[str, str] = tomllib.loads(
    Path(__file__).with_name("briefing.toml").read_text(encoding="utf-8")
)


def briefing(task: env.Task) -> str:
    """The rules of a task as the first observation says them: task, aim, moves, grading.

    A harness that gives a model the observation and the schema of an action, and nothing else, so
    gives it the rules. They depend on the task alone, so they cannot tell what an episode hides.
    """
    head = f"Task {task.name}: {task.about} You are `{task.learner}`."
    done = (
        f"A grade of at least {task.success:g} is a success. The episode ends when `done` is true."
    )
    if game_of(task).name == "arena":
        moves = f"{RULES['arena_moves']}\n{describe_arena_types()}"
        return "\n\n".join((head, RULES["lab"], moves, f"{RULES['arena_grade']} {done}"))
    market = env.MARKETS.get(task.name.removeprefix("bazaar/"))
    free, speaks = getattr(task.env, "version", 0) > 0, not (market and market.mute)
    extras, buys = getattr(task.env, "extras", ()), task.learner == "buyer"
    parts = {
        "sealed": len(task.env.agents) > 2,
        "standing": free and not extras,
        "words": free and speaks and buys,
        "pleas": free and not buys,
        "packages": bool(extras),
        "package_words": bool(extras) and speaks,
    }
    moves = "\n".join([RULES["bazaar_moves"], *(RULES[part] for part in parts if parts[part])])
    grade = RULES["market_grade" if free else "share_grade"]
    grade = f"{grade} {RULES.get(task.name, '')}".strip()
    return "\n\n".join((head, RULES[task.learner], moves, f"{grade} {done}"))


def describe_arena_types() -> str:
    """What each of the fourteen actions of a lab is for, and the fields that it takes."""

    def line(name: str, kind: env.arena.Kind) -> str:
        needs = f" Needs {', '.join(kind.required)}." if kind.required else ""
        may = f" May have {', '.join(kind.optional)}." if kind.optional else ""
        return f"{name}: {kind.purpose}{needs}{may}"

    return "\n".join(line(name, kind) for name, kind in env.arena.KINDS.items())
