"""How the trained model decodes, and what other temperatures won on training seeds."""

import gradio as gr
from markupsafe import Markup

from panels.results.model_labels import policy_label
from panels.results.questions.verdict import capital, short
from panels.ui.look import table
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import with_interval
from sauda.records.store import Artifact


def decoding_sentence(report: Artifact) -> str:
    """Which temperature all rows use, and what others won on training seeds, as text."""
    used, *others = report.data.rows
    how = "greedily" if used.temperature == 0 else f"at temperature {used.temperature}"
    told = [_told(row.temperature, row.difference.mean) for row in others]
    kept = "none won more"
    if any(row.difference.mean > 0 for row in others):
        kept = "too little to give up repeatable replies"
    return (
        f"Every model in these tables decodes {how}, so that its replies depend on no draw."
        f" {policy_label(report.config['policy'])} played {used.n:,} training games at other"
        f" temperatures too. {capital(', '.join(told))}: {kept}."
    )


def _told(temperature: float, more: float) -> str:
    return f"at temperature {temperature} it won {abs(more):.3f} {'less' if more < 0 else 'more'}"


def decoding_table(report: Artifact) -> Markup:
    """One row a task and temperature."""
    return table(
        ("task", "temperature", "n", "mean grade", "difference from the first row"),
        [
            (
                short(row.task),
                f"{row.temperature:.1f}",
                f"{row.n:,}",
                with_interval(row.grade),
                "–" if row.difference is None else with_interval(row.difference, "+.3f"),
            )
            for row in report.data.rows
        ],
        caption="Mean grade by temperature on training seeds; differences are paired by seed",
    )


def build() -> None:
    """Lay out the section. Called inside the Results tab."""
    report, missing = load_or_say("evaluation/decoding.json")
    if report is None:
        gr.HTML(missing)
        return
    gr.HTML(Markup("<p>{}</p>").format(decoding_sentence(report)))
    gr.HTML(decoding_table(report))
    gr.HTML(provenance(report, f"n = {report.config['episodes']:,} training seeds a row"))
