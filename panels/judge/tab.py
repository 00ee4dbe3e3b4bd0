"""Judge: recorded rounds with checked claims, a pitch of the visitor's own, whether one learns."""

from collections.abc import Iterator, Mapping
from statistics import fmean

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from env import arena
from panels.judge import rounds
from panels.ui.html import macros
from panels.ui.look import QUIET, heading, line_style, note, style_figure, table, whiskers
from panels.ui.provenance import load_or_say, offer_again, one_by_one, provenance, side_by_side
from panels.ui.tables import with_interval
from panels.ui.wiring import (
    Updates,
    bound,
    fill_on_opening,
    in_address,
    lay_out_address,
    on_address,
    region,
)
from sauda.experiments.pitching import ADVOCATES, LEARNER, ROUNDS, ShownGame, negotiation
from sauda.records.seeds import first_seeds
from sauda.records.store import Artifact

HTML = macros("judge")
TITLE = "Judge"
PART = "rounds"  # id of the sub-tab
SAMPLE = 20  # negotiations that are played again
TO_THE_PITCH = """() => {
    const field = document.querySelector("#judge-pitch textarea");
    document.getElementById("judge-write").scrollIntoView();
    field.focus({preventScroll: true});
    return [];
}"""
Games = Mapping[int, ShownGame]  # recorded games by seed


def build() -> None:
    """Lay out the tab and wire it. Called inside a `gr.Tab`."""
    gr.HTML(
        heading(
            TITLE,
            "Labs argue for capacity. A rule-based judge checks each pitch against the state: only"
            " claims that are true and new count.",
        )
    )
    judged, missing = load_or_say("pitching.json")
    if judged is None:
        gr.HTML(missing)
        return
    with gr.Tabs(elem_classes="sauda-subtabs", overflow_behavior="wrap"):
        with gr.Tab("Rounds and your own pitch", id=PART) as tab:
            _rounds(judged, tab)
        with gr.Tab("Does an advocate learn?", id="learning") as tab:
            _learning(judged, tab)


def _rounds(judged: Artifact, tab: gr.Tab) -> None:
    games = {game.seed: game for game in judged.data.shown}
    first = next(iter(games))
    seed, number = _pickers(judged, games)
    down = gr.Button("Write your own pitch ↓", elem_id="judge-down")  # on a phone alone
    down.click(None, None, None, js=TO_THE_PITCH, **QUIET)
    with gr.Row():
        with gr.Column(scale=6, min_width=320):
            shown = gr.HTML(elem_id="judge-shown")
        with gr.Column(scale=5, min_width=320):
            totals = gr.HTML(elem_id="judge-trend")
            pitch, known = _pitch_form(seed, number)

    def play_again(chosen: int) -> Iterator[Markup]:
        yield from rounds.played_again(games[chosen])

    source = provenance(judged, "the best, the median and the worst game of the adapting advocate")
    offer_again(f"play these {ROUNDS} rounds again, now", play_again, [seed], "judge-rounds")
    address = lay_out_address("judge", PART, ("seed", "round"), tab)

    def show_round(chosen: int, number: float) -> Updates:
        game, index = games[chosen], int(number) - 1
        return {
            shown: rounds.recorded_round(game, index) + source,
            totals: rounds.trend(game, index) + HTML.write_a_pitch(),
            known: rounds.knowledge(chosen, index),
            pitch: gr.Textbox(placeholder=rounds.opening(chosen, index)),
            address.shown: in_address(named_in_address(first, chosen, index)),
        }

    def follow_round(query: Mapping[str, str]) -> Updates:
        chosen, index = find_round(games, query)
        return show_round(chosen, index + 1) | {seed: chosen, number: index + 1}

    outputs = [shown, totals, known, pitch, address.shown]
    gr.on([number.change, seed.change], show_round, [seed, number], outputs, **QUIET)
    on_address(address, follow_round, [*outputs, seed, number])


def named_in_address(first: int, seed: int, index: int) -> dict[str, str]:
    """What the page's address says of round `index` from 0; nothing of the one shown `first`."""
    return {"seed": str(seed), "round": str(index + 1)} if (seed, index) != (first, 0) else {}


def find_round(games: Games, query: Mapping[str, str]) -> tuple[int, int]:
    """The seed and the round, from 0, that an address names; the first ones where it names none."""
    seeds = {str(seed): seed for seed in games}
    numbers = {str(index + 1): index for index in range(ROUNDS)}
    seed = seeds.get(query.get("seed", ""), next(iter(games)))
    return seed, numbers.get(query.get("round", ""), 0)


def _pickers(judged: Artifact, games: Games) -> tuple[gr.Dropdown, gr.Slider]:
    """Which game, and which of its rounds."""
    choices = [
        (f"{game.why} of {judged.config['episodes']} seeds: {game.wins} rounds won,"
         f" the control {game.control_wins}", seed)
        for seed, game in games.items()
    ]  # fmt: skip
    with gr.Row(elem_classes="sauda-actions"):
        seed = gr.Dropdown(
            choices, value=choices[0][1], label="Game", filterable=False, scale=3, min_width=240
        )
        number = gr.Slider(
            1, ROUNDS, value=1, step=1, label="Round (← →)", scale=3, min_width=200,
            elem_classes="sauda-steps", elem_id="judge-round",
        )  # fmt: skip
        back = gr.Button("Previous", scale=0, min_width=100, elem_id="judge-previous")
        forward = gr.Button("Next", scale=0, min_width=84, elem_id="judge-next")
    back.click(lambda n: max(1, n - 1), number, number, **QUIET)
    forward.click(lambda n: min(ROUNDS, n + 1), number, number, **QUIET)
    return seed, number


def _pitch_form(seed: gr.Dropdown, number: gr.Slider) -> tuple[gr.Textbox, gr.HTML]:
    """Where the visitor writes a pitch; the verdict on it above what its lab knows."""
    pitch = gr.Textbox(
        label="Your pitch", lines=3, max_length=arena.LONGEST_MESSAGE, elem_id="judge-pitch"
    )
    with gr.Row(elem_classes="sauda-actions"):
        judge = gr.Button("Judge it", variant="primary", scale=0, min_width=110)
        example = gr.Button("Show an example", scale=0, min_width=150)
    known = gr.HTML(elem_id="judge-papers")

    def judge_pitch(seed: int, number: float, text: str) -> Markup:
        index = int(number) - 1
        verdict = region("judge-verdict", rounds.own_pitch(seed, index, text))
        return verdict + rounds.knowledge(seed, index)

    def show_example(seed: int, number: float) -> tuple[str, Markup]:
        index = int(number) - 1  # no verdict, which would be on another pitch
        return rounds.example(seed, index), rounds.knowledge(seed, index)

    gr.on([judge.click, pitch.submit], judge_pitch, [seed, number, pitch], known, **QUIET)
    example.click(show_example, [seed, number], [pitch, known], **QUIET)
    return pitch, known


# Whether an advocate learns -----------------------------------------------------------------------


def _learning(judged: Artifact, tab: gr.Tab) -> None:
    """Lay out the sub-tab, which is filled as `tab` is opened."""
    values = {
        gr.HTML(): answer(judged),
        gr.Plot(show_label=False, elem_id="judge-learning"): learning_figure(judged),
        gr.HTML(): provenance(judged, f"n = {judged.config['episodes']:,} seeds an advocate")
        + advocates_table(judged),
    }
    fill_on_opening(tab, lambda _: values, list(values))
    advocate = gr.Dropdown(
        [(name.replace("_", " ").capitalize(), name) for name in judged.data.wins],
        value="adapting", label="Advocate to play again", filterable=False,
    )  # fmt: skip
    label = f"play {SAMPLE} of its negotiations again, now"
    offer_again(label, bound(played_again, judged), [advocate], "judge-learning")


def learning_figure(judged: Artifact) -> go.Figure:
    """The share of games won, round by round: the adapting advocate against the control."""
    figure = go.Figure()
    for name, role in (("adapting", "buyer"), (judged.data.control, "scripted")):
        cells = judged.data.curves[name]["won"]
        figure.add_scatter(
            x=list(range(1, len(cells) + 1)),
            y=[cell.mean for cell in cells],
            error_y=whiskers(cells),
            name=name,
            hovertemplate=f"{name}, round %{{x}}: %{{y:.2f}}<extra></extra>",
            **line_style(role),
        )
    figure.update_xaxes(title="round", dtick=5)
    return style_figure(figure, 320).update_yaxes(title="share of games won", range=[0, 1])


def answer(judged: Artifact) -> Markup:
    """Whether the advocate learns, and the figures behind the answer with n and intervals."""
    rows = {row.advocate: row for row in judged.data.rows}
    adapting, control = rows["adapting"], rows[judged.data.control]
    learned = judged.data.learning
    measured = (
        f"Difference {with_interval(adapting.difference, '+.3f')}, n = {adapting.n} paired seeds."
        f" After the first {judged.data.early_rounds} rounds the difference is larger by"
        f" {with_interval(learned, '+.3f')}. Whiskers are 95 % bootstrap intervals."
    )
    shares = (f"{row.win_rate.mean:.0%}" for row in (adapting, control))
    return HTML.learning("Yes" if learned.low > 0 else "Not shown", *shares, measured)


def played_again(judged: Artifact, advocate: str) -> Iterator[Markup]:
    """The first negotiations of an advocate, played again beside the record, after a word."""
    seeds = first_seeds(judged.config["episodes"], judged.config["split"])[:SAMPLE]
    recorded = judged.data.wins[advocate][:SAMPLE]
    yield note(f"Playing {len(seeds)} negotiations of {ROUNDS} rounds …")
    fresh = [
        sum(played.decision.winner == LEARNER for played in negotiation(ADVOCATES[advocate], seed))
        for seed in seeds
    ]
    what = f"rounds that the {advocate.replace('_', ' ')} advocate won"
    means, columns = (
        (fmean(recorded), fmean(fresh)),
        ({"rounds won": recorded}, {"rounds won": fresh}),
    )
    told = side_by_side(what, means, len(seeds), *columns)
    yield told + one_by_one(seeds, recorded, fresh, "rounds won")


def advocates_table(judged: Artifact) -> Markup:
    """Every advocate, the hostile ones among them, best first."""
    heads = (
        "advocate", "n", "rounds won [95 % interval]", "gain over the control", "mean total",
        "lies a pitch",
    )  # fmt: skip
    rows = [
        (
            HTML.advocate(row), f"{row.n:,}", with_interval(row.win_rate),
            with_interval(row.difference, "+.3f"), f"{row.total.mean:.3f}", f"{row.lies:.2f}",
        )
        for row in sorted(judged.data.rows, key=lambda row: -row.win_rate.mean)
    ]  # fmt: skip
    caption = "The advocate of one lab; with equal chances each wins one round in four"
    return table(heads, rows, caption=caption)
