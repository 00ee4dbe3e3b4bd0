"""Artifacts as frames of pandas: what the tables of the page show, and its figures draw.

A frame has one row per thing that was measured. A mean with its interval is one value, a `Mean`, so
that a column is sorted by it. Shares, grades and rewards have no unit.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
import pandas as pd
from markupsafe import Markup
from pandas.io.formats.style import Styler

from env import TYPES
from panels.measured import FORM, GAIN
from panels.ui.html import text_link
from panels.ui.look import note, with_minus_signs
from panels.ui.provenance import provenance
from panels.ui.tables import MISSING, with_interval
from panels.ui.terms import in_words, task_title, with_tooltips
from panels.ui.wiring import fill_on_opening
from sauda.llm.model import NULL
from sauda.players import is_model, is_off_role, policy_label
from sauda.records.schemas.base import Interval, Row
from sauda.records.schemas.evaluation import ArenaRow, BazaarRow
from sauda.records.schemas.open_market import SPOKEN, Exploits, Gap, Worth
from sauda.records.schemas.people import People
from sauda.records.schemas.training import RoleReply
from sauda.records.store import Artifact
from sauda.statistics import mean_of


class Mean(float):
    """The mean of an interval, written with both ends: "0.412 [0.395, 0.430]"."""

    def __new__(cls, interval: Interval) -> "Mean":
        mean = super().__new__(cls, interval.mean)
        mean.interval = interval
        return mean

    def __format__(self, form: str) -> str:
        return with_interval(self.interval, form)


def written(value: Any, form: str) -> str:
    """A value of a frame as text; `form` is the format of fractions and means."""
    if value is None:
        return MISSING
    if isinstance(value, float):
        return with_minus_signs(format(value, form))
    return f"{value:,}" if isinstance(value, int) else value


@dataclass(frozen=True, eq=False)
class Table:
    """A frame and how it is shown: `name` is that of its title in tables.csv.

    `rows` are of any kind where frames.csv has columns of that name, else mappings by heading.
    """

    name: str
    rows: Iterable[Any]
    below: Markup | str = ""  # notes, and where it comes from
    form: str = "z.3f"  # of fractions and means
    forms: Mapping[str, str] = field(default_factory=dict)  # others, by heading
    caption: str = ""  # in place of that in tables.csv

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The rows with a `Mean` for each interval; None stays None, and an integer one."""
        columns = COLUMNS.get(self.name)
        lines = self.rows if columns is None else (_line(row, columns) for row in self.rows)
        lines = [
            {head: Mean(v) if isinstance(v, Interval) else v for head, v in line.items()}
            for line in lines
        ]
        return pd.DataFrame(lines, dtype=object)

    @cached_property
    def shown(self) -> Styler:
        """The frame as `gr.Dataframe` takes it: values to sort by, and the text of each."""
        forms = {column.heading: column.form for column in COLUMNS.get(self.name, ())}
        forms = dict.fromkeys(self.frame, self.form) | forms | self.forms
        texts = {head: partial(written, form=forms[head]) for head in self.frame}
        return self.frame.style.format(texts)

    @cached_property
    def about(self) -> Markup:
        """What stands above the rows: the caption, their file, and `below`."""
        caption = with_minus_signs(self.caption or TABLES[self.name].caption)
        name = re.sub(r"\W+", "-", caption[:40]).strip("-").lower()
        file = text_link(f"{name}.csv", "\ufeff" + in_full(self.frame), "Download as CSV")
        return note(Markup("{} · {}").format(with_tooltips(caption), file)) + self.below


def _line(row: Any, columns: Iterable[Any]) -> dict[str, Any]:
    return {
        each.heading: IN_WORDS[each.words](attrgetter(each.value)(row) if each.value else row)
        for each in columns
    }


def in_full(frame: pd.DataFrame) -> str:
    """A frame as CSV with all digits; a mean stands in three columns."""
    columns = {}
    for head, values in frame.items():
        if not any(isinstance(value, Mean) for value in values):
            columns[head] = list(values)
            continue
        for end in ("mean", "low", "high"):
            ends = [None if value is None else getattr(value.interval, end) for value in values]
            columns[f"{head} {end}"] = ends
    return pd.DataFrame(columns, dtype=object).to_csv(index=False)


def grid(label: str, **more: Any) -> gr.Dataframe:
    """The place of a long table, which a visitor sorts, searches and sees on the full screen."""
    return gr.Dataframe(
        label=label, show_label=False, interactive=False, wrap=True, pinned_columns=1,
        show_search="search", buttons=["fullscreen"], max_height=480, elem_classes="sauda-frame",
        **more,
    )  # fmt: skip


def lay_out(table: Table) -> None:
    """Lay out a folded table, which is made and sent as it is first unfolded."""
    title = TABLES[table.name].title
    with gr.Accordion(title, open=False, elem_classes="sauda-fold") as fold:
        about, rows = gr.HTML(), grid(title)
    fill_on_opening(fold, lambda _: {about: table.about, rows: table.shown}, [about, rows])


# Columns ------------------------------------------------------------------------------------------

SEEDS = {"all": "all seeds", "unseen": "unseen listings or labs"}
QUESTIONS = {  # of comparisons, of losses and of games
    "schedule": "schedule, compared with its control",
    "cycles": "two cycles, compared with one",
    "layers": "rates by layer, compared with one rate",
    "specialist": "specialist, compared with the generalist",
    "base": "specialist, compared with the untrained base",
    "off_role": "playing the other role, compared with its own",
}
DOING = {"buyer": "buying", "seller": "selling", "both": "in both seats"}


def plain(name: str) -> str:
    """A run of roles in words: "generalist, one cycle" of roles-generalist-one-cycle."""
    return name.removeprefix("roles-").replace("-", ", ", 1).replace("-", " ")


def _player(name: str, seat: str) -> str:
    return policy_label(name) + " (off role)" * is_off_role(name, seat)


def _distance(row: Row) -> float | str:
    if row.z is not None:
        return row.z
    return "equal" if row.equal else "differs"


def _reading(row: RoleReply) -> str:
    if row.read is None:
        return "nothing"
    price = "" if row.read.price is None else f" ₹{row.read.price:,.0f}"
    return row.read.intent + price


def names_its_price(row: RoleReply) -> bool:
    """Whether the price that is read from a reply is the one it was told to name."""
    return row.read is not None and row.read.price == row.meant.price


IN_WORDS: Mapping[str, Callable[[Any], Any]] = {  # of a value, or of a row where none is named
    "": lambda value: value,
    "policy": policy_label,
    "task": task_title,
    "market": lambda name: task_title(f"bazaar/{name}"),
    "published": in_words,
    "spaced": lambda name: name.replace("_", " "),
    "seeds": SEEDS.get,
    "distance": _distance,
    "question": QUESTIONS.get,
    "run": plain,
    "role": lambda row: f"{getattr(row, 'seat', '') or row.role}{', off role' * row.off_role}",
    "player": lambda row: _player(row.player, row.seat),
    "rival": lambda row: _player(row.beside, row.seat),
    "doing": DOING.get,
    "reading": _reading,
    # of meanings in sentences, or of those that have none
    **{
        name: partial(lambda name, row: getattr(row, name, None), name)
        for name in ("right", "wrong", "taken")
    },
    "price as told": lambda row: "yes" if names_its_price(row) else "no",
}


def _read(file: str) -> pd.DataFrame:
    return pd.read_csv(Path(__file__).with_name(file), dtype=str, keep_default_na=False)


COLUMNS = {name: [*rows.itertuples()] for name, rows in _read("frames.csv").groupby("table")}
TABLES = {row.name: row for row in _read("tables.csv").itertuples(index=False)}
NUMBERS = TABLES["numbers"].title


# Stages of training -------------------------------------------------------------------------------

FORMS = {"less the base": GAIN, "deals": ".0%", "valid actions": ".1%"} | dict.fromkeys(
    ("jobs done", "jobs given"), ".2f"
)


def stages(comparison: Artifact) -> list[Table]:
    """Every policy, the gain of each stage and its lead over others, and what bazaar models do."""
    data = comparison.data
    models = [
        row
        for row in data.rows
        if isinstance(row, BazaarRow) and is_model(row.policy) and NULL not in row.policy
    ]
    tables = [
        Table("policies", policies(comparison), forms=FORMS),
        Table("gains", data.stage_gains),
        Table("rivals", data.rivalries),
    ]
    return [*tables, Table("behaviour", models)] if models else tables


def policies(comparison: Artifact) -> list[dict[str, Any]]:
    """Every policy's grade, its difference to the base, and counts, the best grade first."""
    baseline = comparison.config["baseline"]
    return [
        {
            "policy": policy_label(row.policy),
            "task": task_title(row.task),
            "n": row.n,
            "grade": row.grade,
            "less the base": None if row.policy == baseline else row.grade.paired(),
            **counts(row),
        }
        for row in sorted(comparison.data.rows, key=lambda row: -row.grade.mean)
    ]


def counts(row: BazaarRow | ArenaRow) -> dict[str, Any]:
    """What a row counts in its game; None for what a script or an unwrapped model has not."""
    invalid = {"invalid replies": row.invalid_replies if is_model(row.policy) else None}
    if isinstance(row, BazaarRow):
        changed = row.changed if "+" in row.policy else None
        ends = {"deals": row.deal_rate, "forfeits": row.ends["forfeit"], "moves": row.moves}
        return ends | invalid | {"changed by the wrapper": changed}
    jobs = {"jobs done": row.jobs.mean, "jobs given": row.jobs_had}
    return jobs | {"actions": row.actions, "valid actions": row.valid} | invalid


# The bound, and what is lost ----------------------------------------------------------------------

BOUND = "bound: knows its seller"


def players(data: Gap) -> Table:
    """Every player's mean grade, its share of the bound, and where it loses the rest."""
    lines = [{"player": BOUND, "n": data.n, "mean grade": data.oracle, "of the bound": 1.0,
              "inference": None, "control": None}]  # fmt: skip
    lines += [
        {"player": policy_label(row.player), "n": data.n, "mean grade": row.grade,
         "of the bound": row.grade.mean / data.oracle.mean, "inference": row.inference,
         "control": row.control}
        for row in sorted(data.rows, key=lambda row: -row.grade.mean)
    ]  # fmt: skip
    forms = {"of the bound": ".0%", "inference": GAIN, "control": GAIN}
    return Table("players", lines, form=FORM, forms=forms)


def exploits(data: Exploits, below: Markup) -> Table:
    """Odd and dishonest ways to play beside the planner, and what their words gain."""
    lines = [
        {"task": task_title(row.task), "way to play": row.what, "n": data.n,
         "mean grade": row.grade, "less the planner": row.gain, "less its own silence": row.words}
        for row in sorted(data.rows, key=lambda row: -row.gain.mean)
    ]  # fmt: skip
    forms = {"less the planner": GAIN, "less its own silence": GAIN}
    return Table("exploits", lines, below, FORM, forms=forms)


def by_difficulty(data: Gap, below: Markup) -> Table:
    """Mean grade of every player in each fifth of the games, by what the bound expects."""
    rows = [(BOUND, [part.oracle for part in data.bins])]
    rows += [
        (policy_label(row.player), row.bins)
        for row in sorted(data.rows, key=lambda row: -row.grade.mean)
    ]
    heads = [f"{part.name}, n = {part.n}" for part in data.bins]
    lines = [{"player": name} | dict(zip(heads, cells, strict=True)) for name, cells in rows]
    return Table("difficulty", lines, below, FORM)


# Words --------------------------------------------------------------------------------------------


def by_type(data: Worth) -> Table:
    """Mean grade of each player of the open market against each type of seller."""
    (types,) = (np.array(row.type) for row in data.deals if row.market == SPOKEN[0])
    lines = [
        {"player": row.player}
        | {
            f"{name}, n = {(types == name).sum()}": Interval(
                **mean_of(np.array(row.grades)[types == name])
            )
            for name in TYPES
        }
        for row in data.played
        if row.market == SPOKEN[0]
    ]
    return Table("types", lines, form=FORM)


# Sellers and buyers that answer as people do ------------------------------------------------------


def best_wall(people: People):
    """The row of the wall with the highest grade."""
    walls = (row for row in people.rows if row.player.startswith("wall"))
    return max(walls, key=lambda row: row.grade.mean)


def people(
    ear: Artifact, likeness: Artifact, manners: Artifact, simplest: Artifact, customers: Artifact
) -> list[Table]:
    """How buyers and sellers behave, what the ear hears, how like it is."""
    rule = simplest.data
    habits = [row for row in manners.data.rows if row.habit == "all" or is_model(row.player)]
    parts = [row for row in ear.data.heard if row.part in ("all", "language", "kind")]
    sellers = [row for row in customers.data.rows if not row.player.startswith("wall")]
    small = (
        f"A rule of {len(rule.numbers)} numbers, and the smallest with {len(rule.kept)}:"
        f" {', '.join(rule.kept)}"
    )
    return [
        Table("manners", habits, provenance(manners)),
        Table("rules", rule.rows, provenance(simplest), caption=small),
        Table("sellers", [*sellers, best_wall(customers.data)], provenance(customers)),
        Table("heard", [*parts, *ear.data.taken], provenance(ear)),
        Table("distances", likeness.data.distances, provenance(likeness)),
    ]
