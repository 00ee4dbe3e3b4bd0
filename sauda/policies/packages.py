"""Buyers of packages: what each extra costs the seller, which package is best, what to ask.

With a cost assumed for each extra, a bid is worth to the seller what a price alone is, and the
planner of the open market names it. The costs are a belief of their own: heavy or light, weighed by
what the seller says and by how honest its type is. What is read and said can be switched off, one
by one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from env import Observation, Offer, amount_of, count_bids, ear, standing_offer
from env import market as rules
from env import speech as words
from env.language.money import prices
from sauda.policies import listener

SAMPLE = 600  # costs of an extra
NUMBERS = np.linspace(0, 0.8, 33)[1:]  # of what may be named, shares of the list price
BLUR = 0.01  # deviation of a named cost from a sampled one, share of the list price
SLIP = 0.03  # chance that something else was said than was heard
STEADY = 0.012  # of the list price: so much better is a package for which it leaves another
SHARE = 0.6  # of what a better package adds, discounted and in the games with a deal
ROUNDS = 4  # for which a question tries the seller's temper


@cache
def cost_sample() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Costs, and what is said of each honestly and falsely; shares of the list price."""
    steps = np.array([0.8191725134, 0.6710436067, 0.5497004779])  # the generalised golden ratio
    coin, level, padding = ((0.5 + np.arange(1, SAMPLE + 1)[:, None] * steps) % 1).T
    cost = rules.extra_share(coin, level, rules.HEAVY_COST)
    return cost, *(rules.named_share(cost, honest, padding) for honest in (True, False))


def weigh_costs(speeches: Sequence[words.Speech], honesty: float, list_price: float) -> np.ndarray:
    """The weights of the sampled costs after what was said of one extra: (SAMPLE,)."""
    _, true, false = cost_sample()
    honest, lies = honesty, (1 - honesty) * (1 - rules.EVADES)
    spoken = [speech for speech in speeches if speech.content in ("price", "dear", "cheap")]
    if not spoken:
        return np.full(SAMPLE, 1 / SAMPLE)
    for speech in spoken:
        mark = rules.MARKS.index(speech.mark)
        honest, lies = (
            chance * rules.MARK_CHANCES[holds][mark]
            for chance, holds in ((honest, True), (lies, False))
        )
    last = next((claim for claim in spoken[::-1] if claim.content == "price"), spoken[-1])

    def fit(named: np.ndarray) -> np.ndarray:
        if last.content == "price":
            off = (named - last.cost / list_price) / BLUR
            return np.exp(-0.5 * np.minimum(off**2, 50))
        return (named > rules.DEAR) == (last.content == "dear")

    weights = honest * fit(true) + lies * fit(false)
    weights = weights + SLIP * weights.mean() + 1e-12
    return weights / weights.sum()


def worth_of_asking(weights: np.ndarray, honesty: float, value: float) -> float:
    """What the number of an extra's cost adds to the best package; shares of the list price."""
    cost, true, false = cost_sample()
    lies = (1 - honesty) * (1 - rules.EVADES)
    chances = np.zeros((len(NUMBERS), SAMPLE))
    for chance, named in ((honesty, true), (lies, false)):
        chances[np.searchsorted(NUMBERS, np.minimum(named, NUMBERS[-1])), range(SAMPLE)] += chance
    joint = chances * weights
    seen = joint.sum(1)
    known = np.maximum(0, seen * value - joint @ cost).sum()
    blind = max(0.0, value - float(weights @ cost))
    return float(known - seen.sum() * blind)


@dataclass(frozen=True)
class Packager:
    """The planner of the open market with packages."""

    reads: bool = True
    speaks: bool = True
    packs: bool = True  # without, it bids prices alone
    read: listener.Reader = ear.hear
    costs: Mapping[str, int] | None = None  # told what the extras cost: a bound, no contestant

    def __call__(self, obs: Observation, rng: np.random.Generator) -> listener.Action:
        plan = self.plan(obs)
        return plan.in_full(plan.values.best(plan.seen), obs)

    def plan(self, obs: Observation) -> "Plan":
        """The best package and the values of all moves with it."""
        costs, weights, honesty = self.weigh(obs)
        chosen = self.choose(obs, costs)
        seen = in_prices(obs, costs, chosen)
        belief = listener.believe(seen, self.reads, self.read)
        if obs.table.bids and chosen != last_package(obs):
            belief = replace(belief, temper=belief.temper + rules.CHANGED)
        values = self.with_questions(obs, seen, belief, weights, honesty)
        return Plan(costs, chosen, seen, values)

    def weigh(self, obs: Observation) -> tuple[dict[str, int], dict[str, np.ndarray], float]:
        """By extra the expected cost in rupees and the weights of the costs; the honesty."""
        names, price = obs.table.extras, obs.table.item.list_price
        cost = cost_sample()[0]
        blank = {name: weigh_costs((), 1.0, price) for name in names}
        plain = {name: round(price * float(cost.mean())) for name in names}
        if self.costs is not None:
            return dict(self.costs), blank, 1.0
        if not self.reads:
            return plain, blank, 0.5
        speeches = told_of_extras(obs, self.read)
        belief = listener.believe(in_prices(obs, plain, frozenset()), True, self.read)
        honesty = float(belief.weights @ belief.sellers.honesty)
        weights = {name: weigh_costs(speeches.get(name, ()), honesty, price) for name in names}
        expected = {name: round(price * float(weights[name] @ cost)) for name in names}
        return expected, weights, honesty

    def choose(self, obs: Observation, costs: Mapping[str, int]) -> frozenset[str]:
        """The package that adds most; that of the last bid where another adds little more."""
        values = obs.own["values"]
        if not self.packs:
            return frozenset()
        best = frozenset(name for name in costs if values[name] > costs[name])
        if not obs.table.bids:
            return best
        last = last_package(obs)
        more = sum(values[name] - costs[name] for name in best)
        more -= sum(values[name] - costs[name] for name in last)
        return best if more > STEADY * obs.table.item.list_price else last

    def with_questions(
        self, obs: Observation, seen: Observation, belief: listener.Belief,
        weights: Mapping[str, np.ndarray], honesty: float,
    ) -> listener.MoveValues:  # fmt: skip
        """The values of all moves, of questions for an extra too that was not asked for yet."""
        values = listener.Listener(self.reads, self.speaks).values(belief, seen)
        asks = self.reads and self.speaks and self.packs and self.costs is None
        if not asks or listener.is_deaf(obs) or obs.rounds_left < 3:
            return values
        item, silent = obs.table.item.list_price, values.offers[0]
        shared = (
            obs.reservation + seen.own["bonus"] - float(belief.weights @ belief.sellers.reservation)
        )
        rows, acts = [], []
        for name in obs.table.extras:
            if f"ask_{name}" in belief.said:
                continue
            gain = item * worth_of_asking(weights[name], honesty, obs.own["values"][name] / item)
            worth = SHARE * gain / max(shared, 0.1 * item)
            worth = worth - ROUNDS * rules.ASKED * np.abs(silent)
            acts.append(f"ask_{name}")
            rows.append(np.where(worth > listener.CURIOUS, silent + worth, listener.NOTHING))
        offers = np.vstack([values.offers, *rows])
        return replace(values, acts=(*values.acts, *acts), offers=offers)


@dataclass(frozen=True, eq=False)
class Plan:
    """What a buyer of packages weighs in one position."""

    costs: Mapping[str, int]  # by extra, expected, rupees
    chosen: frozenset[str]  # the best package
    seen: Observation  # the position in prices less the costs
    values: listener.MoveValues  # of the moves there

    def in_full(self, move: listener.Action, obs: Observation) -> listener.Action:
        """A move of the position in prices as the move with the package at `obs`."""
        if not isinstance(move, Offer):
            return move
        stands = standing_offer(obs.table, self.costs) if obs.table.bids else None
        price = move.price + amount_of(self.chosen, self.costs)
        if stands and move.price <= max(self.seen.table.bids):
            if stands.extras == self.chosen:
                return replace(stands, message=move.message)
            price += 1
        return Offer(int(min(max(1, price), obs.own["purse"])), move.message, self.chosen)


def in_prices(obs: Observation, costs: Mapping[str, int], chosen: frozenset[str]) -> Observation:
    """What a buyer of a package sees, with each bid less the costs of its extras.

    Its limit and purse are those for the package; "bonus" is what an acceptance of the bare thing
    forgoes.
    """
    bonus = sum(obs.own["values"][name] - costs[name] for name in chosen)
    private = {
        **obs.own,
        "reservation": obs.reservation + bonus,
        "purse": obs.own["purse"] - amount_of(chosen, costs),
        "bonus": bonus,
    }
    return replace(obs, table=count_bids(obs.table, costs), own=private)


def last_package(obs: Observation) -> frozenset[str]:
    """The extras of the buyer's last bid."""
    return obs.table.offers[-1].extras


def told_of_extras(
    obs: Observation, read: listener.Reader = ear.hear
) -> dict[str, list[words.Speech]]:
    """What the seller said of each extra, in order.

    Whoever has asked for one takes a price beside the ask for the answer, however it is worded.
    """
    speeches: dict[str, list[words.Speech]] = {}
    asked = ""
    for move in obs.table.moves:
        text = move.action.message
        if move.agent == "buyer":
            asked = rules.reader(obs.table)(text)[0].removeprefix("ask_")
            continue
        speech = read(text)
        if asked in obs.table.extras and speech.topic != asked:
            named = [each.amount for each in prices(text) if each.amount != move.action.price]
            if named:
                speech = replace(speech, topic=asked, content="price", cost=int(named[0]))
        if speech.topic in obs.table.extras:
            speeches.setdefault(speech.topic, []).append(speech)
    return speeches
