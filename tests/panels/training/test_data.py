"""The data explorer: what is found and counted, how an example and its loss mask are drawn."""

import re

import pytest

from panels.training.data import (
    ANY,
    TONES,
    corpus,
    dialogue_view,
    intent_of,
    loss_mask,
)
from sauda.language.acts import INTENTS, view

ROLES = ("buyer", "seller")


@pytest.fixture(scope="module")
def made():
    return corpus()


class Letters:
    """A tokenizer of one token a letter; a turn ends with token 0."""

    eos_token_id = 0

    def apply_chat_template(self, messages, tokenize=False, add_generation_prompt=False):
        text = "".join(f"<{m['role']}>{m['content']}\0" for m in messages)
        return f"{text}<assistant>" if add_generation_prompt else text

    def __call__(self, text, add_special_tokens=True):
        return {"input_ids": list(map(ord, text))}

    def decode(self, ids):
        return "".join(map(chr, ids))


@pytest.mark.parametrize("role", ROLES)
def test_a_search_finds_words_of_the_turn_and_of_the_item_with_the_act(made, role):
    found = made.find(role, " LAMP", "counter-price")
    assert found
    for example in found:
        assert intent_of(example) == "counter-price"
        item = made.dialogues[example.dialogue].scenario
        assert "lamp" in f"{example.utterance} {item}".lower()
    assert made.find(role, "", ANY) == list(made.examples[role])
    assert made.find(role, "", "no such act") == []


def test_each_turn_of_the_dialogue_has_its_act_in_words_and_one_is_the_example(made):
    example = made.examples["buyer"][7]
    dialogue = made.dialogues[example.dialogue]
    shown = dialogue_view(dialogue, example)
    labels = re.findall(r'class="sauda-act sauda-act-\w+">([\w-]+)', shown)
    assert labels == [turn.act.intent for turn in dialogue.turns]
    assert shown.count("this example:") == 1
    assert set(TONES) == set(INTENTS)


def test_the_marked_tokens_are_the_words_of_the_role_and_their_ends(made):
    seen = view(made.dialogues[made.examples["seller"][3].dialogue], "seller")
    mask = loss_mask(seen, Letters())
    marked = re.findall(r'<mark class="sauda-learnt">(.*?)</mark>', mask, re.DOTALL)
    assert [text.rstrip("\0") for text in marked] == [turn.utterance for turn in seen.turns]
    learnt = sum(len(turn.utterance) + 1 for turn in seen.turns)
    assert f"{learnt:,} of " in mask
