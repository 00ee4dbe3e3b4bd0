"""`python -m sauda serve-model|publish`: what others' tools reach."""

import argparse
from pathlib import Path
from typing import Any

from sauda.commands.console import add_command, with_reason
from sauda.llm.registry import player_spec
from sauda.serve.listening import check_free

LOADS_WITHIN = 600.0  # seconds


def add(commands: Any) -> None:
    """Add these commands to those of `python -m sauda`."""
    parser = add_command(commands, "serve-model", serve_model)
    parser.add_argument("models", nargs="*", default=["sauda-mini"], metavar="NAME")
    parser.add_argument("--host", default="127.0.0.1", help="another one lets others ask as well")
    parser.add_argument("--port", type=int, default=8000)
    verbs = add_command(commands, "publish").add_subparsers(required=True, metavar="VERB")
    about = "write the data set of tasks and recorded games, an environment and a benchmark"
    verb = add_command(verbs, "dataset", publish_dataset, about)
    verb.add_argument("--space", default="", metavar="OWNER/NAME", help="that serves the games")
    verb.add_argument("--seeds", type=int, default=200, help="of each task and split")
    _add_target(verb)
    about = "write an adapter with its card and its results at the benchmark"
    verb = add_command(verbs, "model", publish_model, about)
    verb.add_argument("adapter", help="under artifacts/adapters/, such as sft")
    verb.add_argument("--dataset", required=True, metavar="OWNER/NAME", help="the benchmark")
    _add_target(verb)


def _add_target(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--folder", required=True, type=Path, help="to write, new")
    parser.add_argument(
        "--upload", metavar="OWNER/NAME", help="repository of the Hub; without it nothing is sent"
    )


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
    address = f"http://{options.host}:{options.port}/v1"
    print(f"{', '.join(options.models)} at {address}", flush=True)
    app = models_app(service, options.models)
    uvicorn.run(app, host=options.host, port=options.port, log_level="warning")


@with_reason
def publish_dataset(options: argparse.Namespace) -> None:
    """Write the data set, and upload it where that is asked for."""
    from sauda.cloud.publish import write_dataset

    _make_new(options.folder)
    write_dataset(options.folder, options.space, options.seeds)
    _upload(options, "dataset")


@with_reason
def publish_model(options: argparse.Namespace) -> None:
    """Write an adapter with its card and results, and upload it where that is asked for."""
    from sauda.cloud.publish import write_model

    _make_new(options.folder)
    write_model(options.folder, options.adapter, options.dataset)
    _upload(options, "model")


def _make_new(folder: Path) -> None:
    """Make the folder; ValueError where there is one that holds something."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise ValueError(f"{folder} holds something; name a new folder")


def _upload(options: argparse.Namespace, kind: str) -> None:
    """Upload the folder where a repository is named; what is there and not in it is deleted."""
    from huggingface_hub import HfApi

    files = [path for path in options.folder.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files) / 2**20
    print(f"wrote {len(files)} files, {size:.1f} MiB, to {options.folder}")
    if not options.upload:
        print(f"a dry run: --upload OWNER/NAME sends it to the Hub as a {kind}")
        return
    api, about = HfApi(), {"repo_id": options.upload, "repo_type": kind}
    api.create_repo(**about, exist_ok=True)
    print(api.upload_folder(**about, folder_path=options.folder, delete_patterns="*"))
