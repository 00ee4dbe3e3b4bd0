"""The ladder: one language model bare, constrained and wrapped, beside none and beside scripts.

A part of Results. A wrapper around no model at all stands in a row of its own, so that what the
wrapper wins is not taken for the model's.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from panels.look import QUIET, bar_style, heading, styled, table, whiskers
from panels.provenance import load_or_say, provenance
from sauda.artifact import Artifact
from sauda.ladder import ORACLE
from sauda.policies.lineup import is_model

FILE = "evaluation/ladder.json"
PARTS = {
    "mini": "SmolLM2-135M, untrained",
    "null": "no model",
    "constrained": "grammar",
    "steering": "published steering",
    "honest": "honest wrapper",
    "belief": "belief buyer",
    ORACLE: "oracle, knows the seller",
}


def told(name: str) -> str:
    """A policy's name in words: "no model + published steering"."""
    return " + ".join(PARTS.get(part, part.replace("_", " ")) for part in name.split("+"))


def role(name: str) -> str:
    """The series a policy is drawn as."""
    if name == ORACLE:
        return "oracle"
    if is_model(name) and not name.startswith("null"):
        return "base" if name.partition("+")[0] == "mini" else "sft"
    return "scripted"


def rows_of(ladder: Artifact, task: str) -> list[Mapping[str, Any]]:
    """The rows of one task, the best grade first."""
    mine = [row for row in ladder.data["rows"] if row["task"] == task]
    return sorted(mine, key=lambda row: -row["grade"]["mean"])


def bars(ladder: Artifact, task: str) -> go.Figure:
    """Mean grade of every rung, its interval as whiskers."""
    rows = rows_of(ladder, task)[::-1]
    figure = go.Figure()
    for group in dict.fromkeys(role(row["policy"]) for row in rows):
        mine = [row for row in rows if role(row["policy"]) == group]
        figure.add_bar(
            y=[told(row["policy"]) for row in mine],
            x=[row["grade"]["mean"] for row in mine],
            error_x=whiskers([row["grade"] for row in mine]),
            orientation="h",
            hovertemplate="%{y}: %{x:.3f}<extra></extra>",
            **bar_style(group),
        )
    figure.update_layout(
        showlegend=False,
        bargap=0.35,
        yaxis={"categoryorder": "array", "categoryarray": [told(row["policy"]) for row in rows]},
        xaxis={"title": "grade, 1 at best", "zeroline": True},
    )
    return styled(figure, 34 * len(rows) + 70)


def number(value: float) -> str:
    """A grade to three decimals, without a sign where it rounds to nothing."""
    return f"{round(value, 3) + 0.0:.3f}"


def rungs(ladder: Artifact, task: str) -> Markup:
    """The same with what a bar cannot show: forfeits, moves changed, the distance to the bare."""
    baseline = ladder.config["baseline"]
    return table(
        ("policy", "grade", "95 %", f"against {told(baseline)}", "95 %", "deals", "forfeits",
         "no move read", "changed"),
        [
            (
                told(row["policy"]),
                number(row["grade"]["mean"]),
                f"{number(row['grade']['low'])} to {number(row['grade']['high'])}",
                *against(row, baseline),
                f"{row['deal_rate']:.0%}",
                row["ends"]["forfeit"],
                f"{row['unparsed']} of {row['moves']}" if is_model(row["policy"]) else "–",
                row["changed"] if "+" in row["policy"] else "–",
            )
            for row in rows_of(ladder, task)
        ],
        caption=f"{task}: the same {ladder.config['episodes']} hold-out seeds for every row",
    )  # fmt: skip


def against(row: Mapping[str, Any], baseline: str) -> tuple[str, str]:
    """The paired difference to the baseline and its interval."""
    if row["policy"] == baseline:
        return "–", "–"
    grade = row["grade"]
    return (
        f"{grade['difference']:+.3f}",
        f"{grade['difference_low']:+.3f} to {grade['difference_high']:+.3f}",
    )


def sentence(ladder: Artifact, task: str) -> str:
    """What the model wins bare, and how much of what it wins wrapped is the wrapper's."""
    rows = {row["policy"]: row for row in rows_of(ladder, task)}
    bare, steered, none = (rows[name] for name in ("mini", "mini+steering", "null+steering"))
    said = (
        f"Bare, the untrained model wins {number(bare['grade']['mean'])} and forfeits "
        f"{bare['ends']['forfeit']} of {bare['n']} games. Under the published steering it wins "
        f"{number(steered['grade']['mean'])}; the same steering around no model wins "
        f"{number(none['grade']['mean'])}"
    )
    apart = steered["grade"]["low"] > none["grade"]["high"]
    below = steered["grade"]["high"] < none["grade"]["low"]
    verdict = (
        "so part of that is the model’s."
        if apart
        else "so the model takes away from what the wrapper wins alone."
        if below
        else "so the figure is the wrapper’s: what the model adds cannot be told from nothing."
    )
    return f"{said}, {verdict}"


def models(ladder: Artifact) -> str:
    """Which weights stood behind the names."""
    return "; ".join(
        f"{name}: {model['source']}, weights {model['sha256'][:12]}"
        for name, model in ladder.data["models"].items()
    )


def build() -> None:
    """Lay out the part. Called inside the Results tab."""
    gr.HTML(
        heading(
            "The ladder of the language model",
            "One model bare, under a grammar, under two wrappers; the wrappers around no model; "
            "scripts; and an oracle.",
        )
    )
    ladder, missing = load_or_say(FILE)
    if ladder is None:
        gr.HTML(missing)
        return
    tasks: Sequence[str] = list(ladder.config["tasks"])
    task = gr.Radio(tasks, value=tasks[0], label="Task")
    plot = gr.Plot(bars(ladder, tasks[0]), show_label=False, elem_id="results-ladder")
    said = gr.HTML(Markup("<p>{}</p>").format(sentence(ladder, tasks[0])))
    cells = gr.HTML(rungs(ladder, tasks[0]))
    task.change(
        lambda name: (
            bars(ladder, name),
            Markup("<p>{}</p>").format(sentence(ladder, name)),
            rungs(ladder, name),
        ),
        task,
        [plot, said, cells],
        **QUIET,
    )
    n = f"n = {ladder.config['episodes']} paired episodes a row; {models(ladder)}"
    gr.HTML(provenance(ladder, n))
