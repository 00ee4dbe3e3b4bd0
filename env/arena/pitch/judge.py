"""The rule judge: grades a pitch claim by claim and decides which lab wins a round.

A true claim that was not made recently adds points in one of five dimensions; further claims in the
same dimension add less. Text without a checkable claim, promises, and statements about other labs
add nothing. A false claim costs points. A verdict depends on the market and the judged lab's own
private values, so it reveals nothing private of another lab.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ..actions import LONGEST_MESSAGE
from ..rules.messages import SHORTEST_PITCH, signal_of
from ..types import Lab, Message, Observation, State
from .claim_types import CLAIMS, DIMENSIONS
from .facts import Claim
from .parser import claims, fact, strength

MAX_CLAIMS = 6  # claims of one pitch that count; later ones are ignored
JUDGE_MEMORY = 3  # rounds in which a repeated fact does not count again
WEIGHTS = (0.6, 0.3, 0.1)  # of the strongest, second and third claim in one dimension
LIE_PENALTY = 0.1  # points that each false claim costs
STAKE = 1.0  # credits that each lab with a pitch pays into the pot of a round
LIE_REPUTATION = 0.02  # reputation that each false claim costs


class Finding(NamedTuple):
    """The judge's finding on one claim at `text[start:end]`, with its reason in words."""

    dimension: str
    status: str  # holds, false, repeated, promise, other, unheard
    start: int
    end: int
    reason: str
    points: float = 0.0  # added to the dimension's grade


class Verdict(NamedTuple):
    """The grades of a pitch: five dimensions and a total, each in [0, 1], with reasons."""

    lab_id: str
    text: str
    scores: Mapping[str, float]
    total: float
    lies: int
    findings: tuple[Finding, ...]
    reasons: Mapping[str, str]  # one sentence for each dimension

    def as_json(self) -> dict[str, Any]:
        """The verdict as a JSON object, without the lab."""
        return {
            "text": self.text,
            "scores": dict(self.scores),
            "total": self.total,
            "lies": self.lies,
            "findings": [finding._asdict() for finding in self.findings],
            "reasons": dict(self.reasons),
        }


class Decision(NamedTuple):
    """The lab that wins the round; `winner` is None if no claim counted or two are equal."""

    winner: str | None
    margins: Mapping[str, float]  # each lab's total less the best of the others
    reason: str
    verdicts: Mapping[str, Verdict]


def judge(state: State, lab_id: str, text: str) -> Verdict:
    """The verdict on `text` as the pitch of `lab_id` in `state`.

    Raises ValueError if there is no such lab.
    """
    if lab_id not in state.market.labs:
        raise ValueError(f"no lab {lab_id!r}; labs are {', '.join(state.market.labs)}")
    obs = Observation(lab_id, state.market, state.private[lab_id])
    findings = _findings(obs, text)
    scores, weighed = {}, []
    for dimension in DIMENSIONS:
        ranked = sorted((f for f in findings if f.dimension == dimension), key=lambda f: -f.points)
        ranked = [f._replace(points=round(f.points * w, 4)) for f, w in _paired(ranked)]
        scores[dimension] = round(sum((f.points for f in ranked), 0.0), 4)
        weighed += ranked
    lies = sum(f.status == "false" for f in findings)
    total = sum(scores.values()) / len(DIMENSIONS) - LIE_PENALTY * lies
    return Verdict(
        lab_id,
        text[:LONGEST_MESSAGE],
        MappingProxyType(scores),
        round(max(0.0, total), 4),
        lies,
        tuple(sorted(weighed, key=lambda f: (f.start, f.end, f.reason))),
        MappingProxyType({d: _summary(d, weighed) for d in DIMENSIONS}),
    )


def _paired(findings: list[Finding]) -> list[tuple[Finding, float]]:
    return [(f, WEIGHTS[i] if i < len(WEIGHTS) else 0.0) for i, f in enumerate(findings)]


def _findings(obs: Observation, text: str) -> list[Finding]:
    """Every claim with its status; `points` is still the unweighted strength."""
    recent, findings = _recent_facts(obs), []
    counted: set[tuple] = set()
    for claim in claims(obs.market, obs.agent, text):
        about = fact(obs, claim, obs.market.round_index)
        if claim.standing != "claimed":
            findings.append(_finding(claim, text, claim.standing))
        elif about in counted:
            findings.append(_finding(claim, text, "repeated"))
        elif len(counted) == MAX_CLAIMS:
            findings.append(_finding(claim, text, "unheard"))
        else:
            counted.add(about)
            points = strength(obs, claim)
            status = "false" if points is None else "repeated" if about in recent else "holds"
            findings.append(_finding(claim, text, status, (points or 0.0) * (status == "holds")))
    return findings


def _recent_facts(obs: Observation) -> set[tuple]:
    """The facts that the lab claimed in its pitches of the last rounds, without this one."""
    now, facts = obs.market.round_index, set()
    for message in reversed(obs.market.messages):
        if message.round_index < now - JUDGE_MEMORY:
            break
        is_own = (message.kind, message.from_lab_id) == ("pitch", obs.agent)
        if is_own and message.round_index < now:
            pitched = claims(obs.market, obs.agent, message.message)
            facts |= {fact(obs, c, message.round_index) for c in pitched if c.standing == "claimed"}
    return facts


REASONS = {
    "holds": "is true",
    "false": "is not true, which costs",
    "repeated": "was told before, and counts once",
    "promise": "is a promise, a question or a condition, no fact",
    "other": "is about another lab; a pitch speaks for its own",
    "unheard": f"comes after {MAX_CLAIMS} others and is not heard",
}


def _finding(claim: Claim, text: str, status: str, points: float = 0.0) -> Finding:
    kind = CLAIMS[claim.kind]
    words = text[claim.start : claim.end]
    reason = f"“{words}” ({kind.about}) {REASONS[status]}."
    return Finding(kind.dimension, status, claim.start, claim.end, reason, points)


def _summary(dimension: str, findings: list[Finding]) -> str:
    own = [f for f in findings if f.dimension == dimension]
    true = sum(f.status == "holds" for f in own)
    false = sum(f.status == "false" for f in own)
    if not own:
        return f"No claim about {dimension} that can be checked."
    rest = len(own) - true - false
    counted = (("true", true), ("false", false), ("not counted", rest))
    parts = [f"{count} {word}" for word, count in counted if count]
    return f"{len(own)} claim{'s' * (len(own) > 1)} about {dimension}: {', '.join(parts)}."


def decide(state: State, pitches: Mapping[str, str]) -> Decision:
    """The decision on the `pitches` of one round by lab; their order has no effect.

    The highest total wins; the higher reputation breaks a tie; after that nobody wins.
    """
    labs = sorted(pitches)
    verdicts = {lab: judge(state, lab, pitches[lab]) for lab in labs}
    margins = {
        lab: round(verdict.total - max((verdicts[o].total for o in labs if o != lab), default=0), 4)
        for lab, verdict in verdicts.items()
    }
    known = state.market.labs
    ranked = sorted(labs, key=lambda lab: _rank(verdicts[lab], known[lab]), reverse=True)
    if not ranked or not verdicts[ranked[0]].total:
        return Decision(None, margins, "No pitch made a true claim that was new.", verdicts)
    first = ranked[0]
    top = _rank(verdicts[first], known[first])
    tied = [lab for lab in ranked if _rank(verdicts[lab], known[lab]) == top]
    if len(tied) > 1:
        return Decision(None, margins, f"Nothing parts {' and '.join(tied)}.", verdicts)
    best = max(verdicts[first].scores, key=verdicts[first].scores.__getitem__)
    how = "" if margins[first] else " by reputation"
    reason = f"{first} wins{how} with {verdicts[first].total:.2f}, most of it for {best}."
    return Decision(first, margins, reason, verdicts)


def _rank(verdict: Verdict, lab: Lab) -> tuple[float, float]:
    return verdict.total, lab.reputation


def award(state: State, decision: Decision) -> State:
    """The state after a judged round: pitches posted, the pot paid, reputations reduced for lies.

    Every lab that pitched stakes a credit, if it has one, and the winner gets them all, so no money
    is created. Without a winner nothing is staked.
    """
    market, private = state.market, dict(state.private)
    now, labs, posted = market.round_index, dict(market.labs), []
    for lab, verdict in decision.verdicts.items():
        if len(verdict.text.strip()) >= SHORTEST_PITCH:
            posted.append(Message(lab, None, now, verdict.text, signal_of(verdict.text), "pitch"))
        reputation = round(max(0.0, labs[lab].reputation - LIE_REPUTATION * verdict.lies), 3)
        labs[lab] = labs[lab]._replace(reputation=reputation)
    if decision.winner is not None:
        payers = [lab for lab in decision.verdicts if private[lab].budget >= STAKE]
        for lab in payers:
            private[lab] = _booked(private[lab], -STAKE)
        private[decision.winner] = _booked(private[decision.winner], STAKE * len(payers))
    judged = market._replace(labs=labs, messages=(*market.messages, *posted))
    return State(judged, private)


def _booked(own: Any, amount: float) -> Any:
    budget, deals = round(own.budget + amount, 2), round(own.deals + amount, 2)
    return own._replace(budget=budget, deals=deals)
