"""The prompt of a buyer that speaks freely, with extras too: what it reads, says, is refused."""

import json
import math

import pytest

from env import (
    EXTRAS,
    Accept,
    IllegalAction,
    Offer,
    WalkAway,
    advance,
    begin,
    get_task,
    move,
    rupees,
)
from env import bazaar_prompt as prompt
from sauda.llm.engine import PRICE, SENTENCE

PEOPLE, PACKAGE = get_task("bazaar/people"), get_task("bazaar/package")
PAIR = frozenset({"delivery", "later"})


def seen(task=PACKAGE, bids=(), seed=3, agent="buyer"):
    """The observation after these bids, shares of the list price with their extras."""
    play = advance(task, task.opponents, begin(task, seed))
    for share, extras in bids:
        price = round(share * play.state.table.item.list_price)
        bid = Offer(price, "So much.", frozenset(extras))
        play = advance(task, task.opponents, move(task, play, bid))
    return task.env.observe(play.state, agent)


@pytest.mark.parametrize(
    ("reply", "share", "words"),
    [
        ('{"raise":45,"say":"I can do #."}', 0.45, "I can do {bid}."),
        ('{"raise":45}', 0.45, ""),
        ('{"offer":45,"say":"Take it."}', 0.45, "Take it."),
    ],
)
def test_a_bid_is_said_in_rupees(reply, share, words):
    obs = seen(PEOPLE)
    made = prompt.parse(reply, obs)
    price = obs.priced(share * obs.table.item.list_price)
    assert made == Offer(price, words.format(bid=rupees(price)))
    assert prompt.parse(prompt.completion(made, obs), obs) == made


def test_to_hold_is_the_best_bid_again_and_needs_one():
    bid = [(0.3, ())]
    with pytest.raises(IllegalAction, match="there is none yet"):
        prompt.parse('{"hold":40}', seen(PEOPLE))
    seed = next(s for s in range(60) if seen(PEOPLE, bid, s).table.past == ())
    obs = seen(PEOPLE, bid, seed)
    made = prompt.parse('{"hold":99,"say":"Still #."}', obs)
    assert made == Offer(obs.bid, f"Still {rupees(obs.bid)}.")
    assert json.loads(prompt.completion(made, obs)) == {
        "hold": prompt.percent_of(obs, obs.bid), "say": "Still #."
    }  # fmt: skip
    assert "raised 1, held 0" in prompt.render(obs)[-1]["content"]


def test_the_price_of_another_shop_is_said_where_it_is_known():
    views = [seen(PEOPLE, seed=seed) for seed in range(40)]
    known, unknown = (
        next(obs for obs in views if (obs.own["quote"] is None) is hidden)
        for hidden in (False, True)
    )
    reply = '{"raise":45,"say":"It is @ next door."}'
    assert rupees(known.own["quote"]) in prompt.parse(reply, known).message
    assert not any(map(str.isdigit, prompt.parse(reply, unknown).message))


def test_another_price_in_a_sentence_is_left_for_a_fault():
    made = prompt.parse('{"raise":45,"say":"Not 99 but #"}', seen(PEOPLE))
    assert made.message.startswith("Not 99")


def test_taking_and_leaving_may_be_said():
    obs = seen(PEOPLE)
    assert isinstance(prompt.parse('{"walk":true,"say":"Bye."}', obs), WalkAway)
    taken = prompt.parse('{"accept":true,"say":"Fine, #."}', obs)
    assert taken == Accept(f"Fine, {rupees(obs.ask)}.")


def test_the_schema_holds_the_moves_that_there_are():
    moves = {next(iter(m["properties"])) for m in prompt.schema(seen(PEOPLE))["anyOf"]}
    assert {"raise", "walk"} <= moves
    assert "hold" not in moves


# With extras


def amounts(obs, whose):
    """What the extras are worth or cost, in percent, as the prompt tells it."""
    percents = ((name, 100 * obs.own[whose][name] / prompt.unit(obs)) for name in EXTRAS)
    return ", ".join(f"{name} {math.floor(percent)}" for name, percent in percents)


@pytest.mark.parametrize(
    "reply",
    [
        '{"raise":45,"with":["later","delivery"],"say":"Both, at #?"}',
        '{"action":"offer","price":45,"extras":["delivery","later"],"message":"Both, at #?"}',
    ],
)
def test_a_bid_names_its_extras(reply):
    obs = seen()
    made = prompt.parse(reply, obs)
    assert (made.price, made.extras) == (round(0.45 * obs.table.item.list_price), PAIR)
    assert prompt.completion(made, obs) == (
        '{"raise":45,"with":["delivery","later"],"say":"Both, at #?"}'
    )


def test_the_extras_of_a_growing_reply_are_shown():
    obs = seen()
    shown = prompt.preview('{"raise":45,"with":["later","delivery"],"say":"Both', obs)
    assert shown == f"{rupees(round(0.45 * obs.table.item.list_price))} with later, delivery Both"


def test_it_reads_the_worth_of_extras_and_its_bids():
    obs = seen(PACKAGE, [(0.3, ["delivery"]), (0.35, ["delivery"]), (0.35, []), (0.35, [])])
    chat = prompt.render(obs)
    assert f"Worth to you: {amounts(obs, 'values')}." in chat[1]["content"]
    replies = [json.loads(m["content"]) for m in chat if m["role"] == "assistant"]
    assert [next(iter(reply)) for reply in replies] == ["raise", "raise", "raise", "hold"]
    assert [reply.get("with") for reply in replies] == [["delivery"], ["delivery"], None, None]
    assert "You raised 3, held 1. Your last bid 35. Limit" in chat[-1]["content"]
    assert "Your last bid 30 with delivery." in chat[3]["content"]


def test_a_seller_reads_the_extras_of_a_bid_and_what_they_cost():
    obs = seen(PACKAGE, [(0.3, PAIR)], agent="seller")
    told = "\n".join(message["content"] for message in prompt.render(obs))
    assert f"Bid {prompt.percent_of(obs, obs.bid)} with delivery, later." in told
    assert f"Cost to you: {amounts(obs, 'costs')}." in told


def test_to_hold_is_the_last_bid_again_with_its_extras():
    obs = seen(PACKAGE, [(0.4, ["delivery"]), (0.35, ["warranty"])])
    held = prompt.parse('{"hold":99,"say":"Still #."}', obs)
    assert held == Offer(obs.table.bids[-1], held.message, frozenset({"warranty"}))
    assert prompt.parse(prompt.completion(held, obs), obs) == held


def test_a_bid_at_the_ask_with_extras_is_no_acceptance():
    obs = seen()
    ask = prompt.percent_of(obs, obs.ask)
    assert prompt.parse(f'{{"raise":{ask}}}', obs) == Accept()
    made = prompt.parse(f'{{"raise":{ask},"with":["later"]}}', obs)
    assert made == Offer(obs.ask, "", frozenset({"later"}))


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ('{"raise":45,"with":["gift"]}', "a list of delivery, warranty, later"),
        ('{"raise":45,"with":"delivery"}', "a list of delivery, warranty, later"),
        ('{"raise":45,"with":[["delivery"]]}', "a list of delivery, warranty, later"),
        ('{"accept":true,"with":["delivery"]}', "only a bid with a price has extras"),
    ],
)
def test_bad_extras_get_one_clear_sentence(reply, why):
    with pytest.raises(IllegalAction, match=why):
        prompt.parse(reply, seen())


def test_where_no_extras_can_be_had_none_are_taken():
    obs = seen(PEOPLE)
    with pytest.raises(IllegalAction, match="a bid here is a price alone"):
        prompt.parse('{"raise":45,"with":["delivery"]}', obs)
    assert "with" not in json.dumps(prompt.schema(obs))


def test_the_schema_offers_every_package_and_any_price_for_another():
    obs = seen(PACKAGE, [(0.4, ["delivery"]), (0.35, ["warranty"])])
    moves = {next(iter(m["properties"])): m["properties"] for m in prompt.schema(obs)["anyOf"]}
    assert len(moves["raise"]["with"]["enum"]) == 7
    assert list(moves["raise"]) == ["raise", "with", "say"]
    assert moves["raise"]["raise"]["minimum"] == 1
    assert moves["hold"]["hold"] == {"const": 35}


def test_the_engine_knows_where_its_price_and_its_sentence_are():
    made = Offer(round(0.45 * seen().table.item.list_price), "Now?", PAIR)
    reply = prompt.completion(made, seen())
    assert PRICE.search(reply[: reply.index("45") + 1])[1] == "4"
    assert SENTENCE.search(reply[: reply.index("Now")])
    assert not SENTENCE.search(reply[: reply.index("say")])
