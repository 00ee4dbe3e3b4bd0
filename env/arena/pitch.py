"""The claims in a pitch: the kinds of claims, how they are found in a text, and their check."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from ..core import read_rows
from .actions import LONGEST_MESSAGE
from .planning import own_plan, spare_blocks
from .types import FAILED, FREE, LIVE, Job, Market, Observation, Offer, live_hours

# Checks of claims against the state, and the strength of true ones.
#
# Every check takes the observation of the claiming lab and a claim, so it reveals nothing private
# of another lab. It returns the claim's strength, or None if the claim is false. A strength above
# 1 counts as 1, below 0 as 0.

URGENT_WITHIN = 6  # rounds before a deadline in which it is urgent
NEAR = 2  # rounds that "near" and "soon" mean
BANDS = {"low": 0.0, "medium": 0.4, "high": 0.8}  # strength of a claim of that band


class Claim(NamedTuple):
    """A claim of a lab about itself, at `text[start:end]` of its pitch."""

    kind: str
    figure: float
    detail: str  # a band, a block, a partner, or "within" for a bound; else ""
    start: int
    end: int
    standing: str = "claimed"  # or "promise", or "other" if it is about another lab
    job: str = ""  # id of the job that the sentence names; "" for any job


Check = Callable[[Observation, Claim], float | None]


def narrow(obs: Observation, claim: Claim) -> Observation:
    """The observation of the claiming lab, with only the named job if the claim names one."""
    if not claim.job:
        return obs
    named = tuple(job for job in obs.own.jobs if job.job_id == claim.job)
    return obs._replace(own=obs.own._replace(jobs=named))


def due_round(obs: Observation, claim: Claim, claimed_in: int) -> float:
    """The deadline round that a claim made in round `claimed_in` is about.

    For an upper bound ("within 2 rounds") the first deadline within it, or -1.
    """
    if claim.kind == "due_round":
        return claim.figure
    limit = claimed_in + (NEAR if claim.kind == "due_soon" else claim.figure)
    if claim.kind == "rounds_left" and claim.detail != "within":
        return limit
    within = [j.deadline_round for j in obs.open_jobs if claimed_in < j.deadline_round <= limit]
    return min(within, default=-1)


def due(obs: Observation, claim: Claim) -> float | None:
    obs = narrow(obs, claim)
    now = obs.market.round_index
    round_due = due_round(obs, claim, now)
    if all(job.deadline_round != round_due for job in obs.open_jobs):
        return None
    bounds = {"due_soon": NEAR, "rounds_left": claim.figure}
    left = bounds.get(claim.kind, round_due - now)
    return 1 - (left - 1) / URGENT_WITHIN if left > 0 else 0.0


def demand(obs: Observation, claim: Claim) -> float | None:
    band = obs.market.labs[obs.agent].public_demand
    return BANDS[band] if claim.detail == band else None


def pressure(obs: Observation, claim: Claim) -> float | None:
    band = obs.market.market_pressure
    return BANDS[band] / 2 if claim.detail == band else None


def budget_band(obs: Observation, claim: Claim) -> float | None:
    return 0.3 if obs.market.labs[obs.agent].public_budget_band == claim.detail else None


def _hours_left(job: Job) -> int:
    return job.gpu_hours_required - job.on_time - job.late


def hours_needed(obs: Observation, claim: Claim) -> float | None:
    jobs = narrow(obs, claim).open_jobs
    needs = {_hours_left(job) for job in jobs} | {job.gpu_hours_required for job in jobs}
    needs |= {sum(_hours_left(job) for job in jobs)} - {0}
    return 1.0 if claim.figure in needs else None


def free_hours(market: Market, lab_id: str) -> int:
    """GPU-hours left in the free blocks of a lab."""
    now, horizon = market.round_index, market.max_rounds
    blocks = market.blocks.values()
    return sum(
        live_hours(b, now, horizon) for b in blocks if b.owner_lab_id == lab_id and b.status in FREE
    )


def hours_held(obs: Observation, claim: Claim) -> float | None:
    return 0.6 if claim.figure == free_hours(obs.market, obs.agent) else None


def _same_credits(claimed: float, true: float) -> bool:
    """Whether amounts agree to the hundredth, or rounded to tenths or to whole credits."""
    return abs(claimed - true) < 0.005 or claimed in (round(true, 1), int(true + 0.5))


def worth(obs: Observation, claim: Claim) -> float | None:
    values = [job.full_value for job in narrow(obs, claim).open_jobs]
    return 0.8 if any(_same_credits(claim.figure, value) for value in values) else None


def budget(obs: Observation, claim: Claim) -> float | None:
    return 0.5 if _same_credits(claim.figure, obs.own.budget) else None


def open_jobs(obs: Observation, claim: Claim) -> float | None:
    return 0.5 if claim.figure == len(obs.open_jobs) > 0 else None


def check_failed_block(obs: Observation, claim: Claim) -> float | None:
    block = obs.market.blocks.get(claim.detail)
    if block is None or block.status != FAILED:
        return None
    return 0.7 if block.owner_lab_id == obs.agent else 0.2


def reputation(obs: Observation, claim: Claim) -> float | None:
    true = obs.market.labs[obs.agent].reputation
    claimed = claim.figure / 100 if claim.figure > 1 else claim.figure  # per cent, or a share
    holds = true >= claimed if claim.detail == "least" else abs(true - claimed) <= 0.0051
    return claimed if holds else None


def best_reputation(obs: Observation, claim: Claim) -> float | None:
    known = {lab.lab_id: lab.reputation for lab in obs.market.labs.values()}
    return known[obs.agent] if known[obs.agent] == max(known.values()) else None


def check_unbroken(obs: Observation, claim: Claim) -> float | None:
    """No coalition broken; weak for a lab that was never in one."""
    pools = [c for c in obs.market.coalitions.values() if c.consented and obs.agent in c.members]
    if any(pool.breached_by == obs.agent for pool in pools):
        return None
    return 0.2 + 0.4 * len(pools)


def accepted_offers(market: Market, lab_id: str) -> list[Offer]:
    """The accepted offers that a lab made or received."""
    return [
        offer
        for offer in market.closed.values()
        if offer.status == "accepted" and lab_id in (offer.from_lab_id, offer.to_lab_id)
    ]


def given_blocks(market: Market, lab_id: str) -> int:
    """The number of blocks that a lab gave away in trades."""
    return sum(
        len(o.offered_blocks if o.from_lab_id == lab_id else o.requested_blocks)
        for o in accepted_offers(market, lab_id)
    )


def live_blocks(market: Market) -> list[str]:
    """The owner of each live block."""
    return [block.owner_lab_id for block in market.blocks.values() if block.status in LIVE]


def part(obs: Observation, claim: Claim) -> float | None:
    """The lab's part of all live blocks: the fewer it owns, the stronger its case for more."""
    owners = live_blocks(obs.market)
    if (claim.figure, float(claim.detail)) != (owners.count(obs.agent), len(owners)):
        return None
    return 1 - claim.figure * len(obs.market.labs) / max(1, len(owners))


def shortfall(market: Market, lab_id: str) -> float:
    """How far a lab's hours are below an equal share, as a share of it; negative if above."""
    held = {lab: free_hours(market, lab) for lab in market.labs}
    return 1 - held[lab_id] * len(held) / (sum(held.values()) or 1)


def below_share(obs: Observation, claim: Claim) -> float | None:
    short = shortfall(obs.market, obs.agent)
    return short if short > 0 else None


def check_payment(obs: Observation, claim: Claim) -> float | None:
    """Money that the lab offers now or has paid in a trade."""
    offers = (*obs.market.offers.values(), *accepted_offers(obs.market, obs.agent))
    bids = [o.payment if o.from_lab_id == obs.agent else o.ask for o in offers]
    own = [bid for bid in bids if bid]
    return claim.figure / 10 if any(_same_credits(claim.figure, bid) for bid in own) else None


def partner(obs: Observation, claim: Claim) -> float | None:
    pools = [c for c in obs.coalitions if not claim.detail or claim.detail in c.members]
    return 0.5 if pools else None


def committed_blocks(obs: Observation) -> int:
    """The number of the lab's blocks in active coalitions."""
    ids = [block_id for pool in obs.coalitions for block_id in pool.commitments]
    return sum(obs.market.blocks[block_id].owner_lab_id == obs.agent for block_id in ids)


def check_proposal(obs: Observation, claim: Claim) -> float | None:
    return 0.4 if any(c.members[0] == obs.agent for c in obs.market.coalitions.values()) else None


def _check_count(count: Callable[[Observation], int], weight: float) -> Check:
    """The check of a claim of so many things, of which each counts `weight`."""
    return lambda obs, claim: weight * claim.figure if claim.figure <= count(obs) else None


CHECKS: Mapping[str, Check] = {
    check.__name__: check
    for check in (
        due, demand, pressure, budget_band, hours_needed, hours_held, worth, budget, open_jobs,
        check_failed_block, reputation, best_reputation, check_unbroken, part, below_share,
        check_payment, partner, check_proposal,
    )
} | {
    "jobs_done": _check_count(lambda obs: sum(job.completed for job in obs.own.jobs), 1 / 3),
    "deals": _check_count(lambda obs: len(accepted_offers(obs.market, obs.agent)), 0.25),
    "blocks_given": _check_count(lambda obs: given_blocks(obs.market, obs.agent), 0.4),
    "open_offers": _check_count(lambda obs: len(obs.outgoing), 0.3),
    "pooled_blocks": _check_count(committed_blocks, 0.5),
    "spare": _check_count(lambda obs: len(spare_blocks(obs, own_plan(obs))), 0.4),
}  # fmt: skip


# The kinds of claims that the judge knows: their wording, their topic, and their check.
#
# A claim consists of a figure (usually a number with its unit) and a cue in the same clause that
# says what the figure means. Kinds are tried in the order of `claims.csv`; a figure counts for the
# first match. In a figure's pattern # is a number, and ~ up to two words before its unit.

DIMENSIONS = ("urgency", "evidence", "reliability", "fairness", "coalition")
COUNTS = "one two three four five six seven eight nine ten eleven twelve"
HINDI = (  # "do" is left out, for the English verb
    ("ek", "एक"), ("दो",), ("teen", "तीन"), ("char", "चार"), ("paanch", "पाँच", "पांच"),
    ("chhah", "छह"), ("saat", "सात"), ("aath", "आठ"), ("nau", "नौ"), ("das", "दस"),
    ("gyarah", "ग्यारह"), ("barah", "बारह"),
)  # fmt: skip
WORDS = {word: number for number, word in enumerate(COUNTS.split(" "), 1)}
WORDS |= {word: number for number, words in enumerate(HINDI, 1) for word in words}
NUMBER = (
    rf"(?<!\w)(?P<n>\d{{1,6}}(?:\.\d{{1,4}})?|{'|'.join(WORDS)})(?!\w)"
    r"(?!\.\d| of (?:our|my)\b)"
)
WORDS_BETWEEN = r"(?:[ -][a-z]+){0,2}?[ -]"


class ClaimKind(NamedTuple):
    """A kind of claim: how to find it and how to check it."""

    dimension: str
    about: str  # what is claimed, in words, for the judge's reasons
    figure: re.Pattern
    cue: re.Pattern  # must match in the same clause
    check: Check  # strength in [0, 1]; None: it is false
    topic: str = ""  # kinds with one topic claim one fact; "": a topic of its own
    by_figure: bool = False  # claims with different figures are different facts


CLAIMS: Mapping[str, ClaimKind] = {
    row["kind"]: ClaimKind(
        row["dimension"],
        row["about"],
        re.compile(row["figure"].replace("#", NUMBER).replace("~", WORDS_BETWEEN)),
        re.compile(rf"\b(?:{row['cue']})\b"),
        CHECKS[row["check"]],
        row["topic"],
        bool(row["by_figure"]),
    )
    for row in read_rows("arena/claims.csv")
}


# Finds the claims in a pitch and checks them against the state.
#
# A claim is a figure with words that say what it counts ("need 8 GPU-hours"), or a fixed phrase
# ("never broke a pool"), about the speaking lab, in the present or the past. A single word is no
# claim. Claims are checked against what the claiming lab may see, so a check reveals nothing
# private of another lab.

CLAUSE = re.compile(r"[^.!?;,\n—–]+(?:[.,](?=\d)[^.!?;,\n—–]+)*")
JOINT = re.compile(r"\b(?:and|but|while|because|since|yet|whereas)\b")
PROMISE = re.compile(
    r"\b(?:will|would|shall|should|could|might|may|(?:we|i) promise|intend|plan to|hope|if|suppose"
    r"|going to)\b|['’](?:ll|d)\b"
)
DENIAL = re.compile(r"\b(?:not|never|no longer|without|hardly|cannot|nor|none)\b|n['’]t\b")
WITHIN = re.compile(
    r"\b(?:within|at most|no more than|less than|fewer than|under|or less|or fewer)\b"
)
LEAST = re.compile(r"\b(?:above|over|at least|more than|better than|no less than)\b")
BAND = re.compile(r"\b(low|medium|high)\b")
JOB = re.compile(r"\bj_\d+_\d+\b")
SENTENCE_END = re.compile(r"[.!?;\n](?!\d)")
OBJECT = re.compile(r"\b(?:with|to|from|for|than|against|between)\s+$")


def claims(market: Market, lab_id: str, text: str) -> tuple[Claim, ...]:
    """The claims of `lab_id` in the first LONGEST_MESSAGE characters of `text`, in order."""
    names = tuple((lab.lab_id, lab.public_name.lower()) for lab in market.labs.values())
    return _parse(names, lab_id, text[:LONGEST_MESSAGE])


@lru_cache(maxsize=4096)
def _parse(names: tuple[tuple[str, str], ...], lab_id: str, text: str) -> tuple[Claim, ...]:
    lowered = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)  # keeps positions
    parsed = [
        claim
        for start, end in _clauses(lowered)
        for claim in _clause_claims(names, lab_id, lowered, start, end)
    ]
    return tuple(sorted(parsed, key=lambda claim: (claim.start, claim.end)))


def _clauses(text: str) -> Iterator[tuple[int, int]]:
    for sentence in CLAUSE.finditer(text):
        start = sentence.start()
        for joint in JOINT.finditer(text, *sentence.span()):
            yield start, joint.start()
            start = joint.end()
        yield start, sentence.end()


def _clause_claims(names: tuple, lab_id: str, text: str, start: int, end: int) -> Iterator[Claim]:
    """The claims of one clause; each figure counts for the first kind that matches."""
    clause = text[start:end]
    denied, taken = DENIAL.search(clause), set()
    is_question = text[end : end + 1] == "?"
    job = _find_job(text, start, end)
    foreign = job and not job.startswith(f"j_{lab_id.removeprefix('lab_')}_")
    standing = "promise" if is_question else "other" if foreign else _subject(names, lab_id, clause)
    for name, kind in CLAIMS.items():
        cue = kind.cue.search(clause)
        if cue is None or (denied and name != "unbroken_by_denial"):
            continue
        for match in kind.figure.finditer(clause):
            if taken & set(range(*match.span())):
                continue
            taken |= set(range(*match.span()))
            number = match.groupdict().get("n") or "0"
            yield Claim(
                name,
                float(WORDS.get(number, number)),
                _detail(name, clause, match, names, lab_id),
                start + min(match.start(), cue.start()),
                start + max(match.end(), cue.end()),
                standing,
                job,
            )


def _find_job(text: str, start: int, end: int) -> str:
    """The last job that the sentence names up to the end of the clause; "" for none."""
    begin = max((m.end() for m in SENTENCE_END.finditer(text, 0, start)), default=0)
    named = JOB.findall(text, begin, end)
    return named[-1] if named else ""


def _detail(name: str, clause: str, match: re.Match, names: tuple, lab_id: str) -> str:
    if "of_all" in match.groupdict():
        return match["of_all"]
    if name in ("demand", "pressure", "budget_band"):
        band = BAND.search(clause)
        return band[1] if band else "high"
    if name == "failed_block":
        return match[0]
    if name == "partner":
        return next((lab for lab, _ in _mentions(names, clause) if lab != lab_id), "")
    if name == "reputation":
        return "least" if LEAST.search(clause) else ""
    return "within" if WITHIN.search(clause) else ""


def _subject(names: tuple, lab_id: str, clause: str) -> str:
    """Whether a clause is "claimed" of the lab itself, a "promise", or about an "other" lab."""
    others = [at for lab, at in _mentions(names, clause) if lab != lab_id]
    others += [m.start() for m in re.finditer(r"\b(?:they|their|rivals?|competitors?)\b", clause)]
    selves = [m.start() for m in re.finditer(r"\b(?:we|our|us|my|i)\b", clause)]
    subjects = [at for at in others if not OBJECT.search(clause[:at])]
    if subjects and min(subjects) < min(selves, default=len(clause)):
        return "other"
    return "promise" if PROMISE.search(clause) else "claimed"


def _mentions(names: tuple, clause: str) -> list[tuple[str, int]]:
    """Each mention of a lab with its position, in order of positions."""
    mentions = [
        (lab, match.start())
        for lab, public in names
        for match in re.finditer(rf"\b(?:{lab}|{re.escape(public)})\b", clause)
        if public != "you" or match[0] == lab
    ]
    return sorted(mentions, key=lambda pair: pair[1])


def fact(obs: Observation, claim: Claim, claimed_in: int) -> tuple:
    """A key of the fact that `claim`, made in round `claimed_in`, states; equal for equal facts."""
    kind = CLAIMS[claim.kind]
    topic = kind.topic or claim.kind
    if topic == "due":
        return topic, due_round(narrow(obs, claim), claim, claimed_in)
    if claim.kind == "failed_block":
        return topic, claim.detail
    return (topic, int(claim.figure + 0.5)) if kind.by_figure else (topic,)


def strength(obs: Observation, claim: Claim) -> float | None:
    """The strength of `claim` for the observing lab, in [0, 1]; None if it is false."""
    checked = CLAIMS[claim.kind].check(obs, claim)
    return None if checked is None else min(1.0, max(0.0, checked))
