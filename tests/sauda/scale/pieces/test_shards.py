"""Shards of an evaluation: pieces that are kept, and the one table that they merge into."""

import json

import pytest

from sauda import __main__ as command
from sauda.experiments.evaluate import EvaluationSpec, evaluate
from sauda.scale.pieces.shards import Plan, merged, play

BAZAAR = EvaluationSpec(
    ("classic/career_10", "bazaar/open"), ("rule_based", "linear"), episodes=13, split="holdout"
)
ARENA = EvaluationSpec(
    ("arena/single_trade",), ("autarky", "wait"), "train", episodes=5, baseline="autarky"
)


def here(function, items):
    """The engine of one process, the last item first."""
    return ((item, function(item)) for item in reversed(items))


def as_saved(data):
    return json.loads(json.dumps(data))


@pytest.mark.parametrize("config", [BAZAAR, ARENA], ids=["bazaar", "arena"])
def test_the_merged_table_is_that_of_one_process_digit_for_digit(config, tmp_path):
    plan = Plan(config, shards=4)
    for shard in (3, 1, 4, 2):
        play(plan, tmp_path, here, [shard])
    assert as_saved(merged(tmp_path)[1]) == as_saved(evaluate(config, workers=1))


def test_shards_hold_every_seed_once_in_order_and_differ_by_one_in_size():
    for shards in (1, 2, 5, 13):
        parts = [Plan(BAZAAR, shards).seeds(shard) for shard in range(1, shards + 1)]
        assert [seed for part in parts for seed in part] == list(BAZAAR.seeds())
        assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_a_stopped_shard_resumes_where_it_was_and_says_what_it_lacks(tmp_path):
    plan, computed = Plan(BAZAAR, shards=2), []

    def stops_after_four(function, items):
        for item in items[:4]:
            yield item, function(item)
        raise KeyboardInterrupt

    def noted(function, items):
        computed.extend(items)
        return here(function, items)

    with pytest.raises(KeyboardInterrupt):
        play(plan, tmp_path, stops_after_four)
    with pytest.raises(ValueError, match=r"lacks 8 of 12 pieces, of shards 1, 2; play them"):
        merged(tmp_path)
    assert play(plan, tmp_path, noted) == 8
    assert len(computed) == 8
    assert play(plan, tmp_path, noted) == 0
    assert len(merged(tmp_path)[1]["rows"]) == 4


def test_pieces_of_another_plan_or_of_other_code_are_refused(tmp_path):
    play(Plan(BAZAAR, 2), tmp_path, here)
    with pytest.raises(ValueError, match="another plan, which differs in shards; choose another"):
        play(Plan(BAZAAR, 3), tmp_path, here)
    kept = json.loads((tmp_path / "plan.json").read_text())
    kept["code"] = "0" * 64
    (tmp_path / "plan.json").write_text(json.dumps(kept))
    with pytest.raises(ValueError, match="differs in code"):
        merged(tmp_path)


def test_a_damaged_piece_is_named_and_never_merged(tmp_path):
    play(plan := Plan(BAZAAR, 1), tmp_path, here)
    piece = plan.pieces()[-1]
    (tmp_path / piece.file).write_text('{"end": ')
    with pytest.raises(ValueError, match=r"seeds-50000-50012\.bazaar%2Fopen\.linear\.json is dama"):
        merged(tmp_path)


@pytest.mark.parametrize(
    ("shards", "config", "fault"),
    [
        (0, BAZAAR, "from 1 to 13 shards, not 0"),
        (14, BAZAAR, "from 1 to 13 shards, not 14"),
        (
            1,
            EvaluationSpec(("bazaar/open",), ("mini", "linear"), baseline="mini"),
            "played by `rollouts`",
        ),
        (1, EvaluationSpec(("bazaar/open",), ("nobody",), baseline="nobody"), "no policy 'nobody'"),
    ],
)
def test_a_plan_that_cannot_be_played_is_refused_in_a_sentence(shards, config, fault):
    with pytest.raises(ValueError, match=fault):
        Plan(config, shards)


def test_the_commands_play_two_shards_and_merge_their_table(tmp_path, capsys):
    folder = ["--folder", str(tmp_path / "parts")]
    what = ["--tasks", "bazaar/open", "--policies", "linear", "--episodes", "8", "--shards", "2"]
    assert command.main(["shards", "play", *what, *folder, "--shard", "3", "--workers", "1"]) == 2
    assert "numbered from 1 to 2; there is no 3" in capsys.readouterr().err
    assert command.main(["shards", "merge", *folder]) == 2
    assert "nothing was played there yet" in capsys.readouterr().err
    assert command.main(["shards", "play", *what, *folder, "--workers", "1"]) == 0
    assert "played 4 pieces" in capsys.readouterr().out
    assert command.main(["shards", "merge", *folder, "--out", "oracle.json"]) == 2
    assert "cannot hold an evaluation" in capsys.readouterr().err
    assert command.main(["shards", "merge", *folder]) == 0
    assert "bazaar/open" in capsys.readouterr().out
    assert (tmp_path / "parts" / "plan.json").exists()
