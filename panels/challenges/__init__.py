"""Sub-tabs of Haggle that anybody can play in a minute: `daily/` and `spot/`.

Both take the games, the chat and the words of Haggle; neither keeps anything on the server.
"""
