"""The network address of whoever calls, by which limits count."""

from collections.abc import Mapping
from typing import Any

NO_ADDRESS = "unknown"  # a test client, or a socket that is no network socket


def address_of(scope: Mapping[str, Any]) -> str:
    """The caller's address in an ASGI scope; the web server has looked behind trusted proxies."""
    client = scope.get("client")
    return client[0] if client else NO_ADDRESS
