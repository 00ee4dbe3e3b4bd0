"""Transcripts: the same game under several policies, side by side, to step through and download."""

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import gradio as gr
from markupsafe import Markup

from env import ARENA_TASKS, BAZAAR_TASKS, Deal, EndReason, Episode, get_task, rollout, rupees
from panels.transcripts import arena as arena_transcripts
from panels.transcripts import before_after
from panels.transcripts.arena import is_arena
from panels.ui.look import QUEUED, QUIET, downloads, heading, note, trouble
from panels.ui.offers import SMALL, deal_turns, ending, offer_chart, offers_of
from panels.ui.provenance import load_or_say
from sauda.evaluation.episodes import POLICIES, SEED
from sauda.llm.backends.served import in_page
from sauda.llm.games.bazaar import LLMPolicy
from sauda.llm.types import ReplyError
from sauda.policies import contestants, policy
from sauda.records.seeds import whole_seed
from sauda.records.store import Artifact
from sauda.records.transcript import in_words, to_json, to_markdown

TITLE = "Transcripts"
MOST = 4  # policies side by side
MODELS = ("mini", "sauda-mini")  # bare: the untrained base, and Sauda
SHOOT_OUT = ("bazaar/open", ("aggressive", "expert", *MODELS))
PUT_AWAY = "these games were put away after an hour; choose a task, a seed or a policy again"
MEDIANS = "evaluation/arena-holdout.json"  # tells at which seed two policies differ as usual


def able(task_name: str) -> list[str]:
    """Who can be picked for the learner's seat: scripts, and language models where they can buy."""
    task = get_task(task_name)
    return [*contestants(task), *(MODELS if task.learner == "buyer" else ())]


def play(task_name: str, seed: int | str, names: Sequence[str]) -> dict[str, Episode]:
    """One episode a policy, all at one seed; raises ValueError on a bad choice.

    Raises ReplyError where a language model is picked and cannot reply. May take a minute.
    """
    task = get_task(task_name)
    if not 1 <= len(names or ()) <= MOST:
        raise ValueError(f"pick one to {MOST} policies; {len(names or ())} are picked")
    if set(names) - set(able(task_name)):
        raise ValueError(f"the policies of {task_name} are {', '.join(able(task_name))}")
    number = whole_seed(seed)
    return {
        name: by_model(task_name, number, name)
        if name in MODELS
        else rollout(task, policy(task, name), number)
        for name in names
    }


@lru_cache(maxsize=64)
def by_model(task_name: str, seed: int, name: str) -> Episode:
    """An episode that a language model of this page plays, kept: a game takes it seconds."""
    task, model = get_task(task_name), in_page(name)
    model.wait()
    return rollout(task, LLMPolicy(model), seed)


def of_arena(episodes: dict[str, Episode]) -> bool:
    """Whether the episodes are of the GPU arena."""
    return is_arena(next(iter(episodes.values())).task)


def longest(episodes: dict[str, Episode]) -> int:
    """The most moves any of the episodes has; in the arena, of the learner."""
    if of_arena(episodes):
        return arena_transcripts.longest(episodes)
    return max(len(episode.turns) for episode in episodes.values())


def columns(episodes: dict[str, Episode], step: int) -> Markup:
    """The policies side by side after `step` moves each; in the arena, of the learner."""
    if of_arena(episodes):
        return arena_transcripts.columns(episodes, step)
    cards = [column(name, episode, step) for name, episode in episodes.items()]
    return Markup('<div class="sauda-cards">{}</div>').format(Markup("").join(cards))


def column(name: str, episode: Episode, step: int, words: bool = True) -> Markup:
    """One policy: how it ended, a strip, its offers, and its words unless they are not wanted."""
    task = get_task(episode.task)
    step = min(step, len(episode.turns))
    over = step == len(episode.turns)
    deal = len(episode.turns[max(0, step - 1)].observation.table.past)
    before = sum(len(deal_turns(episode, earlier)) for earlier in range(deal))
    return Markup('<section class="sauda-card"><h3>{}</h3>{}{}{}{}{}</section>').format(
        name,
        strips(episode, step),
        offer_chart(offers_of(episode, step - before, deal), SMALL),
        Markup("<p>Deal {} of {}.</p>").format(deal + 1, episode.final.table.deals)
        if episode.final.table.deals > 1
        else "",
        talk(episode, step) if words else "",
        outcome(episode, task.learner, task.grade(episode.final)) if over else "",
    )


MARKS = {
    "agreement": ("✓", "good", "accepted"),
    "walkaway": ("✕", "bad", "walked away"),
    "deadline": ("⧗", "bad", "ran out"),
    "forfeit": ("!", "bad", "forfeited"),
}


def strips(episode: Episode, step: int) -> Markup:
    """A strip a deal: as long as the rounds it took of those it had, with a mark for its end."""
    table = episode.final.table
    seen = episode.turns[:step]
    rows = []
    for index in range(table.deals):
        turns = [turn for turn in seen if len(turn.observation.table.past) == index]
        if index and not turns:
            continue
        over = index < len(table.past) and len(turns) == len(deal_turns(episode, index))
        forfeit = bool(turns) and turns[-1].action is None
        rounds = len({turn.observation.table.round for turn in turns if turn.agent != "seller"})
        rows.append(strip(rounds, table.rounds, table.past[index] if over else None, forfeit))
    return Markup('<div class="sauda-strips">{}</div>').format(Markup("").join(rows))


def strip(rounds: int, limit: int, deal: Deal | None, forfeit: bool = False) -> Markup:
    """One deal's strip; without `deal` it is still running, or was forfeited."""
    if deal is None and not forfeit:
        mark, tone, word = "…", "open", "open"
    else:
        mark, tone, word = MARKS["forfeit" if deal is None else str(deal.end)]
    if deal is not None and deal.price is not None and deal.buyer != "buyer":
        mark, tone, word = "✕", "bad", f"{deal.buyer.replace('_', ' ')} bought it"
    elif deal is not None and deal.end != EndReason.DEADLINE:
        word = f"{deal.by} {word}" + (f" {rupees(deal.price)}" if deal.price is not None else "")
    width = max(4, round(100 * rounds / limit))
    return Markup(
        '<div class="sauda-strip-row" title="{} of {} rounds"><span class="sauda-run sauda-{tone}"'
        ' style="width: {}%"></span><span class="sauda-mark sauda-{tone}">{} {}</span></div>'
    ).format(rounds, limit, width * 0.55, mark, word, tone=tone)


def talk(episode: Episode, step: int) -> Markup:
    """The moves up to `step`, one line each, by seat."""
    rows = [
        Markup('<li class="sauda-{}"><b>{}</b> {}</li>').format(
            "seller" if turn.agent == "seller" else "buyer", turn.agent, in_words(turn)
        )
        for turn in episode.turns[:step]
    ]
    return Markup('<ol class="sauda-talk">{}</ol>').format(Markup("").join(rows))


def outcome(episode: Episode, learner: str, grade: float) -> Markup:
    """Why it ended, and who gained what."""
    past = episode.final.table.past
    last = "a forfeit ended it" if episode.end == EndReason.FORFEIT else ending(past[-1])
    gains = ", ".join(f"{agent} {rupees(round(g, 2))}" for agent, g in episode.payoffs.items())
    return Markup("<p>{}. Surplus: {}. Grade {}.</p>").format(
        last[0].upper() + last[1:], gains, f"{grade:.3f}"
    )


def episodes_file(episodes: dict[str, Episode]) -> str:
    """The path of a fresh JSON file of the episodes, for the download button."""
    first = next(iter(episodes.values()))
    path = downloads() / f"{first.task.replace('/', '-')}-seed-{first.seed}.json"
    rows = [to_json(episode, name) for name, episode in episodes.items()]
    path.write_text(json.dumps(rows, ensure_ascii=False, indent=1), encoding="utf-8")
    return str(path)


def markdown_file(episodes: dict[str, Episode]) -> str:
    """The path of a fresh Markdown file of the episodes, one after another."""
    path = Path(episodes_file(episodes)).with_suffix(".md")
    texts = [to_markdown(episode, name) for name, episode in episodes.items()]
    path.write_text("\n".join(texts), encoding="utf-8")
    return str(path)


def again(episodes: dict[str, Episode]) -> Markup:
    """How to play these episodes from the command line."""
    first = next(iter(episodes.values()))
    names = ", ".join(episodes)
    return note(
        f"Played now, in this page, at one seed for all ({names}). Play it again: "
        f"python -m sauda play --task {first.task} --policy {next(iter(episodes))} "
        f"--seed {first.seed}"
    )


def usual(task_name: str, names: Sequence[str], seed: str) -> tuple[list[str], str]:
    """Policies and seed once another task is chosen: as they were where they can stay.

    Going over to the other game, it is that game's own pair or four, and its own seed.
    """
    there = able(task_name)
    kept = [name for name in names or () if name in there]
    if names and len(kept) == len(names):
        return kept, seed
    if is_arena(task_name):
        return list(arena_transcripts.DEMO), str(arena_transcripts.DEMO_SEED)
    if kept:
        return kept, seed
    return [name for name in POLICIES if name in there] or there[:MOST], str(SEED)


def median_pair(evaluation: Artifact | None, task_name: str) -> tuple[str, list[str], str]:
    """Task, policies and seed of the arena's “before and after”; ValueError without a record."""
    if evaluation is None:
        raise ValueError(
            f"there is no record to take the median of; artifacts/{MEDIANS} is missing"
        )
    name = task_name if is_arena(task_name) else list(ARENA_TASKS)[-1]
    seed = arena_transcripts.before_and_after(evaluation, name)
    return name, list(arena_transcripts.DEMO), str(seed)


def build() -> None:
    """Lay out the tab. Called inside a `gr.Tab`."""
    gr.HTML(heading(TITLE, "One seed, several policies: the same partners, the same luck."))
    evaluation, _ = load_or_say(MEDIANS)
    start = next(iter(BAZAAR_TASKS))
    with gr.Row():
        task_name = gr.Dropdown(
            [*BAZAAR_TASKS, *ARENA_TASKS],
            value=start,
            label="Task",
            filterable=False,
            min_width=260,
        )
        seed = gr.Textbox(str(SEED), label="Seed", max_lines=1)
        names = gr.Dropdown(
            able(start),
            value=list(POLICIES),
            multiselect=True,
            max_choices=MOST,
            label="Policies, up to four",
            scale=2,
            min_width=300,
        )
    with gr.Row(elem_classes="sauda-actions"):
        median = gr.Button("GPU arena, before and after", size="sm")
        demo = gr.Button(f"GPU arena, seed {arena_transcripts.DEMO_SEED}", size="sm")
        duel = gr.Button("Shoot-out: two scripts, the untrained base, Sauda", size="sm")
    after, before = arena_transcripts.DEMO
    gr.HTML(
        note(
            f"Before and after is {before} and {after} on one task, at the hold-out seed where"
            " their grades differ by the median of all that were played."
        )
    )
    problem = gr.HTML()
    games = gr.State(None, time_to_live=3600)  # the episodes on show, by policy
    episodes = play(start, SEED, POLICIES)
    moves = longest(episodes)
    step = gr.Slider(1, moves, value=moves, step=1, label="Moves shown", elem_classes="sauda-steps")
    shown = gr.HTML(columns(episodes, moves))
    with gr.Row(elem_classes="sauda-actions"):
        download = gr.DownloadButton("JSON", value=episodes_file(episodes), size="sm", scale=0)
        prose = gr.DownloadButton("Markdown", value=markdown_file(episodes), size="sm", scale=0)
    origin = gr.HTML(again(episodes))

    def replay(task_name: str, seed: int, names: list[str]):
        try:
            episodes = play(task_name, seed, names)
        except (ValueError, ReplyError) as error:
            return trouble(error), *[gr.skip()] * 6
        moves = longest(episodes)
        label = "Actions of lab_0 shown" if of_arena(episodes) else "Moves shown"
        slider = gr.Slider(1, moves, value=moves, step=1, label=label)
        files = episodes_file(episodes), markdown_file(episodes)
        return "", slider, columns(episodes, moves), *files, again(episodes), episodes

    # One answer for the choice and what follows from it, and the names read from the games: a
    # list of choices may come in twice, still with the names of the task before.
    def choose(task_name: str, names: list[str], seed: str):
        picker = gr.Dropdown(able(task_name), value=names)
        return task_name, picker, seed, *replay(task_name, seed, names)

    def change_task(task_name: str, games: dict[str, Episode] | None, seed: str):
        return choose(task_name, *usual(task_name, list(games or ()), seed))

    def show_median(task_name: str):
        try:
            return choose(*median_pair(evaluation, task_name))
        except ValueError as error:
            return *[gr.skip()] * 3, trouble(error), *[gr.skip()] * 6

    def show_demo():
        last = list(ARENA_TASKS)[-1]
        return choose(last, list(arena_transcripts.DEMO), str(arena_transcripts.DEMO_SEED))

    def shoot_out(seed: str):
        task_name, names = SHOOT_OUT
        return choose(task_name, list(names), seed)

    def show_step(games: dict[str, Episode] | None, step: int):
        """Draws the games that were played when they were chosen; plays none."""
        if games is None:
            return trouble(ValueError(PUT_AWAY)), gr.skip()
        return "", columns(games, int(step))

    shown_parts = [problem, step, shown, download, prose, origin, games]
    whole = [task_name, names, seed, *shown_parts]
    # A language model takes seconds for a game: these wait in the queue and show that they do.
    patient = {
        **QUEUED,
        "show_progress": "minimal",
        "concurrency_id": "transcripts",
        "concurrency_limit": 2,
    }
    task_name.input(change_task, [task_name, games, seed], whole, **patient)
    median.click(show_median, task_name, whole, **patient)
    demo.click(show_demo, None, whole, **patient)
    duel.click(shoot_out, seed, whole, **patient)
    gr.on(
        [seed.submit, seed.blur, names.input],
        replay,
        [task_name, seed, names],
        shown_parts,
        **patient,
    )
    gr.on(None, lambda: episodes, None, games, **QUIET)
    step.input(show_step, [games, step], [problem, shown], trigger_mode="always_last", **QUIET)
    before_after.build()
