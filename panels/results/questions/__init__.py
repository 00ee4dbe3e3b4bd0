"""The questions that Results answers, one module each.

A module holds the verdict in one sentence, one figure, and the details folded below.
"""
