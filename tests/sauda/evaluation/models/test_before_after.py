"""Before and after: games chosen by rule, made again from the replies, their differences marked."""

import json
import re
from dataclasses import asdict, dataclass

import gradio as gr
import pytest

import sauda.__main__ as command_line
from panels.transcripts import before_after as panel
from panels.transcripts import pair_tab
from sauda.commands import compare_models
from sauda.evaluation.models import before_after
from sauda.evaluation.models.before_after import SIDES, Config, chosen, compare
from sauda.evaluation.models.config import Config as Comparison
from sauda.evaluation.verification.verify import verify
from sauda.games.transcript import from_json
from sauda.llm.turn import PlayerSpec
from sauda.llm.types import Reply
from sauda.llm.wrappers import WRAPPERS
from sauda.records.kinds import ArtifactError, entry
from sauda.records.schemas.comparison import ChosenPair
from sauda.records.splits import SPLITS
from sauda.records.store import Artifact, load, renew_checksums, save, write

FILE = panel.FILE
TASK = "bazaar/open"


@dataclass(frozen=True)
class Canned:
    """Bids `first` percent, then `step` more each time; writes `garbage` where its seed says so."""

    first: int
    step: int = 4
    garbage: str = ""
    every: int = 1

    def __call__(self, messages, seed, schema=None):
        if self.garbage and seed % self.every == 0:
            return Reply(self.garbage, "canned", 1, "stop")
        bids = sum(m["role"] == "assistant" for m in messages)
        return Reply(json.dumps({"offer": self.first + bids * self.step}), "canned", 5, "object")

    def batch(self, chats, seeds, schemas):
        return [self(*request) for request in zip(chats, seeds, schemas, strict=True)]


HOSTILE = "I give <script>alert(1)</script> & more"
PLAYERS = {
    "low": PlayerSpec(Canned(40)),
    "high": PlayerSpec(Canned(48, step=6)),
    "shaky": PlayerSpec(Canned(40, garbage=HOSTILE, every=3)),
    "wordy": PlayerSpec(Canned(40, garbage=HOSTILE)),
}


def compared(before: str, after: str, episodes: int = 7, tasks=(TASK, "bazaar/rushed")):
    """The config and the data of two canned players, as JSON has them."""
    config = Config(before, after, tasks, episodes)
    return config, json.loads(json.dumps(compare(config, PLAYERS.__getitem__)))


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A root with an artifact of two canned players, the first of whom forfeits some games."""
    root = tmp_path_factory.mktemp("artifacts")
    config, data = compared("shaky", "high")
    save(FILE, asdict(config), data, root)
    return root


@pytest.fixture
def artifact(root) -> Artifact:
    return load(FILE, root)


@pytest.fixture
def changed(root, tmp_path):
    """Verifies a copy of the artifact after `change` was made to its data."""

    def verified(change):
        content = json.loads((root / FILE).read_text(encoding="utf-8"))
        change(content["data"])
        write(tmp_path / FILE, json.dumps(content))
        renew_checksums([FILE], tmp_path)
        return verify(FILE, root=tmp_path)

    return verified


# The rule


def picked(gains, zopa=None, deals=None):
    n = len(gains)
    everywhere = [True] * n
    after = [0.1 + gain for gain in gains]
    return chosen(range(10, 10 + n), [0.1] * n, after, zopa or everywhere, deals or everywhere)


@pytest.mark.parametrize(
    ("gains", "best", "low", "middle", "high"),
    [
        ([0.1, 0.5, -0.2, 0.3, 0.0], 11, 12, 10, 13),
        ([0.4, 0.1, 0.3, 0.2], 10, 11, 13, 12),  # the lower of two neighbours
        ([0.2, 0.2, 0.2, 0.2], 10, 10, 11, 12),  # all equal: by seed
        ([0.5], 10, 10, 10, 10),
        ([n / 20 for n in range(21)], 30, 12, 20, 28),
    ],
)
def test_games_are_chosen_by_the_gain_and_then_the_lowest_seed(gains, best, low, middle, high):
    assert picked(gains) == {"best": best, "10th": low, "50th": middle, "90th": high}


def test_the_best_game_ends_in_a_deal_and_the_percentiles_are_of_games_with_a_zopa():
    picks = picked([0.9, 0.3, 0.2, 0.1], [False, True, True, True], [False, False, True, True])
    assert picks == {"best": 12, "10th": 13, "50th": 12, "90th": 12}


def test_a_rank_without_any_game_is_left_out():
    assert picked([0.3, 0.1], [False, False], [True, True]) == {"best": 10}
    assert list(picked([0.3, 0.1], [True, True], [False, False])) == ["10th", "50th", "90th"]


def test_differences_that_are_equal_but_for_rounding_tie():
    assert 0.3 - 0.2 != 0.4 - 0.3
    picks = chosen((5, 6), (0.2, 0.3), (0.3, 0.4), (True, True), (True, True))
    assert set(picks.values()) == {5}


@pytest.mark.parametrize("grades", [([], []), ([0.1], [0.1, 0.2])])
def test_a_seed_without_both_grades_is_refused(grades):
    with pytest.raises(ValueError, match="needs both grades"):
        chosen(range(len(grades[0])), *grades, [True], [True])


# The data


def test_the_data_is_of_its_kind_and_shows_the_games_of_the_rule(artifact):
    for row in artifact.data.as_json()["tasks"]:
        columns = (row[name] for name in ("before", "after", "zopa", "deals"))
        picks = chosen(row["seeds"], *columns)
        assert {pair["why"]: pair["seed"] for pair in row["chosen"]} == picks
        for pair in row["chosen"]:
            at = row["seeds"].index(pair["seed"])
            assert [pair[side]["grade"] for side in SIDES] == [row[side][at] for side in SIDES]
            assert {from_json(pair[side]).seed for side in SIDES} == {pair["seed"]}


def test_every_move_of_the_model_has_its_reply(artifact):
    for row in artifact.data.as_json()["tasks"]:
        for game in (pair[side] for pair in row["chosen"] for side in SIDES):
            own = [move for move in game["moves"] if move["agent"] == "buyer"]
            assert len(game["replies"]) == len(own)
            assert (own[-1]["action"] == "forfeit") == (game["replies"][-1] == HOSTILE)


@pytest.mark.parametrize(
    ("config", "fault"),
    [
        (Config("low", "high", ("bazaar/seller_brief",), 2), "tasks are"),
        (Config("low", "high", (TASK,), 0), "episodes are 1 to"),
        (Config("low", "steered", (TASK,), 2), "compared bare"),
    ],
)
def test_what_cannot_be_compared_is_refused(config, fault):
    steered = PlayerSpec(Canned(40), wrapper=WRAPPERS["steering"])
    with pytest.raises(ValueError, match=fault):
        compare(config, (PLAYERS | {"steered": steered}).__getitem__)


def test_the_command_of_the_artifact_is_known_and_a_missing_file_names_it(tmp_path):
    arguments = entry(FILE).command.split()[3:]
    assert command_line.parse(arguments).run is compare_models.before_after
    with pytest.raises(ArtifactError, match="before-after"):
        load(FILE, tmp_path)


def test_the_games_are_the_first_batches_of_the_model_comparison():
    config, stages = Config(), Comparison().parts[0]
    assert config.batch == Comparison.batch
    assert config.seeds == SPLITS["holdout"][: len(config.seeds)]
    assert set(config.tasks) <= set(stages.tasks)
    assert {config.before, config.after} <= set(stages.policies)


# Verification


def test_a_recorded_artifact_is_verified_without_faults(root):
    assert verify(FILE, root=root) == []


def test_a_changed_grade_of_a_game_is_found(changed):
    def change(data):
        data["tasks"][0]["chosen"][0]["after"]["grade"] = 0.99

    (place,) = changed(change)
    assert place.startswith("data.tasks[0].chosen[0].after.grade: recorded 0.99")


def test_a_changed_grade_of_a_seed_is_found_where_its_game_is_shown(changed):
    def change(data):
        row = data["tasks"][1]
        row["after"][row["seeds"].index(row["chosen"][0]["seed"])] += 0.5

    (place,) = changed(change)
    assert re.match(r"data\.tasks\[1\]\.after\[\d\]: recorded", place)


def test_a_wrong_zopa_and_a_wrong_deal_of_a_game_that_is_shown_are_found(changed):
    def change(data):
        row = data["tasks"][0]
        shown = row["seeds"].index(row["chosen"][0]["seed"])
        row["zopa"][0] = not row["zopa"][0]
        row["deals"][shown] = not row["deals"][shown]

    places = " ".join(changed(change))
    assert "data.tasks[0].zopa[0]: recorded" in places
    assert "data.tasks[0].deals[" in places


def test_a_grade_that_makes_another_game_the_best_is_found(changed):
    def change(data):
        row = data["tasks"][0]
        shown = {pair["seed"] for pair in row["chosen"]}
        other = next(i for i, seed in enumerate(row["seeds"]) if seed not in shown)
        row["after"][other], row["deals"][other] = 9.0, True

    assert any("chosen[0].seed: recorded" in place for place in changed(change))


def test_a_changed_move_is_found(changed):
    def change(data):
        moves = data["tasks"][0]["chosen"][0]["after"]["moves"]
        next(move for move in moves if move["agent"] == "buyer")["price"] -= 1

    (place,) = changed(change)
    assert re.match(r"data\.tasks\[0\]\.chosen\[0\]\.after\.moves\[1\]\.price: recorded", place)


def test_a_changed_reply_is_found_by_the_moves_that_it_makes(changed):
    def change(data):
        data["tasks"][0]["chosen"][0]["after"]["replies"][0] = '{"offer":1}'

    assert any(".after.moves[1].price: recorded" in place for place in changed(change))


def test_a_changed_choice_and_a_task_left_out_are_found(changed):
    def change(data):
        data["tasks"][0]["chosen"][0]["seed"] += 1
        data["tasks"].pop()

    places = changed(change)
    assert "data.tasks: 1 recorded, 2 when played again" in places
    assert any("chosen[0].seed: recorded" in place for place in places)


# The panel


def pair_of(before: str, after: str, why: str = "50th"):
    _, data = compared(before, after, 3, (TASK,))
    return next(pair for pair in data["tasks"][0]["chosen"] if pair["why"] == why)


def test_the_first_move_that_differs_is_where_the_games_part_and_later_ones_are_marked():
    pair = pair_of("low", "high")
    games = [from_json(pair[side]) for side in SIDES]
    common = min(len(game.trajectory("buyer")) for game in games)
    assert panel.differing(*games) == list(range(common))  # 40, 44, … against 48, 54, …
    shown = str(panel.pair_of_games(ChosenPair.model_validate(pair)))
    assert shown.count("≠ the games differ from here") == 2
    assert shown.count("<mark>≠</mark>") == 2 * (common - 1)


def test_games_that_part_later_are_not_marked_before():
    pair = pair_of("low", "low")
    bid = next(m for m in reversed(pair["after"]["moves"][:4]) if m["agent"] == "buyer")
    bid["message"] = "Please."  # the second bid's words alone
    assert panel.differing(*(from_json(pair[side]) for side in SIDES)) == [1]


def test_games_that_are_the_same_have_nothing_marked():
    pair = pair_of("low", "low")
    shown = str(panel.pair_of_games(ChosenPair.model_validate(pair)))
    assert pair["difference"] == 0
    assert "≠" not in shown
    assert "<mark>" not in shown


def test_a_forfeit_at_move_one_shows_the_raw_text_escaped():
    pair = pair_of("wordy", "low")
    shown = str(panel.pair_of_games(ChosenPair.model_validate(pair)))
    assert "Forfeited in round 1: no deal" in shown
    assert "<script>" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more</code>" in shown
    assert "it holds no JSON object):" in shown  # the reason, without the quotation
    assert shown.count("≠ the games differ from here") == 2
    assert "<mark>≠</mark>" not in shown


def test_two_forfeits_at_move_one_do_not_part():
    shown = str(panel.pair_of_games(ChosenPair.model_validate(pair_of("wordy", "wordy"))))
    assert "≠" not in shown
    assert shown.count("Forfeited in round 1") == 2


def test_the_limits_the_grades_and_the_rounds_are_those_of_the_games():
    pair = pair_of("low", "high")
    shown = str(panel.pair_of_games(ChosenPair.model_validate(pair)))
    for side in SIDES:
        assert f"grade {pair[side]['grade']:.3f}" in shown
        own = [move for move in pair[side]["moves"] if move["agent"] == "buyer"]
        rounds = str(panel.rounds(from_json(pair[side]), pair[side]["replies"], ()))
        assert rounds.count("<li>") == len(own) + 1  # and the opening
    assert "The buyer’s limit is ₹" in shown
    assert ">what could be won</abbr>" in shown


def test_both_charts_of_a_pair_have_the_same_prices_on_their_axis():
    charts = re.findall(
        r"<svg.*?</svg>",
        str(panel.pair_of_games(ChosenPair.model_validate(pair_of("wordy", "high")))),
    )
    ticks = [re.findall(r'text-anchor="end">([^<]+)<', chart) for chart in charts]
    assert len(ticks) == 2
    assert ticks[0] == ticks[1]


def test_the_picks_say_the_difference_and_the_sentence_the_rule(artifact):
    labels = panel.choices(artifact, TASK)
    assert [why for _, why in labels] == list(before_after.CHOSEN)
    pair = panel.pick(artifact, TASK, "best")
    assert labels[0][0] == f"largest gain with a deal: {pair.difference:+.3f}"
    assert "same 7 hold-out games of the open market" in panel.rule(artifact, TASK)
    numbers = re.findall(r"\d+", panel.verdict(artifact, TASK))
    won, games, lost, same = map(int, numbers)
    assert won + lost + same == games == 7


def test_the_part_is_laid_out_from_an_artifact_and_without_one(artifact, monkeypatch):
    monkeypatch.setattr(pair_tab, "load_or_say", lambda file: (artifact, ""))
    with gr.Blocks() as page:
        pair_tab.build()
    assert "Market" in str(page.get_config_file())
    with gr.Blocks() as page:
        monkeypatch.setattr(pair_tab, "load_or_say", lambda file: (None, "not there"))
        pair_tab.build()
    assert "not there" in str(page.get_config_file())
