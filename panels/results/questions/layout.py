"""What the questions of Results lay out: verdict, folded details, numbers as CSV, maps."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import gradio as gr
import pandas as pd
from markupsafe import Markup

from panels.results.questions.verdict import Verdict, verdict_html
from panels.ui.downloads import offered
from panels.ui.tables import Column, comparison, csv_file, estimate, number, sortable_table
from sauda.records.schemas.base import Interval


@dataclass(frozen=True)
class Measured:
    """One number of a question's figure, as the table below the figure lists it."""

    task: str
    policy: str  # or the step of training
    n: int  # hold-out seeds
    interval: Interval


def show_verdict(name: str, verdict: Verdict) -> None:
    """Show the verdict of the question called `name`."""
    gr.HTML(verdict_html(verdict), elem_id=f"results-{name}-verdict")


def show_caption(text: str) -> None:
    """Show what the figure above shows, in words."""
    gr.HTML(Markup("<p>{}</p>").format(text))


def fold(title: str) -> gr.Accordion:
    """A folded part of a question, to be filled in its context."""
    return gr.Accordion(title, open=False, elem_classes="sauda-fold")


def numbers(name: str, rows: Sequence[Measured], form: str, what: str) -> None:
    """Lay out the figure's numbers, folded: a table to sort and search, and a CSV file.

    `what` heads the column of policies or steps.
    """
    columns = (
        Column("task", lambda row: row.task),
        Column(what, lambda row: row.policy),
        Column("n", lambda row: number(row.n, ",")),
        Column("mean [95 % interval]", lambda row: estimate(row.interval, form)),
    )
    with fold("The numbers of this figure"):
        sortable_table(comparison(columns, rows), "Hold-out seeds", f"results-{name}-numbers")
        offer_csv(lambda: numbers_frame(rows, what), f"results-{name}.csv")


def offer_csv(make: Callable[[], pd.DataFrame], file: str) -> None:
    """Lay out the button that downloads a table as the CSV file called `file`."""
    csv, problem = offered(lambda: csv_file(make(), file))
    gr.HTML(problem, visible=bool(problem))
    gr.DownloadButton("Download these numbers as CSV", value=csv, size="sm", scale=0)


def numbers_frame(rows: Sequence[Measured], what: str) -> pd.DataFrame:
    """The figure's numbers in full precision, one line a row."""
    return pd.DataFrame(
        [
            {"task": row.task, what: row.policy, "n": row.n}
            | {end: getattr(row.interval, end) for end in ("mean", "low", "high")}
            for row in rows
        ]
    )


def heat_table(caption: str, head: Markup, rows: Iterable[Markup], marks: str = "") -> Markup:
    """A map: `rows` of `heat_row` below the rows of `head`; `marks` are further classes."""
    return Markup(
        '<div class="sauda-scroll" role="region" tabindex="0" aria-label="{0}">'
        '<table class="{1}"><caption>{0}</caption><thead>{2}</thead>'
        "<tbody>{3}</tbody></table></div>"
    ).format(caption, f"sauda-table sauda-heat {marks}".strip(), head, Markup("").join(rows))


def heat_heads(corner: str, columns: Iterable[str]) -> Markup:
    """The head of a map: what its rows are, then its columns."""
    heads = Markup("").join(
        Markup('<th scope="col" class="sauda-r">{}</th>').format(column) for column in columns
    )
    return Markup('<tr><th scope="col" class="sauda-l">{}</th>{}</tr>').format(corner, heads)


def heat_row(label: str, cells: Iterable[Markup], marks: str = "", name: str = "") -> Markup:
    """A row of a map; an address such as "?tab=results&part=market&row=linear" leads to `name`."""
    return Markup(
        '<tr class="{}" data-row="{}"><th scope="row" class="sauda-l">{}</th>{}</tr>'
    ).format(marks, name, label, Markup("").join(cells))


def heat_cell(
    value: float, most: float, form: str, title: str, is_best: bool = False, **data: str
) -> Markup:
    """A cell of a map whose shade is the distance of `value` from 0 as a share of `most`.

    The best is framed. `title` is shown under the pointer; `data` are attributes for scripts.
    """
    side = "sauda-cell-below" if value < 0 else "sauda-cell"
    attributes = Markup("").join(
        Markup(' data-{}="{}"').format(key, text) for key, text in data.items()
    )
    return Markup('<td class="sauda-r {}{}" style="--heat: {}%" title="{}"{}>{}</td>').format(
        side,
        " sauda-best" if is_best else "",
        round(100 * abs(value) / (most or 1)),
        title,
        attributes,
        format(value, form),
    )
