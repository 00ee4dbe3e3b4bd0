"""Artifacts as frames of pandas: what the tables of the page show, and its figures draw.

A frame has one row per thing that was measured. A mean with its interval is one value, a `Mean`, so
that a column is sorted by it. Shares, grades and rewards have no unit.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from operator import attrgetter
from typing import Any

import gradio as gr
import pandas as pd
from markupsafe import Markup
from pandas.io.formats.style import Styler

from panels.results.models import GAIN, named, policy_label
from panels.ui.html import text_link
from panels.ui.look import note, table, with_minus_signs
from panels.ui.provenance import provenance
from panels.ui.tables import MISSING, with_interval
from panels.ui.terms import in_words, task_title, with_tooltips
from panels.ui.wiring import Updates, fill_on_opening
from sauda.experiments.evaluate import ArenaRow, BazaarRow
from sauda.experiments.gap import Gap
from sauda.experiments.oracle import OracleRow
from sauda.experiments.people import People
from sauda.experiments.role_play import DOING, is_off_role
from sauda.experiments.runs import RoleComparison, RoleReply
from sauda.experiments.tournament import Tournament
from sauda.experiments.words import OPEN, Hearing, Words
from sauda.llm.model import NULL
from sauda.llm.registry import is_model
from sauda.records.schemas.base import Interval, Row
from sauda.records.store import Artifact

FEW = 8  # rows of a table that is read at one look; a longer one can be sorted and searched

Column = str | Callable[[Any], Any]  # an attribute of what was measured, or a function of it


class Mean(float):
    """The mean of an interval, written with both ends: "0.412 [0.395, 0.430]"."""

    def __new__(cls, interval: Interval) -> "Mean":
        mean = super().__new__(cls, interval.mean)
        mean.interval = interval
        return mean

    def __format__(self, form: str) -> str:
        return with_interval(self.interval, form)


def frame_of(rows: Iterable[Any], columns: Mapping[str, Column] | None = None) -> pd.DataFrame:
    """A frame of `rows`, which are mappings from headings where no `columns` are given.

    None stays None, and an integer beside it stays one.
    """
    if columns is not None:
        gets = {head: attrgetter(of) if isinstance(of, str) else of for head, of in columns.items()}
        rows = [{head: get(row) for head, get in gets.items()} for row in rows]
    lines = [
        {head: Mean(v) if isinstance(v, Interval) else v for head, v in row.items()} for row in rows
    ]
    return pd.DataFrame(lines, dtype=object)


def written(value: Any, form: str) -> str:
    """A value of a frame as text; `form` is the format of fractions and means."""
    if value is None:
        return MISSING
    if isinstance(value, float):
        return with_minus_signs(format(value, form))
    return f"{value:,}" if isinstance(value, int) else value


@dataclass(frozen=True, eq=False)
class Table:
    """A frame and how it is shown."""

    frame: pd.DataFrame
    caption: str
    form: str = "z.3f"  # of fractions and means
    forms: Mapping[str, str] = field(default_factory=dict)  # others, by heading
    below: Markup | str = ""  # notes, and where it comes from

    def form_of(self, head: str) -> str:
        """The format of the fractions and means of a column."""
        return self.forms.get(head, self.form)

    @cached_property
    def shown(self) -> Styler:
        """The frame as `gr.Dataframe` takes it: values to sort by, and the text of each."""
        texts = {head: partial(written, form=self.form_of(head)) for head in self.frame}
        return self.frame.style.format(texts)

    @cached_property
    def about(self) -> Markup:
        """What stands above long rows: the caption, their file, and `below`."""
        caption = with_tooltips(with_minus_signs(self.caption))
        return note(Markup("{} · {}").format(caption, self._file())) + self.below

    def drawn(self) -> Markup:
        """Few rows as HTML, with the same around them."""
        texts, align = [], ""
        for head, values in self.frame.items():
            texts.append([written(value, self.form_of(head)) for value in values])
            align += "l" if all(isinstance(value, str) for value in values) else "r"
        rows = zip(*texts, strict=True)
        return table(list(self.frame), rows, align, self.caption) + note(self._file()) + self.below

    def _file(self) -> Markup:
        name = re.sub(r"\W+", "-", self.caption[:40]).strip("-").lower()
        return text_link(f"{name}.csv", "\ufeff" + in_full(self.frame), "Download as CSV")


def in_full(frame: pd.DataFrame) -> str:
    """A frame as CSV with all digits; a mean stands in three columns."""
    columns = []
    for head, values in frame.items():
        if any(isinstance(value, Mean) for value in values):
            for end in ("mean", "low", "high"):
                ends = [None if value is None else getattr(value.interval, end) for value in values]
                columns.append(pd.Series(ends, name=f"{head} {end}", dtype=object))
        else:
            columns.append(values)
    return pd.concat(columns, axis=1).to_csv(index=False)


def grid(label: str, **more: Any) -> gr.Dataframe:
    """The place of a long table, which a visitor sorts, searches and sees on the full screen."""
    return gr.Dataframe(
        label=label, show_label=False, interactive=False, wrap=True, pinned_columns=1,
        show_search="search", buttons=["fullscreen"], max_height=480, elem_classes="sauda-frame",
        **more,
    )  # fmt: skip


def lay_out(title: str, content: Table) -> None:
    """Lay out a folded part called `title`; it is sent as it is first unfolded."""
    with gr.Accordion(title, open=False, elem_classes="sauda-fold") as fold:
        about = gr.HTML()
        rows = grid(title) if len(content.frame) > FEW else None

    def fill(_: str) -> Updates:
        return (
            {about: content.drawn()}
            if rows is None
            else {about: content.about, rows: content.shown}
        )

    fill_on_opening(fold, fill, [about] if rows is None else [about, rows])


def titled(row: Any) -> str:
    """The title of the task of a row."""
    return task_title(row.task)


# Stages of training -------------------------------------------------------------------------------


ON = {"all": "all seeds", "unseen": "unseen listings or labs"}
FORMS = {"less the base": GAIN, "deals": ".0%", "valid actions": ".1%"} | dict.fromkeys(
    ("jobs done", "jobs given"), ".2f"
)
STEPS = {
    "from": named("before"), "to": named("after"), "task": titled, "on": lambda row: ON[row.on],
    "n": "n", "difference": "interval",
}  # fmt: skip
RIVALS = {
    "stage": named("policy"), "compared with": named("rival"), "task": titled, "n": "n",
    "difference": "interval",
}  # fmt: skip
BEHAVIOUR = {
    "policy": named("policy"), "task": titled, "moves": "moves", "bids below its own": "retreats",
    "beyond its last word": "broken", "over its limit": "over_limit", "left when due": "walked",
    "times due": "walk_due",
}  # fmt: skip


def stages(comparison: Artifact) -> dict[str, Table]:
    """Every policy, the gain of each stage, and its lead over others, by the title of the table."""
    data = comparison.data
    models = (
        row
        for row in data.rows
        if isinstance(row, BazaarRow) and is_model(row.policy) and NULL not in row.policy
    )
    tables = {
        "Every policy as a table": Table(
            policies(comparison),
            "Each row on the first n hold-out seeds; 95 % intervals",
            forms=FORMS,
        ),
        "Gain of each stage": Table(
            frame_of(data.stage_gains, STEPS),
            "Gain of each stage, bare, paired by seed; 95 % intervals",
            GAIN,
        ),
        "Each stage compared with scripts and planners": Table(
            frame_of(data.rivalries, RIVALS),
            "Each stage, bare, compared with others by seed; 95 % intervals",
            GAIN,
        ),
        "Moves that break an own offer or limit": Table(
            frame_of(models, BEHAVIOUR),
            "Moves as proposed; leaving is due where the planner leaves",
        ),
    }
    return {title: table for title, table in tables.items() if len(table.frame)}


def policies(comparison: Artifact) -> pd.DataFrame:
    """Every policy's grade, its difference to the base, and counts, the best grade first."""
    baseline = comparison.config["baseline"]
    lines = [
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
    return frame_of(lines)


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
BELIEFS = {
    "player": named("player"), "positions": "beliefs.n", "stated": "beliefs.stated",
    "limit inside its range": "beliefs.held", "inside the planner’s": "beliefs.own_held",
    "width": "beliefs.width", "planner’s width": "beliefs.own_width",
    "type right": "beliefs.right", "planner’s type right": "beliefs.own_right",
}  # fmt: skip


def players(bounds: Sequence[OracleRow]) -> Table:
    """Mean grade of every player on every task, and its share of the informed oracle's."""
    lines = []
    for row in bounds:
        shown = [(BOUND, row.informed, 1.0), ("the same, saying nothing", row.silent, None)]
        cells = sorted(row.policies, key=lambda cell: -cell.mean)
        shown += [(policy_label(cell.policy), cell, cell.share) for cell in cells]
        lines += [
            {"player": name, "task": titled(row), "n": row.n, "mean grade": grade,
             "of the bound": share, "no price serves both": row.no_zopa}
            for name, grade, share in shown
        ]  # fmt: skip
    forms = {"of the bound": ".0%", "no price serves both": ".0%"}
    return Table(frame_of(lines), "Every player on hold-out seeds, task by task", forms=forms)


def exploits(bounds: Sequence[OracleRow], below: Markup) -> Table:
    """Odd and dishonest ways to play beside the best honest script of their task."""
    lines = [
        {"way to play": cell.what, "task": titled(row), "n": row.n, "mean grade": cell,
         "best honest script": policy_label(row.honest), "less that script": cell.gain}
        for row in bounds if row.search
        for cell in sorted([*row.exploits, *row.search.best], key=lambda cell: -cell.mean)
    ]  # fmt: skip
    caption = "Exploits, paired by seed; random scripts are the best of the search"
    return Table(frame_of(lines), caption, forms={"less that script": GAIN}, below=below)


def by_difficulty(data: Gap, below: Markup) -> Table:
    """Mean grade of every player in each fifth of the games, by what the bound expects."""
    rows = [(BOUND, [part.oracle for part in data.bins])]
    rows += [
        (policy_label(row.player), row.bins)
        for row in sorted(data.rows, key=lambda row: -row.grade.mean)
    ]
    heads = [f"{part.name}, n = {part.n}" for part in data.bins]
    lines = [{"player": name} | dict(zip(heads, cells, strict=True)) for name, cells in rows]
    caption = "Mean grade by difficulty: fifths of the games by what the bound expects"
    return Table(frame_of(lines), caption, below=below)


def beliefs(data: Gap) -> Table:
    """How good the stated beliefs are, beside those of the planner in the same positions."""
    caption = (
        "Stated beliefs: a range meant to hold the limit with 80 %, its width by list price, and a"
        " pick of four types"
    )
    return Table(frame_of((row for row in data.rows if row.beliefs), BELIEFS), caption, ".0%")


# Words --------------------------------------------------------------------------------------------

SELLER_TYPES = ("firm", "fair", "hasty", "bluffer")
UNSEEN, REMOVED = "unseen", "words removed"
LOST = {  # markets of hearing.json beside the open one, in words
    UNSEEN: "phrases of no training",
    "mute": "no words on either side",
    REMOVED: "its ears shut",
    "words of another game": "words of another game",
    "words of another type": "words of another type",
}


def worth(data: Words) -> Table:
    """What each thing that words do is worth, by type of seller."""
    columns = {"worth of": "what", "all games": "all"} | {name: name for name in SELLER_TYPES}
    caption = "Difference of the mean grade, paired by seed; 95 % intervals"
    return Table(frame_of(data.worth, columns), caption, GAIN)


def hearing(data: Hearing, below: Markup) -> Table:
    """What each player scores in the open market, and what it loses where its words are others."""
    rows = {(row.player, row.market): row for row in data.rows}
    grade = "grade in the open market"
    lines = [
        {"player": policy_label(player), grade: rows[player, OPEN].grade}
        | {f"loses: {words}": rows[player, name].less for name, words in LOST.items()}
        for player in dict.fromkeys(row.player for row in data.rows)
    ]
    caption = f"Mean grade, and what is lost on the same {data.n:,} seeds; 95 % intervals"
    return Table(frame_of(lines), caption, GAIN, {grade: "z.3f"}, below)


# Sellers and buyers that answer as people do ------------------------------------------------------

HEARD = {  # of the table of the ear
    "seat": "seat", "by": "part", "value": "value", "n": "n", "right": "right", "wrong": "wrong",
}  # fmt: skip
DISTANCES = {  # and of that of the likeness
    "of": "of", "n": "n", "people": "people", "simulated": "simulated", "distance": "distance",
    "between halves": "between_halves",
}  # fmt: skip
WORTH = {  # of what words are worth
    "market": lambda row: task_title(f"bazaar/{row.market}"), "what": "what", "n": "n",
    "difference": "difference",
}  # fmt: skip
MANNERS = {  # and of how buyers behave
    "buyer": lambda row: policy_label(row.player), "seller": "habit", "n": "n",
    "deals of possible": "deals", "share": "share", "no price over twice": "steady",
    "falls answered": "answered", "faults in 1,000 lines": "per_thousand",
}  # fmt: skip
SELLERS = {
    "player": "player", "n": "n", "grade": "grade", "less the silent planner": "less_silent",
    "moves towards the buyer": "raises",
}  # fmt: skip
RULES = {"player": "player", "n": "n", "grade": "grade", "less the rule": "less_rule"}


def best_wall(people: People):
    """The row of the wall with the highest grade."""
    walls = (row for row in people.rows if row.player.startswith("wall"))
    return max(walls, key=lambda row: row.grade.mean)


def people(
    ear: Artifact, likeness: Artifact, worth: Artifact, manners: Artifact, simplest: Artifact,
    customers: Artifact,
) -> dict[str, Table]:  # fmt: skip
    """The tables by the question that each answers."""
    rule = simplest.data
    manners_shown = [row for row in manners.data.rows if row.habit == "all" or is_model(row.player)]
    sellers = [row for row in customers.data.rows if not row.player.startswith("wall")]
    tables = {
        "What are words worth, market by market?": (
            worth, [row for row in worth.data.worth if row.part == "all"], WORTH,
            "What the planner wins by words, on the same seeds",
        ),
        "How does a buyer behave towards a visitor?": (
            manners, manners_shown, MANNERS,
            "Buyers and sellers of twelve habits that no training met",
        ),
        "How small a rule does as well?": (
            simplest, rule.rows, RULES,
            f"A rule of {len(rule.numbers)} numbers, and the smallest with {len(rule.kept)}:"
            f" {', '.join(rule.kept)}",
        ),
        "And who sells to people?": (
            customers, [*sellers, best_wall(customers.data)], SELLERS,
            "Sellers among buyers that answer as people do",
        ),
        "How well are free sentences understood?": (
            ear, [row for row in ear.data.heard if row.part in ("all", "language", "kind")], HEARD,
            "Evaluation sentences heard right, and as another meaning",
        ),
        "How like people are these sellers?": (
            likeness, likeness.data.distances, DISTANCES,
            "Distance of simulated games from people’s, beside that of two halves of theirs",
        ),
    }  # fmt: skip
    return {
        title: Table(frame_of(rows, columns), caption, below=provenance(source))
        for title, (source, rows, columns, caption) in tables.items()
    }


# The tournament -----------------------------------------------------------------------------------

DOES = {"buyer": "buys", "seller": "sells"}
RANKS = {
    "player": named("player"), "seat": lambda row: DOES[row.seat], "rank": "rank",
    "utility": "utility", "share of what could be won": "share",
}  # fmt: skip
EXPLOITED = {
    "player": named("player"), "seat": lambda row: DOES[row.seat],
    "most is taken by": lambda row: policy_label(row.by) if row.taken.mean else "nobody",
    "it takes": "taken", "all opponents": "usual", "difference": "more", "n": "n",
}  # fmt: skip


def ranks(data: Tournament, below: Markup) -> Table:
    """The rank of every player in its seat."""
    caption = "Ranks, the best first; 95 % intervals"
    return Table(frame_of(data.ranks, RANKS), caption, below=below)


def exploited(data: Tournament, below: Markup) -> Table:
    """What the best opponent takes from each player."""
    caption = "Utilities; 95 % intervals"
    return Table(frame_of(data.exploitability, EXPLOITED), caption, below=below)


# The published game -------------------------------------------------------------------------------


def agreement(reproduction: Artifact) -> Table:
    """Every compared figure, as published and as it comes out here."""

    def distance(row: Row) -> float | str:
        if row.z is not None:
            return row.z
        return "equal" if row.equal else "differs"

    columns = {
        "policy": named("policy"), "task": lambda row: in_words(row.task),
        "figure": lambda row: row.metric.replace("_", " "), "published": "published",
        "here": "measured", "standard errors apart": distance,
    }  # fmt: skip
    forms = {"standard errors apart": "+.2f"}
    return Table(frame_of(reproduction.data.rows, columns), "Every compared figure", ".4f", forms)


# Roles --------------------------------------------------------------------------------------------

QUESTIONS = {  # of comparisons, of losses and of games
    "schedule": "schedule, compared with its control",
    "cycles": "two cycles, compared with one",
    "layers": "rates by layer, compared with one rate",
    "specialist": "specialist, compared with the generalist",
    "base": "specialist, compared with the untrained base",
    "off_role": "playing the other role, compared with its own",
}
LOSSES = {
    "question": lambda row: QUESTIONS[row.question],
    "run": lambda row: plain(row.run),
    "compared with": lambda row: plain(row.baseline),
    "on": lambda row: f"the {row.role}'s turns",
    "n": "n", "loss": "loss", "of the other": "baseline_loss", "difference": "difference",
}  # fmt: skip


OWN = "difference from the script’s own"
SAID = {
    "model": named("model"),
    "says the moves of the": lambda row: f"{row.seat}, off role" if row.off_role else row.seat,
    "n": "n", "prices said as decided": "said", "offers": "offers", "at another price": "wrong",
    "games forfeited": "unsaid", "share won": "share", OWN: "difference",
}  # fmt: skip
SAID_CONTRASTS = {
    "question": lambda row: QUESTIONS[row.question], "model": named("model"),
    "compared with": named("beside"), "seat": "seat", "n": "n", "difference": "difference",
}  # fmt: skip
SHARES = {
    "player": lambda row: _player(row.player, row.seat),
    "compared with": lambda row: _player(row.beside, row.seat),
    "doing": lambda row: DOING[row.seat], "n": "n", "difference in share": "difference",
    "p": "p", "p, Holm": "adjusted",
}  # fmt: skip


def _player(name: str, seat: str) -> str:
    return policy_label(name) + " (off role)" * is_off_role(name, seat)


def plain(name: str) -> str:
    """A run in words: "generalist, one cycle" of roles-generalist-one-cycle."""
    return name.removeprefix("roles-").replace("-", ", ", 1).replace("-", " ")


def role_losses(data: RoleComparison, below: Markup) -> Table:
    """The loss of every run beside that of another, on hold-out dialogues."""
    caption = "Loss on hold-out dialogues, nats per token"
    return Table(frame_of(data.contrasts, LOSSES), caption, ".3f", {"difference": "+.3f"}, below)


def role_games(rows: Iterable[Row], below: Markup) -> Table:
    """One row per model and seat: offers said rightly, wrongly, not at all, and the share won."""
    forms = {"share won": "z.3f", OWN: "+z.3f"}
    return Table(frame_of(rows, SAID), "Moves of a script in a model’s words", "z.2f", forms, below)


def role_contrasts(data: Row) -> Table:
    """What one model says rightly more than another."""
    caption = "Share of prices said as decided"
    return Table(frame_of(data.contrasts, SAID_CONTRASTS), caption, "+.2f")


def role_shares(contrasts: Iterable[Row], below: Markup) -> Table:
    """What one player wins more than another by its words."""
    caption = "Share won with a script’s moves in a model’s words"
    forms = {"difference in share": "+z.3f"}
    return Table(frame_of(contrasts, SHARES), caption, ".4f", forms, below)


def role_replies(runs: Mapping[str, Artifact]) -> Table:
    """What each run said at hold-out turns; a role that it was not trained for is marked."""

    def read(row: RoleReply) -> str:
        if row.read is None:
            return "nothing"
        price = row.read.price
        return row.read.intent if price is None else f"{row.read.intent} ₹{price:,.0f}"

    lines = [
        {
            "run": plain(name),
            "plays the": f"{row.role}, off role" if row.off_role else row.role,
            "told to": row.intention,
            "said": row.text,
            "read as": read(row),
            "price as told": "yes" if names_its_price(row) else "no",
        }
        for name, run in runs.items()
        for row in run.data.replies
    ]
    return Table(frame_of(lines), "Replies of every run at hold-out turns")


def names_its_price(row: RoleReply) -> bool:
    """Whether the price that is read from a reply is the one it was told to name."""
    return row.read is not None and row.read.price == row.meant.price
