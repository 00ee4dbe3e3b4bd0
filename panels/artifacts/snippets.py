"""How a program comes in: snippets of the API and of MCP, with the address of the page around them.

The browser fills in the address, so that each runs as printed.
"""

import json
from dataclasses import dataclass

import gradio as gr

from panels.ui.look import heading

ADDRESS = "{address}"  # stands in the snippets for the page's own, which ends in a slash
LOCAL = "http://127.0.0.1:7860/"  # before the browser has filled its own in

CLIENT = """\
from gradio_client import Client

client = Client("{address}")
print(client.predict("classic/single_deal", "expert", "7", api_name="/play"))"""

CURL = """\
id=$(curl -s "{address}gradio_api/call/v2/play" -H "Content-Type: application/json" \\
  -d '{"task_name": "classic/single_deal", "policy_name": "expert", "seed": "7"}' | cut -d'"' -f4)
curl -sN "{address}gradio_api/call/play/$id\""""

JAVASCRIPT = """\
const calls = "{address}gradio_api/call";
const begun = await fetch(`${calls}/v2/play`, {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ task_name: "classic/single_deal", policy_name: "expert", seed: "7" }),
});
const { event_id } = await begun.json();
const events = await (await fetch(`${calls}/play/${event_id}`)).text();
const [game] = JSON.parse(events.split("data: ").at(-1));
console.log(game);"""

MCP = """\
{
  "mcpServers": {
    "sauda": { "type": "http", "url": "{address}gradio_api/mcp" }
  }
}"""

AGENT = """\
import asyncio
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

async def haggle():
    async with (
        streamable_http_client("{address}gradio_api/mcp") as (read, write, *_),
        ClientSession(read, write) as session,
    ):
        async def call(tool, **arguments):
            answer = await session.call_tool(tool, arguments)
            return answer.model_dump(by_alias=True)["structuredContent"]

        await session.initialize()
        game = await call("new_game", task="bazaar/open")
        while not game["over"]:
            table, here = game["bazaar"], {"game_id": game["game_id"]}
            limit = table["own"]["reservation"]
            if table["asks"][-1] <= limit:
                game = await call("accept", **here)
            elif table["round"] + 1 < table["rounds"]:
                game = await call("offer", price=int(0.7 * limit), **here)
            else:
                game = await call("walk_away", **here)
        print(await call("review_game", game_id=game["game_id"]))

asyncio.run(haggle())"""


@dataclass(frozen=True)
class Snippet:
    """A program to copy: its heading, the id of its component, its language and text."""

    title: str
    elem_id: str
    language: str
    text: str


SNIPPETS = {  # by the name of the sub-tab
    "API": (
        Snippet("Python", "api-client", "python", CLIENT),
        Snippet("curl", "api-curl", "shell", CURL),
        Snippet("JavaScript", "api-javascript", "javascript", JAVASCRIPT),
    ),
    "MCP": (
        Snippet("Configuration of a client", "api-mcp", "json", MCP),
        Snippet("A client that haggles once", "api-agent", "python", AGENT),
    ),
}
TEXTS = [snippet.text for group in SNIPPETS.values() for snippet in group]
# The snippets with the address of the page that shows them.
HERE = f"""() => {json.dumps(TEXTS)}.map(text => text.replaceAll(
  "{ADDRESS}", new URL(".", window.location.href).href
))"""


def build() -> None:
    """Lay out a sub-tab a group of snippets. Called inside `gr.Tabs`."""
    codes = []
    for name, group in SNIPPETS.items():
        with gr.Tab(name, id=name.lower()):
            for snippet in group:
                gr.HTML(heading(snippet.title))
                codes.append(
                    gr.Code(
                        snippet.text.replace(ADDRESS, LOCAL),
                        language=snippet.language,
                        interactive=False,
                        show_label=False,
                        show_line_numbers=False,
                        elem_id=snippet.elem_id,
                    )
                )
    gr.on(None, None, None, codes, js=HERE)
