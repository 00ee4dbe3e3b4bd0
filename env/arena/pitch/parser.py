"""Finds the claims in a pitch and checks them against the state.

A claim is a figure with words that say what it counts ("need 8 GPU-hours"), or a fixed phrase
("never broke a pool"), about the speaking lab, in the present or the past. A single word is no
claim. Claims are checked against what the claiming lab may see, so a check reveals nothing private
of another lab.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from ..actions import LONGEST_MESSAGE
from ..types import Market, Observation, Offer
from .claim_types import CLAIMS, WORDS
from .facts import Claim, due_round, narrowed

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
RIVAL_BID = re.compile(r"another lab has bid (\d+(?:\.\d+)?) for (\S+)\.", re.IGNORECASE)


def claims(market: Market, lab_id: str, text: str) -> tuple[Claim, ...]:
    """The claims of `lab_id` in the first LONGEST_MESSAGE characters of `text`, in order."""
    names = tuple((lab.lab_id, lab.public_name.lower()) for lab in market.labs.values())
    return _parsed(names, lab_id, text[:LONGEST_MESSAGE])


@lru_cache(maxsize=4096)
def _parsed(names: tuple[tuple[str, str], ...], lab_id: str, text: str) -> tuple[Claim, ...]:
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
    job = _job_named(text, start, end)
    foreign = job and not job.startswith(f"j_{lab_id.removeprefix('lab_')}_")
    standing = (
        "promise" if is_question else "other" if foreign else _standing(names, lab_id, clause)
    )
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


def _job_named(text: str, start: int, end: int) -> str:
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


def _standing(names: tuple, lab_id: str, clause: str) -> str:
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
        return topic, due_round(narrowed(obs, claim), claim, claimed_in)
    if claim.kind == "failed_block":
        return topic, claim.detail
    return (topic, int(claim.figure + 0.5)) if kind.by_figure else (topic,)


def strength(obs: Observation, claim: Claim) -> float | None:
    """The strength of `claim` for the observing lab, in [0, 1]; None if it is false."""
    checked = CLAIMS[claim.kind].check(obs, claim)
    return None if checked is None else min(1.0, max(0.0, checked))


def claim_holds(market: Market, offer: Offer) -> bool | None:
    """Whether the rival bid that an offer's message claims was made; None if it claims none."""
    claim = RIVAL_BID.search(offer.message)
    if claim is None:
        return None
    bid, block_id = float(claim[1]), claim[2]
    return any(
        rival.payment >= bid and block_id in rival.requested_blocks
        for rival in (*market.offers.values(), *market.closed.values())
        if rival.to_lab_id == offer.from_lab_id and rival.round_created <= offer.round_created
    )
