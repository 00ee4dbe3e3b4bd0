"""How near the other side is to taking a price or leaving, as a careful reader could know.

And why a seller left. A chance is that of the market's own rule, averaged over the players across
that the prices and words so far leave possible. Their hidden numbers are not read.
"""

from dataclasses import dataclass

from env import Observation, Offer, WalkAway, corpus, market, speech
from env import people as rules
from sauda.players import CUSTOMERS
from sauda.policies import customers, listener, people
from sauda.policies.people import Belief, believe
from sauda.sessions.bazaar import Game

TASK = rules.TASKS[0].name
AnyBelief = Belief | listener.Belief  # in the markets like people, or in the open ones
CALM, TENSE = 0.1, market.WARNS  # chances to leave: below the first calm, from the second tense


@dataclass(frozen=True)
class Outlook:
    """What the other side does at once after a price: chances in [0, 1], by a belief."""

    takes: float
    leaves: float
    is_small: bool = False  # whether so small a step tries its patience


def believe_at(task_name: str, obs: Observation) -> AnyBelief:
    """The belief of a player that has seen the table in the market of a task."""
    if task_name == CUSTOMERS:
        return customers.believe(obs)
    return (people if task_name == TASK else listener).believe(obs)


def outlook(task_name: str, belief: AnyBelief, obs: Observation, offer: Offer) -> Outlook:
    """What follows `offer` at once."""
    first = not (obs.table.asks if obs.agent == "seller" else obs.table.bids)
    if isinstance(belief, Belief):
        planner = customers if task_name == CUSTOMERS else people
        after, answered = planner.after_offer(belief, offer, obs)
        takes, leaves = people.chances(after, answered, first)
        is_small = not first and float(after.course.rise) < rules.SMALL
    else:
        takes, leaves = listener.chances_after(belief, offer, obs)
        is_small = False
    chances = (takes, (1 - takes) * leaves)
    return Outlook(*(float((belief.weights * chance).sum()) for chance in chances), is_small)


def chance_of_no_deal(belief: AnyBelief, obs: Observation) -> float:
    """The chance that no price serves both sides, by a `belief`."""
    limit = obs.reservation
    limit = customers.flip(obs, limit) if obs.agent == "seller" else limit
    return float(belief.weights[limit <= belief.sellers.reservation].sum())


def can_leave(game: Game) -> bool:
    """Whether the rule is known by which the other side of `game` leaves."""
    return game.task_name == TASK and bool(game.play.state.table.asks)


def chance_to_leave(game: Game) -> float:
    """The chance that the seller of a running game leaves after one more bid that does not rise.

    Raises ValueError for a game whose rule is not known.
    """
    if not can_leave(game):
        raise ValueError(f"sellers leave by a known rule in {TASK}, not in {game.task_name}")
    belief = believe(game.observation)
    stood = belief.course.stood + 1 if belief.course.best else 0
    still = belief.course._replace(rise=0.0, stood=stood)
    return _mean_hazard(belief, still, first=not belief.course.best)


def _mean_hazard(belief: Belief, course: rules.Course, first: bool) -> float:
    """The chance to leave after a bid that led to `course`, over the sellers of a belief."""
    chances = rules.hazard(belief.sellers, course, first, belief.mood, belief.temper)
    return float((belief.weights * chances).sum())


def last_walk(game: Game) -> tuple[str, float] | None:
    """Why the seller left, "patience", "rival" or "talk", and how often it would after such a bid.

    None where it did not leave.
    """
    last = game.play.turns[-1] if game.play.turns else None
    if not (can_leave(game) and last and last.agent == "seller"):
        return None
    if not isinstance(last.action, WalkAway):
        return None
    bid = game.play.turns[-2]
    assert isinstance(bid.action, Offer)  # a seller answers bids alone
    belief, table = believe(bid.observation), bid.observation.table
    first, price = not table.bids, bid.action.price
    after = rules.after_bid(belief.course, table.asks[0], table.asks[-1], price, first)
    return reason_in(last.action.message), _mean_hazard(belief, after, first)


def was_unlucky(game: Game) -> bool:
    """Whether the seller left after a bid after which it seldom does."""
    walk = last_walk(game)
    return walk is not None and walk[1] < TENSE


def reason_in(words: str) -> str:
    """The reason to leave that a seller's last words give; "" for other words."""
    for language in speech.LANGUAGES:
        for (family, reason), lines in corpus.sentences(language, "evaluation").items():
            if family == "walk" and words in lines:
                return reason
    return ""
