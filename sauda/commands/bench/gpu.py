"""How fast a GPU plays and learns, weights in bf16 beside nf4; and the larger model's shape there.

The larger model's weights are random: its speed and memory are those of its shape, and what it
writes means nothing. Time is that of the clock on the wall, the GPU's work included.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from env import get_task
from sauda.commands.bench.games import interleaved
from sauda.commands.bench.model import TASK
from sauda.commands.bench.throughput import ROUNDS, SILENT, batches
from sauda.evaluation.models.comparison import play_model
from sauda.evaluation.speed import Compared, figure, ratio
from sauda.llm.backends.joint import JointDecoder
from sauda.llm.backends.model import BYTES, Model, load, read_network
from sauda.llm.backends.weights import smollm2
from sauda.llm.registry import PlayerSpec
from sauda.train.losses import scored
from sauda.train.model import Base, LoRA, memory, peft_config, tokenizer_of, trainable

PRECISIONS = ("bf16", "nf4")
GAMES = 128  # side by side
DEALS = 16  # of a training pass
MIB = 2**20
LARGE = {  # the shape of Llama 3.1 8B, in the names of transformers' LlamaConfig
    "vocab_size": 128_256, "hidden_size": 4096, "intermediate_size": 14_336,
    "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
    "rms_norm_eps": 1e-5, "max_position_embeddings": 131_072,
}  # fmt: skip
WRITTEN = 32  # tokens of a reply of that shape
SPEED = "tokens/s"


def gpu_figures() -> Compared:
    """Games and training passes of the small model, and the larger one's shape."""
    parts = [playing("cuda"), learning("cuda")]
    with TemporaryDirectory() as folder:
        write_random(Path(folder), LARGE, "cuda")
        parts.append(of_shape(Path(folder), "cuda"))
    figures = [each for part in parts for each in part.figures]
    return Compared(figures, [each for part in parts for each in part.ratios])


def playing(device: str, games: int = GAMES) -> Compared:
    """Whole games of training seeds, bare, prompts read together."""

    def play(player: PlayerSpec, number: int) -> int:
        play_model(get_task(TASK), player, range(number * games, (number + 1) * games))
        return games

    ways = {}
    for precision in PRECISIONS:
        served = load(SILENT, precision, device)
        own = served.decoder
        joint = JointDecoder(own.network, own.tokenizer, own.sampling, reuses_prefix=False)
        player = Model(joint, served.name, precision, served.origin, served.sha256)
        ways[f"{SILENT}, {games} in step, {precision}"] = partial(play, PlayerSpec(player))
    rates = interleaved(ways, ROUNDS)
    return _with_ratio(
        figure(f"games, {way}", "games/min", [60 * rate for rate in samples], task=TASK)
        for way, samples in rates.items()
    )


def learning(device: str, deals: int = DEALS) -> Compared:
    """Forward and backward over whole deals: an adapter learns, or all weights in fp32."""
    kinds = {f"LoRA on {precision}": (precision, False) for precision in PRECISIONS}
    kinds["full fine-tuning"] = "bf16", True
    figures = []
    for kind, (precision, whole) in kinds.items():
        base = Base("mini", smollm2(), device, precision)
        network, batch = trainable(base, None, whole), batches(tokenizer_of(base), deals)
        name = f"training, {deals} deals a pass, {kind}"
        figures += _passes(name, network, batch, device, model="mini")
        del network
    speeds = [each for each in figures if each["unit"] == SPEED]
    return Compared(figures, _with_ratio(speeds).ratios)


def write_random(folder: Path, shape: Mapping[str, Any], device: str) -> None:
    """Write a Llama of a `shape` with random weights in bf16."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    with torch.device("meta"):
        network = LlamaForCausalLM(LlamaConfig(**shape)).to(torch.bfloat16)
    network.to_empty(device=device)
    with torch.no_grad():
        for weights in network.parameters():
            weights.normal_(0, 0.02)
    network.save_pretrained(folder)


def of_shape(folder: Path, device: str, rows: int = 4, tokens: int = 512) -> Compared:
    """Replies and training passes of the network in a folder, and the memory that they take."""
    import torch
    from peft import get_peft_model

    size = sum(file.stat().st_size for file in folder.glob("*.safetensors"))
    shape = {"model": "random weights in the shape of sauda-8b"}
    figures, speeds = [], []
    for precision in PRECISIONS:
        network = None  # the memory of the one before is free
        network = read_network(folder, None, precision, device)
        held = network.get_memory_footprint() / MIB
        figures.append(figure(f"weights, {precision}", "MiB", [held], **shape))
        rates = interleaved({"": partial(_replies, network, device, rows, tokens)}, ROUNDS)
        name = f"writing, {rows} replies to {tokens} tokens, {precision}"
        speeds.append(figure(name, SPEED, rates[""], **shape))
    learner = get_peft_model(network, peft_config(LoRA()))  # the 4-bit one
    learner.gradient_checkpointing_enable({"use_reentrant": False})
    ids = torch.randint(5, learner.config.vocab_size, (rows, tokens))
    labels = torch.where(torch.arange(tokens) < tokens - 64, -100, ids)
    name = f"training, {rows} rows of {tokens} tokens a pass, LoRA on nf4, checkpointed"
    passes = _passes(name, learner.train(), lambda n: (ids, labels, ids.numel()), device, **shape)
    asked = memory(size * BYTES["nf4"] / BYTES["bf16"], rows, checkpointing=True) / MIB
    figures += [*speeds, *passes, figure("memory that `train` asks for", "MiB", [asked], **shape)]
    return Compared(figures, _with_ratio(speeds).ratios)


def _replies(network: Any, device: str, rows: int, tokens: int, number: int) -> int:
    """Greedy replies to random prompts; returns their tokens."""
    import torch

    torch.manual_seed(number)
    prompts = torch.randint(5, network.config.vocab_size, (rows, tokens), device=device)
    network.generate(
        prompts,
        attention_mask=torch.ones_like(prompts),
        do_sample=False,
        min_new_tokens=WRITTEN,
        max_new_tokens=WRITTEN,
        pad_token_id=0,
    )
    return rows * WRITTEN


def _passes(
    name: str,
    network: Any,
    batch: Callable[[int], tuple[Any, Any, int]],
    device: str,
    **about: Any,
) -> list[dict[str, Any]]:
    """The speed of passes forward and backward, and the most memory that they take."""
    import torch

    def one(number: int) -> int:
        ids, labels, count = batch(number)
        with torch.autocast(device, torch.bfloat16):
            loss = -scored(network, ids.to(device), labels.to(device)).log_probs.mean()
        loss.backward()
        loss.item()  # which waits for the GPU
        network.zero_grad()
        return count

    on_gpu = device == "cuda"
    if on_gpu:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    figures = [figure(name, SPEED, interleaved({"": one}, ROUNDS)[""], **about)]
    if on_gpu:
        peak = torch.cuda.max_memory_allocated() / MIB
        figures.append(figure(f"most memory, {name}", "MiB", [peak], **about))
    return figures


def _with_ratio(figures: Iterable[dict[str, Any]]) -> Compared:
    """The figures, with the ratio of the first one to each other."""
    figures = list(figures)
    return Compared(figures, [ratio(figures[0], other) for other in figures[1:]])
