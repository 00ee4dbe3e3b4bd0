"""What is recorded of the models that played: one source, on every kind of CPU that played it."""

from sauda.llm.sources import Played, is_same_player, with_cpus

THEN = {"mini": {"sha256": "a", "cpu": "avx2 or avx2 amx"}, "gone": {"sha256": "g", "cpu": "sse"}}
NOW = {"mini": {"sha256": "a", "cpu": "avx512"}, "mini+sft": {"sha256": "b", "cpu": "avx512"}}
KEPT, NEW = Played("mini", kept=True, new=False), Played("mini+sft", kept=False, new=True)


def test_a_model_names_all_kinds_of_cpu_that_played_its_games():
    both = [KEPT, Played("mini", kept=True, new=True), NEW]
    sources = with_cpus(NOW, THEN, both)
    assert sources["mini"] == {"sha256": "a", "cpu": "avx2 or avx2 amx or avx512"}
    assert sources["mini+sft"] == NOW["mini+sft"]
    assert with_cpus({"mini": NOW["mini"]}, THEN, [KEPT])["mini"]["cpu"] == THEN["mini"]["cpu"]


def test_a_player_is_the_same_on_another_cpu_and_not_with_other_weights():
    assert is_same_player(THEN["mini"], NOW["mini"])
    assert not is_same_player(THEN["mini"], NOW["mini+sft"])
    assert not is_same_player(None, NOW["mini"])
