"""Where the page listens: as the environment says, and whether that is free."""

import socket
from collections.abc import Mapping


def host_and_port(environment: Mapping[str, str]) -> tuple[str, int]:
    """HOST and PORT; ValueError, a sentence, where PORT is none."""
    host = environment.get("HOST") or ("0.0.0.0" if "SPACE_ID" in environment else "127.0.0.1")
    port = environment.get("PORT") or "7860"
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise ValueError(f"PORT is a number from 1 to 65535, not {port!r}.")
    return host, int(port)


def check_free(host: str, port: int) -> None:
    """Raise ValueError, a sentence, where nobody can listen there now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except (OSError, OverflowError) as error:
        raise ValueError(
            f"Cannot listen on {host}, port {port}: it is busy, or no address of this machine"
            f" ({getattr(error, 'strerror', None) or error}). Set PORT or HOST to another."
        ) from None
