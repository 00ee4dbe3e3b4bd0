"""The names of agents; none may take one of a policy, a model or the project, or a look-alike.

Two names look alike where they have one skeleton: what stays of a name without spaces, marks and
punctuation once its letters and digits are written as the Latin letters that they resemble.
"""

import re
import unicodedata
from functools import cache
from itertools import groupby
from pathlib import Path

from env import TASKS
from sauda.experiments.comparison import STAGES
from sauda.games import game_of, policies_of
from sauda.llm.model import BASES
from sauda.records import read_table

LONGEST_NAME = 40  # characters
MARKS = 3  # on one letter of a name; more are drawn over the lines around, no script needs them
PROJECT = ("sauda", "सौदा")  # also as the first word of a name
OTHERS = ("oracle", "informed oracle", "bound", "human")  # which tables show beside policies
# Letters and what they look like, the upper and the lower case of each script; confusables.txt of
# Unicode TS 39 has many more, of scripts that nobody reads on a leaderboard.
TO_LATIN = {
    ord(one): other
    for row in read_table(Path(__file__).with_name("look_alikes.csv"))
    for one, other in zip(row["letters"], row["latin"], strict=True)
}
# A letter with a stroke, a small capital, a letter in a dark square or of a flag, by its name.
VARIANT = re.compile(
    r"(?:LATIN|NEGATIVE|REGIONAL).* LETTER (?:SMALL CAPITAL |DOTLESS |SCRIPT )?([A-Z])(?: WITH .*)?"
)
NO_WIDTH = dict.fromkeys(map(ord, "\u115f\u1160\u3164\uffa0\u2800"))  # letters that show nothing
SEPARATORS = re.compile(r"[\s!-/:-@\[-`{-~]+")
LEET = str.maketrans("013457$@", "oleastsa")


def check_name(name: str) -> str:
    """The name of an agent as it is stored; ValueError, a sentence, where it cannot be one."""
    name = unicodedata.normalize("NFC", name).strip() if len(name) <= 4 * LONGEST_NAME else ""
    is_name = 0 < len(name) <= LONGEST_NAME and name.isprintable() and name[0].isalnum()
    marks = [unicodedata.category(letter) in ("Mn", "Me") for letter in name]
    runs = (len(list(group)) for is_mark, group in groupby(marks) if is_mark)
    if not is_name or any(length > MARKS for length in runs):
        raise ValueError(
            f"a name has 1 to {LONGEST_NAME} characters on one line, begins with a letter or a"
            f" digit, and has at most {MARKS} marks on one letter"
        )
    if is_reserved(name):
        raise ValueError(
            "this name is one of a policy, a model or the project here, or looks like one; choose"
            " another"
        )
    return name


def is_reserved(name: str) -> bool:
    """Whether a name is one of a policy, a model or the project, or looks like one.

    What follows a taken name and a "+", or the word Sauda, does not make it another name.
    """
    first = next(filter(None, SEPARATORS.split(latin(name).translate(LEET))), "")
    before = unicodedata.normalize("NFKC", name).partition("+")[0]
    is_taken = not {skeleton(name), skeleton(before)}.isdisjoint(reserved_names())
    return is_taken or skeleton(first) in map(skeleton, PROJECT)


def latin(text: str) -> str:
    """A text without marks and in lower case, its letters as the Latin ones that they resemble."""
    text = unicodedata.normalize("NFKD", text).translate(NO_WIDTH)
    text = "".join(each for each in text if unicodedata.category(each) not in ("Mn", "Me", "Cf"))
    for _ in range(2):  # some capitals look otherwise than their small letters
        text = "".join(map(_plain, text.translate(TO_LATIN))).casefold()
    return text


def _plain(letter: str) -> str:
    found = None if letter.isascii() else VARIANT.fullmatch(unicodedata.name(letter, ""))
    return found[1] if found else letter


def skeleton(name: str) -> str:
    """What two names that look alike have in common."""
    read = latin(name).translate(LEET)
    letters = "".join(each for each in read if each.isalnum() or unicodedata.category(each) == "Mc")
    return letters.replace("i", "l").replace("rn", "m").replace("vv", "w")


@cache
def reserved_names() -> frozenset[str]:
    """The skeletons of all names that are taken."""
    names = [*BASES, *STAGES, *PROJECT, *OTHERS]
    for task in TASKS.values():
        names += [*policies_of(task), *game_of(task).columns.slow_policies(task)]
    return frozenset(map(skeleton, names))
