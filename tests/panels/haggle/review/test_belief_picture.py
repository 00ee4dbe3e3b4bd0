"""The picture of a belief on the Haggle tab: it shows no more than the numbers hold."""

import re
from dataclasses import replace

import numpy as np
import pytest

from env import SELLER_TYPES, get_task, rollout, rupees
from panels.haggle.review import belief_picture as picture
from panels.haggle.words import ENGLISH, HINDI, translator
from sauda.policies.belief import Belief, belief_buyer, believe

SAY = translator(ENGLISH)


@pytest.fixture(scope="module")
def beliefs() -> list[Belief]:
    played = rollout(get_task("bazaar/open"), belief_buyer, 1)
    return [believe(turn.observation.table) for turn in played.trajectory("buyer")]


def test_a_picture_has_a_hill_for_each_belief_and_a_bar_for_each_type(beliefs):
    first, change = (
        str(picture.belief_picture(*two, SAY)) for two in ((None, beliefs[0]), beliefs[:2])
    )
    assert first.count("<polygon") == 1
    assert change.count("<polygon") == 2
    assert [shown.count("<rect") for shown in (first, change)] == [
        len(SELLER_TYPES),
        2 * len(SELLER_TYPES),
    ]
    assert all(name in change for name in SELLER_TYPES)
    assert "dashed" in change
    assert "dashed" not in first


def test_a_picture_stays_within_its_frame(beliefs):
    for pair in ((None, beliefs[0]), (beliefs[0], beliefs[-1]), (beliefs[-1], beliefs[-1])):
        shown = str(picture.belief_picture(*pair, SAY))
        assert "nan" not in shown
        points = re.findall(
            r"([-\d.]+),([-\d.]+)", " ".join(re.findall(r'points="([^"]+)"', shown))
        )
        x, y = np.array(points, float).T
        assert x.min() >= 0
        assert x.max() <= picture.WIDTH == 320
        assert 0 <= y.min() < y.max() <= picture.HILL


def test_the_sentence_of_a_picture_says_price_and_type(beliefs):
    sentence = picture.picture_sentence(beliefs[-1], SAY)
    assert rupees(round(float(beliefs[-1].quantile(0.5)))) in sentence
    types = beliefs[-1].types()
    assert f"a {max(types, key=types.get)} seller" in sentence
    assert sentence in str(picture.belief_picture(None, beliefs[-1], SAY))


def test_a_belief_in_one_price_can_be_drawn(beliefs):
    sure = replace(beliefs[-1], weights=np.eye(len(beliefs[-1].weights))[0])
    assert "nan" not in str(picture.belief_picture(beliefs[0], sure, SAY))
    assert "nan" not in str(picture.belief_picture(None, sure, SAY))


def test_in_hindi_a_picture_has_no_latin_letter(beliefs):
    shown = str(picture.belief_picture(*beliefs[:2], translator(HINDI)))
    label = re.search('aria-label="([^"]+)"', shown).group(1)
    assert not re.search("[A-Za-z]", " ".join([label, *re.findall(">([^<]*)<", shown)]))
