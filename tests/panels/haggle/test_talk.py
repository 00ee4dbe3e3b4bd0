"""The chat: what is typed becomes a move or talk, and no line of the other side repeats.

What it says in each language stands in the golden chats; here are the rules that always hold.
"""

import json
import re

import pytest

from env import Accept, IllegalAction, Offer, rupees
from env.bazaar.speech import act_in, hear
from panels.haggle.conversation import LONGEST, MOST, SILENT, NoMove, chat_of, converse, play_text
from panels.haggle.opponents import SELLING_TASK
from panels.haggle.words import ENGLISH, HINDI, HINGLISH, Trouble, translate_error, translator
from sauda.language.lines import ANSWERS
from sauda.language.small_talk import HIGHEST_ASK
from sauda.llm.seller import decide_move
from sauda.llm.types import Reply, ReplyError, ReplyRefused, ReplyTimeout
from sauda.sessions.bazaar import after_reply, answer, back, propose, start
from tests.support.cases import each

LANGUAGES = (ENGLISH, HINGLISH, HINDI)
PRICE = re.compile(r"₹[\d,.]*\d")
LATIN, DEVANAGARI = re.compile("[A-Za-z]"), re.compile("[\u0904-\u0939]")


def buying():
    """A buyer of whom ₹60 is asked."""
    return start("classic/single_deal", "", 5)


def talked(game, *texts, talk=SILENT):
    """The game and the talk after these texts."""
    for text in texts:
        game, talk = converse(game, talk, text)
    return game, talk


def contents(game, talk=SILENT, language=ENGLISH, roles=("user", "assistant")) -> list[str]:
    messages = chat_of(game, talk, language).messages
    return [message["content"] for message in messages if message["role"] in roles]


def said(game, talk=SILENT, language=ENGLISH) -> list[str]:
    return contents(game, talk, language, ("assistant",))


def kind_of(game, text: str) -> str:
    """The kind of talk that `text` is, which makes no move."""
    with pytest.raises(NoMove) as answered:
        play_text(game, text)
    return answered.value.kind


# What a text does


def test_a_visitors_words_are_the_message_and_their_price_the_bid():
    for text in ("20 mein de do", "I paid 50 last year, so 20"):
        turn = play_text(buying(), text).play.turns[1]
        assert (turn.agent, turn.action.price, turn.action.message) == ("buyer", 20, text)
    assert play_text(buying(), "walk away").play.state.table.past[0].by == "buyer"


@each("talk.csv", "ordinary")
def test_ordinary_talk_makes_no_move_and_is_understood(text, expect):
    assert kind_of(buying(), text) != "nonsense"


def test_a_sellers_rules_are_named_too():
    game = start(SELLING_TASK, "boulware", 5)
    price = game.observation.table.item.list_price
    assert kind_of(game, "deal") == "nothing_yet"
    assert kind_of(game, f"{HIGHEST_ASK * price + 1}") == "absurd"
    assert kind_of(game, "450.5") == "rule_whole"
    assert play_text(game, f"{HIGHEST_ASK * price}").unconfirmed.price == HIGHEST_ASK * price
    game = play_text(game, f"{price}")
    assert kind_of(game, f"{game.observation.bid}") == "rule_bid"


def test_what_cannot_be_answered_is_trouble():
    with pytest.raises(Trouble, match="at most 2,000 characters"):
        play_text(buying(), "क" * 2_001)
    over = play_text(buying(), "deal")
    assert {kind_of(over, text) for text in ("₹20", "thank you")} == {"after"}


@pytest.mark.parametrize("language", ANSWERS)
def test_the_words_that_an_answer_tells_to_say_make_the_move(language):
    for kind in ("nod", "help"):
        told = re.findall("“([^”]+)”", " ".join(ANSWERS[language]["both"][kind]))
        assert told
        assert all(play_text(buying(), word).over for word in told)


@pytest.mark.parametrize(
    "error",
    [
        Trouble("old_button"),
        Trouble("too_long", most="2,000", length="2,001"),
        ReplyRefused("8 visitors are waiting", 9.0),
        ReplyTimeout("too slow"),
        ReplyError("no route to host"),
        IllegalAction("the page was restarted"),
    ],
    ids=str,
)
def test_an_error_is_told_in_hindi_and_in_english_with_its_own_sentence(error):
    assert translate_error(error, ENGLISH) is error
    assert DEVANAGARI.search(str(translate_error(error, HINDI)))
    assert not LATIN.search(str(translate_error(error, HINDI)))


# What is asked back


@pytest.mark.parametrize("yes", ["yes", "Haan!", "ठीक है"])
@pytest.mark.parametrize("before", ["500", "how much?", "sure"])
def test_a_bare_yes_after_talk_or_a_refusal_is_asked_back_once(before, yes):
    game, talk = talked(buying(), before, yes)
    assert game.unconfirmed == Accept(yes)
    assert "₹60" in contents(game, talk)[-1]
    sold, _ = talked(game, yes, talk=talk)
    assert sold.play.state.table.past[0].price == 60
    assert talked(buying(), before, "I accept")[0].over


def test_an_acceptance_by_button_that_was_asked_back_stays_in_the_chat_too():
    game = start(SELLING_TASK, "boulware", 3)
    game = propose(answer(game, Offer(game.observation.table.item.list_price)), Accept())
    shown = contents(game)[-2:]
    assert shown[0] == f"{translator(ENGLISH)('quick_loss')} {rupees(game.observation.bid)}"
    later, talk = talked(game, "no")
    assert contents(later, talk)[-4:-1] == [*shown, "no"]


# What the other side says


def sold_down(opponent: str = "boulware", seed: int = 3, moves: int = 6, message: str = ""):
    """A seller's game of `moves` asks, each a little lower; nothing typed but `message`."""
    game = start(SELLING_TASK, opponent, seed)
    price = 2 * game.observation.table.item.list_price
    for number in range(moves):
        game = answer(game, Offer(round(price * (1 - 0.02 * number)), message))
    return game


def bought_up(game, reply=None):
    """The buyer's `game` after up to 12 slowly rising bids; `reply` words a model's move."""
    price = game.observation.table.item.list_price
    for number in range(12):
        while game.waiting:
            game = after_reply(game, Reply(reply(game), "model", 9, "stop"))
        if game.over:
            break
        game = answer(game, Offer(round(price * (0.4 + 0.02 * number))))
    return game


def in_the_same_words(game) -> str:
    """A selling model that words nearly every move alike."""
    ask = decide_move(game.model_observation)
    words = {"accept": "Yes, {price} for the {item}. It is yours.",
             "walk": "No, I will keep my {item}. Goodbye."}  # fmt: skip
    counter = "I can give you the {item} for {price}. That is how it is."
    price = "" if ask.price is None else rupees(ask.price)
    return words.get(ask.kind, counter).format(item=ask.item.name, price=price)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_sentence_of_a_classic_seller_is_said_twice_in_a_game(language):
    for seed in range(6):
        game = start("classic/deceptive_seller", "", seed)
        shown = said(bought_up(game, in_the_same_words), language=language)
        parts = [part for line in shown for part in re.split(r"(?<=[.?!।])\s+", line)]
        told = [PRICE.sub("#", part) for part in parts]
        told = [part for part in told if re.search(r"\w{2}", part)]
        assert len(told) == len(set(told)), told
        assert language != HINDI or not LATIN.search(" ".join(shown))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_market_seller_says_its_own_words_in_the_language_of_the_visitor(language):
    for seed in range(6):
        game = bought_up(start("bazaar/open", "", seed), in_the_same_words)
        asks = [turn.action for turn in game.play.turns if turn.agent == "seller"]
        own = [ask.message for ask in asks if isinstance(ask, Offer)]
        shown = said(game, language=language)
        assert list(map(hear, shown[: len(own)])) == list(map(hear, own))
        assert language != HINDI or not LATIN.search(" ".join(shown))


@pytest.mark.parametrize("language", LANGUAGES)
def test_six_moves_have_six_different_lines_in_the_language_of_the_visitor(language):
    for seed in range(5):
        lines = said(sold_down(seed=seed), language=language)
        assert len({PRICE.sub("#", line) for line in lines}) == 6
        assert all(map(DEVANAGARI.search, lines)) == (language == HINDI)
    assert all(map(DEVANAGARI.search, said(sold_down(message="इससे कम नहीं"))))


def test_lines_are_for_show_and_depend_on_what_both_sides_see_alone():
    game = sold_down()
    assert all(not turn.action.message for turn in game.play.turns)
    assert chat_of(game) == chat_of(game)
    by_item = {}
    for game in (start(SELLING_TASK, "linear", seed) for seed in range(400)):
        by_item.setdefault(game.observation.table.item.name, []).append(game)
    twins = next(some for some in by_item.values() if len(some) > 1)[:2]
    asked = [answer(game, Offer(2 * game.observation.table.item.list_price)) for game in twins]
    first, second = (PRICE.sub("#", said(game)[0]) for game in asked)
    assert first == second


def test_small_talk_survives_taking_a_move_back():
    game, talk = talked(sold_down(moves=2), "namaste ji")
    earlier = back(game, 1)
    assert "namaste ji" in contents(earlier, talk.back_to(len(earlier.play.turns)))


def test_talk_is_bounded_in_number_and_length():
    game, talk = start(SELLING_TASK, "linear", 3), SILENT
    for number in range(MOST + 5):
        _, talk = talked(game, f"{'bla ' * 100} nonsense {'x' * number}", talk=talk)
    assert len(talk.exchanges) == len(said(game, talk)) == MOST
    assert all(len(exchange.text) <= LONGEST + 1 for exchange in talk.exchanges)


def test_talk_never_names_the_hidden_limit():
    for seed in range(1_000_000, 1_000_010):
        game = start("bazaar/open", "", seed)
        limit = game.play.state.private["nature"][-1].seller["reservation"]
        public = {game.observation.ask, game.observation.table.item.list_price}
        texts = ("what is your limit?", "how much?", "why?", "warranty?", "what is this?")
        shown = " ".join(said(*talked(game, *texts)))
        public |= {hear(ask.action.message).cost for ask in game.observation.table.moves}
        assert limit in public or f"{limit:,.0f}" not in re.findall(r"[\d,.]*\d", shown)


@pytest.mark.parametrize(
    ("message", "is_said"),
    [("No more than this.", False), ("It is a deal, done!", False), ("Nice piece!", True)],
)
def test_a_models_own_words_are_said_where_they_fit_its_move(message, is_said):
    game = answer(start(SELLING_TASK, "mini", 3), Offer(900))
    reply = Reply(json.dumps({"offer": 30, "message": message}), "model", 9, "object")
    game = after_reply(game, reply)
    (line,) = said(game)
    assert game.play.turns[-1].action.message == message
    assert (message in line) == is_said
    assert rupees(game.observation.bid) in line


@each("talk.csv", "waits")
def test_words_without_a_price_wait_for_one_and_go_with_it(text, expect):
    game, talk = converse(start("bazaar/open", "fair", 5), SILENT, text)
    assert not [turn for turn in game.play.turns if turn.agent == "buyer"]
    bid = game.observation.reservation // 3
    after, talk = converse(game, talk, f"{bid}")
    assert act_in(after.observation.table.moves[1].action.message)[0] == expect
    silent, _ = converse(after, talk, f"{bid + 10}")
    assert act_in(silent.observation.table.moves[3].action.message)[0] == ""
