"""An adapter on disk: small enough to commit, and it names the base it was trained on by hash."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sauda.llm.backends.model import ADAPTERS, TRAINED
from sauda.records.store import sha256, write_bytes
from sauda.train.base import BASES, Base
from sauda.train.run import ADAPTER

CONFIG, WEIGHTS = ADAPTER


def save_adapter(network: Any, folder: Path, base: Base, made: Mapping[str, Any]) -> None:
    """Write the adapter of a PEFT `network` in half precision, with `made` and its base's hash."""
    import torch
    from safetensors.torch import load_file, save

    network.save_pretrained(folder, selected_adapters=["default"])  # not the reference beside it
    numbers = {name: x.to(torch.float16) for name, x in load_file(folder / WEIGHTS).items()}
    write_bytes(folder / WEIGHTS, save(numbers, metadata={"format": "pt"}))
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    config["base_model_name_or_path"] = BASES.get(base.name, base.name)
    config["target_modules"] = sorted(config["target_modules"])  # PEFT keeps a set, in any order
    write_bytes(folder / CONFIG, (json.dumps(config, indent=1, sort_keys=True) + "\n").encode())
    trained = {"base": base.name, "base_sha256": base.weights.sha256, **made}
    write_bytes(folder / TRAINED, (json.dumps(trained, indent=1) + "\n").encode())


def read_adapter(network: Any, folder: Path) -> None:
    """Give the adapter of a PEFT `network` the numbers of the one in `folder`."""
    from peft import load_peft_weights, set_peft_model_state_dict

    set_peft_model_state_dict(network, load_peft_weights(str(folder)))


def publish(folder: Path, name: str, root: Path = ADAPTERS) -> dict[str, Any]:
    """Copy an adapter to `root/name`, where `load` finds it; returns its name, hash and size."""
    for file in (CONFIG, TRAINED, WEIGHTS):
        write_bytes(root / name / file, (folder / file).read_bytes())
    size = (folder / WEIGHTS).stat().st_size
    return {"name": name, "sha256": sha256(folder / WEIGHTS), "bytes": size}
