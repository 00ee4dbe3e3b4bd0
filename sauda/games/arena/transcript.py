"""Actions of the GPU arena as JSON, as phrases and as Markdown."""

from collections.abc import Iterator, Mapping
from typing import Any

from env import Episode, Turn, arena, begin, get_task

MALFORMED = "malformed_action"


def to_json(action: arena.Action | arena.Malformed) -> dict[str, Any]:
    """The action as a recorded move, without its lab."""
    reason = action.reason if isinstance(action, arena.Malformed) else arena.action_fault(action)
    if reason:
        return {"action": MALFORMED, "reason": reason}
    fields = action.as_json()
    return {"action": fields.pop("action_type"), **fields}


def from_json(row: Mapping[str, Any]) -> arena.Action | arena.Malformed:
    """The action that a recorded move holds; what is malformed is recorded as such.

    Raises ValueError for a kind of action that the arena has not.
    """
    if row["action"] == MALFORMED:
        return arena.Malformed(row["reason"])
    if row["action"] not in arena.KINDS:
        raise ValueError(f"an action is one of {', '.join(arena.KINDS)}, not {row['action']!r}")
    fields = {name: field for name, field in row.items() if name not in ("agent", "action")}
    return arena.action_from({"action_type": row["action"], **fields})


def action_in_words(action: arena.Action | arena.Malformed) -> str:
    """The action as a phrase without its lab."""
    if isinstance(action, arena.Malformed):
        return f"gives no action: {action.reason}"
    words = _VERBS[action.action_type]
    target = action.offer_id or action.coalition_id or action.job_id or action.target_lab_id
    words = f"{words} {target}" if target else words.removesuffix(" to").removesuffix(" of")
    requested, gives = ", ".join(action.requested_block_ids), list(action.block_ids)
    gives += (
        [f"{action.payment:{'.2f' if abs(action.payment) < 1e9 else 'g'}} credits"]
        if action.payment
        else []
    )
    words += f" with {', '.join(gives)}" if gives else ""
    words += f" for {requested}" if requested else ""
    words += "".join(f", {name} {value}" for name, value in action.conditions)
    return f"{words}: “{action.message}”" if action.message else words


_VERBS = {
    "send_offer": "makes an offer to",
    "accept_offer": "accepts",
    "reject_offer": "rejects",
    "counter_offer": "counters",
    "make_pitch": "pitches",
    "counter_pitch": "answers the pitch of",
    "reserve_capacity": "reserves",
    "release_capacity": "releases",
    "form_coalition": "seeks a coalition with",
    "commit_to_coalition": "commits to",
    "allocate_to_job": "books",
    "send_message": "says to",
    "wait": "waits",
    "finish": "leaves",
}


def in_words(turn: Turn) -> str:
    """The turn's action as a phrase without its lab."""
    return action_in_words(turn.action)


def to_markdown(played: Episode, policy: str) -> str:
    """The episode for people: rounds, shocks, every move with its result, the settlement."""
    task = get_task(played.task)
    lines = [f"# {played.task}, seed {played.seed}: {policy} as {task.learner}", *_moves(played)]
    gains = ", ".join(f"{lab} {gain:.2f}" for lab, gain in played.payoffs.items())
    rewards = arena.episode_rewards(begin(task, played.seed).state, played.turns, task.learner)
    reward = arena.total(rewards).normalized_reward if rewards else 0.0
    return "\n".join(
        [
            *lines,
            "",
            f"Ended by {played.end}. Surplus in credits: {gains}.",
            f"Grade {task.grade(played.final):.4f}, reward {reward:.4f}.",
            "",
        ]
    )


def _moves(played: Episode) -> Iterator[str]:
    task = get_task(played.task)
    state, shown = begin(task, played.seed).state, -1
    for number, turn in enumerate(played.turns, 1):
        market = state.market
        if market.round_index != shown:
            shown = market.round_index
            yield from ("", f"## Round {shown + 1}", "")  # people count from 1
            struck = [s.message for s in market.shock_history if s.round_index == shown]
            yield from (line for shock in struck for line in (f"Shock: {shock}.", ""))
        if turn.action is None:
            yield f"{number}. **{turn.agent}** forfeits: {turn.error}"
            return
        state = task.env.step(state, turn.action)
        for result in state.private[turn.agent].results[:1]:
            yield f"{number}. **{turn.agent}** {action_in_words(turn.action)} → `{result.code}`"
    yield from ("", "## Settlement", "")
    for lab in state.market.labs:
        yield f"- **{lab}** {state.private[lab].results[-1].message}"
