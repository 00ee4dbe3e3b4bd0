"""Log-likelihoods of a seller's reply: a refusal, a claim in words, a manner.

Every function returns one value for each seller of a sample, shape (SAMPLE_SIZE,). Prices are
shares of the opening ask; rounds are counted from 1, and 0 is the opening.
"""

from typing import NamedTuple

import numpy as np

from env import CLAIM_RATE, CLAIMS, RIVAL_HAZARD_FACTOR, Tells, hazards_at
from sauda.policies.belief.sample import SMALLEST, Sample
from sauda.policies.best_response.sellers import Sellers

UNEXPECTED = -6.0  # log-likelihood of a reply that the rules exclude, such as refusing a good bid
UNSEEN_MANNER = -6.0  # log-likelihood of a manner that no seller of the sample shows
NOISE = 0.15  # standard deviation of the signals of manner, as in `market_tells`
PERSON_WEIGHT = 0.5  # power of a likelihood where a person sells


def refusal_log_likelihood(
    sellers: Sellers, t: int, bid: float, best_before: float, ask: float
) -> np.ndarray:
    """Log-likelihood of refusing `bid` in round `t` and staying, after the best bid before it."""
    reservation = sellers.reservation
    threshold = reservation + (1 - sellers.leniency * t / sellers.rounds) * (ask - reservation)
    walks = hazards_at(1.0, sellers.hazard, bid, best_before, threshold)
    return np.where(bid >= threshold, UNEXPECTED, np.log1p(-walks))


class ClaimChances(NamedTuple):
    """The probability of each claim of CLAIMS, and of making none."""

    true: np.ndarray  # (claims, SAMPLE_SIZE): of the claim while it is true
    false: np.ndarray  # (claims, SAMPLE_SIZE): of the claim as a bluff
    silence: np.ndarray  # (SAMPLE_SIZE,)


def claim_chances(sample: Sample, t: int) -> ClaimChances:
    """The probabilities of `claim_at` in round `t`; a walk that follows a claim is left out."""
    sellers, rounds = sample.sellers, sample.sellers.rounds
    impatience = sellers.hazard / np.where(sample.rival, RIVAL_HAZARD_FACTOR, 1.0)
    is_true = np.array([
        sample.rival,
        sellers.hazard * (t < rounds),
        (impatience > 0.06) | (t > 0.7 * rounds),
    ], float)  # fmt: skip
    share = CLAIM_RATE / len(CLAIMS)
    true, false = share * is_true, share * (1 - is_true) * sample.bluff_rate
    return ClaimChances(true, false, 1 - (true + false).sum(0))


def claim_likelihoods(chances: ClaimChances, claim: str | None) -> tuple[np.ndarray, np.ndarray]:
    """The probability of `claim` made honestly, and made as a bluff.

    "" is silence. None means that words are ignored: any claim or none is possible.
    """
    if claim is None:
        return chances.silence + chances.true.sum(0), chances.false.sum(0)
    if not claim:
        return chances.silence, np.zeros_like(chances.silence)
    i = CLAIMS.index(claim)
    return chances.true[i], chances.false[i]


def claim_log_likelihood(chances: ClaimChances, claim: str, person: bool) -> np.ndarray:
    """Log-likelihood of the words alone.

    For a `person` silence carries no information and a claim has half its weight.
    """
    if person and not claim:
        return np.zeros_like(chances.silence)
    return (PERSON_WEIGHT if person else 1.0) * np.log(sum(claim_likelihoods(chances, claim)))


def manner_log_likelihood(
    shown: Tells, sellers: Sellers, t: int, ask: float, claims: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Log-likelihood of a manner of `market_tells` and the claim made with it.

    `claims` comes from `claim_likelihoods`; bluff and no bluff are summed over. Posture adds
    nothing to fidgeting, whose noise it shares; pattern and repetition follow from the asks.
    Rounding shares its noise with the changes of topic, speed with escalation.
    """
    from scipy.special import ndtr

    near = (1 - ask) / np.maximum(1 - sellers.reservation, 1e-6)
    urgency = np.minimum(1.0, sellers.hazard / 0.15) * (0.5 + 0.5 * t / sellers.rounds)
    log = _signal_log_density(shown.verbal_urgency, 0.15 + 0.7 * urgency)
    log += _signal_log_density(shown.verbal_confidence, 0.85 - 0.6 * near)
    log += _signal_log_density(shown.fidget_level, 0.1 + near)
    log += _signal_log_density(shown.emotional_escalation, 0.6 * urgency)
    if 0 < shown.emotional_escalation < 1:
        instant = shown.emotional_escalation + 0.4 * urgency > 0.6
        log += np.where(instant == (shown.offer_speed == "instant"), 0.0, UNEXPECTED)
    precise = (0.6 - near) / NOISE  # standard normal noise above which the price is precise
    bluffs = []
    for bluffing, chance in enumerate(claims):
        avoids = ndtr((bluffing - 0.6) / 0.4)
        low, high = (
            2 * (shown.topic_changes - 2 * bluffing),
            2 * (shown.topic_changes + 1 - 2 * bluffing),
        )
        low = -np.inf if shown.topic_changes == 0 else low
        if shown.price_rounding == "precise":
            body = ndtr(high) - ndtr(np.clip(precise, low, high))
        else:
            body = ndtr(np.clip(precise, low, high)) - ndtr(low)
        chance = chance * body * (avoids if shown.eye_contact == "avoidant" else 1 - avoids)
        cue = _signal_log_density(shown.verbal_deception_cue, np.array(0.2 + 0.5 * bluffing))
        bluffs.append(np.log(np.maximum(chance, SMALLEST)) + cue)
    return log + np.logaddexp(*bluffs)


def _signal_log_density(shown: float, mean: np.ndarray) -> np.ndarray:
    """Log-density of a signal that is normal around `mean` and clipped to [0, 1]."""
    from scipy.special import log_ndtr

    if shown <= 0:
        return log_ndtr(-mean / NOISE)
    if shown >= 1:
        return log_ndtr((mean - 1) / NOISE)
    return -(((shown - mean) / NOISE) ** 2) / 2 - np.log(NOISE * np.sqrt(2 * np.pi))
