"""Quality of a seller's words: the published test unchanged, and a stricter test of our own.

All texts are kept in the artifact, so every figure can be computed again from them. `texts.py` has
the models' words, `published_criteria.py`, `hard_criteria.py` and `judges.py` the figures.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sauda.evaluation.seller.games import Game, games
from sauda.evaluation.seller.hard_criteria import fault_counts, hard_rows
from sauda.evaluation.seller.judges import leak_row, persona_judges
from sauda.evaluation.seller.published_criteria import published_rows
from sauda.evaluation.seller.texts import Tries, judged, model_behind, sides, worded
from sauda.llm.model import CACHE
from sauda.llm.seller import seller_model
from sauda.records.progress import progress
from sauda.records.splits import SPLITS

PARTS = CACHE / "seller_quality"  # the batches on disk
UNREAD = 5_000  # into the hold-out split; the first seeds were read while the prompt was written


@dataclass(frozen=True)
class Config:
    """What is judged; the defaults are the numbers we report."""

    models: tuple[str, ...] = ("mini",)
    published: int = 10  # games a persona in the published setting: 50, as published
    hard: int = 3  # games a persona and hostile buyer: 90
    batch: int = 50  # texts written at once; also what a stopped run loses at most

    def check(self) -> None:
        """Raise ValueError for a model that has no name, or too few games."""
        for name in self.models:
            seller_model(name)
        if self.published < 2 or self.hard < 1 or self.batch < 1:
            raise ValueError(
                "the judges need at least 2 published games a persona, 1 hard one, a batch of 1"
            )


def quality(config: Config, parts: Path = PARTS) -> dict[str, Any]:
    """The data of the artifact: games, all texts, the judge's answers, and the figures."""
    config.check()
    played = all_games(config)
    tries, answers, models = {}, {}, {}
    for name in config.models:
        player = seller_model(name)
        tries[name] = worded(player, played, config.batch, parts)
        answers[name] = judged(player, played, tries[name], config.batch, parts)
        models[name] = model_behind(player)
    return summarised(played, tries, answers) | {"models": models}


def again(config: Config, recorded: Mapping[str, Any]) -> dict[str, Any]:
    """The data recomputed for `verify`: games played again, figures from the recorded texts."""
    played = all_games(config)
    kept = {name: recorded["tries"][name] for name in config.models}
    data = summarised(played, kept, recorded["answers"])
    return data | {"models": recorded["models"]}


def all_games(config: Config) -> list[Game]:
    """The games of both settings, each on a hold-out seed of its own."""
    seeds = SPLITS["holdout"][UNREAD:]
    easy = games("published", config.published, seeds)
    return easy + games("hard", config.hard, seeds[len(easy) :])


def summarised(
    played: Sequence[Game],
    tries: Mapping[str, Sequence[Sequence[Tries]]],
    answers: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    """All that is computed from games and texts."""
    texts_by_side = sides(played, tries)
    tables = (
        lambda: published_rows(played, texts_by_side, answers),
        lambda: hard_rows(played, texts_by_side, tries),
        lambda: [leak_row(played, texts_by_side)],
    )
    computed = progress(tables, len(tables), "computing figures", "table")
    rows = [row for table in computed for row in table()]
    judges, judge_row = persona_judges(played, texts_by_side)
    return {
        "games": [_kept(game) for game in played],
        "tries": {name: [list(map(list, g)) for g in written] for name, written in tries.items()},
        "answers": {name: list(texts) for name, texts in answers.items()},
        "rows": [*rows, judge_row],
        "judges": judges,
        "faults": {side: fault_counts(played, texts) for side, texts in texts_by_side.items()},
    }


def _kept(game: Game) -> dict[str, Any]:
    table = game.episode.final.table
    (deal,) = table.past
    return {
        "setting": game.setting,
        "buyer": game.buyer,
        "persona": game.persona,
        "seed": game.seed,
        "item": table.item.name,
        "reservation": game.floor,
        "asks": list(table.asks),
        "bids": list(table.bids),
        "kinds": [decision.kind for decision in game.decisions],
        "end": str(deal.end),
        "price": deal.price,
    }
