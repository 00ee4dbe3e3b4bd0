"""Openings: a distribution over what the planner would argue, told by the first token."""

from collections import Counter

import pytest

from env import CATALOGUE, begin, ear
from env.bazaar.prompt import parse
from sauda.records.seeds import is_unseen_listing
from sauda.train import listens, sft
from sauda.train.losses import choices_loss, score_vocabulary
from sauda.train.model import read_base, tokenizer_of
from sauda.train.people_rows import PEOPLE, task_of
from sauda.train.teacher_rows import encode

SETTINGS = listens.ListensSettings(openings=6, rows=4)
pytestmark = [pytest.mark.model, pytest.mark.xdist_group("model")]


@pytest.fixture(scope="module")
def rows():
    return listens.make_rows(SETTINGS)


@pytest.fixture(scope="module")
def openings(rows):
    return rows[:6]


def test_openings_come_before_the_deals_whose_first_bids_they_tell(rows, openings):
    assert len(rows) > len(openings) == 6
    assert not any(row.labels[0] for row in rows[6:] if row.task == PEOPLE)
    for row in openings:
        item = begin(task_of(PEOPLE, "training"), row.seed).state.table.item
        assert not is_unseen_listing(item)
        assert len(row.labels) == 1
        assert row.labels[0] == row.messages[-1]["content"]


def test_every_choice_is_the_same_bid_in_other_words(openings):
    for row in openings:
        task = task_of(PEOPLE, "training")
        play = listens.advance(task, task.opponents, begin(task, row.seed))
        obs = task.env.observe(play.state, task.learner)
        bids = [parse(text, obs) for text, _ in row.choices]
        assert len({bid.price for bid in bids}) == 1
        assert len({bid.message for bid in bids}) == len(bids)
        assert sum(chance for _, chance in row.choices) == pytest.approx(1, abs=0.02)


def test_the_argument_that_is_worth_most_has_the_largest_share(openings):
    for row in openings:
        task = task_of(PEOPLE, "training")
        play = listens.advance(task, task.opponents, begin(task, row.seed))
        obs = task.env.observe(play.state, task.learner)
        values = listens.people_rows.PLANNER.values(listens.planners.believe(obs), obs)
        best = values.acts[values.offers.max(axis=1).argmax()]
        shares = Counter()
        for text, chance in row.choices:
            shares[ear.act_in(parse(text, obs).message)[0] or ""] += chance
        assert shares[best] >= max(shares.values()) - 0.1


@pytest.mark.parametrize("language", ["en", "hinglish"])
def test_no_two_arguments_begin_alike_and_all_in_as_few_ways(language):
    for item in CATALOGUE[::120]:
        begins = [listens.lines_of(language, act, item) for act in listens.ARGUMENTS]
        assert all(1 <= len(tokens) <= listens.TOKENS for tokens in begins)
        assert len({token for tokens in begins for token in tokens}) == sum(map(len, begins))


def test_the_tokens_that_may_come_next_have_the_chances_of_the_choices(toy, openings):
    tokenizer = tokenizer_of(toy)
    for row in openings:
        made = encode(row, tokenizer)
        count = len(made["choices"])
        path = made["input_ids"][-count:]
        assert path == made["labels"][-count:]
        for token, tokens, chances in zip(path, made["choices"], made["chances"], strict=True):
            assert token in tokens
            assert sum(chances) == pytest.approx(1)
        before = made["input_ids"][made["labels"].count(-100) : -count]
        first = Counter()
        for text, chance in row.choices:
            ids = tokenizer(text, add_special_tokens=False)["input_ids"]
            assert ids[: len(before)] == before
            first[ids[len(before)]] += chance
        shares = dict(zip(made["choices"][0], made["chances"][0], strict=True))
        assert shares == pytest.approx({t: n / first.total() for t, n in first.items()})


def test_the_loss_of_choices_is_their_cross_entropy(toy, rows):
    import torch

    tokenizer, network = tokenizer_of(toy), read_base(toy)
    sequences = [encode(row, tokenizer) for row in rows]
    batch = sft.collate(sequences, tokenizer.pad_token_id)
    labels, choices = batch["labels"], batch["choices"]
    scored, log_probs = score_vocabulary(network, batch["input_ids"], labels)
    loss = choices_loss(scored, log_probs, labels, choices)

    logits = network(batch["input_ids"]).logits.float().log_softmax(-1)
    usual, chosen, rows_with = [], [], 0
    for row, sequence in enumerate(sequences):
        places = [at for at, label in enumerate(sequence["labels"]) if label != -100]
        ends = places[-len(sequence["choices"]) :] if "choices" in sequence else []
        rows_with += bool(ends)
        usual += [-logits[row, at - 1, labels[row, at]] for at in places if at not in ends]
        for at, tokens, chances in zip(
            ends, sequence.get("choices", []), sequence.get("chances", []), strict=True
        ):
            chosen.append(-(logits[row, at - 1, tokens] * torch.tensor(chances)).sum())
    expected = torch.stack(usual).mean() + torch.stack(chosen).sum() / rows_with
    assert loss.item() == pytest.approx(expected.item(), rel=1e-3)
