"""The search for the best line against a seeded opponent, beside every line there is."""

from dataclasses import replace

import pytest

from env import (
    Accept,
    Bazaar,
    IllegalAction,
    Instance,
    Item,
    Offer,
    Play,
    Task,
    WalkAway,
    advance,
    begin,
    get_task,
    move,
    rollout,
)
from sauda.policies import BUYERS
from sauda.sessions.bazaar import answer, start
from sauda.sessions.search import Search, Worth, closed, worth


def small_sale(buyer, rounds: int = 2) -> Task:
    """Selling for at least ₹9 to `buyer`, who pays at most ₹14 for what is listed at ₹12."""
    deal = Instance(
        Item("tin cup", "Kitchenware", "good", 12),
        buyer={"reservation": 14},
        seller={"reservation": 9},
    )
    env = Bazaar(draw=lambda rng: (deal,), rounds=rounds)
    return replace(get_task("bazaar/seller_brief"), env=env, opponents={"buyer": buyer})


def best_of_all(task: Task, play: Play, prices: range) -> Worth:
    """The most that any line of acceptance, walking away and whole `prices` earns."""
    deal, before = len(play.state.table.past), worth(task, play)

    def best(position: Play) -> Worth:
        worths = []
        for action in (Accept(), WalkAway(), *map(Offer, prices)):
            asks = position.state.table.asks
            if task.learner == "buyer" and isinstance(action, Offer) and action.price >= asks[-1]:
                continue
            try:
                after = advance(task, task.opponents, move(task, position, action))
            except IllegalAction:
                continue
            ended = closed(task, after, deal)
            worths.append(worth(task, after) - before if ended else best(after))
        return max(worths)

    return best(play)


@pytest.mark.parametrize("buyer", sorted(set(BUYERS) - {"random"}))
def test_against_every_buyer_no_line_of_a_small_sale_earns_more_than_the_one_found(buyer):
    task = small_sale(BUYERS[buyer])
    play = begin(task, 3)
    assert Search(task).best(play).worth == best_of_all(task, play, range(9, 25))


@pytest.mark.parametrize("seed", [3, 4])
def test_no_line_of_a_small_purchase_earns_more_than_the_one_found(seed):
    game = start("classic/read_the_tells", "", seed)
    for _ in range(4):
        game = answer(game, WalkAway())
    found = Search(game.task).best(game.play)
    assert found.worth == best_of_all(game.task, game.play, range(1, 76))


@pytest.mark.parametrize(
    ("task_name", "opponent"),
    [
        ("bazaar/seller_brief", "linear"),
        ("bazaar/open", ""),
        ("bazaar/rushed", ""),
        ("classic/asymmetric_pressure", ""),
    ],
)
def test_a_line_is_a_game_that_can_be_played_and_earns_what_it_says(task_name, opponent):
    game = start(task_name, opponent, 6)
    line = Search(game.task).best(game.play)
    again = game
    for turn in line.play.turns[line.first :]:
        if turn.agent == game.you:
            if isinstance(turn.action, Offer) and game.you == "buyer":
                assert turn.action.price < again.observation.ask
            again = answer(again, turn.action)
    assert again.over
    assert again.play.turns == line.play.turns
    assert worth(game.task, again.play) == line.worth


@pytest.mark.parametrize("seed", [500, 501])
@pytest.mark.parametrize("task_name", ["bazaar/open", "bazaar/rushed"])
def test_no_scripted_buyer_earns_more_than_the_line_that_is_found(task_name, seed):
    game = start(task_name, "", seed)
    best = Search(game.task).best(game.play).worth.grade
    for name, policy in BUYERS.items():
        assert game.task.grade(rollout(game.task, policy, seed).final) <= best + 1e-9, name


def test_where_no_price_suits_both_the_best_line_is_to_leave_at_once():
    games = (start("bazaar/open", "", seed) for seed in range(100))
    game = next(
        game
        for game in games
        if game.observation.reservation < game.play.state.private["seller"]["reservation"]
    )
    line = Search(game.task).best(game.play)
    assert isinstance(line.action, WalkAway)
    assert line.worth == Worth(1, 0)


def test_a_line_that_the_other_side_forfeits_earns_nothing():
    def breaks_off(obs, rng):
        if obs.ask > 12:
            raise IllegalAction("it lost its temper")
        return Accept()

    task = small_sale(breaks_off)
    lines = list(Search(task).lines(begin(task, 0)))
    forfeits = [line for line in lines if line.play.forfeit]
    assert forfeits
    assert all(line.worth == Worth(0, 0) for line in forfeits)
    assert max(line.worth for line in lines) == Worth(0.6, 3)  # ₹12 of what lies from ₹9 to ₹14


def test_a_deadline_bounds_the_rounds_of_the_best_line():
    game = start("classic/asymmetric_pressure", "", 6)
    (deal,) = Search(game.task).best(game.play).play.state.table.past
    assert deal.rounds <= game.observation.own["deadline"]
