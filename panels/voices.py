"""Who sits across from a visitor of Haggle, and how the language models behind the page are."""

import time
from collections.abc import Mapping
from functools import cache

from markupsafe import Markup

from panels.words import Say
from sauda.backends import HERE, SEATS, backends
from sauda.haggle import Game
from sauda.policies.resident import Failed, Ready, Resident
from sauda.seller import PERSONAS

SAUDA = {
    "Sauda": "sauda-mini+honest",
    "Sauda, bare": "sauda-mini",
    "Sauda under the published steering": "sauda-mini+steering",
}  # what a visitor can sell to, and what plays it
SELLER = SEATS["seller"].model
SELLERS = {f"SmolLM2, {name}": f"{SELLER}:{name}" for name in PERSONAS}  # what one can buy from
MODELS = SAUDA | SELLERS
READY_SOON = 0.5  # seconds a new game waits for a model that is almost there
STAND_IN = "tit_for_tat"  # plays under its own name until the model is there


@cache
def voices() -> dict[str, dict[str, Resident]]:
    """The language models of this page by seat and backend, one each for all its visitors."""
    return backends()


def wake() -> None:
    """Begin to load the page's own model, so that the first visitor finds it there."""
    voices()["buyer"][HERE].start()


class Floor:
    """Whose word it is in one visitor's session: what an earlier reply still writes is dropped.

    Gradio's own cancelling fails on an event that has just ended, and leaves the next one waiting.
    """

    def __init__(self) -> None:
        self.number = 0

    def take(self) -> int:
        """The floor for a new reply, or away from the one that speaks."""
        self.number += 1
        return self.number


def badge_of(game: Game | None, model: Resident, words: Say) -> Markup:
    """Who plays the other seat, and what the language model is doing."""
    stage = model.stage
    stand_in = STAND_IN.replace("_", " ")
    if isinstance(stage, Ready):
        tone, told = "good", f"{stage.source} · {words('ready', seconds=f'{stage.seconds:.0f}')}"
    elif isinstance(stage, Failed):
        tone, told = "bad", words("failed", reason=stage.reason, name=stand_in)
    else:
        seconds = f"{time.monotonic() - stage.since:.0f}"
        tone, told = "open", words("loading", seconds=seconds, name=stand_in)
    plays = f"({game.opponent}) " if game and game.speaker else ""  # a wrapper is not hidden
    playing = Markup("<b>{}</b> {}").format(who(game), plays) if game else ""
    return Markup(
        '<p class="sauda-who">{}<span class="sauda-state sauda-state-{}"></span>{}</p>'
    ).format(playing, tone, told)


def who(game: Game) -> str:
    """Who sits across, where a visitor may know it."""
    if game.speaker:
        return next(name for name, plays in MODELS.items() if plays == game.opponent)
    return STAND_IN.replace("_", " ") if game.stands_in_for else ""


def healths(models: Mapping[str, Resident], words: Say) -> Markup:
    """Every backend and whether it really answers."""
    lines = [
        Markup("<li><b>{}</b>: {}</li>").format(name, health_of(model, words))
        for name, model in models.items()
    ]
    return Markup("<ul>{}</ul>").format(Markup("").join(lines))


def health_of(model: Resident, words: Say) -> str:
    stage = model.stage
    if isinstance(stage, Ready):
        return f"{stage.source}, {words('ready', seconds=f'{stage.seconds:.1f}')}"
    return stage.reason if isinstance(stage, Failed) else "…"
