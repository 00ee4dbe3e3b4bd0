"""The picture that other sites show of a link to the page."""

import io

import pytest
from PIL import Image

from panels.site import card
from panels.ui.html import drawing_names

RESULT = {"task": "bazaar/people", "seed": "50020", "won": "58"}


def test_a_link_to_a_result_has_a_picture_of_its_own_and_any_other_the_pages():
    of_result, of_page = (Image.open(io.BytesIO(card.picture(**values))) for values in (RESULT, {}))
    assert of_result.size == of_page.size == card.SIZE
    assert of_result.tobytes() != of_page.tobytes()
    assert card.link_query(b"tab=haggle&task=bazaar/people&seed=50020&won=58&against=hidden") == (
        "task=bazaar/people&seed=50020&won=58"
    )
    assert card.link_query(b"tab=haggle") == ""


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


@pytest.mark.parametrize(
    "wrong", [{"won": "101"}, {"won": "-1"}, {"won": "٣"}, {"task": "../x"}, {"seed": "1e3"}]
)
def test_what_is_no_result_has_no_picture(wrong):
    with pytest.raises(ValueError, match=r".+"):
        card.of_query(RESULT | wrong)


def test_each_drawing_is_read_whole():
    for name in drawing_names():
        points = [point for line in card.lines_of(name) for point in line]
        assert points
        assert all(0 <= value <= 64 for point in points for value in point), name
