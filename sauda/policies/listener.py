"""Buyers of the open market: what they believe of the seller, how they plan, the oracle.

A belief is a weighted sample of sellers. A plan takes each of them for known from the next round
on (QMDP, Littman et al. 1995). What is read and what is said can be switched off, one by one. A
state counts the own rises so far.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.special import ndtr

from env import Accept, Observation, Offer, WalkAway, amount_of, corpus, ear, package_gain
from env import market as rules
from env import speech as words

SAMPLE, SELLERS, BIDS = 4000, 64, 20  # of the belief, of a plan, of the prices that it weighs
AT_ONCE = 16  # sellers whose arrays fit the processor's cache: 1.7 times as fast as all together
DIMENSIONS = 13  # of the belief
SHIFT = 0.3  # rounds: deviation of the time of an ask, uniform within half a round
LEAST = 1e-4  # of each likelihood, so that rounding rules nobody out
LATER = 0.8  # factor on later values, which QMDP takes for too high
CURIOUS = 0.003  # least worth of a question
NOTHING = -9.0  # value of a move that may not be made
MISSED, SLIP = 0.15, 0.02  # chance that a warning is not heard; that one is misheard

Action = Accept | Offer | WalkAway
Reader = Callable[[str], words.Speech]
Sellers = SimpleNamespace  # the fields of a Stance, arrays of one length


# Belief -------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _draws() -> np.ndarray:
    """A low-discrepancy sample of shape (SAMPLE, DIMENSIONS) by the generalised golden ratio."""
    ratio = 2.0
    for _ in range(60):
        ratio = (1 + ratio) ** (1 / (DIMENSIONS + 1))
    steps = ratio ** -np.arange(1, DIMENSIONS + 1)
    return (0.5 + np.arange(1, SAMPLE + 1)[:, None] * steps) % 1


@lru_cache(maxsize=64)
def _prior(rounds: int, condition: str) -> Mapping[str, np.ndarray]:
    """The sellers before anything is seen; `share` is the reservation price over the list price."""
    u = iter(_draws().T)
    kind = np.arange(SAMPLE) % len(rules.TYPES)
    drawn = {}
    for name in ("exponent", "reciprocity", "impatience", "honesty"):
        low, high = np.array([ranges[name] for ranges in rules.RANGES.values()])[kind].T
        drawn[name] = low + (high - low) * next(u)
    margin, share, rival = next(u), next(u), next(u) < rules.RIVAL
    pressed = next(u) < np.array(rules.PRESSED)[kind]
    low, high = rules.SELLER_RESERVATION
    return {
        **drawn,
        "kind": kind,
        "margin": rules.MARGIN[0] + (rules.MARGIN[1] - rules.MARGIN[0]) * margin,
        "share": low + (high - low) * share,
        "rival": rival,
        "pressed": pressed,
        "deadline": rules.deadline_of(pressed, rounds, next(u)),
        "leniency": rules.leniency_of(pressed, rival, next(u)),
        "flaw": next(u) < rules.flaw_chance(kind, condition),
        "catch": next(u),
    }


@dataclass
class Belief:
    """Sellers with weights, what the own words came to with each, and what was said so far."""

    sellers: Sellers
    weights: np.ndarray
    mood: np.ndarray
    temper: np.ndarray
    said: frozenset[str]
    told: frozenset[str]  # topics that the seller spoke of when asked, and time and rival


def at_opening(obs: Observation) -> Observation:
    """What the buyer saw before its first move."""
    table = obs.table
    opening = table._replace(round=0, moves=table.moves[:1], bids=(), asks=table.asks[:1])
    return replace(obs, table=opening)


def believe(obs: Observation, reads: bool = True, read: Reader = ear.hear) -> Belief:
    """The belief of a buyer that has seen the table; with `reads` off, its prices alone."""
    table, item = obs.table, obs.table.item
    s = Sellers(**_prior(table.rounds, item.condition))
    s.rounds, s.unit, s.opening = table.rounds, rules.unit_of(item.list_price), table.asks[0]
    s.reservation = s.share * item.list_price
    low, high = np.array([ranges["markup"] for ranges in rules.RANGES.values()]).T
    least, most = (s.opening - s.unit) / item.list_price, s.opening / item.list_price
    fits = np.clip(np.minimum(high, most) - np.maximum(low, least), 0, None) / (high - low)
    log = np.log(fits[s.kind] + 1e-6) + np.log((s.reservation < s.opening) + 1e-6)
    mood, temper = np.zeros(SAMPLE), np.zeros(SAMPLE)
    acts: frozenset[str] = frozenset()
    by_topic: dict[str, list[words.Speech]] = {}
    t, best, before, last = 0, 0.0, rules.LOW_BID * s.opening, s.opening
    act, gain, holds, asked, package = "", np.zeros(SAMPLE), np.ones(SAMPLE, bool), "", None
    for move in table.moves:
        if move.agent == "buyer":
            t, before, best = (
                t + 1,
                max(best, before if t == 0 else best),
                max(best, move.action.price),
            )
            act, gain, more, holds = weigh_act(s, t, best, move.action.message, acts, obs)
            acts, mood, temper = acts | ({act} - {""}), mood + gain, temper + more
            question = rules.reader(table)(move.action.message)[0]
            asked = question.removeprefix("ask_") if rules.is_question(question) else ""
            temper = temper + rules.CHANGED * (package not in (None, move.action.extras))
            package = move.action.extras
            continue
        if t:
            mood_now = np.clip(mood, *rules.MOOD)
            log += np.log(_of_ask(s, t, best, move.action.price, last) + LEAST)
            soft = rules.softness(rules.rises_in(table.bids[:t], s.opening))
            threshold = rules.threshold(s, soft, move.action.price, mood_now)
            threshold = np.minimum(threshold, last)
            log += np.log(_sigmoid((threshold - best) / (0.004 * s.opening)) + LEAST)
            walked = rules.hazard(s, t, best, before, threshold, mood_now, temper)
            log += np.log(1 - walked + LEAST)
        last = move.action.price
        if reads:
            speech = read(move.action.message)
            log += np.log(of_manner(s, speech, act, gain, holds))
            speech = _as_story(speech, asked, best, move.action.price)
            if t and speech != words.Speech() and not asked:
                risks = rules.hazards(s, t + 1, best, best, threshold, mood_now, temper)
                log += np.log(of_warning(s, speech, risks))
                if speech.topic == "time" and speech.content == "short":
                    continue
            if speech.topic:
                by_topic.setdefault(speech.topic, []).append(speech)
    for topic, speeches in by_topic.items():
        log += np.log(of_story(s, topic, speeches) + 1e-4)
    return Belief(s, as_weights(log), mood, temper, acts, frozenset(by_topic))


EARLY = (0.1, 0.3, 0.5, 0.7, 0.9)  # draws by which an ask is early or late


def chances_after(belief: Belief, bid: Offer, obs: Observation) -> tuple[np.ndarray, np.ndarray]:
    """The chance that each seller takes this bid at once, and that it leaves if it does not."""
    s, bids, t = belief.sellers, obs.table.bids, obs.round + 1
    before = max(bids, default=rules.LOW_BID * s.opening)
    best = max(bid.price, *bids, 0)
    _, gain, more, _ = weigh_act(s, t, best, bid.message, belief.said, obs)
    mood, temper = np.clip(belief.mood + gain, *rules.MOOD), belief.temper + more
    soft = rules.softness(rules.rises_in((*bids, bid.price), s.opening))
    takes, leaves = [], []
    for early in EARLY:
        ask = np.maximum(np.minimum(obs.ask, rules.ask_at(s, t, best, early)), best + 1)
        least = rules.threshold(s, soft, ask, mood)
        takes.append(best >= np.minimum(least, obs.ask))
        leaves.append(rules.hazard(s, t, best, before, least, mood, temper))
    return np.mean(takes, axis=0), np.mean(leaves, axis=0)


def as_weights(log: np.ndarray) -> np.ndarray:
    """The weights of a sample, which add up to 1, by its log-likelihoods."""
    weights = np.exp(log - log.max())
    return weights / weights.sum()


def line_of(act: str, obs: Observation, draw: float = 0.0) -> str:
    """A line that sellers hear as this act, chosen by `draw` in [0, 1); "" for none."""
    quote = obs.own.get("quote") or 0
    return corpus.buyer_line(act, quote, draw, item=obs.table.item) if act else ""


def is_deaf(obs: Observation) -> bool:
    """Whether the seller says prices alone, and so hears no words."""
    return not any(map(str.isalpha, obs.table.moves[0].action.message))


def _as_story(speech: words.Speech, asked: str, best: float, ask: float) -> words.Speech:
    """What was heard as sellers may say it; nothing on a topic that no market seller speaks of.

    A cost is named to the unit if asked for, and lies above the standing bid and within the ask.
    """
    topic, content = speech.topic, speech.content
    if topic == "cost" and content != "evade":
        content = "price" if asked == "cost" else "about"
        topic = topic if best < speech.cost <= ask else ""
    if topic not in (*rules.STORIES, "patience"):
        topic = ""
    return replace(speech, topic=topic, content=content if topic else "")


def of_warning(s: Sellers, speech: words.Speech, risks: Mapping[str, Any]) -> np.ndarray:
    """The chance, up to a factor, that a seller with these risks says this unasked."""
    warns = sum(risks.values()) >= rules.WARNS
    others = np.maximum(np.maximum(risks["patience"], risks["rival"]), risks["talk"])
    admits = s.pressed & (risks["time"] > others)
    admits = admits * (s.honesty + (1 - s.honesty) * rules.EVADES)
    claimed = rules.CLAIM_RATE / len(rules.TOPICS)
    if (speech.topic, speech.content) == ("time", "short"):
        return np.where(warns, admits, claimed * s.pressed * s.honesty) + SLIP * claimed
    if speech.topic == "patience":
        return np.where(warns, 1 - admits, SLIP)
    return np.where(warns, MISSED, 1.0)


def weigh_act(
    s: Sellers, t: int, best: float, message: str, acts: frozenset[str], obs: Observation
) -> tuple[str, np.ndarray, Any, np.ndarray]:
    """The act of a bid, what it adds to each seller's mood and temper, and whether it holds.

    One of the earlier `acts` is none again.
    """
    gain, holds = np.zeros(len(s.kind)), np.ones(len(s.kind), bool)
    act, named = rules.reader(obs.table)(message)
    if not act:
        return "", gain, 0.0, holds
    if act in acts:
        return "", gain, rules.REPEATED, holds
    if act == "flaw":
        holds = s.flaw
    elif act == "outside" and not rules.is_true(named, obs.own.get("quote")):
        holds = s.catch >= np.array(rules.CATCHES)[s.kind]
    serious = best >= rules.CASH_FROM * s.opening
    gained, more = rules.effect(act, s.kind, t, serious, holds)
    return act, gain + gained, more, holds


def _of_ask(s: Sellers, t: int, best: float, ask: float, last: float) -> Any:
    """The chance of an ask in round `t`, whose time is off by up to half a round."""
    if ask <= best + 1:
        return np.ones(SAMPLE)
    resting = s.reservation + s.margin * (s.opening - s.reservation)
    low = rules.LOW_BID * s.opening
    moved = min(1.0, max(0.0, (best - low) / (s.opening - low)))

    def when(price: float) -> np.ndarray:
        given = (s.opening - price) / np.maximum(1.0, s.opening - resting)
        share = (given - s.reciprocity * moved) / (1 - s.reciprocity)
        return s.rounds * np.sign(share) * np.abs(share) ** s.exponent

    late = when(ask - s.unit)
    late = np.where(late >= s.rounds, 99.0, late)
    if ask == last:  # it may have wanted more
        return ndtr((late - t) / SHIFT)
    return ndtr((late - t) / SHIFT) - ndtr((when(ask) - t) / SHIFT)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-np.clip(x, -30, 30)))


def of_manner(
    s: Sellers, speech: words.Speech, act: str, gain: np.ndarray, holds: np.ndarray
) -> Any:
    """The chance of a line's style, and of its reaction to the buyer's pitch."""
    chance = 1.0
    if speech.style:
        is_usual = s.kind == rules.TYPES.index(speech.style)
        chance = np.where(is_usual, rules.OWN_STYLE, (1 - rules.OWN_STYLE) / 3)
    if act in words.PITCHES and speech.reaction:
        shows = np.where(gain > 0, speech.reaction == "pleased", speech.reaction == "annoyed")
        flat = (speech.reaction == "flat") * np.where(gain == 0, 1.0, 1 - rules.REACTS)
        seen = np.where(
            holds, shows * rules.REACTS * (gain != 0) + flat, speech.reaction == "caught"
        )
        chance = chance * (seen + 1e-2)
    return chance


def of_story(s: Sellers, topic: str, speeches: Sequence[words.Speech]) -> np.ndarray:
    """The chance, up to a factor, that a seller keeps to this story on a topic.

    A reader who slips hears several stories and takes the commonest.
    """
    contents = [speech.content for speech in speeches]
    content = max(contents, key=contents.count)
    same = [speech for speech in speeches if speech.content == content]
    lies = 1 - s.honesty
    awkward = {"time": s.pressed, "wear": s.flaw, "rival": ~s.rival}.get(topic, True)
    if content == "evade":
        return np.where(awkward, lies * rules.EVADES, rules.SHY)
    true, false = (
        np.prod([rules.MARK_CHANCES[honest][rules.MARKS.index(mention.mark)] for mention in same])
        for honest in (True, False)
    )
    if topic == "cost":
        step = s.unit if content == "price" else rules.COARSE * s.unit
        span = np.maximum(1.0, s.opening - s.reservation)
        truthful = _within(same[0].cost, step, rules.COST[0] * s.reservation, s.reservation)
        from_, to = (s.reservation + share * span for share in rules.INFLATED)
        lied = _within(same[0].cost, step, from_, to)
        chance = s.honesty * true * truthful + lies * (1 - rules.EVADES) * false * lied
        return chance / max(chance.max(), 1e-9)
    if content in ("short", "flaw"):
        return np.where(awkward, s.honesty * true, 0.0)
    return np.where(awkward, lies * (1 - rules.EVADES) * false, (1 - rules.SHY) * true)


def _within(price: float, step: float, low: Any, high: Any) -> Any:
    """The chance that a price, uniform from `low` to `high`, is rounded to `price`."""
    covered = np.minimum(high, price + step / 2) - np.maximum(low, price - step / 2)
    return np.clip(covered, 0, None) / np.maximum(high - low, 1.0)


# Plan ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Options:
    """What a buyer may do now against each of k sellers after each of a acts.

    `values` has shape (a, k, bids + 2): bids, of which the first repeats the standing one, then
    acceptance, then walking away. `later` has shape (k, bids, bids + 2): what the moves of the next
    round are worth after each bid and no word.
    """

    prices: np.ndarray
    values: np.ndarray
    later: np.ndarray


def each_array(s: Sellers, change: Callable[[np.ndarray], np.ndarray]) -> Sellers:
    """The sellers with each of their arrays changed; single numbers stay."""
    return Sellers(**{
        name: change(value) if isinstance(value, np.ndarray) else value
        for name, value in vars(s).items()
    })  # fmt: skip


def grade_at_once(price: Any, limit: float, width: Any, list_price: float) -> Any:
    """The grade, before any discount, of a deal at a price, by the width of the ZOPA."""
    loss = np.maximum(-1.0, (limit - price) / list_price)
    won = np.where(width > 0, (limit - price) / np.where(width > 0, width, 1), loss)
    return np.where(price > limit, loss, won)


def possible_rises(table: Any) -> np.ndarray:
    """How many rises there may be in the end, (r, 1)."""
    past = rules.rises_in(table.bids, table.asks[0])
    return np.arange(min(past, rules.RISES), rules.RISES + 1)[:, None]


def plan(
    s: Sellers, moods: np.ndarray, tempers: np.ndarray, obs: Observation, prices: np.ndarray
) -> Options:
    """The values of all moves; moods and tempers have the shape (a, k) of acts and sellers."""
    values, later = [], []
    for start in range(0, moods.shape[1], AT_ONCE):
        block = slice(start, start + AT_ONCE)
        sellers = each_array(s, lambda value, block=block: value[block])
        options = _plan_with(sellers, moods[:, block], tempers[:, block], obs, prices)
        values.append(options.values)
        later.append(options.later)
    return Options(prices, np.concatenate(values, axis=1), np.concatenate(later))


def _plan_with(
    s: Sellers, moods: np.ndarray, tempers: np.ndarray, obs: Observation, prices: np.ndarray
) -> Options:
    acts, k = moods.shape
    private, table, n = obs.own, obs.table, len(prices)
    col = each_array(s, lambda value: np.tile(value, acts)[:, None, None])  # act by act
    mood = np.clip(moods, *rules.MOOD).reshape(-1, 1, 1)
    temper = tempers.reshape(-1, 1, 1)
    limit, item, first = private["reservation"], table.item.list_price, table.round + 1
    bonus = private.get("bonus", 0)  # what an acceptance of the ask forgoes
    width = limit - col.reservation
    worth = partial(grade_at_once, limit=limit, width=width, list_price=item)
    discounts = [rules.share_kept(private, u) for u in range(table.rounds + 2)]
    calm = col.impatience * (1 - np.clip(mood / rules.MOOD[1], 0, 1))
    rise = prices[None, :] - prices[:, None]
    stalled = 1 - np.clip(rise / (rules.FULL_PROGRESS * s.opening), 0, 1)
    grows = rise >= rules.RISE * s.opening
    counts = possible_rises(table)

    def ask_after(u: int) -> Any:
        return np.minimum(np.maximum(rules.path(col, u, prices), prices + 1), table.asks[-1])

    def reach(u: int) -> int:  # how many counts of rises are possible after round `u`
        return min(len(counts), u - first + 1 + bool(table.bids))

    now, at = grows[0].astype(int) * bool(table.bids and len(counts) > 1), np.arange(n)
    shares, none = worth(prices), width <= 0
    value = np.broadcast_to(none * discounts[table.rounds], (acts * k, reach(table.rounds), n))
    later = np.zeros((k, n, n + 2))
    for u in range(table.rounds, table.round, -1):
        soft = rules.softness(counts[: reach(u)])
        least = rules.threshold(col, soft, ask_after(u), mood)
        far = calm * np.clip((least - prices) / (rules.FULL_GAP * s.opening), 0, 1)
        flat = rules.RIVAL_HAZARD * col.rival + temper + rules.LATE * (u > col.deadline)
        won, leave = np.where(prices >= least, shares * discounts[u], np.nan), none * discounts[u]
        if u == first:
            won, far, value = (x[:, now, at] for x in (won, far, value))
            flat, leave = flat[:, 0], leave[:, 0]
            before = prices[0] if table.bids else max(prices[0], rules.LOW_BID * s.opening)
            moved = 1 - np.clip((prices - before) / (rules.FULL_PROGRESS * s.opening), 0, 1)
            walk = np.clip(far * moved + flat, 0, 1)
            go = np.where(np.isnan(won), walk * leave + (1 - walk) * value * LATER, won)
            taken = worth(np.full((1, 1, 1), table.asks[-1] + bonus))[:, 0] * discounts[u]
            values = np.hstack([go, np.broadcast_to(taken, leave.shape), leave])
            return Options(prices, values.reshape(acts, k, n + 2), later)
        walk = np.clip(far[:, :, None] * stalled + flat[..., None], 0, 1)
        go = walk * leave[..., None] + (1 - walk) * value[:, :, None]
        go = np.where(np.isnan(won)[:, :, None], go, won[:, :, None])
        before = np.arange(reach(u - 1))
        if len(counts) > 1:
            go = np.where(grows, go[:, np.minimum(before + 1, len(counts) - 1)], go[:, before])
        go = np.where(rise >= 0, go, NOTHING)
        standing = ask_after(u - 1) + bonus
        taken = np.where(standing > limit, NOTHING, worth(standing) * discounts[u])
        value = np.maximum(np.maximum(go.max(3), taken), leave)
        if u == first + 1:
            ends = np.stack([taken[:k, 0], np.broadcast_to(leave[:k, 0], (k, n))], axis=2)
            later = np.concatenate([go[:k, now, at], ends], axis=2)
    raise AssertionError("a table with no round left is not shown to a buyer")


@dataclass(frozen=True, eq=False)
class MoveValues:
    """Expected grades of a buyer's moves in one position, by somebody's reckoning."""

    acts: tuple[str, ...]  # (a,), "" for none first
    prices: np.ndarray  # (k,), rupees, rising
    offers: np.ndarray  # (a, k), of offering each price with each act
    accept: float
    walk: float
    read: Callable[[str], tuple[str, int]] = ear.act_in  # how the other side hears
    line: Callable[[str, Observation, float], str] = line_of  # the words of an act

    @property
    def top(self) -> float:
        """The value of the best move."""
        return max(self.walk, self.accept, float(self.offers.max()))

    def best(self, obs: Observation, draw: float = 0.0) -> Action:
        """The move with the highest value; of equal ones an offer, then an acceptance.

        `draw` in [0, 1) chooses its words.
        """
        if self.offers.max() == self.top:
            act, at = np.unravel_index(self.offers.argmax(), self.offers.shape)
            return Offer(int(self.prices[at]), self.line(self.acts[act], obs, draw))
        return Accept() if self.accept >= self.walk else WalkAway()

    def of(self, move: Action) -> float:
        """The value of `move`; an offer between two prices is interpolated.

        Words that are not weighed here count as none.
        """
        if isinstance(move, Offer):
            act, _ = self.read(move.message)
            row = self.offers[self.acts.index(act) if act in self.acts else 0]
            row = np.where(row <= NOTHING / 2, self.offers[0], row)
            return float(np.interp(move.price, self.prices, row))
        return self.accept if isinstance(move, Accept) else self.walk

    def regret(self, move: Action) -> float:
        """How much less `move` is worth than the best move, at least 0."""
        return max(0.0, self.top - self.of(move))


@dataclass(frozen=True)
class Listener:
    """The buyer that plans against its belief; `reads` and `speaks` switch ears and mouth."""

    reads: bool = True
    speaks: bool = True
    read: Reader = ear.hear

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Action:
        return self.decide(believe(obs, self.reads, self.read), obs)

    def decide(self, belief: Belief, obs: Observation) -> Action:
        """The best move against a belief."""
        return self.values(belief, obs).best(obs)

    def values(self, belief: Belief, obs: Observation) -> "MoveValues":
        """The expected grade of every bid with every act, of accepting and of walking away."""
        s, mood, temper = sample(belief, SELLERS)
        prices = bids_to_weigh(obs)
        speaks = self.speaks and not is_deaf(obs)
        acts = ["", *(true_pitches(belief.said, obs) if speaks else ())]
        options = plan(s, *after_acts(acts, s, mood, temper, obs), obs, prices)
        means = options.values.mean(1)
        offers = without_early_cash(means[:, :-2], acts, prices, s)
        if speaks and self.reads and obs.rounds_left >= 3:
            asked = self._worth_of_questions(belief, s, options)
            acts += asked
            silent = offers[0]
            rows = [
                np.where(worth > CURIOUS, silent + worth, NOTHING)
                for worth in (gain - rules.ASKED * np.abs(silent) for gain in asked.values())
            ]
            offers = np.vstack([offers, *rows])
        ends = float(means[0, -2]), float(means[0, -1])
        return MoveValues(tuple(acts), prices, offers, *ends, rules.reader(obs.table))

    def _worth_of_questions(
        self, belief: Belief, s: Sellers, options: Options
    ) -> dict[str, np.ndarray]:
        """For each question not yet asked, what its answer adds after each bid."""
        plain = options.later.mean(0).max(1)
        worth = {}
        for question in words.QUESTIONS:
            if question not in belief.said:
                chances = answers(s, question.removeprefix("ask_"), belief)
                known = np.einsum("ok,kjm->ojm", chances, options.later) / SELLERS
                worth[question] = LATER * (known.max(2).sum(0) - plain)
        return worth


def true_pitches(earlier: frozenset[str], obs: Observation) -> list[str]:
    """The pitches that a buyer may make after these `earlier` ones and that are true."""
    barred = {"tea"} if obs.round + 1 > rules.TEA_UNTIL else set()
    barred |= set() if obs.own.get("quote") else {"outside"}
    return [act for act in words.PITCHES if act not in earlier | barred]


def after_acts(
    acts: Sequence[str], s: Sellers, mood: np.ndarray, temper: np.ndarray, obs: Observation
) -> tuple[np.ndarray, np.ndarray]:
    """Each seller's mood and temper after each pitch, "" for none: two arrays (acts, sellers)."""
    effects = [
        rules.effect(act, s.kind, obs.round + 1, True, s.flaw if act == "flaw" else True)
        if act
        else (0.0, 0.0)
        for act in acts
    ]
    moods, tempers = zip(*((mood + gain, temper + more) for gain, more in effects), strict=True)
    return np.array(moods), np.array(tempers)


def without_early_cash(
    offers: np.ndarray, acts: Sequence[str], prices: np.ndarray, s: Sellers
) -> np.ndarray:
    """The values of offers with NOTHING for cash that comes with a bid too low for it."""
    if "cash" in acts:
        offers[acts.index("cash"), prices < rules.CASH_FROM * s.opening] = NOTHING
    return offers


def sample(belief: Any, count: int) -> tuple[Sellers, np.ndarray, np.ndarray]:
    """Equally likely sellers at evenly spaced quantiles of the reservation price; mood, temper."""
    order = np.argsort(belief.sellers.reservation, kind="stable")
    steps = (np.arange(count) + 0.5) / count
    at = np.searchsorted(np.cumsum(belief.weights[order]), steps)
    index = order[np.minimum(at, len(order) - 1)]
    sellers = each_array(belief.sellers, lambda value: value[index])
    return sellers, belief.mood[index], belief.temper[index]


def bids_to_weigh(obs: Observation) -> np.ndarray:
    """Prices from the standing bid, or a low first one, up to the limit and below the ask."""
    limit = min(obs.budget, obs.ask - 1)
    low = max(1, min(limit, int(rules.LOW_BID * obs.opening_ask)))
    low = max(1, *obs.table.bids) if obs.table.bids else low
    if limit <= low:
        return np.array([float(low)])
    return np.unique(np.round(np.append(low, np.linspace(low + 1, limit, BIDS))))


def answers(s: Sellers, topic: str, belief: Belief) -> np.ndarray:
    """The chances of each answer to a question, given each seller: shape (answers, k)."""
    lies = 1 - s.honesty
    marks = {honest: np.array(rules.MARK_CHANCES[honest])[:, None] for honest in (True, False)}
    if topic == "cost":
        edges = np.quantile(s.reservation, np.linspace(0, 1, 9))[1:-1, None]
        span = s.opening - s.reservation
        low, high = (s.reservation + share * span for share in rules.INFLATED)
        truthful, lied = (
            _between(edges, x) for x in ((s.reservation * 0.95, s.reservation), (low, high))
        )
        parts = [
            truthful[:, None] * (s.honesty * marks[True])[None],
            lied[:, None] * (lies * (1 - rules.EVADES) * marks[False])[None],
        ]
        spoken = sum(parts).reshape(-1, len(s.kind))
        return np.vstack([spoken, lies * rules.EVADES])
    awkward = s.pressed if topic == "time" else s.flaw
    admits = np.where(awkward, s.honesty, 0.0) * marks[True]
    denies = np.where(awkward, lies * (1 - rules.EVADES), 0.0) * marks[False]
    fine = np.where(awkward, 0.0, 1 - rules.SHY) * marks[True]
    evades = np.where(awkward, lies * rules.EVADES, rules.SHY)
    return np.vstack([admits, denies + fine, evades])


def _between(edges: np.ndarray, bounds: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """The chance that a uniform price falls between neighbouring edges: shape (cells, k)."""
    low, high = bounds
    below = np.clip((edges - low) / np.maximum(high - low, 1.0), 0, 1)
    below = np.vstack([np.zeros(len(low)), below, np.ones(len(low))])
    return np.diff(below, axis=0)


# The informed optimum -----------------------------------------------------------------------------

GRID = 121  # prices of the exact solution


@dataclass(frozen=True)
class Solution:
    """Values and moves by round, rises so far and standing bid; -1 accepts, -2 walks."""

    prices: np.ndarray
    values: np.ndarray
    moves: np.ndarray


def key_of(stance: Any, quote: int | None) -> str:
    """The pitch that moves this seller; "" if the buyer has none that holds."""
    key = rules.KEYS[stance.type]
    holds = {"outside": quote is not None, "flaw": stance.flaw}.get(key, True)
    return key if holds else ""


def in_bare_prices(instance: Any) -> tuple[Any, frozenset[str], int]:
    """The deal in prices less the cost of its best package, that package, and its cost."""
    values, costs = instance.buyer.get("values", {}), instance.seller.get("costs", {})
    package = frozenset(name for name in values if values[name] > costs[name])
    cost, bonus = amount_of(package, costs), package_gain(instance)
    private = instance.buyer
    private = {
        **private, "reservation": private["reservation"] + bonus, "purse": private["purse"] - cost,
        "bonus": bonus,
    }  # fmt: skip
    return replace(instance, buyer=private), package, cost


def solve(instance: Any, key: str = "") -> Solution:
    """The best play against a known seller whose draws of walking alone are unknown.

    Exact backward induction over rounds, standing bids and rises.
    With a `key`, it is said with the first bid.
    """
    private, s = instance.buyer, instance.seller["stance"]
    chance, last = instance.seller["chance"], s.rounds
    limit, item = private["reservation"], instance.item.list_price
    width, none = limit - s.reservation, float(limit <= s.reservation)
    mood = rules.MOODS[key][s.kind] if key else 0.0
    prices = np.unique(
        np.round(np.append(np.linspace(0, s.opening, GRID), [1, min(limit, s.opening)]))
    )
    n = len(prices)

    def worth(price: np.ndarray, u: int) -> np.ndarray:
        won = grade_at_once(price, limit, width, item)
        return won * np.where(won > 0, rules.share_kept(private, u), 1)

    def asks(u: int) -> np.ndarray:
        if u == 0:
            return np.full(n, float(s.opening))
        return np.minimum(s.opening, rules.ask_at(s, u, prices, chance[u]["early"]))

    counts = np.arange(rules.RISES + 1)[:, None]
    values = np.zeros((last + 2, len(counts), n))
    moves = np.full(values.shape, -2.0)
    values[last + 1] = none * rules.share_kept(private, last)
    grows = prices[:, None] - prices[None, :] >= rules.RISE * s.opening
    for u in range(last, 0, -1):
        leave, before_move, after = none * rules.share_kept(private, u), asks(u - 1), []
        before = np.full(n, rules.LOW_BID * s.opening) if u == 1 else prices
        for count, value in zip(counts, values[u + 1], strict=True):
            least = rules.threshold(s, rules.softness(count), asks(u), mood)
            walk = rules.hazard(s, u, prices[:, None], before[None, :], least[:, None], mood, 0.0)
            go = walk * leave + (1 - walk) * value[:, None]
            # Nobody refuses the price that it asks.
            least = np.minimum(least[:, None], before_move[None, :])
            after.append(np.where(prices[:, None] >= least, worth(prices, u)[:, None], go))
        legal = np.arange(n)[:, None] >= np.arange(n)[None, :]
        legal &= ((prices <= private["purse"]) & (prices > 0))[:, None]
        if u == 1 and key == "cash":
            legal &= (prices >= rules.CASH_FROM * s.opening)[:, None]
        taken = worth(before_move + private.get("bonus", 0), u)
        taken = np.where(before_move > private["purse"], NOTHING, taken)
        for count, stands in enumerate(after):
            rises = after[min(count + 1, len(after) - 1)] if u > 1 else stands
            go = np.where(legal, np.where(grows, rises, stands), NOTHING)
            value, move = go.max(0), prices[go.argmax(0)]
            for code, option in ((-1.0, taken), (-2.0, np.full(n, leave))):
                move = np.where(option > value + 1e-12, code, move)
                value = np.maximum(value, option)
            values[u, count], moves[u, count] = value, move
    return Solution(prices, values, moves)


@dataclass(frozen=True)
class Informed:
    """The oracle: plays the solution of a game whose seller it knows."""

    solution: Solution
    key: str = ""
    package: frozenset[str] = frozenset()  # the best one, of which it knows the seller's cost
    cost: int = 0

    @classmethod
    def of(cls, instance: Any, speaks: bool = True) -> "Informed":
        """The better of saying nothing and of saying the seller's key with the first bid."""
        instance, package, cost = in_bare_prices(instance)
        silent = solve(instance)
        key = key_of(instance.seller["stance"], instance.buyer["quote"]) if speaks else ""
        if key:
            spoken = solve(instance, key)
            if spoken.values[1, 0, 0] > silent.values[1, 0, 0] + 1e-9:
                return cls(spoken, key, package, cost)
        return cls(silent, "", package, cost)

    @property
    def expected(self) -> float:
        """The grade that it expects before the first bid."""
        return float(self.solution.values[1, 0, 0])

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Action:
        bids = [bid - self.cost for bid in obs.table.bids]
        prices, best = self.solution.prices, max(bids, default=0)
        moves = self.solution.moves[obs.round + 1]
        index = min(int(np.searchsorted(prices, best)), len(prices) - 1)
        count = min(rules.rises_in(bids, obs.opening_ask), len(moves) - 1)
        move = moves[count, index]
        if move == -1.0:
            return Accept()
        if move == -2.0:
            return WalkAway()
        price = int(max(1, move, best))
        return Offer(price + self.cost, line_of("" if best else self.key, obs), self.package)
