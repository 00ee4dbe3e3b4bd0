"""The open market as a whole: its draws, grades, memory, and what words and manner give away."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from env import (
    Accept,
    EndReason,
    Episode,
    IllegalAction,
    Instance,
    Item,
    Observation,
    Offer,
    Policy,
    WalkAway,
    rollout,
    shares,
    task,
)
from env.bazaar.market import draw
from env.bazaar.sellers import CLAIMS, RIVAL_HURRY, claim_at
from sauda.policies import BUYERS
from sauda.policies.bazaar import boulware, conceder, linear

OPEN, CAREER, BLUFF = (task(f"bazaar/{name}") for name in ("open", "career", "bluff"))
PUBLISHED = {"rule_based", "smart", "aggressive", "naive"}


# Draws


@pytest.fixture(scope="module")
def instances() -> list[Instance]:
    return [draw("open", np.random.default_rng(seed))[0] for seed in range(2000)]


def test_one_episode_in_ten_has_no_zopa(instances: list[Instance]):
    crossed = [i.buyer["reservation"] <= i.seller["reservation"] for i in instances]
    assert 0.08 < np.mean(crossed) < 0.12


def test_what_the_buyer_would_pay_tells_nothing_of_the_ask_or_the_floor(instances: list[Instance]):
    def by_list_price(prices: list[float]) -> np.ndarray:
        return np.array(prices) / [i.item.list_price for i in instances]

    limit = by_list_price([i.buyer["reservation"] for i in instances])
    opening = by_list_price([i.seller["stance"].opening for i in instances])
    floor = by_list_price([i.seller["reservation"] for i in instances])
    assert abs(np.corrcoef(limit, opening)[0, 1]) < 0.06  # 2000 draws: 0.022 is one deviation
    assert abs(np.corrcoef(limit, floor)[0, 1]) < 0.06
    assert abs(np.corrcoef(opening, floor)[0, 1]) < 0.06


@pytest.mark.parametrize("name", ["open", "rushed", "bluff", "career", "crowd"])
def test_two_buyers_at_one_seed_meet_the_same_market(name: str):
    here = task(f"bazaar/{name}")
    for seed in range(20):
        one, other = rollout(here, linear, seed), rollout(here, boulware, seed)
        assert one.final.private["nature"] == other.final.private["nature"]
        assert one.turns[:1] == other.turns[:1]


# Grades, by hand: list price 1000, the seller must get 500, a round keeps nine tenths


def ended(*moves: Any, limit: int = 900, deadline: int | None = None, purse: int = 1500) -> Any:
    """The state after these moves, the seller's first; a number is an ask or a bid."""
    own = {"reservation": limit, "discount": 0.9, "deadline": deadline, "purse": purse}
    item = Item("brass oil lamp", "Decor", "new", 1000)
    instance = Instance(item, own, {"reservation": 500}, rounds=8)
    env = replace(OPEN.env, draw=lambda rng: (instance,), manner=None)
    state = env.reset(np.random.default_rng(0))
    for move in moves:
        state = env.step(state, Offer(move) if isinstance(move, int) else move)
    return state


def grade(*moves: Any, **setting: Any) -> float:
    return OPEN.grade(ended(*moves, **setting))


def test_a_deal_is_graded_by_its_discounted_share_of_the_zopa():
    assert grade(700, Accept()) == pytest.approx(200 / 400)
    assert grade(1000, 600, 800, Accept()) == pytest.approx(0.9 * 100 / 400)
    assert grade(1000, 600, 800, 700, Accept()) == pytest.approx(0.9 * 200 / 400)
    payoffs = OPEN.env.payoffs(ended(1000, 600, 800, Accept()))
    assert payoffs == {"buyer": pytest.approx(90), "seller": 300}


def test_no_deal_is_worth_nothing_where_one_could_be_made():
    assert grade(1000, WalkAway()) == 0
    assert grade(1000, 600, 900, WalkAway()) == 0


def test_to_leave_is_right_where_no_deal_could_be_made_the_sooner_the_better():
    assert grade(1000, WalkAway(), limit=450) == 1
    assert grade(1000, 300, 900, WalkAway(), limit=450) == pytest.approx(0.9)
    assert grade(1000, 300, 900, 300, WalkAway(), limit=450) == pytest.approx(0.9)
    assert OPEN.env.payoffs(ended(1000, WalkAway(), limit=450)) == {"buyer": 0, "seller": 0}


def test_a_deal_at_a_loss_is_worse_than_leaving():
    assert grade(1000, Accept()) == pytest.approx(-100 / 1000)
    assert grade(700, Accept(), limit=450) == pytest.approx(-250 / 1000)
    assert OPEN.env.payoffs(ended(700, Accept(), limit=450))["buyer"] == -250
    assert grade(9000, Accept(), purse=9000) == -1


def test_past_the_deadline_nothing_is_worth_anything():
    assert grade(1000, 600, 700, Accept(), deadline=2) == pytest.approx(0.9 * 200 / 400)
    assert grade(1000, 600, 700, Accept(), deadline=1) == 0
    assert grade(1000, 300, 900, WalkAway(), limit=450, deadline=1) == 0


# Money


def test_a_buyer_may_pay_more_than_a_thing_is_worth_to_it_but_not_more_than_its_purse():
    assert ended(1200, 950).table.bids == (950,)
    with pytest.raises(IllegalAction, match="the budget is ₹940, and ₹950 is more"):
        ended(1200, 950, purse=940)
    with pytest.raises(IllegalAction, match="the budget is ₹940, and ₹1,000 is more"):
        ended(1000, Accept(), purse=940)


def test_a_budget_is_what_the_purse_and_reason_both_allow():
    def budget(**setting: int) -> float:
        return OPEN.env.observe(ended(1000, **setting), "buyer").budget

    assert (budget(limit=900), budget(limit=900, purse=300)) == (900, 300)


def test_the_purse_of_a_career_holds_what_earlier_deals_left():
    for seed in range(20):
        game = rollout(CAREER, linear, seed)
        first = game.turns[1].observation.own["purse"]
        for turn in game.trajectory("buyer"):
            spent = sum(deal.price or 0 for deal in turn.observation.table.past)
            assert turn.observation.own["purse"] == first - spent >= 0


@pytest.mark.parametrize("name", sorted(set(BUYERS) - PUBLISHED))
def test_our_buyers_never_forfeit_or_lose_even_with_an_empty_purse(name: str):
    def bare(rng: np.random.Generator) -> tuple[Instance, ...]:
        purse = int(rng.integers(0, 4))
        return tuple(replace(i, buyer={**i.buyer, "purse": purse}) for i in draw("career", rng))

    poor = replace(CAREER, env=replace(CAREER.env, draw=bare))
    for here in (CAREER, poor):
        for seed in range(30):
            game = rollout(here, BUYERS[name], seed)
            assert game.end is not EndReason.FORFEIT, game.turns[-1].error
            assert game.payoffs["buyer"] >= 0


# Memory


def ample(rng: np.random.Generator) -> tuple[Instance, ...]:
    """Deals of a career whose purse never binds, so that memory alone can tell two apart."""
    return tuple(replace(i, buyer={**i.buyer, "purse": 10**9}) for i in draw("career", rng))


def soft(obs: Observation, rng: np.random.Generator) -> Accept | Offer:
    """As `naive`, whatever the thing is worth to it."""
    share = (0.8, 0.85, None)[min(obs.round, 2)]
    return Accept() if share is None else Offer(max(1, round(share * obs.opening_ask)))


def later_shares(first_five: Policy, then: Policy, seed: int) -> float:
    """Mean share of the ZOPA that `then` wins in deals 6 to 10, where they have one."""

    def changing(obs: Observation, rng: np.random.Generator) -> Any:
        return (first_five if len(obs.table.past) < 5 else then)(obs, rng)

    rich = replace(CAREER, env=replace(CAREER.env, draw=ample))
    final = rollout(rich, changing, seed).final
    late = list(zip(shares(final, "buyer"), final.private["nature"], strict=True))[5:]
    won = [s for s, i in late if i.buyer["reservation"] > i.seller["reservation"]]
    return float(np.mean(won)) if won else 0.0


@pytest.mark.parametrize("then", [linear, conceder, boulware])
def test_a_soft_history_costs_a_twentieth_of_the_zopa_later(then: Policy):
    lost = [later_shares(boulware, then, s) - later_shares(soft, then, s) for s in range(200)]
    error = np.std(lost, ddof=1) / np.sqrt(len(lost))
    print(f"a soft history costs {np.mean(lost):.3f} of the ZOPA, standard error {error:.3f}")
    assert np.mean(lost) > 0.05


# What words and manner give away

WORDS = {
    "rival": "coming for it|Another buyer",
    "final": "last price|not a rupee less",
    "urgent": "decide now|little time",
}


def fitted(features: np.ndarray, target: np.ndarray, unseen: np.ndarray) -> np.ndarray:
    """What least squares with a constant predicts for the `unseen` rows."""
    weights, *_ = np.linalg.lstsq(np.c_[np.ones(len(features)), features], target, rcond=None)
    return np.c_[np.ones(len(unseen)), unseen] @ weights


def r2_out_of_sample(features: np.ndarray, target: np.ndarray) -> float:
    """Of a fit to the first half, on the second."""
    half = len(target) // 2
    error = target[half:] - fitted(features[:half], target[:half], features[half:])
    return 1 - (error**2).sum() / ((target[half:] - target[half:].mean()) ** 2).sum()


def partial_r2(cue: np.ndarray, public: np.ndarray, cause: np.ndarray) -> float:
    """Share of what `public` and its products leave open about `cause` that `cue` explains."""
    pairs = [public[:, i] * public[:, j] for i in range(public.shape[1]) for j in range(i + 1)]
    public = np.column_stack([public, *pairs])
    without = cause - fitted(public, cause, public)
    both = np.c_[public, cue]
    return 1 - ((cause - fitted(both, cause, both)) ** 2).sum() / (without**2).sum()


def listened(game: Episode) -> tuple[list[float], list[float], float]:
    """What a game's prices say, what its words say, and the floor, by the list price."""
    table, list_price = game.final.table, game.final.table.item.list_price
    agreed = float(game.end is EndReason.AGREEMENT)  # public, whatever is said with it
    prices = [table.asks[0] / list_price, table.asks[-1] / list_price, table.round, agreed]
    said = [move.action.message for move in table.moves if move.agent == "seller"]
    words = [float(any(re.search(claim, text) for text in said)) for claim in WORDS.values()]
    words += [float(bool(re.search(claim, said[-1]))) for claim in WORDS.values()]
    words += [float("worth more" in said[0])]
    return prices, words, game.final.private["nature"][0].seller["reservation"] / list_price


def test_words_give_the_floor_away_no_more_than_prices_do():
    heard = [listened(rollout(OPEN, linear, seed)) for seed in range(1500)]
    prices, words, floor = (np.array(column) for column in zip(*heard, strict=True))
    alone, with_text = (r2_out_of_sample(f, floor) for f in (prices, np.c_[prices, words]))
    print(f"R2 of the floor from prices {alone:.3f}, with text {with_text:.3f}")
    assert with_text < alone + 0.02
    assert alone < 0.9  # prices do not give it away either


@pytest.fixture(scope="module")
def manners() -> dict[str, np.ndarray]:
    """Every counter-offer of 400 games of bazaar/bluff: public history, causes and cues."""
    rows: dict[str, list[Any]] = {
        key: [] for key in ("public", "bluffing", "urgency", "near", "cue", "haste", "fidget")
    }
    for seed in range(400):
        game = rollout(BLUFF, linear, seed)
        table, own = game.final.table, game.final.private["seller"]
        here, opening = own["stance"], own["stance"].opening
        replies = [move for move in table.moves[2:] if move.agent == "seller"]
        for t, reply in enumerate(replies, start=1):
            if not isinstance(reply.action, Offer):
                continue
            claim, true = claim_at(own, t)
            ask, before, bid = table.asks[t], table.asks[t - 1], table.bids[t - 1]
            prices = [opening / table.item.list_price, ask / opening, bid / opening]
            said = [float(claim == kind) for kind in CLAIMS]
            rows["public"].append([t / table.rounds, *prices, (before - ask) / opening, *said])
            rows["bluffing"].append(float(bool(claim) and not true))
            hurry = RIVAL_HURRY if here.rival else 1.0
            rows["urgency"].append(hurry * here.type.impatience)
            rows["near"].append(1 - (ask - here.reservation) / (opening - here.reservation))
            rows["cue"].append(reply.tells.verbal_deception_cue)
            rows["haste"].append(reply.tells.verbal_urgency)
            rows["fidget"].append(reply.tells.fidget_level)
    return {key: np.array(column) for key, column in rows.items()}


@pytest.mark.parametrize(
    ("cue", "cause"), [("cue", "bluffing"), ("haste", "urgency"), ("fidget", "near")]
)
def test_manner_tells_what_prices_and_words_do_not(manners, cue: str, cause: str):
    explained = partial_r2(manners[cue], manners["public"], manners[cause])
    print(f"partial R2 of {cue} for {cause}: {explained:.3f}")
    assert explained > 0.05
