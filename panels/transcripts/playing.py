"""Play and pause: recorded moves shown one after another, with a slider to step through them."""

from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

from panels.ui.look import QUIET
from panels.ui.wiring import Updates

PACE = 0.8  # seconds between two moves while they are played
PLAY, PAUSE = "▶ Play", "⏸ Pause"  # what the button does next, which tells whether moves are played


class Player:
    """The button, the clock and the slider, placed as they are made for a game still to come."""

    def __init__(self) -> None:
        self.clock = gr.Timer(PACE, active=False)
        with gr.Row():
            self.play = gr.Button(PLAY, scale=0, min_width=120)
            self.step = gr.Slider(
                1, 2, value=1, step=1, label="Moves shown", elem_classes="sauda-steps"
            )
        self.controls = [self.play, self.clock, self.step]  # all that starting and stopping sets

    def show_all(self, moves: int, label: str = "Moves shown") -> Updates:
        """The slider at the end of a game of so many moves, and nothing played."""
        end = {self.step: gr.Slider(1, moves, value=moves, step=1, label=label)}
        return self.start_or_stop(True, moves, moves) | end

    def start_or_stop(self, playing: bool, step: int, moves: int) -> Updates:
        """Start to show a move after another, from the first one at the end; or stop.

        A game of 0 moves does not start.
        """
        starts = moves > 0 and not playing
        clock = {
            self.play: gr.Button(PAUSE if starts else PLAY),
            self.clock: gr.Timer(active=starts),
        }
        return clock | ({self.step: 1} if starts and step >= moves else {})

    def wire(
        self,
        inputs: Sequence[Any],
        moves: Callable[..., int],
        show_step: Callable[..., Updates],
        outputs: Sequence[Any],
    ) -> None:
        """Step through the game that `inputs` choose, of so many `moves`.

        `show_step` gets the values of `inputs` and a number of moves, and fills `outputs`.
        """

        def play_or_pause(*values: Any) -> Updates:
            *chosen, label, step = values
            return self.start_or_stop(label == PAUSE, step, moves(*chosen))

        def show_next(*values: Any) -> Updates:
            *chosen, step = values
            if step >= (last := moves(*chosen)):
                return self.start_or_stop(True, step, last)
            return show_step(*chosen, step + 1) | {self.step: step + 1}

        here = [*inputs, self.step]
        self.step.input(show_step, here, outputs, trigger_mode="always_last", **QUIET)
        self.play.click(play_or_pause, [*inputs, self.play, self.step], self.controls, **QUIET)
        self.clock.tick(show_next, here, [*outputs, *self.controls], **QUIET)
