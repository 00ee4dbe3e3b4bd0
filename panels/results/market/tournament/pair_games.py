"""Some games of a pair, played again from their seeds in this process, beside what is recorded."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from markupsafe import Markup

from env import Episode, get_task
from panels.results.market.tournament.names import pair_name
from panels.results.market.tournament.plane import plane_of, utility_plane
from panels.results.questions.verdict import capital
from panels.transcripts.before_after import dealt
from panels.transcripts.view import outcome, talk
from panels.ui.look import note, scrolled, trouble
from panels.ui.offers import SMALL, offer_chart, offers_of
from panels.ui.provenance import Beside, side_by_side
from panels.ui.terms import could_be_won
from sauda.experiments.pairs import Pair, Scenarios, columns, play_scripts, replay_episodes
from sauda.experiments.tournament import (
    PairColumns,
    Payoffs,
    ShownGame,
    Tournament,
    choose_shown,
)
from sauda.records.store import digest

COMPARED = ("end", "price", "rounds")  # of each game
ASK = "Press a cell of the map, or pick a buyer and a seller, to see three of their games."


def recorded(data: Tournament, pair: Pair) -> PairColumns:
    """The recorded games of a pair."""
    return data.games[pair.buyer][pair.seller]


def beside(
    data: Tournament, pair: Pair, games: Sequence[ShownGame], again: Sequence[Episode]
) -> Beside:
    """The buyer's mean share of the games as recorded and as played again, and what differs."""
    then, now = recorded(data, pair).as_json(), columns(again)
    old = {name: [then[name][game.index] for game in games] for name in COMPARED}
    new = {name: list(now[name]) for name in COMPARED}
    whole = {name: list(then[name]) for name in COMPARED}
    for place, game in enumerate(games):
        for name in COMPARED:
            whole[name][game.index] = new[name][place]
    at = Scenarios.of_columns(data.scenarios)
    shares = [_mean_share(played, games, at) for played in (then, whole)]
    differing = [name for name in COMPARED if old[name] != new[name]]
    what = "the buyer’s mean share"
    return Beside(what, *shares, len(games), len(COMPARED), differing, (digest(old), digest(new)))


def _mean_share(played: Mapping[str, Any], games: Sequence[ShownGame], at: Scenarios) -> float:
    """The mean of the buyer's shares in some of the games."""
    shares = Payoffs.of(played, at).share["buyer"]
    return float(shares[[game.index for game in games]].mean())


def shown(data: Tournament, buyer: object, seller: object) -> Iterator[Markup]:
    """The games of a pair, after a word that they begin; a sentence for a pair that is none."""
    if not (isinstance(buyer, str) and isinstance(seller, str)):
        yield trouble(ValueError(ASK))
        return
    pair = Pair(buyer, seller)
    if pair.seller not in data.games.get(pair.buyer, ()):
        yield trouble(ValueError("pick a buyer and a seller that played in this tournament"))
        return
    yield note("Playing three games again …")
    try:
        yield games_of(data, pair)
    except ValueError as error:  # the pilot's weights, a model's adapter
        yield trouble(error)


def games_of(data: Tournament, pair: Pair) -> Markup:
    """Three games of the pair as cards, played again; a language model says its recorded replies.

    Raises ValueError where the pilot's weights or a model's adapter are missing.
    """
    at, then = Scenarios.of_columns(data.scenarios), recorded(data, pair).as_json()
    games = choose_shown(then, at)
    replies = data.replies.get(pair.buyer, {}).get(pair.seller)
    if replies is None:
        again = _replayed(pair, tuple(game.seed for game in games))
        source = "their seeds"
    else:
        said = [[reply.as_json() for reply in game] for game in replies]
        again = replay_episodes(pair, [game.seed for game in games], said)
        source = "their seeds and the model’s recorded replies"
    told = f"Played again just now from {source}."
    if replies is not None:
        told += " This command makes the replies again: python -m sauda verify --models tournament."
    n = int(at.zopa.sum())
    cards = [card(game, episode) for game, episode in zip(games, again, strict=True)]
    return Markup('<h3>{}</h3>{}{}<div class="sauda-cards sauda-pair">{}</div>').format(
        capital(pair_name(*pair)),
        side_by_side(beside(data, pair, games, again)),
        note(
            Markup(
                "{} Chosen by the buyer’s utility among the {} scenarios in which {}; of equal ones"
                " the lower seed comes first."
            ).format(told, n, could_be_won("a deal serves both sides"))
        ),
        Markup("").join(cards),
    )


@lru_cache(maxsize=64)
def _replayed(pair: Pair, seeds: tuple[int, ...]) -> list[Episode]:
    """The games; kept, because the belief buyer takes a third of a second for one."""
    return play_scripts(pair, seeds)


def card(game: ShownGame, episode: Episode) -> Markup:
    """One game: what it was about, its utility plane, its offers, its words, its end."""
    task = get_task(episode.task)
    return Markup(
        '<section class="sauda-card sauda-game"><h3>{}</h3><p>{}</p>{}{}{}{}</section>'
    ).format(
        capital(game.why),
        dealt(episode),
        utility_plane(plane_of(episode)),
        offer_chart(offers_of(episode), SMALL),
        scrolled(
            f"Transcript of the game of seed {episode.seed}",
            talk(episode, len(episode.turns)),
            "sauda-script",
        ),
        outcome(episode, task.learner, task.grade(episode.final)),
    )
