"""GPU arena: the visitor plays `lab_0`, or lets a script or a language model act for it.

`tab.py` places a component per region and answers each move with a new `Visit`. `offers.py` and
`view.py` draw a game by `templates/arena.html`, in the words of `words.py`. `players.py` lists who
can act.
"""
