"""Losses of dialogues that are kept out of training, token by token, and how well roles speak."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from sauda.experiments.roles import best_step, loss_and_perplexity
from sauda.language.acts import Turn, View, read
from sauda.llm.model import Model
from sauda.llm.types import Reply
from sauda.records.store import read_lines
from sauda.train.checks import fault_in
from sauda.train.data.dialogues.sequences import sequence
from sauda.train.losses import scored
from sauda.train.run import Run, append

LEAST_SAID = 0.8  # share of replies that must name the price of the thought, and no other
MOST_BROKEN = 0.05  # share of replies that may be broken text


def dialogue_losses(network: Any, tokenizer: Any, views: Sequence[View]) -> list[dict[str, Any]]:
    """For each view its dialogue and role, its learnt tokens, and the sum of their losses, nats.

    The network is in evaluation mode meanwhile: no dropout.
    """
    import torch

    was_training = network.training
    network.eval()
    rows = []
    with torch.no_grad():
        for view in views:
            tokens = sequence(view, tokenizer)
            ids, labels = (
                torch.tensor([tokens[key]], device=network.device)
                for key in ("input_ids", "labels")
            )
            log_probs = scored(network, ids, labels).log_probs
            rows.append(
                {
                    "dialogue": view.dialogue.id,
                    "role": view.role,
                    "tokens": len(log_probs),
                    "nats": -log_probs.double().sum().item(),
                }
            )
    network.train(was_training)
    return rows


class Validations:
    """The validation losses of a run, on disk: of the base model and of every checkpoint."""

    def __init__(self, run: Run, measure: Callable[[], list[dict[str, Any]]]) -> None:
        self.file, self.measure = run.folder / "validation.jsonl", measure

    def at(self, step: int) -> None:
        """Measure the network as it is at `step`; on disk when this returns."""
        rows = self.measure()
        counted = {"dialogues": len(rows), "tokens": sum(row["tokens"] for row in rows)}
        append(self.file, {"step": step} | counted | loss_and_perplexity(rows))

    def rows(self) -> list[dict[str, Any]]:
        """One row a step; of a step that was made again after a kill, the last one."""
        by_step = {row["step"]: row for row in read_lines(self.file)}
        return [by_step[step] for step in sorted(by_step)]

    def best(self) -> int:
        """`best_step` of the rows."""
        return best_step(self.rows())

    def callback(self) -> Any:
        """A callback of transformers' Trainer: measures before the first step and at every save."""
        from transformers import TrainerCallback

        measure_at = self.at

        class Validate(TrainerCallback):
            def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
                if state.global_step == 0:
                    measure_at(0)

            def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
                measure_at(state.global_step)

        return Validate()


def spoken(
    model: Model, views: Sequence[View], own: Sequence[str], batch_size: int = 12
) -> list[dict[str, Any]]:
    """A reply of the model to one turn of each view, and the act that is read from it.

    `own` are the roles that it was trained for; "off_role" marks the others. View k is asked at its
    turn k, counted around, so that openings and ends are asked for as well.
    """
    asked = [(view, number % len(view.turns)) for number, view in enumerate(views)]
    chats = [view.chat()[: 2 * turn + 2] for view, turn in asked]
    replies: list[Reply] = []
    for start in range(0, len(chats), batch_size):
        batch = chats[start : start + batch_size]
        replies += model.batch(batch, range(start, start + len(batch)))
    rows = []
    for (view, turn), reply in zip(asked, replies, strict=True):
        example = view.turns[turn]
        said = Turn(view.role, reply.text.strip())
        turns = view.dialogue.turns
        heard = replace(view.dialogue, turns=(*turns[: example.turn], said))
        act = read(heard)[-1] if said.text else None
        rows.append(
            {
                "dialogue": view.dialogue.id,
                "turn": example.turn,
                "role": view.role,
                "off_role": view.role not in own,
                "intention": example.intention,
                "text": reply.text,
                "meant": asdict(turns[example.turn].act or read(view.dialogue)[example.turn]),
                "read": act and asdict(act),
                "tokens": reply.tokens,
                "fault": fault_in(reply),
            }
        )
    return rows


def role_check(replies: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The acceptance check over replies of `spoken`; `passed` is whether the words can be used.

    "valid" is the share whose price is that of the thought, or which name none where it has none;
    "same_kind" the share that is read as the act of the thought.
    """
    heard = [reply for reply in replies if reply["read"] is not None]
    same_price = sum(reply["read"]["price"] == reply["meant"]["price"] for reply in heard)
    same_kind = sum(reply["read"]["intent"] == reply["meant"]["intent"] for reply in heard)
    faults = [reply["fault"] for reply in replies if reply["fault"]]
    n = len(replies)
    return {
        "n": n,
        "valid": round(same_price / n, 4),
        "same_kind": round(same_kind / n, 4),
        "tokens": round(sum(reply["tokens"] for reply in replies) / n, 2),
        "faults": faults,
        "passed": same_price >= LEAST_SAID * n and len(faults) <= MOST_BROKEN * n,
    }
