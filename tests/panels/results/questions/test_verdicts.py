"""The verdict on each question follows its numbers: gains, losses, intervals that hold 0, gaps."""

import pytest

from panels.results.model_labels import policy_label
from panels.results.questions import arena, open_market, optimum, training, winners, wrapper
from panels.results.questions.optimum import Buyer
from panels.results.questions.verdict import buyer_name
from panels.results.questions.winners import Entry
from panels.ui.look import with_minus_signs
from sauda.experiments.comparison import (
    BELIEF,
    OURS,
    PILOT,
    ArenaModelColumns,
    ArenaModelComparison,
    ArenaModelRow,
    ModelColumns,
    ModelComparison,
    ModelRow,
    Rivalry,
    StageGain,
)
from sauda.experiments.oracle import InformedShare, OracleRow, PolicyShare
from sauda.policies import ZERO_GRADE
from sauda.records.schemas.base import Hashes, Interval, Metric
from sauda.records.store import Artifact, load

OPEN, RUSHED = "bazaar/open", "bazaar/rushed"
GAINS = {"above": (0.02, 0.1, 0.2), "unclear": (-0.1, 0.02, 0.1), "below": (-0.2, -0.1, -0.02)}
SAME = Hashes(task="a", opponents="b", policy="c")
FILE = "evaluation/model-comparison.json"


def interval(low: float, mean: float, high: float) -> Interval:
    return Interval(mean=mean, low=low, high=high)


def metric(mean: float, gain: tuple[float, float, float] | None = None) -> Metric:
    """A metric with its paired difference from the base."""
    low, difference, high = gain or (None, None, None)
    return Metric.model_construct(
        **{"mean": mean, "low": mean - 0.01, "high": mean + 0.01, "difference": difference},
        difference_low=low,
        difference_high=high,
    )


def model_row(task: str, policy: str, grade: Metric) -> ModelRow:
    return ModelRow.model_construct(task=task, policy=policy, n=4, grade=grade, hashes=SAME)


def comparison(rows=(), stage_gains=(), rivalries=(), episodes=None) -> Artifact:
    """A comparison in the bazaar with these parts."""
    data = ModelComparison.model_construct(
        rows=list(rows),
        stage_gains=list(stage_gains),
        rivalries=list(rivalries),
        episodes=episodes or {row.task: {} for row in rows},
    )
    return Artifact(FILE, "model_comparison/3", "measured", {}, {"baseline": "mini"}, data)


# Does training help?


def trained(**gains: tuple[float, float, float]) -> Artifact:
    """The served stage with these gains over the base, by the name of the task."""
    rows = []
    for task, gain in gains.items():
        rows.append(model_row(f"bazaar/{task}", "mini", metric(0.1)))
        rows.append(model_row(f"bazaar/{task}", OURS, metric(0.1 + gain[1], gain)))
    return comparison(rows)


@pytest.mark.parametrize(
    ("sign", "opening", "told"),
    [
        (
            "above",
            "Yes: ",
            "wins more than the untrained base in the open market and the hurried market.",
        ),
        (
            "unclear",
            "Not shown: ",
            "in the open market and the hurried market (the interval holds 0).",
        ),
        (
            "below",
            "No: ",
            "wins less than the untrained base in the open market and the hurried market.",
        ),
    ],
)
def test_training_helps_only_where_the_whole_interval_lies_above_0(sign, opening, told):
    verdict = training.verdict(trained(open=GAINS[sign], rushed=GAINS[sign]))
    assert verdict.sentence.startswith(f"{opening}Sauda ({policy_label(OURS)}) ")
    assert verdict.sentence.endswith(told)
    gain = GAINS[sign][1]
    expected = f"open market: 0.100 to {0.1 + gain:z.3f}, gain {gain:+.3f} ["
    assert verdict.evidence[0].startswith(with_minus_signs(expected))
    assert verdict.evidence[0].endswith("n = 4")


def test_training_that_helps_on_one_task_alone_helps_partly():
    sentence = training.verdict(trained(open=GAINS["above"], rushed=GAINS["unclear"])).sentence
    assert sentence.startswith("Partly: ")
    assert (
        "wins more than the untrained base in the open market, and shows no difference" in sentence
    )
    assert sentence.endswith("in the hurried market (the interval holds 0).")


def test_a_served_stage_without_a_row_is_said_to_be_missing_beside_the_best_that_was_played():
    rows = [
        model_row(OPEN, "mini", metric(0.1)),
        model_row(OPEN, "mini+sft", metric(0.2, GAINS["above"])),
    ]
    step = StageGain(task=OPEN, n=4, difference=0.1, low=0.02, high=0.2, before="mini",
                     after="mini+sft", on="all")  # fmt: skip
    verdict = training.verdict(comparison(rows, [step]))
    assert verdict.sentence.startswith(f"Not measured yet for Sauda ({policy_label(OURS)})")
    assert (
        "SFT gains most over the untrained base in the open market: +0.100" in verdict.evidence[0]
    )
    assert f"({OURS}) has no row" in verdict.evidence[1]
    assert "python -m sauda compare-models" in verdict.evidence[1]


def test_a_comparison_of_classic_tasks_alone_has_no_verdict_on_training():
    rows = [model_row("classic/single_deal", OURS, metric(0.2, GAINS["above"]))]
    verdict = training.verdict(comparison(rows))
    assert verdict.sentence.startswith("Not measured yet")
    assert len(verdict.evidence) == 1


def test_the_caption_of_the_gains_names_losses_and_steps_without_a_clear_difference():
    def step(task: str, after: str, sign: str) -> StageGain:
        low, gain, high = GAINS[sign]
        return StageGain(task=task, n=4, difference=gain, low=low, high=high, before="mini",
                         after=after, on="all")  # fmt: skip

    rows = [model_row(task, "mini", metric(0.1)) for task in (OPEN, RUSHED)]
    steps = [
        step(OPEN, "mini+sft", "above"),
        step(RUSHED, "mini+sft", "unclear"),
        step(OPEN, "mini+dpo", "below"),
    ]
    text, *outcomes = training.caption(comparison(rows, steps))
    assert outcomes == [
        "Losses, classic games included: DPO (0.100 in the open market).",
        "No clear difference on at least one of the open market and the hurried market: SFT.",
    ]
    figure = training.gain_figure(comparison(rows, steps))
    assert "The table below also has the gains in the hurried market." in text
    assert [point.x[0] for point in figure.data] == [0.1, -0.1]  # of the first task
    assert [point.error_x.array[0] for point in figure.data] == pytest.approx([0.1, 0.08])


def test_the_caption_tells_like_steps_apart_and_says_what_is_lost_in_any_game():
    artifact = load(FILE)
    _, lost, unclear = training.caption(artifact)
    assert "GRPO after SFT" in unclear
    assert "GRPO after distillation" in unclear
    losses = {
        (gain.after, gain.task): f"{-gain.difference:.3f} in the "
        for gain in artifact.data.stage_gains
        if gain.on == "all" and gain.high < 0
    }
    assert losses
    assert all(said in lost for said in losses.values())
    assert lost.count(" in the ") == len(losses)


def test_the_gain_of_all_training_stands_first_unless_it_is_a_step_of_its_own():
    artifact = trained(open=GAINS["above"])
    (whole,) = training.steps(artifact)
    assert (whole.before, whole.after) == ("mini", OURS)
    assert whole.step.startswith("All: ")
    assert training.caption(artifact)[0].startswith("The first row shows Sauda’s whole training")
    low, gain, high = GAINS["above"]
    only = StageGain(task=OPEN, n=4, difference=gain, low=low, high=high, before="mini",
                     after=OURS, on="all")  # fmt: skip
    assert len(training.steps(comparison(artifact.data.rows, [only]))) == 1


# Who wins?


def entry(policy: str, grades: list[float], rules: tuple[str, str] = ("a", "b")) -> Entry:
    mean = sum(grades) / len(grades)
    return Entry(policy, len(grades), interval(mean, mean, mean), grades, rules)


AHEAD, BEHIND, EVEN = [0.4, 0.5, 0.6, 0.7], [0.3, 0.4, 0.5, 0.5], [0.9, 0.1, 0.9, 0.2]


def test_the_winner_is_named_where_its_lead_over_the_next_lies_above_0():
    field = winners.ranked([(OPEN, entry("linear", BEHIND)), (OPEN, entry(PILOT, AHEAD))])
    verdict = open_market.verdict(field, None)
    assert verdict.sentence == "The pilot wins the open market."
    assert verdict.evidence[0].startswith("open market: the pilot 0.550 [")
    assert verdict.evidence[0].endswith("over linear, which wins 0.425 on the same 4 seeds")


def test_a_lead_whose_interval_holds_0_makes_no_winner():
    field = winners.ranked([(OPEN, entry("linear", EVEN)), (OPEN, entry(PILOT, AHEAD))])
    sentence = open_market.verdict(field, None).sentence
    assert sentence == "Between the pilot and linear there is no clear winner in the open market."


def test_games_under_other_rules_are_not_paired():
    other = entry("linear", BEHIND, ("other", "b"))
    assert winners.lead(entry(PILOT, AHEAD), other) is None
    field = winners.ranked([(OPEN, other), (OPEN, entry(PILOT, AHEAD))])
    assert "no clear winner" in winners.winners_sentence(field, buyer_name)


def test_a_lead_is_paired_on_the_seeds_that_both_played():
    ahead = winners.lead(entry(PILOT, AHEAD), entry("linear", BEHIND[:2]))
    assert (ahead.n, round(ahead.gain.mean, 6)) == (2, 0.1)
    assert (round(ahead.first, 6), round(ahead.second, 6)) == (0.45, 0.35)


def test_a_lead_can_be_computed_from_the_two_means_on_the_same_seeds():
    field = winners.ranked([(OPEN, entry("linear", BEHIND[:2])), (OPEN, entry(PILOT, AHEAD))])
    (line,) = winners.leads(field, buyer_name)
    assert line.startswith("open market: the pilot 0.550 [0.550, 0.550], n = 4; +0.100 [")
    assert line.endswith("over linear, which wins 0.350 and the pilot 0.450 on the same 2 seeds")


def test_the_verdict_says_who_did_not_play_where():
    field = winners.ranked(
        [
            (OPEN, entry(BELIEF, AHEAD)),
            (OPEN, entry(OURS, BEHIND)),
            (RUSHED, entry(PILOT, AHEAD)),
            ("classic/single_deal", entry(PILOT, EVEN)),
            ("classic/single_deal", entry("linear", BEHIND)),
        ]
    )
    absent = f"; the belief buyer and Sauda ({policy_label(OURS)}) did not play there."
    assert open_market.verdict(field, None).sentence == (
        "The belief buyer wins the open market. Among those that played, the pilot wins the"
        " hurried market; between the pilot and linear there is no clear winner in the single deal"
        f"{absent}"
    )


def test_rows_of_different_n_are_said_below_the_map():
    field = winners.ranked([(OPEN, entry("linear", BEHIND[:2])), (OPEN, entry(PILOT, AHEAD))])
    assert "different n, 2 to 4 hold-out seeds" in winners.counts_told(field)
    alike = winners.ranked([(OPEN, entry(PILOT, AHEAD))])
    assert winners.counts_told(alike) == "Every row has n = 4 hold-out seeds."


def test_the_winner_may_have_a_negative_grade_and_the_map_tells_losses_apart():
    losing = [-grade for grade in AHEAD]
    field = winners.ranked([(OPEN, entry("linear", losing)), (RUSHED, entry(PILOT, AHEAD))])
    text = str(winners.heat_map(field, buyer_name, "Grades", PILOT, ("bound", {})))
    assert '<td class="sauda-r sauda-cell-below sauda-best" style="--heat: 100%"' in text
    assert ">−0.550<" in text
    assert (
        '<tr class="sauda-ours" data-row="pilot"><th scope="row" class="sauda-l">the pilot</th>'
        in text
    )
    assert text.count("–") == 2  # each played one of two tasks


def test_saudas_place_is_told_and_its_missing_row_too():
    entries = [(OPEN, entry(OURS, BEHIND)), (OPEN, entry(BELIEF, AHEAD))]
    verdict = open_market.verdict(winners.ranked(entries), comparison())
    place = f"Sauda ({policy_label(OURS)}) takes place 2 of 2 in the open market (0.425 ["
    assert verdict.evidence[-1].startswith(place)
    verdict = open_market.verdict(winners.ranked(entries[1:]), comparison())
    assert verdict.sentence == "The belief buyer wins the open market."
    assert "has no row" in verdict.evidence[-1]


def test_a_buyer_that_knows_its_seller_is_no_contestant():
    rows = [model_row(OPEN, name, metric(0.5)) for name in ("oracle", "linear")]
    columns = ModelColumns.model_construct(grade=[0.5])
    episodes = {OPEN: {"oracle": columns, "linear": columns}}
    artifact = comparison(rows, episodes=episodes)
    assert [e.policy for e in open_market.contest([artifact])[OPEN]] == ["linear"]


# What can be won at all?


def bound(task: str, sure: Interval) -> OracleRow:
    script = PolicyShare.model_construct(policy="linear", mean=0.2, low=0.1, high=0.3, share=0.4)
    return OracleRow.model_construct(
        task=task, n=400, informed=sure, belief=None, policies=[script]
    )


def test_the_bound_is_told_with_the_share_that_the_best_buyer_wins():
    row = bound(OPEN, interval(0.45, 0.5, 0.55))
    found = {OPEN: [Buyer(BELIEF, 400, interval(0.3, 0.35, 0.4))]}
    verdict = optimum.verdict([row], found)
    assert verdict.sentence == (
        "A buyer that knows its seller wins 0.500 of 1; the best buyer without that"
        " knowledge wins 70% of it."
    )
    assert verdict.evidence == (
        "open market: 0.500 [0.450, 0.550], n = 400; the belief buyer 0.350 [0.300, 0.400], "
        "n = 400",
    )


@pytest.mark.parametrize(
    ("grade", "told"),
    [
        (interval(0.4, 0.47, 0.5), "; no room above it is shown in the open market."),
        (interval(0.6, 0.65, 0.7), "wins more than the bound, which therefore does not hold, in"),
    ],
)
def test_intervals_that_meet_show_no_room_and_one_above_breaks_the_bound(grade, told):
    row = bound(OPEN, interval(0.45, 0.5, 0.55))
    assert told in optimum.verdict([row], {OPEN: [Buyer(PILOT, 400, grade)]}).sentence


def test_a_bound_without_buyers_says_that_none_was_played():
    verdict = optimum.verdict([bound(OPEN, interval(0.4, 0.5, 0.6))], {OPEN: []})
    assert verdict.sentence.endswith("no buyer without that knowledge has been played.")


def test_the_buyers_beside_the_bound_are_the_belief_buyer_the_pilot_sauda_and_the_best_script():
    belief = InformedShare.model_construct(mean=0.35, low=0.3, high=0.4, share=0.7)
    row = bound(OPEN, interval(0.45, 0.5, 0.55)).model_copy(update={"belief": belief})
    rows = [model_row(OPEN, OURS, metric(0.3)), model_row(OPEN, PILOT, metric(0.32))]
    found = optimum.buyers(row, comparison(rows))
    assert [buyer.policy for buyer in found] == [BELIEF, PILOT, OURS, "linear"]
    figure = optimum.bound_figure([row], {OPEN: found})
    assert [point.x[0] for point in figure.data] == [0.5, 0.35, 0.32, 0.3, 0.2]


# Does the wrapper do the work?


def wrapped(bare: float = 0.2, **adds: float) -> Artifact:
    """Steering around the served stage wins so much more than around no model, by task.

    The served stage alone wins `bare` in every game.
    """
    alone = [0.1, 0.3, 0.2, 0.4]
    rows, episodes = [], {}
    for task, more in adds.items():
        name = f"bazaar/{task}"
        rows.append(model_row(name, OURS, metric(bare)))
        around = [grade + more for grade in alone]
        grades = {"null+steering": alone, f"{OURS}+steering": around, OURS: [bare] * 4}
        episodes[name] = {
            policy: ModelColumns.model_construct(grade=own) for policy, own in grades.items()
        }
    rival = Rivalry(task=OPEN, n=4, difference=0.05, low=0.01, high=0.09, policy=OURS,
                    rival="null+steering")  # fmt: skip
    return comparison(rows, rivalries=[rival], episodes=episodes)


@pytest.mark.parametrize(
    ("adds", "work", "told"),
    [
        (0.1, "does not do the work alone", "it wins more than without a model in {}."),
        (
            0.0,
            "does the work where it is used",
            "it shows no difference from no model in {} (the interval holds 0).",
        ),
        (-0.1, "does the work where it is used", "it wins less than without a model in {}."),
    ],
)
def test_the_wrapper_does_the_work_unless_it_wins_more_around_the_model(adds, work, told):
    verdict = wrapper.verdict(wrapped(open=adds, rushed=adds))
    assert verdict.sentence.startswith(
        f"The published wrapper {work}: in the open market it wins 0.250 without any model and"
        f" {0.25 + adds:.3f} around Sauda (n = 4)."
    )
    tasks = told.format("the open market and the hurried market")
    assert verdict.evidence[0] == f"Around Sauda {tasks}"
    assert verdict.evidence[1].startswith("Steering, gain from having Sauda inside: open ")
    assert (
        with_minus_signs(f"open market {adds:+.3f} [{adds:+.3f}, {adds:+.3f}], n = 4")
        in verdict.evidence[1]
    )
    assert verdict.evidence[-1] == (
        "Sauda alone, gain over steering without a model: open market +0.050 [+0.010, +0.090],"
        " n = 4."
    )


@pytest.mark.parametrize(
    ("bare", "need"),
    [
        (0.5, "Sauda needs none: alone it wins 0.500 (n = 4)."),
        (0.05, "Sauda needs one: alone it wins 0.050 (n = 4)."),
        (0.25, "Sauda alone wins 0.250 (n = 4), no clear difference."),
    ],
)
def test_whether_sauda_needs_a_wrapper_is_told_by_what_it_wins_alone(bare, need):
    assert wrapper.verdict(wrapped(bare, open=0.0)).sentence.endswith(need)


def test_what_sauda_wins_alone_is_told_where_its_games_cannot_be_paired():
    artifact = wrapped(open=0.0)
    del artifact.data.episodes[OPEN][OURS]
    assert wrapper.verdict(artifact).sentence.endswith(" Sauda alone wins 0.200 (n = 4).")


def test_a_wrapper_that_gains_on_one_task_alone_does_part_of_the_work():
    sentence = wrapper.verdict(wrapped(open=0.1, rushed=0.0)).sentence
    assert sentence.startswith("The published wrapper does part of the work: ")


def test_a_wrapper_that_was_not_played_around_sauda_is_said_to_be_missing():
    artifact = wrapped(open=0.1)
    del artifact.data.episodes[OPEN][f"{OURS}+steering"]
    verdict = wrapper.verdict(artifact)
    assert verdict.sentence.startswith("Not measured yet around Sauda")
    assert f"({OURS}+steering) has no row" in verdict.evidence[-1]


def test_the_figure_of_the_wrappers_leaves_out_what_was_not_played():
    artifact = wrapped(open=0.1)
    assert wrapper.wrapped_rows(artifact, OPEN) == [("Sauda, bare", OURS)]
    (point,) = wrapper.wrapper_figure(artifact).data
    assert point.x[0] == 0.2


# Who wins the arena?

ROUND = "arena/market_round"


def labs(grade: Metric | None) -> Artifact:
    """The planner, and the last stage as a lab unless it has no grade."""
    rows, episodes = [], {}
    for policy, own in (("planner", metric(0.6)), ("mini+grpo-arena", grade)):
        if own is not None:
            rows.append(ArenaModelRow.model_construct(
                task=ROUND, policy=policy, n=4, grade=own, hashes=SAME
            ))  # fmt: skip
            episodes[policy] = ArenaModelColumns.model_construct(grade=[own.mean] * 4)
    data = ArenaModelComparison.model_construct(rows=rows, episodes=episodes)
    config = {"stages": ["mini", "mini+grpo-arena"]}
    file = "evaluation/arena-model-comparison.json"
    return Artifact(file, "arena_model_comparison/3", "measured", {}, config, data)


@pytest.mark.parametrize(
    ("mean", "told"),
    [
        (0.2, "the trained model wins more than it would alone."),
        (0.0, "shows no difference from working alone (the interval holds 0)."),
        (-0.2, "the trained model wins less than it would alone."),
    ],
)
def test_the_arenas_winner_is_told_with_what_the_trained_lab_wins_beside_one_alone(mean, told):
    artifact = labs(metric(mean))
    verdict = arena.verdict(arena.contest(None, artifact), artifact)
    assert verdict.sentence.startswith("The planner wins the market round; ")
    assert verdict.sentence.endswith(told)
    assert (
        with_minus_signs(f"SFT + GRPO as a lab in the market round: {mean:z.3f} [")
        in verdict.evidence[-2]
    )
    assert verdict.evidence[-1] == ZERO_GRADE


def test_a_trained_lab_without_a_row_is_said_to_be_missing():
    artifact = labs(None)
    verdict = arena.verdict(arena.contest(None, artifact), artifact)
    assert verdict.sentence.endswith("the trained lab has not been played.")
    assert "(mini+grpo-arena) has no row" in verdict.evidence[-2]


def test_without_a_comparison_the_arenas_verdict_is_on_the_scripts_alone():
    artifact = labs(None)
    verdict = arena.verdict(arena.contest(None, artifact), None)
    assert verdict.sentence == "The planner wins the market round."


def test_only_games_among_the_labs_that_each_world_draws_count(arena_evaluation):
    field = arena.contest(arena_evaluation, None)
    rows = [row for row in arena_evaluation.data.rows if row.others == "as drawn"]
    assert sum(len(entries) for entries in field.values()) == len(rows)
