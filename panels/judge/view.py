"""What the Judge tab draws of a round: every lab's pitch, its claims, scores and reasons."""

import re
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from env import arena
from panels.gpu_arena.names import NO_JOBS
from panels.ui.curve import curve
from panels.ui.html import macros
from panels.ui.look import note
from panels.ui.terms import capital
from sauda.experiments.pitching import LEARNER, ROUNDS, Finding, ShownGame, Verdict

HTML = macros("judge")
LETTERS = "ABCD"  # of the other labs, from lab_1
LAB = re.compile(r"\blab_\d+\b")
TONES = {"holds": "good", "false": "bad"}  # of a claim; all others are left grey and unchecked
COMPARED = {  # what the judge compares a claim about a job with, where it names no job; by its kind
    "hours_needed": "the hours of each open job, and of all together",
    "worth": "what each open job pays",
    "worth_without_unit": "what each open job pays",
    "due_round": "the deadline of each open job",
    "rounds_left": "the deadline of each open job",
    "due_soon": "the deadline of each open job",
}
Span = tuple[int, int]  # first character of a claim in the pitch, and the one after its last


def lab_title(lab: str) -> str:
    """A lab in a sentence: "your lab" for lab_0, "Lab A" for lab_1, as its market names it."""
    return "your lab" if lab == LEARNER else f"Lab {LETTERS[int(lab.removeprefix('lab_')) - 1]}"


def in_titles(text: str) -> str:
    """A sentence with its labs' names in place of ids: "Lab A wins with 0.14"."""
    return capital(LAB.sub(lambda found: lab_title(found[0]), text))


def round_view(
    game: ShownGame, index: int, market: arena.Market, jobs: Mapping[str, str] = NO_JOBS
) -> Markup:
    """One recorded round: who won and why, and every lab's pitch with its score.

    `market` is the round's, whose labs the pitches name; `jobs` names the own lab's jobs by id.
    """
    row = game.rounds[index]
    cards = [
        card(lab, verdict, market, lab == row.winner, told=lab == row.winner, jobs=jobs)
        for lab, verdict in row.verdicts.items()
    ]
    who = capital(lab_title(row.winner)) if row.winner else "nobody"
    heading = f"{who} convinces the judge."
    return HTML.round_view(
        row.round + 1, heading, in_titles(row.reason), row.shocks, Markup("").join(cards)
    )


def card(
    lab: str,
    verdict: Verdict,
    market: arena.Market,
    won: bool = False,
    told: bool = True,
    jobs: Mapping[str, str] = NO_JOBS,
) -> Markup:
    """A pitch with its claims marked, its five scores as bars, and the reasons.

    The reasons are unfolded where `told`. `jobs` names jobs whose ids are not shown.
    """
    others = compared(market, lab, verdict.text, jobs)
    text = marked(verdict.text, verdict.findings, jobs)
    why = reasons(verdict.findings, others, jobs)
    return HTML.card(capital(lab_title(lab)), verdict, text, why, won, told)


def without_ids(text: str, jobs: Mapping[str, str]) -> str:
    """The text without the ids after the names of `jobs`, and names in place of other ids."""
    for job_id, name in jobs.items():
        text = re.sub(rf"({re.escape(name)}) \({job_id}\)", r"\1", text, flags=re.IGNORECASE)
        text = re.sub(rf"\b{job_id}\b", name, text)
    return text


def marked(text: str, findings: Sequence[Finding], jobs: Mapping[str, str] = NO_JOBS) -> Markup:
    """The pitch with each claim underlined by what the judge found; overlaps go to the first."""
    parts, at = [], 0
    for finding in sorted(findings, key=lambda f: (f.start, -f.end)):
        if finding.start < at:
            continue
        reason, words = finding.reason, text[finding.start : finding.end]
        parts.append(("", "", text[at : finding.start]))
        parts.append((TONES.get(finding.status, "open"), reason, words))
        at = finding.end
    parts.append(("", "", text[at:]))
    return HTML.marked(
        [(tone, *(without_ids(part, jobs) for part in rest)) for tone, *rest in parts]
    )


def compared(
    market: arena.Market, lab: str, text: str, jobs: Mapping[str, str] = NO_JOBS
) -> dict[Span, str]:
    """What the judge compares each claim about a job in the pitch `text` of `lab` with."""
    return {
        (claim.start, claim.end): (
            f"{jobs.get(claim.job, 'the job')} alone" if claim.job else COMPARED[claim.kind]
        )
        for claim in arena.claims(market, lab, text)
        if claim.kind in COMPARED
    }


def reasons(
    findings: Sequence[Finding], others: Mapping[Span, str], jobs: Mapping[str, str] = NO_JOBS
) -> Markup:
    """Why, one line a claim; `others` is what the judge compares claims with."""
    if not findings:
        return note("No claim that can be checked: nothing is scored.")
    return HTML.reasons([_line(finding, others, jobs) for finding in findings])


def _line(
    finding: Finding, others: Mapping[Span, str], jobs: Mapping[str, str]
) -> tuple[str, str, str, str]:
    name = finding.dimension.replace("_", " ")
    about = f"{name} {finding.points:+.2f}" if finding.points else name
    reason = without_ids(finding.reason, jobs)
    if (tone := TONES.get(finding.status)) is None:
        return "open", about, reason, ""
    return tone, about, reason, others.get((finding.start, finding.end), "")


def trend(game: ShownGame, index: int) -> Markup:
    """The totals so far: the own lab against the best of the others, and the rounds it won."""
    seen = game.rounds[: index + 1]
    own = [row.verdicts[LEARNER].total for row in seen]
    best = [max(v.total for lab, v in row.verdicts.items() if lab != LEARNER) for row in seen]
    wins = sum(row.winner == LEARNER for row in seen)
    sentence = (
        f"Your lab won {wins} of {len(seen)} rounds so far; its total went from {own[0]:.2f} to"
        f" {own[-1]:.2f}."
    )
    picture = curve(
        {"your lab": own, "best of the others": best},
        ROUNDS - 1,
        "the judge’s total",
        sentence,
        "round",
    )
    return picture + Markup("<p>{}</p>").format(sentence)
