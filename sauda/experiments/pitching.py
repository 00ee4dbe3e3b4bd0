"""What each advocate wins in the judged negotiation, and whether one that adapts learns."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from sauda.experiments.base import experiment
from sauda.games.negotiation import ADVOCATES, ARMS, CONTROL, LEARNER, negotiation, round_json
from sauda.records import progress, read_table
from sauda.records.seeds import first_seeds
from sauda.statistics import difference_of, mean_of

EARLY = len(ARMS)  # rounds in which the adapting advocate and the control use each arm once
DRAWN = ("adapting", "ucb1", CONTROL, "random", "honest_cycle")  # with a curve over the rounds
SHOWN = ("adapting", CONTROL)  # with the strategies that they choose


# What each does, in words.
LABELS = {
    row["advocate"]: row["label"] for row in read_table(Path(__file__).with_name("advocates.csv"))
}


def _play_rounds(name: str, seed: int) -> Iterator[tuple[str, bool, float, int]]:
    """Of each round what the learner did, whether it won, its total and its lies."""
    for played in negotiation(ADVOCATES[name], seed):
        verdict = played.decision.verdicts[LEARNER]
        yield played.strategy, played.decision.winner == LEARNER, verdict.total, verdict.lies


def check_advocates(names: Sequence[str]) -> None:
    """Raise ValueError for an advocate that there is not, and where one of DRAWN is not named."""
    for name in names:
        if name not in ADVOCATES:
            raise ValueError(f"no advocate {name!r}; advocates are {', '.join(ADVOCATES)}")
    if missing := [name for name in DRAWN if name not in names]:
        raise ValueError(f"the curves need {', '.join(missing)} among the advocates as well")


@experiment("pitching.json")
def pitching(
    episodes: int = 100,  # hold-out seeds; gives intervals near ±0.02 of the win rate
    split: str = "holdout",
    advocates: tuple[str, ...] = tuple(ADVOCATES),
) -> dict[str, Any]:
    """The data of the judged artifact. ValueError for advocates that cannot be judged."""
    check_advocates(advocates)
    names, seeds = advocates, first_seeds(episodes, split)
    cells = progress(product(names, seeds), len(names) * len(seeds), "negotiating", "negotiation")
    games = [list(_play_rounds(name, seed)) for name, seed in cells]
    # Each of shape (advocates, seeds, rounds).
    columns = zip(*(zip(*game, strict=True) for game in games), strict=True)
    chosen, won, totals, lies = (
        dict(zip(names, np.reshape(column, (len(names), len(seeds), -1)), strict=True))
        for column in columns
    )
    won = {name: hits.astype(float) for name, hits in won.items()}
    # Both use every arm once in the early rounds, so what was learned can only show late.
    gain = won["adapting"] - won[CONTROL]
    return {
        "learner": LEARNER,
        "control": CONTROL,
        "arms": list(ARMS),
        "early_rounds": EARLY,
        "rows": [
            {
                "advocate": name,
                "label": LABELS[name],
                "n": len(seeds),
                "win_rate": mean_of(won[name].mean(1)),
                "total": mean_of(totals[name].mean(1)),
                "early_win_rate": mean_of(won[name][:, :EARLY].mean(1)),
                "late_win_rate": mean_of(won[name][:, EARLY:].mean(1)),
                "difference": difference_of(won[name].mean(1), won[CONTROL].mean(1)),
                # False claims a pitch.
                "lies": round(float(lies[name].mean()), 4),
            }
            for name in names
        ],
        "learning": difference_of(gain[:, EARLY:].mean(1), gain[:, :EARLY].mean(1)),
        "curves": {
            n: {"won": list(map(mean_of, won[n].T)), "total": list(map(mean_of, totals[n].T))}
            for n in DRAWN
        },
        "frequencies": {
            n: {arm: np.round((chosen[n] == arm).mean(0), 4).tolist() for arm in ARMS}
            for n in SHOWN
        },
        "wins": {n: won[n].sum(1).astype(int).tolist() for n in names},
        "shown": [
            {
                "seed": seed,
                "why": why,
                "wins": int(won["adapting"][seeds.index(seed)].sum()),
                "control_wins": int(won[CONTROL][seeds.index(seed)].sum()),
                "rounds": list(map(round_json, negotiation(ADVOCATES["adapting"], seed))),
            }
            for why, seed in choose_examples(won, seeds).items()
        ],
    }


def choose_examples(won: Mapping[str, np.ndarray], seeds: Sequence[int]) -> dict[str, int]:
    """The seeds shown in full: best, median and worst by wins of the adapting over the control.

    Of equals the first seed.
    """
    gains = won["adapting"].sum(1) - won[CONTROL].sum(1)
    order = sorted(range(len(seeds)), key=lambda i: (-gains[i], i))
    places = {"best": 0, "median": len(order) // 2, "worst": len(order) - 1}
    return {why: seeds[order[place]] for why, place in places.items()}
