"""Recomputes the data of each kind of artifact for `verify`, with one function a kind.

Each takes the artifact, a number of worker processes and the folder of all artifacts, and returns
the JSON value that its data should be. `sauda/records/kinds/registry.py` names them.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sauda.records.kinds import ArtifactError
from sauda.records.store import Artifact, sha256


def training_run(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """Training is not repeated; the adapter must be the run's own, and its log complete."""
    recorded = artifact.data.as_json()
    kept = {}
    if adapter := recorded.get("adapter"):
        file = root / "adapters" / adapter["name"] / "adapter_model.safetensors"
        if not file.exists():
            raise ArtifactError(f"{file.relative_to(root)} is missing")
        kept = {"adapter": {**adapter, "sha256": sha256(file), "bytes": file.stat().st_size}}
    log = [{**row, "step": i} for i, row in enumerate(recorded["log"], 1)]
    last = {name: log[-1][name] for name in ("seconds", "num_tokens")}
    return {**recorded, **kept, "log": log, **last}
