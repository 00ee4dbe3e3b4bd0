"""How a program comes in: snippets of the API and of MCP, with the address of the page around them.

The browser fills in the address, so that each runs as printed.
"""

import json

import gradio as gr

from panels.ui.look import heading, note

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
    "sauda": { "type": "http", "url": "{address}gradio_api/mcp/" }
  }
}"""

AGENT = """\
import asyncio
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

async def haggle():
    async with (
        streamable_http_client("{address}gradio_api/mcp/") as (read, write, _),
        ClientSession(read, write) as session,
    ):
        async def call(tool, **arguments):
            return (await session.call_tool(tool, arguments)).structuredContent

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

# By the name of a sub-tab: the id, language and text of each snippet in it.
SNIPPETS = {
    "Python": (("api-client", "python", CLIENT),),
    "curl": (("api-curl", "shell", CURL),),
    "JavaScript": (("api-javascript", "javascript", JAVASCRIPT),),
    "MCP": (("api-mcp", "json", MCP), ("api-agent", "python", AGENT)),
}
TEXTS = [text for group in SNIPPETS.values() for _, _, text in group]
# The snippets with the address of the page that shows them.
HERE = f"""() => {json.dumps(TEXTS)}.map(text => text.replaceAll(
  "{ADDRESS}", new URL(".", window.location.href).href
))"""


def build() -> None:
    """Lay out the part. Called inside a tab."""
    gr.HTML(heading("From a program", "This page answers as an API and to agents by MCP."))
    codes = []
    with gr.Tabs(elem_classes="sauda-subtabs", overflow_behavior="wrap"):
        for name, group in SNIPPETS.items():
            with gr.Tab(name, id=name.lower()):
                if name == "MCP":
                    gr.HTML(
                        note("The configuration of an MCP client, then a client that haggles once.")
                    )
                codes += [
                    gr.Code(
                        text.replace(ADDRESS, LOCAL),
                        language=language,
                        interactive=False,
                        show_label=False,
                        show_line_numbers=False,
                        elem_id=elem_id,
                    )
                    for elem_id, language, text in group
                ]
    gr.on(None, None, None, codes, js=HERE)
