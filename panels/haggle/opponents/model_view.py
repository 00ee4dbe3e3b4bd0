"""What the Haggle tab shows of the language model's replies, and of the effect of words."""

from markupsafe import Markup

from env import rupees
from panels.haggle.review.result_view import ending_of
from panels.haggle.words import Translate
from panels.ui.look import note
from sauda.language import money
from sauda.sessions.bazaar import Game, moves_of, without_words
from sauda.sessions.review import is_planned


def raw(game: Game, translate: Translate) -> Markup:
    """The language model's last completion, unedited, and the changes made to its move.

    While the game runs, a completion that names a number is hidden: it may tell the limit.
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


def has_effect(game: Game) -> bool:
    """Whether it can be told what the visitor's words changed: some were said where words count."""
    own = [game.play.turns[number].action for number in moves_of(game)]
    return game.over and is_planned(game) and any(action.message for action in own)


def effect_of(game: Game, translate: Translate) -> str:
    """How the finished game ends without the visitor's words, in a sentence."""
    silent = without_words(game)
    if silent.play.state.table.past == game.play.state.table.past:
        return translate("effect_same")
    if silent.over:
        return translate("effect_end", how=ending_of(silent, translate))
    return translate("effect_open", price=rupees(silent.observation.ask))
