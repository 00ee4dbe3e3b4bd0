"""Security headers of every answer, as strict as a page in a frame of huggingface.co can have."""

from collections.abc import Awaitable, Callable
from typing import Any

Send = Callable[[dict[str, Any]], Awaitable[None]]

FRAMES = "'self' https://huggingface.co https://*.huggingface.co https://*.hf.space"
HEADERS = {
    # Gradio's scripts and styles stand in the page itself, so no rule for scripts is possible.
    "content-security-policy": f"frame-ancestors {FRAMES}; object-src 'none'; base-uri 'self'",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=()",
    "referrer-policy": "strict-origin-when-cross-origin",
    "x-content-type-options": "nosniff",
}
RAW = [(name.encode(), value.encode()) for name, value in HEADERS.items()]


def with_headers(send: Send) -> Send:
    """`send`, which adds HEADERS to the start of an answer."""

    async def added(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            own = [pair for pair in message.get("headers", ()) if pair[0].decode() not in HEADERS]
            message = message | {"headers": [*own, *RAW]}
        await send(message)

    return added
