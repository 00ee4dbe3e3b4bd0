"""Policies by name: scripted ones and language models, such as `mini+constrained` or `mini+honest`.

A model's name is its base, an adapter where it has one, then what is done to its moves, joined by
"+". No weights are read before the first request. `acts(linear)` is the scripted policy `linear`
that plays through dialogue acts and words. A buyer that is a model writes its whole move; a model
seller's move is decided in code, and it words it. `models_behind` and what follows say what an
artifact records of the language models that played, and what is still the same.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache, partial
from types import MappingProxyType
from typing import Any, NamedTuple

from env import Observation, Policy, Task, get_task
from env.fingerprint import fingerprint, of_parser, positions
from sauda.games import BAZAAR, GAMES, game_of
from sauda.games.adapter import Game
from sauda.language.acts import Acts
from sauda.llm.model import (
    ADAPTER_CONFIG,
    ADAPTERS,
    BASES,
    MODELS,
    NULL,
    SAUDA,
    Model,
    NamedModel,
    NullModel,
    adapter_folder,
    load_once,
)
from sauda.llm.seller import SellerSeat, model_seller, persona_seat, seat_persona
from sauda.llm.turn import PlayerSpec, PromptSeat
from sauda.llm.wrappers import WRAPPERS

CONSTRAINED = "constrained"
ACTS = re.compile(r"acts\((.+)\)")  # a scripted policy that plays through language


def is_model(name: str) -> bool:
    """Whether `name` begins with the name of a model."""
    return name.partition("+")[0] in BASES


def player_spec(name: str) -> PlayerSpec:
    """The player of that name; ValueError naming the parts that a name may have."""
    model, *parts = name.split("+")
    if model in MODELS and parts and adapter_folder(parts[0]) is not None:
        weights, parts = f"{model}+{parts[0]}", parts[1:]
    else:
        weights = model
    wrappers = [part for part in parts if part in WRAPPERS]
    rest = [part for part in parts if part not in WRAPPERS]
    if model not in BASES or len(wrappers) > 1 or rest not in ([], [CONSTRAINED]):
        raise ValueError(f"no model policy {name!r}; {describe_models()}")
    generate = NullModel() if model == NULL else NamedModel(weights)
    return PlayerSpec(generate, bool(rest), WRAPPERS[wrappers[0]] if wrappers else None)


def describe_models() -> str:
    """The names that a model policy may have, in words."""
    adapters = sorted(file.parent.name for file in ADAPTERS.glob(f"*/{ADAPTER_CONFIG}"))
    return (
        f"a model is one of {', '.join(BASES)}, then +ADAPTER for an adapter under"
        f" artifacts/adapters ({', '.join(adapters)}), +{CONSTRAINED} for constrained decoding, and"
        f" in the bazaar at most one of {', '.join(f'+{w}' for w in WRAPPERS)}"
    )


def row_name(name: str) -> str:
    """The name in result tables, with base and adapter: "sauda-mini" is "mini+grpo"."""
    model, *parts = name.split("+")
    return "+".join(("mini", SAUDA, *parts) if model == "sauda-mini" else (model, *parts))


def get_policy(task: Task, name: str) -> Policy:
    """The policy of that name for the learner's seat of `task`, scripted or a language model.

    Raises ValueError naming the policies there are.
    """
    game = game_of(task)
    if is_model(name):
        return player_spec(name).policy(game)
    if ACTS.fullmatch(name) and not game.has_wrappers:
        raise ValueError(f"acts are words about a price; the {game.name} is played without them")
    policies = {**game.columns.policies(task), **game.columns.slow_policies(task)}
    policy = script(policies, name)
    if policy is None:
        through_acts = "acts(NAME) for one of them through words; " if game.has_wrappers else ""
        raise ValueError(
            f"no policy {name!r} for the {task.learner} of {task.name}; policies are"
            f" {', '.join(policies)}; {through_acts}{describe_models()}"
        )
    return policy


def script(policies: Mapping[str, Policy], name: str) -> Policy | None:
    """The policy called `name`, for "acts(linear)" the one called "linear" through language.

    None where `policies` has none of that name.
    """
    through_acts = ACTS.fullmatch(name)
    policy = policies.get(through_acts[1] if through_acts else name)
    return Acts(policy) if through_acts and policy is not None else policy


def against(task: Task, name: str) -> Task:
    """`task` with the policy called `name` in the other seat; "" keeps the task's own opponents.

    `name` is what the game's `against` takes, or a model that sells and its persona, as in
    "mini:firm". Raises ValueError where there is none of that name, or nothing to choose.
    """
    if ":" in name and task.learner != "seller":
        seller = model_seller(name)
        return seat_persona(task, seller.seat.persona, seller)
    return game_of(task).columns.against(task, name)


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


# What an artifact records of the models that played.

OR = " or "  # between the kinds of CPU that played a model's games


class Played(NamedTuple):
    """Games of a model in an artifact that keeps some of an earlier one's."""

    weights: str  # its name
    kept: bool  # whether some are the earlier artifact's
    new: bool  # whether some were played now


def models_behind(policies: Iterable[str], game: Game) -> dict[str, Any]:
    """The weights that each policy used, and the fingerprints of prompt and parser."""
    names = {player_spec(policy).weights for policy in policies if is_model(policy)} - {""}
    return {name: model_source(load_once(name), game) for name in sorted(names)}


def model_source(model: Model, game: Game) -> dict[str, Any]:
    """What an artifact records of a model: its weights, sampling, prompt and parser."""
    return {
        "source": model.source,
        "origin": model.origin,
        "sha256": model.sha256,
        "cpu": model.cpu,
        **prompt_hashes(game.name),
        "sampling": asdict(model.decoder.sampling),
    }


def is_same_player(then: Mapping[str, Any] | None, now: Mapping[str, Any]) -> bool:
    """Whether weights, sampling, prompt and parser of two ModelSources are the same, on any CPU."""
    return then is not None and {**then, "cpu": now["cpu"]} == now


# The tasks whose positions a game's prompt and parser are fingerprinted at; none when one is added.
READ = {
    "bazaar": (
        "bazaar/open",
        "bazaar/rushed",
        "bazaar/sell",
        "classic/amazon_realistic",
        "classic/career_10",
        "classic/marketplace_arena",
    ),
    "people": ("bazaar/people",),  # of the bazaar, for a buyer that speaks freely
    "arena": ("arena/market_round", "arena/coalition_market"),
}


@cache
def prompt_hashes(game_name: str) -> Mapping[str, str]:
    """The fingerprints of a game's prompt, a key of READ, and of the parser of its replies."""
    prompt = GAMES.get(game_name, BAZAAR).prompt
    seen = [obs for task_name in READ[game_name] for obs in positions(get_task(task_name))]
    rendered = fingerprint([prompt.render(obs) for obs in seen])
    return MappingProxyType({"prompt": rendered, "parser": of_parser(prompt.parse, seen)})


bazaar_prompt, people_prompt, arena_prompt = (partial(prompt_hashes, name) for name in READ)


def kinds_of_cpu(source_cpu: str) -> list[str]:
    """The kinds of CPU that a ModelSource names; none for a GPU."""
    return source_cpu.split(OR) if source_cpu else []


def with_cpus(
    now: Mapping[str, Any], then: Mapping[str, Any], games: Iterable[Played]
) -> dict[str, Any]:
    """The ModelSources of `now`, each with all kinds of CPU that played its games."""
    cpus: dict[str, set[str]] = {name: set() for name in now}
    for played in games:
        if played.kept:
            cpus[played.weights] |= set(kinds_of_cpu(then[played.weights]["cpu"]))
        if played.new:
            cpus[played.weights].add(now[played.weights]["cpu"])
    return {name: source | {"cpu": OR.join(sorted(cpus[name]))} for name, source in now.items()}
