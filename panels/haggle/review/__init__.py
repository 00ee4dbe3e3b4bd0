"""What the Haggle tab shows of moves that were made: the result, what each cost, what it revealed.

`result_view.py` draws the end of a game, `review_view.py` the cost of every own move and the best
line, which `review_callbacks.py` works out after the end; `review_words.py` holds their words.
`belief_picture.py` draws Sauda's belief before and after a move.
"""
