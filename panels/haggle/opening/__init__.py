"""Which game a visitor finds on opening the page.

`link.py` is the game that an address names, `kept.py` what the browser's tab keeps over a reload,
`open_callbacks.py` chooses between them and a new game.
"""
