"""Transcripts: games before and after training, and any game under up to four policies.

A rule chose the games before and after (`python -m sauda run before_after`); moves that differ are
marked. An event of the second part takes its `Page` and the values of its inputs, and returns new
values by component. A component that it leaves out keeps its value.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import gradio as gr
from markupsafe import Markup

from env import ARENA_TASKS, BAZAAR_TASKS, TASKS, EndReason, Episode, get_task
from panels.measured import LAB_FILE, weights
from panels.site.sessions import HOUR, no_longer_here
from panels.transcripts import episodes as games
from panels.transcripts.view import HTML, again, column, columns, dealt, longest
from panels.ui import wiring
from panels.ui.html import SAY
from panels.ui.look import QUEUED, QUIET, heading, note, stat, strip, trouble
from panels.ui.offers import offers_of
from panels.ui.provenance import lay_out_or_say, load_or_say, provenance, side_by_side
from panels.ui.terms import short, task_choices
from panels.ui.wiring import Updates, in_address, lay_out_address, on_address
from sauda.games.transcript import from_json, play_replies
from sauda.llm.types import ReplyError
from sauda.players import BASE, LISTENER, PEOPLE, SERVED, policy_label
from sauda.records.kinds import ArtifactError
from sauda.records.schemas.episodes import (
    BEST,
    PERCENTILES,
    POLICIES,
    SEED,
    SIDES,
    BeforeAfterTask,
    ChosenPair,
    gain,
)
from sauda.records.seeds import whole_seed
from sauda.records.store import Artifact, load

TITLE = "Transcripts"
PAIRS, ANY_GAME = "before-after", "any-game"  # ids of the sub-tabs
TYPICAL = ("50th", "90th", BEST)  # the first that gained by a deal is shown first
RANKS = {BEST: "largest gain with a deal"} | {why: f"{why} percentile" for why in PERCENTILES}
FIRST_TASK = next(iter(BAZAAR_TASKS))
ARGUMENTS = {
    "ask_cost": "what it cost", "ask_wear": "any faults", "ask_time": "how long it stays",
    "tea": "a friendly word", "cash": "cash at once", "outside": "a price elsewhere",
    "flaw": "a fault",
}  # fmt: skip
SHOOT_OUT_TASK, SHOOT_OUT = PEOPLE, ("conceder", LISTENER, BASE, SERVED)


def build() -> None:
    """Lay out the tab and wire it. Called inside a `gr.Tab`."""
    with gr.Tabs(elem_classes="sauda-subtabs", overflow_behavior="wrap"):
        with gr.Tab("Before and after training", id=PAIRS) as tab:
            lay_out_or_say(_pairs, tab)
        with gr.Tab("Any game, side by side", id=ANY_GAME) as tab:
            _any_game(tab)


# Before and after: which games --------------------------------------------------------------------


def pairs_of(artifact: Artifact, task_name: str) -> dict[str, ChosenPair]:
    """The pairs of games of a task, by the reason for which they were chosen."""
    return {pair.why: pair for pair in _of(artifact, task_name).chosen}


def _of(artifact: Artifact, task_name: str) -> BeforeAfterTask:
    return next(row for row in artifact.data.tasks if row.task == task_name)


def typical(artifact: Artifact, task_name: str) -> ChosenPair:
    """The pair of games to show first: the median gain, if it is above 0 and by a deal.

    Else the 90th percentile on the same condition, else the largest gain that ends in a deal, else
    the median as it is.
    """
    pairs = pairs_of(artifact, task_name)
    first = (pairs[why] for why in TYPICAL if why in pairs)
    gained = (p for p in first if p.after.end == EndReason.AGREEMENT and p.difference > 0)
    return next(gained, pairs[TYPICAL[0]])


def choices(artifact: Artifact, task_name: str) -> list[tuple[str, str]]:
    """The choices as (label, value): how the pair was chosen, and what training changed."""
    pairs = pairs_of(artifact, task_name)
    return [(f"{RANKS[why]}: {pair.difference:+z.0%}", why) for why, pair in pairs.items()]


def explain(artifact: Artifact, task_name: str) -> Markup:
    """In how many games training won more, what was said, and how the games were chosen."""
    row = _of(artifact, task_name)
    gains = [gain(b, a) for b, a in zip(row.before, row.after, strict=True)]
    won, lost = (sum(sign * g > 0 for g in gains) for sign in (1, -1))
    acts = {
        side: {ARGUMENTS.get(act, act.replace("_", " ")): n for act, n in row.acts[side].items()}
        for side in SIDES
    }
    verdict = SAY.better(won, lost, len(gains), acts)
    return heading(verdict) + note(HTML.rule(row, short(task_name)))


def pair_in_address(artifact: Artifact, pair: ChosenPair) -> dict[str, str]:
    """What the page's address says of a pair; nothing of the one that the tab opens with."""
    is_first = pair == find_pair(artifact, {})
    return {} if is_first else {"task": pair.before.task, "game": pair.why}


def find_pair(artifact: Artifact, query: Mapping[str, str]) -> ChosenPair:
    """The pair of games that an address names; the first one where it names none."""
    tasks = [row.task for row in artifact.data.tasks]
    task_name = query["task"] if query.get("task") in tasks else tasks[0]
    pairs = pairs_of(artifact, task_name)
    return pairs.get(query.get("game")) or typical(artifact, task_name)


# Before and after: what is drawn ------------------------------------------------------------------


def moves_of(pair: ChosenPair) -> int:
    """The moves of the longer game of a pair."""
    return max(len(record.moves) for record in (pair.before, pair.after))


def pair_of_games(pair: ChosenPair, step: int) -> Markup:
    """Both games of a seed after `step` moves each: item, limits, grades, and a card per game."""
    records = {side: getattr(pair, side) for side in SIDES}
    played = {side: from_json(record.as_json()) for side, record in records.items()}
    apart = differing(*played.values())
    figures = [
        stat(f"{record.grade:z.0%}", f"scored {side}: {policy_label(record.policy)}")
        for side, record in records.items()
    ]
    figures.append(stat(f"{pair.difference:+z.0%}", "what training changed"))
    cards = []
    for side, other in zip(SIDES, reversed(SIDES), strict=True):
        title = f"{side.capitalize()}: {policy_label(records[side].policy)}"
        beside = offers_of(played[other], step)
        cards.append(column(title, played[side], step, beside, apart, records[side].replies))
    return HTML.pair(dealt(played[SIDES[0]]), strip(*figures), cards)


def differing(before: Episode, after: Episode) -> list[int]:
    """The numbers of the learner's moves, from 0, that differ between the two games.

    The first is where the games part. A move differs by its price or its words; one that the other
    game has no more is not counted.
    """
    learner = get_task(before.task).learner
    pairs = zip(before.trajectory(learner), after.trajectory(learner), strict=False)
    return [i for i, (old, new) in enumerate(pairs) if old.action != new.action]


def replay_both(pair: ChosenPair) -> Markup:
    """Both games played again now from the recorded replies, beside their records."""
    parts = []
    for side in SIDES:
        record = getattr(pair, side)
        task = get_task(record.task)
        now = play_replies(task, record.policy, pair.seed, record.replies)
        what = f"share of what could be won {side} training, {policy_label(record.policy)}"
        grades = [record.grade], [now["grade"]]
        parts.append(side_by_side(what, grades, record.as_json(), now))
    parts.append(note("Played from the model’s recorded replies, against the task’s own sellers."))
    return Markup("").join(parts)


# Playing move by move ---------------------------------------------------------------------------

PACE = 0.8  # seconds between two moves while they are played
PLAY, PAUSE = "▶ Play", "⏸ Pause"  # what the button does next, which tells whether moves are played


class Player:
    """The button, the clock and the slider, placed as they are made for a game still to come."""

    def __init__(self) -> None:
        self.clock = gr.Timer(PACE, active=False)
        with gr.Row():
            self.play = gr.Button(PLAY, scale=0, min_width=120)
            self.step = gr.Slider(
                1, 2, value=1, step=1, label="Moves shown", elem_classes="sauda-steps"
            )
        self.controls = [self.play, self.clock, self.step]  # all that starting and stopping sets

    def show_all(self, moves: int, label: str = "Moves shown") -> Updates:
        """The slider at the end of a game of so many moves, and nothing played."""
        end = {self.step: gr.Slider(1, moves, value=moves, step=1, label=label)}
        return self.start_or_stop(True, moves, moves) | end

    def start_or_stop(self, playing: bool, step: int, moves: int) -> Updates:
        """Start to show a move after another, from the first one at the end; or stop.

        A game of 0 moves does not start.
        """
        starts = moves > 0 and not playing
        clock = {
            self.play: gr.Button(PAUSE if starts else PLAY),
            self.clock: gr.Timer(active=starts),
        }
        return clock | ({self.step: 1} if starts and step >= moves else {})

    def wire(
        self,
        inputs: Sequence[Any],
        moves: Callable[..., int],
        show_step: Callable[..., Updates],
        outputs: Sequence[Any],
    ) -> None:
        """Step through the game that `inputs` choose, of so many `moves`.

        `show_step` gets the values of `inputs` and a number of moves, and fills `outputs`.
        """

        def play_or_pause(*values: Any) -> Updates:
            *chosen, label, step = values
            return self.start_or_stop(label == PAUSE, step, moves(*chosen))

        def show_next(*values: Any) -> Updates:
            *chosen, step = values
            if step >= (last := moves(*chosen)):
                return self.start_or_stop(True, step, last)
            return show_step(*chosen, step + 1) | {self.step: step + 1}

        here = [*inputs, self.step]
        self.step.input(show_step, here, outputs, trigger_mode="always_last", **QUIET)
        self.play.click(play_or_pause, [*inputs, self.play, self.step], self.controls, **QUIET)
        self.clock.tick(show_next, here, [*outputs, *self.controls], **QUIET)


# Before and after: layout -------------------------------------------------------------------------


def _pairs(tab: gr.Tab) -> None:
    """Lay out the part, which is filled as `tab` is opened. Called inside it."""
    artifact = load(games.FILE)
    tasks = [row.task for row in artifact.data.tasks]
    chosen_by = gr.HTML()
    # Not "Task" and no seed in a label: the tab has inputs of those names.
    with gr.Row():
        where = gr.Radio(task_choices(tasks), value=tasks[0], label="Market", min_width=300)
        which = gr.Radio(
            choices(artifact, tasks[0]), value=typical(artifact, tasks[0]).why,
            label="Game, by what training changed", min_width=300,
        )  # fmt: skip
    player = Player()
    shown = gr.HTML(elem_id="transcripts-pair")
    press = gr.Button("Reproduce: play both games again, now", size="sm", scale=0)
    result = gr.HTML(elem_id="transcripts-reproduced")
    n = len(artifact.data.tasks[0].seeds)
    source = provenance(artifact, f"n = {n} paired hold-out seeds per task; {weights(artifact)}")
    address = lay_out_address("transcripts", PAIRS, ("task", "game"), tab)

    def chosen(task_name: str, why: str) -> ChosenPair:
        return pairs_of(artifact, task_name)[why]

    def show(pair: ChosenPair) -> Updates:
        task_name = pair.before.task
        return {
            shown: pair_of_games(pair, moves_of(pair)),
            chosen_by: explain(artifact, task_name) + source,
            where: task_name,
            which: gr.Radio(choices(artifact, task_name), value=pair.why),
            result: "",
            address.shown: in_address(pair_in_address(artifact, pair)),
            **player.show_all(moves_of(pair)),
        }

    def change_task(task_name: str) -> Updates:
        return show(typical(artifact, task_name))

    def change_game(task_name: str, why: str) -> Updates:
        return show(chosen(task_name, why))

    def show_step(task_name: str, why: str, step: int) -> Updates:
        return {shown: pair_of_games(chosen(task_name, why), int(step))}

    def reproduce(task_name: str, why: str) -> Markup:
        return replay_both(chosen(task_name, why))

    choice = [where, which]
    outputs = [shown, chosen_by, *choice, result, address.shown, *player.controls]
    where.input(change_task, where, outputs, **QUIET)
    which.input(change_game, choice, outputs, **QUIET)
    on_address(address, lambda query: show(find_pair(artifact, query)), outputs)
    player.wire(choice, lambda *given: moves_of(chosen(*given)), show_step, [shown])
    press.click(reproduce, choice, result, **QUIET)


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
        self.address = lay_out_address("transcripts", ANY_GAME, names, tab)
        self.of_choice = [self.task, self.seed, self.policies]
        outputs = [self.transcripts, self.command, self.episodes, self.address.shown]
        self.of_episodes = [*outputs, *self.player.controls]


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
        page.address.shown: in_address(game_in_address(task_name, str(seed), policies)),
    }


def game_in_address(task_name: str, seed: str, policies: Sequence[str]) -> dict[str, str]:
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
        label = "GPU arena before and after training, median gain (takes a minute)"
        worth.append((trained, games.median_gain(comparison, trained), games.TRAINED, label))
    record, _ = load_or_say(games.FILE)
    if record is not None:
        seed = typical(record, SHOOT_OUT_TASK).seed
        label = "A script, the planner, the untrained base and Sauda"
        worth.append((SHOOT_OUT_TASK, seed, SHOOT_OUT, label))
    links = []
    for task_name, seed, policies, words in worth:
        named = game_in_address(task_name, str(seed), policies)
        query = {"tab": "transcripts", "part": ANY_GAME, **named}
        links.append((urlencode(query, safe=",/"), words))
    return HTML.examples(links)


def _any_game(tab: gr.Tab) -> None:
    """Lay out the part and wire it. Called inside `tab`."""
    title = heading("One seed, several policies", "The same partners, the same luck.")
    gr.HTML(title + examples())
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
    on_address(page.address, wiring.bound(from_address, page), everything, patient)
    show = wiring.bound(show_step, page)
    page.player.wire(
        [page.episodes], lambda shown: longest(shown) if shown else 0, show, [page.transcripts]
    )
