"""Scripted contestants for the GPU arena, each with its source.

`wait`, `always_accept`, `greedy_hoarder`, `naive_plea` and `rule_based_expert` follow the policies
of these names in the published game; `random` is random, unlike the published one. `autarky` is
ours: it earns the BATNA, which is grade 0.
"""

import numpy as np

from env import arena

Rng = np.random.Generator

# Settings of the published expert.
EXPERT_TOLERANCE = 0.95  # least hours received for each hour given
CREDITS_AN_HOUR = 10.0  # its price of an hour
LEAST_REPUTATION = 0.45  # of a coalition partner
PLEA = "We need more GPU time, please help."


def wait(obs: arena.Observation, rng: Rng) -> arena.Action:
    """Does nothing at all."""
    return arena.Action("wait")


def autarky(obs: arena.Observation, rng: Rng) -> arena.Action:
    """Books its own best plan as fast as it can, never trades, and leaves once the plan is booked.

    It earns its BATNA, so its grade is 0: the plan is booked before the first shock, and a lab that
    has left gets no job in a demand surge. The one exception is a plan with three jobs to book in
    the first round, which allows two actions: there the grade is below 0.
    """
    parts = arena.own_plan(obs).parts
    if not parts:
        return arena.Action("finish")
    return max(parts, key=lambda part: (arena.loss_by_delay(obs, part), part.gain)).booking


def random(obs: arena.Observation, rng: Rng) -> arena.Action:
    """A random type of action, then a random one of its legal choices."""
    kinds: dict[str, list[arena.Action]] = {}
    for action in arena.legal_actions(obs):
        kinds.setdefault(action.action_type, []).append(action)
    choices = kinds[list(kinds)[int(rng.integers(len(kinds)))]]
    return choices[int(rng.integers(len(choices)))]


def greedy_hoarder(obs: arena.Observation, rng: Rng) -> arena.Action:
    """Books all usable blocks for the first job that has any, never trades, then leaves.

    The published policy does not count hours, so the rules may refuse its bookings.
    """
    return _hoard(obs, _live_blocks(obs))


def always_accept(obs: arena.Observation, rng: Rng) -> arena.Action:
    """Accepts the first offer, whatever its terms; else plays `greedy_hoarder`."""
    for offer in obs.incoming:
        return arena.Action("accept_offer", offer_id=offer.offer_id)
    return greedy_hoarder(obs, rng)


def naive_plea(obs: arena.Observation, rng: Rng) -> arena.Action:
    """Accepts an offer that says "urgent"; else pleads with the first other lab."""
    incoming = obs.incoming
    if incoming and "urgent" in incoming[0].message.lower():
        return arena.Action("accept_offer", offer_id=incoming[0].offer_id)
    others = obs.others
    return (
        arena.Action("send_message", others[0].lab_id, message=PLEA)
        if others
        else arena.Action("wait")
    )


def rule_based_expert(obs: arena.Observation, rng: Rng) -> arena.Action:
    """The published expert: answers offers by hours, books, pools, swaps, else hoards."""
    answer = _answer(obs)
    if answer is not None:
        return answer
    live = _live_blocks(obs)
    free = [block for block in live if block.status in arena.FREE]
    return (
        _book_what_suffices(obs, live) or _pool(obs, free) or _swap(obs, free) or _hoard(obs, live)
    )


def _answer(obs: arena.Observation) -> arena.Action | None:
    blocks = obs.market.blocks
    for offer in obs.incoming:
        given = [blocks[block_id] for block_id in offer.requested_blocks]
        received = [blocks[block_id] for block_id in offer.offered_blocks]
        if any(b.owner_lab_id != obs.agent or b.status not in arena.LIVE for b in given) or any(
            b.status not in arena.LIVE for b in received
        ):
            return arena.Action("reject_offer", offer_id=offer.offer_id)
        credits = (offer.payment - offer.ask) / CREDITS_AN_HOUR
        if _sure_hours(received) + credits >= EXPERT_TOLERANCE * _sure_hours(given):
            return arena.Action("accept_offer", offer_id=offer.offer_id)
    return None


def _book_what_suffices(obs: arena.Observation, live: list[arena.Block]) -> arena.Action | None:
    for job in sorted(obs.open_jobs, key=lambda job: (job.deadline_round, -job.base_value)):
        usable = _usable(live, job)
        if usable and _sure_hours(usable) >= job.gpu_hours_required:
            return _booking(job, usable)
    return None


def _pool(obs: arena.Observation, free: list[arena.Block]) -> arena.Action | None:
    """Commits its first block to its first coalition, or proposes one to the most reputable lab."""
    if not obs.market.coalitions_allowed:
        return None
    if coalitions := obs.coalitions:
        if not free:
            return None
        name = coalitions[0].coalition_id
        return arena.Action("commit_to_coalition", coalition_id=name, block_ids=(free[0].block_id,))
    has_proposed = any(obs.agent in c.members for c in obs.market.coalitions.values())
    best = max(obs.others, key=lambda lab: lab.reputation, default=None)
    if has_proposed or best is None or best.reputation < LEAST_REPUTATION:
        return None
    words = "Shared capacity serves both of us."
    return arena.Action("form_coalition", target_lab_id=best.lab_id, message=words)


def _swap(obs: arena.Observation, free: list[arena.Block]) -> arena.Action | None:
    """Offers its first free block and a little money for a block of the lab with most demand."""
    if not free or obs.outgoing:
        return None
    requestable: dict[str, arena.Block] = {}  # the first of each lab
    for block in obs.market.blocks.values():
        if block.status in ("available", "committed"):
            requestable.setdefault(block.owner_lab_id, block)
    others = [lab for lab in obs.others if lab.lab_id in requestable]
    if not others:
        return None
    lab = max(others, key=lambda lab: (lab.public_demand == "high", lab.reputation))
    return arena.Action(
        "send_offer",
        target_lab_id=lab.lab_id,
        block_ids=(free[0].block_id,),
        requested_block_ids=(requestable[lab.lab_id].block_id,),
        payment=min(4.0 if obs.market.max_rounds == 9 else 2.0, obs.own.budget),
        message="A fair swap for both sides.",
    )


def _hoard(obs: arena.Observation, live: list[arena.Block]) -> arena.Action:
    for job in obs.open_jobs:
        usable = _usable(live, job)
        if usable:
            return _booking(job, usable)
    return arena.Action("finish")


def _live_blocks(obs: arena.Observation) -> list[arena.Block]:
    return [block for block in obs.owned_blocks if block.status in arena.LIVE]


def _usable(live: list[arena.Block], job: arena.Job) -> list[arena.Block]:
    """The blocks that are reliable enough for the job.

    None for a joint job: the published game has none, and booking it alone is always refused.
    """
    if job.joint:
        return []
    return [block for block in live if block.reliability >= job.min_reliability]


def _sure_hours(blocks: list[arena.Block]) -> float:
    """GPU-hours weighted by reliability. As published, it ignores when the hours are."""
    return sum([b.duration * b.gpu_count * b.reliability for b in blocks])


def _booking(job: arena.Job, blocks: list[arena.Block]) -> arena.Action:
    ids = tuple(block.block_id for block in blocks)
    return arena.Action("allocate_to_job", job_id=job.job_id, block_ids=ids)
