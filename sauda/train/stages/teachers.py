"""Which teacher teaches better: short distillations, judged on fixed positions.

    python -m sauda train compare-teachers

Every student begins with the same adapter, plays as many deals as the others and learns from one
teacher as `distill` does. The pilot labels a state with its own distribution over moves, and plays
its turns with errors; the belief buyer labels it with a normal around its move, and plays without.
What is compared are the two ways of teaching, not the labels alone.

The moves of each student in fixed positions are judged by the values of the pilot and by those of
the belief buyer, because the values of a teacher favour its own student. The positions are states
of the pilot's training games with errors. The moves before training are judged beside them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from env import Accept, Offer, WalkAway
from sauda.evaluation.market.regret import Config as Positions
from sauda.evaluation.market.regret import Judged, by_belief, by_pilot
from sauda.evaluation.verification.recompute import settings
from sauda.llm.registry import PlayerSpec
from sauda.records.store import Artifact, digest
from sauda.statistics import named_interval, paired_difference
from sauda.train.model import find_base, load_served
from sauda.train.run import RUNS
from sauda.train.stage import init_adapter
from sauda.train.stages import distill

FILE = "teachers.json"
FOLDER = RUNS / "teachers"
JUDGES = {"pilot": by_pilot, "belief": by_belief}
BEFORE = "none"  # stands for the teacher in the row of the adapter that all begin with
DEFAULT = distill.Config()
Action = Offer | Accept | WalkAway


@dataclass(frozen=True)
class Config:
    """The students and their positions; all else is as in `distill`."""

    teachers: tuple[str, ...] = ("pilot", "belief")  # differences are those of the first
    model: str = DEFAULT.model
    init_adapter: str = DEFAULT.init_adapter
    deals_per_round: int = 172  # 688 deals a student, about 200,000 tokens
    first_seed: int = 32_000  # of the training split; `distill` has the seeds from 20,000
    constrained: bool = False
    threads: int = 1
    seed: int = 0
    states: int = 400  # positions in which the moves are judged

    def of_student(self, teacher: str) -> distill.Config:
        """The settings of the run whose labels are the teacher's wherever the pilot teaches."""
        shares = tuple(
            replace(share, teacher=teacher if share.teacher == "pilot" else share.teacher)
            for share in DEFAULT.shares
        )
        return distill.Config(
            model=self.model,
            init_adapter=self.init_adapter,
            shares=shares,
            deals_per_round=self.deals_per_round,
            first_seed=self.first_seed,
            constrained=self.constrained,
            threads=self.threads,
            seed=self.seed,
            acceptance_prompts=12,
            eval_games=0,
            trial=True,
        )


def compared(config: Config, folder: Path | None = None, resume: bool = False) -> dict[str, Any]:
    """Train a student of each teacher and judge its moves; returns the artifact's data.

    Runs that were stopped go on with `resume`. Raises ValueError where there are runs and they are
    not to go on, and what `distill.train` raises.
    """
    folder = folder or FOLDER
    runs = {teacher: folder / teacher for teacher in config.teachers}
    begun = {teacher: (run / "run.json").exists() for teacher, run in runs.items()}
    if any(begun.values()) and not resume:
        raise ValueError(f"{folder} has runs: go on with --resume, or name another folder by --out")
    trained = {
        teacher: distill.train(config.of_student(teacher), run, begun[teacher])
        for teacher, run in runs.items()
    }
    start = init_adapter(config)
    adapters = {BEFORE: start} if start is not None else {}
    adapters |= {teacher: run / "adapter" for teacher, run in runs.items()}
    students = [
        {
            "teacher": teacher,
            "num_tokens": data["num_tokens"],
            "states": sum(each["completions"] for each in data["rounds"]),
            "seconds": data["seconds"],
            "log": digest(data["log"]),
        }
        for teacher, data in trained.items()
    ]
    last = trained[config.teachers[-1]]
    return {"base": last["base"], "hardware": last["hardware"], "students": students} | judged(
        config, _moves(config, folder, adapters)
    )


def _moves(
    config: Config, folder: Path, adapters: Mapping[str, Path]
) -> dict[str, list[float | str | None]]:
    """The moves of the model with each adapter in the fixed positions, by the adapter's teacher."""
    base = find_base(config.model, folder, DEFAULT.per_device_train_batch_size)
    positions = Judged.of(Positions(config.states), by_pilot)
    moves = {}
    for teacher, adapter in adapters.items():
        model = load_served(adapter, base, config.threads)
        player = PlayerSpec(model, constrained=config.constrained)
        moves[teacher] = list(map(_written, positions.moves_of_model(player)))
    return moves


def judged(config: Config, moves: Mapping[str, Sequence[float | str | None]]) -> dict[str, Any]:
    """What the moves of the students, by teacher, give away by each judge's values."""
    rows, gaps = [], []
    replies = {teacher: list(map(_read, theirs)) for teacher, theirs in moves.items()}
    for judge, values in JUDGES.items():
        positions = Judged.of(Positions(config.states), values)
        regrets = {teacher: positions.regrets(theirs) for teacher, theirs in replies.items()}
        for teacher, theirs in replies.items():
            figures = positions.figures_of(theirs)
            rows.append({"teacher": teacher, "judge": judge} | figures)
        first, *others = config.teachers
        for other in others:
            gap = named_interval(paired_difference(regrets[first], regrets[other]))
            gaps.append(
                {"judge": judge, "teacher": first, "other": other, "n": config.states}
                | {"difference": gap}
            )
    return {"rows": rows, "differences": gaps, "moves": dict(moves)}


def recomputed(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """For `verify`: every regret computed again from the recorded moves of the students."""
    recorded = artifact.data.as_json()
    return recorded | judged(Config(**settings(artifact)), recorded["moves"])


def _written(move: Action | None) -> float | str | None:
    """A move as the artifact holds it: the price of an offer, or the name of another."""
    if isinstance(move, Offer):
        return move.price
    return {Accept: "accept", WalkAway: "walk"}.get(type(move))


def _read(move: float | str | None) -> Action | None:
    """The move that `_written` wrote."""
    if isinstance(move, str):
        return {"accept": Accept(), "walk": WalkAway()}[move]
    return None if move is None else Offer(move)
