"""`python -m sauda evaluate`: policies on tasks and seeds, as an artifact."""

import argparse
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from env import ARENA_TASKS, MARKETS, TASKS, get_task
from sauda.commands.console import (
    add_command,
    add_engine_options,
    chosen_engine,
    exit_code,
    interval,
    save_measured,
)
from sauda.games import policies_of
from sauda.records.kinds import entry

FAMILIES = {
    "classic": [name for name in TASKS if name.startswith("classic/")],
    "market": [f"bazaar/{name}" for name in MARKETS],
    "arena": list(ARENA_TASKS),
}


def add(commands: Any) -> None:
    """Add `evaluate` to the commands of `python -m sauda`."""
    parser = add_command(commands, "evaluate", evaluate)
    add_table_options(parser)
    parser.add_argument("--out", default=None, help="artifact to write; by default by the split")
    add_engine_options(parser)


def add_table_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what is evaluated."""
    parser.add_argument(
        "--family", default="classic", choices=FAMILIES, help="tasks, if none named"
    )
    parser.add_argument("--tasks", nargs="+", default=None)
    parser.add_argument("--policies", nargs="+", default=None)
    parser.add_argument("--split", default="train", help="train or holdout seeds")
    parser.add_argument(
        "--episodes", type=int, default=None, help="a task and policy; 1000, in the arena 200"
    )
    parser.add_argument(
        "--baseline",
        default=None,
        help="policy that the others are compared with; by default rule_based in the bazaar and "
        "rule_based_expert in the arena, or the first policy where that one is not evaluated",
    )


def evaluate(options: argparse.Namespace) -> int:
    """Evaluate policies on tasks of one game, save the artifact and print its rows."""
    from sauda.evaluation.evaluate import evaluate as run

    config = config_of(options)
    game = config.game()
    out = _out(options, config, game.name if game.names_others else options.family)

    def measure() -> None:
        if options.engine == "process" and not options.address:
            data = run(config, workers=options.workers)
        else:
            data = _on_engine(config, options)
        save_measured(out, artifact_config(config), data)
        report(config, data)

    return exit_code(measure)


def _on_engine(config: Any, options: argparse.Namespace) -> dict[str, Any]:
    from sauda.cloud.shards import evaluate_on

    with chosen_engine(options) as engine:
        return evaluate_on(engine, config)


def artifact_config(config: Any) -> dict[str, Any]:
    """What the artifact of an evaluation records as its configuration."""
    game = config.game()
    others = {"others": game.others[config.split]} if game.names_others else {}
    return {**asdict(config), **others}


def report(config: Any, data: Mapping[str, Any]) -> None:
    """Print the rows of an evaluation."""
    (_print_arena if config.game().names_others else _print_bazaar)(data)


def _print_bazaar(data: Mapping[str, Any]) -> None:
    for row in data["rows"]:
        share = row["share"]
        print(
            f"{row['task']:30} {row['policy']:12} n {row['n']:5}  share {share['mean']:.4f} "
            f"[{share['low']:.4f}, {share['high']:.4f}]  grade {row['grade']['mean']:.4f}  "
            f"deals {row['deal_rate']:.3f}  rounds {row['rounds']:.2f}"
        )


def _print_arena(data: Mapping[str, Any]) -> None:
    for row in data["rows"]:
        print(
            f"{row['others']:18} {row['task']:22} {row['policy']:18} n {row['n']}  "
            f"utility {row['utility']['mean']:7.2f}  grade {interval(row['grade'])}  "
            f"reward {interval(row['reward'])}  valid {row['valid']:.3f}  "
            f"jobs {row['jobs']['mean']:.2f} of {row['jobs_had']:.2f}  "
            f"r {interval(row['correlation'])}"
        )
    for row in data["correlations"]:
        print(f"{row['others']:18} {row['task']:22} r {interval(row['correlation'])} n {row['n']}")


def config_of(options: argparse.Namespace) -> Any:
    """The evaluation's Config from the options; raises ValueError for an unknown name."""
    from sauda.evaluation.evaluate import Config

    tasks = tuple(dict.fromkeys(options.tasks or FAMILIES[options.family]))
    game = Config(tasks, ()).game()
    policies = tuple(dict.fromkeys(options.policies or policies_of(get_task(tasks[0]))))
    usual = game.baseline if game.baseline in policies else policies[0]
    episodes = game.episodes if options.episodes is None else options.episodes
    config = Config(tasks, policies, options.split, episodes, options.baseline or usual)
    config.seeds(), config.check()
    return config


def _out(options: argparse.Namespace, config: Any, family: str) -> str:
    """The file to write; a partial table needs a file name of its own."""
    whole = options.tasks is None and options.policies is None and options.baseline is None
    if not (options.out or whole):
        raise ValueError(
            "a part of the table needs a file of its own: say --out evaluation/NAME.json, so that "
            "the whole one stays"
        )
    return file_of(config, options.out or f"evaluation/{family}-{options.split}.json")


def file_of(config: Any, out: str) -> str:
    """`out`, where an evaluation of this game may stand there; raises ValueError elsewhere."""
    arena = config.game().names_others
    if entry(out).kind != ("arena/2" if arena else "evaluation/1"):
        wanted = "evaluation/arena-NAME.json" if arena else "evaluation/NAME.json"
        raise ValueError(
            f"{out} is of kind {entry(out).kind}, so it cannot hold an evaluation; say {wanted}"
        )
    return out
