"""The verdict on each question follows its numbers: gains, losses, intervals that hold 0, gaps.

The sentences of every case stand in tests/golden/verdicts.txt, what is shown of an evaluation in
tests/golden/evaluations.txt.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from panels import frames
from panels.measured import FILE, LAB_FILE
from panels.results import optimum, training, winners
from panels.results.evaluation import (
    ARENA,
    View,
    bazaar_game,
    caption,
    change,
    details,
    figure,
    rows_of,
)
from panels.results.question import Verdict
from panels.results.winners import Entry
from panels.tour import facts
from panels.training.roles import schedule_verdict
from sauda.players import BAYESIAN, LAB, LISTENER, SERVED
from sauda.records.schemas.base import Hashes, Interval, Metric, Row
from sauda.records.schemas.evaluation import (
    BazaarColumns,
    BazaarRow,
    ModelComparison,
    PairedDifference,
)
from sauda.records.schemas.open_market import Gap, GapRow
from sauda.records.store import Artifact, load
from tests.support.golden import assert_golden, plain, table_lines, without_numbers
from tests.support.measured import changed

OPEN, RUSHED, CLASSIC, ROUND = (
    "bazaar/open-3", "bazaar/mute-3", "classic/single_deal", "arena/market_round"
)  # fmt: skip
ABOVE, UNCLEAR, BELOW = SIGNS = (0.02, 0.1, 0.2), (-0.1, 0.02, 0.1), (-0.2, -0.1, -0.02)
AHEAD, BEHIND, EVEN = [0.4, 0.5, 0.6, 0.7], [0.3, 0.4, 0.5, 0.5], [0.9, 0.1, 0.9, 0.2]
SAME = Hashes(task="a", opponents="b", policy="c")


def interval(low: float, mean: float, high: float) -> Interval:
    return Interval(mean=mean, low=low, high=high)


def metric(mean: float, gain: tuple = (None, None, None)) -> Metric:
    """A metric with its paired difference from the base."""
    low, difference, high = gain
    return Metric.model_construct(
        mean=mean, low=mean - 0.01, high=mean + 0.01,
        difference=difference, difference_low=low, difference_high=high,
    )  # fmt: skip


def model_row(task: str, policy: str, grade: Metric) -> BazaarRow:
    return BazaarRow.model_construct(task=task, policy=policy, n=4, grade=grade, hashes=SAME)


def step(task: str, after: str, gain: tuple[float, float, float]) -> PairedDifference:
    low, mean, high = gain
    return PairedDifference(
        task=task, n=4, difference=mean, low=low, high=high, before="mini", after=after, on="all"
    )


def comparison(rows=(), stage_gains=(), grades=None) -> Artifact:
    """A comparison of models; `grades` are those of each game, by task and policy."""
    episodes = {
        task: {name: BazaarColumns.model_construct(grade=own) for name, own in of.items()}
        for task, of in (grades or {row.task: {} for row in rows}).items()
    }
    data = ModelComparison.model_construct(
        rows=list(rows), stage_gains=list(stage_gains), rivalries=[], episodes=episodes
    )
    return Artifact(FILE, "model_comparison/4", "measured", {}, {"baseline": "mini"}, data)


def trained(**gains: tuple[float, float, float]) -> Artifact:
    """The served stage with these gains over the base, by the name of the task."""
    rows = []
    for task, gain in gains.items():
        rows.append(model_row(f"bazaar/{task}-3", "mini", metric(0.1)))
        rows.append(model_row(f"bazaar/{task}-3", SERVED, metric(0.1 + gain[1], gain)))
    return comparison(rows)


def entry(task: str, policy: str, grades: list[float], rules: str = "b") -> Entry:
    mean = sum(grades) / len(grades)
    hashes = Hashes(task="a", opponents=rules, policy="c")
    return winners.entry_of(task, policy, interval(mean, mean, mean), grades, hashes)


def gap(oracle: Interval, *rows: GapRow) -> Gap:
    """The gap of players to a bound."""
    lost, silent = interval(*ABOVE), interval(0.3, 0.4, 0.45)
    return Gap.model_construct(
        task="bazaar/open-3", n=400, oracle=oracle, silent=silent, uncertainty=lost, rows=rows
    )


def wrapped(bare: float = 0.2, **adds: float) -> Artifact:
    """Steering around the served stage wins so much more than around no model, by task.

    The served stage alone wins `bare` in every game.
    """
    alone = [0.1, 0.3, 0.2, 0.4]
    rows = [model_row(f"bazaar/{task}-3", SERVED, metric(bare)) for task in adds]
    grades = {
        f"bazaar/{task}-3": {"null+steering": alone, SERVED: [bare] * 4,
                           f"{SERVED}+steering": [grade + more for grade in alone]}
        for task, more in adds.items()
    }  # fmt: skip
    return comparison(rows, grades=grades)


def labs(grade: Metric | None) -> Artifact:
    """The broker, and the trained lab unless it has no grade."""
    own = {"broker": metric(0.6)} | ({LAB: grade} if grade else {})
    rows = [model_row(ROUND, name, grade) for name, grade in own.items()]
    grades = {name: [grade.mean] * 4 for name, grade in own.items()}
    return replace(comparison(rows, grades={ROUND: grades}), file=LAB_FILE)


def training_cases() -> Iterator[tuple[str, Verdict]]:
    for first in SIGNS:
        for second in SIGNS:
            yield f"{first}, {second}", training.verdict(trained(open=first, mute=second))
    rows = [model_row(OPEN, "mini", metric(0.1)), model_row(OPEN, "mini+dpo", metric(0.2, ABOVE))]
    yield "not served", training.verdict(comparison(rows, [step(OPEN, "mini+dpo", ABOVE)]))
    classic = [model_row(CLASSIC, SERVED, metric(0.2, ABOVE))]
    yield "classic tasks alone", training.verdict(comparison(classic))


def market_cases() -> Iterator[tuple[str, Verdict]]:
    planned = [entry(OPEN, LISTENER, AHEAD), entry(OPEN, SERVED, BEHIND)]
    fields = {
        "a winner": [entry(OPEN, "linear", BEHIND), entry(OPEN, BAYESIAN, AHEAD)],
        "no clear winner": [entry(OPEN, "linear", EVEN), entry(OPEN, BAYESIAN, AHEAD)],
        "other rules": [
            entry(OPEN, "linear", BEHIND, "x"), entry(OPEN, BAYESIAN, AHEAD),
        ],
        "fewer seeds": [entry(OPEN, "linear", BEHIND[:2]), entry(OPEN, BAYESIAN, AHEAD)],
        "who did not play": [
            *planned, entry(RUSHED, BAYESIAN, AHEAD), entry(CLASSIC, BAYESIAN, EVEN),
            entry(CLASSIC, "linear", BEHIND),
        ],
    }  # fmt: skip
    for name, entries in fields.items():
        field = winners.rank(entries)
        yield name, winners.market_verdict(field, comparison())
        yield f"{name}, leads", Verdict(winners.tell_counts(field), tuple(winners.leads(field)))


def gap_cases() -> Iterator[tuple[str, Verdict]]:
    for name, oracle in (("room", (0.6, 0.65, 0.7)), ("above", (0.1, 0.12, 0.15))):
        for sign in SIGNS:
            lost = dict.fromkeys(("inference", "control"), interval(*sign))
            rows = [
                GapRow.model_construct(player=player, grade=interval(0.3, 0.35, 0.4), **lost)
                for player in ("linear", "tuned")
            ]
            yield f"{name}, {sign[1]}", optimum.gap_verdict(gap(interval(*oracle), *rows))
    yield "neither", optimum.gap_verdict(gap(interval(*oracle), rows[0]))


def wrapper_cases() -> Iterator[tuple[str, Verdict]]:
    for bare, adds in ((0.2, 0.1), (0.5, 0.0), (0.05, -0.1), (0.25, 0.0)):
        artifact = wrapped(bare, open=adds, mute=adds)
        yield f"alone {bare}, around it {adds:+}", training.wrapper_verdict(artifact)
    yield "one task alone", training.wrapper_verdict(wrapped(open=0.1, mute=0.0))
    for missing in (SERVED, f"{SERVED}+steering"):
        artifact = wrapped(open=0.1)
        del artifact.data.episodes[OPEN][missing]
        yield f"without {missing}", training.wrapper_verdict(artifact)


def arena_cases() -> Iterator[tuple[str, Verdict]]:
    for grade in (metric(0.2), metric(0.0), metric(-0.2), None):
        artifact = labs(grade)
        yield (
            f"{grade and grade.mean}",
            winners.arena_verdict(winners.contest([artifact]), artifact),
        )


def other_cases() -> Iterator[tuple[str, Verdict]]:
    for adds in (0.1, -0.1, 0.0):
        alone = [0.1, 0.3, 0.2]
        artifact = comparison(
            grades={OPEN: {"tuned": alone, SERVED: [round(grade + adds, 3) for grade in alone]}}
        )
        yield f"tuned script, {adds:+}", Verdict(winners.tuned_sentence(artifact, OPEN))
    lab = load(LAB_FILE)
    for low, mean, high in SIGNS:
        ends = {"low": low, "high": high}
        rows = [
            own.model_copy(update={"grade": own.grade.model_copy(update=ends)})
            if own.policy == LAB
            else own
            for own in lab.data.rows
        ]
        sentence = facts.lab_sentence(changed(lab, rows=rows))
        yield f"lab, {mean}", Verdict(without_numbers(sentence))
    contrast = Row.model_construct(question="schedule")
    for gains in ([BELOW] * 2, [ABOVE] * 2, [BELOW, ABOVE], [ABOVE, UNCLEAR], [UNCLEAR]):
        rows = [contrast.model_copy(update={"difference": interval(*gain)}) for gain in gains]
        yield f"schedule, {[gain[1] for gain in gains]}", Verdict(schedule_verdict(rows))


def test_every_verdict_says_what_its_intervals_say():
    lines = []
    for cases in (
        training_cases, market_cases, gap_cases, wrapper_cases, arena_cases, other_cases
    ):  # fmt: skip
        lines.append(f"# {cases.__name__}")
        for name, verdict in cases():
            lines += [f"{name}: {verdict.sentence}", *(f"  {line}" for line in verdict.evidence)]
    assert_golden("verdicts.txt", "\n".join(lines) + "\n")


def test_the_caption_of_the_gains_names_losses_and_the_figure_each_step():
    rows = [model_row(task, "mini", metric(0.1)) for task in (OPEN, RUSHED)]
    steps = [step(OPEN, "mini+talks", ABOVE), step(RUSHED, "mini+talks", UNCLEAR),
             step(OPEN, "mini+dpo", BELOW)]  # fmt: skip
    _, lost = training.caption(comparison(rows, steps)).split("Losses")
    assert ("DPO" in lost, "SFT" in lost) == (True, False)
    figure = training.gain_figure(comparison(rows, steps))
    assert [point.x[0] for point in figure.data] == [0.1, -0.1]  # of the first task
    assert [point.error_x.array[0] for point in figure.data] == pytest.approx([0.1, 0.08])


def test_the_figure_draws_the_best_of_each_kind_and_the_bound_of_a_task():
    losing = [-grade for grade in AHEAD]
    entries = [entry(OPEN, "linear", losing), entry(OPEN, "smart", AHEAD),
               entry(OPEN, SERVED, AHEAD), entry(OPEN, f"{SERVED}+honest", AHEAD),
               entry(RUSHED, "linear", losing)]  # fmt: skip
    bound = model_row(OPEN, "oracle", metric(0.9))
    shown = winners.shown_rows(winners.rank(entries), {OPEN: bound})
    names = {
        task: [getattr(row, "policy", row.label) for row in rows] for task, rows in shown.items()
    }
    assert names[OPEN][0] == frames.BOUND
    assert sorted(names[OPEN][1:]) == sorted([SERVED, "smart"])
    assert names[RUSHED] == ["linear"]
    figure = winners.grades_figure(winners.entries_of(shown))
    assert len(figure.data) == 4
    assert any("n = " in note.text for note in figure.layout.annotations)


# An evaluation of either game


COMPARISON = load("evaluation/model-comparison.json")
BAZAAR = bazaar_game(COMPARISON)
DEAL = View("classic/single_deal", "train", "share")
MARKET = View("arena/coalition_market", "holdout", "grade")


def test_every_view_of_an_evaluation_shows_the_same(evaluation, arena_evaluation):
    lines = []
    for game, artifact, view in ((BAZAAR, evaluation, DEAL), (ARENA, arena_evaluation, MARKET)):
        for metric in game.metrics:
            each = view._replace(metric=metric)
            table = details(game, artifact, each, artifact)
            lines += [f"# {each}", plain(caption(game, artifact, each)), plain(table.about)]
            lines += table_lines(table.shown)
    tied = [row.model_copy(update={"share": rows_of(evaluation, DEAL)[0].share})
            for row in rows_of(evaluation, DEAL)]  # fmt: skip
    lines.append(plain(caption(BAZAAR, changed(evaluation, rows=tied), DEAL)))
    assert_golden("evaluations.txt", "\n".join(lines) + "\n")


def test_the_open_markets_bound_is_the_oracle_and_only_for_grades():
    evaluation, view = load("evaluation/market-holdout.json"), View(OPEN, "holdout", "grade")
    (mean,) = (
        row.grade.mean for row in COMPARISON.data.rows if (row.task, row.policy) == (OPEN, "oracle")
    )
    assert figure(BAZAAR, evaluation, view).data[0].x[0] == mean
    assert "The oracle is" in caption(BAZAAR, evaluation, view)
    assert "The oracle is" not in caption(BAZAAR, evaluation, view._replace(metric="share"))


def test_a_change_on_other_seeds_is_shown_only_where_the_game_is_the_same(
    evaluation, arena_evaluation
):
    for artifact, view in ((evaluation, DEAL), (arena_evaluation, MARKET)):
        row = rows_of(artifact, view)[-1]
        hashes = row.hashes.model_copy(update={"opponents": "0123456789ab"})
        other = changed(artifact, rows=[row.model_copy(update={"hashes": hashes})])
        assert change(row, other, view.metric) is None
        figures = getattr(row, view.metric)
        better = figures.model_copy(update={"mean": figures.mean + 0.25})
        same = changed(artifact, rows=[row.model_copy(update={view.metric: better})])
        assert change(row, same, view.metric) == pytest.approx(0.25)
