"""How a program comes in: the endpoint that plays a game, and programs to copy.

The browser fills the page's own address in, so that each program runs as printed.
"""

import json
from collections.abc import Mapping
from typing import Any

import gradio as gr

from env import TASKS, rollout
from panels.transcripts.episodes import within
from panels.ui.look import heading
from panels.ui.terms import capital
from sauda.games import policies_of
from sauda.games.transcript import to_json
from sauda.llm.types import ReplyError
from sauda.records.kinds import ArtifactError
from sauda.records.seeds import EXACT, SEED_BITS, whole_seed

PLAY_SECONDS = 10.0  # that a game over the API may take
ADDRESS = "{address}"  # stands in the programs for the page's own, which ends in a slash
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

SHELL = """\
# one episode as a transcript, and as data
python -m sauda play --task classic/single_deal --policy expert --seed 7
python -m sauda play --task classic/single_deal --policy expert --seed 7 --json

# every artifact: its checksum, then what can be replayed, to the last digit
python -m sauda verify"""

PYTHON = """\
from env import Accept, Offer, TASKS, rollout

def half_then_take(obs, rng):
    \"\"\"Bid half the first ask once, then take what is asked.\"\"\"
    return Offer(obs.priced(obs.opening_ask / 2)) if obs.round == 0 else Accept()

task = TASKS["classic/single_deal"]
episode = rollout(task, half_then_take, seed=7)
print(episode.end, episode.payoffs, task.grade(episode.final))"""

CHECK, POLICY = "Check a number", "Bring a policy"
SNIPPETS = {  # by sub-tab: the title of each, the id of its component, its language and text
    "API": (
        ("Python", "api-client", "python", CLIENT),
        ("curl", "api-curl", "shell", CURL),
        ("JavaScript", "api-javascript", "javascript", JAVASCRIPT),
    ),
    "MCP": (
        ("Configuration of a client", "api-mcp", "json", MCP),
        ("A client that haggles once", "api-agent", "python", AGENT),
    ),
    "Command line": ((CHECK, None, "shell", SHELL), (POLICY, None, "python", PYTHON)),
}
ABOUT = {  # what stands below a title
    CHECK: "In a checkout of this Space, with Python 3.11 or 3.12.",
    POLICY: f"A policy is a function of an observation. {len(TASKS)} tasks,"
    f" {len(policies_of(TASKS['classic/single_deal']))} scripted buyers to beat.",
}


def build() -> None:
    """Lay out a sub-tab a group of programs. Called inside `gr.Tabs`."""
    codes = {}
    for name, group in SNIPPETS.items():
        with gr.Tab(name, id=name.lower().replace(" ", "-")):
            for title, elem_id, language, text in group:
                gr.HTML(heading(title, ABOUT.get(title, "")))
                code = gr.Code(
                    text.replace(ADDRESS, LOCAL),
                    language=language,
                    interactive=False,
                    show_label=False,
                    show_line_numbers=False,
                    elem_id=elem_id,
                )
                if ADDRESS in text:
                    codes[code] = text
    here = f"""() => {json.dumps([*codes.values()])}.map(text => text.replaceAll(
      "{ADDRESS}", new URL(".", window.location.href).href
    ))"""
    gr.on(None, None, None, list(codes), js=here)


def play(
    task_name: str = "classic/single_deal", policy_name: str = "expert", seed: str | int = "7"
) -> dict[str, Any]:
    """Play one episode of a task with a scripted policy in the learner's seat.

    The rules of every task end a game within a few hundred moves; one that is not over after ten
    seconds is given up.

    Args:
        task_name: such as classic/single_deal; an unknown one is answered with those there are
        policy_name: such as expert; likewise
        seed: a whole number below 2**128, such as 7; from 2**53 on as text, such as "7"

    Returns:
        the episode: its seed as text, its moves in order, how it ended, the payoffs in rupees and
        the grade
    """
    task = TASKS[_one_of("task", task_name, TASKS)]
    policies = policies_of(task)  # scripts alone: no name of a model or a file is looked up
    name = _one_of("policy", policy_name, policies)
    try:
        played = rollout(task, within(policies[name], PLAY_SECONDS), _seed_in(seed))
    except (ArtifactError, ReplyError) as error:  # the tuned script's numbers; the time is up
        raise gr.Error(capital(f"{error}."), print_exception=False) from None
    return {**to_json(played, name), "seed": str(played.seed)}  # JavaScript would round a number


def _one_of(kind: str, name: object, known: Mapping[str, object]) -> str:
    """`name` where it is in `known`; raises `gr.Error` naming those there are."""
    if isinstance(name, str) and name in known:
        return name
    sentence = f"There is no {kind} of that name; choose one of {', '.join(known)}."
    raise gr.Error(sentence, print_exception=False)


def _seed_in(value: object) -> int:
    """The seed in a number or in a text of digits; raises `gr.Error` on anything else.

    A number that JavaScript cannot hold is refused, since it could have lost digits on its way.
    """
    exact = not isinstance(value, int) or value <= EXACT
    try:
        return whole_seed(value if exact else "")
    except ValueError:
        sentence = f"A seed is a whole number from 0 below 2**{SEED_BITS}, as text from 2**53 on."
        raise gr.Error(sentence, print_exception=False) from None
