"""Training runs in text: settings and acceptance check, captions of the curves, published logs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from env import TASKS
from panels.training.logs import (
    ALL_SIX,
    EVALUATION,
    METRICS,
    REWARD,
    REWARD_STD,
    Log,
    Metric,
    recorded,
)
from panels.training.permalink import View
from panels.ui.look import badge, note, stat, strip, table
from sauda.records.store import Artifact
from sauda.statistics import moving_average

Stacks = Sequence[tuple[Log, Sequence[Metric]]]  # the metrics drawn of each log

# What a run was -----------------------------------------------------------------------------------


def summary(run: Artifact) -> Markup:
    """Steps, tokens, data and acceptance check of a run, and the adapter it started from."""
    data, acceptance = run.data, run.data.acceptance
    deviation = acceptance.price_off
    extra = "" if deviation is None else f"; prices {deviation:.1f} % off the teacher’s"
    if acceptance.accepted is not None:
        extra += f"; the rules accept {acceptance.accepted:.0%} of them"
    verdict = "passed" if acceptance.passed else "failed"
    return Markup('<p class="sauda-run-name"><b>{}</b>{}</p>{}').format(
        recorded(run).name,
        initial_adapter(run),
        strip(
            stat(
                f"{len(data.log):,}", "steps",
                note=f"{data.seconds / 60:.0f} min on {data.hardware.device}",
            ),
            stat(f"{data.num_tokens:,}", "tokens", note=f"weights in {data.base.precision}"),
            _training_data(run),
            stat(
                f"{acceptance.valid:.0%}", "hold-out replies with a legal action",
                note=f"acceptance check {verdict}, n = {acceptance.n}{extra}",
            ),
        ),
    )  # fmt: skip


def initial_adapter(run: Artifact) -> str:
    """The adapter that training started from; "" where it started from the base model."""
    adapter = run.data.init_adapter
    if not adapter:
        return ""
    return f", starting from the adapter {adapter.name} ({adapter.sha256[:12]})"


def _training_data(run: Artifact) -> Markup:
    data = run.data
    if rows := data.rows:
        source = "one a state" if recorded(run).game == "arena" else f"of {rows.rows:,} deals"
        return stat(f"{rows.completions:,}", "moves trained on", note=source)
    if games := data.games:
        groups = sum(games.task.values())
        seeds = f"seeds {games.first_seed:,} to {games.last_seed:,}"
        note = f"{groups:,} groups of {games.num_generations}; {seeds}"
        return stat(f"{groups * games.num_generations:,}", "games played", note=note)
    if rounds := data.rounds:
        deals, own = sum(r.rows for r in rounds), sum(r.own for r in rounds)
        states = sum(r.completions for r in rounds)
        note = f"of {deals:,} deals in {len(rounds)} rounds; in {own / states:.0%} it moved itself"
        return stat(f"{states:,}", "labelled states", note=note)
    if pairs := data.pairs:
        source = f"searched for {pairs.seconds / 60:.0f} min; grades {pairs.gap:.3f} apart"
        return stat(f"{pairs.n:,}", "pairs of replies", note=source)
    return stat("–", "training data", note="not in the log")


def mix(run: Artifact) -> Markup:
    """Counts of a run's training data by task, move and judge."""
    parts: dict[str, Mapping[str, float] | None] = {}
    if rows := run.data.rows:
        parts = {"task": rows.task, "move": rows.moves}
    elif games := run.data.games:
        parts = {"task, groups": games.task}
    elif rounds := run.data.rounds:
        parts = {
            f"round {number}, {each.teacher_turns:.0%} of the turns the teacher's": each.task
            for number, each in enumerate(rounds, 1)
        }
    elif pairs := run.data.pairs:
        parts = {"task": pairs.task, "move of the better reply": pairs.moves}
        parts |= {"judge": pairs.judge}
    counted = [
        (part, name, f"{number:,}")
        for part, names in parts.items()
        for name, number in (names or {}).items()
    ]
    return table(
        ("part", "", "count"),
        counted,
        align="llr",
        caption=f"Training data of {recorded(run).name}",
    )


def sample(run: Artifact) -> Markup:
    """One training conversation, the tokens in the loss marked."""
    told = f"{recorded(run).name}: marked tokens are in the loss, the others are context."
    return marked(told, run.data.sample)


def marked(told: str, tokens: Iterable[Any]) -> Markup:
    """A training sequence below a sentence; those of `tokens` that are `in_loss` are marked."""
    parts = [
        Markup('<mark class="sauda-learnt">{}</mark>').format(token.text)
        if token.in_loss
        else Markup.escape(token.text)
        for token in tokens
    ]
    return Markup(
        '<p class="sauda-note">{}</p><pre class="sauda-sample" role="region" tabindex="0"'
        ' aria-label="{}">{}</pre>'
    ).format(told, told, Markup("").join(parts))


# What its curves show -----------------------------------------------------------------------------


def captions(stacks: Stacks, view: View, beside: Sequence[Log]) -> Markup:
    """What points, lines, bands and dotted lines are; what is not drawn, and why."""
    drawn = merged(stacks)
    sentences = [
        "Points: each step. Lines: their debiased exponential average, smoothing"
        f" {view.smoothing:g}; hovering shows the average, and the step’s value in brackets."
    ]
    if any({REWARD, REWARD_STD} <= set(filter(log.holds, METRICS[log.role])) for log, _ in drawn):
        sentences.append("Band of the reward: its average ± the averaged std within groups.")
    if any(log.holds(EVALUATION) for log, _ in drawn):
        sentences.append("Whiskers of checkpoint evaluations: 95 % intervals over games.")
    played = (log for log, _ in drawn if log.tasks)  # no script has rows of a task that is gone
    if any(log.holds(EVALUATION) for log, _ in drawn) or any(
        set(log.tasks) <= set(TASKS) for log in played
    ):
        sentences.append("Dashed level lines: the best script and the tuned one on training seeds.")
    if view.log:
        sentences.append(left_out(drawn, beside))
    for log, _ in drawn:
        sentences.append(resumed(log))
        absent = [metric.label for metric in METRICS[log.role] if not log.holds(metric)]
        if absent and view.run != ALL_SIX:
            sentences.append(f"Not in this log: {', '.join(absent)}.")
    return Markup("<p>{}</p>{}").format(
        " ".join(sentences),
        Markup("").join(note(sentence(log, metrics, view.smoothing)) for log, metrics in drawn),
    )


def merged(stacks: Stacks) -> list[tuple[Log, list[Metric]]]:
    """Every recorded log once, with all metrics drawn of it."""
    logs = {log.name: log for log, _ in stacks if log.rows}
    return [
        (log, [metric for other, metrics in stacks if other.name == name for metric in metrics])
        for name, log in logs.items()
    ]


def left_out(drawn: Stacks, beside: Sequence[Log]) -> str:
    """How many values a logarithmic axis cannot show."""
    values = [
        row.get(metric.name)
        for log, metrics in drawn
        for metric in metrics
        if metric.log
        for source in (log, *(beside if log.beside_published else ()))
        for row in source.rows
    ]
    dropped = sum(value is not None and value <= 0 for value in values)
    return (
        "Loss and gradient norm have a logarithmic axis, which cannot show 0 and below:"
        f" {dropped} {'value is' if dropped == 1 else 'values are'} left out there."
    )


def resumed(log: Log) -> str:
    """After which steps the run was resumed."""
    if not log.resumed:
        return f"{log.name} ran without interruption."
    steps = ", ".join(str(step) for step in log.resumed)
    return f"Dotted lines: {log.name} was interrupted and resumed after step {steps}."


def sentence(log: Log, metrics: Sequence[Metric], smoothing: float) -> str:
    """The first and last value of each curve, as text for those who cannot see it."""
    ranges = []
    for metric in metrics:
        values = [row.get(metric.name) for row in log.rows_of(metric)]
        values = [value for value in values if value is not None]
        if values:
            curve = moving_average(values, smoothing) if metric.noisy else values
            ranges.append(f"{metric.label} from {curve[0]:.3g} to {curve[-1]:.3g}")
    return f"{log.name}, first and last value of each line: {'; '.join(ranges)}."


def overlaid(stacks: Stacks, view: View, logs: Sequence[Log]) -> Markup:
    """The badge and caveat of every chosen published log; or why it is not drawn."""
    if not logs:
        return Markup("")
    if not any(log.beside_published for log, _ in stacks):
        return note("The published logs are of GRPO in a bazaar: pick that run to see them.")
    if view.over == "tokens":
        return note("The published logs hold no tokens, so they are not drawn over tokens.")
    rows = Markup("").join(
        Markup("<p>{} <b>{}</b>, dashed. {}</p>").format(
            badge("published"), log.name.removeprefix("published "), log.caveat
        )
        for log in logs
    )
    return rows + Markup("<p>{}</p>").format(
        "Their reward is a bell curve on the first bid and has its own axis on the right; ours is"
        " the grade of whole games. The two are different measures and do not compare."
    )
