"""What an artifact records of the language models that played, and what is still the same."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import cache, partial
from types import MappingProxyType
from typing import Any, NamedTuple

from env import get_task
from sauda.games import GAMES
from sauda.games.adapter import Game
from sauda.llm.model import Model, load_once
from sauda.llm.registry import is_model, player_spec
from sauda.records.fingerprint import fingerprint, of_parser, positions

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
    "arena": ("arena/market_round", "arena/coalition_market"),
}


@cache
def prompt_hashes(game_name: str) -> Mapping[str, str]:
    """The fingerprints of a game's prompt and of the parser of its replies."""
    prompt = GAMES[game_name].prompt
    seen = [obs for task_name in READ[game_name] for obs in positions(get_task(task_name))]
    rendered = fingerprint([prompt.render(obs) for obs in seen])
    return MappingProxyType({"prompt": rendered, "parser": of_parser(prompt.parse, seen)})


bazaar_prompt, arena_prompt = (partial(prompt_hashes, name) for name in READ)


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
