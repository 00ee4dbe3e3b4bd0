"""Deals in many words: a distribution over what could be said, told by the first token."""

import json
from collections import Counter
from dataclasses import replace

import pytest

from env import CATALOGUE, advance, begin, ear
from env.bazaar.prompt import parse
from sauda.records.seeds import is_unseen_listing
from sauda.train import listens, people, sft
from sauda.train.losses import choices_loss, score_vocabulary
from sauda.train.model import read_base, tokenizer_of
from sauda.train.people_rows import (
    BEGINNINGS,
    PEOPLE,
    all_words,
    make_rows,
    plan,
    sentences_by_token,
    task_of,
)
from sauda.train.teacher_rows import Spoken, encode, verb_of

SETTINGS = people.HeedsSettings(rows=8)
ACTS = ("", "tea", "cash", "outside", "flaw")
pytestmark = [pytest.mark.model, pytest.mark.xdist_group("model")]


@pytest.fixture(scope="module")
def rows():
    return make_rows(SETTINGS)


def test_only_bids_are_learnt_in_many_words_and_the_label_is_one_of_them(rows):
    assert all(isinstance(row, Spoken) for row in rows)
    for row in rows:
        for label, choices in zip(row.labels, row.choices, strict=True):
            bids = verb_of(label) in ("raise", "hold")
            assert (label in dict(choices)) == bids == bool(choices)
            moves = [json.loads(text) for text, _ in choices]
            assert len({move.pop("say") for move in moves}) == len(moves)
            assert all(move == moves[0] for move in moves)


def test_no_choice_says_a_line_of_the_deal_again(rows):
    for row in rows:
        replies = [json.loads(each["content"])["say"] for each in row.messages[2::2]]
        for at, choices in enumerate(row.choices):
            texts = [json.loads(text)["say"] for text, _ in choices]
            assert not any(text in line for line in replies[:at] for text in texts)


def test_an_argument_has_its_share_and_more_of_it_where_the_planner_expects_more():
    task = task_of(PEOPLE, "training")
    for seed in range(60, 70):
        play = advance(task, task.opponents, begin(task, seed))
        obs = task.env.observe(play.state, task.learner)
        planned = plan(PEOPLE, obs, SETTINGS)
        assert max(planned.shares, key=planned.shares.get) == planned.act
        heard = Counter()
        for text, chance in all_words(obs, planned.move, planned.shares, "en", ()):
            heard[ear.act_in(parse(text, obs).message)[0] or ""] += chance
        assert all(abs(heard[act] - share) < 0.05 for act, share in planned.shares.items())


def test_the_stage_that_settles_takes_an_ask_without_a_sentence():
    rows = make_rows(people.SettlesSettings(rows=16))
    labels = [label for row in rows for label in row.labels if label]
    assert {label for label in labels if verb_of(label) == "accept"} == {'{"accept":true}'}
    assert all(json.loads(label)["say"] for label in labels if verb_of(label) == "raise")


def test_without_a_temper_one_sentence_is_learnt():
    plain = make_rows(replace(SETTINGS, temper=0.0))
    assert not any(isinstance(row, Spoken) for row in plain)


@pytest.mark.parametrize("language", ["en", "hinglish"])
def test_no_two_acts_begin_alike_and_all_in_as_few_ways(language):
    for item in CATALOGUE[::120]:
        begins = [sentences_by_token(language, act, "raise", True, item) for act in ACTS]
        assert all(1 <= len(tokens) <= BEGINNINGS for tokens in begins)
        assert len({token for tokens in begins for token in tokens}) == sum(map(len, begins))


def test_the_tokens_that_may_come_next_have_the_chances_of_the_choices(toy, rows):
    tokenizer = tokenizer_of(toy)
    for row in rows:
        made = encode(row, tokenizer)
        learnt = [token for token in made["labels"] if token != -100]
        for token, tokens, weights in zip(learnt, made["choices"], made["weights"], strict=True):
            assert token in tokens
            assert sum(weights) == pytest.approx(SETTINGS.parts if sum(weights) > 1.5 else 1)
        if row.labels[0] == row.messages[2]["content"] and row.choices[0]:
            place = next(at for at, tokens in enumerate(made["choices"]) if len(tokens) > 1)
            first = Counter()
            for text, chance in row.choices[0]:
                ids = tokenizer(text, add_special_tokens=False)["input_ids"]
                assert ids[:place] == learnt[:place]
                first[ids[place]] += chance * SETTINGS.parts
            weights = dict(zip(made["choices"][place], made["weights"][place], strict=True))
            assert weights == pytest.approx(first)


def test_a_deal_in_one_wording_has_the_usual_loss(toy, rows):
    """Choices of one token each weigh alike, so that the loss is the mean of the labels."""
    tokenizer, network = tokenizer_of(toy), read_base(toy)
    alone = [replace(row, choices=[[] for _ in row.labels]) for row in rows]
    batch = sft.collate([encode(row, tokenizer) for row in alone], tokenizer.pad_token_id)
    scored, log_probs = score_vocabulary(network, batch["input_ids"], batch["labels"])
    loss = choices_loss(log_probs, batch["choices"], batch["weights"])
    assert loss.item() == pytest.approx(-scored.log_probs.mean().item(), rel=1e-4)


def test_the_loss_of_choices_is_their_cross_entropy(toy, rows):
    tokenizer, network = tokenizer_of(toy), read_base(toy)
    sequences = [encode(row, tokenizer) for row in rows]
    batch = sft.collate(sequences, tokenizer.pad_token_id)
    _, log_probs = score_vocabulary(network, batch["input_ids"], batch["labels"])
    loss = choices_loss(log_probs, batch["choices"], batch["weights"])

    logits = network(batch["input_ids"]).logits.float().log_softmax(-1)
    total = weight = 0.0
    for row, sequence in enumerate(sequences):
        places = [at for at, label in enumerate(sequence["labels"]) if label != -100]
        for at, tokens, weights in zip(
            places, sequence["choices"], sequence["weights"], strict=True
        ):
            for token, part in zip(tokens, weights, strict=True):
                total -= part * logits[row, at - 1, token].item()
                weight += part
    assert loss.item() == pytest.approx(total / weight, rel=1e-3)


# First bids in many words, beside deals in one


def test_openings_come_before_the_deals_whose_first_bids_they_tell():
    rows = listens.make_rows(listens.ListensSettings(openings=6, rows=4))
    openings, deals = rows[:6], rows[6:]
    assert deals
    assert all(isinstance(row, Spoken) for row in rows)
    assert not any(row.labels[0] for row in deals if row.task == PEOPLE)
    assert not any(choices for row in deals for choices in row.choices)
    for row in openings:
        (label,), (choices,) = row.labels, row.choices
        assert label == row.messages[-1]["content"]
        assert label in dict(choices)
        task = task_of(PEOPLE, "training")
        state = begin(task, row.seed).state
        assert not is_unseen_listing(state.table.item)


def test_every_choice_of_an_opening_is_the_same_bid():
    task = task_of(PEOPLE, "training")
    settings = listens.ListensSettings()
    for seed in range(33_000, 33_006):
        for row in listens.opening(seed, settings):
            play = listens.advance(task, task.opponents, begin(task, seed))
            obs = task.env.observe(play.state, task.learner)
            bids = [replace(parse(text, obs), message="") for text, _ in row.choices[0]]
            assert all(bid == bids[0] for bid in bids)
