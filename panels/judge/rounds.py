"""The judged rounds: pitches with their claims checked, and one of the visitor's own."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from statistics import fmean

import numpy as np
from markupsafe import Markup

from env import arena
from panels.gpu_arena.view import papers
from panels.gpu_arena.words import job_names
from panels.ui.html import macros
from panels.ui.look import note, trouble
from panels.ui.offers import curve
from panels.ui.provenance import side_by_side
from panels.ui.terms import capital
from sauda.experiments import pitching
from sauda.experiments.pitching import ADVOCATES, LEARNER, ROUNDS, ShownGame, Verdict
from sauda.records.schemas.base import Row

HTML = macros("judge")
EXAMPLE = "evidence_first"
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
Jobs = Mapping[str, str]  # what the page calls the own lab's jobs, by id


@lru_cache(maxsize=16)
def rounds_of(seed: int) -> tuple[pitching.Round, ...]:
    """The judged rounds of a seed as the adapting advocate played them, their states included."""
    return tuple(pitching.negotiation(ADVOCATES["adapting"], seed))


def lab_title(lab: str) -> str:
    """A lab in a sentence: "your lab" for lab_0, "Lab A" for lab_1, as its market names it."""
    return "your lab" if lab == LEARNER else f"Lab {LETTERS[int(lab.removeprefix('lab_')) - 1]}"


def in_titles(text: str) -> str:
    """A sentence with its labs' names in place of ids: "Lab A wins with 0.14"."""
    return capital(LAB.sub(lambda found: lab_title(found[0]), text))


def recorded_round(game: ShownGame, index: int) -> Markup:
    """One recorded round: who won and why, and every lab's pitch with its score."""
    row, state = game.rounds[index], rounds_of(game.seed)[index].state
    cards = [
        card(lab, verdict, state, won=lab == row.winner, told=lab == row.winner)
        for lab, verdict in row.verdicts.items()
    ]
    who = capital(lab_title(row.winner)) if row.winner else "nobody"
    return HTML.round_view(row.round, who, in_titles(row.reason), row.shocks, cards)


def card(lab: str, verdict: Verdict, state: arena.State, won: bool, told: bool) -> Markup:
    """A pitch with its claims marked, its scores, and the reasons, unfolded where `told`."""
    jobs = job_names(state.private[LEARNER].jobs)
    text = mark(verdict.text, verdict.findings, jobs)
    why = reasons(lab, verdict, state.market, jobs)
    return HTML.card(capital(lab_title(lab)), verdict, text, why, won, told)


def without_ids(text: str, jobs: Jobs) -> str:
    """The text without the ids after the names of `jobs`, and names in place of other ids."""
    for job_id, name in jobs.items():
        text = re.sub(rf"({re.escape(name)}) \({job_id}\)", r"\1", text, flags=re.IGNORECASE)
        text = re.sub(rf"\b{job_id}\b", name, text)
    return text


def mark(text: str, findings: Sequence[Row], jobs: Jobs) -> Markup:
    """The pitch with each claim underlined by what the judge found; overlaps go to the first."""
    parts, at = [], 0
    for finding in sorted(findings, key=lambda f: (f.start, -f.end)):
        if finding.start >= at:
            tone, words = TONES.get(finding.status, "open"), text[finding.start : finding.end]
            parts += [("", "", text[at : finding.start]), (tone, finding.reason, words)]
            at = finding.end
    parts.append(("", "", text[at:]))
    return HTML.marked(
        [(tone, *(without_ids(part, jobs) for part in rest)) for tone, *rest in parts]
    )


def reasons(lab: str, verdict: Verdict, market: arena.Market, jobs: Jobs) -> Markup:
    """Why, one line per claim, with what the judge compared it with."""
    compared = {
        (claim.start, claim.end): f"{jobs.get(claim.job, 'the job')} alone"
        if claim.job
        else COMPARED[claim.kind]
        for claim in arena.claims(market, lab, verdict.text)
        if claim.kind in COMPARED
    }
    lines = []
    for finding in verdict.findings:
        name, tone = finding.dimension.replace("_", " "), TONES.get(finding.status)
        about = f"{name} {finding.points:+.2f}" if finding.points else name
        other = compared.get((finding.start, finding.end)) if tone else None
        lines.append((tone or "open", about, without_ids(finding.reason, jobs), other))
    return HTML.reasons(lines)


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
    lines = {"your lab": own, "best of the others": best}
    picture = curve(lines, ROUNDS - 1, "the judge’s total", sentence, "round")
    return picture + Markup("<p>{}</p>").format(sentence)


def played_again(game: ShownGame) -> Iterator[Markup]:
    """The rounds of a recorded game, played again beside the record, after a word."""
    yield note(f"Playing the {len(game.rounds)} rounds …")
    recorded = [row.as_json() for row in game.rounds]
    fresh = [
        pitching.round_json(played)
        for played in pitching.negotiation(ADVOCATES["adapting"], game.seed)
    ]
    then, now = (
        fmean(row["verdicts"][LEARNER]["total"] for row in rows) for rows in (recorded, fresh)
    )
    old, new = (
        {name: [row[name] for row in rows] for name in rows[0]} for rows in (recorded, fresh)
    )
    yield side_by_side("your lab’s mean total", (then, now), 1, old, new)


# The visitor's own pitch ------------------------------------------------------------------------


def observe(seed: int, index: int) -> arena.Observation:
    """What the own lab sees in a round."""
    state = rounds_of(seed)[index].state
    return arena.Observation(LEARNER, state.market, state.private[LEARNER])


def knowledge(seed: int, index: int) -> Markup:
    """The private facts of the own lab in this round, against which its claims are checked."""
    return papers(observe(seed, index))


def example(seed: int, index: int) -> str:
    """The pitch of a lab that leads with evidence, in this round."""
    return arena.pitch_of(observe(seed, index), EXAMPLE, np.random.default_rng([seed, index]))


def opening(seed: int, index: int) -> str:
    """A true pitch about the first open job that is not late, for the empty field; "" for none."""
    obs = observe(seed, index)
    for job in obs.open_jobs:
        if obs.market.round_index < job.deadline_round <= obs.market.max_rounds:
            missing = job.gpu_hours_required - job.on_time - job.late
            return (
                f"{job_names(obs.own.jobs)[job.job_id]} still needs {missing} GPU-hours and is due"
                f" in round {job.deadline_round}."
            )
    return ""


def own_pitch(seed: int, index: int, text: str) -> Markup:
    """The visitor's pitch judged against the state on screen and the others' pitches.

    A sentence where there is nothing to judge.
    """
    played = rounds_of(seed)[index]
    text = with_job_ids((text or "").strip(), job_names(played.state.private[LEARNER].jobs))
    if not text:
        return trouble(ValueError("write a pitch first, such as the example"))
    if len(text) > arena.LONGEST_MESSAGE:
        most = f"a pitch has at most {arena.LONGEST_MESSAGE} characters"
        return trouble(ValueError(f"{most}, not {len(text)} with the ids of its jobs"))
    pitches = {lab: verdict.text for lab, verdict in played.decision.verdicts.items()}
    decision = arena.decide(played.state, pitches | {LEARNER: text})
    own = Verdict.model_validate(decision.verdicts[LEARNER].as_json())
    won = decision.winner == LEARNER
    said = Markup("<p>{}</p>").format(in_titles(decision.reason))
    return said + card(LEARNER, own, played.state, won, told=True)


def with_job_ids(text: str, jobs: Jobs) -> str:
    """The pitch with each job's id after the name by which the page calls it.

    The judge knows a job by its id alone, and compares a claim without one with any open job.
    """
    for job_id, name in jobs.items():
        named = re.compile(rf"\b{re.escape(name)}\b(?! \({job_id}\))", re.IGNORECASE)
        text = named.sub(lambda found, id_=job_id: f"{found[0]} ({id_})", text)
    return text
