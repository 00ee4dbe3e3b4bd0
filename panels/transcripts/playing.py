"""Play and pause: recorded moves shown one after another, with a slider to step through them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from panels.ui.look import QUIET
from panels.ui.wiring import Updates

PACE = 0.8  # seconds between two moves while they are played
PLAY, PAUSE = "▶ Play", "⏸ Pause"  # what the button does next, which tells whether moves are played


@dataclass(frozen=True, eq=False)
class Player:
    """The components of play and pause."""

    play: gr.Button
    clock: gr.Timer
    step: gr.Slider

    @property
    def controls(self) -> list[Any]:
        """All that starting and stopping sets."""
        return [self.play, self.clock, self.step]


def lay_out_player() -> Player:
    """Place the button and the slider, for a game that is still to come."""
    clock = gr.Timer(PACE, active=False)
    with gr.Row():
        play = gr.Button(PLAY, scale=0, min_width=120)
        step = gr.Slider(1, 2, value=1, step=1, label="Moves shown", elem_classes="sauda-steps")
    return Player(play, clock, step)


def all_shown(player: Player, moves: int, label: str = "Moves shown") -> Updates:
    """The slider at the end of a game of so many moves, and nothing played."""
    stopped = start_or_stop(player, True, moves, moves)
    return stopped | {player.step: gr.Slider(1, moves, value=moves, step=1, label=label)}


def start_or_stop(player: Player, playing: bool, step: int, moves: int) -> Updates:
    """Start to show a move after another, from the first one at the end; or stop.

    A game of 0 moves does not start.
    """
    starts = moves > 0 and not playing
    again = {player.step: 1} if starts and step >= moves else {}
    return {
        player.play: gr.Button(PAUSE if starts else PLAY),
        player.clock: gr.Timer(active=starts),
        **again,
    }


def wire(
    player: Player,
    inputs: Sequence[Any],
    moves: Callable[..., int],
    show_step: Callable[..., Updates],
    outputs: Sequence[Any],
) -> None:
    """Let `player` step through the game that `inputs` choose, of so many `moves`.

    `show_step` gets the values of `inputs` and a number of moves, and fills `outputs`.
    """

    def play_or_pause(*values: Any) -> Updates:
        *chosen, label, step = values
        return start_or_stop(player, label == PAUSE, step, moves(*chosen))

    def show_next(*values: Any) -> Updates:
        *chosen, step = values
        if step >= (last := moves(*chosen)):
            return start_or_stop(player, True, step, last)
        return show_step(*chosen, step + 1) | {player.step: step + 1}

    player.step.input(
        show_step, [*inputs, player.step], outputs, trigger_mode="always_last", **QUIET
    )
    player.play.click(play_or_pause, [*inputs, player.play, player.step], player.controls, **QUIET)
    player.clock.tick(show_next, [*inputs, player.step], [*outputs, *player.controls], **QUIET)
