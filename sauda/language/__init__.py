"""Reads and writes what people say while they bargain, in English, Hinglish and Hindi.

`heard.py` is the way in: all that a text of a person says at a table. It asks the others:
`env/language/` finds prices, `env.ear` hears claims and questions, `stances.py` says whether a
visitor offers a price or refuses, quotes or supposes it, and works out "10 % off" and "halfway",
and `small_talk.py` answers a text that makes no move, by the words that `phrases.py` finds.
`tells.py` finds signals such as urgency with the phrases of `lexicon.csv`. `acts.py` reads what an
utterance does and shows dialogues from the side of one role. `lines.py` holds what is said, also
the open market's lines in another language, and `spoken.py` puts moves into words.
`labelled.csv` and `labelled_blind.csv` are the messages by which the readers are measured.
"""

from pathlib import Path

from sauda.records import read_table


def read_rows(file: str) -> list[dict[str, str]]:
    """The rows of a CSV file beside this one."""
    return read_table(Path(__file__).with_name(file))
