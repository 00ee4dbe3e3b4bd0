"""The arena's board: blocks of GPU time in their rounds, and what a press on them does.

`calendar.py` draws the blocks and jobs of all labs, `booking.py` books a job on pressed blocks.
"""
