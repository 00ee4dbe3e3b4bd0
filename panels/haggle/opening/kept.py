"""What the browser keeps of a visit in its tab, so that a reload finds the game again.

It keeps the name of the session, which holds the game on the server, what the visitor chose, and
the words in the message box. None of it is hidden from the visitor. `sessionStorage` belongs to one
tab, so that two tabs keep two games; a browser may refuse it, and then a reload begins a new game.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass, fields, replace

from panels.haggle.choices import (
    ANY_ITEM,
    BUY,
    SELL,
    offered,
    one_of,
    values,
)
from panels.haggle.opening.link import KEYS
from panels.haggle.opponents.stages import SERVED
from panels.haggle.words import ENGLISH, LANGUAGES
from sauda.llm.backends import THIS_PAGE

VISIT, DRAFT = "sauda-haggle", "sauda-haggle-draft"  # keys of the storage


@dataclass(frozen=True)
class Picks:
    """What the visitor chose in the pickers."""

    seat: str = SELL
    market: str = ANY_ITEM
    opponent: str = SERVED[0]
    backend: str = THIS_PAGE
    language: str = ENGLISH


FIRST = Picks()  # as the page opens


@dataclass(frozen=True)
class Kept:
    """What a tab kept."""

    session: str  # its name before the reload
    picks: Picks
    moved: bool  # whether the visitor had said anything


def read_kept(text: str, backends: Collection[str]) -> Kept | None:
    """What a tab kept, from the JSON that it sent; None for anything else.

    Choices that the page does not have are replaced by those it opens with.
    """
    try:
        found = json.loads(text or "null")
    except ValueError:
        return None
    if not isinstance(found, dict) or not isinstance(found.get("session"), str):
        return None
    chosen = {field.name: found.get(field.name) for field in fields(Picks)}
    texts = {name: value for name, value in chosen.items() if isinstance(value, str)}
    picks = possible(replace(FIRST, **texts), backends)
    return Kept(found["session"], picks, found.get("moved") is True)


def possible(picks: Picks, backends: Collection[str]) -> Picks:
    """The choices, those that the page does not have replaced by the ones it opens with."""
    seat = picks.seat if picks.seat in (BUY, SELL) else FIRST.seat
    market, opponent = offered(seat, picks.market, picks.opponent)
    return Picks(
        seat,
        market,
        opponent,
        one_of([FIRST.backend, *backends], picks.backend),
        one_of([FIRST.language, *values(LANGUAGES)], picks.language),
    )


# Scripts of the browser --------------------------------------------------------------------------

# Arguments: the session generation, and what is to be sent in its place.
READ = f"""(generation) => {{
  let kept = "";
  try {{ kept = sessionStorage.getItem("{VISIT}") ?? ""; }} catch {{ /* the browser refuses */ }}
  return [generation, kept];
}}"""
# Before the page has answered, it has no session, and nothing to keep.
WRITE = f"""(session, seat, market, opponent, backend, language, chat) => {{
  if (!session) return;
  const moved = (chat ?? []).some((message) => message.role === "user");
  const kept = {{ session, seat, market, opponent, backend, language, moved }};
  try {{ sessionStorage.setItem("{VISIT}", JSON.stringify(kept)); }} catch {{ /* refused */ }}
}}"""
WRITE_DRAFT = f"""(session, text) => {{
  if (!session) return;
  try {{ sessionStorage.setItem("{DRAFT}", text ?? ""); }} catch {{ /* refused */ }}
}}"""
# What was typed before the page had answered stays. The address of a shared game is taken away,
# so that a reload finds the game as it was left; other tabs and sub-tabs have addresses of their
# own.
READ_DRAFT = f"""(text) => {{
  const address = new URL(location), query = address.searchParams;
  if ((query.get("tab") ?? "haggle") === "haggle" && !query.has("part")) {{
    {[*KEYS]}.forEach((key) => query.delete(key));
    if (address.href !== location.href) history.replaceState(null, "", address);
  }}
  try {{ return text || (sessionStorage.getItem("{DRAFT}") ?? ""); }} catch {{ return text; }}
}}"""
