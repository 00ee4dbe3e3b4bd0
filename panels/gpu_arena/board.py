"""The arena's board: every lab's blocks over the rounds with the visitor's jobs, and their booking.

A visitor presses blocks and then a job to book them, or another lab's block to bid for it.
"""

from collections.abc import Sequence

from markupsafe import Markup

from env import IllegalAction, arena
from panels.gpu_arena.names import (
    amount,
    block_list,
    block_name,
    due,
    job_names,
    readable,
    short_block_name,
)
from panels.gpu_arena.reasons import hours_left
from panels.ui.html import macros
from panels.ui.look import note
from panels.ui.terms import capital
from sauda.sessions.arena import LEARNER, ArenaGame, promised_credits, refusal

HTML = macros("arena")
MARKS = {
    "available": ("", "free"),
    "reserved": ("‖ ", "held by its lab"),
    "committed": ("⇄ ", "in a pool"),
    "used": ("✓ ", "booked"),
    "failed": ("✕ ", "failed"),
}


def calendar(game: ArenaGame) -> Markup:
    """The rounds with the present one marked, the visitor's jobs and its blocks."""
    obs, over = game.observation, game.over
    market, names = obs.market, job_names(obs.own.jobs)
    jobs = [
        HTML.job(job, names[job.job_id], due(job, market), market, over, arena.LATE)
        for job in obs.own.jobs
    ]
    own = HTML.own_jobs(jobs, market, over) + _blocks(obs, market.labs[LEARNER], over)
    return HTML.calendar(market, market.queue.count(LEARNER), over, own)


def others(game: ArenaGame) -> Markup:
    """The other labs' blocks over the same rounds, and what the marks mean."""
    obs = game.observation
    labs = [lab for name, lab in obs.market.labs.items() if name != LEARNER]
    blocks = Markup("").join(_blocks(obs, lab, game.over) for lab in labs)
    return HTML.others(obs.market, game.over, blocks, MARKS.values())


def _blocks(obs: arena.Observation, lab: arena.Lab, over: bool) -> Markup:
    """One lab: its public facts, and its blocks in lanes."""
    market, is_own, bars = obs.market, lab.lab_id == LEARNER, []
    for name, block in sorted(market.blocks.items()):
        if block.owner_lab_id != lab.lab_id:
            continue
        hours = hours_left(obs, [name]) if block.status in arena.LIVE else 0
        press = ""
        if hours and not over and block in arena.usable_blocks(obs):
            press = "preview"
        elif hours and not (over or is_own or lab.finished) and arena.is_requestable(block):
            press = "bid"
        length = max(1, min(block.duration, market.max_rounds - block.start_round))
        shown, mark = short_block_name(market, block), MARKS[block.status]
        bars.append(HTML.block(block, shown, mark, length, hours, press))
    return HTML.blocks(lab, is_own, bars, market, over)


# What a press does -------------------------------------------------------------------------------


def fault(obs: arena.Observation, action: arena.Action, result: arena.Result) -> str:
    """Why the rules refuse an action of the visitor's, in one sentence without a full stop."""
    market, blocks = obs.market, getattr(action, "block_ids", ())
    if result.code == "budget_overspend" and getattr(action, "payment", 0):
        left = obs.own.budget - promised_credits(obs)
        pays = amount(action.payment).removesuffix(" credits")
        return f"you have {left:.2f} credits to spend, and this offer pays {pays}"
    job = next((j for j in obs.own.jobs if j.job_id == getattr(action, "job_id", None)), None)
    name = job_names(obs.own.jobs)[job.job_id] if job else ""
    if job and result.code == "low_reliability":
        weak = min((market.blocks[b] for b in blocks), key=lambda block: block.reliability)
        return (
            f"{name} takes blocks of reliability {job.min_reliability:.2f} or more, and"
            f" {block_name(market, weak.block_id)} has {weak.reliability:.2f}"
        )
    if job and result.code == "insufficient_capacity":
        return (
            f"{name} takes all its {job.gpu_hours_required} GPU-hours in one booking, and there"
            f" are {sum(_hours(obs, job, blocks))} in {block_list(market, blocks)}"
        )
    return f"the rules refuse this: {readable(obs, result.message)}"


def _hours(obs: arena.Observation, job: arena.Job, block_ids: Sequence[str]) -> tuple[int, int]:
    """GPU-hours that the blocks give the job: on time, and late."""
    now, horizon = obs.market.round_index, obs.market.max_rounds
    hours = [arena.hours(obs.market.blocks[b], job, now, horizon) for b in block_ids]
    return sum(on_time for on_time, _ in hours), sum(late for _, late in hours)


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
    chosen = capital(block_list(obs.market, block_ids))
    return HTML.preview(chosen, [_outlook(game, job, block_ids) for job in obs.open_jobs])


def _outlook(game: ArenaGame, job: arena.Job, block_ids: Sequence[str]) -> Markup:
    """What a job would make of the blocks."""
    obs, action = game.observation, booking(job.job_id, block_ids)
    if result := refusal(game, action):
        return Markup("{}.").format(capital(fault(obs, action, result)))
    blocks = [obs.market.blocks[b] for b in block_ids]
    gain = arena.booking_gain(job, blocks, obs.market.round_index, obs.market.max_rounds)
    energy = sum(block.energy_cost for block in blocks)
    is_shared = any(block.owner_lab_id != obs.agent for block in blocks)
    name, hours = job_names(obs.own.jobs)[job.job_id], _hours(obs, job, block_ids)
    return HTML.outlook(job, name, hours, gain, energy, is_shared)


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
