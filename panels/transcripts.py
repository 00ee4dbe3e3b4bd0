"""Transcripts: the same game under several policies, side by side, to step through and download."""

import json
from collections.abc import Sequence

import gradio as gr
from markupsafe import Markup

from env import BAZAAR_TASKS, Deal, EndReason, Episode, rollout, rupees, task
from panels.look import downloads, heading, note, trouble
from panels.offers import SMALL, deal_turns, ending, offer_chart, offers_of
from sauda.haggle import whole_seed
from sauda.policies import contestants, policy
from sauda.record import POLICIES, SEED
from sauda.transcript import in_words, to_json

TITLE = "Transcripts"
MOST = 4  # policies side by side


def play(task_name: str, seed: int | str, names: Sequence[str]) -> dict[str, Episode]:
    """One episode a policy, all at one seed; raises ValueError on a bad choice."""
    here = task(task_name)
    if not 1 <= len(names or ()) <= MOST:
        raise ValueError(f"pick one to {MOST} policies; {len(names or ())} are picked")
    number = whole_seed(seed)
    return {name: rollout(here, policy(here, name), number) for name in names}


def longest(episodes: dict[str, Episode]) -> int:
    """The most moves any of the episodes has."""
    return max(len(episode.turns) for episode in episodes.values())


def columns(episodes: dict[str, Episode], step: int) -> Markup:
    """The policies side by side after `step` moves each."""
    cards = [column(name, episode, step) for name, episode in episodes.items()]
    return Markup('<div class="sauda-cards">{}</div>').format(Markup("").join(cards))


def column(name: str, episode: Episode, step: int, words: bool = True) -> Markup:
    """One policy: how it ended, a strip, its offers, and its words unless they are not wanted."""
    here = task(episode.task)
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
        outcome(episode, here.learner, here.grade(episode.final)) if over else "",
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


def again(episodes: dict[str, Episode]) -> Markup:
    """How to play these episodes from the command line."""
    first = next(iter(episodes.values()))
    names = ", ".join(episodes)
    return note(
        f"Played now, in this page, at one seed for all ({names}). Play it again: "
        f"python -m sauda play --task {first.task} --policy {next(iter(episodes))} "
        f"--seed {first.seed}"
    )


def build() -> None:
    """Lay out the tab. Called inside a `gr.Tab`."""
    gr.HTML(heading(TITLE, "One seed, several policies: the same seller, the same luck."))
    start = next(iter(BAZAAR_TASKS))
    with gr.Row():
        task_name = gr.Dropdown(
            list(BAZAAR_TASKS), value=start, label="Task", filterable=False, min_width=260
        )
        seed = gr.Textbox(str(SEED), label="Seed", max_lines=1)
        names = gr.Dropdown(
            list(contestants(task(start))),
            value=list(POLICIES),
            multiselect=True,
            max_choices=MOST,
            label="Policies, up to four",
            scale=2,
            min_width=300,
        )
    problem = gr.HTML()
    episodes = play(start, SEED, POLICIES)
    moves = longest(episodes)
    step = gr.Slider(1, moves, value=moves, step=1, label="Moves shown", elem_classes="sauda-steps")
    shown = gr.HTML(columns(episodes, moves))
    download = gr.DownloadButton("JSON", value=episodes_file(episodes), size="sm", scale=0)
    origin = gr.HTML(again(episodes))

    def replay(task_name: str, seed: int, names: list[str]):
        try:
            episodes = play(task_name, seed, names)
        except ValueError as error:
            return trouble(error), *[gr.skip()] * 4
        moves = longest(episodes)
        slider = gr.Slider(1, moves, value=moves, step=1)
        return "", slider, columns(episodes, moves), episodes_file(episodes), again(episodes)

    def change_task(task_name: str, names: list[str]):
        able = list(contestants(task(task_name)))
        kept = [name for name in names if name in able] or able[:MOST]
        return gr.Dropdown(able, value=kept)

    def show(task_name: str, seed: int, names: list[str], step: int):
        try:
            return "", columns(play(task_name, seed, names), int(step))
        except ValueError as error:
            return trouble(error), gr.skip()

    quiet = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
    shown_parts = [problem, step, shown, download, origin]
    task_name.input(change_task, [task_name, names], names, **quiet).then(
        replay, [task_name, seed, names], shown_parts, **quiet
    )
    gr.on(
        [seed.submit, seed.blur, names.input],
        replay,
        [task_name, seed, names],
        shown_parts,
        **quiet,
    )
    slid = [task_name, seed, names, step]
    step.input(show, slid, [problem, shown], trigger_mode="always_last", **quiet)
