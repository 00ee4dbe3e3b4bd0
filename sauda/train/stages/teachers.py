"""Which labels teach better: short distillations from several teachers, judged on fixed positions.

    python -m sauda train compare-teachers

Every student begins with the same adapter, plays as many deals as the others and learns the labels
of one teacher. Its moves in positions of training games are then judged by the values of the pilot
and by those of the belief buyer, so that no teacher is judged by itself alone. The moves before
training are judged beside them.
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
from sauda.records.seal import digest
from sauda.records.store import Artifact
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

    A run that was stopped goes on with `resume`. Raises what `distill.train` raises.
    """
    folder = folder or FOLDER
    base = find_base(config.model, folder, DEFAULT.per_device_train_batch_size)
    positions = Judged.of(Positions(config.states), by_pilot)

    def played(adapter: Path) -> list[float | str | None]:
        model = load_served(adapter, base, config.threads)
        spec = PlayerSpec(model, constrained=config.constrained)
        return list(map(_written, positions.moves_of_model(spec)))

    students, moves = [], {}
    if (start := init_adapter(config)) is not None:
        moves[BEFORE] = played(start)
    for teacher in config.teachers:
        run = folder / teacher
        began = resume and (run / "run.json").exists()
        data = distill.train(config.of_student(teacher), run, began)
        moves[teacher] = played(run / "adapter")
        students.append(
            {
                "teacher": teacher,
                "num_tokens": data["num_tokens"],
                "states": sum(each["completions"] for each in data["rounds"]),
                "seconds": data["seconds"],
                "log": digest(data["log"]),
            }
        )
    return {"base": data["base"], "hardware": data["hardware"], "students": students} | judged(
        config, moves
    )


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
    """For `verify`: every regret computed again from the recorded moves; runs are sealed."""
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
