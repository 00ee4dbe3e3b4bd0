"""The routes that there are: of Gradio's app what the page uses, those of OpenEnv, and of MCP.

All others, such as uploads, do not exist here.
"""

import re
from dataclasses import dataclass
from enum import Enum, auto
from urllib.parse import parse_qs


class Kind(Enum):
    """What a request at a route costs, and so how it is guarded."""

    READ = auto()  # files and descriptions of the page
    HEARTBEAT = auto()  # stays open as long as a tab does
    MESSAGES = auto()  # stays open while events of a session are in the queue
    RUN = auto()  # runs an event outside the queue
    JOIN = auto()  # puts an event into the queue
    CONTROL = auto()  # cancels an event
    OPENENV = auto()  # is answered by the OpenEnv environment
    MCP = auto()  # is answered by the tools for agents


@dataclass(frozen=True)
class Route:
    """Where a request goes; `name` is that of the event or of the session in its address."""

    kind: Kind
    name: str = ""


API = "/gradio_api"
TOOLS = f"{API}/mcp/schema"  # the list of the tools for agents
# Of files those by their path, since Gradio would fetch `file=http://…` itself; of its own parts
# those whose names a file system takes.
READS = (
    rf"/|/config/?|/theme\.css|/favicon\.ico|/manifest\.json|/robots\.txt|/pwa_icon(/\d+)?|/health"
    rf"|/(static|assets|svelte)/[!-~]{{1,200}}|{API}/(file=/.*|info/?|openapi\.json|theme\.css|app_id/?"
    rf"|startup-events|queue/status|mcp/schema)|{API}/(user|token|login_check)/?|/login_check/?"
)
ROUTES = {
    "GET": [
        (re.compile(READS, re.DOTALL), Kind.READ),
        (re.compile(rf"{API}/heartbeat/(?P<name>[\w.-]{{1,64}})", re.ASCII), Kind.HEARTBEAT),
        (re.compile(rf"{API}/call/\w{{1,64}}/(?P<name>\w{{1,64}})", re.ASCII), Kind.MESSAGES),
        (re.compile(rf"{API}/queue/data"), Kind.MESSAGES),
    ],
    "POST": [
        (re.compile(rf"{API}/(run|api)/(?P<name>\w{{1,64}})/?", re.ASCII), Kind.RUN),
        (re.compile(rf"{API}/queue/join/?"), Kind.JOIN),
        (re.compile(rf"{API}/call/(v2/)?(?P<name>\w{{1,64}})/?", re.ASCII), Kind.JOIN),
        (re.compile(rf"{API}/(cancel|reset)/?"), Kind.CONTROL),
    ],
}
OPENENV = {
    "GET": r"/(openapi\.json|docs|metadata|schema|state|score|tasks|list_environments)"
    r"|/sauda/splits|/leaderboard(/games|/people)?",
    "POST": r"/(reset|step|mcp|leaderboard/enter|sauda/(tasks|num_tasks|task|task_range))",
}
for method, paths in OPENENV.items():
    ROUTES[method].append((re.compile(paths), Kind.OPENENV))
MCP = re.compile(rf"{API}/mcp/?")  # where Gradio's own server would be, which agents expect
for method in ("GET", "POST", "DELETE"):
    ROUTES.setdefault(method, []).append((MCP, Kind.MCP))
SOCKET = "/ws"  # of the OpenEnv environment; the page has no other
ROUTES["HEAD"] = ROUTES["GET"][:1]


def route_of(method: str, path: str, query: bytes = b"") -> Route | None:
    """The route of a request; None where the page has none."""
    for pattern, kind in ROUTES.get(method, ()):
        match = pattern.fullmatch(path)
        if match:
            name = match.groupdict().get("name") or ""
            if kind is Kind.MESSAGES and not name:
                name = parse_qs(query.decode("latin-1")).get("session_hash", [""])[0]
            return Route(kind, name)
    return None
