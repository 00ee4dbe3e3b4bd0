"""Sub-tabs of Haggle that anybody can play in a minute: `daily/`, `people/` and `spot/`.

All take the games, the chat and the words of Haggle; `people/` keeps its games on the server.
"""
