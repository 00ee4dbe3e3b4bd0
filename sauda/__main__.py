"""The command line: `python -m sauda COMMAND`. Everything that makes a number is a command."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from env import ARENA_TASKS, MARKETS, TASKS, get_task, rollout
from sauda.commands import train as training
from sauda.commands import verify as checking
from sauda.policies import against, contestants, policy
from sauda.records.store import entry, load, save, sha256
from sauda.records.transcript import to_json, to_markdown
from sauda.scale import jobs

FAMILIES = {
    "classic": [name for name in TASKS if name.startswith("classic/")],
    "market": [f"bazaar/{name}" for name in MARKETS],
    "arena": list(ARENA_TASKS),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 if it went well, 1 if a check failed, 2 if it could not be run."""
    options = parser().parse_args(arguments)
    try:
        return options.run(options)
    except ValueError as error:
        print(f"sauda: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        sys.stderr.close()
        return 0


def parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    top = argparse.ArgumentParser(prog="python -m sauda", description=__doc__)
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run, about: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=about, description=about)
        sub.set_defaults(run=run)
        return sub

    sub = command("play", play, "play one episode and print it")
    sub.add_argument("--task", default="classic/single_deal")
    sub.add_argument("--policy", default=None, help="who takes the learner's seat")
    sub.add_argument("--seed", type=int, default=0)
    sub.add_argument(
        "--against",
        default="",
        help="the buyer to sell to, the type of an open-market seller, or MODEL:PERSONA",
    )
    sub.add_argument("--json", action="store_true", help="as data, not as text")

    sub = command("evaluate", evaluate, "policies x tasks x seeds, with intervals, as an artifact")
    sub.add_argument("--family", default="classic", choices=FAMILIES, help="tasks, if none named")
    sub.add_argument("--tasks", nargs="+", default=None)
    sub.add_argument("--policies", nargs="+", default=None)
    sub.add_argument("--split", default="train", help="train or holdout seeds")
    sub.add_argument(
        "--episodes", type=int, default=None, help="a task and policy; 1000, in the arena 200"
    )
    sub.add_argument(
        "--baseline", default=None, help="of the differences; the rule expert, else the first"
    )
    sub.add_argument("--out", default=None, help="artifact to write; by default by the split")

    checking.add(commands)
    sub = command("oracle", oracle, "bound what can be won in the open market; look for exploits")
    sub.add_argument("--episodes", type=int, default=400, help="hold-out seeds a task")

    sub = command("ladder", ladder, "language models bare, constrained and wrapped, beside scripts")
    _add_keep(sub)
    about = "the same of a lab in the GPU arena, on market_round"
    _add_keep(command("arena-ladder", arena_ladder, about))

    sub = command("seller-quality", seller_quality, "a model's words as a seller, beside a stub's")
    sub.add_argument("--models", default="mini", help="by name, with commas; or null")
    sub.add_argument("--published", type=int, default=10, help="published games a persona")
    sub.add_argument("--hard", type=int, default=3, help="games a persona and hostile buyer")

    command("weights", weights, "find or prepare the small base model; print where and which hash")
    command("market", market, "measure what open-market sellers give away and remember")
    command("belief", belief, "calibrate the belief buyer; compare it with prices alone")
    sub = command("judged", judged, "labs pitch before the rule judge: adapting against control")
    sub.add_argument("--episodes", type=int, default=100, help="hold-out seeds")

    training.add(commands)
    jobs.add(commands)
    command("selector", selector, "train the softmax over scripted labs by REINFORCE")
    command("reproduce", reproduce, "compare our classic family with the published game")
    command("record", record, "record the showcase episodes")
    command("before-after", before_after, "play a model before and after training; choose by rule")
    command("publish", publish, "check and seal the transcribed figures")
    command("picture", picture, "take the README's pictures from the page")
    command("readme", readme, "write the READMEs' tables anew from the artifacts")
    command("language", language, "score the reading of prices and tells in labelled sentences")

    sub = command("bench", bench, "measure speed: games, import, page, language model")
    part = sub.add_mutually_exclusive_group()
    part.add_argument("--model", action="store_true", help="the language model alone")
    part.add_argument("--no-model", action="store_true", help="all but the language model")
    sub.add_argument("--json", action="store_true")
    sub.add_argument("--save", action="store_true", help="write artifacts/bench.json")
    return top


def _add_keep(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "--keep",
        action="store_true",
        help="keep the recorded games of models whose weights are the same; play only the others",
    )


def play(options: argparse.Namespace) -> int:
    task = against(get_task(options.task), options.against)
    name = next(iter(contestants(task))) if options.policy is None else options.policy
    played = rollout(task, policy(task, name), options.seed)
    if options.json:
        print(json.dumps(to_json(played, name), ensure_ascii=False, indent=1))
    else:
        print(to_markdown(played, name), end="")
    return 0


def evaluate(options: argparse.Namespace) -> int:
    from sauda.evaluation.evaluate import Config
    from sauda.evaluation.evaluate import evaluate as run

    tasks = options.tasks or FAMILIES[options.family]
    of_arena = {get_task(name).name in ARENA_TASKS for name in tasks}
    if len(of_arena) > 1:
        raise ValueError("the arena is evaluated apart from the bazaar; name tasks of one of them")
    if of_arena == {True}:
        return evaluate_arena(options, tasks)
    policies = options.policies or list(contestants(get_task(tasks[0])))
    config = _config(options, tasks, policies, Config.baseline, Config.episodes)
    out = _out(options, options.family, "evaluation/1")
    data = run(config)
    _write(out, asdict(config), data)
    for row in data["rows"]:
        share = row["share"]
        print(
            f"{row['task']:30} {row['policy']:12} n {row['n']:5}  share {share['mean']:.4f} "
            f"[{share['low']:.4f}, {share['high']:.4f}]  grade {row['grade']['mean']:.4f}  "
            f"deals {row['deal_rate']:.3f}  rounds {row['rounds']:.2f}"
        )
    return 0


def evaluate_arena(options: argparse.Namespace, tasks: Sequence[str]) -> int:
    from sauda.evaluation import arena_evaluate as arena

    policies = options.policies or list(contestants(get_task(tasks[0])))
    config = _config(options, tasks, policies, arena.BASELINE, arena.EPISODES)
    out = _out(options, "arena", "arena/1")
    others = arena.OTHERS[config.split]
    data = arena.evaluate(config, others)
    _write(out, {**asdict(config), "others": others}, data)
    for row in data["rows"]:
        print(
            f"{row['others']:18} {row['task']:22} {row['policy']:18} n {row['n']}  "
            f"utility {row['utility']['mean']:7.2f}  grade {_spanned(row['grade'])}  "
            f"reward {_spanned(row['reward'])}  valid {row['valid']:.3f}  "
            f"jobs {row['jobs']['mean']:.2f} of {row['jobs_had']:.2f}  "
            f"r {_spanned(row['correlation'])}"
        )
    for row in data["correlations"]:
        print(f"{row['others']:18} {row['task']:22} r {_spanned(row['correlation'])} n {row['n']}")
    for row in data["bounds"]:
        print(
            f"upper bound {row['task']:22} n {row['n']}, solved {row['solved']}  "
            f"utility {row['utility']['mean']:.2f}  grade {_spanned(row['grade'])}"
        )
    return 0


def _write(file: str, config: Mapping[str, Any], data: Mapping[str, Any]) -> None:
    """Save a measured artifact, and say so."""
    save(file, config, data)
    print(f"wrote artifacts/{file}")


def _spanned(figures: dict[str, float] | None) -> str:
    if figures is None:
        return "does not vary"
    return f"{figures['mean']:6.3f} [{figures['low']:6.3f}, {figures['high']:6.3f}]"


def _config(
    options: argparse.Namespace,
    tasks: Sequence[str],
    policies: Sequence[str],
    baseline: str,
    episodes: int,
):
    """What was asked for, the rest as usual; what is unknown fails here, before the file."""
    from sauda.evaluation.evaluate import Config

    config = Config(
        tuple(dict.fromkeys(tasks)),
        tuple(dict.fromkeys(policies)),
        options.split,
        episodes if options.episodes is None else options.episodes,
        options.baseline or (baseline if baseline in policies else policies[0]),
    )
    config.seeds(), config.cells()
    return config


def _out(options: argparse.Namespace, family: str, kind: str) -> str:
    """The file to write, of that kind; a part of a table does not overwrite the whole."""
    whole = options.tasks is None and options.policies is None and options.baseline is None
    if not (options.out or whole):
        raise ValueError(
            "a part of the table needs a file of its own: say --out evaluation/NAME.json, so that "
            "the whole one stays"
        )
    out = options.out or f"evaluation/{family}-{options.split}.json"
    if entry(out).kind != kind:
        wanted = "evaluation/arena-NAME.json" if kind == "arena/1" else "evaluation/NAME.json"
        raise ValueError(
            f"{out} is of kind {entry(out).kind}, so it cannot hold an evaluation; say {wanted}"
        )
    return out


def oracle(options: argparse.Namespace) -> int:
    from sauda.evaluation.market.oracle import Config
    from sauda.evaluation.market.oracle import oracle as run

    config = Config(options.episodes)
    data = run(config)
    _write("oracle.json", asdict(config), data)
    for row in data["rows"]:
        cells = {"informed": row["informed"]} | ({"belief": row["belief"]} if row["belief"] else {})
        cells |= {p["policy"]: p for p in row["policies"]}
        cells[f"search: {row['search']['best']}"] = row["search"]["holdout"]
        print(f"{row['task']}  n {row['n']}  {row['bound']} bound  no ZOPA {row['no_zopa']:.3f}")
        for name, cell in cells.items():
            share = (
                f"  {cell['share']:7.1%}{' EXPLOIT' * cell['flagged']}" if "share" in cell else ""
            )
            print(f"  {cell['mean']:7.4f} [{cell['low']:7.4f}, {cell['high']:7.4f}]{share}  {name}")
    return 0


def ladder(options: argparse.Namespace) -> int:
    from sauda.evaluation.model_comparison import Config
    from sauda.evaluation.model_comparison import ladder as run

    config, file = Config(), "evaluation/ladder.json"
    data = run(config, recorded=load(file).data if options.keep else None)
    _write(file, asdict(config), data)
    for row in data["rows"]:
        print(
            f"{row['task']:14} {row['policy']:24} n {row['n']:4}  grade {row['grade']['mean']:.4f} "
            f"[{row['grade']['low']:.4f}, {row['grade']['high']:.4f}]  "
            f"forfeits {row['ends']['forfeit']}  no move read {row['unparsed']} of {row['moves']}  "
            f"changed by the wrapper {row['changed']}  tokens {row['tokens']}"
        )
    for climb in data["climbs"]:
        print(
            f"{climb['task']:28} {climb['before']:>10} to {climb['after']:10} {climb['on']:6} n "
            f"{climb['n']:4} {climb['difference']:+.4f} [{climb['low']:+.4f}, {climb['high']:+.4f}]"
        )
    for way in data["ways"]:
        print(
            f"{way['task']:28} {way['policy']:10} n {way['n']:4} {way['part']:.1%} "
            f"[{way['low']:.1%}, {way['high']:.1%}] of the way from the base to the belief buyer"
        )
    return 0


def arena_ladder(options: argparse.Namespace) -> int:
    from sauda.evaluation.arena_model_comparison import Config
    from sauda.evaluation.arena_model_comparison import arena_ladder as run

    config, file = Config(), "evaluation/arena-ladder.json"
    data = run(config, recorded=load(file).data if options.keep else None)
    _write(file, asdict(config), data)
    for row in data["rows"]:
        print(
            f"{row['task']} {row['policy']:20} n {row['n']:4}  grade {row['grade']['mean']:.4f} "
            f"[{row['grade']['low']:.4f}, {row['grade']['high']:.4f}]  valid {row['valid']:.3f} of "
            f"{row['actions']}  no action read {row['unparsed']}  tokens {row['tokens']}"
        )
    for climb in data["climbs"]:
        print(
            f"{climb['before']} to {climb['after']} n {climb['n']} {climb['difference']:+.4f} "
            f"[{climb['low']:+.4f}, {climb['high']:+.4f}]"
        )
    return 0


def seller_quality(options: argparse.Namespace) -> int:
    from sauda.evaluation.seller.quality import Config, quality

    models = tuple(dict.fromkeys(name for name in options.models.split(",") if name))
    config = Config(models, options.published, options.hard)
    data = quality(config)
    _write("seller_quality.json", asdict(config), data)
    for row in data["rows"]:
        print(f"{row['criterion']}: {row['about']} {row['target']}")
        for side, cell in row["sides"].items():
            met = {True: "meets", False: "FAILS", None: ""}[cell["meets"]]
            print(f"  {side:20} n {cell['n']:4} {cell['of']:6} {_spanned(cell)}  {met}")
    return 0


def weights(options: argparse.Namespace) -> int:
    from sauda.llm.backends.weights import NoWeights, smollm2

    try:
        found = smollm2()
    except NoWeights as error:
        print(f"sauda: {error}", file=sys.stderr)
        return 1
    print(f"{found.folder}\nsha256 {found.sha256}\nfrom {found.origin}")
    return 0


def market(options: argparse.Namespace) -> int:
    from sauda.evaluation.market.leakage import Config
    from sauda.evaluation.market.leakage import market as run

    config = Config()
    data = run(config)
    _write("market.json", asdict(config), data)
    for manner in data["manner"]:
        print(f"{manner['task']}  n {manner['replies']:,} replies")
        for row in manner["signals"]:
            told = "  ".join(f"{cause} {r2:.3f}" for cause, r2 in row["r2"].items())
            print(f"  {row['signal']:22} {told}")
    words = data["words"]
    print(f"R2 of the floor: prices {words['prices']['mean']:.3f}, words add {words['gain']}")
    for row in data["careers"]:
        print(f"a soft history costs {row['then']} {row['lost']}")
    return 0


def belief(options: argparse.Namespace) -> int:
    from sauda.evaluation.market.belief import Config, report

    config = Config()
    data = report(config)
    _write("belief.json", asdict(config), data)
    for row in data["calibration"]:
        covered = "  ".join(f"{c['level']:.0%} in {c['mean']:.3f}" for c in row["coverage"])
        print(
            f"{row['task']:14} after {row['round']} rounds, {row['evidence']:24} n {row['n']:4}  "
            f"{covered}  floor off by {row['error']['mean']:.4f}  type right "
            f"{row['types']['right']:.3f}, Brier {row['types']['brier']:.3f}"
        )
    for row in data["inputs"]:
        print(
            f"{row['task']:14} n {row['n']:,} moves: tells and words change "
            f"{_spanned(row['beliefs'])} of the beliefs and {_spanned(row['moves'])} of the moves"
        )
    for row in data["outcomes"]:
        print(
            f"{row['task']:14} n {row['n']}  all evidence {_spanned(row['belief'])}  prices alone "
            f"{_spanned(row['belief_prices'])}  difference {_spanned(row['difference'])}"
        )
    return 0


def judged(options: argparse.Namespace) -> int:
    from sauda.evaluation.pitching import Config
    from sauda.evaluation.pitching import judged as run

    config = Config(options.episodes)
    data = run(config)
    _write("judged.json", asdict(config), data)
    for row in data["rows"]:
        rate, gain = row["win_rate"], row["difference"]
        print(
            f"{row['advocate']:18} n {row['n']}  wins {rate['mean']:.3f} [{rate['low']:.3f}, "
            f"{rate['high']:.3f}]  total {row['total']['mean']:.3f}  less {data['control']} "
            f"{gain['mean']:+.3f} [{gain['low']:+.3f}, {gain['high']:+.3f}]"
        )
    return 0


def selector(options: argparse.Namespace) -> int:
    from sauda.train.selector import Config, select

    config = Config()
    data = select(config)
    _write("training/selector.json", asdict(config), data)
    for row in data["final"]:
        gain = row["less_expert"]
        print(
            f"{row['task']:24} n {row['n']}  ends on {row['policy']}  less the expert "
            f"{gain['mean']:+.3f} [{gain['low']:+.3f}, {gain['high']:+.3f}]"
        )
    return 0


def reproduce(options: argparse.Namespace) -> int:
    from sauda.evaluation.reproduction import MEASURED, reproduction

    data = reproduction()
    _write(
        "evaluation/reproduction.json", {"measured": MEASURED, "published": "published.json"}, data
    )
    agreement = data["agreement"]
    sampled = agreement["figures"] - agreement["without_error"]
    print(f"{agreement['within_two']} of {sampled} sampled figures within two standard errors")
    print(f"{agreement['within_three']} of {sampled} within three")
    equal, without = agreement["without_error_equal"], agreement["without_error"]
    print(f"{equal} of {without} figures without error equal to four decimals")
    return 0


def record(options: argparse.Namespace) -> int:
    from sauda.evaluation.episodes import SEED, showcase

    data = showcase()
    _write("episodes/showcase.json", {"seed": SEED}, data)
    print(f"recorded {len(data['episodes'])} episodes")
    return 0


def before_after(options: argparse.Namespace) -> int:
    from sauda.evaluation.before_after import Config, compare

    config = Config()
    data = compare(config)
    _write("episodes/before_after.json", asdict(config), data)
    for played in data["tasks"]:
        for pair in played["chosen"]:
            sides = (f"{pair[s]['policy']} {pair[s]['grade']:.4f}" for s in ("before", "after"))
            print(
                f"{played['task']:14} n {len(played['seeds'])}  {pair['why']:6} seed {pair['seed']}"
                f"  {'  '.join(sides)}  {pair['difference']:+.4f}"
            )
    return 0


def publish(options: argparse.Namespace) -> int:
    from sauda.records.published import seal

    print(f"sealed {len(seal().data['figures'])} figures")
    return 0


def picture(options: argparse.Namespace) -> int:
    from sauda.commands.screenshots import PICTURES, pictures

    pictures()
    print(f"wrote {PICTURES}")
    return 0


def readme(options: argparse.Namespace) -> int:
    from sauda.commands.readme import fill

    print("wrote the READMEs" if fill() else "the READMEs are as the artifacts have it")
    return 0


def language(options: argparse.Namespace) -> int:
    from sauda.evaluation.language import BLIND, LABELLED, quality

    data = quality()
    _write("language.json", {"labelled": sha256(LABELLED), "blind": sha256(BLIND)}, data)
    _print_language(data)
    print("Sentences of a writer who never saw the reader:")
    _print_language(data["blind"])
    return 0


def _print_language(data: dict[str, Any]) -> None:
    for row in data["rows"]:
        shares = "  ".join(f"{name} {_said(row[name])}" for name in ("precision", "recall", "f1"))
        label = f"{row['split']:8} {row['language']:8} {row['signal']:10} {row['reader']:8}"
        print(f"{label} n {row['true'] + row['missed']:3} of {row['n']:3}  {shares}")
    for row in data["prices"]:
        print(
            f"{row['split']:8} {row['language']:8} {row.get('kind', 'prices'):13} "
            f"{row['reader']:8} n {row['n']:3}  "
            f"exact {row['exact']} of {row['priced']}, another {row['other']}, missed "
            f"{row['missed']}; invented {row['false']} of {row['unpriced']}"
        )


def _said(share: dict[str, float] | None) -> str:
    if share is None:
        return "   of none         "
    return f"{share['mean']:.2f} [{share['low']:.2f}, {share['high']:.2f}]"


def bench(options: argparse.Namespace) -> int:
    from sauda.commands.bench.run import bench as run
    from sauda.commands.bench.run import report

    if options.model and options.save:
        raise ValueError("the model's figures alone are no whole bench; save without --model")
    data = run(options.model, options.no_model)
    if options.save:
        save("bench.json", {}, data)
    if options.json:
        print(json.dumps(data, indent=1))
    else:
        print("\n".join(report(data)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
