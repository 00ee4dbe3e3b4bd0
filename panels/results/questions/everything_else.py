"""What answers none of the questions: the language seller, reading text, published figures."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from panels.results.model_labels import policy_label
from panels.results.questions.layout import Answer, Artifacts, Question
from panels.ui.look import (
    QUIET,
    SERIES,
    badge,
    folded,
    heading,
    line_style,
    note,
    styled,
    table,
    trouble,
)
from panels.ui.provenance import provenance
from panels.ui.terms import TASK_TITLES, short
from panels.ui.wiring import Address, Updates, fill_on_opening
from sauda.experiments.language import KINDS, BlindLanguage, BlindPriceRow, Language, PriceRow
from sauda.experiments.reproduction import SideOutcome
from sauda.experiments.seller_games import STUB
from sauda.experiments.seller_quality import FILE as SELLER_FILE
from sauda.experiments.seller_quality import SellerCell, SellerRow
from sauda.records.schemas.base import Interval
from sauda.records.store import Artifact

TESTS = {"published": "The published six", "better": "What a stub can fail"}
COUNTED = {"mean_rounds", "tries"}  # no shares


def seller_part(artifact: Artifact) -> Markup:
    """How the models word the seller's decisions: both tests, personas, faults of the texts."""
    told = (
        "Code decides every price with the true floor; the model words what was decided. Each side"
        " words the same decisions of the same games."
    )
    parts = [folded(title, part) for title, part in seller_tables(artifact).items()]
    caution = note(
        "Code decides prices, ends and what each line tells, so every side shares them, and no"
        " buyer reads the words. What is heard is what the market’s own reader finds: the reader of"
        " every buyer. A seller speaks in the style of its type in most turns, not in all, and may"
        " tell what it paid; both are rules of the market."
    )
    models = " · ".join(f"words of {m.source}" for m in artifact.data.models.values())
    return (
        heading("A language model as the seller", told)
        + Markup("").join(parts)
        + caution
        + provenance(artifact, models)
    )


def seller_tables(artifact: Artifact) -> dict[str, Markup]:
    """Both tests, the personas by the styles heard, and the faults of the texts, by title."""
    heard = Markup("").join(personas(artifact, side) for side in (STUB, *artifact.data.models))
    tests = {title: criteria(artifact, test) for test, title in TESTS.items()}
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
                *(_seller_cell(row, row.sides.get(name)) for name in names),
            )
            for row in rows
        ],
        align="lll" + "r" * (published + len(names)),
        caption=f"{TESTS[test]}: figure, 95 % interval, n; in bold where the target is missed",
    )


def _seller_cell(row: SellerRow, cell: SellerCell | None) -> Markup | str:
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


LANGUAGE_FILE = "language.json"
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
    parts = [
        heading(
            "Reading what people write",
            "Prices and tells in English, Hinglish and Hindi, on sentences kept out of development."
            " One set is by the reader’s author, the other by a writer who never saw the reader.",
        ),
        tells_table(data),
        prices_table(data.blind.prices),
        note(
            "Precision: of the tells that are read, how many are meant. Recall: of those meant, how"
            " many are read. In brackets 95 % intervals (Wilson). A refused message gets a sentence"
            " that asks for one price; a wrong one is read as a price that was not offered."
        ),
        provenance(artifact, f"n = {len(data.sentences) + len(data.blind.sentences)}"),
    ]
    return Markup("").join(parts)


def tells_table(data: Language | BlindLanguage) -> Markup:
    """Precision and recall of the tells, a row for every set and reader."""
    sets = {"the reader’s author": data.rows, "a blind writer": data.blind.rows}
    rows = [
        (writer, READERS[row.reader], row.n, _share(row.precision), _share(row.recall))
        for writer, figures in sets.items()
        for row in figures
        if (row.split, row.language, row.signal) == ("held_out", "all", "all")
    ]
    columns = ("sentences by", "read by", "n", "precision", "recall")
    return table(columns, rows, "llrrr", "Tells")


def prices_table(prices: Sequence[PriceRow | BlindPriceRow]) -> Markup:
    """Right, refused and wrong readings of the blind writer's held-out sentences, by kind."""
    chosen = {row.kind: row for row in prices if (row.reader, row.split) == ("sauda", "held_out")}
    rows = []
    for kind in ("all", *KINDS[:-1]):
        row = chosen[kind]
        right = row.exact + row.unpriced - row.false_positives
        wrong = row.other + row.false_positives
        rows.append((KIND_NAMES[kind], row.n, right, row.missed, wrong))
    columns = ("kind of sentence", "n", "right", "refused", "wrong")
    return table(columns, rows, "lrrrr", "Prices, sentences by a blind writer")


def _share(share: Interval | None) -> str:
    if share is None:
        return "–"
    return f"{share.mean:.2f} [{share.low:.2f}, {share.high:.2f}]"


# How our game compares with its source -----------------------------------------------------------


def agreement_figure(reproduction: Artifact) -> go.Figure:
    """Every reproduced figure as its distance from the published one, in standard errors."""
    figure = go.Figure()
    shades = {"surplus": "sft", "deal_rate": "grpo"}  # "longest" has no error to count in
    for metric, role in shades.items():
        rows = [r for r in reproduction.data.rows if r.metric == metric and r.z is not None]
        style = line_style(role) | {"mode": "markers"}
        figure.add_scatter(
            x=[row.z for row in rows],
            y=[in_words(row.task) for row in rows],
            name={"surplus": "surplus", "deal_rate": "deal rate"}[metric],
            customdata=[(row.policy, row.published, row.measured) for row in rows],
            hovertemplate="%{customdata[0]}: published %{customdata[1]:.4f}, "
            "here %{customdata[2]:.4f}, z %{x:.2f}<extra></extra>",
            **style,
        )
    for z in (-3, -2, 2, 3):
        figure.add_vline(
            x=z,
            line={
                "color": SERIES["oracle"].light,
                "width": 1,
                "dash": "dot" if abs(z) == 3 else "dash",
            },
        )
    figure.update_xaxes(title="difference in standard errors", range=[-4, 4], dtick=1)
    return styled(figure, height=340).update_yaxes(showgrid=True)


def agreement_sentence(reproduction: Artifact) -> str:
    """How many figures agree, in words."""
    a = reproduction.data.agreement
    sampled = a.figures - a.without_error
    return (
        f"{a.within_three} of {sampled} sampled figures lie within three standard errors of the"
        f" difference, {a.within_two} within two; of {a.without_error} figures that do not"
        f" vary, {a.without_error_equal} are equal to four decimals."
    )


def agreement_table(reproduction: Artifact) -> Markup:
    """Every compared figure."""
    rows = [
        (
            in_words(row.task),
            policy_label(row.policy),
            row.metric.replace("_", " "),
            f"{row.published:.4f}",
            f"{row.measured:.4f}",
            "equal" if row.z is None and row.equal else _z(row.z),
        )
        for row in reproduction.data.rows
    ]
    return table(("task", "policy", "figure", "published", "here", "z"), rows, align="lllrrr")


def differences_table(reproduction: Artifact) -> Markup:
    """Each deliberate difference with what policies score on both sides."""
    rows = []
    for rule in reproduction.data.rules:
        measured = [row for row in reproduction.data.differences if row.difference == rule.name]
        for number, row in enumerate(measured):
            words = (rule.published, rule.ours) if number == 0 else ("", "")
            played = f"{_named(row.policy)} on {_named(row.task)}"
            rows.append((*words, played, won(row.published), won(row.measured)))
    heads = ("published game", "ours, and why", "played", "share there", "share here")
    plain = [[_CODE.sub(lambda code: _named(code[1]), cell) for cell in row] for row in rows]
    return table(heads, plain, align="lllrr")


def won(side: SideOutcome) -> str:
    """The mean share of the ZOPA and the deal rate of one side of a difference."""
    if side.deal_rate is None:
        return "never ends"
    deals = f"{side.deal_rate:.0%} deals"
    return deals if side.surplus is None else f"{side.surplus:.3f}, {deals}"


def _named(code: str) -> str:
    """A policy or a task in words, or several policies: "hold, rivals hold"."""
    return in_words(code).replace("_", " ")


def _z(z: float | None) -> str:
    return "differs" if z is None else f"{z:+.2f}"


# Published figures -------------------------------------------------------------------------------

# By the names of tasks in the source documents, which put no game before them.
TITLES = {
    task.partition("/")[2]: short(task) for task in TASK_TITLES if not task.startswith("bazaar/")
}
_TASK = re.compile(rf"\b({'|'.join(map(re.escape, TITLES))})\b")
_CODE = re.compile("`([^`]+)`")
SYSTEMS = {"bazaar": "Haggling buyer", "arena": "GPU arena", "agreemate": "AgreeMate"}


def published_names(published: Artifact) -> list[tuple[str, str]]:
    """(label, id) of every published figure, by system."""
    return [
        (f"{SYSTEMS[figure.system]}: {in_words(figure.title)}", figure.id)
        for figure in sorted(published.data.figures, key=lambda f: list(SYSTEMS).index(f.system))
    ]


def published_figure(published: Artifact, figure_id: str) -> Markup:
    """One published figure as a table, with its source, n and caveat."""
    figure = next((f for f in published.data.figures if f.id == figure_id), None)
    if figure is None:
        return trouble(ValueError(f"no published figure {figure_id!r:.40}"))
    align = "".join(_side([row[i] for row in figure.rows]) for i in range(len(figure.columns)))
    rows = [["–" if cell is None else in_words(cell) for cell in row] for row in figure.rows]
    n = "n is not given" if figure.n is None else f"n = {figure.n:,}"
    return Markup('<p>{} {}</p><p class="sauda-note">{} ({}). Source: {}.</p>{}').format(
        badge("published"),
        in_words(figure.caveat),
        n,
        in_words(figure.n_of),
        figure.source,
        table(list(map(in_words, figure.columns)), rows, align, in_words(figure.title)),
    )


def in_words(text: object) -> object:
    """A text of a published figure with the titles of tasks, names without underscores.

    A number stays as it is.
    """
    if not isinstance(text, str):
        return text
    told = _TASK.sub(lambda task: TITLES[task[0]], text)
    return told.replace("_", " ") if told.isidentifier() else told


def _side(cells: Sequence[object]) -> str:
    return "r" if all(isinstance(cell, int | float | None) for cell in cells) else "l"


# The question -------------------------------------------------------------------------------------


def reproduced(reproduction: Artifact, _: Address, part: gr.Accordion) -> None:
    """Lay out how our classic game compares with its source. Called inside the question."""
    on_purpose = heading(
        "Where our classic differs from the published game, and what it changes",
        "On purpose. Share is the mean share of the ZOPA, no deal counting 0; where several buyers"
        " sit at the table, a deal is one of the first seat.",
    )
    values = {
        gr.HTML(): Markup("<p>{}</p>").format(agreement_sentence(reproduction)),
        gr.Plot(show_label=False): agreement_figure(reproduction),
        gr.HTML(): folded("Every compared figure", agreement_table(reproduction))
        + on_purpose
        + differences_table(reproduction)
        + provenance(reproduction, f"n = {len(reproduction.data.rows)} figures"),
    }
    fill_on_opening(part, lambda _: values, list(values))


def reported(published: Artifact, _: Address, part: gr.Accordion) -> None:
    """Lay out the published figures, each with its caveat. Called inside the question."""
    names = published_names(published)
    chosen = next(i for _, i in names if i == "scaling-ladder")
    below = provenance(published, f"n = {len(names)} figures") + note(
        "Published figures come from the source documents and cannot be replayed."
    )
    picker = gr.Dropdown(names, value=chosen, label="Figure")
    shown = gr.HTML()

    def draw(name: str) -> Updates:
        return {shown: published_figure(published, name) + below}

    picker.change(draw, picker, [shown], **QUIET)
    fill_on_opening(part, lambda _: draw(chosen), [shown])


NAME = "else"
WORDED: Mapping[str, tuple[str, Callable[[Artifact], Markup]]] = {
    SELLER_FILE: ("How well does the language-model seller write?", seller_part),
    LANGUAGE_FILE: ("How well are prices and tells read in text?", reading),
}
LAID_OUT: Mapping[str, tuple[str, Callable[..., None]]] = {
    "evaluation/reproduction.json": (
        "Does the classic game play like the published one?", reproduced,
    ),
    "published.json": ("What the source documents report", reported),
}  # fmt: skip


def else_answer(artifacts: Artifacts) -> Answer:
    """The parts whose files are there."""
    told = "Measured and published figures beside the questions; each part unfolds."
    return Answer(
        None,
        captions=[told],
        details={t: part(artifacts[f]) for f, (t, part) in WORDED.items() if f in artifacts},
        parts={t: partial(p, artifacts[f]) for f, (t, p) in LAID_OUT.items() if f in artifacts},
    )


ELSE = Question(NAME, "Everything else", (*WORDED, *LAID_OUT), else_answer, names=())
