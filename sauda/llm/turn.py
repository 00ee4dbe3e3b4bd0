"""One turn of a language model, and whole games of turns: request a reply, parse it, apply it.

Every way to play a model goes through these functions: one game, many games in batches, a seller's
wording, and a visitor's game, whose replies stream. The seat says what is requested and how a reply
is parsed; `take_turns` repeats a request whose reply held no action, up to the seat's `tries`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from env import ChatGame, IllegalAction, Task, Turn, advance, move, new_chat, seed_of
from sauda.games import game_of
from sauda.games.adapter import Game, ModelTurn, ParsedReply, Prompt, Reply, Request
from sauda.llm.model import NamedModel
from sauda.llm.types import BatchGenerate, Generate
from sauda.llm.wrappers import Wrapper, keep

Replies = Callable[[Sequence[Request]], Sequence[Reply]]


class ModelSeat(Protocol):
    """A language model in a seat of a game. `tries` limits the replies to one turn."""

    tries: int

    def request(self, obs: Any, seed: int, invalid_replies: Sequence[str]) -> Request:
        """The request at `obs` after those replies to it that held no action."""

    def parse(self, obs: Any, reply: Reply, invalid_replies: Sequence[str]) -> ParsedReply:
        """The action that a whole reply amounts to."""


@dataclass(frozen=True)
class PromptSeat:
    """A model that writes its whole action in the prompt's format."""

    prompt: Prompt
    constrained: bool = False  # decode under the prompt's schema
    wrapper: Wrapper | None = None
    tries = 1

    def request(self, obs: Any, seed: int, invalid_replies: Sequence[str] = ()) -> Request:
        schema = self.prompt.schema(obs) if self.constrained else None
        return Request(self.prompt.render(obs), seed, schema)

    def parse(self, obs: Any, reply: Reply, invalid_replies: Sequence[str] = ()) -> ParsedReply:
        try:
            proposal = self.prompt.parse(reply.text, obs)
        except IllegalAction as error:
            proposal = error
        try:
            steered = (self.wrapper or keep)(obs, proposal)
        except IllegalAction as error:
            return ParsedReply(proposal, source=reply.source, error=str(error))
        return ParsedReply(proposal, steered.action, reply.source, steered.changes)


def take_turns(
    seats: Sequence[ModelSeat],
    observations: Sequence[Any],
    seeds: Sequence[Callable[[int], int]],
    replies: Replies,
) -> list[ModelTurn]:
    """One turn of each seat; all requests that are open at a time go to `replies` together.

    `seeds` gives the seed of each attempt at a turn, counted from 0. A turn without an action is
    one whose last allowed reply held none.
    """
    turns: list[ModelTurn | None] = [None] * len(seats)
    invalid: list[tuple[str, ...]] = [()] * len(seats)
    while open_turns := [i for i, turn in enumerate(turns) if turn is None]:
        requests = [
            seats[i].request(observations[i], seeds[i](len(invalid[i])), invalid[i])
            for i in open_turns
        ]
        for i, request, reply in zip(open_turns, requests, replies(requests), strict=True):
            parsed = seats[i].parse(observations[i], reply, invalid[i])
            if parsed.action is None and len(invalid[i]) + 1 < seats[i].tries:
                invalid[i] = (*invalid[i], reply.text)
            else:
                turns[i] = ModelTurn(observations[i], request, reply, parsed, invalid[i])
    return turns


def in_batches(generate: BatchGenerate) -> Replies:
    """Replies of one model, all requests in one batch."""
    return lambda requests: generate.batch(
        [request.messages for request in requests],
        [request.seed for request in requests],
        [request.schema for request in requests],
    )


def one_by_one(generate: Generate) -> Replies:
    """Replies of one model, one request at a time."""
    return lambda requests: [generate(r.messages, r.seed, r.schema) for r in requests]


def attempt_seeds(rng: np.random.Generator) -> Callable[[int], int]:
    """The seeds of the attempts at one turn, successive draws of `rng`."""
    drawn: list[int] = []

    def seed(attempt: int) -> int:
        while len(drawn) <= attempt:
            drawn.append(seed_of(rng))
        return drawn[attempt]

    return seed


@dataclass(frozen=True)
class LLMPolicy:
    """The model `generate` in `seat`, of any game. A turn without an action is a forfeit."""

    seat: ModelSeat
    generate: Generate

    def __call__(self, obs: Any, rng: np.random.Generator) -> Any:
        (turn,) = take_turns([self.seat], [obs], [attempt_seeds(rng)], one_by_one(self.generate))
        if turn.action is None:
            raise IllegalAction(turn.parsed.error)
        return turn.action


@dataclass(frozen=True)
class PlayerSpec:
    """A language model as a player: the model, its decoding and the wrapper around its moves."""

    generate: BatchGenerate
    constrained: bool = False  # decode under the schema of legal moves
    wrapper: Wrapper | None = None

    def seat(self, game: Game) -> PromptSeat:
        """The player's seat in `game`; ValueError for a wrapper in a game that has none."""
        if self.wrapper is not None and not game.has_wrappers:
            raise ValueError(f"a wrapper steers prices; the {game.name} is played without one")
        return PromptSeat(game.prompt, self.constrained, self.wrapper)

    def policy(self, game: Game) -> LLMPolicy:
        return LLMPolicy(self.seat(game), self.generate)

    @property
    def weights(self) -> str:
        """The name of the model whose weights are needed; "" where none are."""
        return self.generate.name if isinstance(self.generate, NamedModel) else ""


@dataclass
class ModelGame(ChatGame):
    """A game in progress between a language model and the task's own opponents.

    Games of one seed with different `salt` sample different tokens.
    """

    salt: tuple[int, ...] = ()
    turns: list[ModelTurn] = field(default_factory=list)  # of the model

    @property
    def grade(self) -> float:
        """The task's grade of the current state, in [-1, 1]."""
        return self.task.grade(self.play.state)

    def seed(self) -> int:
        """The seed of the next reply."""
        if not self.salt:
            return self.reply_seed()
        turn = sum(turn.agent == self.task.learner for turn in self.play.turns)
        # Turns from 1: zeros at the end add nothing, and [seed, 0] draws the game.
        return seed_of(np.random.default_rng([self.play.seed, *self.salt, turn + 1]))

    def apply(self, turn: ModelTurn) -> None:
        """Apply the model's turn, then the opponents' turns up to its next.

        Without an action, or with one that the rules refuse, it forfeits, which ends the game.
        """
        task, play, parsed = self.task, self.play, turn.parsed
        try:
            after = None if turn.action is None else move(task, play, turn.action)
        except IllegalAction as error:
            after, parsed = None, replace(parsed, action=None, error=str(error))
        if after is None:
            forfeit = Turn(task.env.to_act(play.state), turn.obs, None, parsed.error)
            after = replace(play, turns=(*play.turns, forfeit), forfeit=True)
        self.play = advance(task, task.opponents, after)
        self.turns.append(replace(turn, parsed=parsed, before=play))


def new_game(task: Task, seed: int, salt: tuple[int, ...] = ()) -> ModelGame:
    """The game of `seed` up to the learner's first turn."""
    return ModelGame(task, new_chat(task, seed).play, salt)


def play_games(games: Sequence[ModelGame], player: PlayerSpec) -> None:
    while running := [game for game in games if game.running]:
        play_turn(running, player)


def play_turn(games: Sequence[ModelGame], player: PlayerSpec) -> None:
    """One turn in each of `games`, all running, their replies in one batch.

    A game is the one that `rollout` plays alone, since its chance depends on (seed, agent, turn);
    but bf16 rounds otherwise in a batch, so a sampled token may differ where two are nearly as
    likely.
    """
    play_seats(games, [player.seat(game_of(game.task)) for game in games], player.generate)


def play_seats(
    games: Sequence[ModelGame], seats: Sequence[ModelSeat], generate: BatchGenerate
) -> None:
    """One turn in each of `games`, of the model in its seat."""
    observations = [game.observation for game in games]
    seeds = [lambda attempt, game=game: game.seed() for game in games]
    turns = take_turns(seats, observations, seeds, in_batches(generate))
    for game, turn in zip(games, turns, strict=True):
        game.apply(turn)
