"""A visit to the arena as one value, and the script by which the page's HTML reports a press.

The browser holds what is typed and picked, and sends all of it with each press. The server writes
the defaults of the fields; where the key of a part changes, the browser sets its fields to these.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from markupsafe import Markup

from panels.gpu_arena.first_world import TASK
from panels.gpu_arena.reasons import EXPERT
from panels.ui.wiring import button
from sauda.sessions.arena import ArenaGame

PAY, ASK = "pay", "ask for"  # the two ways of the money in an offer
FIRST_PLAYER = EXPERT
PACE = 2000  # milliseconds between two steps of a run: time to read the reason of each
KEPT = "sauda-arena"  # where a browser tab keeps the name of the session of its game

# Presses that are answered outside the queue, and those of which one runs at a time. All others
# may take seconds: a step that ends the game draws its settlement, which plays every policy.
AT_ONCE = (
    "open", "preview", "bid", "counter", "price", "weigh", "choose_move", "choose_player", "watch",
    "begin", "follow",
)  # fmt: skip
IN_TURN = ("step", "tick")
TO_SENTENCE = {"renews": "arena-hand", "show": "arena-hand"}  # of a press that fills in an offer


@dataclass(frozen=True)
class Fields:
    """What the fields of the tab hold, by their names in the HTML."""

    task: str = TASK
    seed: str = ""
    player: str = FIRST_PLAYER
    give: tuple[str, ...] = ()  # blocks of the offer
    want: tuple[str, ...] = ()
    way: str = PAY
    credits: str = "0"
    to: str = ""  # a lab; "" for the first one
    say: str = ""
    answered: str = ""  # the open offer that the offer answers
    move: str = ""  # the chosen other move as JSON; "" for the first one
    share: str = ""
    message: str = ""


def read_fields(sent: object) -> Fields:
    """The fields that a browser sent; any client can send anything, which then counts as empty."""
    found = sent if isinstance(sent, Mapping) else {}
    read: dict[str, Any] = {}
    for field in fields(Fields):
        value = found.get(field.name)
        if isinstance(field.default, str) and isinstance(value, str):
            read[field.name] = value
        elif isinstance(field.default, tuple) and isinstance(value, list):
            read[field.name] = tuple(one for one in value if isinstance(one, str))
    return Fields(**read)


@dataclass(frozen=True)
class Visit:
    """A visitor's game, which the session keeps, and what the fields of the page hold beside it."""

    game: ArenaGame | None  # None where the page no longer has it
    running: bool = False  # whether the browser asks for a step each `PACE`
    advice: str = ""  # HTML
    fields: Fields = Fields()
    said: str = ""  # HTML about the last press
    place: str = ""  # where that stands: "problem", "hint", "deal" or "purpose"

    @property
    def idle(self) -> bool:
        """Whether the game waits for the visitor."""
        return self.game is not None and not (self.running or self.game.over)

    def said_at(self, place: str) -> str:
        """What is said at a place."""
        return self.said if place == self.place else ""

    def say(self, place: str, said: Markup) -> "Visit":
        """This visit with a sentence at a place, under the buttons where it has no game."""
        return replace(self, said=said, place=place if self.game else "problem")

    def show(self, game: ArenaGame, running: bool = False) -> "Visit":
        """A game that has changed; the fields of the offer and of the other moves are empty."""
        now = self.fields
        kept = Fields(task=game.task_name, seed=now.seed, player=now.player)
        return Visit(game, running and not game.over, fields=kept)


# HTML --------------------------------------------------------------------------------------------


def press(
    label: str, name: str, value: str = "", classes: str = "sauda-button", **more: Any
) -> Markup:
    """A button that reports the press `name`."""
    return button(label, classes, press=name, value=value, **more)


# One script for the whole tab. A part of the HTML may be drawn anew while the visitor types or has
# unfolded something: a fold stays open, and typed text stays where the part's key does.
SCRIPT = f"""const tab = element.closest("#arena"), unfolded = {{}};
const send = (press, value) => {{
    const fields = {{give: [], want: []}};
    for (const {{name, type, checked, value}} of tab.querySelectorAll("[name]"))
        if (type !== "checkbox") fields[name] = value;
        else if (checked) fields[name].push(value);
    const blocks = [...tab.querySelectorAll("[aria-pressed=true]")].map(one => one.dataset.value);
    const by = {json.dumps(AT_ONCE)}.includes(press) ? "input"
        : {json.dumps(IN_TURN)}.includes(press) ? "submit" : "click";
    trigger(by, {{press, value, blocks, fields, search: location.search}});
}};
tab.addEventListener("click", ({{target}}) => {{
    const fold = target.closest("summary")?.parentElement, button = target.closest("[data-press]");
    if (fold) unfolded[fold.id] = !fold.open;
    if (button?.tagName !== "BUTTON") return;
    const {{press, value, renews, show}} = button.dataset;
    if (button.ariaPressed) button.ariaPressed = button.ariaPressed !== "true";
    if (renews) document.getElementById(renews).dataset.key = "";
    send(press, value);
    if (show) document.getElementById(show).scrollIntoView({{block: "nearest"}});
}});
tab.addEventListener("input", ({{target}}) => {{
    if (target.dataset.press) send(target.dataset.press);
}});
tab.addEventListener("keydown", ({{key, target}}) => {{
    if (key === "Enter" && target.name === "seed") send("begin");
}});
new MutationObserver(changes => changes.forEach(({{target, attributeName}}) => {{
    if (attributeName === "open") target.open ||= !!unfolded[target.id];
    else if (attributeName === "data-session")
        sessionStorage.setItem("{KEPT}", target.dataset.session);
    else for (const field of target.querySelectorAll("input, option")) {{
        if (field.tagName === "OPTION") field.selected = field.defaultSelected;
        else if (field.type === "checkbox") field.checked = field.defaultChecked;
        else field.value = field.defaultValue;
    }}
}})).observe(tab, {{subtree: true, attributeFilter: ["open", "data-key", "data-session"]}});
const clock = setInterval(() => {{
    if (!element.isConnected) clearInterval(clock);
    else if (tab.querySelector("[data-running]")) send("tick");
}}, {PACE});
send("open", sessionStorage.getItem("{KEPT}") ?? "");"""


def select(
    label: str, name: str, choices: Iterable[tuple[str, str]], chosen: str, press_name: str
) -> Markup:
    """A list to pick from, which reports its use as `press_name`."""
    options = Markup("").join(
        Markup('<option value="{}"{}>{}</option>').format(
            value, Markup(" selected") if value == chosen else "", text
        )
        for text, value in choices
    )
    picker = Markup('<select id="arena-{0}" name="{0}" data-press="{1}">{2}</select>')
    return _labelled(label, name, picker.format(name, press_name, options))


def text_field(label: str, name: str, value: str, **attributes: Any) -> Markup:
    """A field to type in."""
    more = Markup("").join(
        Markup(' {}="{}"').format(key.replace("_", "-"), each) for key, each in attributes.items()
    )
    box = Markup('<input id="arena-{0}" name="{0}" value="{1}" autocomplete="off"{2}>')
    return _labelled(label, name, box.format(name, value, more))


def _labelled(label: str, name: str, field: Markup) -> Markup:
    return Markup('<div class="sauda-entry"><label for="arena-{}">{}</label>{}</div>').format(
        name, label, field
    )


def checkboxes(
    label: str, name: str, choices: list[tuple[str, str]], chosen: tuple[str, ...], press_name: str
) -> Markup:
    """Several things to pick, in a box that scrolls."""
    boxes = Markup("").join(
        Markup(
            '<label><input type="checkbox" name="{}" value="{}" data-press="{}"{}> {}</label>'
        ).format(name, value, press_name, Markup(" checked") if value in chosen else "", text)
        for text, value in choices
    )
    return Markup(
        '<fieldset id="arena-{}" class="sauda-picks"><legend>{}</legend><div>{}</div></fieldset>'
    ).format(name, label, boxes or "none")


def fold(name: str, title: str, body: Markup) -> Markup:
    """A part that stays unfolded as it is drawn anew."""
    return Markup('<details id="{}" class="sauda-more"><summary>{}</summary>{}</details>').format(
        name, title, body
    )
