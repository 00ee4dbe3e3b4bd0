"""The GPU arena for a language model: an observation as a prompt, a completion as an action.

The prompt numbers the lab's options, computed as the broker computes them: the bookings of its best
plan, the incoming offers worth taking, a partner, and bids with what they bring if taken. The model
chooses one, such as {"buy":2} for the second bid. An action in the arena's own JSON, which an agent
sends over the wire, is read too.
"""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .. import arena
from ..bazaar.prompt import as_text, first_object
from ..core import IllegalAction
from .broker import VERBS, Option, broker

Action = arena.Action | arena.Malformed

RULES = tomllib.loads(Path(__file__).with_name("prompt.toml").read_text(encoding="utf-8"))
WAIT = arena.Action("wait")


def render(obs: arena.Observation) -> list[dict[str, str]]:
    """`obs` as chat messages: the rules, then the position."""
    return [
        {"role": "system", "content": RULES["lab"].format(lab=obs.agent)},
        {"role": "user", "content": "\n".join(_describe_standing(obs))},
    ]


def options(obs: arena.Observation) -> dict[str, list[Option]]:
    """The options at `obs` by verb, in the order of VERBS; each list has the broker's order."""
    first = {}
    for option in broker.options(obs):
        first.setdefault(option.action, option)
    listed: dict[str, list[Option]] = {}
    for option in sorted(first.values(), key=lambda option: VERBS.index(option.verb)):
        listed.setdefault(option.verb, []).append(option)
    return listed


def _describe_standing(obs: arena.Observation) -> Iterator[str]:
    market = obs.market
    left = market.queue.count(obs.agent)
    yield (
        f"Round {market.round_index + 1}/{market.max_rounds}, {left} action"
        f"{'s' if left > 1 else ''} left. Credits {obs.own.budget:.0f}."
    )
    if market.announced:
        yield f"Next round: {market.announced.replace('_', ' ')}."
    if obs.own.results and not obs.own.results[0].ok:
        yield f"Refused: {obs.own.results[0].code}."
    yield from (_job(job) for job in obs.open_jobs)
    for verb, listed in options(obs).items():
        entries = (f"{n} {_terms(obs, option)}" for n, option in enumerate(listed, 1))
        yield f"{verb}: {'; '.join(entries)}"


def _job(job: arena.Job) -> str:
    """A job: the hours it lacks, and the credits still to earn."""
    left = job.full_value - arena.booked_value(job, job.on_time, job.late)
    hours = job.gpu_hours_required - job.on_time - job.late
    joint = " with a partner" if job.joint else ""
    return f"{job.job_id} lacks {hours}h by round {job.deadline_round}{joint}, worth {left:.0f}."


def _terms(obs: arena.Observation, option: Option) -> str:
    """What an option gives and takes, from the lab's side; words that go with it bind nobody."""
    action = option.action
    gives, gets, ask = action.block_ids, action.requested_block_ids, action.condition("ask", 0.0)
    payment = action.payment
    if option.verb == "accept":
        offer = obs.market.offers[action.offer_id]
        gives, gets = offer.requested_blocks, offer.offered_blocks
        payment, ask = offer.ask, offer.payment
    if option.verb == "partner":
        terms = action.target_lab_id or action.coalition_id
    elif option.verb == "book":
        terms = f"{action.job_id} with {' '.join(gives)}"
    else:
        given = [*gives, *([f"{payment:.0f}"] if payment else [])]
        got = [*gets, *([f"{ask:.0f}"] if ask else [])]
        terms = " for ".join(" ".join(part) for part in (got, given) if part) or action.offer_id
    gain = f" +{option.gain:.0f}" if option.gain else ""
    return f"{terms}{gain}" + (f", {option.loss:.0f} lost by waiting" if option.loss >= 0.5 else "")


def completion(action: arena.Action, obs: arena.Observation) -> str:
    """The canonical completion that makes `action`: an option's number, else the arena's JSON."""
    if action == WAIT:
        return as_text({"wait": True})
    for verb, listed in options(obs).items():
        for number, option in enumerate(listed, 1):
            if option.action == action:
                return as_text({verb: number})
    return as_text(action.as_json())


def parse(completion: str, obs: arena.Observation) -> Action:
    """The action that the first JSON object in `completion` names.

    Raises nothing: a completion without one is a malformed action, which the rules answer.
    """
    try:
        row = first_object(completion)
    except IllegalAction:
        return arena.Malformed("a reply holds one JSON object, such as an option's number")
    verb = next((verb for verb in (*VERBS, "wait") if verb in row), "")
    if "action_type" in row or not verb:
        return arena.action_from(row)
    if verb == "wait":
        return WAIT
    listed, number = options(obs).get(verb, []), row[verb]
    if type(number) is int and 1 <= number <= len(listed):
        return listed[number - 1].action
    choices = f"its numbers are 1 to {len(listed)}" if listed else "there is none now"
    return arena.Malformed(f"no {verb} {str(number)[:20]!r}; {choices}")


def schema(obs: arena.Observation) -> Mapping[str, Any]:
    """The options at `obs`, as a JSON schema for constrained decoding."""
    forms = [_exactly("wait", True)]
    for verb, listed in options(obs).items():
        forms += [_exactly(verb, number) for number in range(1, len(listed) + 1)]
    return {"anyOf": forms, "x-guidance": {"whitespace_flexible": False}}


def _exactly(name: str, value: int) -> Mapping[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"const": value}},
        "required": [name],
        "additionalProperties": False,
    }
