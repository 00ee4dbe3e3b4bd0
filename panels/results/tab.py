"""Results: every policy on every task, with intervals; how our game compares with its source."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from env import TASKS
from panels.results import arena as arena_results
from panels.results import arena_model_comparison, model_comparison, published
from panels.results import language as language_view
from panels.results import seller as seller_view
from panels.results.market import belief, oracle, sellers
from panels.ui.look import SERIES, bar_style, downloads, heading, styled, table, trouble
from panels.ui.provenance import load_or_say, provenance
from sauda.evaluation.evaluate import compare
from sauda.records.store import Artifact

TITLE = "Results"

EVALUATIONS = (
    "evaluation/classic-train.json",
    "evaluation/classic-holdout.json",
    "evaluation/market-train.json",
    "evaluation/market-holdout.json",
)
SPLITS = {"train": "Training seeds", "holdout": "Hold-out seeds"}
METRICS = {"Share of the ZOPA": "share", "Grade of the task": "grade"}
INTERVAL, DEVIATION = "95 % interval", "Standard deviation"
ORDERS = {"Best first": True, "By name": False}


@dataclass(frozen=True)
class View:
    """What the visitor chose."""

    task: str
    split: str = "Training seeds"
    metric: str = "Share of the ZOPA"
    whisker: str = INTERVAL
    order: str = "Best first"


def rows_of(evaluation: Artifact, view: View) -> list[Mapping[str, Any]]:
    """The task's rows in the chosen order, first on top."""
    rows = [row for row in evaluation.data["rows"] if row["task"] == view.task]
    metric = METRICS[view.metric]
    if ORDERS[view.order]:
        return sorted(rows, key=lambda row: -row[metric]["mean"])
    return sorted(rows, key=lambda row: row["policy"])


def whisker(figures: Mapping[str, float], view: View) -> tuple[float, float]:
    """How far the whisker reaches below and above the mean."""
    if view.whisker == DEVIATION:
        return figures["sd"], figures["sd"]
    return figures["mean"] - figures["low"], figures["high"] - figures["mean"]


def by_task(evaluations: Sequence[Artifact]) -> dict[tuple[str, str], Artifact]:
    """Each evaluation under its (task, split), as the visitor chooses them."""
    return {
        (task, SPLITS[evaluation.config["split"]]): evaluation
        for evaluation in evaluations
        for task in evaluation.config["tasks"]
    }


def bars(evaluation: Artifact, view: View, oracle: Artifact | None = None) -> go.Figure:
    """Mean of the metric a policy, one bar each with its whisker, in the chosen order.

    A task of the open market shows its informed oracle as a line across the grades.
    """
    rows = rows_of(evaluation, view)[::-1]  # plotly draws the first at the bottom
    metric = METRICS[view.metric]
    means = [row[metric]["mean"] for row in rows]
    below, above = zip(*(whisker(row[metric], view) for row in rows), strict=True)
    bar = go.Bar(
        y=[row["policy"] for row in rows],
        x=means,
        orientation="h",
        error_x={"array": above, "arrayminus": below, "symmetric": False},
        hovertemplate="%{y}: %{x:.4f}<extra></extra>",
        **bar_style("scripted"),
    )
    figure = styled(go.Figure(bar), height=80 + 30 * len(rows))
    lowest = min(0.0, *(m - b for m, b in zip(means, below, strict=True)))
    highest = max(1.0, *(m + a for m, a in zip(means, above, strict=True)))
    figure.update_xaxes(title=view.metric, range=[lowest * 1.05, highest * 1.02], showgrid=True)
    bound = oracle_row(oracle, view.task)
    if bound is not None and view.metric == "Grade of the task":
        ink = SERIES["oracle"]
        figure.add_vline(
            x=bound["informed"]["mean"],
            line={"color": ink.light, "width": ink.width, "dash": ink.dash},
            annotation_text="informed oracle",
            annotation_position="top left",
        ).update_layout(margin_t=32)
    return figure.update_yaxes(showgrid=False)


def oracle_row(oracle: Artifact | None, task: str) -> Mapping[str, Any] | None:
    """What the oracle artifact says of a task; None where it says nothing."""
    rows = oracle.data["rows"] if oracle else []
    return next((row for row in rows if row["task"] == task), None)


def line_note(oracle: Artifact | None, view: View) -> str:
    """What the oracle's line is, where there is one."""
    bound = oracle_row(oracle, view.task)
    if bound is None or view.metric != "Grade of the task":
        return ""
    mean, n = bound["informed"]["mean"], bound["n"]
    return f" The line is what the best reply to the known seller expects: {mean:.3f}, n = {n:,}."


def caption(evaluation: Artifact, view: View) -> str:
    """The figure in one sentence."""
    rows = sorted(rows_of(evaluation, view), key=lambda row: -row[METRICS[view.metric]]["mean"])
    metric, n = METRICS[view.metric], rows[0]["n"]
    mean = rows[0][metric]["mean"]
    leaders = [row["policy"] for row in rows if row[metric]["mean"] == mean]
    names = " and ".join([", ".join(leaders[:-1]), leaders[-1]] if leaders[1:] else leaders)
    whiskers = (
        "whiskers are 95 % bootstrap intervals of the mean"
        if view.whisker == INTERVAL
        else "whiskers are one standard deviation over episodes"
    )
    verb = "share the lead" if leaders[1:] else "leads"
    return f"{names} {verb} with {mean:.3f}; n = {n:,} episodes a policy, {whiskers}."


COLUMNS = (
    "policy", "n", "mean", "95 % interval", "sd", "IQM", "against {}", "its 95 % interval",
    "other seeds", "success", "deals", "rounds", "how the deals ended",
)  # fmt: skip


def figures_table(evaluation: Artifact, view: View, other: Artifact | None = None) -> Markup:
    """The same numbers as the bars, how the deals ended, and the change on the `other` seeds."""
    metric = METRICS[view.metric]
    rows = rows_of(evaluation, view)
    cells = [
        (
            row["policy"],
            f"{row['n']:,}",
            f"{row[metric]['mean']:.4f}",
            f"{row[metric]['low']:.4f} to {row[metric]['high']:.4f}",
            f"{row[metric]['sd']:.4f}",
            f"{row[metric]['iqm']:.4f}",
            *difference(row[metric]),
            elsewhere(row, other, metric),
            f"{row['success_rate']:.3f}",
            f"{row['deal_rate']:.3f}",
            f"{row['rounds']:.2f}",
            ", ".join(f"{way} {count:,}" for way, count in row["ends"].items() if count),
        )
        for row in rows
    ]
    baseline = evaluation.config["baseline"]
    return table(
        [column.format(baseline) for column in COLUMNS],
        cells,
        align="l" + "r" * (len(COLUMNS) - 2) + "l",
        caption=f"{view.metric}, {view.task}, {view.split.lower()}; deals by how they ended",
    )


def elsewhere(row: Mapping[str, Any], other: Artifact | None, metric: str) -> str:
    """By how much the mean moves on the other seeds; why not, where the game is not the same."""
    cell = (row["task"], row["policy"])
    rows = other.data["rows"] if other else []
    match = next((r for r in rows if (r["task"], r["policy"]) == cell), None)
    if match is None:
        return "–"
    try:
        return f"{compare(match, row, metric):+.4f}"
    except ValueError as refusal:
        return str(refusal)


def difference(figures: Mapping[str, float]) -> tuple[str, str]:
    """The paired difference to the baseline and its interval; dashes where it was not played."""
    if "difference" not in figures:
        return "–", "–"
    return (
        f"{figures['difference']:+.4f}",
        f"{figures['difference_low']:+.4f} to {figures['difference_high']:+.4f}",
    )


def to_csv(evaluation: Artifact, view: View) -> str:
    """The task's rows as CSV text, with a byte-order mark for spreadsheets."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    rows = rows_of(evaluation, view)
    metrics = list(rows[0]["share"])
    head = ["task", "split", "policy", "n", "deals", "success_rate", "deal_rate", "rounds"]
    head += [f"{m}_{name}" for m in METRICS.values() for name in metrics]
    writer.writerow([*head, *rows[0]["ends"]])
    for row in rows:
        figures = [row[m][name] for m in METRICS.values() for name in metrics]
        plain = [row["task"], evaluation.config["split"], row["policy"]]
        plain += [row[name] for name in head[3:8]]
        writer.writerow([*plain, *figures, *row["ends"].values()])
    return "\ufeff" + out.getvalue()


def about(task: str) -> str:
    """What the task is; for the listings also why old figures do not compare."""
    text = TASKS[task].about
    if task == "classic/amazon_realistic":
        text += (
            " The listing file behind the published figures is not to be had: these items are ours,"
            " so the published figures of this task cannot be compared with them."
        )
    if task == "classic/collaborative_seller":
        text += " It may sell a little below its own cost, so a share can exceed 1."
    return text


# Layout ------------------------------------------------------------------------------------------


def build() -> None:
    """Lay out the tab. Called inside a `gr.Tab`."""
    gr.HTML(heading(TITLE, "Who wins how much, on which task, and how sure that is."))
    parts = (
        ("scripts", "Scripts", _evaluations),
        ("market", "The open market", _open_market),
        ("ladder", "The language model", model_comparison.build),
        ("seller", "The language seller", lambda: gr.HTML(seller_view.seller_quality())),
        ("language", "Reading text", lambda: gr.HTML(language_view.language_quality())),
        ("arena", "The GPU arena", arena_results.build),
        ("lab", "A model as a lab", arena_model_comparison.build),
        ("published", "Published figures", published.build),
    )
    gr.HTML(jumps([(f"results-{name}-part", words) for name, words, _ in parts]))
    for name, _, lay_out in parts:
        with gr.Column(elem_id=f"results-{name}-part"):
            lay_out()


def _open_market() -> None:
    oracle.build()
    sellers.build()
    belief.build()


def jumps(parts: Sequence[tuple[str, str]]) -> Markup:
    """Links to the parts of a long tab, each given by its id and its words.

    By script, since Gradio's page has a base address, from which a bare #id would load it anew.
    """
    link = Markup(
        '<a href="#{0}" onclick="event.preventDefault();'
        "document.getElementById('{0}').scrollIntoView()\">{1}</a>"
    )
    links = Markup("").join(link.format(*part) for part in parts)
    return Markup('<nav class="sauda-jumps" aria-label="Parts of this tab">{}</nav>').format(links)


def _evaluations() -> None:
    loaded = [load_or_say(file) for file in EVALUATIONS]
    for _, said in loaded:
        if said:
            gr.HTML(said)
    evaluations = by_task([found for found, _ in loaded if found is not None])
    if not evaluations:
        return
    oracle, _ = load_or_say("oracle.json")
    tasks = [t for t in TASKS if any((t, split) in evaluations for split in SPLITS.values())]
    first = View(*next(iter(evaluations)))
    with gr.Row():
        task = gr.Dropdown(tasks, value=first.task, label="Task", filterable=False, min_width=260)
        split = gr.Radio(list(SPLITS.values()), value=first.split, label="Seeds")
        metric = gr.Radio(list(METRICS), value=first.metric, label="Metric")
        spread = gr.Radio([INTERVAL, DEVIATION], value=first.whisker, label="Whiskers")
        order = gr.Radio(list(ORDERS), value=first.order, label="Order")

    def show(*chosen: str):
        view = View(*chosen)
        evaluation = evaluations.get((view.task, view.split))
        if evaluation is None:
            wrong = ValueError(f"{view.task} has not been played on the {view.split.lower()}")
            return trouble(wrong), *[gr.skip()] * 5
        other = next((split for split in SPLITS.values() if split != view.split), "")
        return (
            Markup("<p>{}</p>").format(about(view.task)),
            bars(evaluation, view, oracle),
            Markup("<p>{}{}</p>").format(caption(evaluation, view), line_note(oracle, view)),
            figures_table(evaluation, view, evaluations.get((view.task, other))),
            csv_file(evaluation, view),
            provenance(evaluation, f"n = {evaluation.config['episodes']:,} a policy and task"),
        )

    start = show(*vars(first).values())
    explained = gr.HTML(start[0])
    plot = gr.Plot(start[1], show_label=False, elem_id="results-bars")
    said = gr.HTML(start[2])
    figures = gr.HTML(start[3])
    download = gr.DownloadButton("CSV", value=start[4], size="sm", scale=0)
    origin = gr.HTML(start[5])
    chosen = [task, split, metric, spread, order]
    gr.on(
        [control.change for control in chosen],
        show,
        chosen,
        [explained, plot, said, figures, download, origin],
        queue=False,
        show_progress="hidden",
        api_visibility="private",
    )


def csv_file(evaluation: Artifact, view: View) -> str:
    """The path of a fresh CSV file of the view, for the download button."""
    path = downloads() / f"{view.task.replace('/', '-')}-{evaluation.config['split']}.csv"
    path.write_text(to_csv(evaluation, view), encoding="utf-8")
    return str(path)
