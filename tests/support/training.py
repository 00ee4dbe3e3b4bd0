"""A player with canned replies for GRPO, and runs that are cut off and resumed."""

import pytest

from sauda.train.data.teacher import DataConfig, Mix
from sauda.train.self_play import Sampled
from sauda.train.stages import grpo, sft

KILLED = sft.Config(  # of a run that is killed in a process of its own
    "toy",
    data=DataConfig(
        rows=26,
        mixes=(Mix("bazaar/open", 0.75, "linear"), Mix("classic/single_deal", 0.25, "expert")),
    ),
    per_device_train_batch_size=4,
    save_steps=2,
    acceptance_prompts=3,
    eval_games=1,
)


class Bidder:
    """Replies in its own way, the move the same: as canonical text, or with spaces."""

    def __init__(self, tokenizer, *texts):
        self.tokenizer, self.texts = tokenizer, texts

    def batch(self, chats, seeds, schemas):
        turns = [sum(m["role"] == "assistant" for m in chat) for chat in chats]
        return [self.sampled(self.texts[n % len(self.texts)]) for n in turns]

    def sampled(self, text):
        ids = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return Sampled(text, "canned", len(ids), "object", ids=tuple(ids))


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
