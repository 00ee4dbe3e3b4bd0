"""A dialogue from one side as the sequence that a role learns."""

from typing import Any

from sauda.language.acts import View
from sauda.train.data.teacher import labelled


def sequence(view: View, tokenizer: Any) -> dict[str, list[int]]:
    """Its "input_ids" and "labels"; labels are -100 but for the role's words and their ends."""
    return labelled(view.chat(), [True] * len(view.turns), tokenizer)
