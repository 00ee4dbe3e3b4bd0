"""What the Transcripts tab draws of episodes: pictures, moves and outcomes, side by side."""

import json
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate, groupby
from operator import attrgetter

from markupsafe import Markup

from env import (
    ARENA_TASKS,
    Deal,
    EndReason,
    Episode,
    Task,
    arena,
    begin,
    get_task,
    package_gain,
    rupees,
    shares,
    zopa_width,
)
from env.bazaar.prompt import QUOTED
from panels.transcripts.episodes import FILE, player_title
from panels.ui.html import macros, text_link
from panels.ui.offers import SMALL, Offers, curve, deal_turns, ending, offer_chart, offers_of
from sauda.games import BAZAAR
from sauda.games.arena_words import Event, events
from sauda.games.transcript import to_json, to_markdown
from sauda.players import policy_label

HTML = macros("transcripts")
MARKS = {
    "agreement": ("✓", "good", "accepted"),
    "walkaway": ("✕", "bad", "walked away"),
    "deadline": ("⧗", "bad", "ran out"),
    "forfeit": ("!", "bad", "forfeited"),
}
ARENA_ENDS = {
    "deadline": "The rounds ran out",
    "walkaway": "All labs had left",
    "forfeit": "It gave no legal action",
}


def of_arena(episodes: Mapping[str, Episode]) -> bool:
    """Whether the episodes are of the GPU arena."""
    return next(iter(episodes.values())).task in ARENA_TASKS


def longest(episodes: Mapping[str, Episode]) -> int:
    """The most moves any of the episodes has; in the arena, actions of the learner."""
    if of_arena(episodes):
        return max(len(e.trajectory(get_task(e.task).learner)) for e in episodes.values())
    return max(len(episode.turns) for episode in episodes.values())


def columns(episodes: Mapping[str, Episode], step: int) -> Markup:
    """The policies side by side after `step` moves each; in the arena, actions of the learner."""
    if of_arena(episodes):
        return arena_columns(episodes, step)
    return HTML.columns(
        [column(player_title(name), episode, step) for name, episode in episodes.items()]
    )


def again(episodes: Mapping[str, Episode], recorded: Collection[str] = ()) -> Markup:
    """Links that save the episodes, how they came about, and a command to play the first again.

    `recorded` names those that were read from the record of before and after.
    """
    policy, first = next(iter(episodes.items()))
    now = [player_title(name) for name in episodes if name not in recorded]
    then = [player_title(name) for name in episodes if name in recorded]
    sources = (("Played now, in this page", now), (f"Recorded in {FILE}", then))
    origins = [f"{how}: {', '.join(names)}." for how, names in sources if names]
    file = f"{first.task}-seed-{first.seed}".replace("/", "-")
    data = [to_json(episode, name) for name, episode in episodes.items()]
    prose = "\n".join(to_markdown(episode, name) for name, episode in episodes.items())
    links = [
        text_link(f"{file}.json", json.dumps(data, ensure_ascii=False, indent=1), "JSON"),
        text_link(f"{file}.md", prose, "Markdown"),
    ]
    return HTML.again(links, origins, first, policy)


# The bazaar -------------------------------------------------------------------------------------


def column(
    title: str,
    episode: Episode,
    step: int,
    beside: Offers | None = None,
    apart: Sequence[int] = (),
    replies: Sequence[str] = (),
) -> Markup:
    """One game after `step` moves: strips, offers, moves, and its result once over.

    `beside` are offers that it is compared with, `apart` and `replies` as in `talk`.
    """
    step, moves = min(step, len(episode.turns)), len(episode.turns)
    deal = len(episode.turns[max(0, step - 1)].observation.table.past)
    before = sum(len(deal_turns(episode, earlier)) for earlier in range(deal))
    picture = strips(episode, step)
    picture += offer_chart(offers_of(episode, step - before, deal), SMALL, beside)
    if (deals := episode.final.table.deals) > 1:
        picture += Markup("<p>Deal {} of {}.</p>").format(deal + 1, deals)
    task, over = get_task(episode.task), step == moves
    conversation = talk(episode, step, task.learner, apart, replies)
    end = Markup("<p>Move {} of {}.</p>").format(step, moves)
    if over:
        end = outcome(episode, task) + HTML.replies(replies)
    return HTML.policy(title, picture, conversation, over, end)


def strips(episode: Episode, step: int) -> Markup:
    """One strip per deal that has begun: the share of the rounds used, and how it ended."""
    table, seen, rows = episode.final.table, episode.turns[:step], []
    for index in range(table.deals):
        turns = [turn for turn in seen if len(turn.observation.table.past) == index]
        if index and not turns:
            continue
        over = index < len(table.past) and len(turns) == len(deal_turns(episode, index))
        deal = table.past[index] if over else None
        forfeit = bool(turns) and turns[-1].action is None
        rounds = len({turn.observation.table.round for turn in turns if turn.agent != "seller"})
        rows.append((rounds, table.rounds, *mark(deal, forfeit)))
    return HTML.strips(rows)


def mark(deal: Deal | None, forfeit: bool) -> tuple[str, str, str]:
    """How a deal ended, as a mark, its tone and a word; open without `deal`, if not forfeited."""
    if deal is None:
        return MARKS["forfeit"] if forfeit else ("…", "open", "open")
    if deal.price is not None and deal.buyer != "buyer":
        return "✕", "bad", f"{deal.buyer.replace('_', ' ')} bought it"
    sign, tone, word = MARKS[str(deal.end)]
    if deal.end == EndReason.DEADLINE:
        return sign, tone, word
    at = "" if deal.price is None else f" {rupees(deal.price)}"
    return sign, tone, f"{deal.by} {word}{at}"


def talk(
    episode: Episode,
    step: int,
    learner: str = "",
    apart: Sequence[int] = (),
    replies: Sequence[str] = (),
) -> Markup:
    """The moves of a game up to `step`, one line each, by seat.

    Moves of `learner` whose numbers, from 0, are in `apart` are marked as different from another
    game's. Its `replies`, where given, stand below what was no legal move.
    """
    number, lines = -1, []
    for turn in episode.turns[:step]:
        mark, reply, words = "", None, BAZAAR.words.in_words(turn)
        if turn.agent == learner:
            number += 1
            if number in apart:
                mark = "≠ the games differ from here" if number == apart[0] else "≠"
            if turn.action is None and replies:
                reply = replies[number]
                why = turn.error.removesuffix(f": {reply[:QUOTED]!r}")
                words = f"forfeits: this reply holds no legal move ({why}):"
        lines.append((turn.agent, words, mark, reply))
    return HTML.talk(lines)


def limits(episode: Episode) -> tuple[float, float]:
    """The limits of the buyer and of the seller in the first deal."""
    instance = episode.final.private["nature"][0]
    return instance.buyer["reservation"], instance.seller["reservation"]


def winnable(episode: Episode) -> float:
    """What both sides can win together in the first deal, in rupees; with the best package."""
    buyer, seller = limits(episode)
    return zopa_width(buyer + package_gain(episode.final.private["nature"][0]), seller)


def dealt(episode: Episode) -> Markup:
    """The item and the limits of a game that is over, so that nothing is hidden."""
    item = episode.final.private["nature"][0].item
    return HTML.dealt(episode, item, *limits(episode), winnable(episode))


def outcome(episode: Episode, task: Task) -> Markup:
    """Why the game ended, what the learner won, each agent's surplus in rupees, and the grade.

    What it won is a share of the ZOPA, told in a game of one deal.
    """
    table = episode.final.table
    is_forfeit = episode.end == EndReason.FORFEIT
    how = f"forfeited in round {table.round + 1}" if is_forfeit else ending(table.past[-1])
    won = [f"{share:.0%}" for share in shares(episode.final, task.learner)]
    grade = task.grade(episode.final)
    return HTML.outcome(how, won, winnable(episode), episode.payoffs, grade)


# The GPU arena ----------------------------------------------------------------------------------


def arena_columns(episodes: Mapping[str, Episode], step: int) -> Markup:
    """The policies after `step` actions of the learner each, their curves on one scale."""
    stories = {name: events(e, get_task(e.task).learner) for name, e in episodes.items()}
    sums = [0.0, *(event.cumulative for story in stories.values() for event in story)]
    cards = []
    for name, episode in episodes.items():
        shown = upto(stories[name], step)
        cumulative = [0.0, *(event.cumulative for event in shown if event.reward is not None)]
        sentence = f"Cumulative reward after {len(cumulative) - 1} actions: {cumulative[-1]:.3f}"
        picture = curve(
            {"reward": cumulative}, longest(episodes), "cumulative reward", sentence, "action",
            (min(sums), max(sums)),
        )  # fmt: skip
        over = len(shown) == len(stories[name])
        end = arena_outcome(episode) if over else ""
        by_round = groupby(shown, attrgetter("round_index"))
        moves = HTML.arena_rounds([(index, list(group)) for index, group in by_round])
        cards.append(HTML.policy(policy_label(name), picture, moves, over, end))
    return HTML.columns(cards, " sauda-arena")


def upto(story: tuple[Event, ...], step: int) -> list[Event]:
    """The events up to the learner's action number `step` and the others' answers to it."""
    taken = accumulate(event.reward is not None for event in story)
    return [event for event, number in zip(story, taken, strict=True) if number <= step]


def arena_outcome(episode: Episode) -> Markup:
    """Why the game ended, and the learner's utility and grade."""
    task = get_task(episode.task)
    start = begin(task, episode.seed).state
    rewards = arena.episode_rewards(start, episode.turns, task.learner)
    reward = arena.total(rewards).normalized_reward
    private, how = episode.final.private[task.learner], ARENA_ENDS[str(episode.end)]
    return HTML.arena_outcome(how, private, task.grade(episode.final), reward)
