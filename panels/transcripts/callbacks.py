"""What the Transcripts tab does on each event.

A callback takes the tab's `Layout` and the values of its inputs, and returns new values by
component. A component that it leaves out keeps its value.
"""

from collections.abc import Mapping, Sequence

import gradio as gr

from env import ARENA_TASKS, BAZAAR_TASKS, TASKS, Episode
from panels.site.sessions import no_longer_here
from panels.transcripts import arena as arena_transcripts
from panels.transcripts.before_after import typical
from panels.transcripts.episodes import (
    MODELS,
    MOST,
    able,
    files,
    median_pair,
    of_arena,
    play,
    player_choices,
    recorded_at,
    usual,
)
from panels.transcripts.layout import Layout
from panels.transcripts.playing import Updates, all_shown, show_next_move, start_or_stop
from panels.transcripts.view import again, columns, longest
from panels.ui.look import trouble
from panels.ui.wiring import in_address
from sauda.experiments.episodes import POLICIES, SEED
from sauda.llm.types import ReplyError
from sauda.records.kinds import ArtifactError
from sauda.records.seeds import whole_seed
from sauda.records.store import Artifact

FIRST_TASK = next(iter(BAZAAR_TASKS))
SHOOT_OUT_TASK, SHOOT_OUT = "bazaar/open", ("conceder", "listener", *MODELS)


def replay(page: Layout, task_name: str, seed: str, policies: Sequence[str]) -> Updates:
    """Plays the chosen policies and shows their episodes; a sentence on a bad choice."""
    try:
        episodes = play(task_name, seed, policies)
    except (ValueError, ReplyError) as error:
        return {page.problem: trouble(error)}
    json_path, markdown_path, problem = files(episodes)
    moves = longest(episodes)
    label = "Actions of the lab shown" if of_arena(episodes) else "Moves shown"
    return {
        page.problem: problem,
        **all_shown(page.player, moves, label),
        page.transcripts: columns(episodes, moves),
        page.json: json_path,
        page.markdown: markdown_path,
        page.command: again(episodes, recorded_at(task_name, whole_seed(seed))),
        page.episodes: episodes,
        page.address.shown: in_address(named_in_address(task_name, str(seed), policies)),
    }


def named_in_address(task_name: str, seed: str, policies: Sequence[str]) -> dict[str, str]:
    """What the page's address says of a choice; nothing of the one that the tab opens with."""
    if (task_name, seed.strip(), tuple(policies)) == (FIRST_TASK, str(SEED), POLICIES):
        return {}
    return {"task": task_name, "seed": seed.strip(), "policies": ",".join(policies)}


def from_address(page: Layout, query: Mapping[str, str]) -> Updates:
    """The choice that the page's address names, and its episodes."""
    task_name = query.get("task", FIRST_TASK)
    if task_name not in TASKS:
        fault = ValueError("the address names no task of this list")
        return {page.problem: trouble(fault), page.address.shown: in_address({})}
    seed, names = query.get("seed", str(SEED)), query.get("policies", "")
    policies = names.split(",") if names else usual(task_name, [], seed)[0]
    fault = ""
    if unknown := set(policies) - set(able(task_name)):
        fault = f"the address names {len(unknown)} policies that do not play this task"
        policies = usual(task_name, [], seed)[0]
    try:
        shown = choose(page, task_name, policies[:MOST], seed)
    except ArtifactError as error:  # the tuned script's numbers
        return {page.problem: trouble(error), page.address.shown: in_address({})}
    return shown | ({page.problem: trouble(ValueError(fault))} if fault else {})


def choose(page: Layout, task_name: str, policies: Sequence[str], seed: str) -> Updates:
    """The pickers at this choice, and its episodes.

    Both come in one answer: a picker whose choices changed may still send the names of the task
    before.
    """
    return {
        page.task: task_name,
        page.policies: gr.Dropdown(player_choices(task_name), value=list(policies)),
        page.seed: seed,
        **replay(page, task_name, seed, policies),
    }


def change_task(
    page: Layout, task_name: str, episodes: Mapping[str, Episode] | None, seed: str
) -> Updates:
    """Another task, under the policies on show where they can play it.

    Nothing where its episodes are shown already: a list tells its value again as it closes.
    """
    if task_name in {episode.task for episode in (episodes or {}).values()}:
        return {page.problem: gr.skip()}
    try:
        return choose(page, task_name, *usual(task_name, list(episodes or ()), seed))
    except ArtifactError as error:  # the tuned script's numbers
        return {page.problem: trouble(error)}


def show_median(page: Layout, evaluation: Artifact | None, task_name: str) -> Updates:
    """The untrained and the trained lab at the seed where their grades differ by the median."""
    try:
        return choose(page, *median_pair(evaluation, task_name))
    except ValueError as error:
        return {page.problem: trouble(error)}


def show_demo(page: Layout) -> Updates:
    """The arena's two experts at the demo seed."""
    seed = str(arena_transcripts.DEMO_SEED)
    return choose(page, list(ARENA_TASKS)[-1], arena_transcripts.DEMO, seed)


def shoot_out(page: Layout, record: Artifact | None, seed: str) -> Updates:
    """Two scripts, the untrained base and Sauda: at once on a recorded game's seed.

    Without the record of before and after, at the typed seed.
    """
    if record is not None:
        seed = str(typical(record, SHOOT_OUT_TASK).seed)
    try:
        return choose(page, SHOOT_OUT_TASK, SHOOT_OUT, seed)
    except ArtifactError as error:  # the tuned script's numbers
        return {page.problem: trouble(error)}


def play_or_pause(
    page: Layout, playing: bool, step: int, episodes: Mapping[str, Episode] | None
) -> Updates:
    """Start to show a move after another, from the first one at the end; or stop."""
    return start_or_stop(page.player, playing, step, longest(episodes) if episodes else 0)


def show_next(page: Layout, episodes: Mapping[str, Episode] | None, step: int) -> Updates:
    """One move more; the last one stops the clock."""
    moves = longest(episodes) if episodes else 0
    return show_next_move(page.player, step, moves, lambda after: show_step(page, episodes, after))


def show_step(page: Layout, episodes: Mapping[str, Episode] | None, step: int) -> Updates:
    """The episodes on show up to `step` moves; plays none."""
    if episodes is None:
        why = f"{no_longer_here('these games were')}; choose a task, a seed or a policy again"
        return {page.problem: trouble(ValueError(why))}
    return {page.problem: "", page.transcripts: columns(episodes, int(step))}
