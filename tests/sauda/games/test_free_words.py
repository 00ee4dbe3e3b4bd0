"""The prompt of a buyer that speaks freely: its form, its words, what is refused."""

import json

import pytest

from env import Accept, IllegalAction, Offer, WalkAway, advance, begin, get_task, move, rupees
from env import bazaar_prompt as prompt

TASK = get_task("bazaar/people")


def first(seed=3, bids=()):
    """The buyer's observation after these bids, in shares of the list price."""
    play = advance(TASK, TASK.opponents, begin(TASK, seed))
    for share in bids:
        price = round(share * play.state.table.item.list_price)
        play = advance(TASK, TASK.opponents, move(TASK, play, Offer(price, "So much.")))
    return TASK.env.observe(play.state, "buyer")


@pytest.mark.parametrize(
    ("reply", "share", "words"),
    [
        ('{"raise":45,"say":"I can do #."}', 0.45, "I can do {bid}."),
        ('{"raise":45}', 0.45, ""),
        ('{"offer":45,"say":"Take it."}', 0.45, "Take it."),
    ],
)
def test_a_bid_is_said_in_rupees(reply, share, words):
    obs = first()
    made = prompt.parse(reply, obs)
    price = obs.priced(share * obs.table.item.list_price)
    assert made == Offer(price, words.format(bid=rupees(price)))
    assert prompt.parse(prompt.completion(made, obs), obs) == made


def test_to_hold_is_the_best_bid_again_and_needs_one():
    with pytest.raises(IllegalAction, match="there is none yet"):
        prompt.parse('{"hold":40}', first())
    seed = next(s for s in range(60) if first(s, (0.3,)).table.past == ())
    obs = first(seed, (0.3,))
    made = prompt.parse('{"hold":99,"say":"Still #."}', obs)
    assert made == Offer(obs.bid, f"Still {rupees(obs.bid)}.")
    assert json.loads(prompt.completion(made, obs)) == {
        "hold": prompt.percent_of(obs, obs.bid), "say": "Still #."
    }  # fmt: skip
    assert "raised 1, held 0" in prompt.render(obs)[-1]["content"]


def test_the_price_of_another_shop_is_said_where_it_is_known():
    seeds = range(40)
    known = next(first(s) for s in seeds if first(s).own["quote"] is not None)
    unknown = next(first(s) for s in seeds if first(s).own["quote"] is None)
    reply = '{"raise":45,"say":"It is @ next door."}'
    assert rupees(known.own["quote"]) in prompt.parse(reply, known).message
    assert not any(map(str.isdigit, prompt.parse(reply, unknown).message))


def test_another_price_in_a_sentence_is_left_for_a_fault():
    assert prompt.parse('{"raise":45,"say":"Not 99 but #"}', first()).message.startswith("Not 99")


def test_taking_and_leaving_may_be_said():
    obs = first()
    assert isinstance(prompt.parse('{"walk":true,"say":"Bye."}', obs), WalkAway)
    assert prompt.parse('{"accept":true,"say":"Fine, #."}', obs) == Accept(
        f"Fine, {rupees(obs.ask)}."
    )


def test_the_schema_holds_the_moves_that_there_are():
    moves = {next(iter(m["properties"])) for m in prompt.schema(first())["anyOf"]}
    assert {"raise", "walk"} <= moves
    assert "hold" not in moves
