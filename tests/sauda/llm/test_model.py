"""Weights, adapters, precisions; the real model of 135 million parameters."""

import subprocess
import sys

import pytest

from env import get_task, rollout
from sauda.games import BAZAAR
from sauda.games.bazaar_prompt import render, schema
from sauda.llm.engine import Decoder, Sampling
from sauda.llm.model import (
    CONVERTED_SHA256,
    CannotLoad,
    Model,
    NoWeights,
    chat_tokenizer,
    choose_precision,
    load,
    multiplies_bf16,
    smollm2,
)
from sauda.llm.turn import PlayerSpec
from sauda.policies.bazaar import linear
from sauda.records.store import REPOSITORY
from tests.support.models import tiny_network

GREEDY = Sampling(temperature=0.0, max_new_tokens=12)
CHAT = [
    {"role": "system", "content": "You sell a lamp. Your limit is ₹1,065."},
    {"role": "user", "content": "buyer: कितना?\n(Name the first price.)"},
    {"role": "assistant", "content": "Have a look:  ₹1,693."},
    {"role": "user", "content": "buyer: don't\t– ₹318?"},
    {"role": "assistant", "content": "So little?\nNo 😀."},
]
needs_weights = pytest.mark.model


@pytest.fixture(scope="module")
def mini() -> Model:
    """The real small model, at the precision that is chosen for it."""
    return load("mini", sampling=Sampling(max_new_tokens=40))


def test_the_precision_is_the_first_whose_weights_fit():
    gib = 2**30
    assert choose_precision(8_000_000_000, 48 * gib, "cuda") == "bf16"
    assert choose_precision(8_000_000_000, 15 * gib, "cuda") == "nf4"
    fast = "bf16" if multiplies_bf16() else "fp32"
    assert choose_precision(135_000_000, 4 * gib, "cpu") == fast
    assert choose_precision(135_000_000, gib // 2, "cpu") == "bf16"  # fp32 has no room
    with pytest.raises(CannotLoad, match=r"need 5\.6 GiB .* and 4\.0 are free"):
        choose_precision(8_000_000_000, 4 * gib, "cuda")


@needs_weights
def test_damaged_weights_are_refused_with_what_to_do(tmp_path):
    weights = smollm2()
    assert weights.sha256 == CONVERTED_SHA256
    folder = tmp_path / weights.folder.name
    folder.mkdir()
    for file in weights.folder.iterdir():
        target = folder / file.name
        target.write_bytes(b"x") if file.suffix == ".safetensors" else target.symlink_to(file)
    with pytest.raises(NoWeights, match="python -m sauda weights"):
        smollm2(tmp_path)
    with pytest.raises(NoWeights, match="python -m sauda weights"):
        chat_tokenizer(tmp_path / "nothing")


@needs_weights
def test_the_real_model_plays_a_whole_game_and_says_how_it_runs(mini):
    observations = rollout(get_task("bazaar/open"), linear, 0).trajectory("buyer")[:4]
    chats = [render(turn.observation) for turn in observations]
    replies = mini.batch(chats, range(4), [schema(observations[0].observation)] * 4)
    # bf16 rounds by the kind of CPU, so a reply may run on where another machine's ends
    assert sum(reply.finish == "object" for reply in replies) >= 3
    player = PlayerSpec(mini, constrained=True).policy(BAZAAR)
    assert rollout(get_task("bazaar/rushed"), player, 0).end != "forfeit"
    assert (mini.source, mini.sha256) == (f"mini, {mini.precision} on CPU", CONVERTED_SHA256)


def test_an_adapter_is_merged_and_changes_what_is_said(tmp_path):
    """The random network on disk, with a LoRA adapter on it, loads by path."""
    from peft import LoraConfig, get_peft_model
    from transformers import LlamaForCausalLM

    network, tokenizer = tiny_network()
    base, adapter = tmp_path / "base", tmp_path / "adapter"
    network.save_pretrained(base)
    tokenizer.save_pretrained(base)
    lora = LoraConfig(r=4, target_modules=["q_proj", "v_proj"], init_lora_weights=False)
    get_peft_model(LlamaForCausalLM.from_pretrained(base), lora).save_pretrained(adapter)
    plain = load(str(base), "fp32", sampling=GREEDY)
    fitted = load(f"{base}+{adapter}", "fp32", sampling=GREEDY)
    here = Model(Decoder(network, tokenizer, GREEDY), "tiny", "fp32", "here", "0")
    assert plain(CHAT[:2], 0).text == here(CHAT[:2], 0).text != fitted(CHAT[:2], 0).text
    assert fitted.sha256.startswith(plain.sha256 + "+")


def test_without_zero_gpu_the_decorator_changes_nothing_and_brings_no_torch():
    code = (
        "import sys; from sauda.llm.backends import own_service;"
        " from sauda.llm.model import load, on_gpu;"
        " own_service(); f = lambda: 1;"
        " print(on_gpu(f) is f, 'torch' in sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=REPOSITORY
    )
    assert run.stdout.split() == ["True", "False"], run.stderr
