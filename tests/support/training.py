"""Runs of GRPO that are cut off and resumed, and what of their logs must come out the same."""

import pytest

from sauda.train.stages import grpo


def resumed(config, folder, step, monkeypatch):
    """Interrupts a GRPO run when `step` (from 1) begins, resumes it, and returns its data."""
    calls = []
    play = grpo.Games.__call__

    def dies(self, prompts, trainer):
        calls.append(trainer.state.global_step)
        if len(calls) == step:
            raise KeyboardInterrupt
        return play(self, prompts, trainer)

    with monkeypatch.context() as patch:
        patch.setattr(grpo.Games, "__call__", dies)
        with pytest.raises(KeyboardInterrupt):
            grpo.train(config, folder)
    return grpo.train(config, folder, resume=True)


def games_of(run):
    """The columns of a run's log that depend on the games alone, one row a step."""
    columns = ("step", "num_tokens", "reward", "reward_group_std", "completions/mean_length")
    return [[row[name] for name in columns] for row in run["log"]]
