"""The published bazaar game, kept so that published and new numbers can be compared.

`tasks.py` holds its nine tasks with their instances and graders, `seller.py` its seller with four
personalities, `buyers.py` its scripted buyers, `lines.py` what the seller says. The faults that
shape its numbers stay; each is named where it is.
"""
