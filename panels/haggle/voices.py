"""Who sits across from a visitor of Haggle, and how the language models behind the page are."""

import time
from collections.abc import Mapping
from functools import cache

from markupsafe import Markup

from panels.haggle.words import Say
from panels.ui.look import note
from panels.ui.provenance import load_or_say
from sauda.llm.backends.served import HERE, SEATS, backends
from sauda.llm.backends.worker import Failed, Ready, Resident
from sauda.llm.registry import row_name
from sauda.llm.seller.policy import PERSONAS
from sauda.sessions.bazaar import Game

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
    if game and game.you == "buyer":
        stand_in = words("own_seller")
    if isinstance(stage, Ready):
        tone, told = "good", f"{stage.source} · {words('ready', seconds=f'{stage.seconds:.0f}')}"
    elif isinstance(stage, Failed):
        tone, told = "bad", words("failed", reason=stage.reason, name=stand_in)
    else:
        seconds = f"{time.monotonic() - stage.since:.0f}"
        tone, told = "open", words("loading", seconds=seconds, name=stand_in)
    plays = f"({game.opponent}) " if game and game.speaker else ""  # a wrapper is not hidden
    playing = Markup("<b>{}</b> {}").format(who(game, words), plays) if game else ""
    line = Markup('<p class="sauda-who">{}<span class="sauda-state sauda-state-{}"></span>{}</p>')
    return line.format(playing, tone, told) + measured(game, model, words)


def measured(game: Game | None, model: Resident, words: Say) -> Markup:
    """What the artifacts measured of the language model in `game`; "" where a script plays."""
    if game is None or not game.speaker or not isinstance(model.stage, Ready):
        return Markup("")
    seat = game.speaker.seat
    loaded = model.stage.source.partition(",")[0]
    figures = _buyer_figures(game.opponent) if seat == "buyer" else _seller_figures()
    if model.name != HERE or loaded != SEATS[seat].model or figures is None:
        return note(words("unmeasured"))
    return note(words(f"measured_{seat}", **figures))


@cache
def _buyer_figures(opponent: str) -> dict[str, str] | None:
    """Grade and n of a buyer's row in the model comparison; None where there is none."""
    artifact, _ = load_or_say("evaluation/ladder.json")
    where = ("bazaar/open", row_name(opponent))
    for row in artifact.data["rows"] if artifact else ():
        if (row["task"], row["policy"]) == where:
            grade = row["grade"]
            interval = f"{grade['mean']:.3f} [{grade['low']:.3f}, {grade['high']:.3f}]"
            return {"row": row["policy"], "grade": interval, "n": f"{row['n']}"}
    return None


@cache
def _seller_figures() -> dict[str, str] | None:
    """How many lines of the model seller were its own words; None where nothing was measured."""
    artifact, _ = load_or_say("seller_quality.json")
    for row in artifact.data["rows"] if artifact else ():
        side = row["sides"].get(SELLER)
        if row["criterion"] == "own_words" and side:
            return {"share": f"{side['mean']:.1%}", "n": f"{side['n']:,}"}
    return None


def who(game: Game, words: Say) -> str:
    """Who sits across, where a visitor may know it."""
    if game.speaker:
        names = {plays: name for name, plays in MODELS.items()}
        return names.get(game.opponent, game.opponent)
    if not game.stands_in_for:
        return ""
    return words("own_seller") if game.you == "buyer" else STAND_IN.replace("_", " ")


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
