"""The adapter of the GPU arena: labs trade GPU time before their deadlines."""

from env import ARENA_TASKS
from sauda.games.adapter import Game, Prompt, Table, Transcript
from sauda.games.arena import columns, tables, transcript
from sauda.games.arena.opponents import (
    OTHERS,
    against,
    has_unseen_opponent,
    policies,
    slow_policies,
)
from sauda.games.arena.prompt import parse, preview, render, schema

ARENA = Game(
    name="arena",
    tasks=ARENA_TASKS,
    policies=policies,
    slow_policies=slow_policies,
    against=against,
    others=OTHERS,
    baseline="rule_based_expert",
    episodes=200,  # a grade's interval is about ±0.03 wide
    prompt=Prompt(render, parse, schema),
    preview=preview,
    transcript=Transcript(
        transcript.to_json, transcript.from_json, transcript.in_words, transcript.to_markdown
    ),
    table=Table(
        ends=columns.ENDS,
        metrics=columns.METRICS,
        episode_columns=columns.episode_columns,
        batch_columns=columns.batch_columns,
        worlds=columns.worlds_of,
        figures=columns.figures,
        tables=tables.tables,
        model_counts=columns.MODEL_COUNTS,
        count_model=columns.count_model,
    ),
    has_unseen_opponent=has_unseen_opponent,
    has_wrappers=False,
)
