"""What is said in a game beside its moves: small talk, questions back, and the words of a chat.

`visitor_text.py` turns a visitor's text into a move or finds that it is talk; `state.py` keeps the
talk; `asked_back.py` asks about a doubtful move; `conversation.py` makes the chat of moves and
talk, `lines.py` has the market sellers' lines in the visitor's language. `words.py`,
`hinglish.py` and `names.py` hold the words of the page for it, `trouble.py` the mistakes that the
page tells in red.
"""
