"""The first screen: a recorded bargain in its own words, and other buyers with the same seller.

The recorded game plays at once, by the stylesheet's animation alone. A link leads the visitor to
the same seller. How other buyers fared there is drawn from the record, and both games on show
can be played again live.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from markupsafe import Markup

from env import Episode, Offer, Turn, get_task, rollout, rupees, shares
from panels.haggle.opponents import HIDDEN
from panels.haggle.result import address_of
from panels.site.card import face_at
from panels.transcripts.episodes import of_this_page
from panels.transcripts.view import limits
from panels.ui.html import SAUDA, SAY, goods, macros, picture
from panels.ui.look import note, trouble
from panels.ui.provenance import made_or_missing, missing
from panels.ui.terms import capital
from sauda.games.transcript import from_json, in_words
from sauda.llm.types import ReplyError
from sauda.players import BASE, PEOPLE, SERVED, is_model, policy_label
from sauda.records import read_table
from sauda.records.kinds import ArtifactError
from sauda.records.schemas.episodes import DUEL_FILE
from sauda.records.store import load

HTML = macros("tour")
WRITTEN = 40  # characters shown of a reply that is no move
PRICE = re.compile(r"₹[\d,]*\d")
_GLOSSES = read_table(Path(__file__).with_name("gloss.csv"))
GLOSSES = {row["words"]: row["english"] for row in _GLOSSES}  # with "#" for each price
Bubble = tuple[str, Markup, Markup, str]  # the seat, its face, the words, the words in English
Game = tuple[Episode, Sequence[str]]  # with the replies of a language model


def recorded() -> Mapping[str, Game]:
    """The games at the seed on show by player; raises ArtifactError without the record."""
    games = load(DUEL_FILE).data.games
    return {game.policy: (from_json(game.as_json()), game.replies) for game in games}


def rivals() -> dict[str, str]:
    """The labels of those who bargained with the same seller, in the order of the record."""
    return {
        name: "Before training" if name == BASE else capital(policy_label(name))
        for name in recorded()
        if name != SERVED
    }


def scene(rival: str = BASE, can_press: bool = True) -> Markup:
    """The recorded game as it opens, beside that of `rival`; of BASE where there is none such.

    Without the buttons unless the visitor `can_press` them.
    """
    games = recorded()
    rival = rival if rival in rivals() else BASE
    return draw(games[SERVED], rival, games[rival], can_press)


def draw(bought: Game, rival: str, beside: Game, can_press: bool = True) -> Markup:
    """The model's game at a stall, the verdict with the way on, and the game of `rival`.

    A reply that is no move is quoted.
    """
    (game, replies), (other, other_replies) = bought, beside
    (instance,) = game.final.private["nature"]
    item, ask = instance.item, game.turns[0].action.price
    return HTML.race(
        (goods(item.name), rupees(item.list_price), capital(item.name)),
        bubbles(game, SERVED, replies),
        *scale(game),
        f"{share_of(game):.0%}",
        address_of(PEOPLE, game.seed, HIDDEN, int(ask)) if can_press else "",
        (
            rivals()[rival],
            bubbles(other, rival, other_replies),
            SAY.rival_end(share_of(other), other.end),
        ),
    )


def share_of(game: Episode) -> float:
    """The buyer's share of what lies between both limits."""
    (share,) = shares(game.final, "buyer")
    return share


def bubbles(game: Episode, buyer: str, replies: Sequence[str]) -> list[Bubble]:
    """Each move of a game: the seat, the face, what was said, the same in English."""
    faces = {
        "seller": face_at(PEOPLE, game.seed, ""),
        "buyer": SAUDA if is_model(buyer) else "bust",
    }
    return [
        (turn.agent, picture(faces[turn.agent], "face"), *_said(turn, replies))
        for turn in game.turns
    ]


def _said(turn: Turn, replies: Sequence[str]) -> tuple[Markup | str, str]:
    """What was said with a move, its price set off, and the same in English."""
    if turn.action is None:
        wrote = f"“{replies[-1][:WRITTEN].strip()}…”" if replies else "…"
        return wrote, "names no price, so the game is lost"
    words = turn.action.message
    if not isinstance(turn.action, Offer):
        return words or capital(in_words(PEOPLE, turn)), gloss(words)
    price = rupees(turn.action.price)
    before, quoted, after = words.partition(price)
    if not quoted:
        before, after = "", f" {words}" if words else ""
    return Markup("{}<b>{}</b>{}").format(before, price, after), gloss(words)


def gloss(words: str) -> str:
    """A recorded line in English by GLOSSES; "" where they lack it."""
    prices = iter(PRICE.findall(words))
    return re.sub("#", lambda _: next(prices), GLOSSES.get(PRICE.sub("#", words), ""))


def scale(game: Episode) -> tuple[list[tuple[str, float, int]], tuple[str, str]]:
    """Each price: its style, percents from the seller's limit to the buyer's, row; both limits.

    The deal comes last. Nothing where no price serves both sides.
    """
    (high, low), past = limits(game), game.final.table.past
    if high <= low:
        return [], ("", "")
    prices = [
        ("sauda-asked" if turn.agent == "seller" else "", turn.action.price, row)
        for row, turn in enumerate(game.turns)
        if isinstance(turn.action, Offer)
    ]
    if past and past[-1].price is not None:
        prices.append(("sauda-deal", past[-1].price, len(game.turns)))
    marks = [
        (style, round(100 * min(1.0, max(0.0, (price - low) / (high - low))), 1), row)
        for style, price, row in prices
    ]
    return marks, (rupees(round(low)), rupees(high))


def compare(rival: str) -> Markup:
    """The scene beside `rival`; without the record, what makes it."""
    return made_or_missing(scene, rival)


def play_live(rival: str) -> Iterator[Markup]:
    """The games of the model and of `rival`, played now, and whether they are as recorded."""
    try:
        games, task = recorded(), get_task(PEOPLE)
    except ArtifactError as error:
        yield missing(error)
        return
    rival = rival if rival in games else BASE
    yield scene(rival) + note("Both play; that takes up to a minute.")
    try:
        played = [
            rollout(task, of_this_page(task, name), games[name][0].seed) for name in (SERVED, rival)
        ]
    except ReplyError as error:
        yield scene(rival) + trouble(error)
        return
    apart = [
        name
        for name, now in zip((SERVED, rival), played, strict=True)
        if [turn.action for turn in now.turns] != [turn.action for turn in games[name][0].turns]
    ]
    mine, theirs = zip(played, (games[SERVED][1], games[rival][1]), strict=True)
    drawn = draw(mine, rival, theirs)
    yield drawn + note(SAY.played_again([policy_label(name) for name in apart]))
