"""Dialogue acts: what an utterance does in a negotiation, such as counter-price(450).

`types.py` holds acts, turns and dialogues, `prices.py` reads amounts in the currency that a text
declares, `parser.py` reads an act from words, `realise.py` words an act and reads it back.
`policy.py` plays a strategy through them. `examples.py` has what a role sees before each of its
turns, `chats.py` a dialogue from one side as the messages of a chat.
"""
