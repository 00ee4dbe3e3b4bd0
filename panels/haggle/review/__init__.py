"""What the Haggle tab shows of moves that were made: the result, what each cost, what it revealed.

`card.py` is the result card, `result_view.py` what stands below it; `board_callbacks.py` lets the
stages of the language model play the same seed. `review_view.py` draws the cost of every own move,
which `review_callbacks.py` works out after the end. `result_words.py` and `review_words.py` hold
the words.
"""
