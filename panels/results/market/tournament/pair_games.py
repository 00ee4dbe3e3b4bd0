"""Some games of a pair, played again from their seeds in this process, beside what is recorded."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from env import Episode
from panels.results.market.tournament.matrix import pair_name
from panels.results.questions.verdict import capital
from panels.transcripts.before_after import dealt
from panels.transcripts.view import outcome, talk
from panels.ui.look import note, scrolled, trouble
from panels.ui.offers import SMALL, offer_chart, offers_of
from panels.ui.provenance import Beside, side_by_side
from panels.ui.terms import could_be_won
from sauda.experiments.pairs import PAIR_TASK, Pair, Payoffs, Scenarios, columns, play_pair
from sauda.experiments.tournament import ShownGame, Tournament, choose_shown
from sauda.records.store import digest

ASK = "Press a cell of the map, or pick a buyer and a seller, to see three of their games."


def shown(data: Tournament, buyer: object, seller: object) -> Iterator[Markup]:
    """The games of a pair, after a word that they begin; a sentence for a pair that is none."""
    known = isinstance(buyer, str) and isinstance(seller, str)
    if not known or seller not in data.games.get(buyer, ()):
        yield trouble(ValueError(ASK))
        return
    yield note("Playing three games again …")
    yield games_of(data, Pair(buyer, seller))


def games_of(data: Tournament, pair: Pair) -> Markup:
    """Three games of the pair as cards, played again."""
    at = Scenarios.of_columns(data.scenarios)
    then = data.games[pair.buyer][pair.seller].as_json()
    games = choose_shown(then, at)
    again = play_pair(pair, [game.seed for game in games])
    cards = [card(game, episode) for game, episode in zip(games, again, strict=True)]
    return Markup('<h3>{}</h3>{}{}<div class="sauda-cards sauda-pair">{}</div>').format(
        capital(pair_name(*pair)),
        side_by_side(beside(then, at, games, again)),
        note(
            Markup(
                "Played again just now from their seeds. Chosen by the buyer’s utility among the {}"
                " scenarios in which {}; of equal ones the lower seed comes first."
            ).format(int(at.zopa.sum()), could_be_won("a deal serves both sides"))
        ),
        Markup("").join(cards),
    )


def beside(
    then: Mapping[str, Any], at: Scenarios, games: Sequence[ShownGame], again: Sequence[Episode]
) -> Beside:
    """The buyer's mean share of the games as recorded and as played again, and what differs."""
    places = [game.index for game in games]
    old = {name: [values[i] for i in places] for name, values in then.items()}
    new = {name: list(values) for name, values in columns(again).items()}
    some = Scenarios.of([at.seeds[i] for i in places])
    shares = [float(Payoffs.of(played, some).share["buyer"].mean()) for played in (old, new)]
    differing = [name for name in old if old[name] != new[name]]
    what = "the buyer’s mean share"
    return Beside(what, *shares, len(games), len(old), differing, (digest(old), digest(new)))


def card(game: ShownGame, episode: Episode) -> Markup:
    """One game: what it was about, its offers, its moves, its end."""
    return Markup(
        '<section class="sauda-card sauda-game"><h3>{}</h3><p>{}</p>{}{}{}</section>'
    ).format(
        capital(game.why),
        dealt(episode),
        offer_chart(offers_of(episode), SMALL),
        scrolled(
            f"Transcript of the game of seed {episode.seed}",
            talk(episode, len(episode.turns)),
            "sauda-script",
        ),
        outcome(episode, PAIR_TASK.learner, PAIR_TASK.grade(episode.final)),
    )
