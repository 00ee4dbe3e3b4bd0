"""The language model as a lab of the GPU arena, after each stage of training. A part of Results."""

from collections.abc import Mapping
from typing import Any

import gradio as gr
from markupsafe import Markup

from panels.results.model_comparison import against, bars, climbs, models, number, rows_of, told
from panels.ui.look import heading, table
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import with_interval
from sauda.llm.registry import is_model
from sauda.policies import ZERO_GRADE
from sauda.records.store import Artifact

FILE = "evaluation/arena-ladder.json"


def figures(ladder: Artifact) -> Markup:
    """Every policy's grade, its distance to the bare base, and what became of its actions."""
    baseline, task = ladder.config["stages"][0], ladder.config["task"]
    return table(
        ("policy", "n", "grade", "95 %", f"against {told(baseline)}", "95 %", "jobs done",
         "actions the rules took", "no action read"),
        [
            (
                told(row["policy"]),
                row["n"],
                number(row["grade"]["mean"]),
                f"{number(row['grade']['low'])} to {number(row['grade']['high'])}",
                *against(row, baseline),
                f"{row['jobs']['mean']:.2f} of {row['jobs_had']:.2f}",
                f"{row['valid']:.1%} of {row['actions']:,}",
                f"{row['unparsed']:,}" if is_model(row["policy"]) else "–",
            )
            for row in rows_of(ladder, task)
        ],
        caption=f"{task}: the first n hold-out seeds, the same for every row",
    )  # fmt: skip


def sentence(ladder: Artifact) -> str:
    """Where the last stage stands, beside the base, the best script and the bound."""
    rows: Mapping[str, Any] = {row["policy"]: row for row in ladder.data["rows"]}
    base, last = (rows[ladder.config["stages"][place]] for place in (0, -1))
    scripts = [row for name, row in rows.items() if not is_model(name)]
    best = max(scripts, key=lambda row: row["grade"]["mean"])
    (bound,) = ladder.data["bounds"]
    bound_by = rows.get(f"{base['policy']}+constrained")
    grammar = (
        f" Under a grammar that offers only choices the rules take, whole plans for a job among "
        f"them, the untrained base comes to {with_interval(bound_by['grade'], 'z.3f')}."
        if bound_by
        else ""
    )
    stage, grade = told(last["policy"]), with_interval(last["grade"], "z.3f")
    return (
        f"Bare, {stage} comes to {grade} on n = {last['n']} hold-out seeds, the"
        f" {told(base['policy'])} to {number(base['grade']['mean'])}, the best script,"
        f" {told(best['policy'])}, to {number(best['grade']['mean'])}. The bound, if no other lab"
        f" falls below what it can do alone, is {number(bound['grade']['mean'])}. A grade is the"
        " surplus over what the lab could have done alone, as a share of what its jobs are worth:"
        f" below 0 it would have done better alone. {ZERO_GRADE}{grammar}"
    )


def build() -> None:
    """Lay out the part. Called inside the Results tab."""
    gr.HTML(
        heading(
            "A language model as a lab",
            "The same small model, taught by the rule expert’s actions and then by its own games.",
        )
    )
    ladder, missing = load_or_say(FILE)
    if ladder is None:
        gr.HTML(missing)
        return
    task = ladder.config["task"]
    gr.HTML(Markup("<p>{}</p>").format(sentence(ladder)))
    gr.Plot(bars(ladder, task), show_label=False, elem_id="results-arena-ladder")
    gr.HTML(climbs(ladder, task))
    gr.HTML(figures(ladder))
    gr.HTML(provenance(ladder, f"paired hold-out episodes; {models(ladder)}"))
