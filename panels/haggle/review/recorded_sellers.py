"""How scripts that sell fared against a language model that buys, from the tournament's artifact.

On a visitor's own seed a script would need a game of its own with the model, a reply a round, so
these recorded games, on other seeds, stand in the place of a rank.
"""

from dataclasses import dataclass

from panels.ui.provenance import load_or_say
from sauda.policies import SELLERS
from sauda.records.store import Artifact

FILE = "tournament.json"


@dataclass(frozen=True)
class RecordedSellers:
    """Scripted sellers against one buyer: how many, games each, and their mean shares."""

    scripts: int
    n: int
    below: int  # scripts whose mean share is below the visitor's
    best: str
    best_share: float


def recorded_sellers(buyer: str, share: float) -> RecordedSellers | None:
    """The recorded scripts beside a visitor's `share`; None where the buyer was not recorded."""
    artifact, _ = load_or_say(FILE)
    return beside(artifact, buyer, share) if artifact else None


def beside(artifact: Artifact, buyer: str, share: float) -> RecordedSellers | None:
    """The same from a tournament; the scripts are those that a visitor's rank has elsewhere."""
    cells = [cell for cell in artifact.data.cells if cell.buyer == buyer and cell.seller in SELLERS]
    if not cells:
        return None
    best = max(cells, key=lambda cell: cell.share.seller.mean)
    below = sum(cell.share.seller.mean < share for cell in cells)
    return RecordedSellers(
        len(cells), min(cell.n for cell in cells), below, best.seller, best.share.seller.mean
    )
