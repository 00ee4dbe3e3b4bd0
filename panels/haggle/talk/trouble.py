"""The visitor's mistakes and the model's failures that the page tells in red."""

from env import IllegalAction
from panels.haggle.words import ENGLISH, translator
from sauda.llm.types import ReplyError, ReplyRefused, ReplyTimeout
from sauda.sessions.daily import BadLink


class Trouble(IllegalAction):
    """A mistake by the key of its sentence in the page's words; as a text, in English."""

    def __init__(self, key: str, **values: str) -> None:
        super().__init__(translator(ENGLISH)(key, **values))
        self.key, self.values = key, values


def translated(error: Exception, language: str) -> Exception:
    """The error with a sentence in the visitor's language.

    English keeps the error's own sentence, which may say more.
    """
    if language == ENGLISH:
        return error
    key, values = (error.key, error.values) if isinstance(error, Trouble) else (_key(error), {})
    return IllegalAction(translator(language)(key, **values))


def _key(error: Exception) -> str:
    """The key of the sentence for an error that has none of its own."""
    if isinstance(error, ReplyRefused):
        return "reply_refused"
    if isinstance(error, ReplyTimeout):
        return "reply_late"
    if isinstance(error, BadLink):
        return "daily_bad_link"
    return "reply_failed" if isinstance(error, ReplyError) else "not_possible"
