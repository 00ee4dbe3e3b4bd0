"""The network address of whoever calls, by which limits count."""

from collections.abc import Mapping
from functools import lru_cache
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Any

NO_ADDRESS = "unknown"  # a test client, or a socket that is no network socket
HOME = 64  # bits of an IPv6 address; the others are whatever a caller chooses


def address_of(scope: Mapping[str, Any]) -> str:
    """The caller's address in an ASGI scope; the web server has looked behind trusted proxies.

    Of IPv6 it is the network of 64 bits, all of which one caller has.
    """
    client = scope.get("client")
    return counted(client[0]) if client else NO_ADDRESS


@lru_cache(maxsize=1024)
def counted(host: str) -> str:
    """What limits count for an address: an IPv4 address, an IPv6 network, or any other text."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if not isinstance(address, IPv6Address) or address.is_loopback:
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(IPv6Network((int(address), HOME), strict=False))
