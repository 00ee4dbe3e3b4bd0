"""The GPU arena's results: every policy with its interval, under the bound; figures at a glance."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from env import ARENA_TASKS, arena
from panels.results import arena_design
from panels.results.arena_design import spanned
from panels.ui.look import (
    QUIET,
    SERIES,
    bar_style,
    downloads,
    heading,
    stat,
    strip,
    styled,
    table,
    trouble,
    whiskers,
)
from panels.ui.provenance import load_or_say, provenance
from sauda.policies import LABS, ZERO_GRADE
from sauda.records.store import Artifact

FILES = ("evaluation/arena-holdout.json", "evaluation/arena-train.json")
SPLITS = {"train": "Training seeds", "holdout": "Hold-out seeds"}
METRICS = {"Grade": "grade", "Utility": "utility", "Reward": "reward"}
UNITS = {
    "grade": "grade, share of the stake",
    "utility": "utility, credits",
    "reward": "reward of an episode",
}


@dataclass(frozen=True)
class View:
    """What the visitor chose."""

    task: str
    split: str = "Hold-out seeds"
    metric: str = "Grade"
    others: str = "as drawn"


def rows_of(evaluation: Artifact, view: View) -> list[Mapping[str, Any]]:
    """The rows of a task in one company, the best first; ValueError where none were played."""
    metric = METRICS[view.metric]
    rows = [
        row
        for row in evaluation.data["rows"]
        if (row["task"], row["others"]) == (view.task, view.others)
    ]
    if not rows:
        raise ValueError(
            f"{view.task} with other labs “{view.others}” was not played on the"
            f" {view.split.lower()}; choose “as drawn”, or hold-out seeds"
        )
    return sorted(rows, key=lambda row: -row[metric]["mean"])


def bound_of(evaluation: Artifact, task: str) -> Mapping[str, Any] | None:
    """The upper bound of a task; None where none was computed."""
    return next((row for row in evaluation.data["bounds"] if row["task"] == task), None)


def bars(evaluation: Artifact, view: View) -> go.Figure:
    """Mean of the metric a policy with its interval, the best on top; the bound as a line."""
    rows = rows_of(evaluation, view)[::-1]  # plotly draws the first at the bottom
    metric = METRICS[view.metric]
    cells = [row[metric] for row in rows]
    bar = go.Bar(
        y=[row["policy"] for row in rows],
        x=[cell["mean"] for cell in cells],
        orientation="h",
        error_x=whiskers(cells),
        hovertemplate="%{y}: %{x:.3f}<extra></extra>",
        **bar_style("scripted"),
    )
    figure = styled(go.Figure(bar), height=96 + 30 * len(rows))
    bound = bound_of(evaluation, view.task)
    reach = [0.0, *(cell[end] for cell in cells for end in ("low", "high"))]
    if bound is not None:
        ink = SERIES["oracle"]
        reach.append(bound[metric]["mean"])
        figure.add_vline(
            x=bound[metric]["mean"],
            line={"color": ink.light, "width": ink.width, "dash": ink.dash},
            annotation_text="upper bound",
            annotation_position="top left",
        ).update_layout(margin_t=32)
    room = 0.03 * (max(reach) - min(reach))
    ends = [min(reach) - room * (min(reach) < 0), max(reach) + room]
    figure.update_xaxes(title=UNITS[metric], range=ends, showgrid=True, zeroline=True)
    return figure.update_yaxes(showgrid=False)


def caption(evaluation: Artifact, view: View) -> str:
    """The figure in one sentence, and what its line is."""
    rows, metric = rows_of(evaluation, view), METRICS[view.metric]
    best, last = rows[0], rows[-1]
    said = (
        f"{best['policy']} leads with {spanned(best[metric], metric)}, {last['policy']} is last"
        f" with {spanned(last[metric], metric)}; n = {best['n']:,} episodes a policy, whiskers are"
        " 95 % bootstrap intervals of the mean."
    )
    alone = f" {ZERO_GRADE}" if metric == "grade" else ""
    return said + alone + bound_note(evaluation, view)


def bound_note(evaluation: Artifact, view: View) -> str:
    """What the line is: a bound and no policy; nothing where there is none."""
    bound, metric = bound_of(evaluation, view.task), METRICS[view.metric]
    if bound is None:
        return ""
    rows = rows_of(evaluation, view)
    over, played = sum(row["above_bound"] for row in rows), sum(row["n"] for row in rows)
    beyond = (
        f"{over:,} of {played:,} episodes went" if over else f"none of {played:,} episodes went"
    )
    return (
        " The line is no policy but an upper bound on them: what the best joint plan leaves a lab"
        f" if no other falls below its BATNA, {spanned(bound[metric], metric)}, n ="
        f" {bound['n']:,} worlds, {bound['solved']:,} solved exactly. It knows all jobs, meets no"
        f" failures; {beyond} beyond their own."
    )


COLUMNS = (
    "policy", "n", "mean", "95 % interval", "sd", "against {}", "its 95 % interval", "{}",
    "utility, credits", "reward", "reward ~ utility, r", "valid actions", "jobs done", "ended",
)  # fmt: skip


def figures_table(evaluation: Artifact, view: View, other: Artifact | None = None) -> Markup:
    """The same numbers as the bars, and everything else that was measured of each policy."""
    metric = METRICS[view.metric]
    digits = 1 if metric == "utility" else 3
    elsewhere = next((name for name in SPLITS.values() if name != view.split), "")
    named = (evaluation.config["baseline"], elsewhere.lower())
    heads = list(COLUMNS)
    heads[5], heads[7] = heads[5].format(named[0]), heads[7].format(named[1])
    rows = [
        (
            row["policy"],
            f"{row['n']:,}",
            f"{row[metric]['mean']:z.{digits}f}",
            f"{row[metric]['low']:z.{digits}f} to {row[metric]['high']:z.{digits}f}",
            f"{row[metric]['sd']:z.{digits}f}",
            *difference(row[metric], digits),
            on_other_seeds(row, other, metric, digits),
            spanned(row["utility"], "utility"),
            spanned(row["reward"], "reward"),
            "does not vary" if row["correlation"] is None else spanned(row["correlation"]),
            f"{row['valid']:.1%} of {row['actions']:,}",
            f"{row['jobs']['mean']:.2f} of {row['jobs_had']:.2f}",
            ",\u00a0".join(f"{way}\u00a0{n:,}" for way, n in row["ends"].items() if n),
        )
        for row in rows_of(evaluation, view)
    ]
    return table(
        heads,
        rows,
        align="l" + "r" * (len(COLUMNS) - 2) + "l",
        caption=f"{view.metric}, {view.task}, {view.split.lower()}, other labs {view.others}",
    )


def difference(figures: Mapping[str, float], digits: int) -> tuple[str, str]:
    """The paired difference to the baseline and its interval; dashes where it was not played."""
    if "difference" not in figures:
        return "–", "–"
    return (
        f"{figures['difference']:+z.{digits}f}",
        f"{figures['difference_low']:+z.{digits}f} to {figures['difference_high']:+z.{digits}f}",
    )


def on_other_seeds(row: Mapping[str, Any], other: Artifact | None, metric: str, digits: int) -> str:
    """The mean on the other seeds; a dash where the same game was not played there."""
    for found in other.data["rows"] if other else ():
        cell = ("others", "task", "policy")
        game = [[r["hashes"][part] for part in ("task", "opponents")] for r in (found, row)]
        if all(found[name] == row[name] for name in cell) and game[0] == game[1]:
            return f"{found[metric]['mean']:z.{digits}f}"
    return "–"


def agreement(evaluation: Artifact, view: View) -> str:
    """How far the reward follows what it stands for, over all policies, in a sentence."""
    row = next(
        row
        for row in evaluation.data["correlations"]
        if (row["task"], row["others"]) == (view.task, view.others)
    )
    if row["correlation"] is None:
        return ""
    return (
        f"Reward against utility as a share of the stake, all policies together: r ="
        f" {spanned(row['correlation'])}, n = {row['n']:,} episodes. Penalties, and what a world"
        " gives to start with, keep it from 1."
    )


def to_csv(evaluation: Artifact, view: View) -> str:
    """The rows of the view as CSV text, with a byte-order mark for spreadsheets."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    rows = rows_of(evaluation, view)
    figures = ("mean", "low", "high", "sd", "iqm")
    paired = ("difference", "difference_low", "difference_high")
    head = ["task", "split", "others", "policy", "n", "actions", "valid", "jobs", "jobs_had"]
    names = [f"{m}_{f}" for m in METRICS.values() for f in (*figures, *paired)]
    parts = [component.name for component in arena.COMPONENTS]
    writer.writerow([*head, "correlation", "above_bound", *names, *parts, *rows[0]["ends"]])
    for row in rows:
        writer.writerow(
            [
                row["task"],
                evaluation.config["split"],
                *(row[name] for name in head[2:7]),
                row["jobs"]["mean"],
                row["jobs_had"],
                row["correlation"]["mean"] if row["correlation"] else "",
                row["above_bound"],
                *(row[m].get(f, "") for m in METRICS.values() for f in (*figures, *paired)),
                *(row["components"][name]["mean"] for name in parts),
                *row["ends"].values(),
            ]
        )
    return "\ufeff" + out.getvalue()


def csv_file(evaluation: Artifact, view: View) -> str:
    """The path of a fresh CSV file of the view, for the download button."""
    name = f"{view.task}-{evaluation.config['split']}-{view.others}.csv"
    path = downloads() / name.replace("/", "-").replace(" ", "-")
    path.write_text(to_csv(evaluation, view), encoding="utf-8")
    return str(path)


# At a glance --------------------------------------------------------------------------------------


def glance(evaluations: Sequence[Artifact]) -> Markup:
    """What the game is made of, counted in its code, and how much of it was played."""
    played = sum(row["n"] for found in evaluations for row in found.data["rows"])
    companies = {others for found in evaluations for others in found.config["others"]}
    parts = [
        stat(f"{len(ARENA_TASKS)}", "tasks", note=f"{len(arena.ARCHETYPES)} archetypes of labs"),
        stat(f"{len(arena.KINDS)}", "types of action", note=f"{len(_codes())} result codes"),
        stat(f"{len(arena.COMPONENTS)}", "reward components", note="and their exact sum"),
        stat(f"{len(LABS)}", "policies", note="scripted"),
    ]
    if evaluations:
        parts.append(
            stat(f"{played:,}", "episodes played", note=f"{len(companies)} choices of other labs")
        )
    return strip(*parts)


def _codes() -> set[str]:
    return {code for kind in arena.KINDS.values() for code in (*kind.success, *kind.failures)}


# Layout -------------------------------------------------------------------------------------------


def build() -> None:
    """Lay out the arena's sections. Called inside the Results tab."""
    gr.HTML(
        heading(
            "The GPU arena: who does most with the same GPUs?",
            "Labs trade GPU time before their deadlines; every policy sits in the same seat of the"
            " same worlds.",
        )
    )
    loaded = [load_or_say(file) for file in FILES]
    evaluations = {found.config["split"]: found for found, _ in loaded if found is not None}
    gr.HTML(glance(list(evaluations.values())))
    for _, missing in loaded:
        if missing:
            gr.HTML(missing)
    if evaluations:
        _evaluations({SPLITS[split]: found for split, found in evaluations.items()})
        arena_design.reward_design(next(iter(evaluations.values())))
    arena_design.action_space()


def _evaluations(evaluations: Mapping[str, Artifact]) -> None:
    split, evaluation = next(iter(evaluations.items()))
    tasks = list(evaluation.config["tasks"])
    companies = list(dict.fromkeys(o for e in evaluations.values() for o in e.config["others"]))
    first = View(tasks[-1], split)
    with gr.Row():
        task = gr.Radio(tasks, value=first.task, label="Arena task", min_width=300)
        seeds = gr.Radio(list(evaluations), value=split, label="Arena seeds", min_width=150)
        metric = gr.Radio(list(METRICS), value=first.metric, label="Arena metric", min_width=240)
        others = gr.Dropdown(
            companies,
            value=first.others,
            label="Other labs",
            info="As each world draws them, all of one archetype, or all planners",
            filterable=False,
            min_width=240,
        )

    def show(*chosen: str):
        view = View(*chosen)
        found = evaluations[view.split]
        try:
            shown = bars(found, view)
        except ValueError as wrong:
            return trouble(wrong), *[gr.skip()] * 5
        other = next((e for name, e in evaluations.items() if name != view.split), None)
        return (
            Markup("<p>{}</p>").format(ARENA_TASKS[view.task].about),
            shown,
            Markup("<p>{}</p><p>{}</p>").format(caption(found, view), agreement(found, view)),
            figures_table(found, view, other),
            csv_file(found, view),
            provenance(found, f"n = {found.config['episodes']:,} a policy, task and company"),
        )

    start = show(*vars(first).values())
    parts = [
        gr.HTML(start[0]),
        gr.Plot(start[1], show_label=False, elem_id="results-arena"),
        gr.HTML(start[2]),
        gr.HTML(start[3], elem_id="results-arena-table"),
        gr.DownloadButton("Download the arena’s rows", value=start[4], size="sm", scale=0),
        gr.HTML(start[5]),
    ]
    chosen = [task, seeds, metric, others]
    gr.on([control.change for control in chosen], show, chosen, parts, **QUIET)
