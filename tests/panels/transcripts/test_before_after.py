"""Which game of before and after is shown first, and how its games stand side by side."""

import json
import re
from dataclasses import dataclass, replace

import pytest

from env import EndReason
from panels.transcripts import before_after as panel
from panels.transcripts import episodes
from panels.transcripts.before_after import FILE, typical
from sauda.experiments.before_after import SIDES, ChosenPair, compare
from sauda.experiments.comparison import OURS
from sauda.games.transcript import from_json
from sauda.llm.registry import PlayerSpec
from sauda.llm.types import Reply
from sauda.records.store import load

TASK = "bazaar/open"


@pytest.mark.parametrize(
    ("deals", "shown"), [(["90th", "best"], "90th"), (["best"], "best"), ([], "50th")]
)
def test_where_the_typical_game_has_no_deal_the_next_in_the_rule_is_shown(deals, shown):
    artifact = load(FILE)
    tasks = [
        row.model_copy(update={"chosen": [ending(pair, pair.why in deals) for pair in row.chosen]})
        for row in artifact.data.tasks
    ]
    data = artifact.data.model_copy(update={"tasks": tasks})
    assert typical(replace(artifact, data=data), TASK).why == shown


def test_a_market_whose_median_game_gained_nothing_opens_on_one_that_did():
    artifact = load(FILE)
    assert "50th" in {
        pair.why
        for row in artifact.data.tasks
        for pair in row.chosen
        if row.task == "bazaar/rushed" and pair.difference == 0
    }
    assert typical(artifact, "bazaar/rushed").difference > 0


def ending(pair: ChosenPair, deal: bool) -> ChosenPair:
    """The pair as if its game after training had ended with a deal, or with a walk-away."""
    end = str(EndReason.AGREEMENT if deal else EndReason.WALKAWAY)
    return pair.model_copy(update={"after": pair.after.model_copy(update={"end": end})})


def test_a_recorded_game_of_the_models_is_shown_at_once_and_said_to_be_recorded():
    pair = typical(load(FILE), TASK)
    played = episodes.play(TASK, pair.seed, ["linear", *episodes.MODELS])
    assert pair.after.policy == OURS
    for name, record in zip(episodes.MODELS, (pair.before, pair.after), strict=True):
        assert played[name].turns == from_json(record.as_json()).turns
    assert episodes.recorded_at(TASK, pair.seed).keys() == set(episodes.MODELS)
    assert not episodes.recorded_at(TASK, 1)
    assert not episodes.recorded_at("classic/single_deal", pair.seed)


# The games of a pair, side by side


@dataclass(frozen=True)
class Canned:
    """Bids `first` percent and 4 more each time; of -1 a line that is no move."""

    first: int

    def batch(self, chats, seeds, schemas):
        bids = [sum(m["role"] == "assistant" for m in chat) for chat in chats]
        texts = [json.dumps({"offer": self.first + 4 * n}) for n in bids]
        return [Reply(HOSTILE if self.first < 0 else text, "canned") for text in texts]


HOSTILE = "I give <script>alert(1)</script> & more"


def pair_of(before: int, after: int) -> ChosenPair:
    players = {name: PlayerSpec(Canned(int(name))) for name in (str(before), str(after))}
    data = compare(str(before), str(after), (TASK,), 3, seat=players.__getitem__)
    pairs = data["tasks"][0]["chosen"]
    return ChosenPair.model_validate(next(pair for pair in pairs if pair["why"] == "50th"))


@pytest.mark.parametrize(
    ("before", "after", "parts"), [(40, 48, True), (40, 40, False), (-1, -1, False)]
)
def test_the_first_move_that_differs_is_where_the_games_part_and_later_ones_are_marked(
    before, after, parts
):
    pair = pair_of(before, after)
    shown = str(panel.pair_of_games(pair))
    marked = panel.differing(*(from_json(getattr(pair, side).as_json()) for side in SIDES))
    assert marked == list(range(len(marked)))
    assert shown.count("≠ the games differ from here") == 2 * parts
    assert shown.count("<mark>≠</mark>") == 2 * max(0, len(marked) - 1)


def test_a_forfeit_at_move_one_shows_the_raw_text_escaped_and_one_axis_for_both_games():
    shown = str(panel.pair_of_games(pair_of(-1, 40)))
    assert "Forfeited in round 1" in shown
    assert "<script>" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more</code>" in shown
    assert shown.count("≠ the games differ from here") == 2
    charts = re.findall(r"<svg.*?</svg>", shown)
    first, second = (re.findall(r'text-anchor="end">([^<]+)<', chart) for chart in charts)
    assert first == second


def test_the_picks_say_the_difference_and_the_verdict_counts_every_game():
    artifact = load(FILE)
    label, why = panel.choices(artifact, TASK)[0]
    assert f"{panel.pick(artifact, TASK, why).difference:+.3f}" in label
    won, games, lost, same = map(int, re.findall(r"\d+", panel.verdict(artifact, TASK)))
    assert won + lost + same == games
