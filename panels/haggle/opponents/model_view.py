"""What the Haggle tab shows of the language model: tells, raw reply, effect of words."""

from dataclasses import replace

from markupsafe import Markup

from env import Accept, Offer, rupees
from panels.haggle.game_view import sells
from panels.haggle.review.belief_picture import belief_picture
from panels.haggle.words import Translate
from panels.ui.look import note
from sauda.language import money
from sauda.language.lexicon import SIGNALS
from sauda.language.tells import Tell, read, signal_levels
from sauda.llm.types import Reply
from sauda.policies.belief import believe
from sauda.sessions.bazaar import Game, counterfactual_action, moves_of


def own_messages(game: Game) -> list[str]:
    """The visitor's messages in the deal in play, one a move."""
    table = game.observation.table
    moves = [move for move in table.moves if move.agent == game.you]
    return [move.action.message for move in moves if move.action.message]


def reading(game: Game, translate: Translate) -> Markup:
    """The visitor's last message with its tells, the memory of all tells, and the belief over the
    visitor's limit before and after that message.
    """
    own = own_messages(game)
    if not own:
        shown = note(translate("reads_wait"))
    else:
        tells, remembered = read(own[-1]), signal_levels(own)
        none_now = "reads_none_now" if any(remembered.values()) else "reads_none"
        shown = Markup('<p class="sauda-quote">“{}”</p>{}{}').format(
            marked(own[-1], tells, translate),
            reasons(tells, translate) if tells else note(translate(none_now)),
            levels(remembered, translate),
        )
    return Markup('<div class="sauda-reads"><h3>{}</h3>{}{}</div>').format(
        translate("reads"), shown, believed(game, translate) if sells(game) else ""
    )


def believed(game: Game, translate: Translate) -> Markup:
    """The belief over the visitor's limit before and after the visitor's last move."""
    own = moves_of(game)
    if not own:
        return Markup("")
    tables = [game.play.turns[own[-1]].observation.table, game.observation.table]
    before, after = (believe(t, person=True) if t.asks else None for t in tables)
    if after is None:  # the visitor walked away without naming a price
        return Markup("")
    return Markup("{}{}").format(
        belief_picture(before, after, translate), note(translate("reads_belief"))
    )


def marked(text: str, tells: tuple[Tell, ...], translate: Translate) -> Markup:
    """`text` with each tell highlighted by its signal; of two that overlap, the first."""
    parts, end = [], 0
    for tell in tells:
        if tell.start < end:
            continue
        parts += [
            Markup.escape(text[end : tell.start]),
            Markup('<mark class="sauda-tell sauda-tell-{}" title="{}">{}</mark>').format(
                tell.signal, translate(tell.explanation), tell.text
            ),
        ]
        end = tell.end
    return Markup("").join([*parts, Markup.escape(text[end:])])


def reasons(tells: tuple[Tell, ...], translate: Translate) -> Markup:
    """One line per tell: its signal, its score from 0 to 1, the reason."""
    rows = [
        Markup('<li><span class="sauda-tell sauda-tell-{}">{}</span> {:.2f} · {}</li>').format(
            tell.signal, translate(tell.signal), tell.score, translate(tell.explanation)
        )
        for tell in tells
    ]
    return Markup("<ul>{}</ul>").format(Markup("").join(rows))


def levels(remembered: dict[str, float], translate: Translate) -> Markup:
    """The remembered score of each signal as a bar; empty where all are 0."""
    if not any(remembered.values()):
        return Markup("")
    bars = [
        Markup(
            '<li><span>{0}</span><span class="sauda-level" role="img" aria-label="{0} {1:.2f}">'
            '<i style="width:{2:.0f}%"></i></span><span>{1:.2f}</span></li>'
        ).format(translate(signal), remembered[signal], 100 * remembered[signal])
        for signal in SIGNALS
    ]
    return Markup('<ul class="sauda-levels">{}</ul>').format(Markup("").join(bars))


def raw(game: Game, translate: Translate) -> Markup:
    """The language model's last completion, unedited, and the changes made to its move.

    While the game runs, a completion that names a number is hidden: its numbers are percent of the
    model's limit, so that together with the price they would reveal the limit.
    """
    if not game.model_moves and not game.invalid_replies:
        return note(translate("raw_none"))
    replies = list(game.invalid_replies)
    if game.model_moves and not game.invalid_replies:
        last = game.model_moves[-1]
        replies = [*last.invalid_replies, last.reply.text]
    parts = [
        Markup("<pre><code>{}</code></pre>").format(text)
        if game.over or not game.model_seat.knows_limit or not names_a_number(text)
        else note(translate("raw_later"))
        for text in replies
    ]
    if game.model_moves and not game.invalid_replies:
        changes = "; ".join(last.changes)
        shows = game.over or not game.model_seat.knows_limit  # a change may name the limit
        edits = (
            translate("changed", changes=changes if shows else "…")
            if changes
            else translate("unchanged")
        )
        parts.append(note(f"{last.source}, {last.reply.tokens} tokens. {edits}"))
    return Markup("").join(parts)


def names_a_number(completion: str) -> bool:
    """Whether a completion holds a number, in digits or words."""
    return any(c.isdigit() for c in completion) or bool(money.prices(completion))


def effect_of(game: Game, reply: Reply, translate: Translate) -> str:
    """How the move in `reply` differs from the model's last move, in words."""
    turn = game.play.turns[game.model_moves[-1].turn]
    counterfactual = counterfactual_action(game, reply).action
    if counterfactual is None:
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
