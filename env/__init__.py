"""The games: rules, tasks and scripted opponents. Needs numpy and nothing else.

`core.py` holds the types that every game shares, `rollout.py` plays episodes, `tasks.py` lists the
tasks by name. `bazaar/` is bargaining over one item, `arena/` the market of GPU time.
`amounts.py` holds formulas that both use, `language/` finds prices in text. Each game has its
prompt for language models, `bazaar/prompt.py` and `arena/prompt.py`; `chat.py` is a game by chat,
`fingerprint.py` tells by play whether two rows mean the same game. What is imported here is the
whole public interface; the arena's names stand under `env.arena`, those of the open market under
`env.market` and `env.speech`; names of the prompts, the broker, fingerprints and `language/` are
taken from their modules.
"""

from . import arena, fingerprint
from .amounts import conceded, group_digits, rupees, zopa_width
from .arena import prompt as arena_prompt
from .bazaar import corpus, customers, ear, market, people, speech
from .bazaar import prompt as bazaar_prompt
from .bazaar.classic import aggressive, classic_seller, naive, rule_based, smart
from .bazaar.market import MARKETS, TYPES, with_seller_type
from .bazaar.rules import Bazaar, amount_of, count_bids, package_gain, shares, standing_offer
from .bazaar.sale import TimeDependent, bonus
from .bazaar.types import (
    CATALOGUE,
    EXTRAS,
    Accept,
    Deal,
    Instance,
    Item,
    Move,
    Observation,
    Offer,
    Table,
    Tells,
    WalkAway,
)
from .chat import ChatGame, new_chat, seed_of
from .core import EndReason, Env, Episode, IllegalAction, Policy, Task, Turn, refuse_constant
from .rollout import (
    Play,
    advance,
    agent_stream,
    begin,
    episode,
    instance_stream,
    move,
    next_stream,
    rollout,
)
from .tasks import ARENA_TASKS, BAZAAR_TASKS, TASKS, get_task, prompt_of
