"""The GPU arena's actions in words and as recorded moves, its events, its episodes for people."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from env import Episode, Turn, arena, begin, get_task
from sauda.records import read_table

MALFORMED, FORFEIT = "malformed_action", "forfeit"
_ROWS = read_table(Path(__file__).with_name("arena_verbs.csv"))
VERBS = {row["action"]: row["verb"] for row in _ROWS}


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
    words = VERBS[action.action_type]
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


def in_words(turn: Turn) -> str:
    """The turn's action as a phrase without its lab; or why it is a forfeit."""
    return f"forfeits: {turn.error}" if turn.action is None else action_in_words(turn.action)


class Event(NamedTuple):
    """An action of a lab and what became of it; or a shock, which is no lab's."""

    round_index: int
    lab: str  # "" for a shock
    words: str
    code: str  # of the result, or the kind of shock
    ok: bool
    reward: arena.Breakdown | None = None  # of the lab that is followed
    cumulative: float = 0.0  # its rewards so far


def events(played: Episode, lab: str) -> tuple[Event, ...]:
    """What happened in `played`, in order, with the rewards of `lab`."""
    task = get_task(played.task)
    state = begin(task, played.seed).state
    rewards = iter(arena.episode_rewards(state, played.turns, lab))
    recorded, gathered, shown = [], 0.0, -1
    for turn in played.turns:
        now = state.market.round_index
        recorded += [
            Event(shock.round_index, "", shock.message, shock.kind, True)
            for shock in state.market.shock_history
            if shown < shock.round_index <= now
        ]
        shown = now
        if turn.action is None:
            recorded.append(Event(now, turn.agent, in_words(turn), FORFEIT, False))
            break
        state = task.env.step(state, turn.action)
        result = state.private[turn.agent].results[0]
        earned = (None, 0.0)
        if turn.agent == lab:
            reward = next(rewards)
            gathered += reward.normalized_reward
            earned = (reward, gathered)
        recorded.append(Event(now, turn.agent, in_words(turn), result.code, result.ok, *earned))
    return tuple(recorded)


def to_markdown(played: Episode, policy: str) -> str:
    """The episode for people: rounds, shocks, every move with its result, the settlement."""
    task = get_task(played.task)
    recorded = events(played, task.learner)
    gains = ", ".join(f"{lab} {gain:.2f}" for lab, gain in played.payoffs.items())
    earned = arena.total(event.reward for event in recorded if event.reward is not None)
    lines = [
        f"# {played.task}, seed {played.seed}: {policy} as {task.learner}",
        *_moves(played, recorded),
        "",
        f"Ended by {played.end}. Surplus in credits: {gains}.",
        f"Grade {task.grade(played.final):.4f}, reward {earned.normalized_reward:.4f}.",
        "",
    ]
    return "\n".join(lines)


def _moves(played: Episode, recorded: Sequence[Event]) -> Iterator[str]:
    shown, number = -1, 0
    for event in recorded:
        if event.round_index != shown:
            shown = event.round_index
            yield from ("", f"## Round {shown + 1}", "")  # people count from 1
        if not event.lab:
            yield from (f"Shock: {event.words}.", "")
            continue
        number += 1
        if event.code == FORFEIT:
            yield f"{number}. **{event.lab}** {event.words}"
            return
        yield f"{number}. **{event.lab}** {event.words} → `{event.code}`"
    yield from ("", "## Settlement", "")
    for lab in played.final.market.labs:
        yield f"- **{lab}** {played.final.private[lab].results[-1].message}"
