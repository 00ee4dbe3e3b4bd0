"""Who makes a request: the browser tab and the network address, for limits and fair queues.

uvicorn reads FORWARDED_ALLOW_IPS: the addresses of trusted proxies, with commas between them. From
such an address it takes the visitor from `X-Forwarded-For`: the last hop that is no trusted proxy.
"""

import os
from collections.abc import Mapping

import gradio as gr

from sauda.fairness import Visitor
from sauda.serve.limits import NO_ADDRESS, normalize_address

NO_SESSION = ""  # a caller of the API need not name a session
VARIABLE = "FORWARDED_ALLOW_IPS"
# The proxy of a Space reaches its container from an internal address.
INTERNAL = "127.0.0.1,::1,10.0.0.0/8,100.64.0.0/10,172.16.0.0/12,192.168.0.0/16,fc00::/7"


def visitor_of(request: gr.Request) -> Visitor:
    """The caller behind `request`.

    The session is the caller's own claim, so a limit that must hold counts addresses. uvicorn has
    already put the address of a trusted proxy's client in `request.client`.
    """
    client = request.client
    address = normalize_address(client.host) if client else NO_ADDRESS
    return Visitor(request.session_hash or NO_SESSION, address)


def trusted_proxies(environment: Mapping[str, str]) -> str:
    """What FORWARDED_ALLOW_IPS should be: as set, the internal addresses on a Space, else none."""
    return environment.get(VARIABLE, INTERNAL if "SPACE_ID" in environment else "").strip()


def trust_proxies() -> bool:
    """Tell uvicorn, before it starts, which proxies to trust; whether there are any.

    Without this, uvicorn lets any caller from the same machine choose its address.
    """
    os.environ[VARIABLE] = trusted_proxies(os.environ)
    return bool(os.environ[VARIABLE])
