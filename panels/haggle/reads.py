"""What Sauda reads in a visitor's words: the phrases that give something away, marked and named."""

from markupsafe import Markup

from panels.haggle.game_view import sells
from panels.haggle.words import Say
from panels.results.belief import belief_picture
from panels.ui.look import note
from sauda.language.lexicon import SIGNALS
from sauda.language.tells import Tell, memory, read
from sauda.policies.posterior import believe
from sauda.sessions.bazaar import Game, moves_of


def words_of(game: Game) -> list[str]:
    """What the visitor said with each move of the deal in play."""
    table = game.observation.table
    moves = [move for move in table.moves if move.agent == game.you]
    return [move.action.message for move in moves if move.action.message]


def reading(game: Game, say: Say) -> Markup:
    """The visitor's last words with their tells, what is remembered of all of them, and where
    the other side takes the visitor's limit to lie, before those words and after.
    """
    said = words_of(game)
    if not said:
        told = note(say("reads_wait"))
    else:
        tells = read(said[-1])
        told = Markup('<p class="sauda-said">“{}”</p>{}{}').format(
            marked(said[-1], tells),
            reasons(tells) if tells else note(say("reads_none")),
            levels(memory(said)),
        )
    return Markup('<div class="sauda-reads"><h3>{}</h3>{}{}</div>').format(
        say("reads"), told, believed(game, say) if sells(game) else ""
    )


def believed(game: Game, say: Say) -> Markup:
    """The belief over the visitor's limit before and after its last move."""
    own = moves_of(game)
    if not own:
        return Markup("")
    tables = [game.play.turns[own[-1]].observation.table, game.observation.table]
    before, after = (believe(t, person=True) if t.asks else None for t in tables)
    return Markup("{}{}").format(belief_picture(before, after), note(say("reads_belief")))


def marked(text: str, tells: tuple[Tell, ...]) -> Markup:
    """`text` with each tell in a mark of its signal; where two overlap the first is marked."""
    parts, end = [], 0
    for tell in tells:
        if tell.start < end:
            continue
        parts += [
            Markup.escape(text[end : tell.start]),
            Markup('<mark class="sauda-tell sauda-tell-{}" title="{}">{}</mark>').format(
                tell.signal, tell.explanation, tell.text
            ),
        ]
        end = tell.end
    return Markup("").join([*parts, Markup.escape(text[end:])])


def reasons(tells: tuple[Tell, ...]) -> Markup:
    """One line a tell: its signal, how plainly, why."""
    rows = [
        Markup('<li><span class="sauda-tell sauda-tell-{0}">{0}</span> {1:.2f} · {2}</li>').format(
            tell.signal, tell.score, tell.explanation
        )
        for tell in tells
    ]
    return Markup("<ul>{}</ul>").format(Markup("").join(rows))


def levels(remembered: dict[str, float]) -> Markup:
    """What is remembered of each signal, as small bars; nothing where nothing is."""
    if not any(remembered.values()):
        return Markup("")
    bars = [
        Markup(
            '<li><span>{0}</span><span class="sauda-level" role="img" aria-label="{0} {1:.2f}">'
            '<i style="width:{2:.0f}%"></i></span><span>{1:.2f}</span></li>'
        ).format(signal, remembered[signal], 100 * remembered[signal])
        for signal in SIGNALS
    ]
    return Markup('<ul class="sauda-levels">{}</ul>').format(Markup("").join(bars))
