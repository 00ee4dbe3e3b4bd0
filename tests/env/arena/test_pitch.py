"""The judge counts what the state bears out, once, and nothing else."""

from dataclasses import replace

import numpy as np
import pytest

from env import arena
from env.arena.judge import FULL_MARKS, LIE_PENALTY, STRATEGIES
from env.arena.types import Coalition, Message, Offer, State
from tests.support.arena_games import block, job, market, seen
from tests.support.cases import cases

HOURS = "We need 8 GPU-hours."
DUE = "We have a deadline in round 2."
FIVE = f"{HOURS} {DUE} Our reputation is 0.65. We hold less than an equal share. We are in a pool."


def table() -> arena.State:
    """lab_0: 4 hours, a job of 8 due in round 2, a pool with lab_1; lab_1: 24 hours, a job of 6."""
    blocks = [block("b_0_0"), block("b_1_0", 1, rounds=4, gpus=4), block("b_1_1", 1, rounds=4)]
    jobs = {0: [job("j_0", 8, deadline=2)], 1: [job("j_1", 6, deadline=4)]}
    state = market(blocks, jobs, labs=3, archetypes={1: "selfish", 2: "deceptive"})
    pool = Coalition("c_1", ("lab_0", "lab_1"), "", 0.5, 0.65, 0, 5, consented=True)
    return with_market(state, coalitions={"c_1": pool})


def with_market(state: arena.State, **fields) -> arena.State:
    return replace(state, market=state.market._replace(**fields))


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
    assert verdict.total == pytest.approx(points / FULL_MARKS, abs=1e-4)


@pytest.mark.parametrize("way", sorted({way for _, way in cases("pitch_claims.csv", "same worth")}))
def test_a_true_claim_is_worth_the_same_in_other_words(way):
    said = [text for text, of in cases("pitch_claims.csv", "same worth") if of == way]
    (worth,) = {total(text) for text in said}
    assert worth > 0


WORTHLESS = [
    text for check in ("worthless", "no fact") for text, _ in cases("pitch_claims.csv", check)
]


@pytest.mark.parametrize(
    "text", [*WORTHLESS, "", "A" * 100_000, "8 " * 50_000, "\x00\ud800 \u202e"]
)
def test_words_figures_orders_and_denials_without_a_claim_are_worth_nothing(text):
    verdict = arena.judge(table(), "lab_0", text)
    assert (verdict.total, set(verdict.scores.values())) == (0.0, {0})
    assert "holds" not in [finding.status for finding in verdict.findings]


def test_what_is_said_of_another_lab_neither_counts_nor_is_checked():
    true, false = "lab_1 needs 6 GPU-hours.", "lab_1 needs 7 GPU-hours."
    verdicts = [arena.judge(table(), "lab_0", text) for text in (true, false)]
    assert [v.total for v in verdicts] == [0.0, 0.0]
    assert [[f.status for f in v.findings] for v in verdicts] == [["other"], ["other"]]
    assert verdicts[0].findings[0].reason == verdicts[1].findings[0].reason.replace("7", "6")


def test_a_lie_costs_more_than_it_could_have_brought_beside_a_truth():
    assert total(f"{HOURS} We settled 9 trades.") < total(HOURS)
    assert total("We settled 9 trades.") == 0.0
    assert statuses("Our reputation is 1.0.") == ["false"]


def test_a_fact_told_in_the_last_three_rounds_counts_nothing_in_whatever_words():
    state = with_market(table(), round_index=4)
    own = state.private["lab_0"]._replace(jobs=(job("j_0", 8, deadline=5),))
    fourth = State(state.market, {**state.private, "lab_0": own})
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
    done = job("j_9", 2)._replace(on_time=2)
    own = state.private["lab_0"]._replace(jobs=(*state.private["lab_0"].jobs, done))
    state = State(state.market, {**state.private, "lab_0": own})
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


PITCHES = {"lab_0": HOURS, "lab_1": "We need 5 GPU-hours.", "lab_2": "Our reputation is 0.65."}


def test_reputation_parts_equals_and_nothing_else_does():
    state, equal = table(), {"lab_0": "We need 8 hours.", "lab_1": "We need 6 hours."}
    assert arena.decide(state, equal).winner is None
    labs = dict(state.market.labs)
    labs["lab_1"] = labs["lab_1"]._replace(reputation=0.7)
    assert arena.decide(with_market(state, labs=labs), equal).winner == "lab_1"


def test_the_winner_takes_the_pot_and_no_money_is_made():
    state, decision = table(), arena.decide(table(), PITCHES)
    after = arena.award(state, decision)
    assert (decision.winner, decision.margins["lab_0"]) == ("lab_0", -decision.margins["lab_2"])
    budgets = [after.private[lab].budget for lab in state.market.labs]
    assert budgets == [102.0, 99.0, 99.0]
    for lab in state.market.labs:
        own = after.private[lab]
        assert own.budget == own.started + own.deals
    assert [m.message for m in after.market.messages] == list(PITCHES.values())


def test_a_claim_about_a_named_job_is_checked_against_that_job():
    blocks = [block("b_0_0"), block("b_1_0", 1)]
    jobs = {
        0: [job("j_0_0", 3, deadline=4), job("j_0_1", 8, deadline=2)],
        1: [job("j_1_0", 6, deadline=3)],
    }
    state = market(blocks, jobs, labs=2)
    for name, hours, due, found in (
        ("j_0_0", 3, "", ["holds"]), ("j_0_1", 3, "", ["false"]), ("j_0_9", 3, "", ["false"]),
        ("j_1_0", 6, "", ["other"]), ("j_0_1", 8, " and is due in 2 rounds", ["holds", "holds"]),
        ("j_0_0", 3, " and is due in 2 rounds", ["holds", "false"]),
    ):  # fmt: skip
        assert statuses(f"Our job {name} needs {hours} GPU-hours{due}.", state) == found


@pytest.mark.parametrize("lab", ["lab_1", "lab_9", "nobody", ""])
@pytest.mark.parametrize(
    "bid", ["1.2.3", "...", "9.", "9" * 400, "0", "nan", "1e308", "-4", "٩", ""]
)
def test_a_claimed_rival_bid_is_checked_whatever_it_says(bid: str, lab: str):
    for name in ("b_0_0", "b_1_0", "b_9_9", ""):
        words = f"Another lab has bid {bid} for {name}. {lab} has bid {bid} for {name}."
        assert 0 <= arena.judge(table(), "lab_0", words).total <= 1


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_has_something_to_say(strategy):
    for lab in (0, 1):
        assert arena.pitch_of(seen(table(), lab), strategy, np.random.default_rng(3))


def test_an_unknown_strategy_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="no strategy 'shouts'; strategies are "):
        arena.pitch_of(seen(table(), 0), "shouts", np.random.default_rng(3))
