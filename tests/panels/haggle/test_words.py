"""The tab's words in its two languages."""

import re

from panels.haggle.words import ENGLISH, HINDI, WORDS


def test_both_languages_say_the_same_keys_with_the_same_places():
    english, hindi = (WORDS[name] for name in (ENGLISH, HINDI))
    assert english.keys() == hindi.keys()
    for key in english:
        assert set(re.findall(r"{(\w+)}", english[key])) == set(re.findall(r"{(\w+)}", hindi[key]))
