"""The picture that other sites show of a link to the page."""

import io

import pytest
from PIL import Image

from env import WalkAway
from panels.haggle.game_view import face_of
from panels.site import card
from panels.ui.html import drawing, drawing_names
from sauda.records.store import load
from sauda.sessions.arena import start as start_arena
from sauda.sessions.bazaar import answer, start
from sauda.sessions.ladder import LEVELS

RESULT = {"task": "bazaar/people", "seed": "50020", "won": "58"}


def told(query: str) -> str:
    return card.link_of(query.encode()).title


def test_a_link_to_a_result_has_a_picture_of_its_own_and_any_other_the_pages():
    of_result, of_page = (Image.open(io.BytesIO(card.picture(**values))) for values in (RESULT, {}))
    assert of_result.size == of_page.size == card.SIZE
    assert of_result.tobytes() != of_page.tobytes()
    link = card.link_of(b"tab=haggle&task=bazaar/people&seed=50020&won=58&against=hidden")
    assert link.picture == "task=bazaar/people&seed=50020&won=58"
    assert card.link_of(b"tab=haggle") is None


def test_every_end_of_a_game_has_a_title_and_a_picture_that_tell_it():
    level = LEVELS[1]
    raju = f"tab=haggle&task={level.task}&seed={level.seed}&against=hidden"
    titles = [told(f"{raju}&won={won}") for won in ("53", "-18", "none")]
    assert "I took 53%" in titles[0]
    assert "I overpaid. Rajni took 118%." in titles[1]
    assert "No deal." in titles[2]
    pictures = {card.picture(**card.of_query(RESULT | {"won": w})) for w in ("53", "-18", "none")}
    assert len(pictures) == 3


def test_beside_a_result_stands_who_took_the_rest():
    record = load("episodes/duel.json").data.games[0].seed
    assert "Sauda took" in told(f"task=bazaar/people&seed={record}&won=53")
    assert "Sauda took 40%" in told("task=bazaar/customers&seed=50020&against=mini%2Bcandid&won=60")
    assert "Sauda beat me. 61% to 40%" in told("part=people&record=40&sauda=61")


def test_a_person_has_one_face_from_the_first_move_to_the_picture():
    game = start("bazaar/people", "", 50020)
    before = face_of(game)
    while not game.over:
        game = answer(game, WalkAway())
    assert before == face_of(game) == card.face_at("bazaar/people", 50020, card.HIDDEN)
    assert card.face_at(LEVELS[1].task, LEVELS[1].seed, card.HIDDEN) == LEVELS[1].face


def test_the_winner_smiles():
    assert [card.mouths(*shares)[0] for shares in ((0.6, 0.4), (0.4, 0.6))] == ["smile", "wry"]
    assert drawing("hasty", "smile") != drawing("hasty")
    assert drawing("hasty", "smile").count("mouth") == 1


def test_the_pie_has_the_senders_share():
    def indigo(won: str) -> int:
        image = Image.open(io.BytesIO(card.picture(**RESULT | {"won": won}))).convert("RGB")
        pie = image.crop((790, 260, 1050, 520))
        red, green, blue = bytes.fromhex(card.COLOURS["indigo"][1:])
        return sum(
            abs(r - red) + abs(g - green) + abs(b - blue) < 30
            for r, g, b in pie.get_flattened_data()
        )

    assert indigo("25") / indigo("100") == pytest.approx(0.25, abs=0.02)


def test_a_world_of_the_arena_has_a_picture_with_what_its_lab_made_and_could_make_alone():
    world = {"task": "arena/market_round", "seed": "50003", "made": "120.0"}
    alone = start_arena(world["task"], 50003).observation.own.batna
    assert told("&".join(f"{name}={value}" for name, value in world.items())) == (
        f"I made 120.0 credits with an AI lab that makes {alone:.1f} alone. Can you do better?"
    )
    pictures = {card.picture(**card.of_query(world | {"made": m})) for m in ("120.0", "1.0")}
    assert len(pictures) == 2
    for wrong in ({"made": "1e3"}, {"task": "bazaar/people"}):
        with pytest.raises(ValueError, match="no lab makes"):
            card.of_query(world | wrong)


@pytest.mark.parametrize(
    "wrong", [{"won": "101"}, {"won": "-0100"}, {"won": "٣"}, {"task": "../x"}, {"seed": "1e3"}]
)
def test_what_is_no_result_has_no_picture(wrong):
    with pytest.raises(ValueError, match=r".+"):
        card.of_query(RESULT | wrong)


def test_each_drawing_is_read_whole():
    for name in drawing_names():
        points = [point for line in card.lines_of(name) for point in line]
        assert points
        assert all(0 <= value <= 64 for point in points for value in point), name
