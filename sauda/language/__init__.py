"""Reads what people write while they bargain, in English, Hinglish and Hindi.

`money.py` finds prices with `numerals.py`, `not_prices.py`, `corrections.py` and `markup.py`.
`stances.py` says whether a visitor offers a price or refuses, quotes or supposes it, and
`relative.py` works out "10 % off" and "halfway"; both by tables of phrases, which `cues.py` reads.
`tells.py` finds signals such as urgency with `lexicon.py` (phrases) and `scope.py` (negation,
questions, reports). `acts/` reads what an utterance does and shows dialogues from the side of one
role, `speech/` words moves and answers small talk. `labelled.csv` and `labelled_blind.csv` are the
messages by which the readers are measured.
"""
