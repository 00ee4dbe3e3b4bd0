"""What the page calls labs, jobs, blocks, offers and rounds; their ids stay in tooltips and JSON.

The engine counts rounds, blocks and jobs from 0 and the page from 1. A deadline keeps its number:
the hours that count are those of rounds before `deadline_round` from 0, which are the rounds up to
and with `deadline_round` from 1.
"""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from env import arena
from panels.ui.terms import from_one

NO_JOBS: Mapping[str, str] = MappingProxyType({})
_BLOCK = re.compile(r"b_(\d+)_(\d+)")
_IDS = re.compile(r"\b(?:(?:offer|block|coalition) )?(b_\d+_\d+|j_\d+_\w+|[oc]_\d+|lab_\d+)\b")
_NUMBERED = {"o": "offer", "c": "pool"}
_KINDS = {"paper_deadline": "paper experiments"}  # names that say what a job is; others are plain


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
    if not number:
        return block_id
    name = lab_name(market, maker)
    return f"{'your' if name == 'you' else f'{name}’s'} block {number}"


def short_block_name(market: arena.Market, block: arena.Block) -> str:
    """A block among those of its present owner: "Block 3", or "Block 3 from Lab A"."""
    maker, number = _maker_and_number(block.block_id)
    if not number:
        return block.block_id
    named = f"Block {number}"
    return named if block.owner_lab_id == maker else f"{named} from {lab_name(market, maker)}"


def block_list(market: arena.Market, block_ids: Iterable[str]) -> str:
    """Blocks as a list in a sentence, in the order of their labs and numbers."""
    return listed(block_name(market, block_id) for block_id in sorted(block_ids))


def goods(market: arena.Market, block_ids: Iterable[str], credits: float) -> str:
    """One side of a trade: blocks and credits as a list in a sentence."""
    money = f"{credits:{'.2f' if abs(credits) < 1e9 else 'g'}} credits"
    named = [block_name(market, block_id) for block_id in sorted(block_ids)]
    return listed([*named, *([money] if credits else [])])


def listed(parts: Iterable[str]) -> str:
    """The parts as a list in a sentence; "nothing" for none."""
    *before, last = [*parts] or ["nothing"]
    return f"{', '.join(before)} and {last}" if before else last


def capital(text: str) -> str:
    """The text with a capital at its start."""
    return text[:1].upper() + text[1:]


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


def _maker_and_number(block_id: str) -> tuple[str, int]:
    """The lab that had the block at first and the block's number there, from 1; else ("", 0)."""
    match = _BLOCK.fullmatch(block_id)
    return (f"lab_{match[1]}", int(match[2]) + 1) if match else ("", 0)
