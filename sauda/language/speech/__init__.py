"""Words for decided moves and answers to small talk, for both seats, in three languages.

`spoken.py` picks and checks the line of a move, `situations.py` says what the line reacts to,
`retold.py` decides which words of the other side a chat says, `small_talk.py` classifies a text
that makes no move by the words of `kinds.py` and answers it. `lines.py` holds what is said,
`items.py` the Hindi names of the goods, `translated.py` the lines of scripted sellers in the
visitor's language. All of it reads the public table alone: no limit, no seed.
"""
