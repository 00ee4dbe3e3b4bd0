"""The tools that only read: tasks, measured results, recorded games, and one's own game.

The docstrings and the descriptions of the parameters are what an agent reads.
"""

from collections import Counter
from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import Field

from env import IllegalAction, arena, episode
from sauda.games.transcript import to_json
from sauda.serve.episodes import Refused
from sauda.serve.mcp.moves import GameId, Name, is_arena, known
from sauda.serve.mcp.records import games_of, grades_of
from sauda.serve.mcp.room import Room, shown
from sauda.serve.openenv.actions import ARENA
from sauda.serve.openenv.game import ServedGame
from sauda.serve.openenv.observations import outcome_of
from sauda.serve.openenv.task_list import task_cards
from sauda.sessions.review import oracle

MOST_ACTIONS = 40  # of the legal ones, listed at a time
TaskName = Annotated[Name, Field(description="A name of list_tasks, such as bazaar/open.")]


def list_tasks(room: Room) -> dict[str, Any]:
    """The tasks by name: what is played, your seat, and the least grade that is a success."""
    return {"tasks": {name: card.model_dump() for name, card in task_cards().items()}}


def view_game(room: Room, game_id: GameId) -> dict[str, Any]:
    """Your game as your seat sees it now."""
    return shown(room.game(game_id))


def legal_actions(
    room: Room,
    game_id: GameId,
    action_type: Annotated[
        Literal[ARENA] | None, Field(description="List those of this type; else one of each.")
    ] = None,
) -> dict[str, Any]:
    """GPU arena: how many actions of each type are open to you now, with examples to take.

    There are more prices and sets of blocks than these.
    """
    game = room.game(game_id)
    if not is_arena(game):
        raise IllegalAction(
            "In the bazaar you may always offer or walk_away; accept needs a price of the other"
            " side, and reject one of your own."
        )
    actions = (
        [] if game.over else [each.as_json() for each in arena.legal_actions(game.observation)]
    )
    if action_type is None:
        examples = list({each["action_type"]: each for each in reversed(actions)}.values())
    else:
        examples = [each for each in actions if each["action_type"] == action_type]
    counts = Counter(each["action_type"] for each in actions)
    return {"counts": dict(counts), "actions": examples[:MOST_ACTIONS]}


def get_results(room: Room, task: TaskName) -> dict[str, Any]:
    """Measured results of a task: each policy's mean grade on hold-out seeds, with n and 95 %
    interval, and the file, command and commit behind it.
    """
    return {"task": task, "results": grades_of(known(task))}


def get_transcripts(
    room: Room,
    task: TaskName,
    policy: Annotated[
        Name | None, Field(description="Whose games to return with every move; else a list.")
    ] = None,
) -> dict[str, Any]:
    """Recorded games of a task: who played, how each ended, and move by move for one policy."""
    games = games_of(known(task))
    if policy is None:
        games = [{name: row[name] for name in row if name != "moves"} for row in games]
    else:
        games = [row for row in games if row["policy"] == policy]
    return {"task": task, "games": games}


def review_game(room: Room, game_id: GameId) -> dict[str, Any]:
    """After the end of your game: the outcome, what was hidden, the oracle's grade, every move.

    While the game runs this is refused, since all of it would give the other side away.
    """
    game = room.game(game_id)
    if not game.over:
        raise Refused(403, "This game still runs; what it hides is told when it is over.")
    found = oracle(game.task_name, game.play.seed)
    return {
        "outcome": outcome_of(game),
        "limits": limits(game),
        "oracle": None if found is None else asdict(found),
        "transcript": to_json(episode(game.task, game.play), "you"),
    }


def limits(game: ServedGame) -> list[dict[str, float]]:
    """The reservation prices of both sides in each deal of the bazaar, in rupees; else none."""
    if is_arena(game):
        return []
    return [
        {"buyer": deal.buyer["reservation"], "seller": deal.seller["reservation"]}
        for deal in game.play.state.private["nature"]
    ]


TOOLS = (list_tasks, view_game, legal_actions, get_results, get_transcripts, review_game)
