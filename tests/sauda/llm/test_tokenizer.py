"""The tokenizer without transformers gives what transformers gives, or says what prepares it."""

import pytest

from sauda.llm.backends.tokenizer import chat_tokenizer
from sauda.llm.backends.weights import NoWeights, smollm2
from sauda.train.teacher_rows import label_tokens

CHAT = [
    {"role": "system", "content": "You sell a lamp. Your limit is ₹1,065."},
    {"role": "user", "content": "buyer: कितना?\n(Name the first price.)"},
    {"role": "assistant", "content": "Have a look:  ₹1,693."},
    {"role": "user", "content": "buyer: don't\t– ₹318?"},
    {"role": "assistant", "content": "So little?\nNo 😀."},
]


def test_a_missing_tokenizer_is_told_with_the_command_that_prepares_it(tmp_path):
    with pytest.raises(NoWeights, match="python -m sauda weights"):
        chat_tokenizer(tmp_path)


@pytest.mark.model
def test_its_tokens_and_labels_are_those_of_transformers():
    from transformers import AutoTokenizer

    own, theirs = chat_tokenizer(), AutoTokenizer.from_pretrained(smollm2().folder)
    assert own.eos_token_id == theirs.eos_token_id
    sequence = label_tokens(CHAT, [True, True], own)
    assert sequence == label_tokens(CHAT, [True, True], theirs)
    assert own.decode(sequence["input_ids"]) == theirs.decode(sequence["input_ids"])
