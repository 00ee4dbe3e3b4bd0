"""The shipped dialogues are those that the command makes, and each line says what it is."""

import json

from sauda.experiments.verify import verify
from sauda.language.acts import read
from sauda.records.store import ROOT, load
from sauda.train.data.dialogues.generated import Config, dialogues
from sauda.train.data.dialogues.sources import FILE, shipped

SMALL = Config(tasks=("bazaar/rushed",), policies=("linear", "conceder"), games=3)


def test_the_command_makes_the_committed_dialogues_again():
    assert verify(FILE) == []


def test_the_file_is_small():
    assert (ROOT / FILE).stat().st_size < 1_000_000


def test_every_line_is_read_as_the_act_that_it_is_annotated_with():
    for dialogue in shipped().dialogues:
        assert read(dialogue) == [turn.act for turn in dialogue.turns], dialogue.id


def test_a_deal_closes_by_an_offer_and_the_other_sides_acceptance():
    closed = 0
    for row in dialogues(SMALL)["rows"]:
        intents, speakers = row["dialogue_acts"]["intent"], row["agent_turn"]
        assert intents.count("accept") + intents.count("quit") <= 1
        if intents[-1] == "accept":
            closed += 1
            assert intents[-2] == "offer"
            assert speakers[-1] != speakers[-2]
            assert row["dialogue_acts"]["price"][-2] > 0
    assert closed


def test_the_same_settings_give_the_same_dialogues():
    assert dialogues(SMALL) == dialogues(SMALL)
    assert json.dumps(dialogues(SMALL)["rows"][0])  # plain JSON, no numpy number


def test_no_two_dialogues_are_of_one_game():
    values = [json.dumps([row.items.as_json(), row.agent_info.as_json()]) for row in rows()]
    assert len(set(values)) == len(values)


def rows() -> list:
    """The rows of the committed file."""
    return load(FILE).data.rows
