"""The gate after training: what a trained model writes on hold-out prompts must be moves (R1)."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

from env import IllegalAction, Offer, arena, get_task
from sauda.games import GAMES
from sauda.games.adapter import Prompt
from sauda.games.bazaar.prompt import shown
from sauda.llm.backends.model import Model
from sauda.llm.turn import PromptSeat
from sauda.llm.types import Reply
from sauda.records.splits import SPLITS
from sauda.train.data.arena import ArenaData, ArenaTaught
from sauda.train.data.arena import taught as arena_taught
from sauda.train.data.teacher import DataConfig, Taught, rounded, taught

TASKS = ("bazaar/open", "bazaar/rushed", "bazaar/bluff")
LONGEST_RUN = 3  # of the same word
VALID = 0.95  # least share of completions that hold a move


def gate(model: Model, prompts: int = 48, batch: int = 16) -> dict[str, Any]:
    """What `model` wrote on hold-out states, judged; `passed` tells whether all is as demanded.

    Beside the teacher: how often the same kind of move, and how far off its prices are, in percent
    of the limit.
    """
    return _gate(model, GAMES["bazaar"].prompt, list(held_out(prompts)), _judged, batch)


def arena_gate(model: Model, prompts: int = 48, batch: int = 16) -> dict[str, Any]:
    """The same for a lab of the arena: a move is any action, and `accepted` those the rules take.

    What they refuse is a poor move in this game and no broken text: it is answered with a code.
    """
    return _gate(model, GAMES["arena"].prompt, list(arena_held_out(prompts)), _arena_judged, batch)


def _gate(
    model: Model,
    prompt: Prompt,
    found: Sequence[Any],
    judge: Callable[[Any, Any], dict[str, Any]],
    batch: int,
) -> dict[str, Any]:
    replies: list[Reply] = []
    seat = PromptSeat(prompt)
    for start in range(0, len(found), batch):
        some = [prompt.render(state.obs) for state in found[start : start + batch]]
        replies += model.batch(some, range(start, start + len(some)))
    judged = [
        judge(state, seat.parse(state.obs, reply).proposal) | {"fault": fault_in(reply)}
        for state, reply in zip(found, replies, strict=True)
    ]
    faults = [j["fault"] for j in judged if j["fault"]]
    off = [j["off"] for j in judged if j["off"] is not None]
    valid = _share(judged, "valid")
    return {
        "n": len(judged),
        "valid": valid,
        "same_kind": _share(judged, "same"),
        "price_off": round(sum(off) / len(off), 3) if off else None,
        "tokens": round(sum(reply.tokens for reply in replies) / len(replies), 2),
        "faults": faults,
        "completions": [reply.text for reply in replies[:8]],
        "passed": not faults and valid >= VALID,
    } | ({"accepted": _share(judged, "accepted")} if "accepted" in judged[0] else {})


def _share(judged: Sequence[dict[str, Any]], what: str) -> float:
    return round(sum(j[what] for j in judged) / len(judged), 4)


def held_out(prompts: int) -> Iterator[Taught]:
    """States of hold-out games, from the split's end, where no evaluation plays; tasks in turn."""
    for number in range(prompts):
        task = get_task(TASKS[number % len(TASKS)])
        game = list(taught(task, SPLITS["holdout"][-1 - number], "belief", "plain", DataConfig()))
        yield game[number % len(game)]


def _judged(state: Taught, proposal: Any) -> dict[str, Any]:
    wanted = rounded(state.obs, state.move, DataConfig().near)
    if isinstance(proposal, IllegalAction):
        return {"valid": False, "same": False, "off": None}
    off = None
    if isinstance(proposal, Offer) and isinstance(wanted, Offer):
        off = abs(shown(state.obs, proposal.price) - shown(state.obs, wanted.price))
    return {"valid": True, "same": type(proposal) is type(wanted), "off": off}


def arena_held_out(prompts: int) -> Iterator[ArenaTaught]:
    """The same of the arena."""
    data = ArenaData()
    for number in range(prompts):
        game = list(arena_taught(get_task(data.task), SPLITS["holdout"][-1 - number], data))
        yield game[number % len(game)]


def _arena_judged(state: ArenaTaught, proposal: Any) -> dict[str, Any]:
    task = get_task(ArenaData().task)
    after = task.env.step(state.play.state, proposal).private[task.learner].results
    same = proposal.action_type == state.action.action_type
    valid = not isinstance(proposal, arena.Malformed)
    return {"valid": valid, "accepted": after[0].ok, "same": same, "off": None}


def fault_in(reply: Reply) -> str:
    """What is wrong with a completion whether or not it holds a move; "" where nothing is."""
    if foreign := scripts(reply.text) - {"LATIN", "DEVANAGARI"}:
        return f"it writes {', '.join(sorted(foreign))}: {reply.text[:80]!r}"
    if longest_run(reply.text) > LONGEST_RUN:
        return f"it repeats itself: {reply.text[:80]!r}"
    if reply.finish == "length":
        return f"it does not end: {reply.text[:80]!r}"
    return ""


def scripts(text: str) -> set[str]:
    """The scripts of the letters in `text`, by the first word of their Unicode names."""
    return {unicodedata.name(c, "UNKNOWN").split()[0] for c in text if c.isalpha()}


def longest_run(text: str) -> int:
    """How often at most the same word or mark comes in a row."""
    words: Sequence[str] = re.findall(r"\w+|[^\w\s]", text.lower())
    return max((len(list(same)) for _, same in groupby(words)), default=0)
