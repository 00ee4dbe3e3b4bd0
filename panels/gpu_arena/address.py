"""The address of a world: its task and seed. A secret seed is in no address."""

from collections.abc import Mapping

import gradio as gr

from panels.gpu_arena.callbacks import begin, resume
from panels.gpu_arena.first_world import SEED, TASK
from panels.gpu_arena.layout import Layout
from panels.ui.wiring import Updates, in_address
from sauda.sessions.arena import ArenaGame

NAMES = ("task", "seed")


def named_in_address(game: ArenaGame) -> dict[str, str]:
    """What the page's address says of a world; nothing of the one that the tab opens with."""
    if (game.task_name, game.play.seed) == (TASK, SEED):
        return {}
    return {"task": game.task_name} | ({} if game.secret else {"seed": str(game.play.seed)})


def begin_here(page: Layout, task_name: str, seed: str, player: str) -> Updates:
    """A new game, and its address."""
    return _with_address(page, begin(page, task_name, seed, player))


def change_task(
    page: Layout, game: ArenaGame | None, task_name: str, seed: str, player: str
) -> Updates:
    """A new game of another task; nothing where the game is of that task already.

    A list tells its value again as it closes.
    """
    if game is not None and game.task_name == task_name:
        return {page.address.shown: gr.skip()}
    return begin_here(page, task_name, seed, player)


def open_world(page: Layout, player: str, query: Mapping[str, str]) -> Updates:
    """A new game in the world that an address names, or the first world."""
    first = {} if query else {"seed": str(SEED)}
    chosen = {"task": TASK} | first | dict(query)
    updates = begin_here(page, chosen["task"], chosen.get("seed", ""), player)
    if page.game not in updates:
        return updates
    return updates | {page.task: chosen["task"], page.seed: chosen.get("seed", "")}


def reopen(
    page: Layout, first: ArenaGame, player: str, earlier: str | None, query: Mapping[str, str]
) -> Updates:
    """The game of this browser tab from before it was reloaded, if it is in the world of `query`.

    Else a new game in that world; without one as `resume` does.
    """
    updates = resume(page, first, earlier)
    wanted = {name: query[name] for name in NAMES if name in query}
    if wanted and named_in_address(updates[page.game]) != wanted:
        return open_world(page, player, wanted)
    return _with_address(page, updates)


def _with_address(page: Layout, updates: Updates) -> Updates:
    """The updates, with the address of the game that they show."""
    if page.game not in updates:
        return updates
    return updates | {page.address.shown: in_address(named_in_address(updates[page.game]))}
