"""Every task for verifiers (`pip install "sauda-env[verifiers]"`): a taskset and its environment.

    vf-eval sauda-games -m MODEL --env.taskset.game bazaar/people --no-push

It is a package of its own, since verifiers looks for a taskset by the name of a top-level module.
A task is the game of a seed, and its reward the grade. A trace is a chat that only grows, as a deal
of the bazaar does. Another deal, a position of the arena, and the turn after a move that was not
written as the prompt writes moves begin a trace each, with the same reward: a model is always asked
what recorded games asked.
"""

from collections.abc import Iterator
from contextlib import AsyncExitStack

import verifiers.v1 as vf
from sauda_env import fingerprint, get_task, new_chat

__all__ = ["SaudaEnv", "SaudaTaskset"]


class SaudaData(vf.TaskData):
    """A task and a seed."""

    game: str
    seed: int
    prompt_hash: str  # the fingerprint of what a model is asked in the task


class SaudaTask(vf.Task[SaudaData]):
    """The game of a seed."""


class SaudaConfig(vf.TasksetConfig):
    """Which games: of the seeds from `first` on. Those from 50,000 on are held out of training."""

    game: str = "bazaar/people"
    games: int = 40
    first: int = 50_000


class SaudaTaskset(vf.Taskset[SaudaTask, SaudaConfig]):
    """The games of one task."""

    def load(self) -> Iterator[SaudaTask]:
        config, name = self.config, self.config.game
        about = {"prompt": None, "game": name, "prompt_hash": fingerprint.of_prompt(get_task(name))}
        for seed in range(config.first, config.first + config.games):
            yield SaudaTask(SaudaData(name=f"{name}#{seed}", seed=seed, **about), config.task)


class SaudaEnvConfig(vf.EnvConfig):
    """The player chats in this process, without tools."""

    player: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"}, runtime={"type": "subprocess"})


class SaudaEnv(vf.Env[SaudaEnvConfig]):
    """One game an episode; the other seats are the task's own scripts."""

    async def run(self, task: SaudaTask, agents: vf.Agents) -> None:
        game, traces, shown = new_chat(get_task(task.data.game), task.data.seed), [], None
        async with AsyncExitStack() as open_talk:
            while game.running:
                chat = game.messages()
                if shown is None or chat[: len(shown)] != shown:
                    await open_talk.aclose()
                    talk = await open_talk.enter_async_context(agents.player.interaction(task))
                    traces.append(talk.trace)
                    shown = []
                reply = (await talk.turn(chat[len(shown) :])).last_reply  # "" once a limit ends it
                game.reply(reply)
                shown = [*chat, {"role": "assistant", "content": reply}]
        figures = game.figures()
        for trace in traces:
            trace.record_reward("grade", figures["grade"])
            trace.record_metrics({name: figures[name] for name in figures if name != "grade"})
