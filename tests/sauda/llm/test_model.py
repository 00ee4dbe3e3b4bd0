"""The model in this process: tokens, caches, batches, precision, loading, time limits.

Most tests run a random Llama of two layers with SmolLM2's tokenizer; a few the real 135M model.
"""

import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from env import get_task, rollout
from sauda.evaluation.seller.games import play
from sauda.games import BAZAAR
from sauda.games.bazaar_prompt import parse, render, schema
from sauda.llm.engine import (
    CachedConversation,
    Decoder,
    JointDecoder,
    PrefixCache,
    Sampling,
    generation_mode,
    stop_tokens,
)
from sauda.llm.model import (
    CONVERTED_SHA256,
    HUB,
    CannotLoad,
    Model,
    NoWeights,
    Weights,
    choose_precision,
    find_model,
    load,
    smollm2,
)
from sauda.llm.seller import PERSONAS, SAMPLING, SellerSeat, faults
from sauda.llm.turn import PlayerSpec, attempt_seeds, in_batches, take_turns
from sauda.policies.bazaar import linear
from tests.support.models import tiny_network

pytestmark = pytest.mark.model
ROOT = Path(__file__).parents[3]
GREEDY = Sampling(temperature=0.0, max_new_tokens=12)


@pytest.fixture(scope="session")
def weights() -> Weights:
    return smollm2()


@pytest.fixture(scope="session")
def tiny(weights):
    return tiny_network(weights)


@pytest.fixture(scope="session")
def positions():
    return [t.observation for t in rollout(get_task("bazaar/open"), linear, 0).trajectory("buyer")]


@pytest.fixture(scope="session")
def chats(positions):
    return [render(obs) for obs in positions]


@pytest.fixture(scope="session")
def mini() -> Model:
    """The real small model, at the precision that is chosen for it."""
    return load("mini", sampling=Sampling(max_new_tokens=40))


def model(tiny, sampling=GREEDY, **more) -> Model:
    return Model(Decoder(*tiny, sampling, **more), "tiny", "fp32", "here", "0")


def test_the_reused_prefix_changes_no_token(tiny, chats):
    reused, read_again = model(tiny), model(tiny, reuses_prefix=False)
    texts = [reused(chat, 0).text for chat in chats]
    assert texts == [read_again(chat, 0).text for chat in chats]
    assert len(reused.decoder.prefix_cache) > 0
    assert len(read_again.decoder.prefix_cache) == 0


def test_only_the_new_part_of_a_continued_conversation_is_read(tiny, chats):
    tiny_model, read = model(tiny), []

    def count_tokens(network, positional, named):
        read.append((named["input_ids"] if "input_ids" in named else positional[0]).shape[1])

    hook = tiny_model.decoder.network.register_forward_pre_hook(count_tokens, with_kwargs=True)
    tiny_model.batch(chats[:2], [0, 0])
    whole = len(tiny_model.decoder.prompt_ids(chats[2]))
    read.clear()
    assert tiny_model(chats[2], 0).text == model(tiny, reuses_prefix=False)(chats[2], 0).text
    hook.remove()
    assert read[0] == whole - len(tiny_model.decoder.prompt_ids(chats[1])) < whole / 2


def test_the_memory_of_conversations_is_bounded_and_forgets_the_oldest():
    cache = PrefixCache(max_tokens=10)
    for start in range(5):
        cache.keep(CachedConversation((start, 1, 2, 3), 3, ()))
    assert cache.tokens == 8
    assert [cache.longest([start, 1, 2, 3, 4])[0] for start in range(5)] == [0, 0, 0, 4, 4]
    cache.keep(CachedConversation((4, 1, 2, 3, 5, 6), 5, ()))  # extends the last and replaces it
    assert cache.tokens == 10
    assert cache.longest([4, 1, 2, 3, 5, 7])[0] == 5
    assert cache.longest([4, 1, 2, 3, 9, 7])[0] == 0  # another answer: not the same prompt


def test_a_batch_writes_what_each_would_write_alone(tiny, chats):
    for sampling in (GREEDY, Sampling(max_new_tokens=12)):
        tiny_model = model(tiny, sampling)
        alone = [tiny_model(chat, seed).text for seed, chat in enumerate(chats)]
        assert [r.text for r in tiny_model.batch(chats, range(len(chats)))] == alone


@pytest.mark.parametrize("reuses_prefix", [True, False])
def test_prompts_read_together_are_answered_as_each_alone(tiny, chats, reuses_prefix):
    import torch

    decoder = JointDecoder(*tiny, GREEDY, reuses_prefix)
    alone = [model(tiny)(chat, 0).text for chat in chats]
    for part in (slice(0, 3), slice(1, 4), slice(None)):  # new chats, known ones and both
        read = {tuple(decoder.prompt_ids(chat)): chat for chat in chats[part]}
        apart = [decoder.prefill(prompt, chat).logits for prompt, chat in read.items()]
        together = decoder.prefill_together(read, list(read)).logits
        torch.testing.assert_close(together, torch.cat(apart), atol=1e-4, rtol=1e-4)
        texts = Model(decoder, "tiny", "fp32", "here", "0").batch(chats[part], [0] * len(read))
        assert [reply.text for reply in texts] == alone[part]
    twice = [chats[0], chats[1], chats[0]]
    texts = Model(decoder, "tiny", "fp32", "here", "0").batch(twice, [0] * 3)
    assert [reply.text for reply in texts] == [alone[0], alone[1], alone[0]]


def test_tokens_drawn_with_prompts_read_together_are_those_of_each_alone(tiny, chats):
    sampling = Sampling(temperature=1.0, max_new_tokens=12)
    alone = [model(tiny, sampling)(chat, seed).text for seed, chat in enumerate(chats)]
    together = Model(JointDecoder(*tiny, sampling), "tiny", "fp32", "here", "0")
    assert [reply.text for reply in together.batch(chats, range(len(chats)))] == alone


def test_a_prompt_that_many_rows_share_is_read_once(tiny, chats):
    tiny_model = model(tiny, Sampling(temperature=1.0, top_p=1.0, max_new_tokens=12))
    alone = [tiny_model(chats[0], seed).text for seed in range(4)]
    read = []
    prefill = tiny_model.decoder.prefill
    tiny_model.decoder.prefill = lambda prompt, chat: read.append(chat) or prefill(prompt, chat)
    together = tiny_model.batch([chats[0]] * 4 + [chats[1]], range(5))
    assert [reply.text for reply in together[:4]] == alone
    assert len(set(alone)) > 1
    assert read == [chats[0], chats[1]]


def test_the_seed_decides_a_reply(tiny, chats):
    tiny_model = model(tiny, Sampling(temperature=1.0, top_p=1.0, max_new_tokens=12))
    assert tiny_model(chats[0], 1) == tiny_model(chats[0], 1)
    assert tiny_model(chats[0], 1) != tiny_model(chats[0], 2)


def test_a_reply_grows_token_by_token_and_says_when_it_is_whole(tiny, chats):
    grown = list(model(tiny).stream(chats[0], 0))
    assert [reply.tokens for reply in grown] == list(range(1, len(grown) + 1))
    assert [bool(reply.finish) for reply in grown] == [False] * (len(grown) - 1) + [True]
    assert all(b.text.startswith(a.text) for a, b in pairwise(grown))
    assert grown[-1].source == "tiny, fp32 on CPU"


def test_generation_turns_checkpointing_off_and_the_cache_on_and_training_gets_both_back(tiny):
    network = tiny[0]
    network.train()
    network.gradient_checkpointing_enable()
    network.config.use_cache = False
    try:
        with generation_mode(network):
            assert not network.training
            assert network.config.use_cache
            assert not any(getattr(m, "gradient_checkpointing", False) for m in network.modules())
        assert network.training
        assert not network.config.use_cache
        assert any(getattr(m, "gradient_checkpointing", False) for m in network.modules())
    finally:
        network.gradient_checkpointing_disable()
        network.config.use_cache = True
        network.eval()


def test_every_end_of_turn_of_a_family_stops(tiny):
    network, tokenizer = tiny

    class Llama3:
        eos_token_id = 7

        def get_vocab(self):
            return {"<|eot_id|>": 5, "<|eom_id|>": 6, "hello": 1}

    assert stop_tokens(tokenizer, network) == [0, 2]  # <|endoftext|>, <|im_end|>
    bare = type("Network", (), {"config": type("C", (), {"eos_token_id": [7, 8]})()})()
    assert stop_tokens(Llama3(), bare) == [5, 6, 7, 8]


def test_a_constrained_reply_ends_at_its_object_before_the_limit(tiny, positions):
    tiny_model = model(tiny, Sampling(max_new_tokens=64))
    forms = [schema(obs) for obs in positions]
    replies = tiny_model.batch([render(obs) for obs in positions], range(len(positions)), forms)
    for obs, reply in zip(positions, replies, strict=True):
        assert reply.finish in ("object", "stop")
        parse(reply.text, obs)


def test_a_model_that_knows_nothing_still_plays_whole_games_under_a_grammar(tiny):
    policy = PlayerSpec(model(tiny, Sampling(max_new_tokens=64)), constrained=True).policy(BAZAAR)
    for seed in range(3):
        assert rollout(get_task("bazaar/rushed"), policy, seed).end != "forfeit"


def test_two_replies_at_once_do_not_mix(tiny, chats):
    tiny_model = model(tiny)
    alone = [tiny_model(chat, 0).text for chat in chats[:4]]
    replies = [""] * 4

    def write(i):
        replies[i] = tiny_model(chats[i], 0).text

    threads = [threading.Thread(target=write, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert replies == alone


def test_R17_the_precision_is_the_first_whose_weights_fit():
    gib = 2**30
    assert choose_precision(8_000_000_000, 48 * gib, "cuda") == "bf16"
    assert choose_precision(8_000_000_000, 15 * gib, "cuda") == "nf4"
    assert choose_precision(135_000_000, 4 * gib, "cpu") == "bf16"
    with pytest.raises(CannotLoad, match=r"need 5\.6 GiB .* and 4\.0 are free"):
        choose_precision(8_000_000_000, 4 * gib, "cuda")


def test_any_base_may_take_any_adapter_by_name():
    assert find_model("mini").base == find_model("sauda-mini").base == HUB
    assert find_model("sauda-8b").adapter == "PayMyBills/bestdealbot-v2"
    assert (find_model("a/b+c/d").base, find_model("a/b+c/d").adapter) == ("a/b", "c/d")


def test_prepared_weights_are_the_ones_whose_hash_we_know(weights):
    assert weights.sha256 == CONVERTED_SHA256


def test_damaged_weights_are_refused_with_what_to_do(tmp_path, weights):
    folder = tmp_path / weights.folder.name
    folder.mkdir()
    for file in weights.folder.iterdir():
        target = folder / file.name
        target.write_bytes(b"x") if file.suffix == ".safetensors" else target.symlink_to(file)
    with pytest.raises(NoWeights, match="python -m sauda weights"):
        smollm2(tmp_path)


def test_the_real_model_ends_most_replies_itself(mini, positions):
    replies = mini.batch([render(o) for o in positions[:4]], range(4), [schema(positions[0])] * 4)
    # bf16 rounds by the kind of CPU, so a reply may run on where another machine's ends
    assert sum(reply.finish == "object" for reply in replies) >= 3
    assert sum(reply.tokens for reply in replies) / 4 < mini.decoder.sampling.max_new_tokens


def test_the_real_model_plays_a_whole_game_and_says_how_it_runs(mini):
    played = rollout(
        get_task("bazaar/rushed"), PlayerSpec(mini, constrained=True).policy(BAZAAR), 0
    )
    assert played.end != "forfeit"
    assert mini.source == "mini, bf16 on CPU"
    assert mini.sha256 == CONVERTED_SHA256


def test_the_real_model_words_most_of_a_sellers_decisions_itself(mini):
    game = play("hard", "climber", "hasty", 0)
    seen = [turn.observation for turn in game.episode.trajectory("seller")[:3]]
    seats = [SellerSeat(PERSONAS["hasty"])] * len(seen)
    seeds = [attempt_seeds(np.random.default_rng(number)) for number in range(len(seen))]
    turns = take_turns(seats, seen, seeds, in_batches(mini.sampled(SAMPLING)))
    assert sum(turn.parsed.source == mini.source for turn in turns) >= 2
    for decision, turn in zip(game.decisions, turns, strict=False):
        assert faults(turn.action.message, decision) == ()


def test_the_untrained_base_says_that_it_is_untrained(monkeypatch, tmp_path):
    from sauda.llm import model as module

    monkeypatch.setattr(module, "ADAPTERS", tmp_path)
    assert load("sauda-mini").source.startswith("sauda-mini (untrained base)")


def test_an_adapter_is_merged_and_changes_what_is_said(tiny, chats, tmp_path, weights):
    """The random network on disk, with a LoRA adapter on it, loads by path."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import LlamaForCausalLM

    network, tokenizer = tiny
    base, adapter = tmp_path / "base", tmp_path / "adapter"
    network.save_pretrained(base)
    tokenizer.save_pretrained(base)
    lora = LoraConfig(r=4, target_modules=["q_proj", "v_proj"], init_lora_weights=False)
    tuned = get_peft_model(LlamaForCausalLM.from_pretrained(base), lora)
    tuned.save_pretrained(adapter)
    with torch.no_grad():
        plain = load(str(base), "fp32", sampling=GREEDY)
        fitted = load(f"{base}+{adapter}", "fp32", sampling=GREEDY)
    assert plain(chats[0], 0).text == model(tiny)(chats[0], 0).text
    assert fitted(chats[0], 0).text != plain(chats[0], 0).text
    assert fitted.sha256.startswith(plain.sha256 + "+")


def test_without_zero_gpu_the_decorator_changes_nothing_and_brings_no_torch():
    code = (
        "import sys; from sauda.llm.backends import own_service;"
        " from sauda.llm.model import load, on_gpu;"
        " own_service(); f = lambda: 1;"
        " print(on_gpu(f) is f, 'torch' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert run.stdout.split() == ["True", "False"], run.stderr
