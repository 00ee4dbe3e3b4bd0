"""Roles: the losses of buyer, seller and generalist, and how they fare in games.

Published figures are AgreeMate's, of another model and other data.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from panels.results.models import policy_label
from panels.ui.look import (
    QUIET,
    badge,
    folded,
    heading,
    line_style,
    note,
    styled,
    table,
    with_minus_signs,
)
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import data_table
from panels.ui.terms import term
from panels.ui.wiring import Updates, fill_on_opening
from sauda.experiments.role_play import (
    DOING,
    Contrast,
    SaidContrast,
    SaidRow,
    contrasts_of,
    contrasts_verdict,
    is_off_role,
    price_verdict,
)
from sauda.experiments.role_play import FILE as SAID_FILE
from sauda.experiments.roles import FILE, NAMES, RoleContrast, cause_sentences, schedule_verdict
from sauda.experiments.speeds import PublishedFigure
from sauda.records.schemas.roles import RoleReply, RoleRun
from sauda.records.store import Artifact
from sauda.train.roles import LEAST_SAID

SAID_QUESTIONS = {
    "base": "specialist, compared with the untrained base",
    "specialist": "specialist, compared with the generalist",
    "off_role": "playing the other role, compared with its own",
}
READ = (
    "A script decides each move and the model says it; the price that is read from its words is"
    " played. To accept and to leave are buttons. A reply without a price loses the game. The other"
    " side is the same script with lines of its own. Brackets are 95 % intervals over games."
)
NINE = (
    "The nine contrasts do not depend on what the games show. Two players meet the same scenarios;"
    " p is of the paired sign-flip permutation test with 10,000 draws, then corrected for all nine"
    " by Holm. A game forfeited counts 0."
)


def said_table(rows: Sequence[SaidRow]) -> Markup:
    """One row per model and seat: offers said rightly, wrongly, not at all, and the share won."""
    own = "difference from the script’s own"
    forms = {"share won": "z.3f", own: "+z.3f"}
    lines = [
        {
            "model": policy_label(row.model),
            "says the moves of the": f"{row.seat}, off role" if row.off_role else row.seat,
            "n": row.n,
            "prices said as decided": row.said,
            "offers": row.offers,
            "at another price": row.wrong,
            "games forfeited": row.unsaid,
            "share won": row.share,
            own: row.difference,
        }
        for row in rows
    ]
    return data_table(lines, "Moves of a script in a model’s words", "z.2f", forms)


def said_contrasts(contrasts: Sequence[SaidContrast]) -> Markup:
    """How much more often one model says the decided price than another, paired by scenario."""
    lines = [
        {
            "question": SAID_QUESTIONS[row.question],
            "model": policy_label(row.model),
            "compared with": policy_label(row.beside),
            "seat": row.seat,
            "n": row.n,
            "difference": row.difference,
        }
        for row in contrasts
    ]
    return data_table(lines, "Share of prices said as decided", "+.2f")


def share_table(rows: Sequence[Contrast]) -> Markup:
    """One row per contrast: the share of one player less that of another."""
    lines = [
        {
            "player": _player(row.player, row.seat),
            "compared with": _player(row.beside, row.seat),
            "doing": DOING[row.seat],
            "n": row.n,
            "difference in share": row.difference,
            "p": row.p,
            "p, Holm": row.adjusted,
        }
        for row in rows
    ]
    caption = "Share won with a script’s moves in a model’s words"
    return data_table(lines, caption, ".4f", {"difference in share": "+z.3f"})


def _player(name: str, seat: str) -> str:
    return policy_label(name) + " (off role)" * is_off_role(name, seat)


def shares_told(rows: Sequence[Contrast]) -> Markup:
    """What the nine contrasts say, and all of them folded; empty where a model was not played."""
    if not rows:
        return Markup("")
    told = f"Does training for a role win more? {contrasts_verdict(rows, policy_label)}"
    nine = folded("The nine contrasts", share_table(rows) + note(NINE))
    return Markup("<p>{}</p>{}").format(with_minus_signs(told), nine)


def games_told() -> Markup:
    """What roles say in games; what makes the record where it is missing."""
    artifact, missing = load_or_say(SAID_FILE)
    if artifact is None:
        return missing
    data = artifact.data
    return Markup("{}{}{}{}").format(
        Markup("").join(Markup("<p>{}</p>").format(line) for line in price_verdict(data.rows)),
        folded(
            "Every model in both seats, and how they compare",
            said_table(data.rows) + said_contrasts(data.contrasts) + note(READ),
        ),
        shares_told(contrasts_of(data)),
        provenance(artifact, f"n = {data.rows[0].n} games per model and seat"),
    )


ROLES = ("buyer", "seller", "generalist")
CAUTION = (
    "A control of the schedule leaves out cycles and lower rates for lower layers together; the"
    " generalist also has a control for each alone. With rates by layer, the mean rate is lower"
    " too. The generalist has as many steps as a specialist and so half of its dialogues for each"
    " role. Each run has one seed."
)
QUESTIONS: Mapping[str, str] = {
    "schedule": "schedule, compared with its control",
    "cycles": "two cycles, compared with one",
    "layers": "rates by layer, compared with one rate",
    "specialist": "specialist, compared with generalist",
    "off_role": "playing the other role, compared with its own",
}
QUESTION = "Does the layer-by-layer schedule help?"
SUMMARY, AGAIN = "agreemate-training-summary", "agreemate-training-recomputed"  # published
CURVE = "agreemate-curve-{}"
COLUMNS = (
    "run", "steps", "steps/s", "samples/s", "mean training loss", "best validation loss",
    "perplexity", "running mean of the loss", "memory, GiB",
)  # fmt: skip
Runs = Mapping[str, Artifact]  # by name, such as roles-buyer-control
Figures = Mapping[str, PublishedFigure]  # by id

# Curves -------------------------------------------------------------------------------------------


def loss_figure(runs: Runs, role: str) -> go.Figure:
    """Training and validation loss of a role over steps, with the schedule and without."""
    figure = go.Figure()
    for name, artifact, series in _pair(runs, role):
        run: RoleRun = artifact.data
        figure.add_scatter(
            x=[row.step for row in run.log], y=[row.loss_average for row in run.log],
            name=f"training, {name}", hovertemplate="step %{x}: %{y:.3f}<extra></extra>",
            **(line_style(series) | {"mode": "lines"}),
        )  # fmt: skip
        figure.add_scatter(
            x=[row.step for row in run.validations], y=[row.loss for row in run.validations],
            customdata=[row.perplexity for row in run.validations], name=f"validation, {name}",
            hovertemplate="step %{x}: %{y:.3f}, perplexity %{customdata:.1f}<extra></extra>",
            **(line_style(series) | {"mode": "markers"}),
        )  # fmt: skip
    figure.update_xaxes(title="step")
    return styled(figure, 340).update_yaxes(title="loss, nats per token", rangemode="tozero")


def rate_figure(runs: Runs, role: str) -> go.Figure:
    """Learning rates of the highest and the lowest layer, as the optimizer had them."""
    figure = go.Figure()
    for name, artifact, series in _pair(runs, role):
        for layer, field in (("highest", "learning_rate"), ("lowest", "learning_rate_lowest")):
            style = line_style(series) | {"mode": "lines"}
            if layer == "lowest":
                style["line"] = style["line"] | {"width": 1}
            figure.add_scatter(
                x=[row.step for row in artifact.data.log],
                y=[getattr(row, field) for row in artifact.data.log],
                name=f"{layer} layer, {name}",
                hovertemplate="step %{x}: %{y:.2e}<extra></extra>", **style,
            )  # fmt: skip
    figure.update_xaxes(title="step")
    return styled(figure, 340).update_yaxes(title="learning rate", exponentformat="e")


def published_figure(figures: Figures, role: str) -> go.Figure:
    """AgreeMate's published curves of a role; an empty figure where they are not there."""
    figure = go.Figure()
    if curve := figures.get(CURVE.format(role)):
        rows = [dict(zip(curve.columns, row, strict=True)) for row in curve.rows]
        names = {"train_loss": "training", "eval_loss": "validation", "ema_loss": "published EMA"}
        for (field, label), dash in zip(names.items(), ("solid", "dot", "dash"), strict=True):
            style = line_style("published")
            style["line"] = style["line"] | {"dash": dash}
            figure.add_scatter(
                x=[row["step"] for row in rows], y=[row[field] for row in rows], name=label,
                connectgaps=True, hovertemplate="update %{x}: %{y:.3f}<extra></extra>", **style,
            )  # fmt: skip
    figure.update_xaxes(title="update, published")
    return styled(figure, 340).update_yaxes(title="loss, nats per token", rangemode="tozero")


def _pair(runs: Runs, role: str) -> Iterator[tuple[str, Artifact, str]]:
    """The run of a role and its control, where they are there: label, run, series."""
    for suffix, label, series in (("", "schedule", "buyer"), ("-control", "control", "seller")):
        if run := runs.get(f"roles-{role}{suffix}"):
            yield label, run, series


# Tables -------------------------------------------------------------------------------------------


def run_table(runs: Runs, figures: Figures) -> Markup:
    """Our runs and the published ones: speed, losses, perplexity, running mean and memory."""
    rows = [_run_row(name, run.data) for name, run in runs.items()]
    rows += list(_published_rows(figures))
    return table(COLUMNS, rows, caption="Runs of roles, and AgreeMate's as published")


def plain(name: str) -> str:
    """A run in words: "generalist, one cycle" of roles-generalist-one-cycle."""
    return name.removeprefix("roles-").replace("-", ", ", 1).replace("-", " ")


def run_title(name: str) -> Markup:
    """A run in words, with its name in a tooltip."""
    return term(plain(name), name)


def _run_row(name: str, run: RoleRun) -> tuple[object, ...]:
    best = next(row for row in run.validations if row.step == run.best_step)
    return (
        run_title(name),
        f"{len(run.log):,}",
        f"{len(run.log) / run.seconds:.3f}",
        f"{run.taught.dialogues / run.seconds:.3f}",
        f"{sum(row.loss for row in run.log) / len(run.log):.3f}",
        f"{best.loss:.3f}",
        f"{best.perplexity:.2f}",
        f"{run.log[-1].loss_average:.3f}",
        f"{max(row.memory for row in run.log):.2f}",
    )


def _published_rows(figures: Figures) -> Iterator[tuple[object, ...]]:
    """One row a role; perplexity and running mean as they follow, what was published behind."""
    if not {SUMMARY, AGAIN} <= set(figures):
        return
    again = _by_role(figures[AGAIN])
    for role, row in _by_role(figures[SUMMARY]).items():
        corrected = again[role]["ema_bias_corrected"]
        yield (
            Markup("AgreeMate {} {}").format(role, badge("published")),
            f"{row['updates']:,}",
            f"{row['updates_per_s']:.3f}",
            f"{row['samples_per_s']:.3f}",
            f"{row['mean_train_loss']:.3f}",
            f"{row['best_eval_loss']:.3f}",
            f"{math.exp(row['best_eval_loss']):.1f} (said: {row['perplexity_published']:.1f})",
            f"{corrected:.3f} (said: {row['final_ema_published']:.3f})",
            f"{row['memory_peak_high_gb']:.2f}",
        )


def _by_role(figure: PublishedFigure) -> dict[str, dict]:
    rows = (dict(zip(figure.columns, row, strict=True)) for row in figure.rows)
    return {row["role"]: row for row in rows}


def contrast_table(contrasts: Sequence[RoleContrast]) -> Markup:
    """Differences of the hold-out loss, paired by dialogue, with their intervals."""
    lines = [
        {
            "question": QUESTIONS[row.question],
            "run": run_title(row.run),
            "compared with": run_title(row.baseline),
            "on": f"the {row.role}'s turns",
            "n": row.n,
            "loss": row.loss,
            "of the other": row.baseline_loss,
            "difference": row.difference,
        }
        for row in contrasts
    ]
    caption = "Loss on hold-out dialogues, nats per token"
    return data_table(lines, caption, ".3f", {"difference": "+.3f"})


def reply_table(replies: list[RoleReply], name: str) -> Markup:
    """What a run said at hold-out turns; a role that it was not trained for is marked."""
    rows = [
        (
            f"{row.role}, off role" if row.off_role else row.role,
            row.intention,
            row.text,
            "nothing" if row.read is None else _act(row.read.intent, row.read.price),
            "yes" if _said(row) else "no",
        )
        for row in replies
    ]
    columns = ("plays the", "told to", "said", "read as", "price as told")
    return table(columns, rows, "lllll", f"Replies of {plain(name)} at hold-out turns")


def _act(intent: str, price: float | None) -> str:
    return intent if price is None else f"{intent} ₹{price:,.0f}"


def _said(row: RoleReply) -> bool:
    return row.read is not None and row.read.price == row.meant.price


def check_line(runs: Runs) -> str:
    """How often each run named the price that it was told, in its own role and off it.

    A run below the share that the acceptance check asks for is marked as failed.
    """
    parts = []
    for name, run in runs.items():
        off = [row for row in run.data.replies if row.off_role]
        check = run.data.acceptance
        part = f"{plain(name)} {check.valid:.0%} of {check.n}" + ", failed" * (not check.passed)
        parts.append(part + (f", off role {_share(off):.0%} of {len(off)}" if off else ""))
    return (
        f"Replies that name the price they were told, of which {LEAST_SAID:.0%} are asked:"
        f" {'; '.join(parts)}."
    )


def _share(replies: list[RoleReply]) -> float:
    return sum(map(_said, replies)) / len(replies)


def remarks(figures: Figures, *names: str) -> Markup:
    """What the published figures of these ids mean, each with its badge."""
    return Markup("").join(
        Markup("<p>{} {}. {}</p>").format(badge("published"), figure.title, figure.caveat)
        for name in names
        if (figure := figures.get(name))
    )


# Layout -------------------------------------------------------------------------------------------


def build(tab: gr.Tab) -> None:
    """Lay out the part, which is filled as `tab` is opened. Called inside it.

    Without any run it says how to make one, and has the published curves alone.
    """
    loaded = {name: load_or_say(f"training/{name}.json") for name in NAMES}
    runs = {name: run for name, (run, _) in loaded.items() if run is not None}
    published, no_published = load_or_say("published.json")
    figures = {figure.id: figure for figure in published.data.figures} if published else {}
    compared, not_compared = load_or_say(FILE)
    gaps = [message for _, message in loaded.values() if message][:1]  # the others are made alike
    missing = Markup("").join([*gaps, not_compared if not gaps else "", no_published])
    above = gr.HTML()
    role = gr.Radio(list(ROLES), value=ROLES[0], label="Role", elem_id="training-role")
    with gr.Row():
        plots = [gr.Plot(show_label=False, min_width=320) for _ in range(3 if runs else 1)]
    caveat, below = gr.HTML(elem_id="training-role-caveat"), gr.HTML()

    def show(name: str) -> Updates:
        ours = [loss_figure(runs, name), rate_figure(runs, name)] if runs else []
        drawn = dict(zip(plots, [*ours, published_figure(figures, name)], strict=True))
        return {caveat: remarks(figures, CURVE.format(name)), **drawn}

    def fill(_: str) -> Updates:
        told = {above: _schedule_told(compared), below: _details(runs, figures, compared, missing)}
        return told | show(ROLES[0])

    role.change(show, role, [caveat, *plots], **QUIET)
    fill_on_opening(tab, fill, [above, *plots, caveat, below])


def _schedule_told(compared: Artifact | None) -> Markup:
    """What a role is, whether its schedule helps, and what roles say in games."""
    told = [
        heading(
            "Roles",
            "A role puts a move into words: it reads the dialogue and what to do, and learns what"
            " was said. The roles, and the schedule of cycles and lower rates for lower layers, are"
            " those of AgreeMate, a published system of three fine-tuned negotiators. Each role has"
            " a control with the same data and no schedule, the generalist also one for the cycles"
            " and one for the rates.",
        )
    ]
    if compared is not None:
        rows = compared.data.contrasts
        told.append(
            Markup('<p class="sauda-answer">{} {}</p><p>{}</p>{}').format(
                QUESTION,
                schedule_verdict(rows),
                with_minus_signs(" ".join(cause_sentences(rows))),
                folded("Every comparison of hold-out losses", contrast_table(rows) + note(CAUTION)),
            )
        )
    return Markup("").join([*told, games_told()])


def _details(runs: Runs, figures: Figures, compared: Artifact | None, missing: Markup) -> Markup:
    """All runs, their replies and commands, and what is `missing`."""
    parts = [folded("Every run, and AgreeMate’s as published", _runs_told(runs, figures))]
    if runs:
        replies = Markup("").join(reply_table(run.data.replies, n) for n, run in runs.items())
        parts.append(folded("What the roles say at hold-out turns", replies))
    parts.append(missing)
    if compared is not None:
        parts.append(provenance(compared, f"n = {len(compared.data.contrasts)} contrasts"))
    if runs:
        lines = Markup("").join(provenance(run, plain(n)) for n, run in runs.items())
        parts.append(folded("The commands of these runs", lines))
    return Markup("").join(parts)


def _runs_told(runs: Runs, figures: Figures) -> Markup:
    """The table of all runs, how to read it, and what the published figures mean."""
    told = note(
        "A sample of ours is a dialogue, of which about ten turns are learnt; AgreeMate's is one"
        " turn. Steps per second count validation. Memory is the highest of all steps: of the whole"
        " process on our CPU, of the GPU in AgreeMate’s runs. A perplexity is the exponential of"
        " the loss beside it."
    )
    said = note(check_line(runs)) if runs else Markup("")
    return run_table(runs, figures) + told + remarks(figures, SUMMARY, AGAIN) + said
