"""The patience that a visitor is shown: from public moves alone, and true on average."""

from dataclasses import replace
from statistics import mean

import pytest

from env import Accept, Offer, WalkAway
from sauda.sessions import nerves
from sauda.sessions.bazaar import answer, is_too_late, start

FIRST, SEATS = 60_000, ("buyer", "seller")


def stand_still(seed: int):
    """Each position of a buyer that bids half the opening ask for ever, with the game after it."""
    game = start(nerves.TASK, "", seed)
    price = int(min(game.observation.reservation, 0.55 * game.play.state.table.asks[0]))
    while not game.over:
        after = answer(game, Offer(price))
        yield game, after
        game = after


def left(game) -> bool:
    return isinstance(game.play.turns[-1].action, WalkAway)


def test_bids_that_stand_still_are_left_about_as_often_as_is_told():
    risks, ends = [], []
    for seed in range(FIRST, FIRST + 60):
        for game, after in stand_still(seed):
            if not game.play.state.table.bids or (after.over and not left(after)):
                continue  # a first bid, which nothing stood still before; taken or out of time
            risks.append(nerves.chance_to_leave(game))
            ends.append(left(after))
    assert len(ends) > 40
    assert sum(ends) / len(ends) == pytest.approx(sum(risks) / len(risks), abs=0.15)


@pytest.mark.parametrize("task", [nerves.TASK, "bazaar/customers", "bazaar/open-3"])
def test_a_price_is_taken_and_left_about_as_often_as_is_foretold(task):
    outlooks, ends, none, never = [], [], [], []
    for seed in range(FIRST, FIRST + 40):
        game = start(task, "", seed)
        buyer, seller = (game.play.state.private[seat]["reservation"] for seat in SEATS)
        step, share = (0.1, 0.5) if game.you == "buyer" else (-0.1, 1.3)
        while not (game.over or is_too_late(game.observation)):
            obs, price = game.observation, round(share * game.observation.table.item.list_price)
            belief = nerves.believe_at(task, obs)
            none.append(nerves.chance_of_no_deal(belief, obs))
            never.append(buyer <= seller)
            if not (price < obs.ask if game.you == "buyer" else price > (obs.bid or 0)):
                break
            outlooks.append(nerves.outlook(task, belief, obs, Offer(price)))
            game, share = answer(game, Offer(price)), share + step
            ends.append(type(game.play.turns[-1].action))
    assert len(ends) > 60
    for kind, foretold in ((Accept, "takes"), (WalkAway, "leaves")):
        chances = [getattr(each, foretold) for each in outlooks]
        assert ends.count(kind) / len(ends) == pytest.approx(mean(chances), abs=0.1)
    assert mean(never) == pytest.approx(mean(none), abs=0.1)


def test_a_step_that_hardly_moves_is_small_and_likelier_left_than_a_large_one():
    game = start(nerves.TASK, "", FIRST)
    bid = round(0.6 * game.observation.ask)
    obs = answer(game, Offer(bid)).observation
    belief = nerves.believe_at(nerves.TASK, obs)
    small, large = (
        nerves.outlook(nerves.TASK, belief, obs, Offer(price))
        for price in (bid + 1, round((bid + obs.ask) / 2))
    )
    assert small.is_small > large.is_small
    assert small.leaves > large.leaves
    assert small.takes < large.takes


def test_the_hidden_numbers_of_the_seller_change_nothing():
    game = start(nerves.TASK, "", FIRST)
    hidden = replace(game.play.state.private["seller"]["stance"], patience=2, rival=True)
    other = game.play.state.private | {
        "seller": game.play.state.private["seller"] | {"stance": hidden}
    }
    changed = replace(game, play=replace(game.play, state=replace(game.play.state, private=other)))
    assert nerves.chance_to_leave(changed) == nerves.chance_to_leave(game)


def test_a_seller_that_left_has_its_reason_and_its_chance():
    walks = []
    for seed in range(FIRST, FIRST + 20):
        *_, (_, last) = stand_still(seed)
        walk = nerves.last_walk(last)
        assert (walk is not None) == left(last)
        walks += [walk] if walk else []
    assert {reason for reason, _ in walks} <= {"patience", "rival", "talk"}
    assert all(0 < risk <= 1 for _, risk in walks)


def test_no_chance_is_told_of_a_game_whose_rule_is_not_known():
    game = start("classic/single_deal", "", 5)
    assert not nerves.can_leave(game)
    with pytest.raises(ValueError, match="known rule"):
        nerves.chance_to_leave(game)
