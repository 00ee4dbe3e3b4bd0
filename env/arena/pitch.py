"""The claims in a pitch: the kinds of claims, how they are found in a text, and their check."""

import operator
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from ..core import read_rows
from .planning import own_plan, spare_blocks
from .types import FAILED, FREE, LIVE, Job, Market, Observation, Offer, live_hours

# Checks of claims against the state, and the strength of true ones.
#
# Every check takes the observation of the claiming lab and a claim, so it reveals nothing private
# of another lab. It returns the claim's strength, or None if the claim is false. A strength above
# 1 counts as 1, below 0 as 0.

URGENT_WITHIN = 6  # rounds before a deadline in which it is urgent, and "near", "close" or "soon"
BANDS = {"low": 0.0, "medium": 0.4, "high": 0.8}  # strength of a claim of that band


class Claim(NamedTuple):
    """A claim of a lab about itself, at `text[start:end]` of its pitch."""

    kind: str
    figure: float
    detail: str  # a band, a block, a partner, or "within" for a deadline at the latest; else ""
    start: int
    end: int
    standing: str = "claimed"  # or "promise", or "other" if it is about another lab
    job: str = ""  # id of the job that the sentence names; "" for any job
    bound: str = ""  # "least" or "most" if the figure is a bound and not the true one


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
    limit = claimed_in + (URGENT_WITHIN if claim.kind == "due_soon" else claim.figure)
    if claim.kind == "rounds_left" and claim.detail != "within":
        return limit
    within = [j.deadline_round for j in obs.open_jobs if claimed_in < j.deadline_round <= limit]
    return min(within, default=-1)


def due(obs: Observation, claim: Claim) -> float | None:
    obs = narrow(obs, claim)
    now = obs.market.round_index
    if claim.bound:
        least = claim.figure + (now if claim.kind == "rounds_left" else 0)
        return 0.0 if any(job.deadline_round >= least for job in obs.open_jobs) else None
    round_due = due_round(obs, claim, now)
    if all(job.deadline_round != round_due for job in obs.open_jobs):
        return None
    bounds = {"due_soon": URGENT_WITHIN, "rounds_left": claim.figure}
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


def hours_needed(obs: Observation, claim: Claim) -> Collection[float]:
    jobs = narrow(obs, claim).open_jobs
    needs = {_hours_left(job) for job in jobs} | {job.gpu_hours_required for job in jobs}
    return needs | {sum(_hours_left(job) for job in jobs)} - {0}


def free_hours(market: Market, lab_id: str) -> int:
    """GPU-hours left in the free blocks of a lab."""
    now, horizon = market.round_index, market.max_rounds
    blocks = market.blocks.values()
    return sum(
        live_hours(b, now, horizon) for b in blocks if b.owner_lab_id == lab_id and b.status in FREE
    )


def _same_credits(claimed: float, true: float) -> bool:
    """Whether amounts agree to the hundredth, or rounded to tenths or to whole credits."""
    return abs(claimed - true) < 0.005 or claimed in (round(true, 1), int(true + 0.5))


def worth(obs: Observation, claim: Claim) -> Collection[float]:
    return [job.full_value for job in narrow(obs, claim).open_jobs]


def check_whole(obs: Observation, claim: Claim) -> float | None:
    """A job that no booking does in parts: less than all its hours are of no use to it."""
    jobs = narrow(obs, claim).open_jobs
    return 0.3 if any(not job.partial_credit_allowed for job in jobs) else None


def check_failed_block(obs: Observation, claim: Claim) -> float | None:
    block = obs.market.blocks.get(claim.detail)
    if block is None or block.status != FAILED:
        return None
    return 0.7 if block.owner_lab_id == obs.agent else 0.2


def reputation(obs: Observation, claim: Claim) -> Collection[float]:
    """In per cent where the claim is: a figure above 1."""
    return [obs.market.labs[obs.agent].reputation * (100 if claim.figure > 1 else 1)]


def _same_reputation(claimed: float, true: float) -> bool:
    return abs(claimed - true) <= (0.51 if claimed > 1 else 0.0051)


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
    strength = 1 - claim.figure * len(obs.market.labs) / max(1, len(owners))
    check = _check_figure(lambda obs, claim: [owners.count(obs.agent)], lambda claim: strength)
    return check(obs, claim) if float(claim.detail) == len(owners) else None


def shortfall(market: Market, lab_id: str) -> float:
    """How far a lab's hours are below an equal share, as a share of it; negative if above."""
    held = {lab: free_hours(market, lab) for lab in market.labs}
    return 1 - held[lab_id] * len(held) / (sum(held.values()) or 1)


def below_share(obs: Observation, claim: Claim) -> float | None:
    short = shortfall(obs.market, obs.agent)
    return short if short > 0 else None


def payments(obs: Observation, claim: Claim) -> Collection[float]:
    """Money that the lab offers now or has paid in a trade."""
    offers = (*obs.outgoing, *accepted_offers(obs.market, obs.agent))
    bids = [o.payment if o.from_lab_id == obs.agent else o.ask for o in offers]
    return [bid for bid in bids if bid]


def partner(obs: Observation, claim: Claim) -> float | None:
    pools = [c for c in obs.coalitions if not claim.detail or claim.detail in c.members]
    return 0.5 if pools else None


def committed_blocks(obs: Observation) -> int:
    """The number of the lab's blocks in active coalitions."""
    ids = [block_id for pool in obs.coalitions for block_id in pool.commitments]
    return sum(obs.market.blocks[block_id].owner_lab_id == obs.agent for block_id in ids)


def check_proposal(obs: Observation, claim: Claim) -> float | None:
    return 0.4 if any(c.members[0] == obs.agent for c in obs.market.coalitions.values()) else None


def _check_figure(
    figures: Callable[[Observation, Claim], Collection[float]],
    weight: Callable[[Claim], float],
    agrees: Callable[[float, float], bool] = operator.eq,
) -> Check:
    """The check of a claim that names one of the true `figures`, or a bound of one.

    A true bound is worth nothing, since a lab that has 40 credits also has at least 1.
    """

    def check(obs: Observation, claim: Claim) -> float | None:
        compare = {"least": operator.le, "most": operator.ge}.get(claim.bound, agrees)
        if not any(compare(claim.figure, true) for true in figures(obs, claim)):
            return None
        return 0.0 if claim.bound else weight(claim)

    return check


def _check_count(count: Callable[[Observation], int], weight: float) -> Check:
    """The check of a claim of so many things, of which each counts `weight`."""
    return _check_figure(
        lambda obs, claim: [count(obs)], lambda claim: weight * claim.figure, operator.le
    )


CHECKS: Mapping[str, Check] = {
    check.__name__: check
    for check in (
        due, demand, pressure, budget_band, check_whole, check_failed_block, best_reputation,
        check_unbroken, part, below_share, partner, check_proposal,
    )
} | {
    "hours_needed": _check_figure(hours_needed, lambda claim: 1.0),
    "hours_held": _check_figure(
        lambda obs, claim: [free_hours(obs.market, obs.agent)], lambda claim: 0.6
    ),
    "worth": _check_figure(worth, lambda claim: 0.8, _same_credits),
    "budget": _check_figure(lambda obs, claim: [obs.own.budget], lambda claim: 0.5, _same_credits),
    "open_jobs": _check_figure(
        lambda obs, claim: {len(obs.open_jobs)} - {0}, lambda claim: 0.5
    ),
    "payments": _check_figure(payments, lambda claim: claim.figure / 10, _same_credits),
    "reputation": _check_figure(
        reputation,
        lambda claim: claim.figure / (100 if claim.figure > 1 else 1),
        _same_reputation,
    ),
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
# first match. In a figure's pattern # is a number, and ~ up to two words before its unit. The cues
# and figures of `claims_hi.csv` are Hindi in Devanagari.

DIMENSIONS = ("urgency", "evidence", "reliability", "fairness", "coalition")
COUNTS = "one two three four five six seven eight nine ten eleven twelve"
HINDI = (  # "do" is left out, for the English verb
    ("ek", "एक"), ("दो",), ("teen", "तीन"), ("char", "चार"), ("paanch", "पाँच", "पांच"),
    ("chhah", "छह"), ("saat", "सात"), ("aath", "आठ"), ("nau", "नौ"), ("das", "दस"),
    ("gyarah", "ग्यारह"), ("barah", "बारह"),
)  # fmt: skip
WORDS = {word: number for number, word in enumerate(COUNTS.split(" "), 1)}
WORDS |= {word: number for number, words in enumerate(HINDI, 1) for word in words}
LETTER = r"[\w\u0900-\u0963\u0970-\u097f]"  # \w leaves out the vowel signs of Devanagari
START, END = rf"(?<!{LETTER})", rf"(?!{LETTER})"
NUMBER = (
    rf"{START}(?P<n>\d{{1,6}}(?:\.\d{{1,4}})?|{'|'.join(WORDS)}){END}"
    r"(?!\.\d| of (?:our|my)\b)"
)
WORDS_BETWEEN = rf"(?:[ -](?:(?!\d){LETTER})+){{0,2}}?[ -]"


class ClaimKind(NamedTuple):
    """A kind of claim: how to find it and how to check it."""

    dimension: str
    about: str  # what is claimed, in words, for the judge's reasons
    patterns: tuple[tuple[re.Pattern, re.Pattern], ...]  # a figure, and a cue in the same clause
    check: Check  # strength in [0, 1]; None: it is false
    topic: str = ""  # kinds with one topic claim one fact; "": a topic of its own
    by_figure: bool = False  # claims with different figures are different facts


def _compile(pattern: str) -> re.Pattern:
    """A pattern of claims, in either spelling of a nasal vowel and of ज़."""
    for letter, spellings in (("ँ", "[ँं]"), ("ज़", "[ज\u095b]\u093c?")):
        pattern = pattern.replace(letter, spellings)
    return re.compile(pattern.replace("#", NUMBER).replace("~", WORDS_BETWEEN))


def _patterns(row: Mapping[str, str]) -> tuple[re.Pattern, re.Pattern]:
    return _compile(row["figure"]), _compile(f"{START}(?:{row['cue']}){END}")


IN_HINDI = {row["kind"]: row for row in read_rows("arena/claims_hi.csv")}
CLAIMS: Mapping[str, ClaimKind] = {
    row["kind"]: ClaimKind(
        row["dimension"],
        row["about"],
        tuple(_patterns(each) for each in (row, IN_HINDI.get(row["kind"])) if each),
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

CLAUSE = re.compile(r"[^.!?;,।\n—–]+(?:[.,](?=\d)[^.!?;,।\n—–]+)*")
JOINT = _compile(rf"{START}(?:and|but|while|because|since|yet|whereas|और|लेकिन|मगर|क्योंकि|जबकि){END}")
PROMISE = _compile(
    r"\b(?:will|would|shall|should|could|might|may|(?:we|i) promise|intend|plan to|hope|if|suppose"
    r"|going to)\b|['’](?:ll|d)\b"
    rf"|(?:ेंगे|ेगा|ेगी|ूँगा|ूँगी|होगा|होगी|होंगे){END}|{START}(?:अगर|यदि|शायद){END}"
)
DENIAL = _compile(
    r"\b(?:not|never|no longer|without|hardly|cannot|nor|none)\b|n['’]t\b"
    rf"|{START}(?:नहीं|बिना){END}"
)
BOUNDS = {  # by what stands right before a figure, or right after it
    "least": _compile(
        r"(?:at least|(?<!no )more than|over|above|no (?:less|fewer) than|better than"
        r"|कम[ -]से[ -]कम) $"
        r"|^ ?(?:or (?:more|better)|and more|\+|plus|से (?:ज़्यादा|अधिक|ऊपर))"
    ),
    "most": _compile(
        r"(?:within|at most|no more than|(?<!no )(?:less|fewer) than|under|below|up to"
        r"|(?:ज़्यादा|अधिक)[ -]से[ -](?:ज़्यादा|अधिक)|अधिकतम) $"
        r"|^ ?(?:or (?:less|fewer)|से कम|के (?:अंदर|भीतर))"
    ),
}
BANDS_IN_HINDI = {"low": "कम|निम्न|नीची", "medium": "मध्यम|औसत", "high": "ऊँची|ऊँचा|ज़्यादा|अधिक|भारी|तेज़"}
BAND = {
    band: _compile(rf"{START}(?:{band}|{words}){END}") for band, words in BANDS_IN_HINDI.items()
}
JOB = re.compile(r"\bj_\d+_\d+\b")
SENTENCE_END = re.compile(r"[.!?;।\n](?!\d)")
# A lab that is mentioned so is no subject; Hindi names the relation after it.
OBJECT = re.compile(r"\b(?:with|to|from|for|than|against|between)\s+$")
OBJECT_IN_HINDI = _compile(rf"^\S+ (?:के साथ|के लिए|को|से){END}")
SELVES = _compile(
    r"\b(?:we|our|us|my|i)\b"
    rf"|{START}(?:हम|हमने|हमें|हमार[ाीे]|मैं|मैंने|मेर[ाीे]|मुझे){END}"
)
OTHERS = _compile(
    r"\b(?:they|their|rivals?|competitors?)\b"
    rf"|{START}(?:वे|उन्हें|उन्होंने|उनक[ाीे]|प्रतिद्वंद्वी){END}"
)


def claims(market: Market, lab_id: str, text: str) -> tuple[Claim, ...]:
    """The claims of `lab_id` in `text`, in order."""
    names = tuple((lab.lab_id, lab.public_name.lower()) for lab in market.labs.values())
    return _parse(names, lab_id, text)


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
    patterns = [(name, *pair) for name, kind in CLAIMS.items() for pair in kind.patterns]
    for name, figure, cued in patterns:
        cue = cued.search(clause)
        if cue is None or bool(denied) != name.endswith("_by_denial"):
            continue
        for match in figure.finditer(clause):
            if taken & set(range(*match.span())):
                continue
            taken |= set(range(*match.span()))
            number, bound = match.groupdict().get("n") or "0", _bound(clause, match)
            at_latest = name == "rounds_left" and bound == "most"
            yield Claim(
                name,
                float(WORDS.get(number, number)),
                "within" if at_latest else _detail(name, clause, match, names, lab_id),
                start + min(match.start(), cue.start()),
                start + max(match.end(), cue.end()),
                standing,
                job,
                "" if at_latest else bound,
            )


def _bound(clause: str, match: re.Match) -> str:
    """Whether the number in `match` is the "least" or the "most" that is claimed; "" if neither."""
    if "n" not in match.groupdict():
        return ""
    before, after = clause[: match.start("n")], clause[match.end() :]
    return next((name for name, at in BOUNDS.items() if at.search(before) or at.search(after)), "")


def _find_job(text: str, start: int, end: int) -> str:
    """The last job that the sentence names up to the end of the clause; "" for none."""
    begin = max((m.end() for m in SENTENCE_END.finditer(text, 0, start)), default=0)
    named = JOB.findall(text, begin, end)
    return named[-1] if named else ""


def _detail(name: str, clause: str, match: re.Match, names: tuple, lab_id: str) -> str:
    if "of_all" in match.groupdict():
        return match["of_all"]
    if name in ("demand", "pressure", "budget_band"):
        return next((band for band, words in BAND.items() if words.search(clause)), "high")
    if name == "failed_block":
        return match[0]
    if name == "partner":
        return next((lab for lab, _ in _mentions(names, clause) if lab != lab_id), "")
    return ""


def _subject(names: tuple, lab_id: str, clause: str) -> str:
    """Whether a clause is "claimed" of the lab itself, a "promise", or about an "other" lab."""
    others = [at for lab, at in _mentions(names, clause) if lab != lab_id]
    others += [match.start() for match in OTHERS.finditer(clause)]
    selves = [match.start() for match in SELVES.finditer(clause)]
    subjects = [
        at
        for at in others
        if not OBJECT.search(clause[:at]) and not OBJECT_IN_HINDI.search(clause[at:])
    ]
    if subjects and min(subjects) < min(selves, default=len(clause)):
        return "other"
    return "promise" if PROMISE.search(clause) else "claimed"


def _mentions(names: tuple, clause: str) -> list[tuple[str, int]]:
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
