"""`sauda-env enter`: a language model plays an entry of a leaderboard, called from this machine.

    OPENAI_API_KEY=… sauda-env enter --url PAGE --base-url PROVIDER/v1 --model MODEL --name NAME

The page sends the prompt of each move and reads the reply, so there is no prompt here. The key
comes from the environment and goes to the provider alone. What stopped goes on by `--token`.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

WAITS = (2, 8, 30)  # seconds before a call is made again that was refused for now
SECONDS = 120.0  # for an answer
PER_TOKEN = 4  # characters, about, in Latin letters
LONGEST_REPLY = 10_000  # characters that the page takes
MEANT = {  # by the status of a refusal
    401: "does not take the key",
    402: "asks for a payment",
    404: "has no such address or model",
    429: "has had too many calls for now",
}


class Stopped(Exception):
    """Why the entry does not go on now; the text is a sentence."""


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """No other address is asked than the one that a key is meant for."""


def call(who: str, url: str, body: Mapping[str, Any] | None = None, key: str = "") -> Any:
    """The JSON object that `who` at `url` answers to a POST of `body`, or without one to a GET.

    Asks again after WAITS where it is refused for now. Raises Stopped.
    """
    headers = {"Content-Type": "application/json", "User-Agent": "sauda-env"}
    headers |= {"Authorization": f"Bearer {key}"} if key else {}
    request = Request(url, None if body is None else json.dumps(body).encode(), headers)
    for wait in (*WAITS, 0):
        for_now = False
        try:
            with build_opener(_NoRedirect).open(request, timeout=SECONDS) as answer:
                if isinstance(answered := json.load(answer), dict):
                    return answered
            why = f"{who} answers no JSON object"
        except HTTPError as error:
            for_now = error.code == 429 or error.code >= 500
            meant = MEANT.get(error.code, "fails" if for_now else "refuses the call")
            fault = reason(error.read().decode(errors="replace"))
            fault = fault.replace(key, "…") if key else fault  # some quote it
            why = f"{who} {meant} (status {error.code}): {fault[:300]}"
        except (OSError, HTTPException) as error:  # the latter where a connection is cut
            for_now, why = True, f"{who} does not answer ({error})"
        except ValueError:
            why = f"{who} answers no JSON object"
        if not (for_now and wait):
            break
        print(f"{why}; again in {wait} s", file=sys.stderr)
        time.sleep(wait)
    raise Stopped(why)


def reason(text: str) -> str:
    """The sentence in the body of a refusal, as the page and most providers write it, or all."""
    try:
        fault = json.loads(text)
        return str(fault.get("detail") or fault["error"]["message"])
    except (ValueError, LookupError, TypeError, AttributeError):
        return " ".join(text.split())


def complete(spec: argparse.Namespace, messages: Sequence[Any], key: str) -> tuple[str, int, int]:
    """The model's reply to a prompt, and the tokens that it read and wrote; raises Stopped.

    An answer without words is no move, so it is asked for again.
    """
    body, read, written = spec.body | {"model": spec.model, "messages": messages}, 0, 0
    for _ in range(3):
        completion = call("the provider", f"{spec.base_url}/chat/completions", body, key)
        try:
            choice, usage = completion["choices"][0], completion.get("usage") or {}
            text, refusal = choice["message"].get("content"), choice["message"].get("refusal")
            read += usage.get("prompt_tokens", 0)
            written += usage.get("completion_tokens", 0)
        except (LookupError, TypeError, AttributeError):
            raise Stopped("the provider’s answer holds no message of a model") from None
        if text:
            return text, read, written
    why = refusal or f"it ended by {choice.get('finish_reason')}"
    raise Stopped(f"the model answered three times without words ({why})")


def cost(spec: argparse.Namespace, read: float, written: float) -> str:
    """Tokens in words, and their money where the prices are given."""
    tokens = f"{read:,.0f} tokens read, {written:,.0f} written"
    if spec.price is None:
        return tokens
    return f"{tokens}, {(read * spec.price[0] + written * spec.price[1]) / 1e6:.2f} in money"


def play(spec: argparse.Namespace, token: str, key: str) -> Mapping[str, Any]:
    """Play all games that the entry of `token` still has; its row. Raises Stopped."""
    page, read, written, sent = f"{spec.url}/leaderboard", 0, 0, {}
    while True:
        turn = call("the page", f"{page}/turn", {"token": token, **sent})
        if turn["error"]:
            print(f"  no move: {turn['error']}")
        if turn["end"]:
            over = turn["game"] - bool(turn["messages"])
            result = f"game {over} of {turn['games']}: {turn['end']}, grade {turn['grade']:.3f}"
            print(f"{result}; {cost(spec, read, written)}", flush=True)
        if not turn["messages"]:
            break
        reply, *tokens = complete(spec, turn["messages"], key)
        read, written = read + tokens[0], written + tokens[1]
        sent = {"game": turn["game"], "step": turn["step"], "reply": reply[:LONGEST_REPLY]}
    rows = call("the page", f"{page}?{urlencode({'task': turn['task']})}")["entries"]
    return next((row for row in rows if row["entry"] == turn["entry"]), turn)


def enter(spec: argparse.Namespace, key: str) -> None:
    """Say what an entry costs, begin it or go on with it, and print its row. Raises Stopped."""
    page, token = f"{spec.url}/leaderboard", spec.token
    if not token:
        typical = call("the page", f"{page}/typical?{urlencode({'task': spec.task})}")
        about = cost(spec, typical["read"] / PER_TOKEN, typical["written"] / PER_TOKEN)
        print(
            f"About {typical['calls']} calls, {about}, by {typical['sample']} games of a script and"
            f" {PER_TOKEN} characters per token. A model that thinks before it answers writes more."
        )
        if not spec.yes and input("Begin? (yes or no) ").strip().lower() not in ("y", "yes"):
            return
        entry = call("the page", f"{page}/enter", {"name": spec.name, "task": spec.task})
        token = entry["token"]
    # joined by "=", since a token may begin with a dash
    print(f"To go on after a break, give the same command with --token={token}", flush=True)
    print(json.dumps(play(spec, token, key), ensure_ascii=False))


def options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line; exits with a sentence where it cannot be right."""
    parser = argparse.ArgumentParser("sauda-env", description="Enter a model on a leaderboard.")
    commands = parser.add_subparsers(required=True, metavar="enter")
    add = commands.add_parser("enter", description=__doc__.split("\n")[0]).add_argument
    add("--url", required=True, type=address, help="of the page with the leaderboard")
    add("--base-url", required=True, type=address, help="of the model, such as http://…:8000/v1")
    add("--model", required=True, help="its name there")
    add("--name", help="of the new entry")
    add("--task", default="bazaar/people", help="of the leaderboard; bazaar/people by default")
    add("--token", help="of an entry that was begun: goes on with it")
    add("--key", default="OPENAI_API_KEY", help="variable of the environment that holds the key")
    add("--price", nargs=2, type=float, metavar=("READ", "WRITTEN"), help="of a million tokens")
    add("--body", type=json.loads, default={}, help="more of each request, as a JSON object")
    add("--yes", action="store_true", help="begin without a question")
    spec = parser.parse_args(arguments)
    if not (spec.name or spec.token):
        parser.error("a new entry needs --name, one that was begun --token")
    if not isinstance(spec.body, dict):
        parser.error("--body is a JSON object")
    return spec


def address(text: str) -> str:
    """An address of the web without a slash at its end; ValueError for any other text."""
    try:
        parts = urlsplit(text)
        right = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 1)
    except ValueError:  # a port that is no number
        right = False
    if not right or " " in text:
        raise argparse.ArgumentTypeError(f"{text!r} is no address that begins with https://")
    return text.rstrip("/")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `sauda-env`; the exit code, 1 where the entry did not come to its end."""
    spec = options(arguments)
    try:
        enter(spec, os.environ.get(spec.key, "").strip())
    except KeyError as missing:  # another page answers there
        print(f"Stopped: {spec.url} answers as no leaderboard ({missing}).", file=sys.stderr)
        return 1
    except (Stopped, KeyboardInterrupt, EOFError) as stopped:
        print(f"Stopped: {stopped or 'by you'}. Nothing is lost.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
