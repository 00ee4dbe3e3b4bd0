"""The Haggle tab without a browser: a canned language model and its screen."""

import gradio as gr

from panels.haggle.screen import Layout, Screen
from panels.haggle.words import ENGLISH, translator
from sauda.llm.backends import THIS_PAGE
from sauda.llm.server import Ready
from sauda.llm.types import Reply


class Model:
    """A language model that writes `texts`, one reply each; an error among them is raised."""

    name = THIS_PAGE

    def __init__(self, *texts, stage=None):
        self.texts, self.stage = list(texts), stage or Ready(THIS_PAGE, "canned", 1.0)

    def wait(self, seconds):
        return self.stage

    def for_visitor(self, visitor, guesses=False):
        return self

    def _next_text(self):
        text = self.texts.pop(0)
        if isinstance(text, Exception):
            raise text
        return text

    def __call__(self, messages, seed, schema=None):
        return Reply(self._next_text(), "canned", 9, "stop")

    async def stream_async(self, messages, seed, schema=None):
        text = self._next_text()
        yield Reply(text[:5], "canned", 1)
        yield Reply(text, "canned", 9, "stop")


def screen_of(model: Model) -> Screen:
    """The tab's screen, where `model` plays every stage and every seat."""
    with gr.Blocks():
        page = Layout(translator(ENGLISH), {THIS_PAGE: model})
    served = {"buyer": {THIS_PAGE: model}, "seller": {THIS_PAGE: model}}
    return Screen(page, served, by_name=lambda name: model)
