"""`python -m sauda play`: one episode, printed."""

import argparse
import json
from typing import Any

from env import get_task, rollout
from sauda.commands.console import add_command
from sauda.games import policies_of
from sauda.games.transcript import to_json, to_markdown
from sauda.llm.registry import against, get_policy


def add(commands: Any) -> None:
    """Add `play` to the commands of `python -m sauda`."""
    parser = add_command(commands, "play", play)
    parser.add_argument("--task", default="classic/single_deal")
    parser.add_argument("--policy", default=None, help="who takes the learner's seat")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--against",
        default="",
        help="the buyer to sell to, the type of an open-market seller, or MODEL:PERSONA",
    )
    parser.add_argument("--json", action="store_true", help="as data, not as text")


def play(options: argparse.Namespace) -> int:
    """Play one episode and print it as Markdown or JSON."""
    task = against(get_task(options.task), options.against)
    name = next(iter(policies_of(task))) if options.policy is None else options.policy
    played = rollout(task, get_policy(task, name), options.seed)
    if options.json:
        print(json.dumps(to_json(played, name), ensure_ascii=False, indent=1))
    else:
        print(to_markdown(played, name), end="")
    return 0
