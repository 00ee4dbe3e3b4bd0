"""The model that a run trains: its base by name, its precision, its adapter, and how it plays.

The model called toy is a random network of two layers, made on the spot, on which every stage runs
in seconds. An adapter is small enough to commit; it names the base it was trained on by hash.

A `Learner` plays whole games as the network in training. Its adapter is merged into a copy of the
base, as `load` does for the page, so that the trained model is the one that plays. A network
without an adapter is copied whole. A 4-bit network has no room for a copy and plays with its
adapter beside it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sauda.games.adapter import ModelTurn
from sauda.llm import model as llm_model
from sauda.llm.engine import JointDecoder, Sampling, generation_mode, prompt_ids, replies
from sauda.llm.model import ADAPTER_CONFIG, free_memory
from sauda.llm.model import Model as ServedModel
from sauda.llm.types import BatchGenerate, Messages, Reply, Schema
from sauda.records.store import renew_checksums, sha256, write_bytes

TOY = "toy"
BASES = {"mini": llm_model.MODELS["mini"].base, "8b": llm_model.MODELS["sauda-8b"].base}
PARAMETERS = {TOY: 3_219_776, "mini": 134_515_008, "8b": 8_030_261_248}
ROW = 1.2  # times the weights: one row's activations; 16 on the small model took 5.2 GB on a CPU
CHECKPOINTED = 2.0  # times the weights, activations computed again where they are needed
FOUR_BITS = ("short", "gpu", "always")  # on a GPU short of memory, on any GPU, also on a CPU
ADAPTER_WEIGHTS = "adapter_model.safetensors"


@dataclass(frozen=True)
class LoRA:
    """The adapter's shape, in PEFT's names; Hu et al. (2021), on every linear layer of a block."""

    r: int = 8  # 4.9 MB in half precision on the small model
    lora_alpha: int = 16
    target_modules: tuple[str, ...] = (
        "q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj",
    )  # fmt: skip


@dataclass(frozen=True)
class Base:
    """A base model on disk, to train on."""

    name: str  # toy, mini, 8b, or a folder or repository
    weights: llm_model.Weights
    device: str  # cpu or cuda
    precision: str  # fp32, bf16 or nf4
    checkpointing: bool = False  # of activations, where the memory of a GPU is too small for all


def find_base(
    name: str, folder: Path, batch_size: int, copies: int = 0, four_bits: str = "short"
) -> Base:
    """The base called `name`, to train on `batch_size` rows per pass; a toy is made under `folder`.

    `copies` of its weights are held beside it. `four_bits`, one of FOUR_BITS, says when its weights
    are in nf4 with double quantisation. Raises CannotLoad where the memory is too small, NoWeights
    where the base is not there.
    """
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    weights = toy(folder / "base") if name == TOY else llm_model.base_weights(BASES.get(name, name))
    size = sum(file.stat().st_size for file in weights.folder.glob("*.safetensors"))
    free = free_memory(device)
    on_gpu = device == "cuda"
    precision = "bf16" if name != TOY and (on_gpu or llm_model.multiplies_bf16()) else "fp32"
    size *= llm_model.BYTES[precision] / llm_model.BYTES["fp32" if name == TOY else "bf16"]
    checkpointing = on_gpu and training_bytes(size, batch_size, copies) > free
    needed = training_bytes(size, batch_size, copies, checkpointing)
    if four_bits == "always" or (on_gpu and (four_bits == "gpu" or needed > free)):
        small = size * llm_model.BYTES["nf4"] / llm_model.BYTES[precision]
        precision = "nf4"
        checkpointing = on_gpu
        needed = training_bytes(small, batch_size, checkpointing=checkpointing)  # it needs no copy
    if needed > free:
        raise llm_model.CannotLoad(
            f"training {name} on {batch_size} rows a pass needs about {needed / 2**30:.1f} GiB of "
            f"memory on this {device.upper()}, and {free / 2**30:.1f} are free; lower "
            "--per-device-train-batch-size or choose a smaller model"
        )
    return Base(name, weights, device, precision, checkpointing)


def training_bytes(
    weights: float, batch_size: int, copies: int = 0, checkpointing: bool = False
) -> float:
    """Bytes that training takes on a device, of which `weights` bytes for the weights.

    `batch_size` counts the rows of one pass, `copies` the further copies of the weights.
    """
    return weights * (copies + (CHECKPOINTED if checkpointing else 1 + batch_size * ROW))


def toy(folder: Path) -> llm_model.Weights:
    """A Llama of two layers with fixed random weights and the small model's tokenizer.

    It is drawn also where it is on disk already: what a run draws after it, such as a new adapter,
    is then the same after a kill.
    """
    import torch
    from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    shape = LlamaConfig(
        vocab_size=49152, hidden_size=64, intermediate_size=128, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, eos_token_id=2, pad_token_id=2,
        tie_word_embeddings=True,
    )  # fmt: skip
    network = LlamaForCausalLM(shape)
    if not (folder / "model.safetensors").exists():
        AutoTokenizer.from_pretrained(llm_model.smollm2().folder).save_pretrained(folder)
        network.save_pretrained(folder)
    return llm_model.base_weights(str(folder))


def read_base(base: Base) -> Any:
    """The base's network to train on, without an adapter.

    On a CPU with AVX512-BF16, bitsandbytes packs 4-bit weights for inference in the first pass
    without gradients, such as a validation, and gradients through packed weights are wrong.
    """
    network = llm_model.read_network(base.weights.folder, None, base.precision, base.device)
    if base.precision == "nf4":
        from bitsandbytes.nn import Linear4bit

        for module in network.modules():
            if isinstance(module, Linear4bit):
                module.support_avx512bf16_for_cpu = False
    return network


def tokenizer_of(base: Base) -> Any:
    """The base's tokenizer, with a token to pad with."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(base.weights.folder)
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    return tokenizer


def peft_config(lora: LoRA, dropout: float = 0.0) -> Any:
    """PEFT's LoraConfig of `lora`; `dropout` is a share of the inputs of its layers."""
    from peft import LoraConfig

    return LoraConfig(
        r=lora.r,
        lora_alpha=lora.lora_alpha,
        lora_dropout=dropout,
        target_modules=list(lora.target_modules),
        task_type="CAUSAL_LM",
    )


def trainable(base: Base, adapter: Path | None) -> Any:
    """The base's network with a trainable adapter: a new one, or the one in a folder."""
    from peft import get_peft_model

    if adapter is None:
        return get_peft_model(read_base(base), peft_config(LoRA()))
    llm_model.check_base(adapter, base.weights)
    network = llm_model.with_adapter(read_base(base), adapter, learns=True)
    # checkpoints look there for the base's config, and need not ask the Hub
    network.peft_config["default"].base_model_name_or_path = str(base.weights.folder)
    return network


def load_served(learnt: Path, base: Base, threads: int) -> ServedModel:
    """The base with the adapter in a folder merged into it, as the page serves it."""
    name = f"{BASES.get(base.name, base.weights.folder)}+{learnt}"
    served = llm_model.load(name, threads=threads)
    if served.device == "cpu":
        return served
    decoder = JointDecoder(served.decoder.network, tokenizer_of(base), reuses_prefix=False)
    return ServedModel(decoder, name, served.precision, base.weights.origin, served.sha256)


def save_adapter(network: Any, folder: Path, base: Base, about: Mapping[str, Any]) -> None:
    """Write the adapter of a PEFT network in half precision, with `about` and its base's hash."""
    import torch
    from safetensors.torch import load_file, save

    trained = {"base": base.name, "base_sha256": base.weights.sha256, **about}
    network.save_pretrained(folder, selected_adapters=["default"])  # not the reference beside it
    numbers = {name: x.to(torch.float16) for name, x in load_file(folder / ADAPTER_WEIGHTS).items()}
    write_bytes(folder / ADAPTER_WEIGHTS, save(numbers, metadata={"format": "pt"}))
    config = json.loads((folder / ADAPTER_CONFIG).read_text(encoding="utf-8"))
    config["base_model_name_or_path"] = BASES.get(base.name, base.name)
    config["target_modules"] = sorted(config["target_modules"])  # PEFT keeps a set, in any order
    content = json.dumps(config, indent=1, sort_keys=True) + "\n"
    write_bytes(folder / ADAPTER_CONFIG, content.encode())
    write_bytes(folder / llm_model.TRAINED, (json.dumps(trained, indent=1) + "\n").encode())


def read_adapter(network: Any, folder: Path) -> None:
    from peft import load_peft_weights, set_peft_model_state_dict

    set_peft_model_state_dict(network, load_peft_weights(str(folder)))


def publish(folder: Path, name: str, root: Path = llm_model.ADAPTERS) -> dict[str, Any]:
    """Copy an adapter to `root/name`, where `load` finds it; returns its name, hash and size."""
    files = (ADAPTER_CONFIG, llm_model.TRAINED, ADAPTER_WEIGHTS)
    for file in files:
        write_bytes(root / name / file, (folder / file).read_bytes())
    renew_checksums([f"{root.name}/{name}/{file}" for file in files], root.parent)
    size = (folder / ADAPTER_WEIGHTS).stat().st_size
    return {"name": name, "sha256": sha256(folder / ADAPTER_WEIGHTS), "bytes": size}


@dataclass(frozen=True, slots=True)
class Sampled(Reply):
    """A reply with the ids of its tokens, a sampled end-of-turn token included."""

    ids: tuple[int, ...] = ()


class Learner(BatchGenerate):
    """A `network` in training as a player with its weights as of the last `refresh`."""

    def __init__(self, network: Any, tokenizer: Any, base: Base, sampling: Sampling) -> None:
        self.network, self.tokenizer = network, tokenizer
        self.sampling = sampling
        in_place = base.precision == "nf4"
        self._served = (
            network
            if in_place
            else llm_model.read_network(base.weights.folder, None, base.precision, base.device)
        )
        self.refresh()

    def refresh(self) -> None:
        """Take over the network's current numbers, and forget every conversation.

        A GPU reads whole prompts again: that is faster than to copy what is known of each.
        """
        if self._served is not self.network:
            _merge(self.network, self._served)
        on_cpu = self._served.device.type == "cpu"
        self._decoder = JointDecoder(
            self._served, self.tokenizer, self.sampling, reuses_prefix=on_cpu
        )

    def batch(
        self, chats: Sequence[Messages], seeds: Sequence[int], schemas: Sequence[Schema | None]
    ) -> list[Reply]:
        with generation_mode(self._served):
            rows = dict(replies(self._decoder, chats, seeds, schemas))
        return [
            Sampled(row.text, "learner", len(row.tokens), row.finish, ids=tuple(row.tokens))
            for row in (rows[number] for number in range(len(chats)))
        ]


def _merge(network: Any, served: Any) -> None:
    """Give `served` the weights of `network`, or of the base in it plus its adapter's."""
    import torch
    from peft.tuners.lora import LoraLayer

    with torch.no_grad():
        for name, module in network.get_base_model().named_modules():
            if isinstance(module, LoraLayer):
                delta = module.get_delta_weight("default")
                whole = module.get_base_layer().weight.float() + delta.float()
                served.get_submodule(name).weight.copy_(whole)


def as_sequence(moves: Sequence[ModelTurn], tokenizer: Any) -> dict[str, list[int]]:
    """The moves of one conversation as "input_ids" and "labels" of one length.

    The sampled tokens of `Sampled` replies are supervised; all other labels are -100. A reply that
    is a move in another form than the canonical one is written in canonical form and is not
    supervised; the last reply is kept as it was sampled.
    """
    last = moves[-1]
    ids = [*prompt_ids(last.request.messages, tokenizer), *last.reply.ids]
    labels = [-100] * len(ids)
    for turn in moves:
        start = len(prompt_ids(turn.request.messages, tokenizer))
        place = slice(start, start + len(turn.reply.ids))
        if ids[place] == list(turn.reply.ids):
            labels[place] = ids[place]
    return {"input_ids": ids, "labels": labels}
