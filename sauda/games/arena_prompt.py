"""The GPU arena for a language model: an observation as a prompt, a completion as an action.

A completion is the arena's own JSON for one of the fourteen actions, the same that an agent sends
over the wire. For each job the prompt lists the blocks that serve it and their hours, counted by
the rules; the model decides what to do with them.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from env import IllegalAction, arena
from sauda.games.adapter import Schema
from sauda.games.bazaar_prompt import first_object

Action = arena.Action | arena.Malformed

RULES = (
    "You run {lab} in a market of GPU time. Your jobs pay for hours, a third for late ones: book "
    "blocks for them, buy what you lack, sell what is idle. Reply with one JSON action: "
    '{{"action_type":"allocate_to_job","job_id":"j_0_1","block_ids":["b_0_2"]}} or '
    '{{"action_type":"send_offer","target_lab_id":"lab_1","requested_block_ids":["b_1_0"],'
    '"payment":9}} or {{"action_type":"accept_offer","offer_id":"o_1"}} or '
    '{{"action_type":"wait"}}.'
)
FAILED_BIDS = 3  # of its own offers that came to nothing, the last of which are told
ORDER = (  # of a completion's keys: what a choice is about before what it takes
    "action_type", "offer_id", "coalition_id", "target_lab_id", "job_id",
    "requested_block_ids", "block_ids", "payment", "message", "conditions",
)  # fmt: skip


def render(obs: arena.Observation) -> list[dict[str, str]]:
    """`obs` as chat messages: the rules, then the position."""
    return [
        {"role": "system", "content": RULES.format(lab=obs.agent)},
        {"role": "user", "content": "\n".join(_describe_standing(obs))},
    ]


def _describe_standing(obs: arena.Observation) -> Iterator[str]:
    market = obs.market
    left = market.queue.count(obs.agent)
    yield (
        f"Round {market.round_index + 1}/{market.max_rounds}, {left} action"
        f"{'s' if left > 1 else ''} left. Credits {math.floor(obs.own.budget)}."
    )
    if market.announced:
        yield f"Next round: {market.announced.replace('_', ' ')}."
    yield from (_job(obs, job) for job in obs.open_jobs)
    idle = [
        block.block_id
        for block in arena.spare_blocks(obs, arena.Plan(0.0, ()))
        if not any(any(_serves(obs, job, block)) for job in obs.open_jobs)
    ]
    if idle:
        yield f"Idle: {' '.join(idle)}."
    labs = [f"{x.lab_id} needs {x.public_demand}, has {x.public_budget_band}" for x in obs.others]
    if labs:
        yield f"{'; '.join(labs)}."
    yield from (f"{o.offer_id} from {o.from_lab_id}: {_terms(o)}." for o in obs.incoming)
    yield from (f"You offered {o.to_lab_id}: {_terms(o)}." for o in obs.outgoing)
    failed = [o for o in market.closed.values() if o.from_lab_id == obs.agent]
    failed = [o for o in failed if o.status in ("rejected", "expired")][-FAILED_BIDS:]
    yield from (f"{o.to_lab_id} did not take: {_terms(o)}." for o in failed)
    for pool in (*obs.proposals, *obs.coalitions):
        partner = next(lab for lab in pool.members if lab != obs.agent)
        state = "asks for a pool" if not pool.active else f"pool {' '.join(pool.commitments)}"
        yield f"{pool.coalition_id} with {partner}: {state.strip()}."
    if obs.own.results and not obs.own.results[0].ok:
        yield f"Refused: {obs.own.results[0].code}."


def _job(obs: arena.Observation, job: arena.Job) -> str:
    """A job: the hours it lacks, the credits still to earn, and the blocks that serve it."""
    left = job.full_value - arena.booked_value(job, job.on_time, job.late)
    whole = "" if job.partial_credit_allowed else ", all or nothing"
    whole += ", with a partner's block" if job.joint else ""
    usable, present = arena.usable_blocks(obs), {lab.lab_id for lab in obs.others}
    yours = [block for block in usable if block.owner_lab_id == obs.agent]
    pooled = [block for block in usable if block not in yours]
    others = [b for b in obs.market.blocks.values() if b.owner_lab_id in present]
    to_buy = [block for block in others if arena.is_requestable(block) and block not in pooled]
    line = (
        f"{job.job_id} lacks {_hours_left(job)}h by round {job.deadline_round}, worth "
        f"{left:.0f}{whole}. Yours: {_list(obs, job, yours)}."
    )
    line += f" In the pool: {_list(obs, job, pooled)}." if pooled else ""
    return f"{line} To buy: {_list(obs, job, to_buy)}."


def _hours_left(job: arena.Job) -> int:
    return job.gpu_hours_required - job.on_time - job.late


def _list(obs: arena.Observation, job: arena.Job, blocks: Iterable[arena.Block]) -> str:
    """Blocks by the hours they give to `job`, the most first.

    Late hours are listed where those on time do not suffice. A block's name holds its first owner,
    so the present owner is named where it is another.
    """
    served = ((_serves(obs, job, block), block) for block in blocks)
    serving = sorted(((h, b) for h, b in served if any(h)), key=lambda pair: pair[0], reverse=True)
    entries = []
    for (on_time, late), block in serving:
        owner = block.owner_lab_id
        sold = owner not in (obs.agent, f"lab_{block.block_id.split('_')[1]}")
        hours = [f"{on_time}h"] * bool(on_time)
        hours += [f"{late}h late"] * bool(late and on_time < _hours_left(job))
        entries.append(f"{block.block_id}{f' of {owner}' * sold} {'+'.join(hours)}")
    return ", ".join(entries) or "none"


def _serves(obs: arena.Observation, job: arena.Job, block: arena.Block) -> tuple[int, int]:
    """The hours that `block` gives to `job`, before its deadline and after."""
    if block.reliability < job.min_reliability:
        return 0, 0
    market = obs.market
    return arena.hours(block, job, market.round_index, market.max_rounds)


def _terms(offer: arena.Offer) -> str:
    """An offer as a trade, from its sender's side; its message binds nobody."""
    gives, wants = [*offer.offered_blocks], [*offer.requested_blocks]
    gives += [f"{offer.payment:.0f} credits"] * bool(offer.payment)
    wants += [f"{offer.ask:.0f} credits"] * bool(offer.ask)
    return f"{' '.join(gives) or 'nothing'} for {' '.join(wants) or 'nothing'}"


def completion(action: arena.Action) -> str:
    """The canonical completion that makes `action`: credits in whole numbers, words if it must."""
    words = action.message if "message" in arena.KINDS[action.action_type].required else ""
    whole = tuple((k, math.floor(v) if k == "ask" else v) for k, v in action.conditions)
    canonical = action._replace(message=words, payment=math.floor(action.payment), conditions=whole)
    row = canonical.as_json()
    ordered = {name: row[name] for name in ORDER if name in row}
    return json.dumps(ordered, ensure_ascii=False, separators=(",", ":"))


def parse(completion: str, obs: arena.Observation) -> Action:
    """The action that the first JSON object in `completion` holds.

    Raises nothing: a completion without one is a malformed action, which the rules answer.
    """
    try:
        return arena.action_from(first_object(completion))
    except IllegalAction:
        return arena.Malformed("a reply holds one JSON object with an action_type")


def schema(obs: arena.Observation) -> Schema:
    """The actions that the rules accept at `obs`, as a JSON schema for constrained decoding."""
    completions = dict.fromkeys(completion(action) for action in arena.legal_actions(obs))
    return {
        "anyOf": [_exactly(json.loads(text)) for text in completions],
        "x-guidance": {"whitespace_flexible": False},
    }


def _exactly(row: Mapping[str, Any]) -> Schema:
    return {
        "type": "object",
        "properties": {name: {"const": value} for name, value in row.items()},
        "required": list(row),
        "additionalProperties": False,
    }


def preview(text: str, obs: arena.Observation) -> str:
    """A completion that still grows, for people: its text as it is."""
    return text
