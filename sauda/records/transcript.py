"""Episodes on paper: to JSON and back, and to Markdown for people.

The JSON holds what was done, not what was seen: reading it plays the moves again through the rules,
so an episode that could not have happened cannot be read.
"""

from collections.abc import Mapping
from typing import Any

from env import (
    Accept,
    Episode,
    IllegalAction,
    Offer,
    Play,
    Turn,
    WalkAway,
    arena,
    begin,
    episode,
    get_task,
    move,
    rupees,
)
from sauda.records import arena_transcript
from sauda.records.seeds import seed_in_json, whole_seed

ACTIONS = {"offer": Offer, "accept": Accept, "walk": WalkAway}
NAMES = {kind: name for name, kind in ACTIONS.items()}


def to_json(played: Episode, policy: str) -> dict[str, Any]:
    """The episode as plain data; `policy` names who took the learner's seat."""
    return {
        "task": played.task,
        "policy": policy,
        "seed": seed_in_json(played.seed),
        "end": str(played.end),
        "payoffs": {agent: round(value, 2) for agent, value in played.payoffs.items()},
        "grade": round(get_task(played.task).grade(played.final), 6),
        "moves": [_move(turn) for turn in played.turns],
    }


def _move(turn: Turn) -> dict[str, Any]:
    if turn.action is None:
        return {"agent": turn.agent, "action": "forfeit", "error": turn.error}
    if arena_transcript.is_of_arena(turn):
        return {"agent": turn.agent, **arena_transcript.move_row(turn.action)}
    row: dict[str, Any] = {"agent": turn.agent, "action": NAMES[type(turn.action)]}
    if isinstance(turn.action, Offer):
        row["price"] = turn.action.price
    return row | ({"message": turn.action.message} if turn.action.message else {})


def from_json(row: Mapping[str, Any]) -> Episode:
    """The episode that `row` records, played again move by move.

    Raises ValueError where the moves do not make an episode of that task and seed.
    """
    if missing := {"task", "seed", "moves"} - row.keys():
        raise ValueError(f"an episode names its task, seed and moves; {missing} is missing")
    task = get_task(row["task"])
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
            play = move(task, play, action(recorded))
        except IllegalAction as error:
            raise ValueError(f"move {number} breaks the rules: {error}") from error
        except (KeyError, ValueError) as error:
            raise ValueError(f"move {number} is no move: {error}") from error
    return episode(task, play)


Action = Offer | Accept | WalkAway | arena.Action | arena.Malformed


def action(row: Mapping[str, Any]) -> Action:
    """The action that a recorded move holds."""
    if arena_transcript.is_move(row):
        return arena_transcript.action_of(row)
    if row["action"] not in ACTIONS:
        raise ValueError(f"an action is one of {', '.join(ACTIONS)}, not {row['action']!r}")
    price = (row["price"],) if row["action"] == "offer" else ()
    return ACTIONS[row["action"]](*price, message=row.get("message", ""))


def in_words(turn: Turn) -> str:
    """One move as a sentence without its speaker, price first."""
    if turn.action is None:
        return f"forfeits: {turn.error}"
    if arena_transcript.is_of_arena(turn):
        return arena_transcript.in_words(turn.action)
    if isinstance(turn.action, Offer):
        verb = "asks" if turn.agent == "seller" else "bids"
        words = f"{verb} {rupees(turn.action.price)}"
    else:
        words = "accepts" if isinstance(turn.action, Accept) else "walks away"
    return f"{words}: “{turn.action.message}”" if turn.action.message else words


def to_markdown(played: Episode, policy: str) -> str:
    """The episode for people: every move in order, then how it ended and who gained what."""
    if played.task.startswith("arena/"):
        return arena_transcript.to_markdown(played, policy)
    task = get_task(played.task)
    lines = [f"# {played.task}, seed {played.seed}: {policy} as {task.learner}", ""]
    lines += [
        f"{number}. **{turn.agent}** {in_words(turn)}"
        for number, turn in enumerate(played.turns, 1)
    ]
    gains = ", ".join(f"{agent} {rupees(gain)}" for agent, gain in played.payoffs.items())
    return "\n".join([*lines, "", f"Ended by {played.end}. Surplus: {gains}.", ""])
