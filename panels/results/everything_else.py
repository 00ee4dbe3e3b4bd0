"""What answers none of the questions: the language seller, reading text, published figures."""

import re
from collections.abc import Sequence
from functools import partial

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup
from pandas.io.formats.style import Styler

from panels.frames import Table
from panels.results.question import HTML, Answer, Part, Question
from panels.ui.look import SERIES, line_style, note, style_figure, table
from panels.ui.provenance import provenance
from panels.ui.tables import MISSING, with_interval
from panels.ui.terms import in_words
from sauda.records.schemas.base import Row
from sauda.records.schemas.language import STUB, Language, SellerCell, SellerRow
from sauda.records.store import Artifact

NAME = "else"
SELLER_FILE, LANGUAGE_FILE = "seller_quality.json", "language.json"
REPRODUCTION = "evaluation/reproduction.json"
PUBLISHED = "published.json"


# The language model as the seller ----------------------------------------------------------------

TESTS = {"published": "The published six", "better": "What a stub can fail"}
COUNTED = {"mean_rounds", "tries"}  # no shares


def seller_part(artifact: Artifact) -> Markup:
    """How the models word the seller's decisions: both tests, personas, faults of the texts."""
    heard = Markup("").join(personas(artifact, side) for side in (STUB, *artifact.data.models))
    tables = {title: criteria(artifact, test) for test, title in TESTS.items()}
    tables |= {"Which persona is heard": heard, "Faults": faults(artifact)}
    models = " · ".join(f"words of {m.source}" for m in artifact.data.models.values())
    return HTML.seller(tables, provenance(artifact, models))


def criteria(artifact: Artifact, test: str) -> Markup:
    """One test's criteria, a row each, a column for every side."""
    rows = [row for row in artifact.data.rows if row.test == test]
    names = list(dict.fromkeys(side for row in rows for side in row.sides))
    published = test == "published"
    heads = ("criterion", "what is counted", "target", *(["published"] if published else []))
    lines = []
    for row in rows:
        line = [row.criterion.replace("_", " "), row.about, row.target or MISSING]
        line += [f"{row.published:g}"] if published else []
        lines.append([*line, *(_seller_cell(row, row.sides.get(name)) for name in names)])
    return table(
        (*heads, *names),
        lines,
        align="lll" + "r" * (published + len(names)),
        caption=f"{TESTS[test]}: figure, 95% interval, n; in bold where the target is missed",
    )


def _seller_cell(row: SellerRow, cell: SellerCell | None) -> Markup | str:
    if cell is None:
        return MISSING
    figures = with_interval(cell, ".2f" if row.criterion in COUNTED else ".1%")
    text = f"{figures}, {cell.n:,} {cell.of}"
    return Markup("<strong>{}</strong>").format(text) if cell.meets is False else text


def personas(artifact: Artifact, side: str) -> Markup:
    """The persona of the style that is heard most in each game, in the words of `side`."""
    style_counts = artifact.data.personas
    rows = zip(style_counts.heard[:-1], style_counts.tables[side], strict=True)
    return table(
        ("games of", *style_counts.heard),
        [(name, *counts) for name, counts in rows],
        caption=f"The persona whose style is heard most in a game, in the words of {side}",
    )


def faults(artifact: Artifact) -> Markup:
    """How often each fault was found in the texts of each side."""
    counts = artifact.data.faults
    names = dict.fromkeys(fault for side in counts.values() for fault in side)
    return table(
        ("the text …", *counts),
        [(fault, *(side.get(fault, 0) for side in counts.values())) for fault in names],
        caption="Faults found in the texts; a text may have several",
    )


# Reading text ------------------------------------------------------------------------------------

READERS = {"sauda": "Sauda’s reader", "keywords": "keyword list"}
KIND_NAMES = {
    "all": "all of them",
    "plain": "one price, said plainly",
    "correction": "a correction: “not 500, 450”",
    "for_several": "a price for several pieces",
    "spaced_digits": "digits grouped by spaces: 14 500",
    "glued": "a word glued to the number: 450mein",
    "range": "a range: no single price",
    "mixed": "a price among other numbers",
    "dollar": "another currency: no price in rupees",
    "not_a_price": "numbers that are no price",
}


def reading(artifact: Artifact) -> Markup:
    """Both sets of held-out sentences for the tells, the blind writer's by kind for the prices."""
    data = artifact.data
    source = provenance(artifact, f"n = {len(data.sentences) + len(data.blind.sentences)}")
    return HTML.reading(tells_table(data), prices_table(data.blind.prices), source)


def tells_table(data: Language) -> Markup:
    """Precision and recall of the tells, a row for every set and reader."""
    sets = {"the reader’s author": data.rows, "a blind writer": data.blind.rows}
    rows = [
        (writer, READERS[row.reader], row.n,
         with_interval(row.precision, ".2f"), with_interval(row.recall, ".2f"))
        for writer, figures in sets.items()
        for row in figures
        if (row.split, row.language, row.signal) == ("held_out", "all", "all")
    ]  # fmt: skip
    columns = ("sentences by", "read by", "n", "precision", "recall")
    return table(columns, rows, "llrrr", "Tells")


def prices_table(prices: Sequence[Row]) -> Markup:
    """Right, refused and wrong readings of the blind writer's held-out sentences, by kind."""
    chosen = {row.kind: row for row in prices if (row.reader, row.split) == ("sauda", "held_out")}
    rows = []
    for kind, label in KIND_NAMES.items():
        row = chosen[kind]
        right = row.exact + row.unpriced - row.false_positives
        wrong = row.other + row.false_positives
        rows.append((label, row.n, right, row.missed, wrong))
    columns = ("kind of sentence", "n", "right", "refused", "wrong")
    return table(columns, rows, "lrrrr", "Prices, sentences by a blind writer")


# How our game compares with its source -----------------------------------------------------------


METRICS = {"surplus": "sft", "deal_rate": "grpo"}  # drawn in; "longest" has no error to count in


def agreement_figure(reproduction: Artifact) -> go.Figure:
    """Every reproduced figure as its distance from the published one, in standard errors."""
    figure = go.Figure()
    for metric, role in METRICS.items():
        rows = [r for r in reproduction.data.rows if r.metric == metric and r.z is not None]
        figure.add_scatter(
            x=[row.z for row in rows],
            y=[in_words(row.task) for row in rows],
            name=metric.replace("_", " "),
            customdata=[(row.policy, row.published, row.measured) for row in rows],
            hovertemplate="%{customdata[0]}: published %{customdata[1]:.4f}, "
            "here %{customdata[2]:.4f}, z %{x:.2f}<extra></extra>",
            **(line_style(role) | {"mode": "markers"}),
        )
    for z in (-3, -2, 2, 3):
        dash = "dot" if abs(z) == 3 else "dash"
        figure.add_vline(x=z, line={"color": SERIES["oracle"].light, "width": 1, "dash": dash})
    figure.update_xaxes(title="difference in standard errors", range=[-4, 4], dtick=1)
    return style_figure(figure, height=340).update_yaxes(showgrid=True)


def differences_table(reproduction: Artifact) -> Markup:
    """Each deliberate difference with what policies score on both sides."""
    rows = []
    for rule in reproduction.data.rules:
        measured = [row for row in reproduction.data.differences if row.difference == rule["name"]]
        for number, row in enumerate(measured):
            words = (rule["published"], rule["ours"]) if number == 0 else ("", "")
            played = f"{_name(row.policy)} on {_name(row.task)}"
            rows.append((*words, played, won(row.published), won(row.measured)))
    heads = ("published game", "ours, and why", "played", "share there", "share here")
    plain = [[_CODE.sub(lambda code: _name(code[1]), cell) for cell in row] for row in rows]
    return table(heads, plain, align="lllrr")


def won(side: Row) -> str:
    """The mean share of the ZOPA and the deal rate of one side of a difference."""
    if side.deal_rate is None:
        return "never ends"
    deals = f"{side.deal_rate:.0%} deals"
    return deals if side.surplus is None else f"{side.surplus:.3f}, {deals}"


def _name(code: str) -> str:
    """A policy or a task in words, or several policies: "hold, rivals hold"."""
    return in_words(code).replace("_", " ")


def tell_reproduction(reproduction: Artifact) -> tuple[go.Figure, Markup, Styler]:
    """How our classic game compares with its source, and every compared figure."""
    table = Table("agreement", reproduction.data.rows)
    words = (
        HTML.agreement(reproduction.data.agreement)
        + HTML.classic_differs(differences_table(reproduction))
        + provenance(reproduction, f"n = {len(reproduction.data.rows)} figures")
        + table.about
    )
    return agreement_figure(reproduction), words, table.shown


# Published figures -------------------------------------------------------------------------------

_CODE = re.compile("`([^`]+)`")
SYSTEMS = {"bazaar": "Haggling buyer", "arena": "GPU arena", "agreemate": "AgreeMate"}


def published_figure(published: Artifact, figure_id: str) -> Markup:
    """One published figure as a table, with its source, n and caveat."""
    figure = next(each for each in published.data.figures if each.id == figure_id)
    are_numbers = [
        all(isinstance(cell, int | float | None) for cell in column)
        for column in zip(*figure.rows, strict=True)
    ]
    align = "".join("r" if is_number else "l" for is_number in are_numbers)
    rows = [[MISSING if cell is None else in_words(cell) for cell in row] for row in figure.rows]
    heads = list(map(in_words, figure.columns))
    shown = table(heads, rows, align, in_words(figure.title))
    return HTML.published(figure, in_words(figure.caveat), in_words(figure.n_of), shown)


def list_reported(published: Artifact) -> Part:
    """The published figures, each with its caveat."""
    order = list(SYSTEMS)
    figures = sorted(published.data.figures, key=lambda figure: order.index(figure.system))
    names = [(f"{SYSTEMS[each.system]}: {in_words(each.title)}", each.id) for each in figures]
    chosen = next(i for _, i in names if i == "scaling-ladder")
    below = provenance(published, f"n = {len(names)} figures") + note(
        "Published figures come from the source documents and cannot be replayed."
    )

    def draw(name: str) -> tuple[None, Markup]:
        return None, published_figure(published, name) + below

    picker = partial(gr.Dropdown, names, value=chosen, label="Figure")
    return Part("published", draw, [picker], has_figure=False)


# The question -------------------------------------------------------------------------------------


def else_answer(
    seller: Artifact, language: Artifact, reproduction: Artifact, published: Artifact
) -> Answer:
    """All parts, folded."""
    return Answer(
        None,
        caption=HTML.else_caption(),
        details={
            "How well does the language-model seller write?": seller_part(seller),
            "How well are prices and tells read in text?": reading(language),
        },
        parts={
            "Does the classic game play like the published one?": Part(
                "classic", partial(tell_reproduction, reproduction), has_table=True
            ),
            "What the source documents report": list_reported(published),
        },
    )


FILES = (SELLER_FILE, LANGUAGE_FILE, REPRODUCTION, PUBLISHED)
ELSE = Question(NAME, "Everything else", FILES, else_answer)
