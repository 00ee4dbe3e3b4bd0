"""The rule judge: what a pitch is worth, claim by claim, and which lab a round goes to.

A true claim that was not made lately speaks for its lab in one of five dimensions, each further one
in the same dimension less. Nothing else does: words without a checkable claim, promises, and what
is said of other labs count nothing, and a false claim costs. A verdict rests on the market and on
what the judged lab itself knows, so no verdict tells anything of another lab.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from env.arena.actions import LONGEST_MESSAGE
from env.arena.pitch.claim_types import CLAIMS, DIMENSIONS
from env.arena.pitch.facts import Claim
from env.arena.pitch.parser import claims, fact, strength
from env.arena.rules.messages import SHORTEST_PITCH, signal_of
from env.arena.types import Lab, Message, Observation, State

HEARD = 6  # claims of one pitch; what comes later is not weighed
JUDGE_MEMORY = 3  # rounds for which a fact, once told, is no news
WEIGHTS = (0.6, 0.3, 0.1)  # of the strongest, second and third claim in one dimension
LIE = 0.1  # what each false claim takes off the total
STAKE = 1.0  # credits that each lab with a pitch puts into the pot of a round
LIE_REPUTATION = 0.02  # what each false claim takes off the reputation


class Finding(NamedTuple):
    """What the judge makes of one claim: a plain reason and the words that it rests on."""

    dimension: str
    status: str  # holds, false, repeated, promise, other, unheard
    start: int
    end: int
    reason: str
    points: float = 0.0  # added to the dimension


class Verdict(NamedTuple):
    """What a pitch is worth: five dimensions and a total, each in [0, 1], and why."""

    lab_id: str
    text: str
    scores: Mapping[str, float]
    total: float
    lies: int
    findings: tuple[Finding, ...]
    reasons: Mapping[str, str]  # one sentence a dimension

    def as_json(self) -> dict[str, Any]:
        """The verdict as plain data, without its lab."""
        return {
            "text": self.text,
            "scores": dict(self.scores),
            "total": self.total,
            "lies": self.lies,
            "findings": [finding._asdict() for finding in self.findings],
            "reasons": dict(self.reasons),
        }


class Decision(NamedTuple):
    """Which lab convinced the judge; `winner` is None where none did or nothing parts two."""

    winner: str | None
    margins: Mapping[str, float]  # each lab's total less the best other's
    reason: str
    verdicts: Mapping[str, Verdict]


def judge(state: State, lab_id: str, text: str) -> Verdict:
    """What `text` is worth as the pitch of `lab_id` in `state`; raises ValueError for no lab."""
    if lab_id not in state.market.labs:
        raise ValueError(f"no lab {lab_id!r}; labs are {', '.join(state.market.labs)}")
    obs = Observation(lab_id, state.market, state.private[lab_id])
    found = _findings(obs, text)
    scores, weighed = {}, []
    for dimension in DIMENSIONS:
        mine = sorted((f for f in found if f.dimension == dimension), key=lambda f: -f.points)
        mine = [f._replace(points=round(f.points * w, 4)) for f, w in _paired(mine)]
        scores[dimension] = round(sum((f.points for f in mine), 0.0), 4)
        weighed += mine
    lies = sum(f.status == "false" for f in found)
    total = sum(scores.values()) / len(DIMENSIONS) - LIE * lies
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
    """Every claim with its status; `points` is still the bare strength."""
    told, found = _told_before(obs), []
    heard: set[tuple] = set()
    for claim in claims(obs.market, obs.agent, text):
        about = fact(obs, claim, obs.market.round_index)
        if claim.standing != "claimed":
            found.append(_finding(claim, text, claim.standing))
        elif about in heard:
            found.append(_finding(claim, text, "repeated"))
        elif len(heard) == HEARD:
            found.append(_finding(claim, text, "unheard"))
        else:
            heard.add(about)
            counts = strength(obs, claim)
            status = "false" if counts is None else "repeated" if about in told else "holds"
            found.append(_finding(claim, text, status, (counts or 0.0) * (status == "holds")))
    return found


def _told_before(obs: Observation) -> set[tuple]:
    """The facts of the lab's pitches in the last rounds, this one left out."""
    now, facts = obs.market.round_index, set()
    for message in reversed(obs.market.messages):
        if message.round_index < now - JUDGE_MEMORY:
            break
        mine = (message.kind, message.from_lab_id) == ("pitch", obs.agent)
        if mine and message.round_index < now:
            said = claims(obs.market, obs.agent, message.message)
            facts |= {fact(obs, c, message.round_index) for c in said if c.standing == "claimed"}
    return facts


REASONS = {
    "holds": "is true",
    "false": "is not true, which costs",
    "repeated": "was told before, and counts once",
    "promise": "is a promise, a question or a condition, no fact",
    "other": "is about another lab; a pitch speaks for its own",
    "unheard": f"comes after {HEARD} others and is not heard",
}


def _finding(claim: Claim, text: str, status: str, points: float = 0.0) -> Finding:
    kind = CLAIMS[claim.kind]
    words = text[claim.start : claim.end]
    reason = f"“{words}” ({kind.about}) {REASONS[status]}."
    return Finding(kind.dimension, status, claim.start, claim.end, reason, points)


def _summary(dimension: str, findings: list[Finding]) -> str:
    here = [f for f in findings if f.dimension == dimension]
    true = sum(f.status == "holds" for f in here)
    false = sum(f.status == "false" for f in here)
    if not here:
        return f"No claim about {dimension} that can be checked."
    rest = len(here) - true - false
    counted = (("true", true), ("false", false), ("not counted", rest))
    parts = [f"{count} {word}" for word, count in counted if count]
    return f"{len(here)} claim{'s' * (len(here) > 1)} about {dimension}: {', '.join(parts)}."


def decide(state: State, pitches: Mapping[str, str]) -> Decision:
    """The decision on the pitches of one round, whatever their order.

    The highest total wins, of equals the better reputation; where that is equal too, nobody.
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
    """The state after a judged round: pitches on the floor, the pot paid, lies held against labs.

    Every lab that pitched stakes a credit, if it has one, and the winner takes them all: no money
    is made. Without a winner nothing is staked.
    """
    market, private = state.market, dict(state.private)
    now, labs, said = market.round_index, dict(market.labs), []
    for lab, verdict in decision.verdicts.items():
        if len(verdict.text.strip()) >= SHORTEST_PITCH:
            said.append(Message(lab, None, now, verdict.text, signal_of(verdict.text), "pitch"))
        reputation = round(max(0.0, labs[lab].reputation - LIE_REPUTATION * verdict.lies), 3)
        labs[lab] = labs[lab]._replace(reputation=reputation)
    if decision.winner is not None:
        payers = [lab for lab in decision.verdicts if private[lab].budget >= STAKE]
        for lab in payers:
            private[lab] = _booked(private[lab], -STAKE)
        private[decision.winner] = _booked(private[decision.winner], STAKE * len(payers))
    told = market._replace(labs=labs, messages=(*market.messages, *said))
    return State(told, private)


def _booked(own: Any, amount: float) -> Any:
    budget, deals = round(own.budget + amount, 2), round(own.deals + amount, 2)
    return own._replace(budget=budget, deals=deals)
