"""What is said of training runs: what each was, what its curves show, what stands beside them."""

from collections.abc import Sequence

from markupsafe import Markup

from panels.training.logs import ALL_SIX, METRICS, PROBED, REWARD, SPREAD, Log, Metric, recorded
from panels.training.permalink import View
from panels.ui.look import badge, note, stat, strip, table
from sauda.records.store import Artifact
from sauda.statistics import averaged

Stacks = Sequence[tuple[Log, Sequence[Metric]]]  # what is drawn: a log, and which metrics of it

# What a run was -----------------------------------------------------------------------------------


def summary(run: Artifact) -> Markup:
    """What the run was, from what it went on, and what its gate said."""
    data, gate = run.data, run.data["gate"]
    off = gate["price_off"]
    prices = "" if off is None else f"; prices {off:.1f} % off the teacher’s"
    if "accepted" in gate:
        prices += f"; the rules take {gate['accepted']:.0%} of them"
    return Markup('<p class="sauda-run-name"><b>{}</b>{}</p>{}').format(
        recorded(run).name,
        went_on_from(run),
        strip(
            stat(
                f"{len(data['log']):,}", "steps",
                note=f"{data['seconds'] / 60:.0f} min on {data['hardware']['device']}",
            ),
            stat(f"{data['tokens']:,}", "tokens", note=f"weights in {data['base']['precision']}"),
            _learnt_from(run),
            stat(
                f"{gate['valid']:.0%}", "hold-out replies that are moves",
                note=f"gate {'passed' if gate['passed'] else 'failed'}, n = {gate['n']}{prices}",
            ),
        ),
    )  # fmt: skip


def went_on_from(run: Artifact) -> str:
    """The adapter the run began with, if there was one."""
    after = run.data.get("after")
    return f", going on from the adapter {after['name']} ({after['sha256'][:12]})" if after else ""


def _learnt_from(run: Artifact) -> Markup:
    data = run.data
    if rows := data.get("rows"):
        of = "one a state" if recorded(run).game == "arena" else f"of {rows['rows']:,} deals"
        return stat(f"{rows['learnt']:,}", "moves learnt", note=of)
    if games := data.get("games"):
        groups = sum(games["task"].values())
        seeds = f"seeds {games['first_seed']:,} to {games['last_seed']:,}"
        note = f"{groups:,} groups of {games['group']}; {seeds}"
        return stat(f"{groups * games['group']:,}", "games played", note=note)
    if pairs := data.get("pairs"):
        found = f"found in {pairs['seconds'] / 60:.0f} min; grades {pairs['gap']:.3f} apart"
        return stat(f"{pairs['n']:,}", "pairs of replies", note=found)
    return stat("–", "learnt from", note="not in the log")


def mix(run: Artifact) -> Markup:
    """Of what a run's rows, games or pairs were made."""
    data = run.data
    rows, games, pairs = (data.get(part) or {} for part in ("rows", "games", "pairs"))
    parts = {
        "task": rows.get("task") or pairs.get("task"),
        "task, groups": games.get("task"),
        "move": rows.get("moves"),
        "move of the better reply": pairs.get("moves"),
        "register": rows.get("register"),
        "judge": pairs.get("judge"),
    }
    counted = [
        (part, name, f"{number:,}")
        for part, names in parts.items()
        for name, number in (names or {}).items()
    ]
    return table(
        ("part", "", "count"),
        counted,
        align="llr",
        caption=f"What {recorded(run).name} learnt from",
    )


def sample(run: Artifact) -> Markup:
    """One training conversation, what is learnt marked."""
    parts = [
        Markup('<mark class="sauda-learnt">{}</mark>').format(token["text"])
        if token["learnt"]
        else Markup.escape(token["text"])
        for token in run.data["sample"]
    ]
    return Markup(
        '<p class="sauda-note">{}</p><pre class="sauda-sample" role="region" tabindex="0"'
        ' aria-label="A training conversation">{}</pre>'
    ).format(
        f"{recorded(run).name}: marked tokens are learnt, the others only read.",
        Markup("").join(parts),
    )


# What its curves show -----------------------------------------------------------------------------


def captions(stacks: Stacks, view: View, beside: Sequence[Log]) -> Markup:
    """What points, lines, bands and dotted lines are; what is not drawn, and why."""
    drawn = merged(stacks)
    told = [
        "Points: each step. Lines: their debiased exponential average, smoothing"
        f" {view.smoothing:g}; the pointer reads the average, and the step in brackets."
    ]
    if any({REWARD, SPREAD} <= set(filter(log.holds, METRICS[log.role])) for log, _ in drawn):
        told.append("Band of the reward: its average ± the averaged spread within groups.")
    if any(log.holds(PROBED) for log, _ in drawn):
        told.append("Whiskers of the reward trajectory: 95 % intervals over games; not averaged.")
    if view.log:
        told.append(left_out(drawn, beside))
    for log, _ in drawn:
        told.append(resumed(log))
        absent = [metric.label for metric in METRICS[log.role] if not log.holds(metric)]
        if absent and view.run != ALL_SIX:
            told.append(f"Not in this log: {', '.join(absent)}.")
    return Markup("<p>{}</p>{}").format(
        " ".join(told),
        Markup("").join(note(sentence(log, metrics, view.smoothing)) for log, metrics in drawn),
    )


def merged(stacks: Stacks) -> list[tuple[Log, list[Metric]]]:
    """Every recorded log once, with all that is drawn of it."""
    logs = {log.name: log for log, _ in stacks if log.rows}
    return [
        (log, [metric for of, metrics in stacks if of.name == name for metric in metrics])
        for name, log in logs.items()
    ]


def left_out(drawn: Stacks, beside: Sequence[Log]) -> str:
    """How many values a logarithmic axis cannot show."""
    values = [
        row.get(metric.name)
        for log, metrics in drawn
        for metric in metrics
        if metric.log
        for of in (log, *(beside if log.beside_published else ()))
        for row in of.rows
    ]
    lost = sum(value is not None and value <= 0 for value in values)
    return (
        "Loss and gradient norm stand on a logarithmic axis, which has no place for 0 and below:"
        f" {lost} {'value is' if lost == 1 else 'values are'} left out there."
    )


def resumed(log: Log) -> str:
    """Where the run was gone on with."""
    if not log.resumed:
        return f"{log.name} was made in one piece."
    steps = ", ".join(str(step) for step in log.resumed)
    return f"Dotted lines: {log.name} was stopped and gone on with after step {steps}."


def sentence(log: Log, metrics: Sequence[Metric], smoothing: float) -> str:
    """From where to where each curve goes, for whoever cannot see it."""
    told = []
    for metric in metrics:
        values = [row[metric.name] for row in log.of(metric) if row.get(metric.name) is not None]
        if values:
            curve = averaged(values, smoothing) if metric.noisy else values
            told.append(f"{metric.label} from {curve[0]:.3g} to {curve[-1]:.3g}")
    return f"{log.name}, first and last value of each line: {'; '.join(told)}."


def overlaid(stacks: Stacks, view: View, logs: Sequence[Log]) -> Markup:
    """The badge and caveat of every published log asked for; or why it is not drawn."""
    if not logs:
        return Markup("")
    if not any(log.beside_published for log, _ in stacks):
        return note(
            "The published logs are of GRPO in a bazaar: pick six panels or that run to see them."
        )
    if view.over == "tokens":
        return note("The published logs tell no tokens, so they are not drawn over tokens.")
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
