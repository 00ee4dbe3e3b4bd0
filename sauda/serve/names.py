"""The names of agents and people: in one script, and unlike those of policies, models and Sauda.

A name has the letters of Latin or of Devanagari, not both, so that no letter passes for one of
another script. Two names look alike where they have one skeleton: what stays of a name without
spaces, marks and punctuation once each letter is the plain one that it is made from.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import groupby

from env import TASKS
from sauda.llm.model import BASES
from sauda.players import LAB_STAGES, PARTS, STAGES, planners_of, scripts_of

LONGEST_NAME = 40  # characters
MARKS = 3  # on one letter of a name; more are drawn over the lines around, no script needs them
SCRIPTS = ({"LATIN", "COMBINING"}, {"DEVANAGARI"})  # how Unicode's names of their letters begin
WORDS = ("sauda", "सौदा", "oracle", "smollm", "smollm2")  # in no name as a word
OFFICIAL = "official"  # in no name at all
# Whole names: what tables and figures call the rows beside the entries and the players.
ROWS = ("human", "informed oracle", "bound", "bound of what can be won")
MORE = re.compile(r"[+,(]")  # what follows a taken name and one of these makes no other name
# A Latin letter with a stroke, without its dot or as a small capital, by its name in Unicode.
VARIANT = re.compile(
    r"LATIN.* LETTER (?:SMALL CAPITAL |DOTLESS |SCRIPT )?([A-Z]{1,2})(?: WITH .*)?"
)
# Vowels of Devanagari in two parts, which look like one letter.
VOWELS = {"अा": "आ", "आे": "ओ", "आै": "औ", "एे": "ऐ", "ाे": "ो", "ाै": "ौ", "ॏ": "ौ"}
DRAWN = ("VOWEL SIGN", "VIRAMA")  # marks of Devanagari that nobody overlooks
# Between the words of a name: also before a capital after small letters, and around digits.
BETWEEN = re.compile(
    r"[^\w@$|\u0900-\u097f]+|_|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=\d)(?=\D)|(?<=\D)(?=\d)"
)
LEET = str.maketrans("013457$@|", "oleastsal")


def check_name(name: str) -> str:
    """The name of an entry as it is stored; ValueError, a sentence, where it cannot be one."""
    name = unicodedata.normalize("NFKC", name).strip() if len(name) <= 4 * LONGEST_NAME else ""
    is_name = 0 < len(name) <= LONGEST_NAME and name.isprintable() and name[0].isalnum()
    marks = [unicodedata.category(letter) in ("Mn", "Me") for letter in name]
    runs = (len(list(group)) for is_mark, group in groupby(marks) if is_mark)
    if not is_name or any(length > MARKS for length in runs):
        raise ValueError(
            f"a name has 1 to {LONGEST_NAME} characters on one line, begins with a letter or a"
            f" digit, and has at most {MARKS} marks on one letter"
        )
    if not is_of_one_script(name):
        raise ValueError(
            "a name is in the letters of Latin or of Devanagari, not both, with digits and the"
            " punctuation of a keyboard"
        )
    if is_reserved(name):
        raise ValueError(
            "this name is one of a policy, a model or the project here, or looks like one; choose"
            " another"
        )
    return name


def is_of_one_script(name: str) -> bool:
    """Whether the letters of a name are those of Latin, with marks or not, or all of Devanagari."""
    letters = [each for each in name if each.isalpha() or not each.isascii()]
    scripts = {unicodedata.name(each, "").partition(" ")[0] for each in letters}
    is_plain = all(each.isascii() or is_devanagari(each) for each in latin(name).casefold())
    return is_plain and any(scripts <= script for script in SCRIPTS)


def is_devanagari(letter: str) -> bool:
    return unicodedata.name(letter, "").startswith("DEVANAGARI")


def is_reserved(name: str) -> bool:
    """Whether a name is one of a policy, a model or the project, or looks like one."""
    name = unicodedata.normalize("NFKC", name)
    whole = {skeleton(part).removeprefix("the") for part in (name, MORE.split(name)[0])}
    if skeleton(OFFICIAL) in skeleton(name) or not whole.isdisjoint(reserved_names()):
        return True
    return not set(map(skeleton, WORDS)).isdisjoint(map(skeleton, word_runs(name)))


def word_runs(name: str) -> Iterator[str]:
    """Each word of a name, and each two or more that follow each other, written as one."""
    words = list(filter(None, BETWEEN.split(latin(name))))
    for first in range(len(words)):
        for last in range(first + 1, len(words) + 1):
            yield "".join(words[first:last])


def latin(text: str) -> str:
    """A text without marks, but for those that nobody overlooks, each letter of Latin a plain one.

    A letter that no plain one is like stays as it is.
    """
    for parts, letter in VOWELS.items():
        text = text.replace(parts, letter)
    return "".join(map(_plain, filter(_is_drawn, unicodedata.normalize("NFKD", text))))


def _is_drawn(letter: str) -> bool:
    is_mark = unicodedata.category(letter) in ("Mn", "Me", "Cf")
    return not is_mark or any(kind in unicodedata.name(letter, "") for kind in DRAWN)


def _plain(letter: str) -> str:
    variant = None if letter.isascii() else VARIANT.fullmatch(unicodedata.name(letter, ""))
    return variant[1].lower() if variant else letter


def skeleton(name: str) -> str:
    """The canonical form of a name, which is the same for names that look alike."""
    read = latin(name).casefold().translate(LEET)
    letters = "".join(each for each in read if each.isalnum() or is_devanagari(each))
    return letters.replace("i", "l").replace("rn", "m").replace("vv", "w")


@cache
def reserved_names() -> frozenset[str]:
    """The skeletons of all names that are taken."""
    stages = {**STAGES, **LAB_STAGES}
    names = [*BASES, *stages, *WORDS, *ROWS, *PARTS.values()]
    names += [stage.label for stage in stages.values()]
    for task in TASKS.values():
        names += [*scripts_of(task), *planners_of(task)]
    return frozenset(map(skeleton, names))
