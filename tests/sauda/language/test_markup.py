"""Words of visitors and of models are HTML nowhere: the chat gets them escaped, like all parts."""

import gradio as gr

from env import Offer
from panels.haggle import choices, game_view, model_callbacks, words
from panels.haggle.conversation import chat_of
from panels.haggle.layout import ReplyRequest, SessionGeneration, lay_out
from panels.haggle.screen import Screen, Visit
from panels.ui import look
from sauda.fairness import PAGE
from sauda.llm.backends import THIS_PAGE, serve_in_threads
from sauda.llm.server import Ready
from sauda.llm.types import Reply
from sauda.sessions.bazaar import after_reply, answer, start
from tests.support.coroutines import run

IMAGE = '<img src=x onerror="alert()"> &lt;b&gt;'
SAY = words.translator(words.ENGLISH)


def sold_to(model: str, message: str, completion: str):
    """A game whose visitor opened with `message`, and the language model's answer to it."""
    game = answer(start(choices.SELLING_TASK, model, 3), Offer(900, message))
    return after_reply(game, Reply(completion, "m"))


def test_the_words_of_both_sides_enter_the_chat_escaped():
    game = sold_to("mini", f"900 {IMAGE}", '{"offer": 50, "say": "<h1>fine</h1>"}')
    visitor, model = (m["content"] for m in game_view.bubbles(chat_of(game).messages))
    assert visitor == f"<b>₹900</b> 900 {look.as_typed(IMAGE)}"
    assert "&lt;h1&gt;fine&lt;/h1&gt;" in model


class Scribe:
    """A language model that writes markup, a piece at a time."""

    source = "scribe"
    pieces = ('<img src=x onerror="alert()">', '<img src=x onerror="alert()"> <h1>loud</h1>')

    def stream(self, messages, seed, schema=None):
        for text in self.pieces:
            yield Reply(text, "scribe", finish="")
        yield Reply(text, "scribe", finish="stop")


def test_a_reply_that_still_grows_enters_the_chat_escaped():
    scribes = {THIS_PAGE: serve_in_threads(THIS_PAGE, Scribe)}
    assert isinstance(scribes[THIS_PAGE].wait(5), Ready)
    with gr.Blocks():
        page = lay_out(SAY, scribes)
    screen = Screen(page, {"buyer": scribes, "seller": scribes})
    game, asked = start("bazaar/open", "mini:fair", 3), ReplyRequest()
    visit = Visit(game, None, "", THIS_PAGE, words.ENGLISH, reply_request=asked)
    reply = model_callbacks.stream_reply(screen, PAGE, SessionGeneration(), visit)

    async def all_updates():
        return [update async for update in reply]

    updates = run(all_updates())
    chats = [update[page.chat] for update in updates if isinstance(update.get(page.chat), list)]
    texts = [message["content"] for chat in chats for message in chat]
    assert "&lt;h1&gt;loud&lt;/h1&gt;" in " ".join(texts)
    assert all("<" not in text for text in texts)
