"""The model that a run trains: its base by name, the precision, the adapter that learns.

toy is a random network of two layers, made on the spot, on which every stage runs in seconds.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sauda.llm.backends.model import (
    BYTES,
    MODELS,
    CannotLoad,
    base_weights,
    free_memory,
    read_network,
)
from sauda.llm.backends.weights import Weights, smollm2

TOY = "toy"
BASES = {"mini": MODELS["mini"].base, "8b": MODELS["sauda-8b"].base}
PARAMETERS = {TOY: 3_219_776, "mini": 134_515_008, "8b": 8_030_261_248}
ROW = 1.2  # times the weights: one row's activations on a CPU; 16 on the small model took 5.2 GB
CHECKPOINTED = 2.0  # times the weights, activations computed again where they are needed, on a GPU


@dataclass(frozen=True)
class LoRA:
    """The adapter's shape; Hu et al. (2021), on every linear layer of a block."""

    rank: int = 8  # 4.9 MB in half precision on the small model
    alpha: int = 16
    targets: tuple[str, ...] = (
        "q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj",
    )  # fmt: skip


@dataclass(frozen=True)
class Base:
    """A base model that a run trains on, found on disk."""

    name: str  # toy, mini, 8b, or a folder or repository
    weights: Weights
    device: str
    precision: str


def base(name: str, folder: Path, at_once: int, copies: int = 0) -> Base:
    """The base called `name`, to train on `at_once` rows a pass; a toy is made under `folder`.

    `copies` of its weights are held beside it.

    Raises CannotLoad or NoWeights.
    """
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    weights = toy(folder / "base") if name == TOY else base_weights(BASES.get(name, name))
    size = sum(file.stat().st_size for file in weights.folder.glob("*.safetensors"))
    free = free_memory(device)
    precision = "fp32" if name == TOY else "bf16"
    needed = memory(size, device, at_once, copies)
    if needed > free and device == "cuda":
        precision = "nf4"
        needed = memory(size * BYTES["nf4"] / BYTES["bf16"], device, at_once)  # plays as it is
    if needed > free:
        raise CannotLoad(
            f"training {name} on {at_once} rows a pass needs about {needed / 2**30:.1f} GiB of "
            f"memory on this {device.upper()}, and {free / 2**30:.1f} are free; lower --at-once "
            "or choose a smaller model"
        )
    return Base(name, weights, device, precision)


def memory(weights: float, device: str, at_once: int, copies: int = 0) -> float:
    """Bytes that training `at_once` rows a pass takes on a device, of which `weights` for those.

    And as many again for each of the `copies`.
    """
    return weights * (copies + (CHECKPOINTED if device == "cuda" else 1 + at_once * ROW))


def toy(folder: Path) -> Weights:
    """A random Llama of two layers with the small model's tokenizer, the same each time."""
    import torch
    from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

    if not (folder / "model.safetensors").exists():
        torch.manual_seed(0)
        shape = LlamaConfig(
            vocab_size=49152, hidden_size=64, intermediate_size=128, num_hidden_layers=2,
            num_attention_heads=4, num_key_value_heads=2, eos_token_id=2, pad_token_id=2,
            tie_word_embeddings=True,
        )  # fmt: skip
        AutoTokenizer.from_pretrained(smollm2().folder).save_pretrained(folder)
        LlamaForCausalLM(shape).save_pretrained(folder)
    return base_weights(str(folder))


def network(found: Base) -> Any:
    """The base's network, to be trained on."""
    return read_network(found.weights.folder, None, found.precision, found.device)


def lora(shape: LoRA) -> Any:
    """PEFT's configuration of `shape`."""
    from peft import LoraConfig

    return LoraConfig(
        r=shape.rank,
        lora_alpha=shape.alpha,
        target_modules=list(shape.targets),
        task_type="CAUSAL_LM",
    )
