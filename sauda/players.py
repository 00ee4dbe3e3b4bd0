"""Every player once: by name, in words, for which seat, and how it gets its policy.

Scripts, planners and the oracle are named as they are; a model's name is its base, an adapter where
it has one, then what is done to its moves, joined by "+", as in `mini+constrained`. No weights are
read before the first request. `acts(linear)` is the script `linear` that plays through dialogue
acts and words. A buyer that is a model writes its whole move; a model seller's move is decided in
code, and it words it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from env import ARENA_TASKS, MARKETS, Observation, Policy, Task, with_seller_type
from sauda.games import BAZAAR, game_of
from sauda.language.acts import Acts
from sauda.llm import model as llm_model
from sauda.llm.seller import SellerSeat, model_seller, persona_seat, seat_persona
from sauda.llm.turn import PlayerSpec, PromptSeat
from sauda.llm.wrappers import WRAPPERS
from sauda.policies import BUYERS, LABS, SELLERS, SLOW, SLOW_CUSTOMERS, SLOW_PACKAGES, SLOW_PEOPLE
from sauda.policies.bazaar import leave
from sauda.policies.tuned import SEARCHED, Tuned
from sauda.policies.values import play_informed
from sauda.records import read_table

# Names ------------------------------------------------------------------------------------------

OPEN_MARKET = tuple(f"bazaar/{name}" for name in MARKETS)
PEOPLE, CUSTOMERS = "bazaar/people", "bazaar/customers"
LEAVE, TUNED = "leave", "tuned"  # to compare with: no play at all, the best script found by search
BAYESIAN = "bayesian"  # the planner that sees numbers only
LISTENER = "listener"  # the planner that reads and speaks, whose moves SFT learns
ORACLE = "oracle"  # the best response to the very seller that it meets, which it knows
TOLD = "told the seller"  # the planner that knows the seller, in tables
BASE = "mini"
SERVED = f"{BASE}+{llm_model.SAUDA}"  # the stage that is Sauda
SCRIPTS = ("linear", "conceder", "boulware", "tit_for_tat", "wait", "naive")
AUTARKY, BROKER = "autarky", "broker"
PUBLISHED = (  # labs of the published arena
    "rule_based_expert", "greedy_hoarder", "always_accept", "naive_plea", "random", "wait",
)  # fmt: skip
LAB = f"{BASE}+sft-arena"  # the trained lab of the arena that the page plays with


class Stage(NamedTuple):
    """A stage of training, in words, and the one whose adapter it trains further."""

    label: str
    parent: str = ""


_ROWS = {row["stage"]: row for row in read_table(Path(__file__).with_name("stages.csv"))}
STAGES = {name: Stage(row["label"], row["parent"]) for name, row in _ROWS.items()}
METHODS = {  # the method of each stage, by whose name it is drawn
    "distill": "distill",
    **{name.removeprefix("mini+"): row["method"] for name, row in _ROWS.items() if name != BASE},
}
# What each stage is measured on; `sft`, the first step to Sauda, learnt rules that are gone.
MEASURED: Mapping[str, tuple[str, ...]] = {
    name: tuple(row["measured"].split()) for name, row in _ROWS.items() if row["measured"]
}
LAB_STAGES: Mapping[str, Stage] = {
    LAB: Stage("SFT as a lab", BASE),
    "mini+distill-arena": Stage("SFT + distillation as a lab", LAB),
}
ROLES: Mapping[str, Stage] = {  # learnt to word a move, not to choose one
    f"mini+roles-{role}": Stage(f"role model: {role}") for role in ("buyer", "seller", "generalist")
}
SPECIALISTS = {"buyer": "mini+roles-buyer", "seller": "mini+roles-seller"}  # by their own seat
GENERALIST = "mini+roles-generalist"
PLANNERS: Mapping[str, str] = {
    BAYESIAN: "planner on numbers",
    "reader": "planner that reads",
    "speaker": "planner that speaks",
    LISTENER: "planner that reads and speaks",
}
PARTS: Mapping[str, str] = {
    "null": "no model",
    "constrained": "held to legal moves",
    "steering": "published steering",
    "honest": "guard rails on",
    LEAVE: "leaves at once",
    TUNED: "tuned script",
    **PLANNERS,
    ORACLE: "oracle, knows the seller",
    BROKER: "planner lab",
    PUBLISHED[0]: "published expert",
}


def policy_label(name: str) -> str:
    """A policy's name in words: "null+steering" is "no model, published steering".

    The stage that the page serves is Sauda.
    """
    known = {**STAGES, **LAB_STAGES, **ROLES}
    stage = max((s for s in known if f"{name}+".startswith(f"{s}+")), key=len, default="")
    rest = [part for part in name.removeprefix(stage).split("+") if part]
    words = [PARTS.get(part, part.replace("_", " ")) for part in rest]
    label = known[stage].label if stage else ""
    label = f"Sauda ({label})" if stage == SERVED else label
    return ", ".join(filter(None, [label, *words]))


def buyer_name(policy: str) -> str:
    """A player in words, within a sentence: "the planner on numbers", "the planner lab"."""
    label = policy_label(policy)
    return f"the {label}" if policy in (TUNED, *PLANNERS, BROKER, PUBLISHED[0]) else label


def is_off_role(player: str, seat: str) -> bool:
    """Whether a player was trained for the other role than that of its seat, buyer or seller."""
    return seat in SPECIALISTS and player in set(SPECIALISTS.values()) - {SPECIALISTS[seat]}


# Players without a language model ---------------------------------------------------------------


def scripts_of(task: Task) -> Mapping[str, Policy]:
    """The scripts that can take the learner's seat of `task`, by name.

    Leaving at once, to compare with, is for the open market alone, and the tuned script for its
    tasks for which one was searched.
    """
    if task.name in ARENA_TASKS:
        return LABS
    if task.learner == "seller":
        return SELLERS
    if task.name not in (*OPEN_MARKET, PEOPLE):
        return BUYERS
    searched = {TUNED: Tuned(task.name)} if task.name in SEARCHED else {}
    return {**BUYERS, LEAVE: leave, **searched}


def planners_of(task: Task) -> Mapping[str, Policy]:
    """The planners of a game, which are too slow to be compared by default, by name."""
    if task.name in ARENA_TASKS:
        return {}
    if task.learner == "seller":
        return SLOW_CUSTOMERS if task.name == CUSTOMERS else {}
    if task.name == PEOPLE:
        return SLOW_PEOPLE
    return SLOW_PACKAGES if getattr(task.env, "extras", ()) else SLOW


# Language models --------------------------------------------------------------------------------

CONSTRAINED = "constrained"
ACTS = re.compile(r"acts\((.+)\)")  # a scripted policy that plays through language


def is_model(name: str) -> bool:
    """Whether `name` begins with the name of a model."""
    return name.partition("+")[0] in llm_model.BASES


def player_spec(name: str) -> PlayerSpec:
    """The player of that name; ValueError naming the parts that a name may have."""
    model, *parts = name.split("+")
    if model in llm_model.MODELS and parts and llm_model.adapter_folder(parts[0]) is not None:
        weights, parts = f"{model}+{parts[0]}", parts[1:]
    else:
        weights = model
    wrappers = [part for part in parts if part in WRAPPERS]
    rest = [part for part in parts if part not in WRAPPERS]
    if model not in llm_model.BASES or len(wrappers) > 1 or rest not in ([], [CONSTRAINED]):
        raise ValueError(f"no model policy {name!r}; {describe_models()}")
    generate = llm_model.NullModel() if model == llm_model.NULL else llm_model.NamedModel(weights)
    return PlayerSpec(generate, bool(rest), WRAPPERS[wrappers[0]] if wrappers else None)


def describe_models() -> str:
    """The names that a model policy may have, in words."""
    adapters = sorted(
        file.parent.name for file in llm_model.ADAPTERS.glob(f"*/{llm_model.ADAPTER_CONFIG}")
    )
    return (
        f"a model is one of {', '.join(llm_model.BASES)}, then +ADAPTER for an adapter under"
        f" artifacts/adapters ({', '.join(adapters)}), +{CONSTRAINED} for constrained decoding, and"
        f" in the bazaar at most one of {', '.join(f'+{w}' for w in WRAPPERS)}"
    )


def row_name(name: str) -> str:
    """The name in result tables, with base and adapter: "sauda-mini" is "mini+talks"."""
    model, *parts = name.split("+")
    return "+".join(("mini", llm_model.SAUDA, *parts) if model == "sauda-mini" else (model, *parts))


def get_policy(task: Task, name: str) -> Policy:
    """The policy of that name for the learner's seat of `task`, scripted or a language model.

    Raises ValueError naming the policies there are.
    """
    game = game_of(task)
    if is_model(name):
        return player_spec(name).policy(game)
    through_acts = ACTS.fullmatch(name)
    if through_acts and not game.has_wrappers:
        raise ValueError(f"acts are words about a price; the {game.name} is played without them")
    policies = {**scripts_of(task), **planners_of(task)}
    policy = policies.get(through_acts[1] if through_acts else name)
    if policy is None:
        acts = "acts(NAME) for one of them through words; " if game.has_wrappers else ""
        raise ValueError(
            f"no policy {name!r} for the {task.learner} of {task.name}; policies are"
            f" {', '.join(policies)}; {acts}{describe_models()}"
        )
    return Acts(policy) if through_acts else policy


def sit(task: Task, name: str) -> Callable[[int], Policy]:
    """The policy of that name in the game of each seed: only the oracle's knows which one it is.

    Raises ValueError as `get_policy`.
    """
    if name == ORACLE:
        return partial(play_informed, task)
    policy = get_policy(task, name)
    return lambda seed: policy


def against(task: Task, name: str) -> Task:
    """`task` with the policy called `name` in the other seat; "" keeps the task's own opponents.

    Where the learner sells, `name` is a buyer; in the open market a type of seller, or a model that
    sells and its persona, as in "mini:firm". Raises ValueError where there is none of that name, or
    nothing to choose.
    """
    if ":" in name and task.learner != "seller":
        seller = model_seller(name)
        return seat_persona(task, seller.seat.persona, seller)
    if not name:
        return task
    if task.name in ARENA_TASKS:
        raise ValueError(f"the other labs of {task.name} are those that its world draws")
    if task.learner != "seller":
        return with_seller_type(task, name)
    if name not in BUYERS:
        raise ValueError(f"no buyer {name!r} to sell to; buyers are {', '.join(BUYERS)}")
    return replace(task, opponents={**task.opponents, "buyer": BUYERS[name]})


@dataclass(frozen=True)
class BuyerSeat(PromptSeat):
    """A model that buys from a visitor, with its decoding and its wrapper."""

    agent = "buyer"
    knows_limit = True  # its prompt holds it, and its replies might tell it

    def take_seat(self, task: Task) -> Task:
        """`task` with this model in its seat; ValueError where it cannot sit there."""
        if task.learner != "seller":
            raise ValueError(f"a language model that buys is no seller for {task.name}")
        return task

    def preview(self, text: str, obs: Observation) -> str:
        """The readable part of a reply that still grows."""
        return BAZAAR.prompt.preview(text, obs)


def visitor_seat(name: str) -> BuyerSeat | SellerSeat | None:
    """The seat across from a visitor of a model, MODEL:PERSONA for a seller; None for a script.

    Raises ValueError for a persona or a part of a model's name that does not exist.
    """
    if ":" in name:
        return persona_seat(name.partition(":")[2])
    if not is_model(name):
        return None
    player = player_spec(name)
    return BuyerSeat(BAZAAR.prompt, player.constrained, player.wrapper)
