"""`python -m sauda serve-model`: what others' tools reach."""

import argparse
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
