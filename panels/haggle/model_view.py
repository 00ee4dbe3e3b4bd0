"""What the Haggle tab shows of the language model: what it reads, what it wrote, what it heeded."""

from dataclasses import replace

from markupsafe import Markup

from env import Accept, IllegalAction, Offer, rupees
from panels.haggle.game_view import sells
from panels.haggle.words import Translate
from panels.results.belief import belief_picture
from panels.ui.look import note
from sauda.language import money
from sauda.language.lexicon import SIGNALS
from sauda.language.tells import Tell, memory, read
from sauda.llm.types import Reply
from sauda.policies.belief.posterior import believe
from sauda.sessions.bazaar import Game, moves_of


def words_of(game: Game) -> list[str]:
    """What the visitor said with each move of the deal in play."""
    table = game.observation.table
    moves = [move for move in table.moves if move.agent == game.you]
    return [move.action.message for move in moves if move.action.message]


def reading(game: Game, translate: Translate) -> Markup:
    """The visitor's last words with their tells, what is remembered of all of them, and where
    the other side takes the visitor's limit to lie, before those words and after.
    """
    said = words_of(game)
    if not said:
        told = note(translate("reads_wait"))
    else:
        tells = read(said[-1])
        told = Markup('<p class="sauda-said">“{}”</p>{}{}').format(
            marked(said[-1], tells),
            reasons(tells) if tells else note(translate("reads_none")),
            levels(memory(said)),
        )
    return Markup('<div class="sauda-reads"><h3>{}</h3>{}{}</div>').format(
        translate("reads"), told, believed(game, translate) if sells(game) else ""
    )


def believed(game: Game, translate: Translate) -> Markup:
    """The belief over the visitor's limit before and after its last move."""
    own = moves_of(game)
    if not own:
        return Markup("")
    tables = [game.play.turns[own[-1]].observation.table, game.observation.table]
    before, after = (believe(t, person=True) if t.asks else None for t in tables)
    return Markup("{}{}").format(belief_picture(before, after), note(translate("reads_belief")))


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


def raw(game: Game, translate: Translate) -> Markup:
    """The language model's last completion as it came, and what was made of it.

    While the game runs, one that names a number is kept back: its numbers are percent of its limit,
    and beside the price that came of them they would tell it.
    """
    if not game.heard and not game.missed:
        return note(translate("raw_none"))
    replies = list(game.missed)
    if game.heard and not game.missed:
        last = game.heard[-1]
        replies = [*last.missed, last.reply.text]
    parts = [
        Markup("<pre><code>{}</code></pre>").format(text)
        if game.over or not game.speaker.knows or not names_a_number(text)
        else note(translate("raw_later"))
        for text in replies
    ]
    if game.heard and not game.missed:
        changes = "; ".join(last.changes)
        shows = game.over or not game.speaker.knows  # a change may name the limit
        told = (
            translate("changed", changes=changes if shows else "…")
            if changes
            else translate("unchanged")
        )
        parts.append(note(f"{last.source}, {last.reply.tokens} tokens. {told}"))
    return Markup("").join(parts)


def names_a_number(completion: str) -> bool:
    """Whether a completion holds a number, in digits or words."""
    return any(c.isdigit() for c in completion) or bool(money.prices(completion))


def effect_of(game: Game, reply: Reply, translate: Translate) -> str:
    """How the move in `reply` differs from the model's last move, in words."""
    turn = game.play.turns[game.heard[-1].turn]
    try:
        counterfactual = game.speaker.made(turn.observation, reply, game.heard[-1].missed).action
    except IllegalAction:
        return translate("effect_none")
    if replace(counterfactual, message="") == replace(turn.action, message=""):
        return translate("effect_same")
    if isinstance(counterfactual, Offer):
        move = translate("would_offer", price=rupees(counterfactual.price))
    elif isinstance(counterfactual, Accept):
        move = translate("would_accept")
    else:
        move = translate("would_walk")
    return translate("effect_other", move=move)


def model_label(game: Game) -> str:
    """The short name of the language model across the table."""
    return "Sauda" if sells(game) else "SmolLM2"
