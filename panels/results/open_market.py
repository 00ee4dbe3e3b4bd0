"""The open market: how near the optimum; what its sellers yield, give away and remember."""

from collections.abc import Mapping
from typing import Any

import gradio as gr
import numpy as np
import plotly.graph_objects as go
from markupsafe import Markup

from env import MARKETS
from panels.results import belief as belief_view
from panels.ui.look import QUIET, SERIES, bar_style, heading, line_style, styled, table, whiskers
from panels.ui.provenance import load_or_say, provenance
from sauda.records.store import Artifact

CAREER, DEALS = "bazaar/career", MARKETS["career"].deals
CAUSES = {
    "urgency": "how near it is to walking",
    "bluffing": "whether what it just said is untrue",
    "nearness": "how near its ask is to its floor",
}


def bounds_table(oracle: Artifact) -> Markup:
    """Each task of the open market: the oracle, the belief buyer, and the best that scripts do."""
    return table(
        ("task", "n", "informed oracle", "in play", "belief buyer", "best script",
         "best of the search", "wait", "leave at once"),
        [
            (
                row["task"] + ("" if row["bound"] == "optimum" else " (upper bound)"),
                f"{row['n']:,}",
                _interval(row["informed"]),
                of_informed(row["informed_play"]),
                "–" if row["belief"] is None else of_informed(row["belief"]),
                best_script(row),
                of_informed(row["search"]["holdout"]),
                *(of_informed(scripted(row, name)) for name in ("wait", "leave")),
            )
            for row in oracle.data["rows"]
        ],
        caption="Mean grade on hold-out seeds, and what share of the informed oracle it is",
    )  # fmt: skip


def scripted(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """One policy's figures in a row of the oracle."""
    return next(found for found in row["policies"] if found["policy"] == name)


def best_script(row: Mapping[str, Any]) -> str:
    """The best of the scripted buyers, by name."""
    best = max((p for p in row["policies"] if p["policy"] != "leave"), key=lambda p: p["mean"])
    return f"{best['policy']} {of_informed(best)}"


def of_informed(figures: Mapping[str, float]) -> str:
    """A mean grade and its share of the informed value."""
    return f"{figures['mean']:.3f} ({figures['share']:.0%})"


def _interval(figures: Mapping[str, float]) -> str:
    return f"{figures['mean']:.3f} [{figures['low']:.3f}, {figures['high']:.3f}]"


# Whom the sellers yield to -----------------------------------------------------------------------


def yields(oracle: Artifact, task: str) -> go.Figure:
    """Grades won from each type of seller: the best reply's, the belief buyer's, scripts'."""
    types = _row(oracle, task)["types"]
    figure = go.Figure()
    for name, style, cells in _contestants(types):
        figure.add_scatter(
            y=[row["type"] for row in types],
            x=[cell["mean"] for cell in cells],
            error_x=whiskers(cells) | {"thickness": 1.25, "width": 4},
            name=name,
            hovertemplate=f"{name}: %{{x:.3f}}<extra>%{{y}}</extra>",
            **(style | {"mode": "markers"}),
        )
    figure.update_xaxes(title="grade of the task", showgrid=True, rangemode="tozero")
    return styled(figure, height=300).update_yaxes(showgrid=False, autorange="reversed")


def _contestants(types: list[Mapping[str, Any]]) -> list[tuple[str, dict, list[Any]]]:
    """Name, style and cells, one a type, of those a figure of the types shows."""
    ink = line_style("oracle") | {"marker": {"symbol": "line-ns-open", "size": 16}}
    ink["marker"] |= {"color": ink["line"]["color"], "line": {"width": 2}}
    shown = [("best reply to the known seller", ink, [row["informed"] for row in types])]
    if types[0]["belief"] is not None:
        shown.append(("belief buyer", line_style("buyer"), [row["belief"] for row in types]))
    best = [max(_scripts(row), key=lambda cell: cell["mean"]) for row in types]
    shown.append(("best script of this type", line_style("scripted"), best))
    waits = [scripted(row, "wait") for row in types]
    shown.append(("wait", line_style("scripted", published=True), waits))
    return shown


def yields_table(oracle: Artifact, task: str) -> Markup:
    """The same with every script by name: who exploits whom."""
    types = _row(oracle, task)["types"]
    policies = [cell["policy"] for cell in types[0]["policies"]]
    return table(
        ("seller type", "n", "best reply", "belief buyer", *policies),
        [
            (
                row["type"],
                f"{row['n']:,}",
                _interval(row["informed"]),
                "–" if row["belief"] is None else of_informed(row["belief"]),
                *(of_informed(scripted(row, name)) for name in policies),
            )
            for row in types
        ],
        caption=f"Mean grade on {task} by type of seller, and its share of the best reply's",
    )


def yields_sentence(oracle: Artifact, task: str) -> str:
    """Who is most and least exploitable, in words."""
    types = sorted(_row(oracle, task)["types"], key=lambda row: -row["informed"]["mean"])
    most, least = types[0], types[-1]
    best = max(_scripts(most), key=lambda cell: cell["mean"])
    return (
        f"A {most['type']} seller yields most: its best reply expects"
        f" {most['informed']['mean']:.3f} (n = {most['n']}), and the best script,"
        f" {best['policy']}, takes {best['share']:.0%} of that."
        f" A {least['type']} one yields least, {least['informed']['mean']:.3f} (n = {least['n']})."
        " Whiskers are 95 % bootstrap intervals."
    )


def _row(oracle: Artifact, task: str) -> Mapping[str, Any]:
    return next(row for row in oracle.data["rows"] if row["task"] == task)


def _scripts(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [cell for cell in row["policies"] if cell["policy"] != "leave"]


# What their manner gives away --------------------------------------------------------------------


def manner_figure(market: Artifact, task: str) -> go.Figure:
    """How much each signal tells of its hidden cause, one bar a signal with its whisker."""
    rows = [row for row in _manner(market, task)["signals"] if row["cause"]][::-1]
    ends = {"mean": "r2", "low": "low", "high": "high"}
    cells = [{end: row[name][row["cause"]] for end, name in ends.items()} for row in rows]
    bar = go.Bar(
        y=[row["signal"].replace("_", " ") for row in rows],
        x=[cell["mean"] for cell in cells],
        error_x=whiskers(cells),
        orientation="h",
        customdata=[CAUSES[row["cause"]] for row in rows],
        hovertemplate="%{y} tells %{customdata}: %{x:.3f}<extra></extra>",
        **bar_style("seller"),
    )
    figure = styled(go.Figure(bar), height=360)
    figure.update_xaxes(title="partial R² given public history", showgrid=True, rangemode="tozero")
    return figure.update_yaxes(showgrid=False)


def manner_table(market: Artifact, task: str) -> Markup:
    """Each signal against every cause; its own with the interval."""
    return table(
        ("signal", "drawn from", *CAUSES),
        [
            (
                row["signal"].replace("_", " "),
                row["cause"] or "the asks alone",
                *(_told(row, cause) for cause in CAUSES),
            )
            for row in _manner(market, task)["signals"]
        ],
        align="ll" + "r" * len(CAUSES),
        caption=f"Partial R² of each signal for each hidden cause, {task}; interval for its own",
    )


def _told(row: Mapping[str, Any], cause: str) -> str:
    r2 = f"{row['r2'][cause]:.3f}"
    own = row["cause"] == cause
    return f"{r2} [{row['low'][cause]:.3f}, {row['high'][cause]:.3f}]" if own else r2


def manner_sentence(market: Artifact, task: str) -> str:
    """What the figure shows, and what the words add, in words."""
    manner, words = _manner(market, task), market.data["words"]
    gain = words["gain"]
    return (
        f"Share of what prices, rounds and claims leave open about a hidden cause that one signal"
        f" explains; {manner['replies']:,} counter-offers of {manner['games']:,} games, whiskers"
        f" are 95 % bootstrap intervals over games. Concession pattern and repeated phrases only"
        f" repeat what the asks show. To a guess at the floor from prices (R²"
        f" {words['prices']['mean']:.3f}) the seller’s words add {gain['mean']:+.3f}"
        f" [{gain['low']:+.3f}, {gain['high']:+.3f}] (bazaar/open, n = {words['n']:,})."
    )


def _manner(market: Artifact, task: str) -> Mapping[str, Any]:
    return next(row for row in market.data["manner"] if row["task"] == task)


# What they remember ------------------------------------------------------------------------------


def career_figure(market: Artifact, then: str, evaluation: Artifact | None) -> go.Figure:
    """Mean share deal by deal as the policy plays; and in the later ones of either start."""
    row = _career(market, then)
    last = DEALS - len(row["firm"])
    later = list(range(last + 1, DEALS + 1))
    soft = line_style("buyer")
    soft["line"] = soft["line"] | {"dash": "dash"}
    soft["marker"] = soft["marker"] | {"symbol": "circle-open"}
    figure = go.Figure()
    for name, style, cells in (
        (f"{last} firm deals first", line_style("buyer"), row["firm"]),
        (f"{last} soft deals first", soft, row["soft"]),
    ):
        figure.add_scatter(
            x=later,
            y=[cell["mean"] for cell in cells],
            error_y=whiskers(cells),
            name=name,
            hovertemplate=f"{name}, deal %{{x}}: %{{y:.3f}}<extra></extra>",
            **style,
        )
    if evaluation is not None:
        figure.add_scatter(
            x=list(range(1, DEALS + 1)),
            y=own_curve(evaluation, then),
            name=f"{then} throughout, one purse",
            hovertemplate="deal %{x}: %{y:.3f}<extra></extra>",
            **line_style("scripted"),
        )
    figure.add_vline(
        x=last + 0.5, line={"color": SERIES["oracle"].light, "width": 1, "dash": "dot"}
    )
    figure.update_xaxes(title="deal of the career", dtick=1)
    return styled(figure, height=340).update_yaxes(
        title="mean share of the ZOPA", rangemode="tozero"
    )


def own_curve(evaluation: Artifact, policy: str) -> list[float]:
    """Mean share of each deal over the recorded careers of `policy`, all deals counted."""
    columns = evaluation.data["episodes"][CAREER][policy]
    by_deal = np.array(columns["share"]).reshape(len(columns["grade"]), -1)
    return by_deal.mean(axis=0).round(6).tolist()


def career_sentence(market: Artifact, then: str) -> str:
    """What a soft history cost, in words."""
    row = _career(market, then)
    lost = row["lost"]
    return (
        f"From the dotted line on all play {then}. A soft start costs it {lost['mean']:.3f}"
        f" [{lost['low']:.3f}, {lost['high']:.3f}] of the ZOPA a deal (n = {row['n']} paired"
        " careers, deals without a ZOPA left out, an ample purse, so that memory alone differs)."
    )


def _career(market: Artifact, then: str) -> Mapping[str, Any]:
    return next(row for row in market.data["careers"] if row["then"] == then)


# Layout ------------------------------------------------------------------------------------------


def build() -> None:
    """Lay out the sections. Called inside the Results tab."""
    _oracle()
    _manner_and_memory()
    belief_view.build()


def _oracle() -> None:
    gr.HTML(
        heading(
            "The open market: how near the optimum?",
            "The informed oracle knows the seller and expects the best reply’s grade; in play, luck"
            " comes in. The belief buyer knows what any contestant does: the best uninformed buyer"
            " lies between the two. A career’s optimum lies between its bound and its play.",
        )
    )
    oracle, said = load_or_say("oracle.json")
    if oracle is None:
        gr.HTML(said)
        return
    gr.HTML(bounds_table(oracle))
    tried = oracle.data["rows"][0]["search"]["tried"]
    errors = [row["grid_error"] for row in oracle.data["rows"]]
    gr.HTML(
        Markup(
            "<p>The search tried {} fixed schedules and waiting scripts a task on training seeds."
            " Halving the oracle’s price grid moved a value by {:.4f} on average at most (n = {}"
            " deals a task), and by {:.3f} at worst.</p>"
        ).format(
            tried, max(e["mean"] for e in errors), errors[0]["n"], max(e["max"] for e in errors)
        )
    )
    gr.HTML(provenance(oracle, f"n = {oracle.config['episodes']:,} episodes a task"))
    gr.HTML(
        heading(
            "Whom the sellers yield to",
            "How far each type can be exploited: what the best reply wins, and who comes near.",
        )
    )
    tasks = [row["task"] for row in oracle.data["rows"]]
    task = gr.Radio(tasks, value=tasks[0], label="Task")
    plot = gr.Plot(yields(oracle, tasks[0]), show_label=False, elem_id="results-yields")
    said = gr.HTML(Markup("<p>{}</p>").format(yields_sentence(oracle, tasks[0])))
    cells = gr.HTML(yields_table(oracle, tasks[0]))
    task.change(
        lambda name: (
            yields(oracle, name),
            Markup("<p>{}</p>").format(yields_sentence(oracle, name)),
            yields_table(oracle, name),
        ),
        task,
        [plot, said, cells],
        **QUIET,
    )


def _manner_and_memory() -> None:
    gr.HTML(
        heading(
            "What the sellers give away",
            "Twelve signals of manner; a hidden cause drives each, and prices do not show it.",
        )
    )
    market, missing = load_or_say("market.json")
    if market is None:
        gr.HTML(missing)
        return
    tasks = [row["task"] for row in market.data["manner"]]
    task = gr.Radio(tasks, value=tasks[-1], label="Task")
    plot = gr.Plot(manner_figure(market, tasks[-1]), show_label=False, elem_id="results-manner")
    said = gr.HTML(Markup("<p>{}</p>").format(manner_sentence(market, tasks[-1])))
    with gr.Accordion("Every signal against every cause", open=False):
        cells = gr.HTML(manner_table(market, tasks[-1]))
    task.change(
        lambda name: (
            manner_figure(market, name),
            Markup("<p>{}</p>").format(manner_sentence(market, name)),
            manner_table(market, name),
        ),
        task,
        [plot, said, cells],
        **QUIET,
    )
    gr.HTML(
        heading("What the sellers remember", "Ten deals with one seller: a career, deal by deal.")
    )
    evaluation, _ = load_or_say("evaluation/market-holdout.json")
    policies = [row["then"] for row in market.data["careers"]]
    then = gr.Radio(policies, value=policies[0], label="Policy")
    curve = gr.Plot(
        career_figure(market, policies[0], evaluation), show_label=False, elem_id="results-career"
    )
    told = gr.HTML(Markup("<p>{}</p>").format(career_sentence(market, policies[0])))
    then.change(
        lambda name: (
            career_figure(market, name, evaluation),
            Markup("<p>{}</p>").format(career_sentence(market, name)),
        ),
        then,
        [curve, told],
        **QUIET,
    )
    gr.HTML(provenance(market, f"n = {market.config['careers']:,} careers a history and policy"))
