"""Helpers that connect callbacks to Gradio events, and what a tab shows to the page's address."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, urlencode

import gradio as gr
from markupsafe import Markup

from panels.ui.look import PARTS, QUIET
from panels.ui.visitor import CALLER, as_visitor, visitor_of

Updates = dict[Any, Any]  # new values, or components with new properties, by component
region = PARTS.region  # parts.html


def bound(callback: Callable, *values: Any) -> Callable:
    """`callback` with its first arguments fixed and its name kept, by which Gradio lists events."""
    return named(partial(callback, *values), callback)


def queue(callback: Callable, *values: Any) -> Callable:
    """`bound` for an event of the queue in which `visitor_of_event` is asked."""
    return as_visitor(partial(callback, *values))


def named(function: Callable, origin: Callable) -> Callable:
    """`function` under the name and the module of `origin`."""
    function.__name__, function.__module__ = origin.__name__, origin.__module__
    return function


def with_closed(lists: Sequence[gr.Dropdown], triggers: Sequence[Any], *event: Any, **how: Any):
    """An event that changes the choices of `lists`, which do not open until it is over.

    Gradio's browser side fails where the choices of an open list become fewer, and draws nothing
    that comes after. The list that was just used keeps the focus of the keyboard.
    """
    places = json.dumps(",".join(f"#{picker.elem_id}" for picker in lists))
    changed = gr.on(triggers, None, js=f"() => shutLists({places})").then(*event, **how)
    changed.then(None, js=f"() => openLists({places})")  # both in keyboard.js
    return changed


# Filling a part as it is opened -------------------------------------------------------------------

# What an event sends that fills a part as its tab is opened for the first time: the address then,
# and nothing later, when the part's first component is no longer empty.
OPENED = "(shown, ...more) => [shown ? null : location.search || '?', ...more]"


def fill_on_opening(
    part: gr.Tab | gr.Accordion,
    fill: Callable[..., Updates],
    outputs: Sequence[gr.HTML | Any],
    how: Mapping[str, Any] = QUIET,
    more: Sequence[Any] = (),
) -> None:
    """Let `fill` set `outputs` when `part` is first opened, so that the page itself stays small.

    `fill` gets the page's query string and the values of `more`. The first output is HTML, empty
    until `fill` has set it.
    """

    def opened(search: str | None, request: gr.Request, *given: Any) -> Updates:
        CALLER.set(visitor_of(request))
        return fill(search, *given) if search else {outputs[0]: gr.skip()}

    opens = part.select if isinstance(part, gr.Tab) else part.expand
    opens(named(opened, fill), [outputs[0], *more], outputs, js=OPENED, **how)


# Addresses ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Address:
    """What a tab or sub-tab adds to the page's address, which `addresses.js` writes and follows."""

    tab: str
    part: str  # the sub-tab's id
    names: Sequence[str]  # of the values that it adds
    # Holds them, as `in_address` writes them; pressed where Back or Forward lead to other values.
    shown: gr.HTML
    opens: gr.Tab  # the sub-tab, whose parts are filled as it is opened


def lay_out_address(tab: str, part: str, names: Sequence[str], opens: gr.Tab) -> Address:
    """Place the hidden component of an address. Called inside the sub-tab."""
    shown = gr.HTML(elem_classes=["sauda-address", "sauda-opens"])
    return Address(tab, part, names, shown, opens)


def in_address(values: Mapping[str, Any]) -> Markup:
    """The values as `addresses.js` reads them; none where a tab shows what it opens with."""
    return Markup('<span data-query="{}"></span>').format(urlencode(values, safe=",/"))


def read_query(search: object) -> dict[str, str]:
    """The values of a query string such as "?tab=judge&round=3"; any client can send anything."""
    return dict(parse_qsl(search.removeprefix("?"))) if isinstance(search, str) else {}


def on_address(
    address: Address,
    show: Callable[[Mapping[str, str]], Updates],
    outputs: Sequence[Any],
    how: Mapping[str, Any] = QUIET,
) -> None:
    """Let `show` answer the values of the address, as its tab is opened or Back leads there.

    Without values it shows what the tab opens with. The first output is HTML, empty until the tab
    is opened. `how` goes to both events.
    """
    outputs = list(dict.fromkeys([*outputs, address.shown]))

    def filled(search: str) -> Updates:
        query = read_query(search)
        here = (query.get("tab"), query.get("part", address.part)) == (address.tab, address.part)
        return show({name: query[name] for name in address.names if here and name in query})

    def followed(search: str, request: gr.Request) -> Updates:
        CALLER.set(visitor_of(request))
        query = read_query(search)
        return show({name: query[name] for name in address.names if name in query})

    fill_on_opening(address.opens, named(filled, show), outputs, how)
    address.shown.click(
        named(followed, show), address.shown, outputs, js="() => [location.search]", **how
    )


def pick_in_address(
    address: Address,
    name: str,
    picker: gr.Dropdown,
    choices: Sequence[str],
    draw: Callable[[str], Updates],
    outputs: Sequence[Any],
) -> None:
    """Let `draw` show what is picked, and the address hold it as `name`.

    The first of `choices` is what the tab opens with.
    """

    def redraw(picked: str) -> Updates:
        values = {} if picked == choices[0] else {name: picked}
        return draw(picked) | {address.shown: in_address(values)}

    def follow(query: Mapping[str, str]) -> Updates:
        picked = query[name] if query.get(name) in choices else choices[0]
        return redraw(picked) | {picker: picked}

    picker.change(named(redraw, draw), picker, [*outputs, address.shown], **QUIET)
    on_address(address, named(follow, draw), [*outputs, picker])
