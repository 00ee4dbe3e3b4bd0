"""What holds for the events of the whole page."""

import pytest

from app import build_app


@pytest.mark.slow
def test_a_value_of_former_choices_meets_the_events_own_sentence():
    """Gradio answers it with a bare 500 unless the event leaves the value unchecked."""
    changing = {"haggle-market", "haggle-other", "haggle-move", "arena-kind", "arena-choice",
                "leaderboard-entry"}  # fmt: skip
    seen = set()
    for event in build_app().fns.values():
        pickers = {part.elem_id for part in event.inputs} & changing
        assert not (pickers and event.preprocess)
        seen |= pickers
    assert seen == changing
