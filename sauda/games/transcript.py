"""Episodes as JSON, replayed from JSON, and as Markdown.

The JSON holds what was done, not what was seen: reading it plays the moves again through the rules,
so an episode that could not have happened cannot be read.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from env import Episode, IllegalAction, Play, Task, Turn, begin, episode, get_task, move, rollout
from sauda.games import game_of
from sauda.records.seeds import seed_in_json, whole_seed


def to_json(played: Episode, policy: str) -> dict[str, Any]:
    """The episode as plain data; `policy` names who took the learner's seat."""
    return {
        "task": played.task,
        "policy": policy,
        "seed": seed_in_json(played.seed),
        "end": str(played.end),
        "payoffs": {agent: round(value, 2) for agent, value in played.payoffs.items()},
        "grade": round(get_task(played.task).grade(played.final), 6),
        "moves": [_move(played.task, turn) for turn in played.turns],
    }


def _move(task_name: str, turn: Turn) -> dict[str, Any]:
    if turn.action is None:
        return {"agent": turn.agent, "action": "forfeit", "error": turn.error}
    return {"agent": turn.agent, **game_of(task_name).words.to_json(turn.action)}


def from_json(row: Mapping[str, Any]) -> Episode:
    """The episode that `row` records, played again move by move.

    Raises ValueError where the moves do not make an episode of that task and seed.
    """
    if missing := {"task", "seed", "moves"} - row.keys():
        raise ValueError(f"an episode names its task, seed and moves; {missing} is missing")
    task = get_task(row["task"])
    words = game_of(task).words
    play = begin(task, whole_seed(row["seed"]))
    for number, recorded in enumerate(row["moves"], start=1):
        agent = None if play.forfeit else task.env.to_act(play.state)
        if recorded["agent"] != agent:
            raise ValueError(f"move {number} is by {recorded['agent']}, but {agent} is to act")
        if recorded["action"] == "forfeit":
            turn = Turn(agent, task.env.observe(play.state, agent), None, recorded["error"])
            play = Play(play.seed, play.state, (*play.turns, turn), forfeit=True)
            continue
        try:
            play = move(task, play, words.from_json(recorded))
        except IllegalAction as error:
            raise ValueError(f"move {number} breaks the rules: {error}") from error
        except (KeyError, ValueError) as error:
            raise ValueError(f"move {number} is no move: {error}") from error
    return episode(task, play)


def in_words(task_name: str, turn: Turn) -> str:
    """A turn of that task as a phrase without its agent."""
    return game_of(task_name).words.in_words(turn)


def to_markdown(played: Episode, policy: str) -> str:
    """The episode for people: every move in order, then how it ended and who gained what."""
    return game_of(played.task).words.to_markdown(played, policy)


def play_replies(task: Task, name: str, seed: int, replies: Sequence[str]) -> dict[str, Any]:
    """The game that `replies` give at `seed` against the task's own opponents, as JSON."""
    texts, prompt = iter(replies), game_of(task).prompt

    def says(obs: Any, rng: Any) -> Any:
        return prompt.parse(next(texts, ""), obs)  # a reply that is missing is no move

    played = rollout(task, says, seed)
    used = len(played.trajectory(task.learner))
    return to_json(played, name) | {"replies": list(replies[:used])}
