"""A visitor's own pitch: what it can claim, an example, and the judge's verdict on it."""

from functools import lru_cache

import numpy as np
from markupsafe import Markup

from env import arena
from panels.gpu_arena.view import papers
from panels.judge.view import card
from sauda.evaluation.pitching import ADVOCATES, LEARNER, Round, negotiation
from sauda.records.schemas.pitching import Verdict

EXAMPLE = "evidence_first"


@lru_cache(maxsize=16)
def rounds_of(seed: int) -> tuple[Round, ...]:
    """The judged rounds of a seed as the adapting advocate played them, their states included."""
    return tuple(negotiation(ADVOCATES["adapting"], seed))


def example(seed: int, index: int) -> str:
    """The pitch of a lab that leads with evidence, in this round."""
    state = rounds_of(seed)[index].state
    obs = arena.Observation(LEARNER, state.market, state.private[LEARNER])
    return arena.pitch_of(obs, EXAMPLE, np.random.default_rng([seed, index]), discreet=False)


def own_pitch(seed: int, index: int, text: str) -> Markup:
    """The visitor's pitch judged against the state on screen, and against the others' pitches.

    Raises ValueError where there is nothing to judge.
    """
    text = (text or "").strip()
    if not text:
        raise ValueError("write a pitch first, such as the example")
    if len(text) > arena.LONGEST_MESSAGE:
        raise ValueError(f"a pitch has at most {arena.LONGEST_MESSAGE} characters, not {len(text)}")
    judged_round = rounds_of(seed)[index]
    verdicts = judged_round.decision.verdicts
    others = {lab: v.text for lab, v in verdicts.items() if lab != LEARNER}
    decision = arena.decide(judged_round.state, {LEARNER: text} | others)
    own = Verdict.model_validate(decision.verdicts[LEARNER].as_json())
    return Markup("<p>{}</p>{}").format(
        decision.reason,
        card(LEARNER, own, decision.winner == LEARNER),
    )


def knowledge(seed: int, index: int) -> Markup:
    """The private facts of lab_0 in this round, against which its claims are checked."""
    state = rounds_of(seed)[index].state
    return papers(arena.Observation(LEARNER, state.market, state.private[LEARNER]))
