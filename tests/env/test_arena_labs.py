"""The labs of the arena: scripts, what is drawn of them, plans, and what the judge believes."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

from env import ARENA_TASKS, arena, begin, rollout
from env.arena.judge import LIE_PENALTY, STRATEGIES, WEIGHTS
from env.arena.pitch import URGENT_WITHIN
from env.arena.types import Coalition, Message, Offer, State
from tests.support.arena_games import block, job, market, next_round, seen, take
from tests.support.cases import cases

every_archetype = pytest.mark.parametrize("kind", arena.ARCHETYPES)


def world(kind: str = "cooperative", **more) -> arena.State:
    """lab_1 can do its job of 60 with c, and spare d; lab_0 has a block and no job."""
    blocks = [block("a", rounds=3), block("c", lab=1, start=3), block("d", lab=1, start=3)]
    return market(blocks, {1: [job("j1", value=60.0)]}, archetypes={1: kind}, **more)


@every_archetype
def test_a_block_that_can_be_spared_goes_for_the_margin_and_a_needed_one_for_its_worth(kind: str):
    obs = seen(world(kind), 1)
    for asked, worth in ((("d",), 0), (("c", "d"), 58)):  # the job earns 60 for 2 of energy
        price = worth + arena.margin(obs, "lab_0", asked)
        for payment, taken in ((price + 0.01, True), (price - 0.01, False)):
            offer = arena.Offer("o_1", "lab_0", "lab_1", 0, 2, (), asked, payment)
            assert arena.accepts(obs, offer) is taken


def variants(obs: arena.Observation, dice: np.random.Generator) -> Iterator[tuple]:
    """Pairs of offers to the observing lab, the second better for it in one respect."""
    blocks = obs.market.blocks.values()
    live = [b for b in blocks if b.status in ("available", "committed")]
    own_blocks = [b.block_id for b in live if b.owner_lab_id == obs.agent]
    theirs = [b.block_id for b in live if b.owner_lab_id == "lab_0"]
    if obs.agent == "lab_0" or not (own_blocks and theirs):
        return
    gives = tuple(dice.permutation(theirs)[: dice.integers(0, 3)].tolist())
    asks = tuple(dice.permutation(own_blocks)[: dice.integers(0, 3)].tolist())
    paid, wanted = round(60 * dice.random() ** 2, 2), round(40 * dice.random() ** 3, 2)
    base = arena.Offer("o", "lab_0", obs.agent, 0, 9, gives, asks, paid, wanted)
    yield base, base._replace(payment=round(paid + 20 * dice.random(), 2))
    yield base, base._replace(ask=round(wanted * dice.random(), 2))
    yield base, base._replace(requested_blocks=asks[1:])
    more = [b for b in theirs if b not in gives]
    if more:
        yield base, base._replace(offered_blocks=(*gives, more[0]))


def test_a_better_offer_is_never_less_likely_taken():
    dice, counted = np.random.default_rng(1), Counter()
    for name in ("arena/market_round", "arena/coalition_market"):
        task = ARENA_TASKS[name]
        for seed in range(40):
            for turn in rollout(task, arena.scripted_lab, seed).turns:
                obs = turn.observation
                for base, better in variants(obs, dice):
                    taken, taken_too = arena.accepts(obs, base), arena.accepts(obs, better)
                    assert taken_too or not taken, (obs.own.archetype, base, better)
                    gained = arena.offer_gain(obs, better) - arena.offer_gain(obs, base)
                    assert gained >= -1e-9
                    counted[obs.own.archetype, taken, taken_too] += 1
    for kind in arena.ARCHETYPES:  # the test can fail: each archetype took some and not others
        assert counted[kind, True, True] > 20
        assert counted[kind, False, False] > 20
        assert counted[kind, False, True] > 5


@pytest.mark.parametrize(
    ("kind", "text", "lowers"),
    [
        ("cooperative", "This is urgent for us", True),
        ("selfish", "This is urgent for us", False),
        ("deadline_panicked", "We never forget", True),
        ("retaliatory", "We never forget", False),
        ("retaliatory", "Let us be fair", True),
    ],
)
def test_a_message_moves_what_a_seller_wants_in_this_round_and_the_next(kind, text, lowers):
    def wanted(state: arena.State) -> float:
        return arena.margin(seen(state, 1), "lab_0", ("d",))

    quiet = spoken = world(kind, rounds=9)  # no deadline is near enough to panic
    spoken = take(spoken, "send_message", message=text)
    for moved in (True, True, False):
        change = wanted(spoken) - wanted(quiet)
        assert change < 0 if lowers and moved else change > 0 if moved else change == 0
        quiet, spoken = next_round(quiet), next_round(spoken)


@every_archetype
def test_a_seller_holds_out_for_less_as_time_runs_out_and_of_a_lab_with_a_better_name(kind: str):
    state, prices = world(kind, rounds=9), []
    for _ in range(3):
        obs = seen(state, 1)
        prices.append(arena.margin(obs, "lab_0", ("d",)) - arena.margin(obs, "lab_0"))
        trusted = state.market.labs["lab_0"]._replace(reputation=0.8)
        better = state.market._replace(labs={**state.market.labs, "lab_0": trusted})
        known = arena.margin(obs._replace(market=better), "lab_0", ("d",))
        assert known < arena.margin(obs, "lab_0", ("d",))
        state = next_round(state)
    assert prices[0] > prices[1] > prices[2] > 0


def test_first_words_do_not_tell_the_archetype():
    said = {kind: Counter() for kind in arena.ARCHETYPES}
    for seed in range(150):
        state = begin(ARENA_TASKS["arena/coalition_market"], seed).state
        for message in state.market.messages:
            kind = state.private[message.from_lab_id].archetype
            said[kind][message.message.split("b_")[0][:12]] += 1
    shares = {kind: {w: n / said[kind].total() for w, n in said[kind].items()} for kind in said}
    words = {word for counts in said.values() for word in counts}
    best = sum(max(share.get(word, 0.0) for share in shares.values()) for word in words)
    assert best / len(said) < 0.5  # right answers of the best classifier, archetypes equally likely


NUMBERS = {"arena/single_trade": 1, "arena/market_round": 1, "arena/coalition_market": 2}  # of labs


def start(name: str, seed: int) -> arena.State:
    return begin(ARENA_TASKS[name], seed).state


def test_what_one_lab_does_changes_neither_shocks_nor_another_lab_s_luck():
    size = arena.SIZES["arena/coalition_market"]
    fewer = arena.Size(size.labs, size.max_rounds, size.blocks, jobs=1, shocks=size.shocks)
    for seed in range(20):
        one, two = (
            arena.GpuBudgetNegotiationEnv("x", s).reset(np.random.default_rng(seed))
            for s in (size, fewer)
        )
        if len(one.market.labs) == len(two.market.labs):  # other jobs, yet the same fate
            assert one.private["nature"].shocks == two.private["nature"].shocks
            assert one.private["nature"].frail == two.private["nature"].frail
            for lab in one.market.labs:
                assert one.private[lab].chance == two.private[lab].chance


@pytest.mark.parametrize("name", NUMBERS)
def test_only_labs_blocks_and_opening_offers_can_tell_the_seed_of_a_market(name: str):
    opened: dict[int, set] = {}
    for seed in range(50):
        market = start(name, seed).market
        bare = market._replace(labs={}, blocks={}, market_pressure="", offers={}, messages=())
        opened.setdefault(len(market.labs), set()).add(repr(bare))
    assert sum(map(len, opened.values())) == NUMBERS[name]


def test_a_shock_is_announced_in_the_round_before_it_strikes():
    for seed in range(20):
        task = ARENA_TASKS["arena/coalition_market"]
        state, announced = start(task.name, seed), {}
        while state.market.queue:
            announced[state.market.round_index + 1] = state.market.announced
            state = task.env.step(state, arena.Action("wait"))
        struck = {shock.round_index: shock.kind for shock in state.market.shock_history}
        assert struck == {r: kind for r, kind in announced.items() if kind}
        assert "demand_surge" in struck.values()


def by_hand(blocks, jobs, now: int, horizon: int) -> float:
    """The best assignment, by trying them all."""
    best = 0.0
    for serves in product(range(len(jobs) + 1), repeat=len(blocks)):
        total = 0.0
        for index, work in enumerate(jobs):
            assigned = [b for b, to in zip(blocks, serves, strict=True) if to == index]
            added = arena.booking_gain(work, assigned, now, horizon) if assigned else 0.0
            total += -1e9 if added is None else added
        best = max(best, total)
    return best


@pytest.mark.parametrize("now", [0, 2])
def test_the_plan_is_as_good_as_the_best_of_all_assignments(now: int):
    for seed in range(30):
        world = start("arena/coalition_market", seed)
        blocks = list(world.market.blocks.values())[2:7]
        jobs = [*world.private["lab_1"].jobs[:2], world.private["lab_2"].jobs[0]]
        jobs = [work._replace(joint=False) for work in jobs]
        blocks = [b for b in blocks if b.start_round + b.duration > now]
        plan = arena.best_plan(blocks, jobs, now, 9)
        assert plan.gain == pytest.approx(by_hand(blocks, jobs, now, 9))
        used = [b for part in plan.parts for b in part.block_ids]
        assert len(used) == len(set(used))
        assert plan.gain == pytest.approx(sum(part.gain for part in plan.parts))


# The judge of pitches


HOURS = "We need 8 GPU-hours."
DUE = "We have a deadline in round 2."
FIVE = f"{HOURS} {DUE} Our reputation is 0.65. We hold less than an equal share. We are in a pool."


def table() -> arena.State:
    """lab_0: 4 hours, a job of 8 due in round 2, a pool with lab_1; lab_1: 24 hours, a job of 6."""
    blocks = [block("b_0_0"), block("b_1_0", 1, rounds=4, gpus=4), block("b_1_1", 1, rounds=4)]
    jobs = {0: [job("j_0_0", 8, deadline=2)], 1: [job("j_1_0", 6, deadline=4)]}
    state = market(blocks, jobs, labs=3, archetypes={1: "selfish", 2: "deceptive"})
    pool = Coalition("c_1", ("lab_0", "lab_1"), "", 0.5, 0.65, 0, 5, consented=True)
    return with_market(state, coalitions={"c_1": pool})


def with_market(state: arena.State, **fields) -> arena.State:
    return replace(state, market=state.market._replace(**fields))


def with_jobs(state: arena.State, *jobs: arena.Job) -> arena.State:
    own = state.private["lab_0"]._replace(jobs=jobs)
    return replace(state, private={**state.private, "lab_0": own})


def total(text: str, state: arena.State | None = None) -> float:
    return arena.judge(state or table(), "lab_0", text).total


def statuses(text: str, state: arena.State | None = None) -> list[str]:
    return [f.status for f in arena.judge(state or table(), "lab_0", text).findings]


def test_the_points_of_the_findings_add_up_to_the_scores_and_these_to_the_total():
    verdict = arena.judge(table(), "lab_0", f"{FIVE} We need 9 hours.")
    for dimension, score in verdict.scores.items():
        points = [f.points for f in verdict.findings if f.dimension == dimension]
        assert sum(points) == pytest.approx(score)
    assert verdict.lies == 1
    points = sum(verdict.scores.values()) - LIE_PENALTY
    assert verdict.total == pytest.approx(points, abs=1e-4)


def test_the_three_strongest_dimensions_count_and_more_facts_are_not_more_votes():
    verdict = arena.judge(table(), "lab_0", FIVE)
    assert sum(score > 0 for score in verdict.scores.values()) == len(WEIGHTS) == 3
    facts = [f"{fact}." for fact in FIVE.split(". ")]
    three = max(total(" ".join(chosen)) for chosen in combinations(facts, 3))
    assert verdict.total == three
    more = f"{FIVE} Our budget is 100. We have 1 open job. One job is worth 40 credits."
    assert total(more) == three
    assert statuses(f"{HOURS} Our budget is 100.") == ["holds", "outweighed"]


@pytest.mark.parametrize("text", [text for text, _ in cases("pitch_claims.csv", "bound")])
def test_a_true_bound_is_no_lie_and_no_fact(text):
    state = busy()
    assert (total(text, state), statuses(text, state)) == (0.0, ["bound"])
    assert total(f"{text} {HOURS}", state) == total(HOURS, state)  # which is still new


@pytest.mark.parametrize("words", ["Our deadline is close.", "हमारी समय सीमा पास है।"])
def test_a_deadline_is_close_while_it_is_urgent(words):
    state = table()
    for rounds, status in ((1, "holds"), (3, "holds"), (URGENT_WITHIN, "holds"), (7, "false")):
        due = with_jobs(state, job("j_0_0", 8, deadline=rounds))
        assert statuses(words, due) == [status]
        exact = total(f"Our deadline is in {rounds} rounds.", due)
        assert total(words, due) <= exact  # the word says no more than that


def test_a_pitch_that_is_too_long_is_refused_and_not_cut():
    with pytest.raises(ValueError, match="at most 500 characters, not 517"):
        arena.judge(table(), "lab_0", f"{'x' * 500}. {HOURS[:15]}")


@pytest.mark.parametrize("way", sorted({way for _, way in cases("pitch_claims.csv", "same worth")}))
def test_a_true_claim_is_worth_the_same_in_other_words(way):
    said = [text for text, of in cases("pitch_claims.csv", "same worth") if of == way]
    (worth,) = {total(text) for text in said}
    assert worth > 0


WORTHLESS = [
    text for check in ("worthless", "no fact") for text, _ in cases("pitch_claims.csv", check)
]


@pytest.mark.parametrize("text", [*WORTHLESS, "", "A" * 500, "8 " * 250, "\x00\ud800 \u202e"])
def test_words_figures_orders_and_denials_without_a_claim_are_worth_nothing(text):
    verdict = arena.judge(table(), "lab_0", text)
    assert (verdict.total, set(verdict.scores.values())) == (0.0, {0})
    assert "holds" not in [finding.status for finding in verdict.findings]


def test_a_lie_costs_more_than_it_could_have_brought_beside_a_truth():
    assert total(f"{HOURS} We settled 9 trades.") < total(HOURS)
    assert total("We settled 9 trades.") == 0.0


def test_a_fact_told_in_the_last_three_rounds_counts_nothing_in_whatever_words():
    fourth = with_jobs(with_market(table(), round_index=4), job("j_0_0", 8, deadline=5))
    told = Message("lab_0", None, 2, HOURS, "neutral", "pitch")
    later = with_market(fourth, messages=(*fourth.market.messages, told))
    assert total("Our job requires eight hours.", later) == 0.0 < total(HOURS, fourth)
    assert statuses(HOURS, later) == ["repeated"]


def offer(name: str, sender: str, to: str, status: str, payment: float = 0.0, **fields) -> Offer:
    given, requested = fields.get("given", ()), fields.get("requested", ())
    return Offer(name, sender, to, 0, 2, given, requested, payment, status=status)


def busy() -> arena.State:
    """The table with a settled trade, an open offer, a failed block, a done job, a pooled block."""
    state = table()
    blocks = dict(state.market.blocks)
    blocks["b_0_1"] = block("b_0_1", 0)._replace(status="committed")
    blocks["b_0_2"] = block("b_0_2", 0)._replace(status="failed")
    blocks["b_0_3"] = block("b_0_3", 0, reliability=0.1)  # no job can use it
    pool = state.market.coalitions["c_1"]._replace(commitments=("b_0_1",))
    done = job("j_0_9", 2)._replace(on_time=2)
    state = with_jobs(state, *state.private["lab_0"].jobs, done)
    sold = offer("o_1", "lab_0", "lab_1", "accepted", 5.0, given=("b_1_1",))
    bid = offer("o_2", "lab_0", "lab_1", "active", 7.5, requested=("b_1_0",))
    trades = {"closed": {"o_1": sold}, "offers": {"o_2": bid}}
    return with_market(
        state, blocks=blocks, coalitions={"c_1": pool}, market_pressure="high", **trades
    )


@pytest.mark.parametrize(
    ("check", "text", "dimension"),
    [(check, *row) for check in ("holds", "false") for row in cases("pitch_claims.csv", check)],
)
def test_each_kind_of_claim_is_checked_against_the_state(check, text, dimension):
    state = busy()
    band = state.market.labs["lab_0"].public_demand
    figures = {"demand": band, "no_demand": "high" if band != "high" else "low", "hours": 8}
    (finding,) = arena.judge(state, "lab_0", text.format(**figures)).findings
    assert finding.status == check
    assert check == "false" or finding.dimension == dimension


def test_a_verdict_does_not_depend_on_what_others_know_or_nature_holds():
    state = busy()
    blank = State(state.market, dict.fromkeys(state.private) | {"lab_0": state.private["lab_0"]})
    for text in (FIVE, "lab_1 needs 6 GPU-hours.", "They are due in round 4.", "lab_1 is in need."):
        assert arena.judge(state, "lab_0", text) == arena.judge(blank, "lab_0", text)


def test_reputation_parts_equals_and_nothing_else_does():
    state, equal = table(), {"lab_0": "We need 8 hours.", "lab_1": "We need 6 hours."}
    assert arena.decide(state, equal).winner is None
    labs = dict(state.market.labs)
    labs["lab_1"] = labs["lab_1"]._replace(reputation=0.7)
    assert arena.decide(with_market(state, labs=labs), equal).winner == "lab_1"


def test_the_winner_takes_the_pot_and_no_money_is_made():
    pitches = {"lab_0": HOURS, "lab_1": "We need 5 GPU-hours.", "lab_2": "Our reputation is 0.65."}
    state, decision = table(), arena.decide(table(), pitches)
    after = arena.award(state, decision)
    assert (decision.winner, decision.margins["lab_0"]) == ("lab_0", -decision.margins["lab_2"])
    budgets = [after.private[lab].budget for lab in state.market.labs]
    assert budgets == [102.0, 99.0, 99.0]
    for lab in state.market.labs:
        own = after.private[lab]
        assert own.budget == own.started + own.deals
    assert [m.message for m in after.market.messages] == list(pitches.values())


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_has_something_to_say_and_an_unknown_one_is_refused(strategy):
    for lab in (0, 1):
        assert arena.pitch_of(seen(table(), lab), strategy, np.random.default_rng(3))
    with pytest.raises(ValueError, match="no strategy 'shouts'; strategies are "):
        arena.pitch_of(seen(table(), 0), "shouts", np.random.default_rng(3))
