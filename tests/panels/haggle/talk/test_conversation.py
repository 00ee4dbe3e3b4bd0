"""The chat: moves in words that do not repeat, the talk between them, what the page asks."""

import json
import re
from datetime import date

import pytest

from env import Offer, rupees
from panels.haggle.talk.conversation import chat_of
from panels.haggle.talk.state import LONGEST, MOST, SILENT, Exchange
from panels.haggle.talk.visitor_text import NoMove, play_text
from panels.haggle.words import ENGLISH, HINDI, HINGLISH, translator
from sauda.language.lines import CHAT_LINES
from sauda.llm.seller import decide
from sauda.llm.types import Reply
from sauda.sessions.bazaar import after_reply, answer, back, start
from sauda.sessions.daily import bargain_of

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


def bought_up(game, rounds: int = 12, message: str = "", reply=None):
    """The buyer's `game` after up to `rounds` slowly rising bids; `reply` words a model's move."""
    price = game.observation.table.item.list_price
    for number in range(rounds):
        while game.waiting:
            game = after_reply(game, Reply(reply(game), "model", 9, "stop"))
        if game.over:
            break
        game = answer(game, Offer(round(price * (0.4 + 0.02 * number)), message))
    return game


def in_the_same_words(game) -> str:
    """A selling model that words nearly every move alike."""
    ask = decide(game.model_observation)
    words = {"accept": "Yes, {price} for the {item}. It is yours.",
             "walk": "No, I will keep my {item}. Goodbye."}  # fmt: skip
    counter = "I can give you the {item} for {price}. That is how it is."
    price = "" if ask.price is None else rupees(ask.price)
    return words.get(ask.kind, counter).format(item=ask.item.name, price=price)


def sentences(lines: list[str]) -> list[str]:
    """The sentences of all lines, prices apart."""
    parts = [part for line in lines for part in re.split(r"(?<=[.?!।])\s+", line)]
    return [part for part in (re.sub(r"₹[\d,.]*\d", "#", part) for part in parts) if part[1:2]]


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


@pytest.mark.parametrize(
    ("message", "language"),
    [("fourteen hundred", ENGLISH), ("chaudah sau", HINGLISH), ("चौदह सौ", HINDI)],
)
def test_what_the_page_says_in_the_chat_is_in_the_language_of_the_replies(message, language):
    game = start(SELLING, "expert", 3)
    price = 2 * game.observation.table.item.list_price
    while game.observation.round < game.observation.table.rounds - 1:
        game = answer(game, Offer(price, "पाँच हज़ार"))
    game = answer(game, Offer(price, message))
    chance = translator(language)("last_chance", price=rupees(game.observation.bid))
    assert said(game)[-1] == f"({chance})"
    with pytest.raises(NoMove) as answered:
        play_text(game, "1")
    exchange = Exchange(len(game.play.turns), "1", answered.value.kind, game.observation.table,
                        tuple(answered.value.values.items()))  # fmt: skip
    told = translator(language)(answered.value.kind, **answered.value.values)
    assert said(game, SILENT.added(exchange))[-1] == f"({told})"


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_absurd_ask_is_laughed_at_in_character_and_told_the_bound(language):
    game, talk = start(SELLING, "expert", 3), SILENT
    price = game.observation.table.item.list_price
    for _ in range(3):
        talk = exchanged(game, talk, f"₹{20 * price}")
    answers = said(game, talk, language)
    assert len(set(answers)) == 3
    assert all(rupees(10 * price) in line and not line.startswith("(") for line in answers)


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


@pytest.mark.parametrize("opponent", ["linear", "boulware", "expert"])
@pytest.mark.parametrize(
    ("language", "sentence"),
    [(ENGLISH, "Last round: name your final price, accept ₹"),
     (HINGLISH, "Last round: apna final daam bolo, ₹"),
     (HINDI, "आख़िरी दौर: अपना आख़िरी दाम बताइए, ₹")],
)  # fmt: skip
def test_a_seller_is_told_of_the_round_in_which_it_names_its_last_price(
    opponent, language, sentence
):
    game = start(SELLING, opponent, 3)
    price = 2 * game.observation.table.item.list_price
    for _ in range(game.observation.table.rounds - 1):
        assert not any(sentence in line for line in said(game, language=language))
        game = answer(game, Offer(price))
    assert (
        sentence + rupees(game.observation.bid).removeprefix("₹")
        in said(game, language=language)[-1]
    )
    assert sentence not in said(answer(game, Offer(price)), language=language)[-1]


def test_a_buyers_last_round_says_so():
    game = start("classic/read_the_tells", "", 3)
    game = answer(game, Offer(1))
    assert "Last round: accept ₹" in said(game)[-1]


@pytest.mark.parametrize("message", ["No more than this.", "It is a deal, done!"])
def test_a_models_words_that_contradict_its_move_are_not_said(message):
    game = answer(start(SELLING, "mini", 3), Offer(900))
    reply = Reply(json.dumps({"offer": 30, "message": message}), "model", 9, "object")
    game = after_reply(game, reply)
    bid = game.play.turns[-1].action
    assert bid.message == message
    (line,) = said(game)
    assert message not in line
    assert rupees(bid.price) in line


def test_a_models_own_words_are_said_where_they_fit_its_move():
    game = answer(start(SELLING, "mini", 3), Offer(900))
    game = after_reply(game, Reply('{"offer":30,"message":"Nice piece!"}', "model", 9, "object"))
    assert said(game)[0].endswith("Nice piece!")


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


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("task", ["classic/single_deal", "classic/deceptive_seller", "bazaar/open"])
def test_no_sentence_of_a_scripted_seller_is_said_twice_in_a_game(task, language):
    for seed in range(6):
        told = sentences(said(bought_up(start(task, "", seed)), language=language))
        told = [part for part in told if re.search(r"\w{2}", part)]
        assert len(told) == len(set(told)), told


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_selling_models_words_do_not_repeat_and_are_in_the_visitors_language(language):
    for seed in range(6):
        game = bought_up(start("bazaar/open", "mini:fair", seed), reply=in_the_same_words)
        shown = said(game, language=language)
        told = [part for part in sentences(shown) if re.search(r"\w{2}", part)]
        assert len(told) == len(set(told)), told
        if language == HINDI:
            assert not re.search("[A-Za-z]", " ".join(shown))


def test_no_seller_names_a_lower_price_after_a_last_one():
    promise = re.compile("last|final|there I stop|cannot go|Here I end", re.IGNORECASE)
    for seed in range(20):
        shown = said(bought_up(start("classic/single_deal", "", seed)))
        assert not any(promise.search(line) for line in shown[1:-2]), shown


def test_the_bargain_of_the_day_answers_an_argument_too():
    game = bargain_of(date(2026, 11, 1))
    price = game.observation.table.item.list_price
    game = play_text(game, f"there is a dent, so {round(0.4 * price)}")
    answers = CHAT_LINES[ENGLISH]["seller"]["scratch"]
    assert said(game)[-1].startswith(tuple(line.split("#")[0] for line in answers))


def test_an_argument_in_small_talk_is_answered_with_the_next_move():
    game = start("classic/single_deal", "", 3)
    talk = exchanged(game, SILENT, "can I have some tea?")
    game = answer(game, Offer(round(0.4 * game.observation.table.item.list_price)))
    price = rupees(game.observation.ask)
    teas = [line.replace("#", price) for line in CHAT_LINES[ENGLISH]["seller"]["tea"]]
    assert said(game, talk)[-1].startswith(tuple(teas))
