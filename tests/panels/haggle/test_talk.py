"""The chat: what a typed line does, what the other side says, and what is drawn of a game.

What it says in each language stands in the golden views and chats; here are the rules that always
hold, and labelled lines of visitors (tests/cases). `visitor_lines.csv` is by one who saw no code.
Parts: 2 prices that are no offers, 3 acceptances, 4 small talk, 5 numbers.
"""

import re
from dataclasses import replace

import pytest
from markupsafe import Markup

from env import Accept, IllegalAction, Item, Move, Offer, WalkAway, corpus, ear, rupees
from env.bazaar.speech import Speech
from env.bazaar.types import State
from env.language.money import prices
from panels.haggle.conversation import (
    LONGEST,
    MOST,
    NOTE,
    SILENT,
    NoMove,
    chat_of,
    converse,
    play_text,
)
from panels.haggle.game_view import (
    brief,
    bubbles,
    chart,
    findings,
    limits,
    mark,
    quick_labels,
)
from panels.haggle.opponents import BRIEF_TASK, BUY, SELL, SELLING_TASK
from panels.haggle.result import board_of, card, result
from panels.haggle.words import ENGLISH, HINDI, HINGLISH, Trouble, translate_error, translator
from panels.ui.look import as_typed
from sauda.language.lines import ANSWERS, hindi_names
from sauda.language.small_talk import HIGHEST_ASK, kind_of_talk
from sauda.language.stances import relative
from sauda.llm.types import Reply, ReplyError, ReplyRefused, ReplyTimeout
from sauda.sessions.bazaar import (
    Game,
    after_reply,
    answer,
    back,
    is_too_late,
    propose,
    request,
    start,
)
from tests.support.cases import cases, each, rows

LANGUAGES = (ENGLISH, HINGLISH, HINDI)
IN_ENGLISH, IN_HINDI = translator(ENGLISH), translator(HINDI)
PRICE = re.compile(r"₹[\d,.]*\d")
LATIN, DEVANAGARI = re.compile("[A-Za-z]"), re.compile("[\u0904-\u0939]")


def buying():
    """A buyer of whom ₹60 is asked."""
    return start("classic/single_deal", "", 5)


def at_last_bid() -> Game:
    """A game of a seller whom the buyer has answered for the last time."""
    for seed in range(50):
        game = start(SELLING_TASK, "", seed)
        price = 2 * game.observation.table.item.list_price
        while not game.over and not is_too_late(game.observation):
            game = answer(game, Offer(price))
            price -= 1
        if not game.over:
            return game
    raise AssertionError("no buyer stayed to its last bid")


def talked(game, *texts, talk=SILENT):
    """The game and the talk after these texts."""
    for text in texts:
        game, talk = converse(game, talk, text)
    return game, talk


def contents(game, talk=SILENT, language=ENGLISH, roles=("user", "assistant", NOTE)) -> list[str]:
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
    game = start(BRIEF_TASK, "boulware", 5)
    price = game.observation.table.item.list_price
    assert kind_of(game, "deal") == "nothing_yet"
    assert kind_of(game, f"{HIGHEST_ASK * price + 1}") == "absurd"
    assert kind_of(game, "450.5") == "rule_whole"
    assert play_text(game, f"{HIGHEST_ASK * price}").unconfirmed.price == HIGHEST_ASK * price
    game = play_text(game, f"{price}")
    assert kind_of(game, f"{game.observation.bid}") == "rule_bid"


def test_after_the_last_bid_a_sellers_price_is_refused_and_nothing_is_lost():
    game = at_last_bid()
    standing = rupees(game.observation.bid)
    asked, talk = converse(game, SILENT, f"{game.observation.table.asks[-1]}")
    assert asked.play == game.play
    assert f"accept {standing} or walk away" in contents(asked, talk)[-1]
    assert [name.partition(":")[0] for _, name in quick_labels(asked, IN_ENGLISH)] == [
        "accept", "walk",
    ]  # fmt: skip
    assert converse(asked, talk, "bye")[0].over


@pytest.mark.parametrize(
    ("limit", "purse", "kind"), [(100, 200, "rule_limit"), (200, 100, "rule_budget")]
)
def test_a_price_that_cannot_be_paid_is_refused_by_the_limit_or_by_a_purse_below_it(
    limit, purse, kind
):
    game = start("bazaar/people", "", 5)
    private = game.play.state.private
    buyer = {**private["buyer"], "reservation": limit, "purse": purse}
    state = replace(game.play.state, private={**private, "buyer": buyer})
    poor = replace(game, play=replace(game.play, state=state))
    for text in ("250", "deal"):
        with pytest.raises(NoMove) as refused:
            play_text(poor, text)
        assert refused.value.kind == kind
        assert "₹100" in IN_ENGLISH(kind, **refused.value.values)


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


ERRORS = (
    Trouble("old_button"), Trouble("too_long", most="2,000", length="2,001"),
    ReplyRefused("8 visitors are waiting", 9.0), ReplyTimeout("too slow"),
    ReplyError("no route to host"), IllegalAction("the page was restarted"),
)  # fmt: skip


@pytest.mark.parametrize("error", ERRORS, ids=str)
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
    game = start(BRIEF_TASK, "boulware", 3)
    game = propose(answer(game, Offer(game.observation.table.item.list_price)), Accept())
    shown = contents(game)[-2:]
    assert shown[0] == f"{translator(ENGLISH)('quick_loss')} {rupees(game.observation.bid)}"
    later, talk = talked(game, "no")
    assert contents(later, talk)[-4:-1] == [*shown, "no"]


def test_what_the_page_tells_a_visitor_is_a_note_that_no_model_reads():
    game = answer(start(BRIEF_TASK, "mini", 3), Offer(900))
    game = after_reply(game, Reply('{"offer": 30}', "mini", 9, "stop"))
    limit = rupees(game.observation.reservation)
    asked = propose(game, Accept())
    *_, note = contents(asked, roles=(NOTE,))
    assert limit in note
    assert limit not in " ".join(said(asked))
    shown = bubbles(chat_of(asked).messages)
    assert shown[-1]["content"] == f"<small>{note}</small>"
    read = "".join(message["content"] for message in request(propose(asked, Offer(800))).messages)
    assert not set(re.findall(r"\d+", limit)) & set(re.findall(r"\d+", read))


def test_a_button_is_another_one_once_its_move_is_asked_back():
    game = answer(start(BRIEF_TASK, "boulware", 3), Offer(900))
    asked = propose(game, Accept())
    before, after = (quick_labels(each, IN_ENGLISH) for each in (game, asked))
    assert [label for label, _ in before] == [label for label, _ in after]
    assert not {move for _, move in before} & {move for _, move in after}


# What the other side says


def sold_down(opponent: str = "boulware", seed: int = 3, moves: int = 6, message: str = ""):
    """A seller's game of `moves` asks, each a little lower; nothing typed but `message`."""
    game = start(BRIEF_TASK, opponent, seed)
    price = 2 * game.observation.table.item.list_price
    for number in range(moves):
        game = answer(game, Offer(round(price * (1 - 0.02 * number)), message))
    return game


def bought_up(game):
    """The buyer's `game` after up to 12 slowly rising bids."""
    price = game.observation.table.item.list_price
    for number in range(12):
        if not game.over:
            game = answer(game, Offer(round(price * (0.4 + 0.02 * number))))
    return game


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_sentence_of_a_classic_seller_is_said_twice_in_a_game(language):
    for seed in range(6):
        game = start("classic/deceptive_seller", "", seed)
        shown = said(bought_up(game), language=language)
        parts = [part for line in shown for part in re.split(r"(?<=[.?!।])\s+", line)]
        told = [PRICE.sub("#", part) for part in parts]
        told = [part for part in told if re.search(r"\w{2}", part)]
        assert len(told) == len(set(told)), told
        assert language != HINDI or not LATIN.search(" ".join(shown))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("task", ["bazaar/open-3", "bazaar/people"])
def test_a_market_seller_says_its_own_words_in_the_language_of_the_visitor(task, language):
    for seed in range(6):
        game = bought_up(start(task, "", seed))
        asks = [turn.action for turn in game.play.turns if turn.agent == "seller"]
        own = [ask.message for ask in asks if isinstance(ask, Offer)]
        shown = said(game, language=language)
        for told, line in zip(shown, own, strict=False):
            assert PRICE.findall(told) == PRICE.findall(line)
        assert not (LATIN if language == HINDI else DEVANAGARI).search(" ".join(shown))


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
    for game in (start(BRIEF_TASK, "linear", seed) for seed in range(400)):
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
    game, talk = start(BRIEF_TASK, "linear", 3), SILENT
    for number in range(MOST + 5):
        _, talk = talked(game, f"{'bla ' * 100} nonsense {'x' * number}", talk=talk)
    assert len(talk.exchanges) == len(said(game, talk)) == MOST
    assert all(len(exchange.text) <= LONGEST + 1 for exchange in talk.exchanges)


def test_talk_never_names_the_hidden_limit():
    for seed in range(1_000_000, 1_000_010):
        game = start("bazaar/open-3", "", seed)
        limit = game.play.state.private["nature"][-1].seller["reservation"]
        public = {game.observation.ask, game.observation.table.item.list_price}
        texts = ("what is your limit?", "how much?", "why?", "warranty?", "what is this?")
        shown = " ".join(said(*talked(game, *texts)))
        public |= {ear.hear(ask.action.message).cost for ask in game.observation.table.moves}
        assert limit in public or f"{limit:,.0f}" not in re.findall(r"[\d,.]*\d", shown)


@each("talk.csv", "waits")
def test_words_without_a_price_wait_for_one_and_go_with_it(text, expect):
    game, talk = converse(start("bazaar/open-3", "fair", 5), SILENT, text)
    assert not [turn for turn in game.play.turns if turn.agent == "buyer"]
    assert not talk.exchanges[-1].is_narrated  # the seller answers, and not the page
    bid = game.observation.reservation // 3
    after, talk = converse(game, talk, f"{bid}")
    assert ear.act_in(after.observation.table.moves[1].action.message)[0] == expect
    silent, _ = converse(after, talk, f"{bid + 10}")
    assert ear.act_in(silent.observation.table.moves[3].action.message)[0] == ""


# What is drawn


def test_a_higher_bid_of_another_buyer_is_told_of_the_round_in_which_it_was_made():
    game = start("classic/marketplace_arena", "", 1)
    for number in (1, 2):
        game = answer(game, Offer(20 + number))
        facts = re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", brief(game))
        assert (f"Round {number}", "somebody bid more than you") in facts


@pytest.mark.parametrize("seat", [BUY, SELL])
def test_nothing_hidden_is_shown_before_the_end(seat):
    for seed in range(2_000_000, 2_000_020):
        game = start(BRIEF_TASK if seat == SELL else "classic/amazon_realistic", "", seed)
        seller, buyer = limits(game)
        secret = buyer if seat == SELL else round(seller, 2)
        assert secret != game.observation.table.item.list_price  # or it would be public
        shown = "".join(map(str, (brief(game), chart(game), result(game))))
        assert str(game.play.seed) not in shown
        assert rupees(secret) not in shown
        assert (card(game), board_of(game)) == ("", ())


@each("talk.csv", "bubble")
def test_an_own_bubble_shows_the_price_that_was_read_and_words_that_were_read_as_it(text, expect):
    game, talk = converse(start("classic/single_deal", "", 5), SILENT, text)
    (own,) = (m["content"] for m in bubbles(chat_of(game, talk).messages) if m["role"] == "user")
    assert Markup(own.replace("</b> ", "</b> · ")).striptags() == expect


@pytest.mark.parametrize("language", ["en", "hinglish", "hi"])
def test_each_thing_that_is_heard_stands_beside_the_phrase_that_told_it(language):
    heard = Speech("firm", "cost", "price", 310, "swear", "pleased")
    item = buying().observation.table.item
    lines = (corpus.line(heard, 760, None, draw / 50, language, "evaluation", item)
             for draw in range(50))  # fmt: skip
    line = next(line for line in lines if ear.hear(line) == heard)
    found = {one.part: one for one in findings([line])}
    keys = ("style_firm", "mood_pleased", "claim_cost_price", "candour_swear")
    assert tuple(one.key for one in found.values()) == keys
    assert found["claim"].cost == 310
    for one in found.values():
        assert line[one.start : one.start + len(one.phrase)] == one.phrase
    shown = mark(line, list(found.values()), IN_ENGLISH)
    assert shown.count("<mark") == 4
    assert Markup(shown).striptags() == Markup(line).striptags()


def test_a_phrase_beyond_a_price_is_heard_by_itself_and_an_older_one_has_no_place():
    (older,) = findings(["₹500. The rate is fixed and I do not negotiate.", "₹480."])
    assert (older.key, older.start) == ("style_firm", None)


def test_the_words_of_both_sides_enter_the_chat_escaped():
    image = '<img src=x onerror="alert()"> &lt;b&gt;'
    game = answer(start("bazaar/sell", "mini", 3), Offer(900, f"900 {image}"))
    game = after_reply(game, Reply('{"offer": 50, "say": "<h1>fine</h1>"}', "m"))
    visitor, model = (m["content"] for m in bubbles(chat_of(game).messages))
    assert visitor == f"<b>₹900</b> 900 {as_typed(image)}"
    assert "&lt;h1&gt;fine&lt;/h1&gt;" in model


# Labelled lines, each in a game at a given table


ASKS = {"several", "unclear", "vague", "each", "no_own", "no_theirs", "nothing_yet"}


LINES = [*rows("visitor_lines.csv"), *rows("price_lines.csv")]
PRICES = [row for row in LINES if row["part"] in "25"]
ACCEPTANCES, TALK = ([row for row in rows("visitor_talk.csv") if row["part"] == part]
                     for part in "34")  # fmt: skip
LAMP = {"seat": "buyer", "item": "lamp", "list_price": "2400", "limit": "1500", "standing": "1800",
        "own": "900"}  # fmt: skip
by_id = {"argnames": "row", "ids": lambda row: row["id"]}


def game_of(row: dict[str, str]) -> Game:
    """A game in which it is the visitor's turn at the table of `row`."""
    seat, buys = row["seat"], row["seat"] == "buyer"
    game = start("bazaar/open-3", "", 5) if buys else start(BRIEF_TASK, "boulware", 5)
    own, theirs = (tuple(map(float, filter(None, [row[key]]))) for key in ("own", "standing"))
    item = Item(row["item"], "home", "good", int(row["list_price"]))
    moves = [Move(seat, Offer(price)) for price in own]
    other = "seller" if buys else "buyer"
    moves += [Move(other, Offer(price, row.get("asked", ""))) for price in theirs]
    asks, bids = (theirs, own) if buys else (own, theirs)
    table = game.play.state.table._replace(
        item=item, asks=asks, bids=bids, moves=tuple(moves), rounds=9, round=1
    )
    purse = {"purse": 10 * item.list_price} if buys else {}
    private = dict(game.play.state.private)
    private[seat] = {**private[seat], "reservation": float(row["limit"]), **purse}
    return replace(game, play=replace(game.play, state=State(table, seat, private)))


def outcome(row: dict[str, str]) -> tuple[str, float | None, str]:
    """What the page does with the line of `row`, the price if it names one, and the kind of talk.

    "offer" is a price as said, which may be asked back because it is far off or a loss; "propose" a
    price that was worked out and waits for a yes; "rule" an offer or a yes that breaks a rule.
    """
    game = game_of(row)
    try:
        after = play_text(game, row["text"])
    except NoMove as no_move:
        kind = no_move.kind
        return "ask_back" if kind in ASKS else "rule" if "rule" in kind else "talk", None, kind
    waits = after.unconfirmed
    action = waits or after.play.turns[len(game.play.turns)].action
    if not isinstance(action, Offer):
        return {Accept: "accept", WalkAway: "walk"}[type(action)], None, "asked" * bool(waits)
    proposed = waits and relative(action.message)
    return "propose" if proposed else "offer", action.price, "asked" * bool(waits)


@pytest.mark.parametrize(argvalues=PRICES, **by_id)
def test_a_line_does_what_its_writer_meant(row):
    assert outcome(row)[:2] == (row["expect"], float(row["price"]) if row["price"] else None)


@pytest.mark.parametrize(argvalues=rows("bargain_lines.csv"), **by_id)
def test_a_line_binds_its_writer_to_what_it_offers_and_to_nothing_else(row):
    """By topic: a price in question, of one piece, of another, under a condition, no price."""
    does, price, kind = outcome(row)
    expected = row["expect"], float(row["price"]) if row["price"] else None
    assert ("talk" if does == "ask_back" else does, price) == expected
    assert not row["kinds"] or kind in row["kinds"].split("|")


@pytest.mark.parametrize(argvalues=ACCEPTANCES, **by_id)
def test_an_acceptance_in_any_words_takes_what_stands_and_no_other_price(row):
    does, _, kind = outcome(row)
    expected = "ask_back" if row["topic"] == "loss" else row["expect"]
    asked = kind in ("asked", "nothing_yet")
    assert ("ask_back" if asked else "talk" if kind else does) == expected, row["text"]
    if row["expect"] == "accept" and not prices(row["text"]):
        other = f"{row['text'].rstrip('.!।')}, {int(row['standing']) - 37}"
        does, _, kind = outcome(row | {"text": other})
        assert does != "accept" or kind, other


@pytest.mark.parametrize(
    ("text", "kind"), [("1e400 more", "high"), ("1e400 less", "zero"), ("1e400 % of that", "high")]
)
def test_a_change_beyond_all_prices_is_answered_in_words(text, kind):
    assert outcome(LAMP | {"limit": "2300", "text": text}) == ("talk", None, kind)


@pytest.mark.parametrize(argvalues=TALK, **by_id)
def test_small_talk_is_answered_fittingly(row):
    assert outcome(row)[2] in row["kinds"].split("|"), row["text"]


@pytest.mark.parametrize(("text", "_"), cases("relative_prices.csv", "refuse"))
def test_no_game_closes_at_a_price_that_the_visitor_refuses(text, _):
    for task, seed in (("classic/single_deal", 5), ("bazaar/open-3", 1), ("bazaar/mute-3", 2)):
        game = start(task, "", seed)
        after, talk = converse(game, SILENT, text.format(f"{game.observation.ask:g}"))
        assert after == game
        assert talk.exchanges[-1].kind in ("refused", "press")


RELATIVE = [(does, *row) for does in ("propose", "offer")
            for row in cases("relative_prices.csv", does)]  # fmt: skip


@pytest.mark.parametrize(("does", "text", "price"), RELATIVE)
def test_a_relative_price_is_worked_out_and_a_yes_offers_it(does, text, price):
    row = LAMP | {"limit": "2300", "text": text}
    assert outcome(row)[:2] == (does, int(price))
    if does == "propose":
        game = game_of(row)
        asked = play_text(game, text)
        assert asked.play == game.play
        assert f"₹{int(price):,}" in chat_of(asked).messages[-1]["content"]
        assert play_text(asked, "yes").play.turns[len(game.play.turns)].action.price == int(price)


@pytest.mark.parametrize("yes", ["yes", "haan", "that works for me"])
def test_a_condition_is_named_before_the_deal_is_closed(yes):
    row = next(row for row in ACCEPTANCES if row["topic"] == "conditional")
    game, talk = converse(game_of(row), SILENT, row["text"])
    assert "condition" in chat_of(game, talk).messages[-1]["content"]
    closed, _ = converse(game, talk, yes)
    assert closed.play.state.table.past[-1].price == float(row["standing"])


def test_neither_a_plain_word_nor_an_item_of_the_catalogue_is_an_insult():
    texts = ["Is this still for sale?", "What is the sale price of the bed sheet?", "हाथ छोड़िए"]
    texts += ["a full sheet of glass", "chhor do na", *hindi_names(), *hindi_names().values()]
    assert not [text for text in texts if kind_of_talk(text) == "insult"]
