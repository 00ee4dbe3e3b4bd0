"""What the chosen blocks would do for each job, and why the rules would refuse an action."""

from collections.abc import Sequence

from markupsafe import Markup

from env import IllegalAction, arena
from panels.gpu_arena.names import block_list, block_name, capital, job_names, readable
from panels.ui.look import note
from sauda.sessions.arena import ArenaGame, promised_credits, refusal


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
