"""All training runs beside each other: what each took, and what it gained on hold-out games."""

from collections.abc import Iterator

import gradio as gr
from markupsafe import Markup

from panels.results.model_comparison import FILE, LAB_FILE
from panels.results.questions.training import verdict, whole_gains
from panels.results.questions.verdict import tasks_listed
from panels.training.logs import Runs, recorded
from panels.ui.look import heading, table
from panels.ui.provenance import load_or_say
from panels.ui.tables import with_interval
from panels.ui.terms import short, with_tooltips
from sauda.experiments.comparison import StageGain
from sauda.records.store import Artifact

TASKS = {"bazaar": "bazaar/open", "arena": "arena/market_round"}  # where a gain is read, by game
STAGES = (
    "SFT copies a teacher, distillation learns a stronger teacher’s moves in the model’s own games,"
    " GRPO plays for the grade, DPO learns from pairs of replies."
)
NOT_RECORDED = "not recorded yet"
COLUMNS = ("run", "hold-out gain", "last checkpoint", "steps", "tokens", "minutes", "machine")


def overview(runs: Runs, comparisons: list[Artifact]) -> Markup:
    """A row a run: its hold-out gain, the grade of its last checkpoint, steps, tokens, minutes."""
    gains = list(all_gains(comparisons))
    rows = []
    for run in runs.values():
        log, data = recorded(run), run.data
        last = (data.checkpoint_evaluations or [None])[-1]
        rows.append(
            (
                log.name,
                gain_of(run.file.removeprefix("training/").removesuffix(".json"), log.game, gains),
                "–" if last is None else f"{last.reward:.3f} [{last.low:.3f}, {last.high:.3f}]",
                f"{len(data.log):,}",
                f"{data.num_tokens:,}",
                f"{data.seconds / 60:.0f}",
                machine(run),
            )
        )
    return table(COLUMNS, rows, "lrrrrrl", "Every run")


def machine(run: Artifact) -> str:
    """The hardware of a run: "2 CPU cores", or the GPU by its name."""
    hardware = run.data.hardware
    return f"{hardware.cores} CPU cores" if "CPU" in hardware.device else hardware.device


def all_gains(comparisons: list[Artifact]) -> Iterator[StageGain]:
    """The gains of all stages on all hold-out seeds, of both games."""
    for comparison in comparisons:
        yield from (gain for gain in comparison.data.stage_gains if gain.on == "all")


def gain_of(name: str, game: str, gains: list[StageGain]) -> str:
    """What the adapter called `name` gained over the stage before, on the game's first task."""
    for gain in gains:
        if (gain.after, gain.task) == (f"mini+{name}", TASKS[game]):
            return f"{with_interval(gain.interval, '+.3f')}, n {gain.n}"
    return NOT_RECORDED


def headline(comparison: Artifact) -> str:
    """Whether training helps, with the gain on the first task that the served stage played."""
    sentence = verdict(comparison).sentence
    gain = next(iter(whole_gains(comparison).values()), None)
    if gain is None:
        return sentence
    figures = with_interval(gain.interval, "+.3f")
    return f"{sentence} In the {short(gain.task)}: {figures}, n = {gain.n:,}."


def build(runs: Runs) -> None:
    """Lay out the part. Called inside the Training tab."""
    bazaar, lab = (load_or_say(file)[0] for file in (FILE, LAB_FILE))
    if bazaar is not None:
        gr.HTML(heading(headline(bazaar), "Gains by task are in Results."))
    comparisons = [artifact for artifact in (bazaar, lab) if artifact is not None]
    gr.HTML(overview(runs, comparisons), elem_id="training-overview")
    gr.HTML(
        Markup('<p class="sauda-note">{}</p>').format(
            with_tooltips(
                "Hold-out gain: mean grade less that of the stage before, paired by seed, in"
                f" {tasks_listed(list(TASKS.values()))}. Last checkpoint: mean grade on training"
                f" games. Brackets are 95 % intervals. {STAGES}"
            )
        )
    )
