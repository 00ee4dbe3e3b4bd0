"""A visitor's own pitch: what it can claim, an example, and the judge's verdict on it."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from statistics import fmean

import numpy as np
from markupsafe import Markup

from env import arena
from panels.gpu_arena.names import job_names
from panels.gpu_arena.view import papers
from panels.judge.view import card, in_titles, round_view
from panels.ui.look import note
from panels.ui.provenance import Beside, side_by_side
from sauda.experiments.pitching import (
    ADVOCATES,
    LEARNER,
    Round,
    ShownGame,
    Verdict,
    negotiation,
    round_json,
)
from sauda.records.store import digest

EXAMPLE = "evidence_first"


@lru_cache(maxsize=16)
def rounds_of(seed: int) -> tuple[Round, ...]:
    """The judged rounds of a seed as the adapting advocate played them, their states included."""
    return tuple(negotiation(ADVOCATES["adapting"], seed))


def recorded_round(game: ShownGame, index: int) -> Markup:
    """One recorded round as the tab shows it."""
    state = rounds_of(game.seed)[index].state
    return round_view(game, index, state.market, job_names(state.private[LEARNER].jobs))


def played_again(game: ShownGame) -> Iterator[Markup]:
    """The rounds of a recorded game, played again beside the record, after a word."""
    yield note(f"Playing the {len(game.rounds)} rounds …")
    recorded = [row.as_json() for row in game.rounds]
    fresh = [round_json(played) for played in negotiation(ADVOCATES["adapting"], game.seed)]
    then, now = ([row["verdicts"][LEARNER]["total"] for row in rounds]
                 for rounds in (recorded, fresh))  # fmt: skip
    differing = [
        name for name in recorded[0] if [r[name] for r in recorded] != [r[name] for r in fresh]
    ]
    yield side_by_side(
        Beside(
            "your lab’s mean total", fmean(then), fmean(now), 1, len(recorded[0]), differing,
            (digest(recorded), digest(fresh)),
        )
    )  # fmt: skip


def example(seed: int, index: int) -> str:
    """The pitch of a lab that leads with evidence, in this round."""
    state = rounds_of(seed)[index].state
    obs = arena.Observation(LEARNER, state.market, state.private[LEARNER])
    return arena.pitch_of(obs, EXAMPLE, np.random.default_rng([seed, index]))


def opening(seed: int, index: int) -> str:
    """A true pitch about the first open job that is not late, for the empty field; "" for none."""
    state = rounds_of(seed)[index].state
    jobs, now = state.private[LEARNER].jobs, state.market.round_index
    for job in jobs:
        if not job.completed and now < job.deadline_round <= state.market.max_rounds:
            missing = job.gpu_hours_required - job.on_time - job.late
            return (
                f"{job_names(jobs)[job.job_id]} still needs {missing} GPU-hours and is due in"
                f" round {job.deadline_round}."
            )
    return ""


def own_pitch(seed: int, index: int, text: str) -> Markup:
    """The visitor's pitch judged against the state on screen, and against the others' pitches.

    Raises ValueError where there is nothing to judge.
    """
    judged_round = rounds_of(seed)[index]
    jobs = judged_round.state.private[LEARNER].jobs
    text = with_job_ids((text or "").strip(), jobs)
    if not text:
        raise ValueError("write a pitch first, such as the example")
    if len(text) > arena.LONGEST_MESSAGE:
        raise ValueError(
            f"a pitch has at most {arena.LONGEST_MESSAGE} characters, not {len(text)}"
            " with the ids of its jobs"
        )
    verdicts = judged_round.decision.verdicts
    others = {lab: v.text for lab, v in verdicts.items() if lab != LEARNER}
    decision = arena.decide(judged_round.state, {LEARNER: text} | others)
    own = Verdict.model_validate(decision.verdicts[LEARNER].as_json())
    won = decision.winner == LEARNER
    return Markup("<p>{}</p>{}").format(
        in_titles(decision.reason),
        card(LEARNER, own, judged_round.state.market, won, jobs=job_names(jobs)),
    )


def with_job_ids(text: str, jobs: Sequence[arena.Job]) -> str:
    """The pitch with each job's id after the name by which the page calls it.

    The judge knows a job by its id alone, and compares a claim without one with any open job.
    """
    for job_id, name in job_names(jobs).items():
        named = re.compile(rf"\b{re.escape(name)}\b(?! \({job_id}\))", re.IGNORECASE)
        text = named.sub(lambda found, id_=job_id: f"{found[0]} ({id_})", text)
    return text


def knowledge(seed: int, index: int) -> Markup:
    """The private facts of the own lab in this round, against which its claims are checked."""
    state = rounds_of(seed)[index].state
    return papers(arena.Observation(LEARNER, state.market, state.private[LEARNER]))
