"""A language model as a lab of the GPU arena: what it is asked, and what its completions mean.

A completion is the arena's own JSON, one of the fourteen actions, so that nothing has to be learnt
that an agent over the wire would not send as well. The prompt tells of each job which blocks serve
it and for how many hours, counted by the rules; what to do with them is for the model.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from env import IllegalAction, arena
from sauda.llm.games.bazaar import first_object, seed_of
from sauda.llm.types import Generate, Reply, Schema

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
    """What `obs` is to a language model, as chat messages: the rules, then how things stand."""
    return [
        {"role": "system", "content": RULES.format(lab=obs.agent)},
        {"role": "user", "content": "\n".join(_standing(obs))},
    ]


def _standing(obs: arena.Observation) -> Iterator[str]:
    market = obs.market
    left = market.queue.count(obs.agent)
    yield (
        f"Round {market.round_index + 1}/{market.max_rounds}, {left} action"
        f"{'s' if left > 1 else ''} left. Credits {math.floor(obs.own.budget)}."
    )
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
    """A job: what it lacks, what is still to be earned, and the blocks that serve it."""
    left = job.full_value - arena.booked_value(job, job.on_time, job.late)
    whole = "" if job.partial_credit_allowed else ", all or nothing"
    usable, present = arena.usable_blocks(obs), {lab.lab_id for lab in obs.others}
    yours = [block for block in usable if block.owner_lab_id == obs.agent]
    pooled = [block for block in usable if block not in yours]
    others = [b for b in obs.market.blocks.values() if b.owner_lab_id in present]
    to_buy = [block for block in others if arena.is_requestable(block) and block not in pooled]
    told = (
        f"{job.job_id} lacks {_lacking(job)}h by round {job.deadline_round}, worth "
        f"{left:.0f}{whole}. Yours: {_list(obs, job, yours)}."
    )
    told += f" In the pool: {_list(obs, job, pooled)}." if pooled else ""
    return f"{told} To buy: {_list(obs, job, to_buy)}."


def _lacking(job: arena.Job) -> int:
    return job.gpu_hours_required - job.on_time - job.late


def _list(obs: arena.Observation, job: arena.Job, blocks: Iterable[arena.Block]) -> str:
    """Blocks by the hours they give to `job`, the most first.

    Late hours are told where those on time do not suffice. A block's name tells who had it first,
    so its owner is named where that is another by now.
    """
    served = ((_serves(obs, job, block), block) for block in blocks)
    found = sorted(((h, b) for h, b in served if any(h)), key=lambda pair: pair[0], reverse=True)
    told = []
    for (on_time, late), block in found:
        owner = block.owner_lab_id
        sold = owner not in (obs.agent, f"lab_{block.block_id.split('_')[1]}")
        hours = [f"{on_time}h"] * bool(on_time)
        hours += [f"{late}h late"] * bool(late and on_time < _lacking(job))
        told.append(f"{block.block_id}{f' of {owner}' * sold} {'+'.join(hours)}")
    return ", ".join(told) or "none"


def _serves(obs: arena.Observation, job: arena.Job, block: arena.Block) -> tuple[int, int]:
    """The hours that `block` gives to `job`, before its deadline and after."""
    if block.reliability < job.min_reliability:
        return 0, 0
    market = obs.market
    return arena.hours(block, job, market.round_index, market.max_rounds)


def _terms(offer: arena.Offer) -> str:
    """An offer as a trade, from its sender's side; what is said with it binds nobody."""
    gives, wants = [*offer.offered_blocks], [*offer.requested_blocks]
    gives += [f"{offer.payment:.0f} credits"] * bool(offer.payment)
    wants += [f"{offer.ask:.0f} credits"] * bool(offer.ask)
    return f"{' '.join(gives) or 'nothing'} for {' '.join(wants) or 'nothing'}"


def completion(action: arena.Action) -> str:
    """The canonical completion that makes `action`: credits in whole numbers, words if it must."""
    words = action.message if "message" in arena.KINDS[action.action_type].required else ""
    whole = tuple((k, math.floor(v) if k == "ask" else v) for k, v in action.conditions)
    made = action._replace(message=words, payment=math.floor(action.payment), conditions=whole)
    row = made.as_json()
    ordered = {name: row[name] for name in ORDER if name in row}
    return json.dumps(ordered, ensure_ascii=False, separators=(",", ":"))


def parse(completion: str, obs: arena.Observation) -> Action:
    """The action that the first JSON object in `completion` holds.

    Nothing is raised: what holds none is malformed, which the rules answer with a code.
    """
    try:
        return arena.action_from(first_object(completion))
    except IllegalAction:
        return arena.Malformed("a reply holds one JSON object with an action_type")


def schema(obs: arena.Observation) -> Schema:
    """The choices that the rules would not refuse at `obs`, for decoding under a grammar."""
    made = dict.fromkeys(completion(action) for action in arena.legal_actions(obs))
    return {
        "anyOf": [_exactly(json.loads(text)) for text in made],
        "x-guidance": {"whitespace_flexible": False},
    }


def _exactly(row: Mapping[str, Any]) -> Schema:
    return {
        "type": "object",
        "properties": {name: {"const": value} for name, value in row.items()},
        "required": list(row),
        "additionalProperties": False,
    }


@dataclass(frozen=True)
class ArenaLLMPolicy:
    """A language model in a lab's seat, as it is: text that holds no action is malformed."""

    generate: Generate
    constrained: bool = False  # decode under `schema`: a policy with a row of its own

    def __call__(self, obs: arena.Observation, rng: np.random.Generator) -> Action:
        form = schema(obs) if self.constrained else None
        reply: Reply = self.generate(render(obs), seed_of(rng), form)
        return parse(reply.text, obs)
