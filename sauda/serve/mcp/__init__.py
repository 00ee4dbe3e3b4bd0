"""Both games for an agent that connects by MCP and plays as a visitor does.

`room.py` keeps the games under way, each under an id that only its player knows. `moves.py` holds
the tools that make a move, `lookups.py` those that only read, `records.py` what they read of the
artifacts. `server.py` answers the protocol.
"""
