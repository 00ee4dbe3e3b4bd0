"""Checks of a trained adapter: games of every checkpoint, and the acceptance check of the last.

The acceptance check has a model reply to hold-out prompts. Nearly all of its replies must hold a
legal move, and none may be broken text. `evaluate_checkpoints` plays a few training games with the
adapter of every checkpoint, which draws the learning curve of the grade.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np

import env
from env.bazaar.prompt import percent_of
from sauda.games import GAMES
from sauda.games.transcript import to_json
from sauda.llm.model import Model
from sauda.llm.turn import ModelGame, PlayerSpec, PromptSeat, new_game, play_games
from sauda.llm.types import Messages, Reply
from sauda.records.seeds import PLAYED, SPLITS
from sauda.records.store import read_lines
from sauda.statistics import mean_interval
from sauda.train import people_rows, teacher_rows
from sauda.train.common import Run, append, checkpoints_in
from sauda.train.model import load_served

# What checkpoints play, by game or stage.
EVAL_TASKS = {
    "bazaar": "bazaar/people", "arena": "arena/market_round", "sft": "bazaar/open-3",
    "people": "bazaar/people", "form": "bazaar/open-3", "reward": "bazaar/open-3",
}  # fmt: skip
KEPT_GAMES = 3  # of every checkpoint that learns from reward, to be read
MOST_EVALUATED = 10  # checkpoints of a run, since each takes minutes
LONGEST_RUN = 3  # of the same word
LEAST_VALID = 0.95  # share of replies that must hold a move


def check_player(run: Run, served: Model) -> dict[str, Any]:
    """The acceptance check of a trained player, and the games of every checkpoint's adapter."""
    settings = run.settings
    states = list(holdout_states(kind_of(settings), settings.acceptance_prompts))
    return {
        "acceptance": acceptance(served, settings.game, states),
        "checkpoint_evaluations": evaluate_checkpoints(run),
        "init_adapter": run.init,
    }


def kind_of(settings: Any) -> str:
    """What a stage is checked by, its game or itself: a key of EVAL_TASKS."""
    is_buyer = settings.game == "bazaar"
    return settings.stage if is_buyer and settings.stage in EVAL_TASKS else settings.game


def eval_task(kind: str) -> env.Task:
    """What checkpoints of a kind of stage play; where any words count, in sentences not learnt."""
    return people_rows.task_of(EVAL_TASKS[kind], "development")


def acceptance(
    model: Model, game: str, states: Sequence[Any], batch_size: int = 16
) -> dict[str, Any]:
    """The acceptance check's figures in one game; `passed` is whether the model is accepted.

    "same_kind" is how often the reply is the teacher's kind of move, "price_off" how far its prices
    are from the teacher's, in percent. In the arena a move is any action, and
    "accepted" is the share that the rules take: there a refused action is poor play, not broken
    text, and is answered with an error code.
    """
    judge = _judge_arena if game == "arena" else _judge_bazaar
    seat = PromptSeat(prompt := GAMES[game].prompt)
    replies = reply_to(model, [prompt.render(state.obs) for state in states], batch_size)
    verdicts = [
        judge(state, seat.parse(state.obs, reply).proposal)
        for state, reply in zip(states, replies, strict=True)
    ]
    faults = [fault for fault in map(fault_in, replies) if fault]
    off = [verdict["off"] for verdict in verdicts if verdict["off"] is not None]
    valid = _share(verdicts, "valid")
    return {
        "n": len(verdicts),
        "valid": valid,
        "same_kind": _share(verdicts, "same"),
        "price_off": round(sum(off) / len(off), 3) if off else None,
        "tokens": round(sum(reply.tokens for reply in replies) / len(replies), 2),
        "faults": faults,
        "completions": [reply.text for reply in replies[:8]],
        "passed": not faults and valid >= LEAST_VALID,
    } | ({"accepted": _share(verdicts, "accepted")} if "accepted" in verdicts[0] else {})


def reply_to(model: Model, chats: Sequence[Messages], batch_size: int) -> list[Reply]:
    """The model's reply to each chat, so many at a time; its seed is the place of the chat."""
    seeds = range(len(chats))
    return [
        reply
        for i in range(0, len(chats), batch_size)
        for reply in model.batch(chats[i : i + batch_size], seeds[i : i + batch_size])
    ]


def _share(verdicts: Sequence[dict[str, Any]], name: str) -> float:
    return round(sum(verdict[name] for verdict in verdicts) / len(verdicts), 4)


def holdout_states(
    kind: str, prompts: int
) -> Iterator[teacher_rows.Taught | teacher_rows.ArenaTaught]:
    """States of hold-out games, from the split's end, where no evaluation plays; tasks in turn."""
    arena_rows, rows = teacher_rows.ArenaRowSettings(), people_rows.PeopleRowSettings()
    only = [EVAL_TASKS[kind]] if kind in ("form", "reward", "people") else []
    shares = people_rows.SHARES["sft" if kind == "sft" else "talks"]
    tasks = list(arena_rows.tasks) if kind == "arena" else only or list(shares)
    for number in range(prompts):
        name, seed = tasks[number % len(tasks)], SPLITS["holdout"][-1 - number]
        if kind == "arena":
            states = list(teacher_rows.teach_arena(env.get_task(name), seed, arena_rows))
        else:
            states = list(people_rows.teach(name, seed, rows, "evaluation"))
        yield states[number % len(states)]


def _judge_bazaar(state: teacher_rows.Taught, move: Any) -> dict[str, Any]:
    wanted = teacher_rows.round_action(state.obs, state.move, people_rows.PeopleRowSettings().near)
    if isinstance(move, env.IllegalAction):
        return {"valid": False, "same": False, "off": None}
    off = None
    if isinstance(move, env.Offer) and isinstance(wanted, env.Offer):
        off = abs(percent_of(state.obs, move.price) - percent_of(state.obs, wanted.price))
    return {"valid": True, "same": type(move) is type(wanted), "off": off}


def _judge_arena(state: teacher_rows.ArenaTaught, action: Any) -> dict[str, Any]:
    results = state.task.env.step(state.play.state, action).private[state.task.learner].results
    same = action.action_type == state.action.action_type
    valid = not isinstance(action, env.arena.Malformed)
    return {"valid": valid, "accepted": results[0].ok, "same": same, "off": None}


def fault_in(reply: Reply) -> str:
    """The fault of a reply's text, whether or not it holds a move; "" if there is none."""
    text = reply.text
    scripts = {unicodedata.name(c, "UNKNOWN").split()[0] for c in text if c.isalpha()}
    words = re.findall(r"\w+|[^\w\s]", text.lower())
    if foreign := scripts - {"LATIN", "DEVANAGARI"}:
        return f"it writes {', '.join(sorted(foreign))}: {text[:80]!r}"
    if any(len(list(same)) > LONGEST_RUN for _, same in groupby(words)):
        return f"it repeats itself: {text[:80]!r}"
    return f"it does not end: {text[:80]!r}" if reply.finish == "length" else ""


def evaluate_checkpoints(run: Run) -> list[dict[str, Any]]:
    """The mean grade of checkpoints' adapters over a few training games, with its 95% interval.

    Of more than MOST_EVALUATED checkpoints, no more are chosen, evenly spread up to the last. Each
    result is on disk before the next adapter plays, and is not measured again.
    """
    kind, games = kind_of(run.settings), run.settings.eval_games
    if not games:
        return []
    file = run.folder / "checkpoint_evaluations.jsonl"
    results = {row["step"]: row for row in read_lines(file)}
    checkpoints = checkpoints_in(run.folder)
    chosen = spread(sorted(checkpoints), MOST_EVALUATED)
    for step in (step for step in chosen if step not in results):
        print(f"playing {games} games with the adapter of step {step}", flush=True)
        player = PlayerSpec(load_served(checkpoints[step], run.base, run.settings.threads))
        played = [new_game(eval_task(kind), seed) for seed in PLAYED[:games]]
        play_games(played, player)
        mean, low, high = mean_interval(np.array([each.grade for each in played]))
        results[step] = {"step": step, "n": games, "reward": mean, "low": low, "high": high}
        if kind == "reward":
            name = f"{run.settings.name}, step {step}"
            ends = [env.episode(each.task, each.play) for each in played[:KEPT_GAMES]]
            results[step] |= habits(played) | {"games": [to_json(end, name) for end in ends]}
        append(file, results[step])
    return [results[step] for step in chosen]


def habits(games: Sequence[ModelGame]) -> dict[str, float | None]:
    """How buyers play: shares of games and moves, and the first bid as a share of the limit."""
    turns = [[turn for turn in game.turns if turn.action is not None] for game in games]
    bids = [[turn for turn in made if isinstance(turn.action, env.Offer)] for made in turns]
    opened = [made[0].action.price / made[0].obs.reservation for made in bids if made]
    rises = sum(turn.obs.bid is None or turn.action.price > turn.obs.bid
                for made in bids for turn in made)  # fmt: skip
    ends = [made[-1].action for made in turns if made]
    return {
        "first_bid": round(sum(opened) / len(opened), 3) if opened else None,
        "moves": round(sum(map(len, turns)) / len(games), 2),  # of a game
        "rises": round(rises / len(games), 2),
        "stands": round((sum(map(len, bids)) - rises) / len(games), 2),
        "accepts": sum(isinstance(action, env.Accept) for action in ends) / len(games),
        "walks": sum(isinstance(action, env.WalkAway) for action in ends) / len(games),
        "deals": agreements(games),
    }


def agreements(games: Sequence[ModelGame]) -> float:
    """The share of games that ended in a deal."""
    deals = [game.play.state.table.past for game in games]
    return sum(bool(past and past[-1].price is not None) for past in deals) / len(games)


def spread(steps: Sequence[int], most: int) -> list[int]:
    """At most `most` of `steps`, evenly spread, the last among them."""
    every = -(-len(steps) // most) if steps else 1
    return list(steps[::-1][::every][::-1])
