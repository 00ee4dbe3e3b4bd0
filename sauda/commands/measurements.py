"""Commands that measure one property of the games, the policies or the models, as an artifact."""

import argparse
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sauda.commands.console import add_command, interval, save_measured
from sauda.llm.model import CACHE
from sauda.records.store import dumps, load, write

KEEP = "keep what is recorded of language models that are still the same"


def add(commands: Any) -> None:
    """Add the measurements to the commands of `python -m sauda`."""
    parser = add_command(commands, "tournament", tournament)
    parser.add_argument("--buyers", nargs="+", help="by name; with others nothing is saved")
    parser.add_argument("--sellers", nargs="+", help="by name, or MODEL:PERSONA; likewise")
    parser.add_argument("--scenarios", type=int, help="hold-out games a pair; likewise")
    parser.add_argument("--workers", type=int, default=2, help="processes that play")
    parser.add_argument("--keep", action="store_true", help=KEEP)
    parser = add_command(commands, "profile", profile)
    parser.add_argument("players", nargs="*", help="by name; the artifact's, saved, if none")
    parser.add_argument("--endpoint", metavar="URL", help="a server with OpenAI's chat protocol")
    parser.add_argument("--model", metavar="NAME", help="the model to ask for there")
    parser.add_argument("--games", type=int, help="hold-out games, 120 by default")
    parser.add_argument("--states", type=int, help="fixed positions, 400 by default")
    parser.add_argument("--out", metavar="FILE", help="JSON file for the profiles of those named")
    parser.add_argument("--workers", type=int, default=2, help="processes that play scripts")
    parser.add_argument("--keep", action="store_true", help=KEEP)
    parser = add_command(commands, "seller-quality", seller_quality)
    parser.add_argument("--models", default="mini", help="by name, with commas; or null")
    parser.add_argument("--published", type=int, default=10, help="published games a persona")
    parser.add_argument("--hard", type=int, default=3, help="games a persona and hostile buyer")


def tournament(options: argparse.Namespace) -> int:
    """Play the tournament, print ranks and exploitability, and save the default one."""
    from sauda.evaluation.market.tournament.report import Config
    from sauda.evaluation.market.tournament.report import tournament as run

    chosen = {
        name: tuple(value) if isinstance(value, list) else value
        for name in ("buyers", "sellers", "scenarios")
        if (value := getattr(options, name)) is not None
    }
    config = Config(**chosen)
    recorded = load("tournament.json").data.as_json() if options.keep else None
    data = run(config, options.workers, recorded=recorded)
    if not chosen:
        save_measured("tournament.json", asdict(config), data)
    for row in data["ranks"]:
        print(
            f"{row['seat']:6} {row['rank']:3}  {row['player']:16} strength "
            f"{interval(row['strength'])}  share {interval(row['share'])}"
        )
    for row in data["exploitability"]:
        print(
            f"{row['seat']:6} {row['player']:16} most is taken by {row['by']:16} n {row['n']}  "
            f"{interval(row['taken'])}, {interval(row['more'])} more than usual"
        )
    return 0


def profile(options: argparse.Namespace) -> int:
    """Profile the players of the artifact and save it, or those named and print them."""
    from sauda.evaluation.market.profile.report import Config, profiles
    from sauda.llm.types import ReplyError

    if bool(options.endpoint) != bool(options.model):
        raise ValueError("an endpoint needs both --endpoint URL and --model NAME")
    others = [_behind(options.endpoint, options.model)] if options.endpoint else []
    own = not (options.players or others) and options.games is options.states is None
    if own and options.out:
        raise ValueError("--out is for the profiles of named players; the others are an artifact")
    if options.keep and not own:
        raise ValueError("--keep is for the artifact's own profiles; name no others with it")
    config = Config() if own else _profiled(options)
    recorded = _recorded_profiles(asdict(config)) if options.keep else None
    try:
        data = profiles(config, options.workers, others, recorded)
    except ReplyError as error:
        raise ValueError(
            f"{error}; its replies so far are kept, run this again to resume"
        ) from error
    if own:
        save_measured("profiles.json", asdict(config), data)
    if options.out:
        write(Path(options.out), dumps({"config": asdict(config), "data": data}) + "\n")
        print(f"wrote {options.out}")
    for row in data["rows"]:
        _print_profile(row)
    return 0


def _recorded_profiles(config: dict[str, Any]) -> dict[str, Any]:
    """The data of the recorded profiles; ValueError where they are of another size."""
    recorded = load("profiles.json")
    sizes = [name for name in config if name != "players"]
    if any(recorded.config[name] != config[name] for name in sizes):
        raise ValueError(f"the recorded profiles are of another size ({', '.join(sizes)})")
    return recorded.data.as_json()


def _profiled(options: argparse.Namespace) -> Any:
    """The settings for named players, on fewer games or positions where that was asked for."""
    from sauda.evaluation.market.profile.report import Config

    usual = Config()
    games = usual.games if options.games is None else options.games
    states = usual.states if options.states is None else options.states
    players = tuple(options.players) if options.players or options.endpoint else usual.players
    return Config(players, games, min(usual.cues, games), states)


def _behind(url: str, model: str) -> Any:
    """The model behind an endpoint as a player; the token is SAUDA_ENDPOINT_TOKEN."""
    from sauda.evaluation.market.profile.endpoint import behind
    from sauda.llm.backends import Endpoint

    endpoint = Endpoint(url, model, os.environ.get("SAUDA_ENDPOINT_TOKEN"))
    return behind(endpoint, model, CACHE / "profiles")


def _print_profile(row: dict[str, Any]) -> None:
    """One player's profile as a few lines."""
    cues, broken, belief_of = row["cues"], row["compliance"], row["belief"]
    print(f"{row['player']}  n {row['n']}  grade {interval(row['grade'])}")
    if row["of_oracle"]:
        print(f"  share of the oracle's surplus {interval(row['of_oracle'])}")
    for one in row["phases"]:
        print(f"  regret in the {one['phase']:8} n {one['n']:3} {interval(one['regret'])}")
    print(f"  candid signals add {interval(cues['gained'])}, misleading {interval(cues['misled'])}")
    if belief_of:
        print(
            f"  belief: {belief_of['answered']} answers of {belief_of['n']}, score "
            f"{interval(belief_of['score'])}, holds the limit {interval(belief_of['coverage'])}"
        )
    print(
        f"  faults in {broken['moves']:,} moves: {broken['invalid']} invalid, {broken['broken']} "
        f"past its last word, {broken['losses']} at a loss"
    )


def seller_quality(options: argparse.Namespace) -> int:
    """Save the quality of a model's words as a seller and print each criterion."""
    from sauda.evaluation.seller.quality import Config, quality

    models = tuple(dict.fromkeys(name for name in options.models.split(",") if name))
    config = Config(models, options.published, options.hard)
    data = quality(config)
    save_measured("seller_quality.json", asdict(config), data)
    for row in data["rows"]:
        print(f"{row['criterion']}: {row['about']} {row['target']}")
        for side, cell in row["sides"].items():
            met = {True: "meets", False: "FAILS", None: ""}[cell["meets"]]
            print(f"  {side:20} n {cell['n']:4} {cell['of']:6} {interval(cell)}  {met}")
    return 0
