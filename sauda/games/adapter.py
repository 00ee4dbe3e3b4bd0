"""What the player needs to know about a game: one `Game` for the bazaar and one for the arena.

Requests to a language model, its replies, and its turns are values too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from env import Episode, Play, Policy, Task, Turn

Messages = Sequence[Mapping[str, str]]  # each with a "role" and its "content"
Schema = Mapping[str, Any]  # a JSON schema that a reply must meet


@dataclass(frozen=True, slots=True)
class Reply:
    """A completion, whole or still growing. `source` names the backend that gave it."""

    text: str
    source: str
    tokens: int = 0  # generated so far; 0 where a backend does not count them
    finish: str = ""  # "" while it grows; then stop (end of turn), object (a move) or length
    prompt_tokens: int = 0  # read; 0 where a backend does not count them


@dataclass(frozen=True)
class Request:
    """One request to a language model: its messages, seed, schema and sampling."""

    messages: Messages
    seed: int
    schema: Schema | None = None  # decode under this grammar; None for free text
    sampling: Any = None  # a `Sampling` of `sauda.llm`, where it is decoded; None before
    guesses: bool = False  # whether a pass may read guessed tokens: faster, with other rounding


@dataclass(frozen=True)
class ParsedReply:
    """The action that a reply amounts to, before and after a wrapper or a check."""

    proposal: Any  # the action in the reply, or the IllegalAction that says why it holds none
    action: Any = None  # the action that is taken; None where there is none
    source: str = ""  # whose words the action holds
    changes: tuple[str, ...] = ()  # how the action differs from the proposal, a sentence each
    error: str = ""  # why there is no action; "" where there is one


@dataclass(frozen=True)
class ModelTurn:
    """One turn of a language model: its last request, the reply to it, and the parsed action."""

    obs: Any
    request: Request
    reply: Reply
    parsed: ParsedReply
    invalid_replies: tuple[str, ...] = ()  # texts before `reply` that held no action
    before: Play | None = None  # the game before this turn, where a game is played

    @property
    def action(self) -> Any:
        """The action that was taken; None where the model forfeits."""
        return self.parsed.action


Columns = Mapping[str, Any]  # episodes of one task and policy: a list or a string per column
Worlds = Mapping[str, Any]  # what rows need of a task's seeds beside the columns


@dataclass(frozen=True)
class Evaluated:
    """An evaluation of one game before its tables are computed."""

    tasks: Sequence[str]
    policies: Sequence[str]
    seeds: Sequence[int]
    columns: Mapping[tuple[str, str], Columns]  # by task and policy
    worlds: Mapping[str, Worlds]  # by task
    get_policy: Callable[[Task, str], Policy]


class Prompt(Protocol):
    """What a language model reads of a game and how its replies are read: a module of the game."""

    def render(self, obs: Any) -> Messages:
        """The messages that ask for a move at `obs`."""

    def parse(self, text: str, obs: Any) -> Any:
        """The move in a reply; IllegalAction, a sentence, where it holds none."""

    def schema(self, obs: Any) -> Schema:
        """The grammar of legal replies at `obs`."""

    def preview(self, text: str, obs: Any) -> str:
        """The readable part of a reply that still grows; of the bazaar alone."""


class Words(Protocol):
    """A game's actions in words and as recorded moves: `bazaar_words.py`, `arena_words.py`."""

    def to_json(self, action: Any) -> dict[str, Any]:
        """The action as a recorded move, without its agent."""

    def from_json(self, row: Mapping[str, Any]) -> Any:
        """The action that a recorded move holds; ValueError for a kind that the game has not."""

    def in_words(self, turn: Turn) -> str:
        """The turn's action as a phrase without its agent."""

    def to_markdown(self, played: Episode, policy: str) -> str:
        """The episode for people."""


class Measures(Protocol):
    """What is counted of a game's episodes: `bazaar_columns.py`, `arena_columns.py`."""

    ENDS: Mapping[str, str]  # meaning of each letter of the column `end`
    METRICS: Sequence[str]  # columns whose means are figures of a row
    MODEL_COUNTS: Sequence[str]  # of a language model, per episode

    def episode_columns(self, task: Task, played: Sequence[Episode]) -> dict[str, Any]:
        """Episodes as columns."""

    def worlds_of(self, task_name: str, seeds: Sequence[int]) -> dict[str, Any]:
        """What rows need of the task's instances beside the columns, per seed."""

    def figures(self, task: Task, columns: Columns, worlds: Worlds) -> dict[str, Any]:
        """What a row holds beside METRICS, its ends and hashes."""

    def tables(self, played: Evaluated) -> dict[str, Any]:
        """Tables of an evaluation beside its rows."""

    def count_model(self, task: Task, turns: Sequence[ModelTurn]) -> dict[str, int]:
        """The MODEL_COUNTS of one episode from the model's turns."""


@dataclass(frozen=True)
class Game:
    """A game as the player sees it."""

    name: str
    tasks: Mapping[str, Task]
    prompt: Prompt
    words: Words
    columns: Measures
    baseline: str  # of an evaluation's paired differences
    episodes: int  # of an evaluation by default, per policy and task
    is_unseen: Callable[[Task, int], bool]  # whether no training game is like that of the seed
    has_wrappers: bool  # whether the wrappers that steer prices apply
    others: str = ""  # how rows and episodes name the other seats; "" where they do not
