"""Language models in this process: base + adapter + precision -> a `generate`.

`load` is the entry point. It chooses a precision that fits in the free memory, which every reply
names. torch, transformers and peft are imported when a model is loaded, not before.
"""

import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sauda.llm.backends.batch import replies
from sauda.llm.backends.decoding import DEFAULT_SAMPLING, Decoder, Sampling, generation_mode
from sauda.llm.backends.weights import HUB, Weights, from_hub, smollm2
from sauda.llm.types import Messages, Reply, Schema
from sauda.records.store import ROOT, sha256

ADAPTERS = ROOT / "adapters"
TRAINED = "trained.json"  # in an adapter of ours: the hash of its base, and where it comes from
BYTES = {"fp32": 4.0, "bf16": 2.0, "int8": 1.0, "nf4": 0.6}  # a parameter; nf4 with its scales
SPARE = 1.25  # times the weights: cache and activations of a short chat
CPU_CHOICE = ("bf16", "fp32")  # int8 is faster, but other moves come out: see benchmarks/speed.py
GPU_CHOICE = ("bf16", "nf4")  # 4-bit only where memory is short: it decodes slower


class CannotLoad(RuntimeError):
    """The model cannot be loaded here; the message says why and what to do."""


@dataclass(frozen=True)
class Named:
    """A model by name: a base on the Hub or on disk, and the adapter on it, "" for none."""

    base: str
    adapter: str = ""


ROUNDING = ("avx2", "avx512_f", "avx512_bf16", "amx_bf16")  # what torch chooses its kernels by
SAUDA = "distill"  # the adapter that Sauda plays with, under artifacts/adapters/
MODELS = {
    "mini": Named(HUB),  # the untrained base, whatever adapters there are
    "sauda-mini": Named(HUB, SAUDA),
    "sauda-8b": Named("unsloth/Meta-Llama-3.1-8B-Instruct", "PayMyBills/bestdealbot-v2"),
}


def named(name: str) -> Named:
    """The model called `name`, or the one that "BASE+ADAPTER" describes."""
    if name in MODELS:
        return MODELS[name]
    base, _, adapter = name.partition("+")
    return Named(MODELS[base].base if base in MODELS else base, adapter)


class Model:
    """A loaded model. Calls may overlap; each has a cache of its own."""

    def __init__(self, decoder: Decoder, name: str, precision: str, origin: str, digest: str):
        self.decoder, self.name, self.precision = decoder, name, precision
        self.origin, self.sha256 = origin, digest
        self.device = str(decoder.network.device.type)

    def sampled(self, sampling: Sampling) -> "Model":
        """The same weights and prefix cache with another sampling."""
        own = self.decoder
        decoder = Decoder(own.network, own.tokenizer, sampling, prefix_cache=own.prefix_cache)
        return Model(decoder, self.name, self.precision, self.origin, self.sha256)

    @property
    def cpu(self) -> str:
        """The CPU features that decide how sums are rounded, as "avx2 avx512_f"; "" on a GPU."""
        import torch

        if self.device != "cpu":
            return ""
        features = torch.cpu.get_capabilities()
        return " ".join(name for name in ROUNDING if features.get(name))

    @property
    def source(self) -> str:
        """The source that its replies name: model, precision and device."""
        return f"{self.name}, {self.precision} on {self.device.upper()}"

    def stream(
        self, messages: Messages, seed: int, schema: Schema | None = None
    ) -> Iterator[Reply]:
        """The reply after each of its tokens; the last one has a `finish`."""
        for _, reply in self._replies([messages], [seed], [schema]):
            yield reply

    def __call__(self, messages: Messages, seed: int, schema: Schema | None = None) -> Reply:
        *_, reply = self.stream(messages, seed, schema)
        return reply

    def batch(
        self,
        chats: Sequence[Messages],
        seeds: Sequence[int],
        schemas: Sequence[Schema | None] | None = None,
    ) -> list[Reply]:
        """The replies to many chats at once, in order; each row has a seed of its own."""
        last = dict(self._replies(chats, seeds, schemas or [None] * len(chats)))
        return [last[number] for number in range(len(chats))]

    def _replies(
        self, chats: Sequence[Messages], seeds: Sequence[int], schemas: Sequence[Schema | None]
    ) -> Iterator[tuple[int, Reply]]:
        if not chats:
            return
        with generation_mode(self.decoder.network):
            for number, row in replies(self.decoder, chats, seeds, schemas):
                yield number, Reply(row.text, self.source, len(row.tokens), row.finish)


def load(
    name: str,
    precision: str = "",
    device: str = "",
    sampling: Sampling = DEFAULT_SAMPLING,
    threads: int | None = 1,
) -> Model:
    """The model called `name` or BASE[+ADAPTER], ready to reply; "" chooses what fits best.

    `threads` is torch's, for the whole process, on a CPU: two that wait for each other on shared
    cores are ten times slower than one. Raises CannotLoad or NoWeights with the reason.
    """
    import torch

    model = named(name)
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    if device == "cpu" and threads:
        torch.set_num_threads(threads)
    weights = base_weights(model.base)
    adapter = _adapter(model.adapter, weights)
    precision = precision or _choose(weights.folder, device)
    tokenizer = _tokenizer(weights.folder)
    network = read_network(weights.folder, adapter, precision, device)
    digest = weights.sha256
    if adapter is not None:
        digest += "+" + sha256(next(iter(sorted(adapter.glob("*.safetensors")))))[:16]
    label = name if adapter is not None or not model.adapter else f"{name} (untrained base)"
    return Model(Decoder(network, tokenizer, sampling), label, precision, weights.origin, digest)


def base_weights(base: str) -> Weights:
    """The weights of a base: the small one, a folder's, or a repository's; raises NoWeights."""
    if base == HUB:
        return smollm2()
    folder = Path(base)
    if not folder.is_dir():
        return from_hub(base)
    hashes = [sha256(file) for file in sorted(folder.glob("*.safetensors"))]
    digest = hashes[0] if len(hashes) == 1 else "+".join(part[:16] for part in hashes)
    return Weights(folder, digest, str(folder))


def adapter_folder(name: str) -> Path | None:
    """Where the adapter called `name` lies: ours by name, any by path; None where there is none."""
    folders = (ADAPTERS / name, Path(name))
    return next((f for f in folders if name and (f / "adapter_config.json").exists()), None)


def _adapter(name: str, base: Weights) -> Path | None:
    """The folder of an adapter: one on this machine, else from the Hub.

    None where there is none: no name, or one of ours that is not trained yet. Raises CannotLoad
    where it says that it was trained on another base.
    """
    if not name:
        return None
    if (folder := adapter_folder(name)) is not None:
        check_base(folder, base)
        return folder
    if "/" in name:
        return from_hub(name).folder
    if name == SAUDA:
        return None
    raise CannotLoad(f"no adapter {name!r}: neither under artifacts/adapters/ nor a folder")


def check_base(adapter: Path, base: Weights) -> None:
    """Raise CannotLoad for an adapter of ours on other weights; others' do not name theirs."""
    file = adapter / TRAINED
    try:
        trained = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    except ValueError as error:
        raise CannotLoad(f"{file} is damaged: {error}") from error
    if trained.get("base_sha256", base.sha256) != base.sha256:
        raise CannotLoad(
            f"the adapter {adapter.name} was trained on weights {trained['base_sha256'][:16]}, and "
            f"these, from {base.origin}, are {base.sha256[:16]}"
        )


def _choose(folder: Path, device: str) -> str:
    """The precision for the memory that is free."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    with torch.device("meta"):
        shape = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(folder))
    return chosen_precision(sum(p.numel() for p in shape.parameters()), free_memory(device), device)


def chosen_precision(parameters: int, free: int, device: str) -> str:
    """The first precision of the device whose weights fit in `free` bytes; raises CannotLoad."""
    choice = GPU_CHOICE if device == "cuda" else CPU_CHOICE
    for precision in choice:
        if parameters * BYTES[precision] * SPARE <= free:
            return precision
    least = min(BYTES[precision] for precision in choice)
    raise CannotLoad(
        f"{parameters / 1e9:.1f} billion parameters need {parameters * least * SPARE / 2**30:.1f} "
        f"GiB on this {device.upper()}, and {free / 2**30:.1f} are free; choose a smaller model"
    )


def free_memory(device: str) -> int:
    """Bytes that a model may take on `device`."""
    if device == "cuda":
        import torch

        return torch.cuda.mem_get_info()[0]
    import psutil

    return psutil.virtual_memory().available


def _tokenizer(folder: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder)


def read_network(folder: Path, adapter: Path | None, precision: str, device: str) -> Any:
    """The network at `precision`, the adapter merged into it; 4-bit weights keep it apart."""
    import torch
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging

    if precision not in BYTES:
        raise ValueError(f"no precision {precision!r}; precisions are {', '.join(BYTES)}")
    logging.disable_progress_bar()
    if device == "cuda":  # cuDNN may plan anew for each length of a chat, which grows by a token
        torch.backends.cuda.enable_cudnn_sdp(False)
    dtype = torch.float32 if precision in ("fp32", "int8") else torch.bfloat16
    more = {"quantization_config": _four_bits()} if precision == "nf4" else {}
    network = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, device_map=device, **more)
    if adapter is not None:
        network = with_adapter(network, adapter)
        if precision != "nf4":
            network = network.merge_and_unload()
    network.eval()
    return _eight_bits(network) if precision == "int8" else network


def with_adapter(network: Any, adapter: Path, learns: bool = False) -> Any:
    """`network` with the adapter of a folder beside its weights; raises CannotLoad if damaged."""
    from peft import PeftModel
    from safetensors import SafetensorError

    if not any(adapter.glob("adapter_model.*")):
        raise CannotLoad(f"the adapter {adapter} is incomplete: it has no weights")
    try:
        return PeftModel.from_pretrained(network, str(adapter), is_trainable=learns)
    except (SafetensorError, ValueError, TypeError, KeyError, OSError, RuntimeError) as error:
        why = str(error).strip().partition("\n")[0]
        raise CannotLoad(f"the adapter {adapter} cannot be read: {why}") from error


def _four_bits() -> Any:
    """nf4 with double quantisation, as the published adapter was trained and served."""
    import torch
    from transformers import BitsAndBytesConfig

    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.bfloat16,
    )


def _eight_bits(network: Any) -> Any:
    """Linear layers with 8-bit weights, their inputs quantised as they come.

    torch.ao is deprecated in favour of torchao, and still in the release that we pin.
    """
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.ao.quantization.quantize_dynamic(network, {torch.nn.Linear}, dtype=torch.qint8)


def on_gpu(function: Callable, seconds: int = 30) -> Callable:
    """`function` with ZeroGPU's hardware where a Space has it; elsewhere unchanged.

    `spaces` must be imported before CUDA is touched. Its calls run in a process of their own, so
    `function` should be bound to what it needs: arguments are pickled.
    """
    import spaces

    return spaces.GPU(duration=seconds)(function)
