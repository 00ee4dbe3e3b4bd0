"""What a pitch claims, checked: judged rounds to read, and a pitch of the visitor's own."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import gradio as gr
import numpy as np
import plotly.graph_objects as go
from markupsafe import Markup

from env import arena
from panels.gpu_arena.view import papers
from panels.ui.curve import curve
from panels.ui.look import QUIET, heading, line_style, note, styled, table, trouble, whiskers
from panels.ui.provenance import load_or_say, provenance
from sauda.evaluation.pitching import ADVOCATES, LEARNER, ROUNDS, Round, negotiation
from sauda.records.store import Artifact

TITLE = "Judge"

TONES = {"holds": "good", "false": "bad"}  # of a claim; all others are left grey
EXAMPLE = "evidence_first"


@lru_cache(maxsize=16)
def rounds_of(seed: int) -> tuple[Round, ...]:
    """The judged rounds of a seed as the adapting advocate played them, their states included."""
    return tuple(negotiation(ADVOCATES["adapting"], seed))


# A recorded round --------------------------------------------------------------------------------


def told(game: Mapping[str, Any], index: int) -> Markup:
    """One recorded round: who won and why, and every lab's pitch with its score."""
    row = game["rounds"][index]
    cards = [card(lab, verdict, lab == row["winner"]) for lab, verdict in row["verdicts"].items()]
    shocks = Markup("").join(Markup('<p class="sauda-bad">{}</p>').format(s) for s in row["shocks"])
    return Markup(
        '<p class="sauda-verdict"><b>Round {}: {}</b> {}</p>{}<div class="sauda-cards">{}</div>'
    ).format(
        row["round"] + 1,
        f"{row['winner']} convinces the judge." if row["winner"] else "nobody convinces the judge.",
        row["reason"],
        shocks,
        Markup("").join(cards),
    )


def card(lab: str, verdict: Mapping[str, Any], won: bool = False) -> Markup:
    """A pitch with its claims marked, its five scores as bars, and the reasons."""
    bars = Markup("").join(
        Markup(
            '<div class="sauda-score"><span>{}</span><meter min="0" max="1" value="{}"'
            ' aria-label="{}: {:.2f}"></meter><b>{:.2f}</b></div>'
        ).format(name.replace("_", " "), score, name, score, score)
        for name, score in verdict["scores"].items()
    )
    return Markup(
        '<section class="sauda-card sauda-pitch{}"><h3>{}'
        ' <span class="sauda-interval">{:.3f}</span>{}</h3>'
        "<blockquote><bdi>{}</bdi></blockquote>{}{}</section>"
    ).format(
        " sauda-won" if won else "",
        "You, as lab_0" if lab == LEARNER else lab,
        verdict["total"],
        Markup(' <span class="sauda-good">✓ won</span>') if won else "",
        marked(verdict["text"], verdict["findings"]) or "(silence)",
        bars,
        reasons(verdict["findings"]),
    )


def marked(text: str, findings: Sequence[Mapping[str, Any]]) -> Markup:
    """The pitch with each claim underlined by what the judge found; overlaps go to the first."""
    parts, at = [], 0
    for found in sorted(findings, key=lambda f: (f["start"], -f["end"])):
        if found["start"] < at:
            continue
        parts.append(Markup("{}").format(text[at : found["start"]]))
        tone = TONES.get(found["status"], "open")
        words = text[found["start"] : found["end"]]
        parts.append(
            Markup('<mark class="sauda-{}" title="{}">{}</mark>').format(
                tone, found["reason"], words
            )
        )
        at = found["end"]
    return Markup("").join([*parts, Markup("{}").format(text[at:])])


def reasons(findings: Sequence[Mapping[str, Any]]) -> Markup:
    """Why, one line a claim."""
    if not findings:
        return note("No claim that can be checked: nothing is scored.")
    lines = Markup("").join(
        Markup('<li><b class="sauda-{}">{}</b> <bdi>{}</bdi></li>').format(
            TONES.get(found["status"], "open"),
            f"{found['dimension'].replace('_', ' ')} {found['points']:+.2f}"
            if found["points"]
            else found["dimension"].replace("_", " "),
            found["reason"],
        )
        for found in findings
    )
    return Markup('<ul class="sauda-talk">{}</ul>').format(lines)


def trend(game: Mapping[str, Any], index: int) -> Markup:
    """The totals so far: lab_0 against the best of the others, and how many rounds it won."""
    seen = game["rounds"][: index + 1]
    own = [row["verdicts"][LEARNER]["total"] for row in seen]
    best = [max(v["total"] for lab, v in row["verdicts"].items() if lab != LEARNER) for row in seen]
    wins = sum(row["winner"] == LEARNER for row in seen)
    sentence = (
        f"lab_0 won {wins} of {len(seen)} rounds so far; its total went from {own[0]:.2f} to"
        f" {own[-1]:.2f}."
    )
    picture = curve(
        {"lab_0": own, "best of the others": best},
        ROUNDS - 1,
        "the judge’s total",
        sentence,
        "round",
    )
    return picture + Markup("<p>{}</p>").format(sentence)


# What was learned --------------------------------------------------------------------------------


def learning_figure(judged: Artifact) -> go.Figure:
    """The share of games won, round by round: the adapting advocate against the control."""
    figure = go.Figure()
    for name, role in (("adapting", "buyer"), (judged.data["control"], "scripted")):
        cells = judged.data["curves"][name]["won"]
        figure.add_scatter(
            x=list(range(1, len(cells) + 1)),
            y=[cell["mean"] for cell in cells],
            error_y=whiskers(cells),
            name=name,
            hovertemplate=f"{name}, round %{{x}}: %{{y:.2f}}<extra></extra>",
            **line_style(role),
        )
    figure.update_xaxes(title="round", dtick=1)
    return styled(figure, 320).update_yaxes(title="share of games won", range=[0, 1])


def learning_sentence(judged: Artifact) -> str:
    """What the figure shows, in words."""
    rows = {row["advocate"]: row for row in judged.data["rows"]}
    adapting, control = rows["adapting"], rows[judged.data["control"]]
    gain, learned = adapting["difference"], judged.data["learning"]
    return (
        f"Over {adapting['n']} paired seeds the adapting advocate wins"
        f" {adapting['win_rate']['mean']:.1%} of the rounds and the control"
        f" {control['win_rate']['mean']:.1%}: {gain['mean']:+.3f} [{gain['low']:+.3f},"
        f" {gain['high']:+.3f}]. After the first {judged.data['early_rounds']} rounds its gain is"
        f" {learned['mean']:+.3f} [{learned['low']:+.3f}, {learned['high']:+.3f}] larger than in"
        " them. Whiskers are 95 % bootstrap intervals."
    )


def advocates_table(judged: Artifact) -> Markup:
    """Every advocate, the hostile ones among them, best first."""
    rows = sorted(judged.data["rows"], key=lambda row: -row["win_rate"]["mean"])
    return table(
        ("advocate", "n", "rounds won", "95 % interval", "less control", "its 95 % interval",
         "mean total", "lies a pitch", "what it does"),
        [
            (
                row["advocate"],
                f"{row['n']:,}",
                f"{row['win_rate']['mean']:.3f}",
                f"{row['win_rate']['low']:.3f} to {row['win_rate']['high']:.3f}",
                f"{row['difference']['mean']:+.3f}",
                f"{row['difference']['low']:+.3f} to {row['difference']['high']:+.3f}",
                f"{row['total']['mean']:.3f}",
                f"{row['lies']:.2f}",
                row["label"],
            )
            for row in rows
        ],
        align="l" + "r" * 7 + "l",
        caption="Who speaks for lab_0; equal chances would be one round in four",
    )  # fmt: skip


# A pitch of one's own ----------------------------------------------------------------------------


def example(seed: int, index: int) -> str:
    """What a lab that leads with evidence would say in this round."""
    state = rounds_of(seed)[index].state
    obs = arena.Observation(LEARNER, state.market, state.private[LEARNER])
    return arena.pitch_of(obs, EXAMPLE, np.random.default_rng([seed, index]), discreet=False)


def own_pitch(seed: int, index: int, text: str) -> Markup:
    """The visitor's pitch judged against the state on screen, and against the others' pitches.

    Raises ValueError where there is nothing to judge.
    """
    text = (text or "").strip()
    if not text:
        raise ValueError("write a pitch first, such as the example")
    if len(text) > arena.LONGEST_MESSAGE:
        raise ValueError(f"a pitch has at most {arena.LONGEST_MESSAGE} characters, not {len(text)}")
    here = rounds_of(seed)[index]
    verdicts = here.decision.verdicts
    others = {lab: v.text for lab, v in verdicts.items() if lab != LEARNER}
    decision = arena.decide(here.state, {LEARNER: text} | others)
    return Markup("<p>{}</p>{}").format(
        decision.reason,
        card(LEARNER, decision.verdicts[LEARNER].as_json(), decision.winner == LEARNER),
    )


def knowledge(seed: int, index: int) -> Markup:
    """What lab_0 knows of itself in this round: what its claims are checked against."""
    state = rounds_of(seed)[index].state
    return papers(arena.Observation(LEARNER, state.market, state.private[LEARNER]))


# Layout ------------------------------------------------------------------------------------------


def build() -> None:
    """Lay out the tab. Called inside a `gr.Tab`."""
    gr.HTML(
        heading(
            TITLE,
            "Labs argue for capacity. A rule judge scores each pitch by what the state bears out:"
            " only a true claim that is news counts.",
        )
    )
    judged, missing = load_or_say("judged.json")
    if judged is None:
        gr.HTML(missing)
        return
    games = {game["seed"]: game for game in judged.data["shown"]}
    names = [
        (f"{game['why']} of {judged.config['episodes']} seeds: {game['wins']} rounds won,"
         f" the control {game['control_wins']}", seed)
        for seed, game in games.items()
    ]  # fmt: skip
    first = names[0][1]
    with gr.Row(elem_classes="sauda-actions"):
        seed = gr.Dropdown(names, value=first, label="Game", scale=3, min_width=240)
        at = gr.Slider(1, ROUNDS, value=1, step=1, label="Round (← →)", scale=3, min_width=200,
                       elem_classes="sauda-steps", elem_id="judge-round")  # fmt: skip
        back = gr.Button("Previous", scale=0, min_width=100, elem_id="judge-previous")
        on = gr.Button("Next", scale=0, min_width=84, elem_id="judge-next")
    with gr.Row():
        with gr.Column(scale=7, min_width=320):
            shown = gr.HTML(told(games[first], 0), elem_id="judge-told")
        with gr.Column(scale=4, min_width=300):
            line = gr.HTML(trend(games[first], 0), elem_id="judge-trend")
    gr.HTML(
        heading(
            "Write your own pitch",
            "You are lab_0 in the round above. Say what is true of your jobs, deadlines, blocks or"
            " record, with numbers; it is judged at once against that state.",
        )
    )
    with gr.Row():
        with gr.Column(scale=7, min_width=320):
            pitch = gr.Textbox(
                label="Your pitch", lines=3, max_length=arena.LONGEST_MESSAGE,
                elem_id="judge-pitch",
                placeholder="Our job j_0_1 still needs 4 hours and is due in 2 rounds.",
            )  # fmt: skip
            with gr.Row(elem_classes="sauda-actions"):
                go_on = gr.Button("Judge it", variant="primary", scale=0, min_width=110)
                show = gr.Button("Show an example", scale=0, min_width=150)
            verdict = gr.HTML(elem_id="judge-verdict")
        with gr.Column(scale=4, min_width=300):
            known = gr.HTML(knowledge(first, 0), elem_id="judge-papers")
    gr.HTML(heading("Does an advocate learn from the judge?"))
    gr.Plot(learning_figure(judged), show_label=False, elem_id="judge-learning")
    gr.HTML(Markup("<p>{}</p>").format(learning_sentence(judged)))
    gr.HTML(advocates_table(judged))
    gr.HTML(provenance(judged, f"n = {judged.config['episodes']:,} seeds an advocate"))

    def turned(seed: int, number: float):
        index = int(number) - 1
        return told(games[seed], index), trend(games[seed], index), knowledge(seed, index), ""

    def ask(seed: int, number: float, text: str):
        try:
            return own_pitch(seed, int(number) - 1, text)
        except ValueError as error:
            return trouble(error)

    gr.on([at.change, seed.change], turned, [seed, at], [shown, line, known, verdict], **QUIET)
    back.click(lambda n: max(1, n - 1), at, at, **QUIET)
    on.click(lambda n: min(ROUNDS, n + 1), at, at, **QUIET)
    gr.on([go_on.click, pitch.submit], ask, [seed, at, pitch], verdict, **QUIET)
    show.click(lambda s, n: example(s, int(n) - 1), [seed, at], pitch, **QUIET)
