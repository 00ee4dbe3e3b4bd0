import pytest

from env.bazaar.types import Item, items_from_csv

HEADER = "name,category,condition,list_price"
SCARF = "handwoven silk scarf,Textiles,new,850"


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
