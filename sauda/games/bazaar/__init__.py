"""The adapter of the bazaar: a buyer and a seller haggle over one item."""

from env import BAZAAR_TASKS
from sauda.games.adapter import Game, Prompt, Table, Transcript
from sauda.games.bazaar import columns, transcript
from sauda.games.bazaar.opponents import (
    OTHERS,
    against,
    has_unseen_opponent,
    policies,
    slow_policies,
)
from sauda.games.bazaar.prompt import parse, preview, render, schema

BAZAAR = Game(
    name="bazaar",
    tasks=BAZAAR_TASKS,
    policies=policies,
    slow_policies=slow_policies,
    against=against,
    others=OTHERS,
    baseline="rule_based",
    episodes=1000,  # gives intervals near 2 % of the mean
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
        tables=columns.tables,
        model_counts=columns.MODEL_COUNTS,
        count_model=columns.count_model,
    ),
    has_unseen_opponent=has_unseen_opponent,
    has_wrappers=True,
)
