"""The language models that the page serves from the start, and whether they reply."""

from collections.abc import Mapping
from functools import cache

from markupsafe import Markup

from panels.haggle.words import Translate
from sauda.llm.backends import THIS_PAGE, find_backends
from sauda.llm.server import Failed, ModelWorker, Ready

READY_SOON = 0.5  # seconds that a new game waits for a model that has nearly loaded
STAND_IN = "tit_for_tat"  # the scripted buyer that plays until the model has loaded


@cache
def models() -> dict[str, dict[str, ModelWorker]]:
    """The language models that the page serves by seat and backend; all visitors share them."""
    return find_backends()


def load_in_background() -> None:
    """Start to load the page's own buyer, so that the first visitor finds it ready."""
    models()["buyer"][THIS_PAGE].start()


def health_list(workers: Mapping[str, ModelWorker], translate: Translate) -> Markup:
    """One line a backend: whether it replies."""
    lines = [
        Markup("<li><b>{}</b>: {}</li>").format(name, health_of(model, translate))
        for name, model in workers.items()
    ]
    return Markup("<ul>{}</ul>").format(Markup("").join(lines))


def health_of(model: ModelWorker, translate: Translate) -> str:
    stage = model.stage
    if isinstance(stage, Ready):
        return f"{stage.source}, {translate('ready', seconds=f'{stage.seconds:.1f}')}"
    return stage.reason if isinstance(stage, Failed) else "…"
