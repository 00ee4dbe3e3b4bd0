"""Games with a language model in one seat or in both, in batches: a forward pass a turn of all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from env import Play, Policy, Task, advance, agent_stream, begin
from sauda.evaluation.market.tournament.players import Side
from sauda.games.adapter import ModelTurn
from sauda.llm.turn import apply, attempt_seeds, in_batches, take_turns


@dataclass
class ModelPlay:
    """A game in progress, and the turns of its language models."""

    play: Play
    turns: list[tuple[str, ModelTurn]] = field(default_factory=list)  # with the seat


def play_sides(
    task: Task, sides: Mapping[str, Side], scripts: Mapping[str, Policy], seeds: Sequence[int]
) -> list[ModelPlay]:
    """The games of `seeds` to their ends: models in the seats of `sides`, policies in the others.

    Chance depends on (seed, agent, turn) as in `rollout`, but bf16 rounds otherwise in a batch.
    """
    games = [ModelPlay(advance(task, scripts, begin(task, seed))) for seed in seeds]
    while any(_next(task, game) for game in games):
        for agent, side in sides.items():
            due = [game for game in games if _next(task, game) == agent]
            for game, turn in zip(due, _turns(task, agent, side, due), strict=True):
                play, turn = apply(task, game.play, turn)
                game.play = advance(task, scripts, play)
                game.turns.append((agent, turn))
    return games


def _next(task: Task, game: ModelPlay) -> str | None:
    """The seat whose turn it is; None once the game is over."""
    return None if game.play.forfeit else task.env.to_act(game.play.state)


def _turns(task: Task, agent: str, side: Side, games: Sequence[ModelPlay]) -> list[ModelTurn]:
    """The next turn of `agent` in each of `games`, the replies in one batch."""
    plays = [game.play for game in games]
    taken = [sum(turn.agent == agent for turn in play.turns) for play in plays]
    return take_turns(
        [side.seat] * len(plays),
        [task.env.observe(play.state, agent) for play in plays],
        [
            attempt_seeds(agent_stream(task, play.seed, agent, number))
            for play, number in zip(plays, taken, strict=True)
        ],
        in_batches(side.generate),
    )
