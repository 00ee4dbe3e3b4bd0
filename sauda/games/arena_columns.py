"""The GPU arena's actions in words, and its episodes as columns and tables.

One value per episode. Utilities are in credits; grades and rewards are shares of the stake, which
is what a lab's first jobs are worth in full. The reward of an episode is the sum over its steps.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from env import Episode, Task, Turn, arena, begin, get_task, rollout
from sauda.games.adapter import Evaluated, ModelTurn
from sauda.records import read_table
from sauda.statistics import correlation, mean_of, name_interval

DRAWN = "as drawn"  # the other labs, as each world draws them


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
    """The turn's action as a phrase without its lab."""
    return action_in_words(turn.action)


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
            recorded.append(Event(now, turn.agent, f"forfeits: {turn.error}", FORFEIT, False))
            break
        state = task.env.step(state, turn.action)
        result = state.private[turn.agent].results[0]
        own = (None, 0.0)
        if turn.agent == lab:
            reward = next(rewards)
            gathered += reward.normalized_reward
            own = (reward, gathered)
        words = action_in_words(turn.action)
        recorded.append(Event(now, turn.agent, words, result.code, result.ok, *own))
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


METRICS = ("grade", "utility", "reward")
COMPONENTS = tuple(component.name for component in arena.COMPONENTS)
ENDS = {"D": "deadline", "W": "walkaway", "F": "forfeit"}
MODEL_COUNTS = ("invalid_replies", "tokens")  # of a language model, per episode


def episode_columns(task: Task, played: Sequence[Episode]) -> dict[str, Any]:
    """Episodes of one task as columns: one value per episode."""
    rows = [episode_row(task, one) for one in played]
    columns = {name: [row[name] for row in rows] for name in rows[0] if name != "components"}
    parts = {name: [row["components"][name] for row in rows] for name in COMPONENTS}
    return columns | {"end": "".join(columns["end"]), "components": parts}


def episode_row(task: Task, played: Episode) -> dict[str, Any]:
    """One episode in figures; an action without a result, where a policy forfeits, is not valid."""
    steps = arena.episode_rewards(begin(task, played.seed).state, played.turns, task.learner)
    whole, own = arena.total(steps), played.final.private[task.learner]
    return {
        "end": str(played.end)[0].upper(),
        "utility": round(own.utility, 2),
        "grade": round(task.grade(played.final), 6),
        "reward": round(whole.normalized_reward, 6),
        "actions": len(played.trajectory(task.learner)),
        "valid": sum(step.invalid_action_penalty == 0 for step in steps),
        "jobs": sum(job.completed for job in own.jobs),
        "jobs_had": len(own.jobs),
        "components": {name: round(getattr(whole, name), 6) for name in COMPONENTS},
    }


def worlds_of(task_name: str, seeds: Sequence[int]) -> dict[str, Any]:
    """The world of each seed: the learner's stake and its BATNA."""
    task = get_task(task_name)
    owns = [begin(task, seed).state.private[task.learner] for seed in seeds]
    return {"stake": [own.stake for own in owns], "batna": [own.batna for own in owns]}


def figures(task: Task, columns: Mapping[str, Any], worlds: Mapping[str, Any]) -> dict[str, Any]:
    """What a row holds beside METRICS, its ends and hashes; `worlds` are those of the task."""
    share = np.array(columns["utility"]) / np.array(worlds["stake"])
    return {
        "actions": sum(columns["actions"]),
        "valid": round(sum(columns["valid"]) / sum(columns["actions"]), 6),
        "jobs": mean_of(columns["jobs"]),
        "jobs_had": round(float(np.mean(columns["jobs_had"])), 6),
        "correlation": correlation_interval(columns["reward"], share),
        "components": {name: mean_of(columns["components"][name]) for name in COMPONENTS},
    }


def count_model(task: Task, turns: Sequence[ModelTurn]) -> dict[str, int]:
    """The MODEL_COUNTS of one episode from the model's turns."""
    return {
        "invalid_replies": sum(isinstance(turn.action, arena.Malformed) for turn in turns),
        "tokens": sum(turn.reply.tokens for turn in turns),
    }


def correlation_interval(rewards: Any, shares: Any) -> dict[str, float] | None:
    """Pearson's r of rewards and utilities with its interval; None where either does not vary."""
    r = correlation(rewards, shares)
    return None if r is None else name_interval(r)


def tables(played: Evaluated) -> dict[str, Any]:
    """The correlations and examples of an evaluation, and the worlds under them."""
    return {
        "correlations": [pooled_correlation(name, played) for name in played.tasks],
        "examples": list(examples(played)),
        "worlds": dict(played.worlds),
    }


def pooled_correlation(task_name: str, played: Evaluated) -> dict[str, Any]:
    """How far reward follows utility over all episodes of all policies; seeds are resampled."""
    cells = [played.columns[task_name, name] for name in played.policies]
    rewards = np.array([cell["reward"] for cell in cells])
    stake = np.array(played.worlds[task_name]["stake"])
    shares = np.array([cell["utility"] for cell in cells]) / stake
    return {
        "others": DRAWN,
        "task": task_name,
        "n": int(rewards.size),
        "correlation": correlation_interval(rewards, shares),
    }


def examples(played: Evaluated) -> Iterator[dict[str, Any]]:
    """One measured step for each component that occurs: the largest of its first episode.

    The first is sought in the last task, policy by policy and seed by seed, then in those before.
    """
    cells = list(product(played.tasks[::-1], played.policies))
    for component in COMPONENTS:
        places = (
            (task_name, policy_name, seed)
            for task_name, policy_name in cells
            for seed, amount in zip(
                played.seeds,
                played.columns[task_name, policy_name]["components"][component],
                strict=True,
            )
            if amount
        )
        if place := next(places, None):
            yield _example(component, *place, played)


def _example(
    component: str, task_name: str, policy_name: str, seed: int, played: Evaluated
) -> dict[str, Any]:
    task = get_task(task_name)
    episode = rollout(task, played.get_policy(task, policy_name), seed)
    own = [event for event in events(episode, task.learner) if event.reward is not None]
    step, largest = max(enumerate(own, 1), key=lambda p: abs(getattr(p[1].reward, component)))
    return {
        "component": component,
        "task": task_name,
        "policy": policy_name,
        "seed": seed,
        "step": step,
        "round": largest.round_index,
        "words": largest.words,
        "code": largest.code,
        "amount": round(getattr(largest.reward, component), 6),
    }
