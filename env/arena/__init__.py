"""The GPU arena: labs trade GPU time under budgets, deadlines and shocks.

`types.py` holds the values of a market, `actions.py` the fourteen actions, `world.py` draws a
world, `env.py` runs a round by the rules in `rules.py` and lists the tasks. `legal.py` lists what a
lab may do now, `planning.py` finds a lab's best plan, `labs.py` plays the scripted labs,
`reward.py` computes rewards. `pitch.py` finds the claims in a public pitch and checks them,
`judge.py` grades pitches and writes some. `prompt.py` is what a language model reads, with the
options of the planner in `broker.py`.
"""

from .actions import (
    CONDITIONS,
    KINDS,
    LONGEST_MESSAGE,
    Action,
    Kind,
    Malformed,
    action_fault,
    action_from,
)
from .env import ACTIONS_PER_ROUND, SIZES, GpuBudgetNegotiationEnv
from .judge import (
    HONEST,
    JUDGE_MEMORY,
    LIE_PENALTY,
    Decision,
    award,
    decide,
    judge,
    pitch_of,
    usual_strategy,
)
from .labs import (
    CHARACTERS,
    ENERGY_RESERVE,
    SENTENCES,
    SWAY,
    accepts,
    held_out,
    margin,
    purse,
    regard,
    scripted_lab,
)
from .legal import legal_actions, usable_blocks
from .pitch import DIMENSIONS, URGENT_WITHIN, Claim, claims
from .planning import (
    LATE,
    Part,
    Plan,
    best_plan,
    booked_value,
    booking_gain,
    free_blocks,
    hours,
    loss_by_delay,
    offer_gain,
    own_plan,
    pool_dues,
    spare_blocks,
    trade_gain,
    urgent_parts,
)
from .reward import COMPONENTS, PLAN_WEIGHT, TOTAL, Breakdown, episode_rewards, reward, total
from .rules import DEGRADATION, SPIKE, is_requestable, tradable_blocks
from .types import (
    FREE,
    LIVE,
    Block,
    Coalition,
    Job,
    Lab,
    Market,
    Message,
    Observation,
    Offer,
    Own,
    Result,
    Shock,
    State,
    live_hours,
)
from .world import ARCHETYPES, Size, batna_in_surge
