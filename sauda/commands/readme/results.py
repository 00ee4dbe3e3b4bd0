"""The table of what the evaluations, the training runs and the bench show, one claim a row."""

from collections.abc import Iterator

from sauda.commands.readme.speeds import speeds
from sauda.commands.readme.tables import markdown, spanned
from sauda.records.kinds import training_runs
from sauda.records.schemas.evaluation import Row
from sauda.records.schemas.training import TrainingRun
from sauda.records.store import ROOT, Artifact, load
from sauda.train import ARENA
from sauda.train.checks import POSITIONS_A_GAME


def results() -> str:
    """Claim, figure, n and file of what the evaluations, the training and the bench show."""
    agreed = load("evaluation/reproduction.json").data.agreement
    sampled = agreed.figures - agreed.without_error
    rows = [
        (
            "our classic game gives the published game's figures",
            f"{agreed.within_two} of {sampled} within two standard errors, "
            f"{agreed.without_error_equal} of {agreed.without_error} equal to four decimals "
            "where nothing varies",
            "1,000 seeds a task and policy",
            "evaluation/reproduction.json",
        )
    ]
    holdout = "evaluation/classic-holdout.json"
    for task in ("classic/deceptive_seller", "classic/amazon_realistic"):
        for policy in ("expert", "wait"):
            row = _row(holdout, task, policy)
            claim = f"`{policy}` on `{task}`, hold-out seeds: share of the ZOPA"
            rows.append((claim, spanned(row.share), f"{row.n}", holdout))
    rows += _training()
    rows += speeds()
    return markdown(("claim", "measured", "n", "in"), [(*row[:3], f"`{row[3]}`") for row in rows])


def _row(file: str, task: str, policy: str) -> Row:
    rows = load(file).data.rows
    return next(r for r in rows if (r.task, r.policy) == (task, policy))


def _training() -> list[tuple[str, str, str, str]]:
    """What each training run took, and what its acceptance check counted."""
    rows = []
    for stage in recorded():
        file = f"training/{stage}.json"
        artifact = load(file)
        run = artifact.data
        gate, on = run.acceptance, run.hardware
        steps, minutes = run.log[-1].step, f"{run.seconds / 60:.0f} min"
        of_lab = stage in ARENA
        teacher = "planner" if of_lab else "belief buyer"
        saw = f"{gate.valid:.0%} are moves, {gate.same_kind:.0%} of the {teacher}'s kind"
        if gate.accepted is not None:
            saw += f", the rules take {gate.accepted:.0%}"
        if gate.price_off is not None:
            saw += f", prices {gate.price_off:.1f} % of the limit off its"
        if run.pairs is not None:
            minutes = f"{run.pairs.seconds / 60:.0f} min of looking for pairs, then {minutes}"
        threads = "one thread" if on.threads == 1 else f"{on.threads} threads"
        of = f"{threads} of " if "CPU" in on.device else ""
        where = f"{of}a shared {on.device}"
        rows += [
            (
                f"training of the adapter `{stage}` on {where}",
                f"{steps} steps, {run.num_tokens:,} tokens, {minutes}",
                _learnt(artifact),
                file,
            ),
            ("its replies to hold-out prompts", saw, f"{gate.n}", file),
            *_regret(run, file),
        ]
    return rows


def _regret(run: TrainingRun, file: str) -> Iterator[tuple[str, str, str, str]]:
    """The regret of the first and the last checkpoint whose moves were judged, and its prices."""
    judged = [row for row in run.checkpoint_evaluations or () if row.regret is not None]
    if judged:
        first, last = judged[0], judged[-1]
        yield (
            f"regret of its moves in fixed positions by the pilot's values, step {last.step}",
            f"{spanned(last.regret)}, at step {first.step} {spanned(first.regret)}; prices from "
            f"the third turn on {last.price_error:.1f} % of the limit off, at step {first.step} "
            f"{first.price_error:.1f} %",
            f"{POSITIONS_A_GAME * last.n}",
            file,
        )


def recorded() -> list[str]:
    """The runs of training that are recorded, in their order."""
    return [name for name in training_runs() if (ROOT / f"training/{name}.json").exists()]


def _learnt(artifact: Artifact) -> str:
    """The amount of training data of a run, in words."""
    run: TrainingRun = artifact.data
    if run.rows is not None:
        return f"{run.rows.completions:,} moves"
    if run.pairs is not None:
        return f"{run.pairs.n:,} pairs"
    if run.rounds is not None:
        return f"{sum(r.completions for r in run.rounds):,} labelled states"
    played = sum(run.games.task.values()) * run.games.num_generations
    return f"{played:,} games"
