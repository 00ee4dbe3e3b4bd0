"""Transcripts of the GPU arena: a lab's steps by round, their rewards, what the others did."""

from collections.abc import Mapping, Sequence
from itertools import groupby

import numpy as np
from markupsafe import Markup

from env import ARENA_TASKS, Episode, arena, begin, get_task
from panels.results.models import policy_label
from panels.transcripts.playing import moves_of
from panels.ui.curve import curve
from panels.ui.terms import shown_round
from sauda.experiments.comparison import BASE, LAB
from sauda.games.arena_columns import Event, events
from sauda.records.seeds import SPLITS
from sauda.records.store import Artifact

DEMO_SEED = 5
DEMO = ("broker", "rule_based_expert")
TRAINING = (LAB, BASE)  # after and before
TRAINING_TASK = "arena/market_round"  # a game of coalition_market takes the model twice as long


def is_arena(task_name: str) -> bool:
    """Whether a task is one of the GPU arena."""
    return task_name in ARENA_TASKS


def before_and_after(comparison: Artifact, task_name: str) -> int:
    """The hold-out seed at which training changed the grade by the median amount.

    With an even count it is the lower of the two in the middle; of equal ones the first seed.
    """
    played = comparison.data.episodes[task_name]
    after, before = (np.array(played[name].grade) for name in TRAINING)
    n = min(len(after), len(before))
    order = np.argsort(after[:n] - before[:n], kind="stable")
    return SPLITS["holdout"][int(order[(n - 1) // 2])]


def longest(episodes: Mapping[str, Episode]) -> int:
    """The most actions the learner took in any of the episodes."""
    return max(len(e.trajectory(get_task(e.task).learner)) for e in episodes.values())


def columns(episodes: Mapping[str, Episode], step: int) -> Markup:
    """The policies side by side after `step` actions of the learner each, curves on one scale."""
    stories = {name: _story(episode) for name, episode in episodes.items()}
    sums = [0.0, *(event.cumulative for story in stories.values() for event in story)]
    scale = (min(sums), max(sums), longest(episodes))
    cards = [column(name, episodes[name], stories[name], step, scale) for name in episodes]
    return Markup('<div class="sauda-cards sauda-arena">{}</div>').format(Markup("").join(cards))


def _story(episode: Episode) -> tuple[Event, ...]:
    return events(episode, get_task(episode.task).learner)


def column(
    name: str,
    episode: Episode,
    story: Sequence[Event],
    step: int,
    scale: tuple[float, float, int],
) -> Markup:
    """One policy: its cumulative reward, its rounds up to `step`, and its result."""
    shown = upto(story, step)
    own = [event for event in shown if event.reward is not None]
    over = len(shown) == len(story)
    rounds = [round_block(index, list(group)) for index, group in _by_round(shown)]
    title = policy_label(name)
    return Markup('<section class="sauda-card"><h3>{}</h3>{}{}{}</section>').format(
        title,
        _curve([0.0, *(event.cumulative for event in own)], scale),
        moves_of(title, Markup("<div>{}</div>").format(Markup("").join(rounds)), over),
        outcome(episode) if over else "",
    )


def _curve(sums: Sequence[float], scale: tuple[float, float, int]) -> Markup:
    """The cumulative reward, action by action."""
    *span, length = scale
    sentence = f"Cumulative reward after {len(sums) - 1} actions: {sums[-1]:.3f}"
    return curve({"reward": sums}, length, "cumulative reward", sentence, "action", span)


def upto(story: Sequence[Event], step: int) -> list[Event]:
    """The events up to the learner's action number `step` and the others' answers to it."""
    taken, shown = 0, []
    for event in story:
        taken += event.reward is not None
        if taken > step:
            break
        shown.append(event)
    return shown


def _by_round(shown: Sequence[Event]):
    return groupby(shown, key=lambda event: event.round_index)


def round_block(index: int, shown: Sequence[Event]) -> Markup:
    """A round: shocks, the learner's actions with result and reward, the others' actions folded."""
    lines = []
    for event in shown:
        if not event.lab:
            lines.append(
                Markup('<li class="sauda-seller"><b>shock</b> {}</li>').format(event.words)
            )
        elif event.reward is not None:
            lines.append(own_line(event))
        elif event.code == "forfeit":
            lines.append(Markup('<li class="sauda-bad"><b>{}</b> {}</li>').format(*event[1:3]))
    others = [event for event in shown if event.lab and event.reward is None]
    return Markup("<h4>Round {}</h4><ul>{}</ul>{}").format(
        shown_round(index), Markup("").join(lines), _others(others)
    )


def own_line(event: Event) -> Markup:
    """One action: words, result code, reward with its parts, the sum so far."""
    parts = ", ".join(
        f"{name} {amount:+.3f}"
        for name, amount in zip(event.reward._fields, event.reward[:-1], strict=False)
        if amount
    )
    return Markup(
        '<li>{} <code class="sauda-{}">{}</code> <span class="sauda-money" title="{}">{} → {}'
        "</span></li>"
    ).format(
        event.words,
        "good" if event.ok else "bad",
        event.code,
        parts or "no component differs from 0",
        f"{event.reward.normalized_reward:+.3f}",
        f"{event.cumulative:.3f}",
    )


def _others(shown: Sequence[Event]) -> Markup:
    acted = [event for event in shown if event.code not in ("waited", "forfeit")]
    waits = sum(event.code == "waited" for event in shown)
    if not shown:
        return Markup("")
    if not acted:
        return Markup('<p class="sauda-note">The other labs wait.</p>')
    lines = [
        Markup('<li><b>{}</b> {} <code class="sauda-{}">{}</code></li>').format(
            event.lab, event.words, "good" if event.ok else "bad", event.code
        )
        for event in acted
    ]
    waiting = f", {waits} wait{'s' * (waits > 1)}" if waits else ""
    return Markup(
        "<details><summary>Other labs: {} action{}{}</summary><ul>{}</ul></details>"
    ).format(len(acted), "s" * (len(acted) > 1), waiting, Markup("").join(lines))


def outcome(episode: Episode) -> Markup:
    """Why the game ended, and the learner's utility and grade."""
    task = get_task(episode.task)
    own = episode.final.private[task.learner]
    start = begin(task, episode.seed).state
    rewards = arena.episode_rewards(start, episode.turns, task.learner)
    done = sum(job.completed for job in own.jobs)
    return Markup(
        "<p>{}. {} of {} jobs done. Utility {} credits: jobs {}, energy {}, trades {}, pools {};"
        " alone it could have had {}. Grade {}, reward {}.</p>"
    ).format(
        ENDED[str(episode.end)],
        done,
        len(own.jobs),
        f"{own.utility:.2f}",
        f"{own.job_value:+.2f}",
        f"{-own.energy:+.2f}",
        f"{own.deals:+.2f}",
        f"{own.pool:+.2f}",
        f"{own.batna:.2f}",
        f"{task.grade(episode.final):.3f}",
        f"{arena.total(rewards).normalized_reward:.3f}",
    )


ENDED = {
    "deadline": "The rounds ran out",
    "walkaway": "All labs had left",
    "forfeit": "It gave no legal action",
}
