"""Assembles the tabs and opens the page."""

import gc
import os
import sys

from sauda.serve.listening import check_free, host_and_port

if __name__ == "__main__":  # whoever starts the page twice is told before the slow imports
    try:
        check_free(*host_and_port(os.environ))
    except ValueError as error:
        sys.exit(str(error))

import gradio as gr

from panels import PANELS
from panels.haggle.challenges.people import play_pairs_in_background
from panels.haggle.opponents import load_in_background
from panels.site import card
from panels.site.cache import OWN, PageCache
from panels.site.health import trouble_with_temporary_files
from panels.site.serving import log_once_per_minute, serve, stay_until_stopped
from panels.tour.tab import first_view
from panels.ui.html import macros
from panels.ui.look import QUIET, trouble

PARTS = macros("page")


def build_app() -> gr.Blocks:
    """The whole page, not yet launched."""
    # Gradio sums up the durations of all events after each one, for a dashboard that is off.
    os.environ.setdefault("GRADIO_ANALYTICS_CACHE_FREQUENCY", "1000000")
    seconds = 600, 3600
    with gr.Blocks(title="Sauda", analytics_enabled=False, delete_cache=seconds) as app:
        gr.HTML(PARTS.skip_link() + PARTS.header())
        unknown = gr.HTML(visible=False)
        with gr.Tabs(elem_classes="sauda-tabs", overflow_behavior="wrap") as tabs:
            for panel in PANELS:
                with gr.Tab(panel.TITLE, id=tab_id(panel)):
                    panel.build()
        app.load(opened, None, [tabs, unknown], **QUIET)
        tabs.select(None, None, unknown, js="() => ''")  # what was wrong with the link is read
    return app


def opened(request: gr.Request) -> tuple:
    """The tab that the address names as `?tab=training`, or a sentence on which there are.

    Links to a state of the page are query strings that its tabs read. `gr.DeepLinkButton` would
    keep every component of a visitor's session, typed words included, in a file on the server that
    whoever has the link can read, and leave out `gr.State`, which holds the game.
    """
    tab, known = request.query_params.get("tab"), [tab_id(panel) for panel in PANELS]
    if tab is None:
        return gr.skip(), gr.skip()
    if tab in known:
        return gr.Tabs(selected=tab), gr.skip()
    wrong = ValueError(f"the link names no tab of this page; tabs are {', '.join(known)}")
    return gr.skip(), gr.HTML(trouble(wrong), visible=True)


def tab_id(panel) -> str:
    """The name by which `gr.Tabs(selected=…)` knows this panel: "haggle", "gpu_arena"."""
    return panel.__name__.removeprefix("panels.").removesuffix(".tab")


def main() -> int:
    """Open the page at HOST:PORT and stay until interrupted; the exit code."""
    host, port = host_and_port(os.environ)
    if sentence := trouble_with_temporary_files():
        print(sentence, file=sys.stderr)
    try:
        load_in_background()
    except ValueError as error:  # a variable names a model server that cannot be
        print(error, file=sys.stderr)
        return 1
    play_pairs_in_background()
    app = build_app()
    gc.collect()
    gc.freeze()  # the artifacts stay for good; collecting them again would stall replies by 0.1 s
    titles = [panel.TITLE for panel in PANELS]
    page = PageCache(first_view(PARTS.header(), titles), PARTS.link_tags(OWN + card.PATH))
    _, served = serve(app, host, port, page)
    log_once_per_minute()  # after Gradio has made the handlers of its web server
    url = f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{port}"
    print(f"Sauda is at {url}", flush=True)
    stay_until_stopped(app, served)
    return 0


if __name__ == "__main__":
    sys.exit(main())
