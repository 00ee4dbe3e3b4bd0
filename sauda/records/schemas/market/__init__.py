"""The open market: `measures.py` its optimum, its sellers and beliefs about them, `pilot.py` the
pilot, `tournament.py` who wins against whom and why.
"""

from sauda.records.schemas.market.measures import Manner as Manner
from sauda.records.schemas.market.measures import Market as Market
from sauda.records.schemas.market.measures import SignalRow as SignalRow
