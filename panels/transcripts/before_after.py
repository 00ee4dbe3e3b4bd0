"""One seed played before and after training, side by side, with the differences marked.

The rule of `sauda.experiments.before_after` chooses the games.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
from markupsafe import Markup

from env import EndReason, Episode, Turn, get_task, rupees, shares, zopa_width
from panels.results.models import policy_label, weights
from panels.transcripts.playing import Player, all_shown, lay_out_player, wire
from panels.ui.look import QUIET, heading, note, stat, strip
from panels.ui.offers import SMALL, ending, offer_chart, offers_of
from panels.ui.provenance import Beside, load_or_say, provenance, side_by_side
from panels.ui.terms import could_be_won, nothing_to_win, short, task_choices
from panels.ui.wiring import Address, Updates, in_address, lay_out_address, on_address
from sauda.experiments.before_after import (
    BEST,
    PERCENTILES,
    SIDES,
    BeforeAfterTask,
    ChosenPair,
    gain,
    play_replies,
)
from sauda.experiments.episodes import ModelEpisode
from sauda.games.bazaar_prompt import QUOTED
from sauda.games.transcript import from_json, in_words
from sauda.records.store import Artifact, digest

FILE = "episodes/before_after.json"
PART = "before-after"  # id of the sub-tab
MARKS = note(
    "≠ marks a move whose price or words differ from the other game’s in that round. Both games"
    " have the same seller and the same seed."
)
TYPICAL = ("50th", "90th", BEST)  # the first that gained by a deal is shown first
RANKS = {BEST: "largest gain with a deal"} | {why: f"{why} percentile" for why in PERCENTILES}


def typical(artifact: Artifact, task_name: str) -> ChosenPair:
    """The pair of games to show first: the median gain, if it is above 0 and by a deal.

    Else the 90th percentile on the same condition, else the largest gain that ends in a deal, else
    the median as it is.
    """
    pairs = {pair.why: pair for pair in _of(artifact, task_name).chosen}
    gained = [why for why in TYPICAL if why in pairs and _gained_by_a_deal(pairs[why])]
    return pairs[next(iter(gained), TYPICAL[0])]


def _gained_by_a_deal(pair: ChosenPair) -> bool:
    return pair.after.end == EndReason.AGREEMENT and pair.difference > 0


def pick(artifact: Artifact, task_name: str, why: str) -> ChosenPair:
    """The pair of games of a task that was chosen for the reason `why`."""
    return next(pair for pair in _of(artifact, task_name).chosen if pair.why == why)


def _of(artifact: Artifact, task_name: str) -> BeforeAfterTask:
    return next(row for row in artifact.data.tasks if row.task == task_name)


def choices(artifact: Artifact, task_name: str) -> list[tuple[str, str]]:
    """The choices as (label, value): how the pair was chosen, and the difference of its grades."""
    return [
        (f"{RANKS[pair.why]}: {pair.difference:+.3f}", pair.why)
        for pair in _of(artifact, task_name).chosen
    ]


def verdict(artifact: Artifact, task_name: str) -> str:
    """In how many games training won more, less and the same, in a sentence."""
    row = _of(artifact, task_name)
    gains = [gain(b, a) for b, a in zip(row.before, row.after, strict=True)]
    won, lost = (sum(sign * g > 0 for g in gains) for sign in (1, -1))
    return (
        f"Better in {won} of {len(gains)} games, worse in {lost}, the same in "
        f"{len(gains) - won - lost}.{_acts(row)}"
    )


def _acts(row: BeforeAfterTask) -> str:
    """How often each side said which speech act, in a sentence; "" where nobody said one."""
    told = []
    for side in SIDES:
        counts = ", ".join(f"{act.replace('_', ' ')} {n:,}" for act, n in row.acts[side].items())
        told.append(f"{side} training {counts or 'none'}")
    return f" Speech acts: {'; '.join(told)}." if any(row.acts.values()) else ""


def rule(artifact: Artifact, task_name: str) -> Markup:
    """How the games of a task were chosen."""
    row = _of(artifact, task_name)
    return Markup(
        "Both models played the same {} hold-out games of the {}. To choose from: the largest gain"
        " in the grade among games that end in a deal after training, and the 10th, 50th and 90th"
        " percentile of the gain among the {} games in which {}; of equal gains, the one at the"
        " lowest seed."
    ).format(
        len(row.seeds), short(task_name), sum(row.zopa), could_be_won("a deal serves both sides")
    )


def differing(before: Episode, after: Episode) -> list[int]:
    """The numbers of the learner's moves, from 0, that differ between the two games.

    The first is where the games part. A move differs by its price or its words; one that the other
    game has no more is not counted.
    """
    learner = get_task(before.task).learner
    pairs = zip(before.trajectory(learner), after.trajectory(learner), strict=False)
    return [i for i, (old, new) in enumerate(pairs) if old.action != new.action]


def games_of(pair: ChosenPair) -> dict[str, Episode]:
    """Both games of a pair, by side."""
    records = {"before": pair.before, "after": pair.after}
    return {side: from_json(record.as_json()) for side, record in records.items()}


def longest(pair: ChosenPair) -> int:
    """The moves of the longer game of a pair."""
    return max(len(record.moves) for record in (pair.before, pair.after))


def pair_of_games(pair: ChosenPair, step: int | None = None) -> Markup:
    """Both games of a seed after `step` moves each: item, limits, grades, and a card per game.

    Without `step` the games are shown to their ends.
    """
    records: Mapping[str, ModelEpisode] = {"before": pair.before, "after": pair.after}
    games = games_of(pair)
    apart = differing(*games.values())
    figures = [
        stat(f"{records[side].grade:.3f}", f"grade {side}: {policy_label(records[side].policy)}")
        for side in SIDES
    ]
    figures.append(stat(f"{pair.difference:+.3f}", "difference of the grades"))
    cards = [
        card(side, records[side], games[side], games[other], apart, step)
        for side, other in zip(SIDES, reversed(SIDES), strict=True)
    ]
    return Markup('<p>{}</p>{}<div class="sauda-cards sauda-pair">{}</div>{}').format(
        dealt(games["before"]), strip(*figures), Markup("").join(cards), MARKS
    )


def dealt(episode: Episode) -> Markup:
    """The item and the limits of both games; both are over, so nothing is hidden."""
    (instance,) = episode.final.private["nature"]
    buyer, seller = (side["reservation"] for side in (instance.buyer, instance.seller))
    width = zopa_width(buyer, seller)
    return Markup(
        "Seed {}: {}, list price {}. The buyer’s limit is {}, the seller’s {}, so {}; at most {}"
        " rounds."
    ).format(
        episode.seed,
        instance.item.name,
        rupees(instance.item.list_price),
        rupees(buyer),
        rupees(seller),
        could_be_won(f"{rupees(width)} can be won")
        if width
        else nothing_to_win("no price serves both"),
        episode.final.table.rounds,
    )


def card(
    side: str,
    row: ModelEpisode,
    episode: Episode,
    other: Episode,
    apart: Sequence[int],
    step: int | None = None,
) -> Markup:
    """One game after `step` moves: its offers, its rounds with the moves `apart` marked.

    At its end, how it ended and the replies too.
    """
    moves = len(episode.turns)
    seen = moves if step is None else min(step, moves)
    chart = offer_chart(offers_of(episode, seen), SMALL, offers_of(other, step))
    over = seen == moves
    return Markup('<section class="sauda-card"><h3>{}: {}</h3><p>{}</p>{}{}{}</section>').format(
        side.capitalize(),
        policy_label(row.policy),
        outcome(episode) if over else f"Move {seen} of {moves}.",
        chart,
        rounds(episode, row.replies, apart, seen),
        said(row.replies) if over else "",
    )


def said(replies: Sequence[str]) -> Markup:
    """The replies of a game, folded."""
    return Markup(
        "<details><summary>Every reply as the model wrote it</summary>{}</details>"
    ).format(Markup("").join(map(raw, replies)))


def outcome(episode: Episode) -> Markup:
    """How the game ended, the learner's share of the ZOPA where there is one, and its grade."""
    task = get_task(episode.task)
    table, (instance,) = episode.final.table, episode.final.private["nature"]
    if episode.end == EndReason.FORFEIT:
        how = f"forfeited in round {table.round + 1}: no deal"
    else:
        how = ending(table.past[-1])
    (share,) = shares(episode.final, task.learner)
    there = zopa_width(instance.buyer["reservation"], instance.seller["reservation"])
    won = (
        Markup("{} of {}").format(f"{share:.0%}", could_be_won())
        if there
        else nothing_to_win("no price served both")
    )
    return Markup("{}{}; {}; grade {}.").format(
        how[0].upper(), how[1:], won, f"{task.grade(episode.final):.3f}"
    )


def rounds(
    episode: Episode, replies: Sequence[str], apart: Sequence[int], seen: int | None = None
) -> Markup:
    """The first `seen` moves or all, a line per round: the learner's move, then the answer."""
    learner = get_task(episode.task).learner
    lines: list[list[Markup]] = [[]]
    for turn in episode.turns[:seen]:
        if turn.agent != learner:
            lines[-1].append(_said(turn, in_words(episode.task, turn)))
            continue
        number = len(lines) - 1
        mark = ""
        if number in apart:
            mark = "≠ the games differ from here" if number == apart[0] else "≠"
        if turn.action is None:
            lines.append([_said(turn, _why(turn, replies[number]), mark) + raw(replies[number])])
        else:
            lines.append([_said(turn, in_words(episode.task, turn), mark)])
    items = [Markup("<li>{}</li>").format(Markup("").join(line)) for line in lines]
    return Markup('<ol class="sauda-told" start="0">{}</ol>').format(Markup("").join(items))


def _said(turn: Turn, words: str, mark: str = "") -> Markup:
    seat = "seller" if turn.agent == "seller" else "buyer"
    sign = Markup("<mark>{}</mark> ").format(mark) if mark else ""
    return Markup('<p class="sauda-{}{}">{}<b>{}</b> {}</p>').format(
        seat, " sauda-apart" if mark else "", sign, seat, words
    )


def _why(turn: Turn, reply: str) -> str:
    """Why a reply was invalid, without the reply itself, which is shown below."""
    why = turn.error.removesuffix(f": {reply[:QUOTED]!r}")
    return f"forfeits: this reply holds no legal move ({why}):"


def raw(reply: str) -> Markup:
    """A reply of the model, unedited and escaped."""
    return Markup("<pre><code>{}</code></pre>").format(reply or "(empty)")


def explained(artifact: Artifact, task_name: str) -> Markup:
    """In how many games training won more, and how the games to show were chosen."""
    return heading(verdict(artifact, task_name)) + note(rule(artifact, task_name))


# The part of the tab ------------------------------------------------------------------------------


def reproduced(pair: ChosenPair) -> Markup:
    """Both games played again now from the recorded replies, beside their records."""
    parts = []
    for side in SIDES:
        record = getattr(pair, side)
        then = record.as_json()
        now = play_replies(get_task(record.task), record.policy, pair.seed, record.replies)
        differing = [name for name in then if then[name] != now.get(name)]
        what = f"grade {side}, {policy_label(record.policy)},"
        digests = digest(then), digest({name: now.get(name) for name in then})
        beside = Beside(what, record.grade, now["grade"], 1, len(then), differing, digests)
        parts.append(side_by_side(beside))
    parts.append(note("Played from the model’s recorded replies, against the task’s own sellers."))
    return Markup("").join(parts)


def named_in_address(artifact: Artifact, task_name: str, why: str) -> dict[str, str]:
    """What the page's address says of a pair; nothing of the one that the tab opens with."""
    first = artifact.data.tasks[0].task
    if (task_name, why) == (first, typical(artifact, first).why):
        return {}
    return {"task": task_name, "game": why}


def pair_named(artifact: Artifact, query: Mapping[str, str]) -> tuple[str, ChosenPair]:
    """The task and the pair that an address names; the first ones where it names none."""
    tasks = [row.task for row in artifact.data.tasks]
    task_name = query["task"] if query.get("task") in tasks else tasks[0]
    known = [why for _, why in choices(artifact, task_name)]
    if query.get("game") in known:
        return task_name, pick(artifact, task_name, query["game"])
    return task_name, typical(artifact, task_name)


@dataclass(frozen=True, eq=False)
class PairLayout:
    """Every component that an event of this part reads or writes."""

    chosen_by: gr.HTML
    where: gr.Radio
    which: gr.Radio
    player: Player
    shown: gr.HTML
    again: gr.Button
    result: gr.HTML
    address: Address

    @property
    def of_pair(self) -> list[Any]:
        """The components that another pair sets."""
        own = [self.shown, self.chosen_by, self.where, self.which, self.result]
        return [*own, self.address.shown, *self.player.controls]


def build(tab: gr.Tab) -> None:
    """Lay out the part, which is filled as `tab` is opened. Called inside it."""
    artifact, missing = load_or_say(FILE)
    if artifact is None:
        gr.HTML(missing)
    else:
        _wire(artifact, _lay_out(artifact, tab))


def _lay_out(artifact: Artifact, tab: gr.Tab) -> PairLayout:
    tasks = [row.task for row in artifact.data.tasks]
    first = typical(artifact, tasks[0])
    parts: dict[str, Any] = {"chosen_by": gr.HTML()}
    # Not "Task" and no seed in a label: the tab has inputs of those names.
    with gr.Row():
        parts["where"] = gr.Radio(
            task_choices(tasks), value=tasks[0], label="Market", min_width=300
        )
        parts["which"] = gr.Radio(
            choices(artifact, tasks[0]),
            value=first.why,
            label="Game, by what training changed in the grade",
            min_width=300,
        )
    parts["player"] = lay_out_player()
    parts["shown"] = gr.HTML(elem_id="transcripts-pair")
    with gr.Row(elem_classes="sauda-actions"):
        parts["again"] = gr.Button("Reproduce: play both games again, now", size="sm", scale=0)
    parts["result"] = gr.HTML(elem_id="transcripts-reproduced")
    n = len(artifact.data.tasks[0].seeds)
    gr.HTML(provenance(artifact, f"n = {n} paired hold-out seeds per task; {weights(artifact)}"))
    parts["address"] = lay_out_address("transcripts", PART, ("task", "game"), tab)
    return PairLayout(**parts)


def pair_shown(artifact: Artifact, page: PairLayout, task_name: str, pair: ChosenPair) -> Updates:
    """The part at this pair, shown to its end."""
    return {
        page.where: task_name,
        page.which: gr.Radio(choices(artifact, task_name), value=pair.why),
        page.chosen_by: explained(artifact, task_name),
        page.shown: pair_of_games(pair),
        page.result: "",
        page.address.shown: in_address(named_in_address(artifact, task_name, pair.why)),
        **all_shown(page.player, longest(pair)),
    }


def _wire(artifact: Artifact, page: PairLayout) -> None:
    choice = [page.where, page.which]

    def change_task(task_name: str) -> Updates:
        return pair_shown(artifact, page, task_name, typical(artifact, task_name))

    def change_game(task_name: str, why: str) -> Updates:
        return pair_shown(artifact, page, task_name, pick(artifact, task_name, why))

    def follow_pair(query: Mapping[str, str]) -> Updates:
        return pair_shown(artifact, page, *pair_named(artifact, query))

    def moves(task_name: str, why: str) -> int:
        return longest(pick(artifact, task_name, why))

    def show_step(task_name: str, why: str, step: int) -> Updates:
        return {page.shown: pair_of_games(pick(artifact, task_name, why), int(step))}

    def reproduce(task_name: str, why: str) -> Markup:
        return reproduced(pick(artifact, task_name, why))

    page.where.input(change_task, page.where, page.of_pair, **QUIET)
    page.which.input(change_game, choice, page.of_pair, **QUIET)
    on_address(page.address, follow_pair, page.of_pair)
    wire(page.player, choice, moves, show_step, [page.shown])
    page.again.click(reproduce, choice, page.result, **QUIET)
