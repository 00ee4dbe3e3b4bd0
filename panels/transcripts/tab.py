"""Transcripts: games before and after training, and any game under up to four policies.

An event of the second part takes its `Page` and the values of its inputs, and returns new values by
component. A component that it leaves out keeps its value.
"""

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

import gradio as gr
from markupsafe import Markup

from env import ARENA_TASKS, BAZAAR_TASKS, TASKS, Episode
from panels.results.models import LAB_FILE
from panels.site.sessions import HOUR, no_longer_here
from panels.transcripts import before_after
from panels.transcripts import episodes as games
from panels.transcripts.before_after import Player
from panels.transcripts.view import HTML, again, columns, longest
from panels.ui import wiring
from panels.ui.look import QUEUED, heading, trouble
from panels.ui.provenance import load_or_say
from panels.ui.terms import task_choices
from panels.ui.wiring import Updates, in_address
from sauda.experiments.episodes import POLICIES, SEED
from sauda.llm.types import ReplyError
from sauda.records.kinds import ArtifactError
from sauda.records.seeds import whole_seed

TITLE = "Transcripts"
PART = "any-game"  # id of the sub-tab
FIRST_TASK = next(iter(BAZAAR_TASKS))
SHOOT_OUT_TASK, SHOOT_OUT = "bazaar/open", ("conceder", "listener", *games.MODELS)


def build() -> None:
    """Lay out the tab and wire it. Called inside a `gr.Tab`."""
    with gr.Tabs(elem_classes="sauda-subtabs", overflow_behavior="wrap"):
        with gr.Tab("Before and after training", id=before_after.PART) as tab:
            before_after.build(tab)
        with gr.Tab("Any game, side by side", id=PART) as tab:
            _any_game(tab)


# Any game: events ---------------------------------------------------------------------------------


class Page:
    """The components of this part that an event reads or writes, placed as it is made."""

    def __init__(self, tab: gr.Tab) -> None:
        with gr.Row():
            self.task = gr.Dropdown(
                task_choices([*BAZAAR_TASKS, *ARENA_TASKS]), value=FIRST_TASK, label="Task",
                filterable=False, min_width=260, elem_id="transcripts-task",
            )  # fmt: skip
            self.seed = gr.Textbox(str(SEED), label="Seed", max_lines=1)
            self.policies = gr.Dropdown(
                games.player_choices(FIRST_TASK), value=list(POLICIES), multiselect=True,
                max_choices=games.MOST, label="Policies, up to four", scale=2, min_width=300,
                elem_id="transcripts-policies",
            )  # fmt: skip
        self.episodes = gr.State(None, time_to_live=HOUR)  # those on show, by policy
        self.player = Player()
        self.transcripts, self.command = gr.HTML(), gr.HTML()
        names = ("task", "seed", "policies")
        self.address = wiring.lay_out_address("transcripts", PART, names, tab)
        self.of_choice = [self.task, self.seed, self.policies]
        own = [self.transcripts, self.command, self.episodes, self.address.shown]
        self.of_episodes = [*own, *self.player.controls]


def replay(page: Page, task_name: str, seed: str, policies: Sequence[str]) -> Updates:
    """Plays the chosen policies and shows their episodes; a sentence on a bad choice."""
    try:
        episodes = games.play(task_name, seed, policies)
    except (ValueError, ReplyError) as error:
        return {page.transcripts: trouble(error)}
    moves = longest(episodes)
    label = "Actions of the lab shown" if task_name in ARENA_TASKS else "Moves shown"
    return {
        **page.player.show_all(moves, label),
        page.transcripts: columns(episodes, moves),
        page.command: again(episodes, games.recorded_at(task_name, whole_seed(seed))),
        page.episodes: episodes,
        page.address.shown: in_address(named_in_address(task_name, str(seed), policies)),
    }


def named_in_address(task_name: str, seed: str, policies: Sequence[str]) -> dict[str, str]:
    """What the page's address says of a choice; nothing of the one that the tab opens with."""
    if (task_name, seed.strip(), tuple(policies)) == (FIRST_TASK, str(SEED), POLICIES):
        return {}
    return {"task": task_name, "seed": seed.strip(), "policies": ",".join(policies)}


def from_address(page: Page, query: Mapping[str, str]) -> Updates:
    """The choice that the page's address names, and its episodes."""
    task_name = query.get("task", FIRST_TASK)
    if task_name not in TASKS:
        fault = ValueError("the address names no task of this list")
        return {page.transcripts: trouble(fault), page.address.shown: in_address({})}
    seed, names = query.get("seed", str(SEED)), query.get("policies", "")
    policies = names.split(",") if names else games.usual(task_name, [], seed)[0]
    if unknown := set(policies) - set(games.able(task_name)):
        fault = f"the address names {len(unknown)} policies that do not play this task"
        shown = choose(page, task_name, games.usual(task_name, [], seed)[0], seed)
        return shown | {page.transcripts: trouble(ValueError(fault)) + shown[page.transcripts]}
    return choose(page, task_name, policies[: games.MOST], seed)


def choose(page: Page, task_name: str, policies: Sequence[str], seed: str) -> Updates:
    """The pickers at this choice, and its episodes.

    Both come in one answer: a picker whose choices changed may still send the names of the task
    before.
    """
    try:
        shown = replay(page, task_name, seed, policies)
    except ArtifactError as error:  # the tuned script's numbers
        return {page.transcripts: trouble(error), page.address.shown: in_address({})}
    return {
        page.task: task_name,
        page.policies: gr.Dropdown(games.player_choices(task_name), value=list(policies)),
        page.seed: seed,
        **shown,
    }


def change_task(
    page: Page, task_name: str, episodes: Mapping[str, Episode] | None, seed: str
) -> Updates:
    """Another task, under the policies on show where they can play it.

    Nothing where its episodes are shown already: a list tells its value again as it closes.
    """
    if task_name in {episode.task for episode in (episodes or {}).values()}:
        return {page.transcripts: gr.skip()}
    return choose(page, task_name, *games.usual(task_name, list(episodes or ()), seed))


def show_step(page: Page, episodes: Mapping[str, Episode] | None, step: int) -> Updates:
    """The episodes on show up to `step` moves; plays none."""
    if episodes is None:
        why = f"{no_longer_here('these games were')}; choose a task, a seed or a policy again"
        return {page.transcripts: trouble(ValueError(why))}
    return {page.transcripts: columns(episodes, int(step))}


# Any game: layout ---------------------------------------------------------------------------------


def examples() -> Markup:
    """Links to games worth a look: the arena before and after training, experts, four buyers."""
    last, trained = list(ARENA_TASKS)[-1], games.TRAINING_TASK
    worth = [(last, games.ARENA_SEED, games.ARENA_POLICIES, f"GPU arena, seed {games.ARENA_SEED}")]
    comparison, _ = load_or_say(LAB_FILE)
    if comparison is not None:
        told = "GPU arena before and after training, median gain (takes a minute)"
        worth.append((trained, games.median_gain(comparison, trained), games.TRAINED, told))
    record, _ = load_or_say(games.FILE)
    if record is not None:
        seed = before_after.typical(record, SHOOT_OUT_TASK).seed
        told = "A script, the planner, the untrained base and Sauda"
        worth.append((SHOOT_OUT_TASK, seed, SHOOT_OUT, told))
    links = []
    for task_name, seed, policies, words in worth:
        named = named_in_address(task_name, str(seed), policies)
        query = {"tab": "transcripts", "part": PART, **named}
        links.append((urlencode(query, safe=",/"), words))
    return HTML.examples(links)


def _any_game(tab: gr.Tab) -> None:
    """Lay out the part and wire it. Called inside `tab`."""
    told = heading("One seed, several policies", "The same partners, the same luck.")
    gr.HTML(told + examples())
    page = Page(tab)
    everything = [*page.of_episodes, *page.of_choice]
    # A language model takes seconds for a game: these wait in the queue and show that they do.
    patient = {
        **QUEUED,
        "show_progress": "minimal",
        "show_progress_on": page.transcripts,
        "concurrency_id": "transcripts",
        "concurrency_limit": 2,
    }
    wiring.with_closed(
        [page.policies], [page.task.input], wiring.queue(change_task, page),
        [page.task, page.episodes, page.seed], everything, **patient,
    )  # fmt: skip
    chosen = [page.seed.submit, page.seed.blur, page.policies.input]
    gr.on(chosen, wiring.queue(replay, page), page.of_choice, page.of_episodes, **patient)
    wiring.on_address(page.address, wiring.bound(from_address, page), everything, patient)
    show = wiring.bound(show_step, page)
    page.player.wire(
        [page.episodes], lambda shown: longest(shown) if shown else 0, show, [page.transcripts]
    )
