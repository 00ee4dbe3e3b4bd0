from collections import Counter

import pytest

from env.bazaar.types import CATALOGUE, CONDITIONS, Item, items_from_csv

HEADER = "name,category,condition,list_price"
SCARF = "handwoven silk scarf,Textiles,new,850"


def test_the_catalogue_holds_at_least_300_items_in_12_categories_of_27_or_more():
    items_per_category = Counter(item.category for item in CATALOGUE)
    assert len(CATALOGUE) >= 300
    assert len(items_per_category) == 12
    assert min(items_per_category.values()) >= 27


def test_list_prices_are_whole_rupees_from_50_to_80000():
    assert all(type(item.list_price) is int for item in CATALOGUE)
    assert all(50 <= item.list_price <= 80_000 for item in CATALOGUE)


def test_list_prices_spread_from_trinkets_to_vehicles():
    prices = [item.list_price for item in CATALOGUE]
    assert sum(price < 200 for price in prices) >= 25
    assert sum(200 <= price < 1_000 for price in prices) >= 60
    assert sum(1_000 <= price <= 10_000 for price in prices) >= 80
    assert sum(price > 10_000 for price in prices) >= 50
    assert max(prices) > 60_000


def test_names_are_unique_whatever_their_case():
    names = {item.name.casefold() for item in CATALOGUE}
    assert len(names) == len(CATALOGUE)


def test_names_are_short_and_free_of_commas_and_quotes():
    for item in CATALOGUE:
        assert 0 < len(item.name) <= 44
        assert not set(item.name) & set(",\"'")


def test_every_condition_occurs():
    assert {item.condition for item in CATALOGUE} == set(CONDITIONS)


def test_a_good_row_becomes_an_item():
    assert items_from_csv([HEADER, SCARF]) == (
        Item("handwoven silk scarf", "Textiles", "new", 850),
    )


@pytest.mark.parametrize(
    ("bad_row", "expected"),
    [
        ("brass bell,Decor,new", "4 fields"),
        ("brass bell ,Decor,new,450", "no space around"),
        ("brass bell, big,Decor,new,450", "4 fields"),
        ("", "4 fields"),
        (",Decor,new,450", "a name"),
        ('"brass" bell,Decor,new,450', "a name without quotes"),
        ("x" * 45 + ",Decor,new,450", "a name"),
        ("brass bell,,new,450", "a category"),
        ("brass bell,Decor,worn,450", "a condition among new"),
        ("brass bell,Decor,new,450.50", "whole rupees"),
        ("brass bell,Decor,new,49", "from 50 to 80000"),
        ("brass bell,Decor,new,80001", "from 50 to 80000"),
        (SCARF, "not used above"),
    ],
)
def test_a_bad_row_is_refused_by_its_line_and_what_was_expected(bad_row: str, expected: str):
    with pytest.raises(ValueError, match=f"line 3: expected .*{expected}"):
        items_from_csv([HEADER, SCARF, bad_row])


def test_a_wrong_header_is_refused_on_line_1():
    with pytest.raises(ValueError, match="line 1: expected the header"):
        items_from_csv(["name,price", SCARF])
