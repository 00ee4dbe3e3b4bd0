"""The claims in a pitch: the kinds of claims, how they are found in a text, and their check."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from typing import NamedTuple

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


jobs_done = _check_count(lambda obs: sum(job.completed for job in obs.own.jobs), 1 / 3)
deals = _check_count(lambda obs: len(accepted_offers(obs.market, obs.agent)), 0.25)
blocks_given = _check_count(lambda obs: given_blocks(obs.market, obs.agent), 0.4)
open_offers = _check_count(lambda obs: len(obs.outgoing), 0.3)
pooled_blocks = _check_count(committed_blocks, 0.5)
spare = _check_count(lambda obs: len(spare_blocks(obs, own_plan(obs))), 0.4)


# The kinds of claims that the judge knows: their wording, their topic, and their check.
#
# A claim consists of a figure (usually a number with its unit) and a cue in the same clause that
# says what the figure means. Kinds are tried in the order of CLAIMS; a figure counts for the
# first match.

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


class ClaimKind(NamedTuple):
    """A kind of claim: how to find it and how to check it."""

    dimension: str
    about: str  # what is claimed, in words, for the judge's reasons
    figure: re.Pattern
    cue: re.Pattern  # must match in the same clause
    check: Check  # strength in [0, 1]; None: it is false
    topic: str = ""  # kinds with one topic claim one fact; "": a topic of its own
    by_figure: bool = False  # claims with different figures are different facts


def _kind(
    dimension: str, about: str, figure: str, cue: str, check: Check, topic: str = "", **more: bool
) -> ClaimKind:
    """The kind with `figure` as a pattern, and with the words of `cue`, parted by "|"."""
    words = re.compile(rf"\b(?:{cue})\b")
    return ClaimKind(dimension, about, re.compile(figure), words, check, topic, **more)


def _count_of(unit: str) -> str:
    """A number, at most two words, and the unit that it counts."""
    return rf"{NUMBER}(?:[ -][a-z]+){{0,2}}?[ -](?:{unit})\b"


_HOURS, _BLOCKS, _CREDITS = _count_of("hours?"), _count_of("blocks?"), _count_of("credits?")
_JOBS, _OFFERS = _count_of("jobs?"), _count_of("offers?|trades?|deals?")
_DUE = r"deadlines?|due|deliver\w*|must|cut-?off|overdue|by round"
_WORTH = "worth|pays|earns?|brings?"
_UNIT = r"(?:[ -][a-z]+){0,2}?[ -](?:hours?|blocks?|jobs?|rounds?|offers?|trades?|deals?)\b"
_BAND = "low|medium|high"
_PROMISES = r"breach\w*|commitments?|promises?|pools?|coalitions?|word"
_POOL = "(?:coalition|pool|alliance)s?"

_ROUND, _SOON = rf"\bround {NUMBER}", r"\b(?:near|close|imminent|soon|tight|looming)\b"
_OUR_DEMAND = (
    r"\b(?:our|my|we|i)\b.{0,30}\bdemand\b|\bdemand\b.{0,30}\b(?:us|ours|me|mine)\b"
    r"|\bshort of (?:capacity|hours|gpus?|blocks|compute)\b"
)
_NEEDS = r"needs?|needed|requir\w+|lack\w*|missing|short|wants?|of work|chahiye|चाहिए"
_VALUED = f"{_WORTH}|values?|valued"
_BARE_WORTH = rf"\b(?:{_WORTH}) {NUMBER}(?!{_UNIT})"
_DONE, _BEST = "finished|completed|done|delivered", r"\b(?:best|highest)\b"
_BLOCK, _LOST = r"\bb_\d{1,2}_\d{1,2}\b", r"fail\w*|lost|broke|down"
_NONE_BROKEN = r"\bno (?:breach|broken)|\b(?:kept|honou?red) (?:all|every|each|our|my)\b"
_NEVER_BROKE = r"(?:\bnever|\bnot|n['’]t) (?:once |yet )?(?:broke|broken|breached|break)\b"
_SETTLED = "settled|accepted|closed|honou?red|completed|concluded|struck"
_OPEN, _PAID = "open|on the table|stand|standing|active", r"pay|paying|paid|bid|offer\w*"
_PART_OF = rf"{NUMBER} (?:blocks? )?(?:out )?of (?:the |all )?(?P<of_all>\d{{1,3}})\b"
_LESS, _SHARE = r"\b(?:less|fewer|below|smaller)\b", "equal share|fair share|average|mean"
_IDLE, _GAVE = "spare|idle|unused|to share", "sold|gave|given|traded|passed on|handed|parted"
_POOLED = r"commit\w*|pooled|contribut\w+|shared|in (?:a|the|our) pool"
_PROPOSED = rf"\b(?:proposed|invited|offered|asked)\b.{{0,30}}\b{_POOL}\b"
_IN_POOL = rf"\b(?:in|joined|members? of|part of|share|run) (?:a|an|our|the|one) {_POOL}\b"

_URGENCY, _EVIDENCE, _RELIABILITY, _FAIRNESS, _COALITION = (
    partial(_kind, dimension) for dimension in DIMENSIONS
)
CLAIMS: Mapping[str, ClaimKind] = {
    "due_round": _URGENCY("a deadline of its own", _ROUND, _DUE, due, "due"),
    "rounds_left": _URGENCY(
        "rounds to a deadline of its own", _count_of("rounds?"), _DUE, due, "due"
    ),
    "due_soon": _URGENCY("a deadline of its own within two rounds", _SOON, _DUE, due, "due"),
    "demand": _URGENCY("the posted band of its demand", _OUR_DEMAND, f"{_BAND}|short of", demand),
    "hours_needed": _EVIDENCE(
        "hours that its open jobs want", _HOURS, _NEEDS, hours_needed, by_figure=True
    ),
    "hours_held": _EVIDENCE(
        "hours left in its free blocks", _HOURS, "own|hold|have|control|left", hours_held
    ),
    "worth": _EVIDENCE(
        "what an open job of its own is worth", _CREDITS, _VALUED, worth, "worth", by_figure=True
    ),
    "worth_without_unit": _EVIDENCE(
        "what an open job of its own is worth", _BARE_WORTH, _WORTH, worth, "worth", by_figure=True
    ),
    "budget_band": _EVIDENCE("the posted band of its budget", r"\bbudget\b", _BAND, budget_band),
    "jobs_done": _RELIABILITY("jobs that it has done", _JOBS, _DONE, jobs_done),
    "open_jobs": _EVIDENCE(
        "its open jobs", _JOBS, "open|unfinished|waiting|left|queued?|undone", open_jobs
    ),
    "pressure": _EVIDENCE("the posted pressure of the market", r"\bpressure\b", _BAND, pressure),
    "failed_block": _EVIDENCE(
        "a block that failed", _BLOCK, _LOST, check_failed_block, by_figure=True
    ),
    "reputation": _RELIABILITY("its reputation", NUMBER, "reputation", reputation),
    "best_reputation": _RELIABILITY(
        "the best reputation of all", _BEST, "reputation", best_reputation, "reputation"
    ),
    "unbroken": _RELIABILITY("no pool of its own broken", _NONE_BROKEN, _PROMISES, check_unbroken),
    "unbroken_by_denial": _RELIABILITY(
        "no pool of its own broken", _NEVER_BROKE, _PROMISES, check_unbroken, "unbroken"
    ),
    "deals": _RELIABILITY("trades that it settled", _OFFERS, _SETTLED, deals),
    "open_offers": _FAIRNESS("offers of its own that stand", _OFFERS, _OPEN, open_offers),
    "part": _FAIRNESS("its part of all live blocks", _PART_OF, "blocks?", part, "share"),
    "below_share": _FAIRNESS(
        "fewer hours than an equal share", _LESS, _SHARE, below_share, "share"
    ),
    "paid": _FAIRNESS(
        "credits that it offers or has paid", _CREDITS, _PAID, check_payment, by_figure=True
    ),
    "budget": _EVIDENCE("its budget", NUMBER, "budget|purse", budget),
    "spare": _COALITION("blocks that it can spare", _BLOCKS, _IDLE, spare),
    "committed": _COALITION("blocks of its own in pools", _BLOCKS, _POOLED, pooled_blocks),
    "given": _FAIRNESS("blocks that it parted with in trades", _BLOCKS, _GAVE, blocks_given),
    "proposed": _COALITION("a pool that it proposed", _PROPOSED, _POOL, check_proposal),
    "partner": _COALITION("a pool that it is in", _IN_POOL, _POOL, partner),
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
            yield Claim(
                name,
                _figure(match),
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


def _figure(match: re.Match) -> float:
    number = match.groupdict().get("n") or "0"
    return float(WORDS.get(number, number))


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
