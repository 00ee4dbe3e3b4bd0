"""Judge: recorded rounds with checked claims, and a pitch of the visitor's own."""

from collections.abc import Iterator, Mapping

import gradio as gr
from markupsafe import Markup

from env import arena
from panels.judge import learning, rounds
from panels.ui.html import macros
from panels.ui.look import QUIET, heading
from panels.ui.provenance import load_or_say, offer_again, provenance
from panels.ui.wiring import Updates, in_address, lay_out_address, on_address, region
from sauda.experiments.pitching import ROUNDS, ShownGame
from sauda.records.store import Artifact

HTML = macros("judge")
TITLE = "Judge"
PART = "rounds"  # id of the sub-tab
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
            learning.build(judged, tab)


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
        chosen, index = round_named(games, query)
        return show_round(chosen, index + 1) | {seed: chosen, number: index + 1}

    outputs = [shown, totals, known, pitch, address.shown]
    gr.on([number.change, seed.change], show_round, [seed, number], outputs, **QUIET)
    on_address(address, follow_round, [*outputs, seed, number])


def named_in_address(first: int, seed: int, index: int) -> dict[str, str]:
    """What the page's address says of round `index` from 0; nothing of the one shown `first`."""
    return {"seed": str(seed), "round": str(index + 1)} if (seed, index) != (first, 0) else {}


def round_named(games: Games, query: Mapping[str, str]) -> tuple[int, int]:
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
