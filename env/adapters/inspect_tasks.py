"""Every task for Inspect (`pip install "sauda-env[inspect]"`), each under the end of its name.

    inspect eval sauda_env/open-3 --model openai/gpt-5 -T games=40

A sample is the game of a seed, and its scores are the figures of the game. Where the whole project
can be imported, they have the regret as well: the grade of an oracle that knows what the game
hides, less that of the game. The package alone has no oracle and leaves it out. A model that takes
a seed for each reply is handed the one of recorded games, so it plays them to the last digit.
"""

from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from .. import TASKS, ChatGame, fingerprint, get_task, new_chat

try:
    from sauda.sessions.review import oracle
except ImportError:  # the package without the project around it
    oracle = None

HOLDOUT = 50_000  # the first of the seeds that no training saw


def chat_of(game: ChatGame) -> list[ChatMessage]:
    """What a model is asked now."""
    return Sample(input=game.messages()).input


@solver
def play(name: str, constrained: bool = False) -> Solver:
    """Plays the task called `name`; `constrained` sends the schema of legal replies as well.

    It is sent as OpenAI's `response_format`, which other protocols do not take.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        game = new_chat(get_task(name), state.metadata["seed"])
        while game.running:
            state.messages = chat_of(game)
            options: dict[str, Any] = {"seed": game.reply_seed()}
            if constrained:
                form = {"name": "move", "schema": game.schema(), "strict": True}
                asked = {"type": "json_schema", "json_schema": form}
                options["extra_body"] = {"response_format": asked}
            state = await generate(state, tool_calls="none", **options)
            game.reply(state.output.completion)
        row = game.figures()
        if oracle and (best := oracle(name, state.metadata["seed"])):
            row["regret"] = best.grade - row["grade"]
        state.store.set("figures", row)
        state.store.set("end", str(game.episode().end))
        return state

    return solve


@scorer(metrics={"*": [mean(), stderr()]})
def figures() -> Scorer:
    """The figures of the game: grade, success, forfeit, words; deal and regret where there are.

    A regret may be below 0, since the oracle's grade in the bazaar is what it expects.
    """

    async def score(state: TaskState, target: Target) -> Score:
        return Score(value=state.store.get("figures"), answer=state.store.get("end"))

    return score


def _add(name: str) -> None:
    """Register the task called `name`."""

    @task(name=name.partition("/")[2])
    def game(games: int = 40, first: int = HOLDOUT, constrained: bool = False) -> Task:
        played = get_task(name)
        samples = [
            Sample(id=str(seed), input=chat_of(new_chat(played, seed)), metadata={"seed": seed})
            for seed in range(first, first + games)
        ]
        hashes = {
            "rules": fingerprint.of_rules(played),
            "opponents": fingerprint.of_opponents(played),
            "prompt": fingerprint.of_prompt(played),
        }
        return Task(
            dataset=MemoryDataset(samples, name=name),
            solver=play(name, constrained),
            scorer=figures(),
            metadata={"task": name, **hashes},
        )


for _name in TASKS:
    _add(_name)
