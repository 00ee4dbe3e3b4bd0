"""The arena's reward components and actions, from the game's own code.

The means and examples come from an evaluation artifact.
"""

from collections.abc import Sequence

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from env import arena
from panels.results.model_labels import policy_label
from panels.ui.look import QUIET, bar_style, heading, table, whiskers
from panels.ui.provenance import provenance
from panels.ui.tables import with_interval
from panels.ui.terms import short, shown_round, task_choices
from panels.ui.whisker_rows import labels_above
from sauda.experiments.evaluate import ArenaExample, ArenaRow
from sauda.policies import LAB_LABELS
from sauda.records.store import Artifact

FORM = "z.3f"  # of shares of the stake


# Reward design ------------------------------------------------------------------------------------


def component_bars(evaluation: Artifact, task: str, policy: str) -> go.Figure:
    """The mean of each reward component over a policy's episodes, with its interval."""
    components = _drawn_row(evaluation, task, policy).components
    cells = [components[component.name] for component in arena.COMPONENTS][::-1]
    names = [short_name(component.name) for component in arena.COMPONENTS][::-1]
    bar = go.Bar(
        y=names,
        x=[cell.mean for cell in cells],
        orientation="h",
        error_x=whiskers(cells),
        hovertemplate="%{y}: %{x:+.4f}<extra></extra>",
        **bar_style("scripted"),
    )
    figure = labels_above(go.Figure(bar), names)
    return figure.update_xaxes(title="mean, share of the stake", showgrid=True, zeroline=True)


def short_name(name: str) -> str:
    """A component's name as words, without its suffix "_score" or "_penalty"."""
    return name.removesuffix("_score").removesuffix("_penalty").replace("_", " ")


def component_sentence(evaluation: Artifact, task: str, policy: str) -> str:
    """The mean reward of a policy and its two largest components, as text."""
    row = _drawn_row(evaluation, task, policy)
    ranked = sorted(row.components.items(), key=lambda item: -abs(item[1].mean))
    most = " and ".join(f"{short_name(name)} {cell.mean:+.3f}" for name, cell in ranked[:2])
    return (
        f"In the {short(task)} the {policy_label(policy)} gathers"
        f" {with_interval(row.reward, FORM)}, most of it {most}; n = {row.n:,} episodes,"
        " whiskers are 95 % bootstrap intervals of the mean."
    )


def component_table(evaluation: Artifact, task: str, policy: str) -> Markup:
    """Formula and mean of every component, with one measured step where it was not 0."""
    row = _drawn_row(evaluation, task, policy)
    examples = {example.component: example for example in evaluation.data.examples}
    rows = [
        (
            c.name,
            c.formula,
            with_interval(row.components[c.name], FORM),
            example_text(examples.get(c.name)),
        )
        for c in arena.COMPONENTS
    ]
    total = (arena.TOTAL.name, arena.TOTAL.formula, with_interval(row.reward, FORM), "")
    return table(
        (
            "component",
            "formula",
            f"mean, {policy_label(policy)}",
            "one measured action, with all until the next one",
        ),
        [*rows, total],
        align="llrl",
        caption=f"The reward in the {task}",
    )


def example_text(example: ArenaExample | None) -> Markup:
    """A measured step with its reward, result code and seed; None where the component is 0."""
    if example is None:
        return Markup("always 0 in these tasks: none has a judge")
    return Markup("{}: {} → <code>{}</code> ({}, {}, seed {}, round {})").format(
        f"{example.amount:+.3f}",
        example.words,
        example.code,
        example.task,
        example.policy,
        example.seed,
        shown_round(example.round),
    )


def _drawn_row(evaluation: Artifact, task: str, policy: str) -> ArenaRow:
    others = evaluation.config["others"][0]
    cell = (others, task, policy)
    rows = evaluation.data.rows
    return next(r for r in rows if (r.others, r.task, r.policy) == cell)


# Action space -------------------------------------------------------------------------------------


def action_cards() -> Markup:
    """One card per type of action: its purpose, its fields, its result codes."""
    cards = [action_card(name, kind) for name, kind in arena.KINDS.items()]
    return Markup('<div class="sauda-cards sauda-actions-list">{}</div>').format(
        Markup("").join(cards)
    )


def action_card(name: str, kind: arena.Kind) -> Markup:
    """The card of one type of action; its failure codes are folded away."""
    fields = [Markup("<code>{}</code>").format(field) for field in kind.required]
    fields += [Markup('<code class="sauda-open">{}?</code>').format(f) for f in kind.optional]
    failures = Markup("")
    if kind.failures:
        failures = Markup("<details><summary>{} way{} to fail</summary>{}</details>").format(
            len(kind.failures), "s" * (len(kind.failures) > 1), _marked(kind.failures, "bad")
        )
    return Markup(
        '<section class="sauda-card"><h3><code>{}</code></h3><p>{}</p>'
        "<p>{}</p><p>{}</p>{}</section>"
    ).format(
        name,
        kind.purpose,
        Markup(" ").join(fields) or "No fields.",
        _marked(kind.success, "good"),
        failures,
    )


def _marked(codes: Sequence[str], tone: str) -> Markup:
    mark = {"good": "✓", "bad": "✕"}[tone]
    each = Markup('<span class="sauda-{}">{}\u00a0<code>{}</code></span>')
    return Markup(" ").join(each.format(tone, mark, code) for code in codes)


# Layout -------------------------------------------------------------------------------------------


def action_space() -> None:
    """Lay out the cards of the actions. Called inside the Results tab."""
    gr.HTML(
        heading(
            "Action space",
            "An action is one flat record; fields with a question mark are optional. An action"
            " that the rules refuse is answered with a code and changes nothing, but is used up.",
        )
    )
    gr.HTML(action_cards())


def reward_design(evaluation: Artifact) -> None:
    """Lay out the components of the reward. Called inside the Results tab."""
    gr.HTML(
        heading(
            "Reward design",
            f"{len(arena.COMPONENTS)} named components add up to the reward of a step. They follow"
            f" the true utility: {arena.PLAN_WEIGHT:.0%} of what a lab’s best plan promises"
            " counts at once, the rest when it is earned. Over an episode they add up to the"
            f" utility less {arena.PLAN_WEIGHT:.0%} of the BATNA, as a share of the stake, less"
            " the penalties.",
        )
    )
    tasks, policies = list(evaluation.config["tasks"]), list(evaluation.config["policies"])
    with gr.Row():
        task = gr.Radio(task_choices(tasks), value=tasks[-1], label="Reward on", min_width=300)
        policy = gr.Dropdown(
            [(f"{name}: {LAB_LABELS.get(name, '')}", name) for name in policies],
            value=policies[0],
            label="Reward of",
            filterable=False,
            min_width=300,
        )

    def show(task: str, policy: str):
        return (
            component_bars(evaluation, task, policy),
            Markup("<p>{}</p>").format(component_sentence(evaluation, task, policy)),
            component_table(evaluation, task, policy),
        )

    start = show(tasks[-1], policies[0])
    parts = [
        gr.Plot(start[0], show_label=False, elem_id="results-arena-reward"),
        gr.HTML(start[1]),
        gr.HTML(start[2]),
    ]
    gr.HTML(provenance(evaluation, f"n = {evaluation.config['episodes']:,} a policy and task"))
    gr.on([task.change, policy.change], show, [task, policy], parts, **QUIET)
