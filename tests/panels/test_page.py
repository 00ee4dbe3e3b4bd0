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


@pytest.mark.slow
def test_hidden_progress_is_shown_on_no_component():
    """Gradio's browser side would find each of them by a walk through the page at every event."""
    events = [event for event in build_app().fns.values() if event.targets]
    hidden = [event for event in events if event.show_progress == "hidden"]
    assert hidden
    assert [event.api_name for event in hidden if event.show_progress_on != ()] == []
