"""`python -m sauda evaluate`: policies on tasks and seeds, as an artifact."""

import argparse
from collections.abc import Mapping
from typing import Any

from env import ARENA_TASKS, MARKETS, TASKS, get_task
from sauda.commands.console import (
    add_command,
    add_engine_options,
    choose_engine,
    exit_code,
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
        "--episodes", type=int, default=None, help="per task and policy; 1000, in the arena 200"
    )


def evaluate(options: argparse.Namespace) -> int:
    """Evaluate policies on tasks of one game, save the artifact and print its rows."""
    from sauda.experiments.evaluate import evaluate as run

    spec = spec_of(options)
    family = "arena" if spec.game().others else options.family
    whole = options.tasks is None and options.policies is None
    if not (options.out or whole):
        raise ValueError(
            "a part of the table needs a file of its own: say --out evaluation/NAME.json, so that "
            "the whole one stays"
        )
    out = file_of(spec, options.out or f"evaluation/{family}-{options.split}.json")

    def measure() -> None:
        if options.engine == "process" and not options.address:
            data = run(spec, workers=options.workers)
        else:
            from sauda.cloud.shards import evaluate_on

            with choose_engine(options) as engine:
                data = evaluate_on(engine, spec)
        save_measured(out, spec.as_json(), data)
        report(data)

    return exit_code(measure)


def report(data: Mapping[str, Any]) -> None:
    """Print the rows of an evaluation."""
    from sauda.experiments.base import lines
    from sauda.experiments.evaluate import table

    for line in lines(table(data)):
        print(line)


def spec_of(options: argparse.Namespace) -> Any:
    """What the options ask to evaluate; raises ValueError for an unknown name."""
    from sauda.experiments.evaluate import EvaluationSpec

    tasks = tuple(dict.fromkeys(options.tasks or FAMILIES[options.family]))
    game = EvaluationSpec(tasks, ()).game()
    policies = tuple(dict.fromkeys(options.policies or policies_of(get_task(tasks[0]))))
    baseline = game.baseline if game.baseline in policies else policies[0]
    episodes = game.episodes if options.episodes is None else options.episodes
    spec = EvaluationSpec(tasks, policies, options.split, episodes, baseline)
    spec.seeds(), spec.check()
    return spec


def file_of(spec: Any, out: str) -> str:
    """`out`, where an evaluation of this game may stand there; raises ValueError elsewhere."""
    arena = bool(spec.game().others)
    if entry(out).kind != ("arena/2" if arena else "evaluation/1"):
        wanted = "evaluation/arena-NAME.json" if arena else "evaluation/NAME.json"
        raise ValueError(
            f"{out} is of kind {entry(out).kind}, so it cannot hold an evaluation; say {wanted}"
        )
    return out
