"""HTML with moves: buttons that are named by what they do, and fields beside them.

A move is "walk", "offer:1169" or "book:j_0_0", so that a press which comes late makes the move that
its button named, or none. Written with `button` and `pick_list` of parts.html; what else a button
may do, and how the keyboard's focus is kept, says moves.js.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gradio as gr

from panels.ui.look import PARTS

button, move_row, pick_list = PARTS.button, PARTS.move_row, PARTS.pick_list
SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")


class Moves(gr.HTML):
    """HTML, or with the template "@children" the components placed in it, whose buttons make moves.

    A move tells `click`, or `input` or `submit` where that argument lists its name: three listeners
    that answer in ways of their own. As the component is placed it tells `load`.
    """

    def __init__(self, value: str | None = None, **more: Any) -> None:
        super().__init__(value, js_on_load=SCRIPT, **more)


class Move(gr.EventData):
    """A move that was made; any client can send anything, and what is no text counts as missing."""

    def __init__(self, target: Any, data: Any) -> None:
        super().__init__(target, data)
        sent = data if isinstance(data, Mapping) else {}
        self.id, self.search = (text_of(sent.get(name)) for name in ("id", "search"))
        self.name, _, self.what = self.id.partition(":")
        # What the fields hold by name: a text, or the values that are on, unchecked.
        self.fields = sent["fields"] if isinstance(sent.get("fields"), Mapping) else {}

    def field(self, name: str) -> str:
        """What a field to type in or pick from holds."""
        return text_of(self.fields.get(name))

    def number(self, place: int = 0) -> int | None:
        """The whole number at a place of `what`, which may be "3:1"; None where there is none."""
        part = dict(enumerate(self.what.split(":"))).get(place, "")
        return int(part) if part.isascii() and part.isdigit() and len(part) < 6 else None


def text_of(value: object) -> str:
    """`value` where it is a text, else ""."""
    return value if isinstance(value, str) else ""


def demo() -> gr.Blocks:
    """Three moves beside a field; each renames the first, and is told below."""
    with gr.Blocks() as shown:
        moves, made = gr.State(0), gr.Textbox(label="Made")
        table = Moves(_row(0), elem_id="moves")

        def make(move: Move, count: int) -> tuple[int, str, str]:
            return count + 1, f"{move.id} {move.field('why')}".strip(), _row(count + 1)

        table.click(make, moves, [moves, made, table])
    return shown


def _row(made: int) -> str:
    why = pick_list("Why", [("no reason", ""), ("hurry", "haste")], "moves-why")
    return button(f"Offer {100 + made}", f"offer:{100 + made}") + button("Walk", "walk") + why


if __name__ == "__main__":
    demo().launch()
