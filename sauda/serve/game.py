"""The games as programs play them: the tasks, the action, one game as a value, the rules in words.

The caller has the learner's seat, scripts have the others. An illegal move changes nothing but
costs a step; a game that has used up its steps or its time is forfeited. The seed stays hidden
until the end unless the caller chose it, since it stands for every hidden value.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from openenv.core.env_server import Action
from pydantic import BaseModel, Field, model_validator
from typing_extensions import TypedDict

from env import (
    MARKETS,
    TASKS,
    EndReason,
    IllegalAction,
    Play,
    Task,
    advance,
    arena,
    begin,
    get_task,
    move,
)
from sauda.games import game_of
from sauda.records.seeds import SPLITS, draw_seed, seed_in_json
from sauda.sessions.arena import LEARNER

NAME, VERSION = "sauda", "1.0.0"  # under which both games are served
ABOUT = (
    "Bargaining in two games: a bazaar, where a buyer and a seller haggle over a price, and an"
    " arena, where labs trade GPU time."
)
DEFAULT_TASK = "bazaar/open"
MOST_STEPS = 200  # of an episode; the longest game takes 80 moves
MOST_SECONDS = 3600.0  # of an episode
GRADE = "grade"  # the part of the bazaar's reward
WORST = -1.0  # the lowest grade, which a game of the leaderboard counts that has no end
PREVIEW = 1_000  # tasks that are listed at a time
TYPES = {"train": "train", "holdout": "test"}  # of the splits, in OpenEnv's words
LONGEST_TEXT = 2_000  # characters; the rules of a game may ask for fewer
LONGEST_ID = 40
MOST_IDS = 24
MOST_CONDITIONS = 4

BAZAAR = ("offer", "accept", "walk")
ARENA = tuple(arena.KINDS)
FIELDS: Mapping[str, frozenset[str]] = {
    "bazaar": frozenset({"price", "message"}),
    "arena": frozenset(arena.Action._fields) - {"action_type"},
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

    action_type: Literal[BAZAAR + ARENA] = Field(
        description=f"Bazaar: {', '.join(BAZAAR)}. Arena: {', '.join(ARENA)}."
    )
    price: Number | None = Field(None, description="Bazaar: rupees of an offer.")
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
        + "; ".join(f"{name}: {about}" for name, about in arena.CONDITIONS.items()),
    )


def env_action(action: SaudaAction, task_name: str) -> Any:
    """The action as the rules of the task's game take it; IllegalAction where it is none of theirs.

    What is malformed for the arena's rules alone becomes `arena.Malformed`, which they answer.
    """
    game = game_of(task_name)
    kinds = BAZAAR if game.name == "bazaar" else ARENA
    if action.action_type not in kinds:
        raise IllegalAction(f"an action of the {game.name} is one of {', '.join(kinds)}")
    row = action.model_dump(exclude_defaults=True, exclude={"action_type", "metadata"})
    if foreign := sorted(row.keys() - FIELDS[game.name]):
        raise IllegalAction(f"an action of the {game.name} has no {', '.join(foreign)}")
    if action.action_type == "offer" and action.price is None:
        raise IllegalAction("an offer needs a price")
    return game.transcript.from_json({"action": action.action_type, **row})


@dataclass(frozen=True)
class ServedGame:
    """One episode in progress or over."""

    task_name: str
    play: Play
    episode_id: str
    began: float  # time.monotonic
    seed_is_chosen: bool
    is_entered: bool = False  # a game of the leaderboard: its seed stays hidden at the end, too
    steps: int = 0
    error: str = ""  # why the last action was refused
    ended: str = ""  # why the game was forfeited
    parts: Mapping[str, float] = field(default_factory=dict)  # of the last step's reward, by name

    @property
    def task(self) -> Task:
        return get_task(self.task_name)

    @property
    def over(self) -> bool:
        return self.play.forfeit or self.task.env.to_act(self.play.state) is None

    @property
    def observation(self) -> Any:
        """What the learner's seat sees."""
        return self.task.env.observe(self.play.state, self.task.learner)

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
    def end(self) -> EndReason | None:
        return EndReason.FORFEIT if self.play.forfeit else self.task.env.end(self.play.state)


def start(
    task_name: str, seed: int | None, episode_id: str, now: float, is_entered: bool = False
) -> ServedGame:
    """A fresh episode up to the learner's first move; without a `seed`, of one nobody knows.

    Raises ValueError for an unknown task.
    """
    task = get_task(task_name)
    play = begin(task, draw_seed() if seed is None else seed)
    play = advance(task, task.opponents, play)
    return ServedGame(task_name, play, episode_id, now, seed is not None, is_entered)


def act(game: ServedGame, action: SaudaAction, now: float) -> ServedGame:
    """The game after the learner's action and the answers to it; ValueError once it is over."""
    if game.over:
        raise ValueError("this episode is over; reset starts a new one")
    if now - game.began > MOST_SECONDS:
        return _forfeit(game, f"an episode lasts at most {MOST_SECONDS:.0f} seconds")
    if game.steps >= MOST_STEPS:
        return _forfeit(game, f"an episode has at most {MOST_STEPS} steps")
    task, before = game.task, game.play
    try:
        play = move(task, before, env_action(action, game.task_name))
    except IllegalAction as error:
        return replace(game, steps=game.steps + 1, error=str(error), parts={})
    play = advance(task, task.opponents, play)
    after = replace(game, play=play, steps=game.steps + 1, error="")
    return replace(after, parts=_parts(before, after))


def _forfeit(game: ServedGame, why: str) -> ServedGame:
    play = replace(game.play, forfeit=True)
    after = replace(game, play=play, steps=game.steps + 1, error="", ended=why)
    return replace(after, parts=_parts(game.play, after))


def _parts(before: Play, after: ServedGame) -> Mapping[str, float]:
    """The named parts of the reward for the learner's step and everybody's answers to it."""
    if after.task.learner == LEARNER:
        new = after.play.turns[len(before.turns) :]
        step = arena.total(arena.episode_rewards(before.state, new, LEARNER))
        return {part.name: getattr(step, part.name) for part in arena.COMPONENTS}
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
        for task in TASKS.values()
    }


def seeds_of(split: Any) -> range:
    """The seeds of a split; UnknownSplit naming the splits there are."""
    if not isinstance(split, str) or split not in SPLITS:
        raise UnknownSplit(f"a split is one of {', '.join(SPLITS)}, not {split!r:.40}")
    return SPLITS[split]


def count_tasks(split: Any) -> int:
    """The number of tasks of a split, one per task name and seed; raises UnknownSplit."""
    return len(TASKS) * len(seeds_of(split))


def numbered_task(split: Any, index: Any) -> NumberedTask:
    """The task at `index` of a split; UnknownSplit, or IndexError with a sentence.

    The tasks of one seed stand together: index 0 is the first task at the split's first seed.
    """
    seeds, names = seeds_of(split), tuple(TASKS)
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


BAZAAR_AIM = {
    "buyer": (
        "You buy. `bazaar.own.reservation` is your limit, what the item is worth to you: the less"
        " you pay below it, the more you gain, and above it you lose. Never pay more. The other"
        " side's limit is hidden. Without a deal you gain and lose nothing."
    ),
    "seller": (
        "You sell. `bazaar.own.reservation` is your limit, the least that the item is worth to you:"
        " the more you get above it, the more you gain, and below it you lose. The buyer's limit is"
        " hidden. Without a deal you gain and lose nothing."
    ),
}
BAZAAR_MOVES = """\
Legal moves, one per step:
{"action_type": "offer", "price": 450, "message": "what you say"} names a price in rupees, here 450:
your bid as the buyer, your ask as the seller. `bazaar.decimals` says how many decimals a price has.
A bid may not exceed `bazaar.own.purse`, or without a purse your limit.
{"action_type": "accept"} takes the other side's last price, of `bazaar.asks` or `bazaar.bids`, once
it has named one.
{"action_type": "walk"} leaves without a deal.
`bazaar.round` of `bazaar.rounds` rounds are over; after the last one there is no deal."""
SEALED = """
In each round every buyer moves without seeing the others' moves, and the highest bid counts.
`bazaar.outbid` says that it was not yours, `bazaar.rivals` who still bids."""
STANDING = """
Bids stand: the best of `bazaar.bids` counts, and a lower one changes nothing."""
WORDS = """
Every seller has a character and facts of its own, which only its words tell. With each bid you may
say one thing that a seller heeds, once in a game: ask what it paid, whether the item has a fault or
how long it stays; offer cash at once; say a friendly word; name a fault, or another shop's price,
which you know where `bazaar.own.quote` has it. What moves one seller annoys another, and so do lies
and repetitions."""
MARKET_GRADE = """\
Grading: the grade, in [-1, 1], is the mean over the deals and the reward of the last step. A deal
counts your share of the span between both sides' limits, times `own.discount` for each round after
the first; after the round `own.deadline`, where there is one, it counts 0. No deal counts 0, or,
where no price suits both sides, 1 times the discount. A deal at a loss counts minus the loss as a
share of the list price."""
SHARE_GRADE = """\
Grading: the grade, in [0, 1], is the mean over the deals and the reward of the last step. A deal
counts your share of the span between both sides' limits; no deal, or one at a loss, counts 0."""
MORE = {
    "classic/asymmetric_pressure": "After the round `own.deadline` it counts half.",
    "classic/career_10": "It counts up to 30 % less, the more of its rounds it takes.",
    "classic/read_the_tells": "A price on your side of the middle earns up to 0.15 more.",
}
ARENA_AIM = """\
You run the lab that `seat` names. Each of `arena.own.jobs` pays base_value x urgency_multiplier
once blocks with its GPU hours are booked before its deadline_round; late hours pay a third of that.
`arena.own.batna` is what your lab can gain alone: gain more by trading blocks with other labs, by
pools and by pitches. You may make `arena.actions_left` more actions in this round."""
ARENA_MOVES = 'Legal moves, one per step, such as {"action_type": "wait"}; the types are'
ARENA_GRADE = """\
Grading: the grade, in [-1, 1], is what your lab gained beyond `arena.own.batna`, as a share of what
its jobs are worth, `arena.own.stake`. 0 is what it could gain alone, and below 0 its deals lost.
The reward of each step has ten parts, `reward_parts`; an action against the rules lowers one."""


def briefing(task: Task) -> str:
    """The rules of a task as the first observation says them: task, aim, moves, grading.

    A harness that gives a model the observation and the schema of an action, and nothing else, so
    gives it the rules. They depend on the task alone, so they cannot tell what an episode hides.
    """
    head = f"Task {task.name}: {task.about} You are `{task.learner}`."
    done = (
        f"A grade of at least {task.success:g} is a success. The episode ends when `done` is true."
    )
    if game_of(task).name == "arena":
        moves = f"{ARENA_MOVES}\n{describe_arena_types()}"
        return "\n\n".join((head, ARENA_AIM, moves, f"{ARENA_GRADE} {done}"))
    buyers = [seat for seat in task.env.agents if seat != "seller"]
    market = MARKETS.get(task.name.removeprefix("bazaar/"))
    moves = BAZAAR_MOVES + SEALED * (len(buyers) > 1)
    if market:
        moves += STANDING + WORDS * (not market.mute)
    grade = f"{MARKET_GRADE if market else SHARE_GRADE} {MORE.get(task.name, '')}".strip()
    return "\n\n".join((head, BAZAAR_AIM[task.learner], moves, f"{grade} {done}"))


def describe_arena_types() -> str:
    """What each of the fourteen actions of a lab is for, and the fields that it takes."""

    def line(name: str, kind: arena.Kind) -> str:
        needs = f" Needs {', '.join(kind.required)}." if kind.required else ""
        may = f" May have {', '.join(kind.optional)}." if kind.optional else ""
        return f"{name}: {kind.purpose}{needs}{may}"

    return "\n".join(line(name, kind) for name, kind in arena.KINDS.items())
