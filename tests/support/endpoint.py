"""HTTP servers on loopback that answer as language models do, faults included."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def openai(text: str) -> dict:
    """The answer of a server with OpenAI's chat protocol."""
    choice = {"index": 0, "finish_reason": "stop",
              "message": {"role": "assistant", "content": text}}  # fmt: skip
    usage = {"prompt_tokens": 9, "completion_tokens": 7, "total_tokens": 16}
    return {"id": "1", "created": 1, "model": "m", "choices": [choice], "usage": usage,
            "object": "chat.completion", "system_fingerprint": ""}  # fmt: skip


@contextmanager
def server(*script: Any) -> Iterator[tuple[str, list]]:
    """A server whose answers follow `script`, its last line for ever; yields (url, requests).

    A request is its path, its body, and its Authorization header.

    Pages of other sites may ask it, as they may some providers.

    A line is a status, a dict to answer with, bytes to send as they are, "hang", "close", or a
    function from a request's body to one of these.
    """
    requests = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            requests.append((self.path, json.loads(body), self.headers["Authorization"]))
            line = script[min(len(requests), len(script)) - 1]
            line = line(requests[-1][1]) if callable(line) else line
            if line == "hang":
                time.sleep(1.5)
            if line in ("hang", "close"):
                self.close_connection = True
                return
            status = line if isinstance(line, int) else 200
            body = line if isinstance(line, bytes) else json.dumps(line).encode()
            self.send_response(status)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_OPTIONS(self):
            self.send_response(204)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.send_header("Access-Control-Allow-Headers", "authorization, content-type")
            self.end_headers()

        def log_message(self, *_):
            pass

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running.daemon_threads = True
    threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{running.server_port}", requests
    finally:
        running.shutdown()
        running.server_close()
