"""The chat: moves in words that do not repeat, the talk between them, what the page asks."""

import re

import pytest

from env import Offer
from panels.haggle.talk.conversation import chat_of
from panels.haggle.talk.state import LONGEST, MOST, SILENT, Exchange
from panels.haggle.talk.visitor_text import NoMove, play_text
from panels.haggle.words import ENGLISH, HINDI, HINGLISH
from sauda.sessions.bazaar import answer, back, start

SELLING = "bazaar/seller_brief"
LANGUAGES = (ENGLISH, HINGLISH, HINDI)


def sold_down(opponent: str = "boulware", seed: int = 3, moves: int = 6, message: str = ""):
    """A seller's game of `moves` asks, each a little lower; nothing typed but `message`."""
    game = start(SELLING, opponent, seed)
    price = 2 * game.observation.table.item.list_price
    for number in range(moves):
        game = answer(game, Offer(round(price * (1 - 0.02 * number)), message))
        assert not game.over
    return game


def said(game, talk=SILENT, language=ENGLISH, role="assistant") -> list[str]:
    return [m["content"] for m in chat_of(game, talk, language).messages if m["role"] == role]


def exchanged(game, talk, text):
    """The talk after `text`, which makes no move in `game`."""
    with pytest.raises(NoMove) as answered:
        play_text(game, text)
    return talk.added(Exchange(len(game.play.turns), text, answered.value.kind,
                               game.observation.table))  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("seed", range(5))
def test_six_moves_have_six_different_lines(language, seed):
    lines = said(sold_down(seed=seed), language=language)
    shapes = {re.sub(r"₹[\d,.]*\d", "#", line) for line in lines}
    assert len(lines) == len(shapes) == 6


def test_lines_are_for_show_and_enter_no_history():
    game = sold_down()
    told = chat_of(game)
    assert all(not turn.action.message for turn in game.play.turns)
    assert told == chat_of(game)


def test_lines_depend_on_what_both_sides_see_and_not_on_the_seed():
    games = [start("bazaar/seller_brief", "linear", seed) for seed in range(400)]
    by_item = {}
    for game in games:
        by_item.setdefault(game.observation.table.item.name, []).append(game)
    twins = next(some for some in by_item.values() if len(some) > 1)[:2]
    assert twins[0].play.seed != twins[1].play.seed
    openings = [said(answer(game, Offer(2 * game.observation.table.item.list_price)))[0]
                for game in twins]  # fmt: skip
    price = re.compile(r"₹[\d,.]*\d")
    assert price.sub("#", openings[0]) == price.sub("#", openings[1])


def test_the_other_side_answers_in_the_language_of_the_visitor():
    devanagari = re.compile(r"[\u0904-\u0939]")
    assert all(map(devanagari.search, said(sold_down(), language=HINDI)))
    assert all(map(devanagari.search, said(sold_down(message="इससे कम नहीं"))))
    assert not any(map(devanagari.search, said(sold_down(message="my friend"))))


def test_small_talk_stands_where_it_was_said_and_costs_no_round():
    game = sold_down(moves=2)
    talk = exchanged(game, SILENT, "namaste ji")
    later = answer(game, Offer(round(1.7 * game.observation.table.item.list_price)))
    texts = [m["content"] for m in chat_of(later, talk).messages]
    place = texts.index("namaste ji")
    assert len(texts) == 4 + 2 + 2
    assert place == 4
    assert texts[place + 1].endswith("?")
    assert list(chat_of(later, talk).own_words) == said(later, role="user")


def test_small_talk_survives_taking_a_move_back():
    game = sold_down(moves=3)
    talk = exchanged(game, SILENT, "you thief")
    earlier = back(game, 1)
    kept = talk.back_to(len(earlier.play.turns))
    assert "you thief" in said(earlier, kept, role="user")


def test_talk_is_bounded_in_number_and_length():
    game, talk = start(SELLING, "linear", 3), SILENT
    for number in range(MOST + 5):
        talk = exchanged(game, talk, f"{'bla ' * 100} nonsense {'x' * number}")
    assert len(talk.exchanges) == MOST
    assert all(len(e.text) <= LONGEST + 1 for e in talk.exchanges)
    assert len(said(game, talk)) == MOST


def test_talk_never_names_the_hidden_limit():
    for seed in range(1_000_000, 1_000_010):
        game, talk = start("bazaar/open", "", seed), SILENT
        limit = game.play.state.private["nature"][-1].seller["reservation"]
        public = {game.observation.ask, game.observation.table.item.list_price}
        for text in ("what is your limit?", "how much?", "why?", "warranty?", "what is this?"):
            talk = exchanged(game, talk, text)
        shown = " ".join(said(game, talk))
        assert limit in public or f"{limit:,.0f}" not in re.findall(r"[\d,.]*\d", shown)


@pytest.mark.parametrize(
    ("language", "sentence"),
    [(ENGLISH, "Last chance: accept"), (HINGLISH, "Last chance:"), (HINDI, "आख़िरी मौक़ा:")],
)
def test_the_last_round_says_so(language, sentence):
    game = start(SELLING, "expert", 3)
    price = 2 * game.observation.table.item.list_price
    while game.observation.round < game.observation.table.rounds:
        game = answer(game, Offer(price))
    assert not game.over
    assert sentence in said(game, language=language)[-1]
    assert sum(sentence in line for line in said(game, language=language)) == 1


def test_a_buyers_last_round_says_so():
    game = start("classic/read_the_tells", "", 3)
    game = answer(game, Offer(1))
    assert "Last round: accept ₹" in said(game)[-1]


def test_a_loss_is_asked_back_in_the_chat_and_confirmed_by_yes():
    game = start(SELLING, "boulware", 3)
    limit = game.observation.reservation
    asked = play_text(game, f"{limit - 1}")
    assert not asked.play.turns
    assert "you would lose ₹1." in said(asked)[-1]
    assert "₹1 का घाटा" in said(asked, language=HINDI)[-1]
    made = play_text(asked, "haan")
    assert made.observation.table.asks == (limit - 1,)


@pytest.mark.parametrize("task", ["bazaar/open", "classic/deceptive_seller"])
def test_a_scripted_sellers_own_words_come_in_hindi_too(task):
    for seed in range(8):
        game = answer(start(task, "", seed), Offer(1))
        assert not re.search("[A-Za-z]", " ".join(said(game, language=HINDI)))
