"""Sub-tabs of Haggle that anybody can play in a minute.

`ladder.py` lists the persons of the ladder, whose games are played in Haggle's own chat. `daily.py`
is the bargain of the day and `people.py` a person's five bargains for the record, which stay on the
server; both are bargains as in Haggle (`subtab.py`). `spot.py` is “Spot the trained
one”. All take the games, the chat and the words of Haggle.
"""
