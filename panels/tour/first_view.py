"""What a visitor sees while the page's components load: the promise and the race, as plain HTML.

Gradio draws its components after a megabyte of scripts; this stands in the page itself. Each part
stands where the drawn page has it, so that nothing moves once the script takes this away.
"""

from pathlib import Path

from markupsafe import Markup

from panels import PANELS
from panels.tour import race
from panels.tour.facts import chain, in_short
from panels.tour.tab import title
from panels.transcripts.before_after import FILE, typical
from panels.ui.look import PALETTE
from panels.ui.theme import SCENE, font_faces
from sauda.records.kinds import ArtifactError
from sauda.records.store import load

FOLDER = Path(__file__).parent
ID = "sauda-first"


def first_view(header: str) -> str:
    """The first view below the page's `header`, both HTML; without artifacts the header alone."""
    try:
        main = _race()
    except ArtifactError:  # the Tour itself tells what is missing, and the command that makes it
        main = Markup("")
    style = font_faces() + _colours() + (FOLDER / "first_view.css").read_text(encoding="utf-8")
    style += SCENE
    script = (FOLDER / "first_view.js").read_text(encoding="utf-8")
    return Markup(
        '<style>{}</style><div id="{}"><div>{}{}<main>{}</main></div></div><script>{}</script>'
    ).format(Markup(style), ID, Markup(header), _tabs(), main, Markup(script))


def _tabs() -> Markup:
    """The titles of the tabs, which nobody can press yet."""
    titles = Markup("").join(Markup("<span>{}</span>").format(panel.TITLE) for panel in PANELS)
    return Markup('<div class="sauda-first-tabs" aria-hidden="true">{}</div>').format(titles)


def _race() -> Markup:
    """The promise, what was trained, and the recorded race; ArtifactError where one is missing."""
    artifact = load(FILE)
    pair = typical(artifact, race.TASK)
    games = race.recorded_games(pair)
    return Markup("{}<p>{}</p>{}").format(title(), in_short(chain()), race.race(games, pair))


def _colours() -> str:
    """The palette as variables of the first view, in both modes."""
    light, dark = (
        " ".join(f"--sauda-{role}: {pair[mode]};" for role, pair in PALETTE.items())
        for mode in (0, 1)
    )
    return f"\n#{ID} {{ {light} }}\n#{ID}.dark {{ {dark} }}\n"
