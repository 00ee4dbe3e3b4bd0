"""What was trained, on what and for how long: read from the logs of the runs behind Sauda."""

from markupsafe import Markup

from panels.training.logs import TITLES
from panels.ui.look import stat, strip
from sauda.cloud.jobs import flavor
from sauda.llm.model import SAUDA
from sauda.records.store import Artifact, load
from sauda.train.model import PARAMETERS

RENTED = "cpu-basic"  # the Hub's machine with as many cores as ours


def chain(stage: str = SAUDA) -> list[Artifact]:
    """The training runs from the base to `stage`, in the order in which they were trained.

    Raises ArtifactError where a log is missing.
    """
    runs = [load(f"training/{stage}.json")]
    while before := runs[0].data.init_adapter:
        runs.insert(0, load(f"training/{before.name}.json"))
    return runs


def in_short(runs: list[Artifact]) -> str:
    """Model, training time, hardware and cost of the chain of `runs` in a sentence."""
    hardware, hours = runs[0].data.hardware, _hours(runs)
    return (
        f"{_millions(runs)} parameters, trained for {hours:.1f} hours on {hardware.cores} CPU cores"
        f" without a GPU: about ${hours * flavor(RENTED).price:.2f} of rented time."
    )


def facts(runs: list[Artifact]) -> Markup:
    """The same as a strip, with the stages, their minutes and tokens."""
    hardware, hours = runs[0].data.hardware, _hours(runs)
    tokens = sum(run.data.num_tokens for run in runs)
    stages = ", then ".join(
        f"{_title(run.data.stage)} {run.data.seconds / 60:.0f} min" for run in runs
    )
    price = flavor(RENTED).price
    return strip(
        stat(
            _millions(runs),
            "model size, parameters",
            note="SmolLM2-135M-Instruct with a LoRA adapter",
        ),
        stat(f"{hours:.1f} hours", "training time", note=f"{stages}; {tokens:,} tokens"),
        stat(
            f"{hardware.cores} CPU cores",
            "hardware, no GPU",
            note=f"about ${hours * price:.2f} at the Hub’s ${price:.2f} an hour for {RENTED}",
        ),
    )


def _hours(runs: list[Artifact]) -> float:
    return sum(run.data.seconds for run in runs) / 3600


def _millions(runs: list[Artifact]) -> str:
    return f"{PARAMETERS[runs[0].data.base.name] / 1e6:.0f} million"


def _title(stage: str) -> str:
    """The stage's title within a sentence: "distillation", "SFT"."""
    title = TITLES.get(stage, stage.upper())
    return title if title[:2].isupper() else title[0].lower() + title[1:]
