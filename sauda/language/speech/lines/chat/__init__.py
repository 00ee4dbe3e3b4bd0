"""Lines that the chat says beside those of `LINES`, one module a language.

The shipped dialogues are worded from `LINES` alone, so those stay as they are. "rise", "stuck"
and "over" are situations of the chat alone: the other side came a long way, it named its price
again, no round is left to take the price in.
`CLAIMS` are the claims of a seller whose own words are not said, by kind.
"""
