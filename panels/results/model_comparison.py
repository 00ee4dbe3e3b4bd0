"""The ladder: one language model after each stage of training, bare and wrapped, beside scripts.

A part of Results. A wrapper around no model at all stands in a row of its own, so that what the
wrapper wins is not taken for the model's.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
import numpy as np
import plotly.graph_objects as go
from markupsafe import Markup

from panels.ui.look import QUIET, SERIES, bar_style, heading, line_style, styled, table, whiskers
from panels.ui.provenance import load_or_say, provenance
from sauda.evaluation.comparison_config import ORACLE, SCRIPTS, Config
from sauda.llm.backends.model import SAUDA
from sauda.llm.registry import is_model
from sauda.records.store import Artifact
from sauda.statistics import paired_difference

FILE = "evaluation/ladder.json"
BASE = Config.baseline
OURS = f"{BASE}+{SAUDA}"  # the stage that Sauda plays with
TRAINED = {
    BASE: "untrained base",
    "mini+sft": "SFT",
    "mini+grpo": "SFT + GRPO",
    "mini+dpo": "SFT + GRPO + DPO",
}
AS_LAB = {"mini+sft-arena": "SFT as a lab", "mini+grpo-arena": "SFT + GRPO as a lab"}
PARTS = {
    "null": "no model",
    "constrained": "grammar",
    "steering": "published steering",
    "honest": "honest wrapper",
    "belief": "belief buyer",
    ORACLE: "oracle, knows the seller",
}
WITHOUT_HIDDEN = ("expert", *SCRIPTS)  # scripts that know no more than the model


def told(name: str) -> str:
    """A policy's name in words: "no model + published steering"."""
    known = TRAINED | AS_LAB
    stage = max((s for s in known if f"{name}+".startswith(f"{s}+")), key=len, default="")
    rest = [part for part in name.removeprefix(stage).split("+") if part]
    words = [PARTS.get(part, part.replace("_", " ")) for part in rest]
    return " + ".join([known[stage], *words] if stage else words)


def role(name: str) -> str:
    """The series a policy is drawn as."""
    if name == ORACLE:
        return "oracle"
    if not is_model(name) or name.startswith("null"):
        return "scripted"
    learnt = {part.partition("-")[0] for part in name.split("+")}
    return next((stage for stage in ("dpo", "grpo", "sft") if stage in learnt), "base")


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
        ("policy", "n", "grade", "95 %", f"against {told(baseline)}", "95 %", "deals", "forfeits",
         "no move read", "changed"),
        [
            (
                told(row["policy"]),
                row["n"],
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
        caption=f"{task}: each row on the first n hold-out seeds",
    )  # fmt: skip


def climb_figure(ladder: Artifact, task: str) -> go.Figure:
    """Mean grade of the bare model after each stage, beside the best script and the oracles."""
    rows = {row["policy"]: row for row in rows_of(ladder, task)}
    stages = [name for name in TRAINED if name in rows]
    figure = go.Figure()
    figure.add_scatter(
        x=[told(name) for name in stages],
        y=[rows[name]["grade"]["mean"] for name in stages],
        error_y=whiskers([rows[name]["grade"] for name in stages]),
        hovertemplate="%{x}: %{y:.3f}<extra></extra>",
        **(line_style("sft") | {"mode": "lines+markers"}),
    )
    lines = marks(ladder, task)
    for name, grade in lines:
        figure.add_hline(
            y=grade,
            line={"dash": "dot", "width": 1, "color": SERIES["scripted"].light},
            annotation={"text": f"{name} {grade:.3f}", "font": {"size": 11}},
            annotation_position="top left",
        )
    ends = [rows[name]["grade"][end] for name in stages for end in ("low", "high")]
    lowest, highest = min(0.0, *ends), max(grade for _, grade in lines)
    room = 0.1 * (max(highest, *ends) - lowest)  # a line's words stand above it
    span = [lowest - room / 2, max(highest + room, *ends)]
    figure.update_layout(showlegend=False, yaxis={"title": "grade, 1 at best", "range": span})
    return styled(figure, 320)


def marks(ladder: Artifact, task: str) -> list[tuple[str, float]]:
    """What the climb is measured against: the best script, the belief buyer, the oracle."""
    rows = {row["policy"]: row["grade"]["mean"] for row in rows_of(ladder, task)}
    best, grade = best_script(rows)
    found = [(f"best script, {told(best)}:", grade)]
    return found + [(f"{told(name)}:", rows[name]) for name in ("belief", ORACLE) if name in rows]


def best_script(grades: Mapping[str, float]) -> tuple[str, float]:
    """The script that wins most of those that know no more than the model."""
    best = max((name for name in WITHOUT_HIDDEN if name in grades), key=grades.__getitem__)
    return best, grades[best]


def climbs(ladder: Artifact, task: str) -> Markup:
    """What each stage adds to the one before, also where nothing alike was trained on."""
    return table(
        ("from", "to", "on", "n", "difference", "95 %"),
        [
            (
                told(climb["before"]),
                told(climb["after"]),
                {"all": "all seeds", "unseen": "the untaught seller type"}[climb["on"]],
                climb["n"],
                f"{climb['difference']:+.3f}",
                f"{climb['low']:+.3f} to {climb['high']:+.3f}",
            )
            for climb in ladder.data["climbs"]
            if climb["task"] == task
        ],
        align="lllrrr",
        caption=f"{task}: what a stage of training adds, bare, paired by seed",
    )


def conduct(ladder: Artifact, task: str) -> Markup:
    """How each model keeps to its words and limit, and takes or leaves deals where that is due."""
    return table(
        ("policy", "moves", "bids below its own", "beyond its last word", "over its limit",
         "took what was due", "left where due"),
        [
            (
                told(row["policy"]),
                row["moves"],
                row["retreats"],
                row["broken"],
                row["over_limit"],
                *(
                    f"{row[done]} of {row[due]}" if row[due] else "–"
                    for done, due in (("accepted", "accept_due"), ("walked", "walk_due"))
                ),
            )
            for row in rows_of(ladder, task)
            if is_model(row["policy"]) and not row["policy"].startswith("null")
        ],
        caption=f"{task}: moves as the model proposed them; due is what the belief buyer does",
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
    """What training brought, and how much of what a wrapper shows is the wrapper's."""
    parts = [_trained(ladder, task), *_later(ladder, task), *_wrapped(ladder, task)]
    return " ".join(filter(None, parts))


@dataclass(frozen=True)
class Standing:
    """Where Sauda stands on a task, bare; means of grades."""

    row: Mapping[str, Any]
    base: float
    script: tuple[str, float]  # the best without hidden information
    way: Mapping[str, Any] | None  # from the base to the belief buyer, where that played


def standing(ladder: Artifact, task: str) -> Standing | None:
    """None where Sauda did not play."""
    rows = {row["policy"]: row for row in rows_of(ladder, task)}
    if OURS not in rows:
        return None
    grades = {name: row["grade"]["mean"] for name, row in rows.items()}
    ways = {(way["task"], way["policy"]): way for way in ladder.data["ways"]}
    return Standing(rows[OURS], grades[BASE], best_script(grades), ways.get((task, OURS)))


def walked(way: Mapping[str, Any]) -> tuple[str, str]:
    """A part of a way and its interval: "59%", "[46%, 72%]"."""
    return f"{way['part']:.0%}", f"[{way['low']:.0%}, {way['high']:.0%}]"


def _trained(ladder: Artifact, task: str) -> str:
    here = standing(ladder, task)
    if here is None:
        return ""
    grade = here.row["grade"]
    said = (
        f"Bare, {told(here.row['policy'])} wins {number(grade['mean'])} [{number(grade['low'])}, "
        f"{number(grade['high'])}] on n = {here.row['n']} hold-out seeds, the untrained base "
        f"{number(here.base)} and the best script {number(here.script[1])}"
    )
    if here.way is None:
        return f"{said}."
    part, span = walked(here.way)
    return f"{said}; that is {part} {span} of the way from the base to the belief buyer."


def _later(ladder: Artifact, task: str) -> list[str]:
    """What each stage after the one that Sauda plays with made of it."""
    order = list(TRAINED)
    return [
        f"Going on to {told(climb['after'])} changed that by {climb['difference']:+.3f} "
        f"[{climb['low']:+.3f}, {climb['high']:+.3f}]."
        for climb in ladder.data["climbs"]
        if (climb["task"], climb["on"]) == (task, "all")
        and order.index(climb["after"]) > order.index(OURS)
    ]


def _wrapped(ladder: Artifact, task: str) -> Iterator[str]:
    """What the published steering wins around the first and the last stage and around no model."""
    grades = {name: c["grade"] for name, c in ladder.data["episodes"][task].items()}
    stages = [name for name in TRAINED if name in grades]
    for stage in dict.fromkeys((stages[0], stages[-1]) if stages else ()):
        steered, none = grades.get(f"{stage}+steering"), grades.get("null+steering")
        if steered is None or none is None:
            continue
        n = min(len(steered), len(none))
        alone = np.array(none[:n])
        apart, low, high = paired_difference(np.array(steered[:n]), alone)
        verdict = (
            "so the model adds to it"
            if low > 0
            else "so the model takes away from what the wrapper wins alone"
            if high < 0
            else "so what the model adds cannot be told from nothing"
        )
        yield (
            f"The published steering wins {number(np.mean(steered[:n]))} around "
            f"{'the ' * (stage == BASE)}{told(stage)} and {number(alone.mean())} around no model: "
            f"{apart:+.3f} [{low:+.3f}, {high:+.3f}] on n = {n}, {verdict}."
        )


def models(ladder: Artifact) -> str:
    """Which weights stood behind the names, and which adapters on them."""
    return "; ".join(
        f"{model['source']}, {_marks(model['sha256'])}" for model in ladder.data["models"].values()
    )


def _marks(digest: str) -> str:
    base, _, adapter = digest.partition("+")
    return f"weights {base[:12]}" + (f" with adapter {adapter[:12]}" if adapter else "")


def build() -> None:
    """Lay out the part. Called inside the Results tab."""
    gr.HTML(
        heading(
            "The ladder of the language model",
            "One small model after each stage of training, bare, under a grammar and under two "
            "wrappers; the wrappers around no model; scripts; and an oracle.",
        )
    )
    ladder, missing = load_or_say(FILE)
    if ladder is None:
        gr.HTML(missing)
        return
    tasks: Sequence[str] = list(dict.fromkeys(row["task"] for row in ladder.data["rows"]))
    task = gr.Radio(tasks, value=tasks[0], label="Task")
    said = gr.HTML(Markup("<p>{}</p>").format(sentence(ladder, tasks[0])))
    climb = gr.Plot(climb_figure(ladder, tasks[0]), show_label=False, elem_id="results-climb")
    steps = gr.HTML(climbs(ladder, tasks[0]))
    plot = gr.Plot(bars(ladder, tasks[0]), show_label=False, elem_id="results-ladder")
    cells = gr.HTML(rungs(ladder, tasks[0]))
    with gr.Accordion("Its own words, its limit, deals taken and left", open=False):
        kept = gr.HTML(conduct(ladder, tasks[0]))
    task.change(
        lambda name: (
            Markup("<p>{}</p>").format(sentence(ladder, name)),
            climb_figure(ladder, name),
            climbs(ladder, name),
            bars(ladder, name),
            rungs(ladder, name),
            conduct(ladder, name),
        ),
        task,
        [said, climb, steps, plot, cells, kept],
        **QUIET,
    )
    gr.HTML(provenance(ladder, f"paired hold-out episodes; {models(ladder)}"))
