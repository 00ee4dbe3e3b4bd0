"""The prompt of a buyer whose bids may hold extras: what it reads, and how it asks for them."""

import json
import math

import pytest

from env import EXTRAS, Accept, IllegalAction, Offer, advance, begin, get_task, move, rupees
from env import bazaar_prompt as prompt
from sauda.llm.engine import PRICE, SENTENCE

TASK = get_task("bazaar/package")
PAIR = frozenset({"delivery", "later"})


def seen(bids=(), seed=3, agent="buyer"):
    """The observation after these bids, shares of the list price with their extras."""
    play = advance(TASK, TASK.opponents, begin(TASK, seed))
    for share, extras in bids:
        price = round(share * play.state.table.item.list_price)
        bid = Offer(price, "So much.", frozenset(extras))
        play = advance(TASK, TASK.opponents, move(TASK, play, bid))
    assert not play.state.table.past
    return TASK.env.observe(play.state, agent)


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
    obs = seen([(0.3, ["delivery"]), (0.35, ["delivery"]), (0.35, []), (0.35, [])])
    chat = prompt.render(obs)
    assert f"Worth to you: {amounts(obs, 'values')}." in chat[1]["content"]
    replies = [json.loads(m["content"]) for m in chat if m["role"] == "assistant"]
    assert [next(iter(reply)) for reply in replies] == ["raise", "raise", "raise", "hold"]
    assert [reply.get("with") for reply in replies] == [["delivery"], ["delivery"], None, None]
    assert "You raised 3, held 1. Your last bid 35. Limit" in chat[-1]["content"]
    assert "Your last bid 30 with delivery." in chat[3]["content"]


def test_a_seller_reads_the_extras_of_a_bid_and_what_they_cost():
    obs = seen([(0.3, PAIR)], agent="seller")
    told = "\n".join(message["content"] for message in prompt.render(obs))
    assert f"Bid {prompt.percent_of(obs, obs.bid)} with delivery, later." in told
    assert f"Cost to you: {amounts(obs, 'costs')}." in told


def test_to_hold_is_the_last_bid_again_with_its_extras():
    obs = seen([(0.4, ["delivery"]), (0.35, ["warranty"])])
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
    task = get_task("bazaar/people")
    obs = task.env.observe(advance(task, task.opponents, begin(task, 3)).state, "buyer")
    with pytest.raises(IllegalAction, match="a bid here is a price alone"):
        prompt.parse('{"raise":45,"with":["delivery"]}', obs)
    assert "with" not in json.dumps(prompt.schema(obs))


def test_the_schema_offers_every_package_and_any_price_for_another():
    obs = seen([(0.4, ["delivery"]), (0.35, ["warranty"])])
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
