"""What the page calls labs, jobs, blocks, offers, rounds and actions; ids stay in tooltips.

The engine counts rounds, blocks and jobs from 0 and the page from 1. A deadline keeps its number:
the hours that count are those of rounds before `deadline_round` from 0, which are the rounds up to
and with `deadline_round` from 1.
"""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from env import arena
from panels.ui.terms import from_one, listed
from sauda.games.arena_columns import action_in_words

NO_JOBS: Mapping[str, str] = MappingProxyType({})
_BLOCK = re.compile(r"b_(\d+)_(\d+)")
_IDS = re.compile(r"\b(?:(?:offer|block|coalition) )?(b_\d+_\d+|j_\d+_\w+|[oc]_\d+|lab_\d+)\b")
_NUMBERED = {"o": "offer", "c": "pool"}
_KINDS = {"paper_deadline": "paper experiments"}  # names that say what a job is; others are plain
_BLOCKS_ALONE = {  # of these actions only the blocks are told
    "reserve_capacity": "reserves",
    "release_capacity": "releases",
    "allocate_to_job": "books",
}
_ORDERS = {  # of deeds that are not an order once they lose their "s"
    "rejects": "turn down", "pitches": "argue in public", "reserves": "hold", "releases": "free",
    "waits": "wait for the next round", "leaves": "leave the market",
}  # fmt: skip


def job_names(jobs: Iterable[arena.Job]) -> dict[str, str]:
    """What each job is for, by its id; jobs of one kind are numbered: "Paper experiments 2"."""
    kinds = {job.job_id: job.private_notes.removeprefix("shock_") for job in jobs}
    names: dict[str, str] = {}
    for job_id, kind in kinds.items():
        alike = [other for other in kinds if kinds[other] == kind]
        number = f" {alike.index(job_id) + 1}" if len(alike) > 1 else ""
        plain = _KINDS.get(kind, kind or "job").replace("_", " ")
        names[job_id] = f"{plain.capitalize()}{number}"
    return names


def lab_name(market: arena.Market, lab_id: str) -> str:
    """A lab's public name within a sentence; the id itself where there is no such lab."""
    lab = market.labs.get(lab_id)
    name = lab.public_name if lab else lab_id
    return "you" if name == "You" else name


def block_name(market: arena.Market, block_id: str) -> str:
    """A block by the lab that had it at first: "your block 3", "Lab A’s block 1".

    The name stays when the block changes hands, so that what was said of it stays true. An id of
    another form stays as it is.
    """
    maker, number = _maker_and_number(block_id)
    name = lab_name(market, maker)
    whose = "your" if name == "you" else f"{name}’s"
    return f"{whose} block {number}" if number else block_id


def short_block_name(market: arena.Market, block: arena.Block) -> str:
    """A block among those of its present owner: "Block 3", or "Block 3 from Lab A"."""
    maker, number = _maker_and_number(block.block_id)
    bought = "" if block.owner_lab_id == maker else f" from {lab_name(market, maker)}"
    return f"Block {number}{bought}" if number else block.block_id


def _maker_and_number(block_id: str) -> tuple[str, int]:
    """The lab that had the block at first and the block's number there, from 1; else ("", 0)."""
    match = _BLOCK.fullmatch(block_id)
    return (f"lab_{match[1]}", int(match[2]) + 1) if match else ("", 0)


def block_list(market: arena.Market, block_ids: Iterable[str]) -> str:
    """Blocks as a list in a sentence, in the order of their labs and numbers."""
    return goods(market, block_ids, 0)


def goods(market: arena.Market, block_ids: Iterable[str], credits: float) -> str:
    """One side of a trade: blocks and credits as a list in a sentence; "nothing" for none."""
    named = [block_name(market, block_id) for block_id in sorted(block_ids)]
    return listed([*named, *([amount(credits)] if credits else [])]) or "nothing"


def amount(credits: float) -> str:
    """Credits in a sentence, as short as they can be where somebody typed a huge number."""
    return f"{credits:{'.2f' if abs(credits) < 1e9 else 'g'}} credits"


def due(job: arena.Job, market: arena.Market) -> str:
    """The last round whose hours count in full for a job."""
    return f"end of round {min(job.deadline_round, market.max_rounds)}"


def readable(obs: arena.Observation, text: str) -> str:
    """A sentence of the rules with the page's names in place of ids, and rounds from 1."""
    return with_names(obs.market, from_one(text), job_names(obs.own.jobs))


def with_names(market: arena.Market, text: str, jobs: Mapping[str, str] = NO_JOBS) -> str:
    """A text with the page's names in place of ids; `jobs` are the names of known jobs by id."""

    def name_of(match: re.Match[str]) -> str:
        found = match[1]
        if found in market.labs:
            return lab_name(market, found)
        if found[0] in _NUMBERED:
            return f"{_NUMBERED[found[0]]} {found[2:]}"
        return jobs.get(found) or block_name(market, found)

    return _IDS.sub(name_of, text)


# Actions -----------------------------------------------------------------------------------------


def deed(obs: arena.Observation, agent: str, action: arena.Action | arena.Malformed) -> str:
    """An action as a phrase with the page's names: "books Benchmark run with your block 2".

    Of another lab's booking it tells the blocks alone, because its jobs are its own.
    """
    if isinstance(action, arena.Malformed):
        return action_in_words(action)
    market, kind, is_own = obs.market, action.action_type, agent == obs.agent
    offer = market.offers.get(action.offer_id) or market.closed.get(action.offer_id)
    if kind in ("send_offer", "counter_offer"):
        words = _offer_in_words(obs, action)
    elif kind == "reject_offer" and offer and offer.from_lab_id == agent:
        words = f"withdraws {readable(obs, action.offer_id)}"
    elif kind in _BLOCKS_ALONE and not (is_own and kind == "allocate_to_job"):
        words = f"{_BLOCKS_ALONE[kind]} {block_list(market, action.block_ids)}"
    else:
        known = action if is_own else action._replace(job_id=None)
        words = readable(obs, action_in_words(known._replace(message="")))
    if not is_own:
        words = words.replace(f"{lab_name(market, agent)}’s block", "its block")
    if not action.message:
        return words
    return f"{words}: “{with_names(market, action.message, job_names(obs.own.jobs))}”"


def _offer_in_words(obs: arena.Observation, action: arena.Action) -> str:
    """An offer as a phrase: "offers Lab A 16.46 credits for its block 2"."""
    market = obs.market
    gives = goods(market, action.block_ids, action.payment)
    asks = goods(market, action.requested_block_ids, action.condition("ask", 0.0))
    terms = "".join(
        f", {name} {value}" for name, value in action.conditions if name not in arena.CONDITIONS
    )
    if action.action_type == "counter_offer":
        answered = readable(obs, action.offer_id or "an offer")
        return f"answers {answered} with other terms: {gives} for {asks}{terms}"
    whom = lab_name(market, action.target_lab_id or "")
    if whom != "you":
        asks = asks.replace(f"{whom}’s block", "its block")
    return f"offers {whom} {gives} for {asks}{terms}"


def advised(obs: arena.Observation, action: arena.Action | arena.Malformed) -> str:
    """An action of the visitor's lab as an order: "offer Lab A 16.46 credits for its block 2"."""
    if isinstance(action, arena.Malformed):
        return f"no action; its reply holds none: {action.reason}"
    verb, _, rest = deed(obs, obs.agent, action).partition(" ")
    return f"{_ORDERS.get(verb, verb.removesuffix('s'))} {rest}".strip()
