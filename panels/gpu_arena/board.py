"""The arena's board: every lab's blocks over the rounds with the visitor's jobs, and their booking.

A visitor presses blocks and then a job to book them, or another lab's block to bid for it.
"""

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from env import IllegalAction, arena
from panels.gpu_arena.names import (
    block_list,
    block_name,
    capital,
    due,
    job_names,
    readable,
    short_block_name,
)
from panels.gpu_arena.visit import TO_SENTENCE
from panels.ui.look import note
from panels.ui.terms import shown_round, term
from sauda.sessions.arena import LEARNER, ArenaGame, promised_credits, refusal

MARKS = {
    "available": ("", "free"),
    "reserved": ("‖ ", "held by its lab"),
    "committed": ("⇄ ", "in a pool"),
    "used": ("✓ ", "booked"),
    "failed": ("✕ ", "failed"),
}
HOW_TO_BOOK = "Press your blocks, then a job: that books them."
HOW_TO_BID = "Press another lab’s block to make an offer for it."
SCRIPTS = "The other labs are scripts; their characters appear when the game ends."


def calendar(game: ArenaGame) -> Markup:
    """The rounds with the present one marked, the visitor's jobs and its blocks."""
    obs = game.observation
    own = [_jobs(obs, game.over), _lab(obs, obs.market.labs[LEARNER], game.over)]
    return Markup('<p class="sauda-clock">{}</p>{}{}').format(
        clock(game), "" if game.over else note(HOW_TO_BOOK), _grid(game, own)
    )


def others(game: ArenaGame) -> Markup:
    """The other labs' blocks over the same rounds, and what the marks mean."""
    obs = game.observation
    labs = [_lab(obs, lab, game.over) for name, lab in obs.market.labs.items() if name != LEARNER]
    legend = ", ".join(f"{mark.strip()} {word}" for mark, word in MARKS.values() if mark)
    return Markup("{}{}{}").format(
        "" if game.over else note(HOW_TO_BID),
        _grid(game, labs),
        note(
            "A bar is a block of GPU time in its rounds, with its GPU-hours left and its"
            f" reliability: {legend}. {SCRIPTS}"
        ),
    )


def _grid(game: ArenaGame, sections: list[Markup]) -> Markup:
    """Sections under the numbers of the rounds."""
    market = game.observation.market
    heads = [
        Markup('<span class="{}">{}</span>').format(
            "sauda-now" if r == market.round_index and not game.over else "", shown_round(r)
        )
        for r in range(market.max_rounds)
    ]
    return Markup(
        '<div class="sauda-calendar" style="--rounds: {}">'
        '<div class="sauda-rounds" aria-hidden="true">{}</div>{}</div>'
    ).format(market.max_rounds, Markup("").join(heads), Markup("").join(sections))


def clock(game: ArenaGame) -> str:
    """Which round it is and how many actions are left in it."""
    market = game.observation.market
    if game.over:
        return "The game is over."
    left = market.queue.count(LEARNER)
    return (
        f"Round {shown_round(market.round_index)} of {market.max_rounds}:"
        f" {left} action{'s' if left > 1 else ''} left."
    )


# Jobs --------------------------------------------------------------------------------------------


def _jobs(obs: arena.Observation, over: bool) -> Markup:
    """The jobs as bars that end at their deadlines."""
    names = job_names(obs.own.jobs)
    bars = [
        _job_bar(obs, job, names[job.job_id], row, over) for row, job in enumerate(obs.own.jobs, 1)
    ]
    return _section(obs, "Your jobs", "each bar ends at its deadline", bars, over, "sauda-own")


def _job_bar(obs: arena.Observation, job: arena.Job, name: str, row: int, over: bool) -> Markup:
    deadline = min(job.deadline_round, obs.market.max_rounds)
    late = obs.market.round_index >= job.deadline_round
    missing = job.gpu_hours_required - job.on_time - job.late
    label = (
        f"{name}: {missing} h for {job.full_value:.1f}, reliability from {job.min_reliability:.2f}"
        f"{', in parts' if job.partial_credit_allowed else ''}"
        f"{', with a partner’s block' if job.joint else ''}"
    )
    if job.completed:
        label = f"✓ {name}: done"
    elif late and not over:
        label += f", late: {arena.LATE:.0%}"
    booked = "in parts" if job.partial_credit_allowed else "all in one booking"
    about = f"{job.job_id}: due at the {due(job, obs.market)}, {booked}"
    style = "sauda-is-used" if job.completed else "sauda-job"
    pressed = "" if over or job.completed else job.job_id
    return Markup('<li class="sauda-deadline" style="--due: {}; grid-row: {}">{}</li>').format(
        deadline, row, _bar(style, label, about, "book", pressed)
    )


# Blocks ------------------------------------------------------------------------------------------


def _lab(obs: arena.Observation, lab: arena.Lab, over: bool) -> Markup:
    """One lab: its public facts, and its blocks in lanes."""
    market, own = obs.market, lab.lab_id == LEARNER
    blocks = [b for b in market.blocks.values() if b.owner_lab_id == lab.lab_id]
    title = "Your blocks" if own else lab.public_name
    facts = Markup("{} {:.2f}").format(term("trusted", "reputation, from 0 to 1"), lab.reputation)
    if not own:
        facts += f", {lab.public_budget_band} budget, {lab.public_demand} need of hours"
    facts += ", has left" if lab.finished else ""
    bars = [_block_bar(obs, block, lane, over) for block, lane in packed(blocks, market.max_rounds)]
    return _section(
        obs, term(title, lab.lab_id), facts, bars or [Markup("<li>no blocks left</li>")], over,
        "sauda-own" if own else "",
    )  # fmt: skip


def packed(blocks: Iterable[arena.Block], horizon: int) -> list[tuple[arena.Block, int]]:
    """Each block with its lane, from 1: the first lane in which it overlaps no other block.

    The blocks come in the order of their numbers.
    """
    lanes: list[set[int]] = []  # the rounds that each lane fills
    placed = []
    for block in sorted(blocks, key=lambda b: b.block_id):
        taken = set(range(block.start_round, min(block.start_round + block.duration, horizon)))
        lane = next((i for i, filled in enumerate(lanes) if not filled & taken), len(lanes))
        lanes[lane : lane + 1] = [lanes[lane] | taken if lane < len(lanes) else taken]
        placed.append((block, lane + 1))
    return placed


def _block_bar(obs: arena.Observation, block: arena.Block, lane: int, over: bool) -> Markup:
    market = obs.market
    mark, word = MARKS[block.status]
    length = max(1, min(block.duration, market.max_rounds - block.start_round))
    hours = arena.live_hours(block, market.round_index, market.max_rounds)
    live = block.status in arena.LIVE and hours > 0
    gpus = f"{block.gpu_count} GPU{'s' if block.gpu_count > 1 else ''}"
    first = shown_round(block.start_round)
    about = (
        f"{block.block_id}: {gpus} in rounds {first} to {first + length - 1}, {word},"
        f" energy {block.energy_cost:.2f} credits"
    )
    purpose = ""
    if live and not over and block in arena.usable_blocks(obs):
        purpose = "preview"
    elif live and not over and block.owner_lab_id != LEARNER and arena.is_requestable(block):
        purpose = "" if market.labs[block.owner_lab_id].finished else "bid"
    word, _, number = short_block_name(market, block).partition(" ")
    label = Markup("{}<span>{}</span> {}{}").format(
        mark,
        word,
        number,
        Markup("<small>{} h {:.2f}</small>").format(hours, block.reliability) if live else "",
    )
    return Markup('<li style="grid-column: {} / span {}; grid-row: {}">{}</li>').format(
        block.start_round + 1,
        length,
        lane,
        _bar(f"sauda-is-{block.status}", label, about, purpose, purpose and block.block_id),
    )


# Both --------------------------------------------------------------------------------------------


def _section(
    obs: arena.Observation,
    title: str,
    facts: str,
    bars: list[Markup],
    over: bool,
    style: str,
) -> Markup:
    """A titled group of bars, the present round shaded behind them."""
    column = obs.market.round_index + 1
    now = Markup(
        '<li class="sauda-now" aria-hidden="true" style="grid-column: {} / {}"></li>'
    ).format(column, column + 1)
    return Markup(
        '<section class="sauda-lab {}"><header><b>{}</b> {}</header>'
        '<ul class="sauda-lanes">{}{}</ul></section>'
    ).format(style, title, facts, "" if over else now, Markup("").join(bars))


def _bar(style: str, label: str, about: str, purpose: str, value: str) -> Markup:
    """A bar with its facts in a tooltip; a button that sends `value` where it has a `purpose`."""
    if not value:
        return Markup('<span class="sauda-bar {}" title="{}">{}</span>').format(style, about, label)
    does = {
        "preview": Markup(' aria-pressed="false"'),
        "bid": Markup(' data-renews="{renews}" data-show="{show}"').format(**TO_SENTENCE),
    }
    return Markup(
        '<button type="button" class="sauda-bar {}" title="{}" data-press="{}" data-value="{}"{}>'
        "{}</button>"
    ).format(style, about, purpose, value, does.get(purpose, ""), label)


# What a press does --------------------------------------------------------------------------------


def refused(game: ArenaGame, action: arena.Action | arena.Malformed) -> str:
    """Why the rules would refuse the action, in one sentence; "" where they would take it.

    Raises IllegalAction where the game is over.
    """
    result = refusal(game, action)
    return f"{_reason(game.observation, action, result)}; this cost no action" if result else ""


def _reason(
    obs: arena.Observation, action: arena.Action | arena.Malformed, result: arena.Result
) -> str:
    if result.code == "budget_overspend" and getattr(action, "payment", 0):
        shown = f"{action.payment:{'.2f' if action.payment < 1e9 else 'g'}}"
        left = obs.own.budget - promised_credits(obs)
        return f"you have {left:.2f} credits to spend, and this offer pays {shown}"
    job = next((j for j in obs.own.jobs if j.job_id == getattr(action, "job_id", None)), None)
    if job is None:
        return f"the rules refuse this: {readable(obs, result.message)}"
    name, blocks = job_names(obs.own.jobs)[job.job_id], obs.market.blocks
    if result.code == "low_reliability":
        weak = min((blocks[b] for b in action.block_ids), key=lambda block: block.reliability)
        return (
            f"{name} takes blocks of reliability {job.min_reliability:.2f} or more, and"
            f" {block_name(obs.market, weak.block_id)} has {weak.reliability:.2f}"
        )
    if result.code == "insufficient_capacity":
        hours = _hours(obs, job, action.block_ids)[2]
        return (
            f"{name} takes all its {job.gpu_hours_required} GPU-hours in one booking, and there"
            f" are {hours} in {block_list(obs.market, action.block_ids)}"
        )
    return f"the rules refuse this: {readable(obs, result.message)}"


def _hours(
    obs: arena.Observation, job: arena.Job, block_ids: Sequence[str]
) -> tuple[int, int, int]:
    """GPU-hours that the blocks give the job: on time, late, in all."""
    now, horizon = obs.market.round_index, obs.market.max_rounds
    hours = [arena.hours(obs.market.blocks[b], job, now, horizon) for b in block_ids]
    on_time, late = sum(h[0] for h in hours), sum(h[1] for h in hours)
    return on_time, late, on_time + late


def booking(job_id: str, block_ids: Sequence[str]) -> arena.Action:
    """The action that books the blocks for the job; IllegalAction where there is no block."""
    if not block_ids:
        raise IllegalAction("press one or more of your blocks first, then the job")
    return arena.Action("allocate_to_job", job_id=job_id, block_ids=tuple(block_ids))


def preview(game: ArenaGame, block_ids: Sequence[str]) -> Markup:
    """What the blocks would do for each open job; how to begin where none is chosen.

    Raises IllegalAction for a block that is not on the market, or where the game is over.
    """
    obs = game.observation
    if unknown := [b for b in block_ids if b not in obs.market.blocks]:
        raise IllegalAction(f"there is no block {unknown[0]:.40} on the calendar")
    if not block_ids:
        return note("No block is chosen.")
    lines = Markup("").join(
        Markup("<li>{}</li>").format(_outlook(game, job, block_ids)) for job in obs.open_jobs
    )
    return Markup('<p>{} chosen. Press the job to book:</p><ul class="sauda-talk">{}</ul>').format(
        capital(block_list(obs.market, block_ids)), lines
    )


def _outlook(game: ArenaGame, job: arena.Job, block_ids: Sequence[str]) -> Markup:
    """What a job would make of the blocks."""
    obs = game.observation
    if result := refusal(game, action := booking(job.job_id, block_ids)):
        reason = _reason(obs, action, result)
        return Markup("{}.").format(reason[0].upper() + reason[1:])
    on_time, late, _ = _hours(obs, job, block_ids)
    blocks = [obs.market.blocks[b] for b in block_ids]
    gain = arena.booking_gain(job, blocks, obs.market.round_index, obs.market.max_rounds)
    energy = sum(block.energy_cost for block in blocks)
    shared = any(block.owner_lab_id != obs.agent for block in blocks)
    return Markup(
        "<b>{}</b>: {} of {} GPU-hours on time{}; pays {}, energy {}{}: <b>{}</b>"
    ).format(
        job_names(obs.own.jobs)[job.job_id],
        min(job.on_time + on_time, job.gpu_hours_required),
        job.gpu_hours_required,
        f", {late} late" if late and job.on_time + on_time < job.gpu_hours_required else "",
        f"{gain + energy:.1f}",
        f"{energy:.1f}",
        ", before the share of the pool’s owner" if shared else "",
        f"{gain:+z.1f}",
    )


def wanted(game: ArenaGame, block_id: str) -> str:
    """What another lab's block would add to the visitor's jobs, in words.

    Raises IllegalAction where no other lab has such a block.
    """
    obs = game.observation
    block = obs.market.blocks.get(block_id)
    if block is None or block.owner_lab_id == obs.agent:
        raise IllegalAction("choose a block of another lab")
    adds = arena.trade_gain(obs, (), (block_id,), 0.0)
    named = capital(block_name(obs.market, block_id))
    if adds < 0.05:
        return f"{named} would add nothing to what your jobs can still earn"
    return (
        f"{named} would add {adds:.1f} credits to what your jobs can still earn, so a lower price"
        " pays; say below what you give for it"
    )
