"""What a visitor finds on opening the page: a shared game, a new one, who can be chosen and why."""

import json
from dataclasses import replace
from urllib.parse import parse_qsl

import pytest

from env import WalkAway
from panels.haggle.game_view import opponent_badge
from panels.haggle.opponents import (
    ANY_ITEM,
    ANY_SELLER,
    BUY,
    HIDDEN,
    SCRIPTED_BUYERS,
    SELL,
    buyer_models,
    chosen_opponent,
    game_at,
    market_choices,
    new_game,
    opponent_choices,
    opponent_name,
    read_measured,
    selling_task,
    values,
)
from panels.haggle.result import to_query
from panels.haggle.screen import FIRST, PICKS, Screen
from panels.haggle.tab import open_page, open_pickers, read_kept, shared_game
from panels.haggle.words import ENGLISH, HINDI, translator
from sauda.llm.backends import THIS_PAGE
from sauda.llm.server import Loading, Ready
from sauda.players import SERVED, player_spec
from sauda.policies import BUYERS
from sauda.sessions.bazaar import answer, start
from tests.support.cases import rows
from tests.support.haggle import Model, screen_of

BACKENDS = (THIS_PAGE,)
OPENING = {name: getattr(FIRST, name) for name in PICKS}
CHOSEN = OPENING | {"seat": BUY, "market": "bazaar/open-3", "opponent": "firm", "language": HINDI}
IN_ENGLISH = translator(ENGLISH)
SHARED = {"task": "bazaar/sell", "seed": "7", "against": "linear"}


def kept(session: str = "gone", moved: bool = True, **picks: object) -> str:
    return json.dumps({"session": session, "moved": moved, **OPENING, **picks})


def open_tab(screen: Screen, text: str = "", query: dict | None = None) -> dict:
    return open_page(screen, text, query or {}, "a session")


@pytest.fixture(scope="module")
def screen() -> Screen:
    return screen_of(Model())


@pytest.mark.parametrize(
    "text", ["", "null", "7", "[]", "{}", '{"session": 7}', '{"session"', "<b>x</b>", '"x"']
)
def test_what_no_tab_of_ours_kept_is_nothing(text):
    assert read_kept(text, BACKENDS) is None


def test_choices_that_the_page_does_not_have_are_those_it_opens_with():
    odd = {"seat": "x", "market": 5, "opponent": ["mini"], "backend": "mine", "language": "<b>"}
    assert read_kept(kept(**odd), BACKENDS).picks == OPENING
    other = read_kept(kept(seat=BUY, market="bazaar/open-3", opponent="linear"), BACKENDS).picks
    assert (other["market"], other["opponent"]) == ("bazaar/open-3", HIDDEN)


def test_the_first_visit_fills_the_items_alone_and_learns_the_session(screen):
    page, updates = screen.page, open_tab(screen)
    (items,) = open_pickers(screen, updates[page.visit]).values()
    assert items.choices == market_choices(SELL)
    assert updates[page.session] == "a session"
    assert 'id="haggle-problem"></div>' in updates[page.moves]
    assert updates[page.visit].game.opponent == FIRST.opponent


@pytest.mark.parametrize("language", [ENGLISH, HINDI])
def test_a_game_that_is_gone_is_told_with_its_reason_and_the_choices_stay(screen, language):
    page, picks = screen.page, {**CHOSEN, "language": language}
    updates = open_tab(screen, kept(**picks))
    assert translator(language)("gone") in updates[page.moves]
    assert updates[page.visit].game.opponent == "firm"
    drawn = open_pickers(screen, updates[page.visit])
    shown = [drawn[part].value for part in (page.seat, page.market, page.opponent)]
    assert shown == [BUY, "bazaar/open-3", "firm"]
    assert drawn[page.language].value == language


def test_a_shared_game_comes_before_the_one_that_the_tab_kept(screen):
    page, updates = screen.page, open_tab(screen, kept(**CHOSEN), SHARED)
    game = updates[page.visit].game
    assert (game.task_name, game.play.seed, game.opponent) == ("bazaar/sell", 7, "linear")
    assert translator(HINDI)("shared_game") in updates[page.moves]
    drawn = open_pickers(screen, updates[page.visit])
    assert (drawn[page.seat].value, drawn[page.opponent].value) == (SELL, "linear")


def test_a_link_with_the_former_name_of_the_sale_opens_the_same_game(screen):
    former, now = (shared_game(SHARED | more) for more in ({"task": "bazaar/seller_brief"}, {}))
    assert former == now


def test_a_stage_in_a_link_is_loaded_while_a_script_plays():
    screen = screen_of(Model(stage=Loading(THIS_PAGE, 0.0)))
    updates = open_tab(screen, query=SHARED | {"against": "mini"})
    game = updates[screen.page.visit].game
    assert (game.stands_in_for, game.opponent) == ("mini", "tit_for_tat")
    assert "waking up" in updates[screen.page.brief]


@pytest.mark.parametrize("row", rows("bad_links.csv"), ids=lambda row: " ".join(row.values()))
def test_a_link_to_no_game_or_to_one_of_the_former_market_is_told_and_the_choices_stay(screen, row):
    said = row.pop("said")
    query = {name: value for name, value in row.items() if value != "-"}
    page, updates = screen.page, open_tab(screen, kept(**CHOSEN), query)
    assert translator(HINDI)(said) in updates[page.moves]
    assert "<b>" not in updates[page.moves]
    assert updates[page.visit].game.opponent == CHOSEN["opponent"]
    assert not updates[page.visit].game.over


@pytest.mark.parametrize(
    "choice",
    [
        (SELL, ANY_ITEM, "linear"),
        (SELL, ANY_ITEM, HIDDEN),
        (SELL, "hybrid city bicycle", "mini"),
        (BUY, "bazaar/open-3", HIDDEN),
        (BUY, "bazaar/open-3", "firm"),
        (BUY, "classic/single_deal", HIDDEN),
    ],
)
def test_a_link_opens_the_same_game_for_a_friend_once_it_is_over(choice):
    game = new_game(*choice)
    with pytest.raises(ValueError, match="the seed of a game that still runs"):
        to_query(game)
    again = shared_game(dict(parse_qsl(to_query(answer(game, WalkAway())).removeprefix("?"))))
    assert (again.task_name, again.opponent, again.hidden) == (
        game.task_name, game.opponent, game.hidden
    )  # fmt: skip
    assert again.play.seed == game.play.seed
    assert again.observation.table == game.observation.table
    assert chosen_opponent(again) == choice[2]


@pytest.mark.parametrize(
    ("won", "told"),
    [("53", "took 53%"), ("-18", "lost money"), ("none", "no deal"), ("x", "A shared game")],
)
def test_a_friend_reads_what_the_sender_won(screen, won, told):
    opened = open_tab(screen, query=SHARED | {"won": won})
    assert told in opened[screen.page.moves]


def test_every_stage_is_offered_bare_that_was_measured_by_the_rules_of_the_game():
    offered = values(opponent_choices(SELL, ANY_ITEM))
    assert offered[0] == SERVED
    assert {"mini", "mini+people", HIDDEN, "listener", *BUYERS} <= set(offered)
    for name in buyer_models():
        assert player_spec(name).weights
        assert name in read_measured()


def test_beside_the_opponent_stands_no_figure_of_another_game():
    for name in (*buyer_models(), *SCRIPTED_BUYERS):
        game = start(selling_task(name), name, 3)
        for now in (game, replace(game, play=replace(game.play, forfeit=True))):
            shown = str(opponent_badge(now, Model(stage=Ready(name, name, 1.0)), IN_ENGLISH))
            assert f"<b>{opponent_name(name, IN_ENGLISH)}</b>" in shown
            assert "%" not in shown


def test_a_hidden_opponent_is_named_at_the_end_alone_and_a_link_leads_to_it():
    game = new_game(BUY, "bazaar/open-3", ANY_SELLER)

    name = opponent_name(game.opponent, IN_ENGLISH)
    shown = str(opponent_badge(game, Model(), IN_ENGLISH))
    assert name not in shown
    ended = replace(game, play=replace(game.play, forfeit=True))
    revealed = str(opponent_badge(ended, Model(), IN_ENGLISH))
    assert f"<b>{name}</b>" in revealed
    again = game_at(game.task_name, game.play.seed, chosen_opponent(game))
    assert (again.opponent, again.hidden) == (game.opponent, True)
