"""How good a model's words are as a seller, beside a stub that has none: a part of Results."""

import gradio as gr
from markupsafe import Markup

from panels.ui.look import heading, note, table
from panels.ui.provenance import load_or_say, provenance
from sauda.experiments.seller_games import STUB
from sauda.experiments.seller_quality import FILE, SellerCell, SellerRow
from sauda.records.store import Artifact

TITLES = {"published": "The published six", "better": "What a stub can fail"}
COUNTED = {"mean_rounds", "tries"}  # no shares


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
            "Code decides prices, ends and what each line tells, so every side shares them, and no"
            " buyer reads the words. What is heard is what the market’s own reader finds: the"
            " reader of every buyer. A seller speaks in the style of its type in most turns, not in"
            " all, and may tell what it paid; both are rules of the market."
        )
    )
    gr.HTML(provenance(artifact, _models(artifact)))


def parts(artifact: Artifact) -> dict[str, Markup]:
    """Both tests, the personas by the styles heard, and the faults of the texts, by title."""
    heard = Markup("").join(personas(artifact, side) for side in (STUB, *artifact.data.models))
    tests = {title: criteria(artifact, test) for test, title in TITLES.items()}
    return {**tests, "Which persona is heard": heard, "Faults": faults(artifact)}


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


def personas(artifact: Artifact, side: str) -> Markup:
    """The persona of the style that is heard most in each game, in the words of `side`."""
    found = artifact.data.personas
    rows = zip(found.heard[:-1], found.tables[side], strict=True)
    return table(
        ("games of", *found.heard),
        [(name, *counts) for name, counts in rows],
        caption=f"The persona whose style is heard most in a game, in the words of {side}",
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
