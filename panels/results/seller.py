"""How good a model's words are as a seller, beside a stub that has none: a part of Results."""

import gradio as gr
from markupsafe import Markup

from panels.ui.look import heading, note, table
from panels.ui.provenance import load_or_say, provenance
from sauda.experiments.seller_quality import FILE, SellerCell, SellerRow
from sauda.records.store import Artifact

TITLES = {"published": "The published six", "better": "What a stub can fail"}
COUNTED = {"mean_rounds", "tries", "floor_learned"}  # no shares


def build() -> None:
    """Lay out the part; the command that records it where there is no artifact."""
    artifact, missing = load_or_say(FILE)
    if artifact is None:
        gr.HTML(missing)
        return
    gr.HTML(
        heading(
            "A language model as the seller",
            "Code decides every price with the true floor; the model words what was decided. Each"
            " side words the same decisions of the same games.",
        )
    )
    with gr.Tabs():
        for title, part in parts(artifact).items():
            with gr.Tab(title):
                gr.HTML(part)
    gr.HTML(
        note(
            "Code decides prices and ends, so every side shares them, and no buyer reads the"
            " words. The model is shown a persona’s turns of phrase as examples, so a judge that"
            " recognises the persona shows only that the model keeps to the examples."
            " The leaky control ends each game with words that tell how high the floor is; an"
            " attack that gains nothing there is too weak to clear the others."
        )
    )
    gr.HTML(provenance(artifact, _models(artifact)))


def parts(artifact: Artifact) -> dict[str, Markup]:
    """Both tests, the judges' confusion matrices, and the faults of the texts, by title."""
    judged = Markup("").join(
        confusion(artifact, side)
        for side in artifact.data.judges.tables
        if side in artifact.data.models or side == "asks alone"
    )
    tests = {title: criteria(artifact, test) for test, title in TITLES.items()}
    return {**tests, "Which persona a judge names": judged, "Faults": faults(artifact)}


def criteria(artifact: Artifact, test: str) -> Markup:
    """One test's criteria, a row each, a column for every side."""
    rows = [row for row in artifact.data.rows if row.test == test]
    names = list(dict.fromkeys(side for row in rows for side in row.sides))
    published = test == "published"
    return table(
        ("criterion", "what is counted", "target", *(["published"] if published else []), *names),
        [
            (
                row.criterion.replace("_", " "),
                row.about,
                row.target or "–",
                *([f"{row.published:g}"] if published else []),
                *(_cell(row, row.sides.get(name)) for name in names),
            )
            for row in rows
        ],
        align="lll" + "r" * (published + len(names)),
        caption=f"{TITLES[test]}: figure, 95 % interval, n; in bold where the target is missed",
    )


def _cell(row: SellerRow, cell: SellerCell | None) -> Markup | str:
    if cell is None:
        return "–"
    if row.criterion in COUNTED:
        figures = f"{cell.mean:.2f} [{cell.low:.2f}, {cell.high:.2f}]"
    else:
        figures = f"{cell.mean:.1%} [{cell.low:.1%}, {cell.high:.1%}]"
    text = f"{figures}, {cell.n:,} {cell.of}"
    return Markup("<strong>{}</strong>").format(text) if cell.meets is False else text


def confusion(artifact: Artifact, side: str) -> Markup:
    """Confusion matrix of the persona judge, from the words of `side` or from the asks alone."""
    personas, counts = artifact.data.judges.personas, artifact.data.judges.tables[side]
    source = "the asks alone" if side == "asks alone" else f"the words of {side}"
    return table(
        ("games of", *personas),
        [(name, *row) for name, row in zip(personas, counts, strict=True)],
        caption=f"The persona that a judge names from {source}; out of sample",
    )


def faults(artifact: Artifact) -> Markup:
    """How often each fault was found in the texts of each side."""
    counts = artifact.data.faults
    names = list(dict.fromkeys(fault for side in counts.values() for fault in side))
    if not names:
        return note("No fault was found in any text.")
    return table(
        ("the text …", *counts),
        [(fault, *(side.get(fault, 0) for side in counts.values())) for fault in names],
        caption="Faults found in the texts; a text may have several",
    )


def _models(artifact: Artifact) -> str:
    return " · ".join(f"words of {m.source}" for m in artifact.data.models.values())
