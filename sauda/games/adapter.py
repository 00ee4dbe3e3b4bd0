"""What the player needs to know about a game: one `Game` for the bazaar and one for the arena.

Requests to a language model, its replies, and its turns are values too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
    passed: tuple[str, ...] = ()  # why the backends before this one gave none


@dataclass(frozen=True)
class Request:
    """One request to a language model: its messages, seed and schema."""

    messages: Messages
    seed: int
    schema: Schema | None = None  # decode under this grammar; None for free text


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
class Prompt:
    """How a language model reads a game and moves in it."""

    render: Callable[[Any], list[dict[str, str]]]  # an observation as chat messages
    parse: Callable[[str, Any], Any]  # completion, observation -> action, or raises IllegalAction
    schema: Callable[[Any], Schema]  # the legal actions at an observation, for constrained decoding


@dataclass(frozen=True)
class Transcript:
    """How actions of a game are written down."""

    to_json: Callable[[Any], dict[str, Any]]  # an action as a recorded move, without its agent
    from_json: Callable[[Mapping[str, Any]], Any]  # and back; raises ValueError, IllegalAction
    in_words: Callable[[Turn], str]  # a turn with an action, as a phrase without its agent
    to_markdown: Callable[[Episode, str], str]  # an episode of a named policy, for people


@dataclass(frozen=True)
class Evaluated:
    """An evaluation of one game before its tables are computed."""

    others: Sequence[str]  # who sits in the other seats, as `Game.against` takes it
    tasks: Sequence[str]
    policies: Sequence[str]
    seeds: Sequence[int]
    columns: Mapping[tuple[str, str, str], Columns]  # by others, task and policy
    worlds: Mapping[str, Worlds]  # by task
    get_policy: Callable[[Task, str], Policy]


@dataclass(frozen=True)
class Table:
    """How episodes of a game become columns, and columns become the figures of a row."""

    ends: Mapping[str, str]  # letter of the column "end" -> how an episode or deal ended
    metrics: tuple[str, ...]  # columns with a summary and a paired difference in each row
    episode_columns: Callable[[Task, Sequence[Episode]], dict[str, Any]]
    worlds: Callable[[str, Sequence[int]], dict[str, Any]]  # of a task over seeds
    figures: Callable[[Task, Columns, Worlds], dict[str, Any]]  # of a row, beside the metrics
    tables: Callable[[Evaluated], dict[str, Any]]  # of an evaluation, beside its rows
    model_counts: tuple[str, ...]  # further columns of a language model's episodes
    count_model: Callable[[Task, Sequence[ModelTurn]], dict[str, int]]  # of one episode


@dataclass(frozen=True)
class Game:
    """A game as the player sees it: tasks, policies, prompt, transcripts and tables."""

    name: str
    tasks: Mapping[str, Task]
    policies: Callable[[Task], Mapping[str, Policy]]  # who is compared in the learner's seat
    slow_policies: Callable[[Task], Mapping[str, Policy]]  # found by name, not compared by default
    against: Callable[[Task, str], Task]  # the task with other opponents, by name
    others: Mapping[str, tuple[str, ...]]  # which opponents are evaluated, by split of the seeds
    baseline: str  # of an evaluation's paired differences
    episodes: int  # of an evaluation by default, per policy and task
    prompt: Prompt
    preview: Callable[[str, Any], str]  # a growing completion at an observation, for people
    transcript: Transcript
    table: Table
    is_unseen: Callable[[Task, int], bool]  # whether no training game is like that of the seed
    has_wrappers: bool  # whether the wrappers that steer prices apply
    names_others: bool  # whether rows and episodes say who sat in the other seats
