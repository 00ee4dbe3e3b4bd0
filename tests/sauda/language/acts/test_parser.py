"""The act of an utterance, by what was said before it and by how a deal closes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sauda.language.acts import DOLLARS, Act, Context, Dialogue, Turn, parse, read

LISTED = Context("buyer", 500.0, currency=DOLLARS, has_buttons=True)  # nothing on the table yet
HAGGLED = Context("buyer", 500.0, own=300.0, theirs=450.0, currency=DOLLARS, has_buttons=True)
GAME = Context("buyer", 500.0, own=300.0, theirs=450.0)  # in rupees, closed by words


def acts_of(*texts: str, list_price: float | None = 500.0, **fields) -> list[str]:
    """The acts that are read from words said in turn, the buyer first."""
    turns = tuple(Turn(("buyer", "seller")[i % 2], text) for i, text in enumerate(texts))
    values = {"buyer": {"target": 350.0}, "seller": {"target": 500.0}}
    dialogue = Dialogue(
        "test/1", "lamp 500", "item: lamp", values, turns, DOLLARS, list_price, **fields
    )
    return [str(act) for act in read(dialogue)]


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("Would $300 be all right?", "init-price(300)"),
        ("I could pay 280 in cash", "init-price(280)"),
        ("can you do 0.3k?", "init-price(300)"),
        ("Can you come down a bit?", "vague-price"),
        ("What is your lowest?", "vague-price"),
        ("That is too high for me", "vague-price"),
        ("Does it still work?", "inquire"),
        ("where did you buy it", "inquire"),
        ("no", "disagree"),
        ("I cannot do that", "disagree"),
        ("I don't think so", "disagree"),
        ("ok", "agree"),
        ("Deal!", "agree"),
        ("We have a deal", "agree"),
        ("It belonged to my aunt", "unknown"),
        ("Hello, does it still work?", "unknown"),  # a greeting and a question
    ],
)
def test_the_act_before_any_price(text, act):
    assert str(parse(text, LISTED)) == act


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("How about $350?", "counter-price(350)"),
        ("I said $300", "insist(300)"),
        ("$450 it is then", "agree(450)"),
        ("I could do 340 or 360", "counter-price(340)"),  # the better one for a buyer
        ("Then only $280", "counter-price"),  # no concession from 300, so it proposes nothing
        ("your 500 is more than I have", "counter-price"),  # a buyer never proposes the list price
        ("the 1990 model is worth less", "unknown"),
        ("no deal", "disagree"),
        ("We don't have a deal", "disagree"),
        ("I disagree", "unknown"),
        ("That would be ideal", "unknown"),
        ("A great deal of rust on it", "unknown"),
    ],
)
def test_the_act_when_prices_stand(text, act):
    assert str(parse(text, HAGGLED)) == act


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("Agreed, ₹450.", "accept(450)"),
        ("Pakka, done!", "accept(450)"),
        ("₹450.", "offer(450)"),  # no word of agreement: an offer at the other side's price
        ("Sold for ₹400?", "counter-price(400)"),
        ("I am not sold on ₹450", "offer(450)"),
        ("No deal. Goodbye.", "reject"),
        ("₹310", "counter-price(310)"),
        ("Still ₹300, friend.", "insist(300)"),
        ("₹310 or ₹320", "unknown"),  # which of the two?
        ("$310", "unknown"),  # no rupees
        ("Agreed, $450", "unknown"),
        ("Agreed, ₹450 or ₹460", "unknown"),
        ("Agreed?! ₹300 then", "insist(300)"),
    ],
)
def test_words_close_a_game(text, act):
    assert str(parse(text, GAME)) == act


def test_words_close_a_game_in_the_currency_that_it_declares():
    dollars = Context("buyer", 500.0, own=300.0, theirs=450.0, currency=DOLLARS)
    assert str(parse("Agreed, $450.", dollars)) == "accept(450)"
    with pytest.raises(ValueError, match="no currency 'EUR'"):
        parse("450", Context("buyer", 500.0, currency="EUR"))


def test_a_dialogue_is_read_in_the_light_of_what_was_read_before():
    assert acts_of(
        "Hi there", "Hello", "Does it work?", "It works well", "I give you $300", "Make it $450",
        "$300 and no more", "400", "400 then",
    ) == [
        "intro", "unknown", "inquire", "inform", "init-price(300)", "counter-price(450)",
        "insist(300)", "counter-price(400)", "agree(400)",
    ]  # fmt: skip


def test_an_event_keeps_its_act_and_puts_its_price_on_the_table():
    turns = (
        Turn("buyer", "I have $300"),
        Turn("seller", "", Act("offer", 400.0)),
        Turn("buyer", "Not $400, sorry"),
        Turn("seller", "", None),
    )
    dialogue = Dialogue("test/1", "lamp", "", {}, turns, DOLLARS, 500.0)
    assert list(map(str, read(dialogue))) == ["init-price(300)", "offer(400)", "agree(400)", "None"]


def test_the_annotation_of_words_is_not_looked_at():
    turns = (Turn("buyer", "Hi", Act("insist", 3.0)), Turn("seller", "It is $500", Act("quit")))
    dialogue = Dialogue("test/1", "lamp", "", {}, turns, DOLLARS, 500.0)
    assert list(map(str, read(dialogue))) == ["intro", "init-price(500)"]


def test_a_number_of_the_posting_is_no_price_unless_it_is_marked():
    seen = {"notes": "Lamp 250\nbought in 2016"}
    assert acts_of("Hello", "The 250 is the best one", **seen)[1] == "unknown"
    assert acts_of("Hello", "The $250 is the best one", **seen)[1] == "init-price(250)"
    assert acts_of("Hello", "Yours for 500", notes="Lamp 500")[1] == "init-price(500)"
    comics = {"notes": "stack of twenty comics"}
    assert acts_of("I saw your stack of twenty comics", "Hi", **comics)[0] == "intro"


def test_numbers_are_no_prices_where_nothing_is_sold():
    assert acts_of("i take 2 books", "ok", list_price=None) == ["intro", "agree"]


def test_a_seller_proposes_its_highest_price_and_a_buyer_its_lowest():
    said = "I thought of $320 or $360"
    fields = {"list_price": 500.0, "currency": DOLLARS, "has_buttons": True}
    assert parse(said, Context("buyer", **fields)).price == 320
    assert parse(said, Context("seller", **fields)).price == 360


def test_an_act_that_does_not_exist_is_refused_by_name():
    with pytest.raises(ValueError, match="no act 'bribe'; acts are intro, inquire"):
        Act("bribe")


@given(st.text(max_size=200), st.booleans())
def test_any_text_has_an_act(text, has_buttons):
    for context in (GAME, HAGGLED, Context("seller", first=True)):
        assert parse(text, Context(**{**fields_of(context), "has_buttons": has_buttons}))


def fields_of(context: Context) -> dict[str, object]:
    """The fields of a context by name."""
    return {name: getattr(context, name) for name in context.__dataclass_fields__}
