"""The catalogue that sellers offer from."""

from env import CATALOGUE

CONDITIONS = {"new", "like_new", "very_good", "good", "acceptable"}


def test_every_listing_has_a_name_of_its_own_a_known_condition_and_a_price():
    assert len({item.name for item in CATALOGUE}) == len(CATALOGUE)
    for item in CATALOGUE:
        assert 0 < len(item.name.strip()) == len(item.name) <= 44  # it fits into a line
        assert not set(item.name) & set("\"'")
        assert item.category
        assert item.condition in CONDITIONS
        assert 50 <= item.list_price <= 80_000
