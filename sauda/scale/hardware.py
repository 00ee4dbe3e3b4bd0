"""Hardware flavors of the Hub for jobs, and the memory that training takes.

Memory is in GB of 10^9 bytes, prices in dollars an hour.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from sauda.llm.backends.model import BYTES
from sauda.train import STAGES
from sauda.train.model import PARAMETERS, TOY, memory

UNITS_AN_HOUR = {"minute": 60, "hour": 1}  # of the Hub's prices
WITHOUT_BF16 = ("T4",)  # GPUs that cannot compute in the precision that training takes


@dataclass(frozen=True)
class Flavor:
    """A machine that the Hub rents out, with one GPU at most: a stage uses one."""

    name: str  # of huggingface_hub.JobHardware
    device: str  # cpu or cuda
    memory: int  # GB, of the GPU where there is one
    price: float  # $ an hour


# For a dry run, which asks nobody: https://huggingface.co/docs/hub/jobs-pricing, 2026.
FLAVORS = (
    Flavor("cpu-basic", "cpu", 16, 0.01),
    Flavor("cpu-upgrade", "cpu", 32, 0.03),
    Flavor("cpu-xl", "cpu", 124, 1.00),
    Flavor("cpu-performance", "cpu", 256, 1.90),
    Flavor("l4x1", "cuda", 24, 0.80),
    Flavor("a10g-small", "cuda", 24, 1.00),
    Flavor("a10g-large", "cuda", 24, 1.50),
    Flavor("l40sx1", "cuda", 48, 1.80),
    Flavor("a100-large", "cuda", 80, 2.50),
    Flavor("rtx-pro-6000", "cuda", 96, 2.75),
    Flavor("h200", "cuda", 141, 5.00),
)


def from_hub(api: Any) -> tuple[Flavor, ...]:
    """The machines that the Hub rents out now, by `api.list_jobs_hardware` of an HfApi.

    Left out are machines with several GPUs, with other accelerators, and without bf16. Raises
    HfHubHTTPError where the Hub does not answer.
    """
    flavors = []
    for hardware in api.list_jobs_hardware():
        gpu = hardware.accelerator
        if gpu and (gpu.type != "gpu" or int(gpu.quantity) > 1 or gpu.model in WITHOUT_BF16):
            continue
        size = gpu.vram if gpu else hardware.ram
        price = hardware.unit_cost_usd * UNITS_AN_HOUR[hardware.unit_label]
        flavors.append(
            Flavor(hardware.name, "cuda" if gpu else "cpu", _gigabytes(size), round(price, 2))
        )
    return tuple(flavors)


def _gigabytes(size: str) -> int:
    """The number in the Hub's words for a memory, such as "24 GB"."""
    number, unit = size.split()
    return round(float(number) * {"GB": 1, "TB": 1000}[unit])


def flavor(name: str, rented: Sequence[Flavor] = FLAVORS) -> Flavor:
    """The flavor called `name`; raises ValueError."""
    for known in rented:
        if known.name == name:
            return known
    names = ", ".join(known.name for known in rented)
    raise ValueError(f"no flavor {name!r}; flavors are {names}")


def memory_needed(model: str, device: str, precision: str, stages: Sequence[str] = STAGES) -> float:
    """Bytes that the largest of some stages of training a named model takes on a device.

    Raises ValueError for another model.
    """
    if model not in PARAMETERS:
        raise ValueError(
            f"no size is known of {model!r}; name one of {', '.join(PARAMETERS)}, or say --flavor"
        )
    held = "fp32" if model == TOY else precision
    configs = [import_module(f"sauda.train.{stage}").SETTINGS["bazaar"] for stage in stages]
    return max(
        memory(
            PARAMETERS[model] * BYTES[held],
            config.per_device_train_batch_size,
            0 if held == "nf4" else config.copies,  # in 4 bits the learner itself plays
            checkpointing=device == "cuda",
        )
        for config in configs
    )


def fitting(
    needed: float, device: str = "cuda", rented: Sequence[Flavor] = FLAVORS
) -> tuple[Flavor, ...]:
    """The flavors of a device with `needed` bytes of memory, the cheapest first.

    Raises ValueError where none has them.
    """
    there = sorted((f for f in rented if f.device == device), key=lambda f: f.price)
    if fit := tuple(f for f in there if f.memory * 10**9 >= needed):
        return fit
    largest = max(there, key=lambda f: f.memory)
    raise ValueError(
        f"training needs {needed / 1e9:.0f} GB and the largest flavor, {largest.name}, has "
        f"{largest.memory}; choose a smaller model or --precision nf4"
    )
