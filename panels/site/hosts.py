"""Under which names the page is reached; all that asks whether a host is the page's own asks here.

A page of another site can let its own name lead to this machine, and its scripts then count as the
page's own in the browser. So a name has to be known. An address of the network is no name and leads
nowhere else, so it always may stand in `Host`.
"""

import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from sauda.serve.limits import Refused

VARIABLE = "SAUDA_HOSTS"  # more names, with commas between them; ".example.com" is all below it
LOOPBACK = ("localhost", ".localhost")
OF_SPACES = ".hf.space"
HOST = re.compile(
    r"(?P<name>[\w.\-]{1,253}|\[[\da-f:.]{2,45}\])(:\d{1,5})?", re.ASCII | re.IGNORECASE
)
SCHEMES = ("http", "https")  # a proxy may take the latter and pass on the former


@dataclass(frozen=True)
class Hosts:
    """The names of a page."""

    names: tuple[str, ...]  # one that begins with a dot stands for all names that end like it
    behind_proxy: bool = False  # that may say under which name the page is reached
    on_space: bool = False  # whose proxy is the only way in, and may call the page what it likes

    def are_own(self, name: str) -> bool:
        """Whether this name, or this address of the network, is the page's."""
        name = name.lower().rstrip(".")
        try:
            ip_address(name.strip("[]"))
            return True
        except ValueError:
            return any(
                name.endswith(own) if own.startswith(".") else name == own for own in self.names
            )

    def check(self, headers: Headers) -> None:
        """Raise Refused where a request came under a name that is not the page's."""
        own, foreign = self._claimed(headers)
        if foreign and not (self.on_space and own):
            raise Refused(
                421,
                f"This page is not known as {foreign[0]}; whoever runs it can add a name to"
                f" {VARIABLE}.",
            )

    def check_origin(self, headers: Headers) -> None:
        """Raise Refused where a browser sends a request for the page of another site."""
        origin, (own, _) = headers.get("origin"), self._claimed(headers)
        if origin is not None and origin not in {f"{s}://{host}" for s in SCHEMES for host in own}:
            raise Refused(403, "The environment takes no calls from the pages of other sites.")

    def _claimed(self, headers: Headers) -> tuple[list[str], list[str]]:
        """The hosts under which a request says that it reached the page: own and foreign ones."""
        forwarded = headers.get("x-forwarded-host", "") if self.behind_proxy else ""
        # Of several proxies the first counts, and one may add a path.
        first = re.split("[,/]", forwarded, maxsplit=1)[0].strip()
        own, foreign = [], []
        for host in filter(None, (headers.get("host"), first)):
            match = HOST.fullmatch(host)
            if not match:
                raise Refused(400, "The Host header names no host.")
            (own if self.are_own(match["name"]) else foreign).append(host)
        return own, foreign


def own_hosts(environment: Mapping[str, str], host: str, behind_proxy: bool) -> Hosts:
    """The names of a page that listens on `host`: of this machine, of its Space, and those set."""
    machine, on_space = socket.gethostname(), "SPACE_ID" in environment
    names = [host, *LOOPBACK, machine, f"{machine}.local"]
    if on_space:
        names += [OF_SPACES, environment.get("SPACE_HOST", "")]
    names += environment.get(VARIABLE, "").split(",")
    # A port or a scheme that somebody wrote as well says nothing of the name.
    bare = [
        urlsplit(f"//{name.strip().lstrip('*').rpartition('//')[2]}").hostname for name in names
    ]
    return Hosts(tuple(filter(None, bare)), behind_proxy, on_space)
