"""`python -m sauda bench`: speed of the games, the page, OpenEnv and the language model.

Every figure keeps its samples; the machine stands beside them. What cannot be measured on a machine
is left out, with the reason in a sentence.
"""

import argparse
import json
import os
import platform
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sauda.commands.bench import page
from sauda.commands.bench.games import arena_speeds, game_speeds
from sauda.commands.bench.tables import full_table, merge_of_shards
from sauda.commands.console import add_command
from sauda.commands.loadtest.page_process import running_app
from sauda.evaluation.speed import Compared, published_speeds
from sauda.records.store import load, save

NO_MODEL = "The language model's speed is left out: the run was asked for without it."


def add(commands: Any) -> None:
    """Add `bench` to the commands of `python -m sauda`."""
    parser = add_command(commands, "bench", bench)
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--model", action="store_true", help="the language model alone")
    part.add_argument("--no-model", action="store_true", help="all but the language model")
    part.add_argument("--openenv", action="store_true", help="the OpenEnv environment alone")
    part.add_argument("--gpu", action="store_true", help="the language model on a GPU alone")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--save", action="store_true", help="write the artifact")


def bench(options: argparse.Namespace) -> int:
    """Measure, print the figures, and save them if the options say so."""
    if (options.model or options.openenv) and options.save:
        raise ValueError("figures of one part are no whole bench; save without naming one")
    if options.gpu:
        data = on_gpu()
    else:
        data = openenv_alone() if options.openenv else measured(options.model, options.no_model)
    if options.save:
        save("bench-gpu.json" if options.gpu else "bench.json", {}, data)
    if options.json:
        print(json.dumps(data, indent=1))
    else:
        print("\n".join(report(data)))
    return 0


def measured(only_model: bool = False, without_model: bool = False) -> dict[str, Any]:
    """The data of the bench artifact: the machine, figures, their ratios, what was left out."""
    model, left_out = (Compared([], []), [NO_MODEL]) if without_model else language_model()
    if only_model:
        return {"machine": machine(), **model._asdict(), "left_out": left_out}
    machine_with_gradio = machine() | {"gradio": version("gradio")}
    figures, ratios = game_speeds()
    figures += [full_table(), merge_of_shards(), *arena_speeds(), page.import_of_app()]
    with running_app() as app:
        if obstacle := page.no_browser():
            left_out.append(f"the page in a browser is left out: {obstacle}.")
        else:
            figures += page.opening(app.address)
        figures.append(page.scripted_reply(app.address))
        figures += openenv(app.address)
    both = {"figures": figures + model.figures, "ratios": ratios + model.ratios}
    return {"machine": machine_with_gradio, **both, "left_out": left_out}


def on_gpu() -> dict[str, Any]:
    """The same data with the language model's figures on a GPU; ValueError where there is none."""
    import torch

    from sauda.commands.bench.gpu import gpu_figures

    if not torch.cuda.is_available():
        raise ValueError("bench --gpu needs a GPU that CUDA finds; there is none on this machine")
    figures = gpu_figures()._asdict()
    versions = {name: version(name) for name in ("torch", "transformers", "bitsandbytes")}
    gpu = {"gpu": torch.cuda.get_device_name(), **versions}
    return {"machine": machine() | gpu, **figures, "left_out": []}


def openenv_alone() -> dict[str, Any]:
    """The same data with the figures of the OpenEnv environment and no others."""
    with running_app() as app:
        figures = openenv(app.address)
    return {"machine": machine(), "figures": figures, "ratios": [], "left_out": []}


def openenv(address: str) -> list[dict[str, Any]]:
    """The figures of the OpenEnv environment, whose package imports Gradio: only where needed."""
    from sauda.commands.bench.openenv import openenv_figures

    return openenv_figures(address)


def report(data: Mapping[str, Any]) -> Iterator[str]:
    """A bench's data as lines of text; the published speeds stand apart."""
    width = max(len(row["name"]) for row in data["figures"])
    for row in data["figures"]:
        p95 = f", 95 % within {row['p95']:.4g}" if "p95" in row else ""
        yield f"{row['name']:{width}} {row['median']:10.4g} {row['unit']}{p95}, n {row['n']}"
    for row in data["ratios"]:
        yield f"{row['of']}: {row['median']:.4g} times {row['to']}, n {row['n']}"
    yield from data["left_out"]
    yield "As published, on other machines; not timed in this run, so no ratio is given:"
    for row in published_speeds(load("published.json")):
        yield f"{row['title']}, {row['name']}: {row['median']:,} ({row['source']})"


def language_model() -> tuple[Compared, list[str]]:
    """The language model's speeds, and what was left out: all of it where no weights are there."""
    from sauda.commands.bench.model import model_figures
    from sauda.commands.bench.throughput import throughput
    from sauda.llm.backends.weights import NoWeights

    try:
        beside, left_out = throughput()
        return Compared(model_figures() + beside.figures, beside.ratios), left_out
    except NoWeights as error:
        return Compared([], []), [f"The language model's speed is left out: {error}."]


def machine() -> dict[str, Any]:
    """What the samples depend on: processor, cores, versions."""
    return {"processor": processor(), "cores": os.cpu_count(), "system": platform.system()}


def processor() -> str:
    """The processor's name where the system tells it, else its architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
