"""`python -m sauda play|evaluate|compare-models|run`: one game, tables of games, experiments."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from env import ARENA_TASKS, MARKETS, TASKS, get_task, rollout
from sauda.commands import console
from sauda.experiments import find, index
from sauda.games.transcript import to_json, to_markdown
from sauda.players import against, get_policy, scripts_of
from sauda.records.kinds import ENTRIES, entry
from sauda.records.store import ROOT, load

FAMILIES = {
    "classic": [name for name in TASKS if name.startswith("classic/")],
    "market": [
        "bazaar/people",
        *(f"bazaar/{name}" for name, of in MARKETS.items() if not of.extras),
    ],
    "arena": list(ARENA_TASKS),
}


def add(commands: Any) -> None:
    """Add these commands to those of `python -m sauda`; no experiment is imported."""
    parser = console.add_command(commands, "play", play)
    parser.add_argument("--task", default="classic/single_deal")
    parser.add_argument("--policy", default=None, help="who takes the learner's seat")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--against",
        default="",
        help="the buyer to sell to, the type of an open-market seller, or MODEL:PERSONA",
    )
    parser.add_argument("--json", action="store_true", help="as data, not as text")

    parser = console.add_command(commands, "evaluate", evaluate)
    add_table_options(parser)
    parser.add_argument("--out", default=None, help="artifact to write; by default by the split")
    parser.add_argument("--folder", type=Path, help="keep games there as they end, and read them")
    parser.add_argument(
        "--shard", metavar="K/N", help="play one part of N into --folder, and write no artifact"
    )
    console.add_engine_options(parser)

    parser = console.add_command(commands, "compare-models", compare_models)
    parser.add_argument("--game", choices=("bazaar", "arena"), default="bazaar")
    parser.add_argument(
        "--games",
        type=int,
        help="of each task, 400 by default in the bazaar and 200; slow rows play a part of them",
    )
    parser.add_argument(
        "--models", nargs="+", default=(), metavar="NAME",
        help="bazaar: such as mini mini+talks, the base first; by default it and every stage whose "
        "adapter is here",
    )  # fmt: skip
    parser.add_argument(
        "--anew",
        action="store_true",
        help="play all games; by default recorded ones stay whose task, opponents and policy are "
        "unchanged, those of models with the same weights and sampling, on whatever CPU",
    )

    parser = console.add_command(commands, "run", run)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    places = (f"  {name:16} {listed.about}" for name, listed in index().items())
    parser.epilog = "\n".join(("experiments:", *places))
    parser.add_argument("name", metavar="NAME", help="of the experiment")
    parser.add_argument(
        "options", nargs=argparse.REMAINDER, help="its settings; NAME --help names them"
    )


def play(options: argparse.Namespace) -> int:
    """Play one episode and print it as Markdown or JSON."""
    task = against(get_task(options.task), options.against)
    name = next(iter(scripts_of(task))) if options.policy is None else options.policy
    played = rollout(task, get_policy(task, name), options.seed)
    if options.json:
        print(json.dumps(to_json(played, name), ensure_ascii=False, indent=1))
    else:
        print(to_markdown(played, name), end="")
    return 0


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


@console.with_reason
def evaluate(options: argparse.Namespace) -> None:
    """Evaluate policies on tasks of one game, save the artifact and print its rows."""
    from sauda.experiments import evaluate as experiment
    from sauda.played import Store

    spec = spec_of(options)
    if options.folder or options.shard:
        check_scripts(spec)
    store = Store(options.folder) if options.folder else None
    if options.shard:
        play_shard(spec, options, store)
        return
    out = file_of(spec, options.out)
    with console.choose_engine(options) as engine:
        data = experiment.evaluate(spec, engine, store)
    console.save_measured(out, spec.as_json(), data)
    console.print_tables(data)


def play_shard(spec: Any, options: argparse.Namespace, store: Any) -> None:
    """Play every N-th chunk of an evaluation from the K-th on, as `--shard K/N` says."""
    from sauda.experiments.evaluate import cells_of
    from sauda.played import chunks_of, play_cell, play_chunks

    if store is None:
        raise ValueError("--shard keeps games for a later `evaluate`: say --folder as well")
    first, _, count = options.shard.partition("/")
    if not (first.isdecimal() and count.isdecimal()):
        raise ValueError(f"--shard is K/N, such as 7/200, not {options.shard!r}")
    check_shard(int(first), int(count))
    chunks = chunks_of(cells_of(spec))[int(first) - 1 :: int(count)]
    with console.choose_engine(options) as engine:
        played = play_chunks(play_cell, chunks, engine, store)
    print(f"played {played} of {len(chunks)} chunks into {options.folder}")


def check_shard(shard: int, shards: int) -> None:
    """Raise ValueError unless there is such a shard of so many."""
    if not 1 <= shard <= shards:
        raise ValueError(f"shards are numbered from 1 to {shards}; there is no {shard}")


def check_scripts(spec: Any) -> None:
    """Raise ValueError where a language model is to be spread over machines by this command."""
    from sauda.players import is_model

    if models := [name for name in spec.policies if is_model(name)]:
        raise ValueError(f"{', '.join(models)}: games of language models are kept by `rollouts`")


def spec_of(options: argparse.Namespace) -> Any:
    """What the options ask to evaluate; raises ValueError for an unknown name."""
    from sauda.experiments.evaluate import EvaluationSpec

    tasks = tuple(dict.fromkeys(options.tasks or FAMILIES[options.family]))
    game = EvaluationSpec(tasks, ()).game()
    policies = tuple(dict.fromkeys(options.policies or scripts_for(tasks)))
    baseline = game.baseline if game.baseline in policies else policies[0]
    episodes = game.episodes if options.episodes is None else options.episodes
    spec = EvaluationSpec(tasks, policies, options.split, episodes, baseline)
    spec.seeds(), spec.check()
    return spec


def scripts_for(tasks: Sequence[str]) -> tuple[str, ...]:
    """The scripts that play every one of some tasks."""
    first, *others = (scripts_of(get_task(name)) for name in tasks)
    return tuple(name for name in first if all(name in other for other in others))


def file_of(spec: Any, out: str | None) -> str:
    """`out`, by default the file of a whole table; ValueError where the evaluation may not stand.

    A registered file takes only the whole table that its name says.
    """
    arena, family = bool(spec.game().others), whole_family(spec)
    example = "evaluation/arena-NAME.json" if arena else "evaluation/NAME.json"
    whole = f"evaluation/{family}-{spec.split}.json" if family else None
    out = out or whole
    if out and entry(out).kind != ("arena/2" if arena else "evaluation/1"):
        raise ValueError(
            f"{out} is of kind {entry(out).kind}, so it cannot hold an evaluation; say {example}"
        )
    if out is None or (out != whole and out in ENTRIES):
        raise ValueError(
            f"a part of the table needs a file of its own: say --out {example}, so that "
            "the whole one stays"
        )
    return out


def whole_family(spec: Any) -> str | None:
    """The family whose tasks and policies are all evaluated, if one is."""
    for family, tasks in FAMILIES.items():
        if spec.tasks == tuple(tasks) and spec.policies == scripts_for(tasks):
            return family
    return None


@console.with_reason
def compare_models(options: argparse.Namespace) -> int:
    """Play the comparison of one game, save it and print its tables."""
    from sauda.experiments import comparison

    games = options.games
    if options.game == "arena":
        asked = comparison.in_arena(comparison.arena_grids(200 if games is None else games))
    else:
        grids = comparison.bazaar_grids(400 if games is None else games, options.models)
        asked = comparison.in_bazaar(grids)
    is_there = (ROOT / asked.file).exists()
    recorded = load(asked.file).data.as_json() if is_there and not options.anew else None
    data = comparison.compare_models(asked, recorded=recorded)
    console.save_measured(asked.file, asked.config, data)
    console.print_tables(data)
    return 0


@console.with_reason
def run(options: argparse.Namespace) -> int:
    """Run one experiment, save its result and print its rows.

    Settings other than those of the artifact are printed, and saved only where `--out` says.
    """
    experiment = find(options.name)
    parser = experiment.parser(f"python -m sauda run {options.name}")
    chosen = vars(parser.parse_args(options.options))
    console.check_output(out := chosen.pop("out"))
    made, file = experiment.run(chosen, out)
    print(f"wrote {file}" if file else "not saved: --out FILE keeps the result of other settings")
    console.print_tables(made.data.as_json())
