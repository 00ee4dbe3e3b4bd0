"""`python -m sauda serve-model|publish`: what others' tools reach."""

import argparse
from pathlib import Path
from typing import Any

from sauda.commands.console import add_command, with_reason
from sauda.players import player_spec
from sauda.serve.listening import check_free

LOADS_WITHIN = 600.0  # seconds


def add(commands: Any) -> None:
    """Add these commands to those of `python -m sauda`."""
    parser = add_command(commands, "serve-model", serve_model)
    parser.add_argument("models", nargs="*", default=["sauda-mini"], metavar="NAME")
    parser.add_argument("--host", default="127.0.0.1", help="another one lets others ask as well")
    parser.add_argument("--port", type=int, default=8000)
    verbs = add_command(commands, "publish").add_subparsers(
        required=True, metavar="KIND", dest="kind"
    )
    about = "the data set of tasks and recorded games, an environment and a benchmark"
    dataset = add_command(verbs, "dataset", publish, about)
    dataset.add_argument("--space", default="", metavar="OWNER/NAME", help="that serves the games")
    dataset.add_argument("--seeds", type=int, default=200, help="of each task and split")
    about = "an adapter with its card and its results at the benchmark"
    model = add_command(verbs, "model", publish, about)
    model.add_argument("adapter", help="under artifacts/adapters/, such as sft")
    model.add_argument("--dataset", required=True, metavar="OWNER/NAME", help="the benchmark")
    logs = add_command(verbs, "logs", publish, "a static Space: Inspect's viewer of recorded games")
    for verb in (dataset, model, logs):
        verb.add_argument("--folder", required=True, type=Path, help="to write, new")
        about = "repository of the Hub; without it nothing is sent"
        verb.add_argument("--upload", metavar="OWNER/NAME", help=about)


@with_reason
def serve_model(options: argparse.Namespace) -> None:
    """Load the models and answer chats until interrupted."""
    import uvicorn

    from sauda.llm.model import CannotLoad
    from sauda.llm.process import ProcessEngine
    from sauda.llm.server import Failed, ReplyService
    from sauda.serve.models import LIMITS, models_app

    for name in options.models:
        if player_spec(name).weights != name:
            raise ValueError(f"{name} is more than weights: whoever asks sends schema and prompt")
    check_free(options.host, options.port)
    service = ReplyService(ProcessEngine, LIMITS)
    for name in options.models:
        if isinstance(stage := service.wait(name, LOADS_WITHIN), Failed):
            raise CannotLoad(f"{name} cannot be loaded: {stage.reason}")
    config = uvicorn.Config(
        models_app(service, options.models), options.host, options.port, log_level="warning"
    )
    listening = config.bind_socket()  # whoever reads the address may ask at once
    listening.listen()
    address = f"http://{options.host}:{listening.getsockname()[1]}/v1"
    print(f"{', '.join(options.models)} at {address}", flush=True)
    uvicorn.Server(config).run([listening])


@with_reason
def publish(options: argparse.Namespace) -> None:
    """Write a folder for the Hub, and upload it where a repository is named.

    What the repository has and the folder has not is deleted there.
    """
    from huggingface_hub import HfApi

    from sauda.cloud.publish import write_dataset, write_logs, write_model

    folder, kind = options.folder, "space" if options.kind == "logs" else options.kind
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise ValueError(f"{folder} holds something; name a new folder")
    if options.kind == "dataset":
        write_dataset(folder, options.space, options.seeds)
    elif options.kind == "model":
        write_model(folder, options.adapter, options.dataset)
    else:
        write_logs(folder)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 2**20
    print(f"wrote {folder}, {size:.1f} MiB")
    if not options.upload:
        print(f"a dry run: --upload OWNER/NAME sends it to the Hub as a {kind}")
        return
    api, about = HfApi(), {"repo_id": options.upload, "repo_type": kind}
    api.create_repo(**about, exist_ok=True, space_sdk="static" if kind == "space" else None)
    print(api.upload_folder(**about, folder_path=folder, delete_patterns="*"))
