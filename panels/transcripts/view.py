"""What the Transcripts tab draws of episodes: strips, offers, talk, outcome, side by side."""

from collections.abc import Collection, Sequence

from markupsafe import Markup

from env import Deal, EndReason, Episode, get_task, rupees
from panels.transcripts import arena as arena_transcripts
from panels.transcripts.before_after import FILE
from panels.transcripts.episodes import json_of, markdown_of, of_arena, player_title
from panels.transcripts.playing import moves_of
from panels.ui.downloads import text_link
from panels.ui.look import note
from panels.ui.offers import SMALL, deal_turns, ending, offer_chart, offers_of
from sauda.games import BAZAAR

MARKS = {
    "agreement": ("✓", "good", "accepted"),
    "walkaway": ("✕", "bad", "walked away"),
    "deadline": ("⧗", "bad", "ran out"),
    "forfeit": ("!", "bad", "forfeited"),
}


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
    """One policy: strip, offers, result, and its messages if `words`."""
    task = get_task(episode.task)
    step = min(step, len(episode.turns))
    over = step == len(episode.turns)
    deal = len(episode.turns[max(0, step - 1)].observation.table.past)
    before = sum(len(deal_turns(episode, earlier)) for earlier in range(deal))
    return Markup('<section class="sauda-card"><h3>{}</h3>{}{}{}{}{}</section>').format(
        player_title(name),
        strips(episode, step),
        offer_chart(offers_of(episode, step - before, deal), SMALL),
        Markup("<p>Deal {} of {}.</p>").format(deal + 1, episode.final.table.deals)
        if episode.final.table.deals > 1
        else "",
        moves_of(player_title(name), talk(episode, step), over) if words else "",
        outcome(episode, task.learner, task.grade(episode.final)) if over else "",
    )


def strips(episode: Episode, step: int) -> Markup:
    """One strip per deal: its length is the share of the rounds used, its mark how it ended."""
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
    """The strip of one deal; without `deal` it is still running, or was forfeited."""
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
    """The moves of a game of the bazaar up to `step`, one line each, by seat."""
    rows = [
        Markup('<li class="sauda-{}"><b>{}</b> {}</li>').format(
            "seller" if turn.agent == "seller" else "buyer",
            turn.agent,
            BAZAAR.columns.in_words(turn),
        )
        for turn in episode.turns[:step]
    ]
    return Markup('<ol class="sauda-talk">{}</ol>').format(Markup("").join(rows))


def outcome(episode: Episode, learner: str, grade: float) -> Markup:
    """Why the game ended, each agent's surplus in rupees, and the grade."""
    past = episode.final.table.past
    last = "a forfeit ended it" if episode.end == EndReason.FORFEIT else ending(past[-1])
    gains = ", ".join(f"{agent} {rupees(round(g, 2))}" for agent, g in episode.payoffs.items())
    return Markup("<p>{}. Surplus: {}. Grade {}.</p>").format(
        last[0].upper() + last[1:], gains, f"{grade:.3f}"
    )


def again(episodes: dict[str, Episode], recorded: Collection[str] = ()) -> Markup:
    """Links that save the episodes, how they came about, and a command to play the first again.

    `recorded` names those that were read from the record of before and after.
    """
    first = next(iter(episodes.values()))
    now = [name for name in episodes if name not in recorded]
    told = [f"Played now, in this page: {_listed(now)}."] if now else []
    if there := [name for name in episodes if name in recorded]:
        told.append(f"Recorded in {FILE}: {_listed(there)}.")
    name = f"{first.task}-seed-{first.seed}".replace("/", "-")
    links = [
        text_link(f"{name}.json", json_of(episodes), "JSON"),
        text_link(f"{name}.md", markdown_of(episodes), "Markdown"),
    ]
    return Markup("<p>Save these games: {} · {}</p>{}").format(
        *links,
        note(
            f"{' '.join(told)} One seed for all. Play it again: python -m sauda play --task "
            f"{first.task} --policy {next(iter(episodes))} --seed {first.seed}"
        ),
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(player_title, names))
