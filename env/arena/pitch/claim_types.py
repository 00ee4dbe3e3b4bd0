"""The kinds of claims that the judge knows: their wording, their topic, and their check.

A claim consists of a figure (usually a number with its unit) and a cue in the same clause that says
what the figure means. Kinds are tried in the order of CLAIMS; a figure counts for the first match.
"""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ..types import Observation
from . import facts
from .facts import Claim

DIMENSIONS = ("urgency", "evidence", "reliability", "fairness", "coalition")
COUNTS = "one two three four five six seven eight nine ten eleven twelve"
WORDS = {word: number for number, word in enumerate(COUNTS.split(" "), 1)}
NUMBER = rf"\b(?P<n>\d{{1,6}}(?:\.\d{{1,4}})?|{'|'.join(WORDS)})\b(?!\.\d| of (?:our|my)\b)"


class ClaimKind(NamedTuple):
    """A kind of claim: how to find it and how to check it."""

    dimension: str
    about: str  # what is claimed, in words, for the judge's reasons
    figure: re.Pattern
    cue: re.Pattern  # must match in the same clause
    check: Callable[[Observation, Claim], float | None]  # strength in [0, 1]; None: it is false
    topic: str = ""  # kinds with one topic claim one fact; "": a topic of its own
    by_figure: bool = False  # claims with different figures are different facts


def _words(*alternatives: str) -> re.Pattern:
    return re.compile(rf"\b(?:{'|'.join(alternatives)})\b")


def _counted(unit: str) -> re.Pattern:
    """A number, at most two words, and the unit that it counts."""
    return re.compile(rf"{NUMBER}(?:[ -][a-z]+){{0,2}}?[ -](?:{unit})\b")


_DEADLINE = (r"deadlines?", "due", r"deliver\w*", "must", "cut-?off", "overdue")
_HOURS, _BLOCKS, _CREDITS = _counted("hours?"), _counted("blocks?"), _counted("credits?")
_JOBS, _OFFERS = _counted("jobs?"), _counted("offers?|trades?|deals?")
_POOL = r"(?:coalition|pool|alliance)s?"

CLAIMS: Mapping[str, ClaimKind] = {
    "due_round": ClaimKind(
        "urgency",
        "a deadline of its own",
        re.compile(rf"\bround {NUMBER}"),
        _words(*_DEADLINE),
        facts.due,
        "due",
    ),
    "rounds_left": ClaimKind(
        "urgency",
        "rounds to a deadline of its own",
        _counted("rounds?"),
        _words(*_DEADLINE),
        facts.due,
        "due",
    ),
    "due_soon": ClaimKind(
        "urgency",
        "a deadline of its own within two rounds",
        _words("near", "close", "imminent", "soon", "tight", "looming"),
        _words(*_DEADLINE),
        facts.due,
        "due",
    ),
    "demand": ClaimKind(
        "urgency",
        "the posted band of its demand",
        re.compile(
            r"\b(?:our|my|we|i)\b.{0,30}\bdemand\b|\bdemand\b.{0,30}\b(?:us|ours|me|mine)\b"
            r"|\bshort of (?:capacity|hours|gpus?|blocks|compute)\b"
        ),
        _words("low", "medium", "high", "short of"),
        facts.demand,
    ),
    "hours_needed": ClaimKind(
        "evidence",
        "hours that its open jobs want",
        _HOURS,
        _words(
            r"needs?", "needed", r"requir\w+", r"lack\w*", "missing", "short", r"wants?", "of work"
        ),
        facts.hours_needed,
        by_figure=True,
    ),
    "hours_held": ClaimKind(
        "evidence",
        "hours left in its free blocks",
        _HOURS,
        _words("own", "hold", "have", "control", "left"),
        facts.hours_held,
    ),
    "worth": ClaimKind(
        "evidence",
        "what an open job of its own is worth",
        _CREDITS,
        _words("worth", r"values?", "valued", r"earns?", r"brings?"),
        facts.worth,
        by_figure=True,
    ),
    "budget_band": ClaimKind(
        "evidence",
        "the posted band of its budget",
        _words("budget"),
        _words("low", "medium", "high"),
        facts.budget_band,
    ),
    "jobs_done": ClaimKind(
        "reliability",
        "jobs that it has done",
        _JOBS,
        _words("finished", "completed", "done", "delivered"),
        facts.jobs_done,
    ),
    "open_jobs": ClaimKind(
        "evidence",
        "its open jobs",
        _JOBS,
        _words("open", "unfinished", "waiting", "left", "queued?", "undone"),
        facts.open_jobs,
    ),
    "pressure": ClaimKind(
        "evidence",
        "the posted pressure of the market",
        _words("pressure"),
        _words("low", "medium", "high"),
        facts.pressure,
    ),
    "failed_block": ClaimKind(
        "evidence",
        "a block that failed",
        re.compile(r"\bb_\d{1,2}_\d{1,2}\b"),
        _words(r"fail\w*", "lost", "broke", "down"),
        facts.failed_block,
        by_figure=True,
    ),
    "reputation": ClaimKind(
        "reliability",
        "its reputation",
        re.compile(NUMBER),
        _words("reputation"),
        facts.reputation,
    ),
    "best_reputation": ClaimKind(
        "reliability",
        "the best reputation of all",
        _words("best", "highest"),
        _words("reputation"),
        facts.best_reputation,
        "reputation",
    ),
    "unbroken": ClaimKind(
        "reliability",
        "no pool of its own broken",
        re.compile(r"\bno (?:breach|broken)|\b(?:kept|honou?red) (?:all|every|each|our|my)\b"),
        _words(r"breach\w*", r"commitments?", r"promises?", r"pools?", r"coalitions?", "word"),
        facts.unbroken,
    ),
    "unbroken_by_denial": ClaimKind(
        "reliability",
        "no pool of its own broken",
        re.compile(r"(?:\bnever|\bnot|n['’]t) (?:once |yet )?(?:broke|broken|breached|break)\b"),
        _words(r"breach\w*", r"commitments?", r"promises?", r"pools?", r"coalitions?", "word"),
        facts.unbroken,
        "unbroken",
    ),
    "deals": ClaimKind(
        "reliability",
        "trades that it settled",
        _OFFERS,
        _words("settled", "accepted", "closed", "honou?red", "completed", "concluded", "struck"),
        facts.deals,
    ),
    "open_offers": ClaimKind(
        "fairness",
        "offers of its own that stand",
        _OFFERS,
        _words("open", "on the table", "stand", "standing", "active"),
        facts.open_offers,
    ),
    "part": ClaimKind(
        "fairness",
        "its part of all live blocks",
        re.compile(rf"{NUMBER} (?:blocks? )?(?:out )?of (?:the |all )?(?P<of_all>\d{{1,3}})\b"),
        _words("blocks?"),
        facts.part,
        "share",
    ),
    "below_share": ClaimKind(
        "fairness",
        "fewer hours than an equal share",
        _words("less", "fewer", "below", "smaller"),
        _words("equal share", "fair share", "average", "mean"),
        facts.below_share,
        "share",
    ),
    "paid": ClaimKind(
        "fairness",
        "credits that it offers or has paid",
        _CREDITS,
        _words("pay", "paying", "paid", "bid", r"offer\w*"),
        facts.paid,
        by_figure=True,
    ),
    "budget": ClaimKind(
        "evidence",
        "its budget",
        re.compile(NUMBER),
        _words("budget", "purse"),
        facts.budget,
    ),
    "spare": ClaimKind(
        "coalition",
        "blocks that it can spare",
        _BLOCKS,
        _words("spare", "idle", "unused", "to share"),
        facts.spare,
    ),
    "committed": ClaimKind(
        "coalition",
        "blocks of its own in pools",
        _BLOCKS,
        _words(r"commit\w*", "pooled", r"contribut\w+", "shared", "in (?:a|the|our) pool"),
        facts.committed,
    ),
    "given": ClaimKind(
        "fairness",
        "blocks that it parted with in trades",
        _BLOCKS,
        _words("sold", "gave", "given", "traded", "passed on", "handed", "parted"),
        facts.given,
    ),
    "proposed": ClaimKind(
        "coalition",
        "a pool that it proposed",
        re.compile(rf"\b(?:proposed|invited|offered|asked)\b.{{0,30}}\b{_POOL}\b"),
        _words(_POOL),
        facts.proposed,
    ),
    "partner": ClaimKind(
        "coalition",
        "a pool that it is in",
        re.compile(
            rf"\b(?:in|joined|members? of|part of|share|run) (?:a|an|our|the|one) {_POOL}\b"
        ),
        _words(_POOL),
        facts.partner,
    ),
}
