"""Weights, adapters, precisions and decoding; a random Llama of two layers and the small model."""

import math
import sys
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import torch

from env import get_task, rollout
from env.bazaar.prompt import parse, render, schema
from sauda.games import BAZAAR
from sauda.games.adapter import Request
from sauda.llm import process
from sauda.llm.engine import (
    MOST_GUESSES,
    Decoder,
    DecodingBatch,
    JointDecoder,
    Row,
    Sampling,
)
from sauda.llm.model import (
    CONVERTED_SHA256,
    ROUNDING,
    TRAINED,
    CannotLoad,
    Model,
    NoWeights,
    chat_tokenizer,
    choose_precision,
    load,
    multiplies_bf16,
    smollm2,
)
from sauda.llm.process import BatchEngine, bytes_of_token
from sauda.llm.server import Begin
from sauda.llm.turn import PlayerSpec
from sauda.policies.bazaar import linear
from sauda.records.store import REPOSITORY
from tests.support.models import tiny_network
from tests.support.running import output_of

# Decoding -----------------------------------------------------------------------------------------

GREEDY = Sampling(temperature=0.0, max_new_tokens=12)
WARM = Sampling(temperature=1.0, top_p=1.0, max_new_tokens=12)


@pytest.fixture(scope="module")
def tiny():
    return tiny_network()


@pytest.fixture(scope="module")
def positions():
    return [
        t.observation for t in rollout(get_task("bazaar/open-3"), linear, 0).trajectory("buyer")
    ]


@pytest.fixture(scope="module")
def chats(positions):
    return [render(obs) for obs in positions]


def model(tiny, sampling=GREEDY, kind=Decoder, **more) -> Model:
    return Model(kind(*tiny, sampling, **more), "tiny", "fp32", "here", "0")


def write_alone(tiny, chats, sampling=GREEDY) -> list[str]:
    """What a model without a cache writes to each chat, its number the seed."""
    alone = model(tiny, sampling, reuses_prefix=False)
    return [alone(chat, seed).text for seed, chat in enumerate(chats)]


def write_together(some: Model, chats) -> list[str]:
    return [reply.text for reply in some.batch(chats, range(len(chats)))]


@pytest.mark.parametrize("sampling", [GREEDY, WARM])
@pytest.mark.parametrize("kind", [Decoder, JointDecoder])
@pytest.mark.parametrize("reuses_prefix", [True, False])
def test_a_batch_writes_what_each_would_write_alone(tiny, chats, sampling, kind, reuses_prefix):
    alone = write_alone(tiny, chats, sampling)
    some = model(tiny, sampling, kind, reuses_prefix=reuses_prefix)
    assert write_together(some, chats[:3]) == alone[:3]
    assert write_together(some, chats) == alone  # chats that are known and others
    assert [some(chat, seed).text for seed, chat in enumerate(chats)] == alone
    assert bool(len(some.decoder.prefix_cache)) == reuses_prefix


def test_only_the_new_part_of_a_continued_conversation_is_read(tiny, chats):
    some, read = model(tiny), []

    def count_tokens(network, positional, given):
        read.append((given["input_ids"] if "input_ids" in given else positional[0]).shape[1])

    write_together(some, chats[:2])
    hook = some.decoder.network.register_forward_pre_hook(count_tokens, with_kwargs=True)
    some(chats[2], 0)
    hook.remove()
    whole, before = (len(some.decoder.prompt_ids(chat)) for chat in (chats[2], chats[1]))
    assert read[0] == whole - before < whole / 2


def test_the_cache_of_all_models_stays_within_its_bytes(tiny, monkeypatch):
    network, tokenizer = tiny
    decoder = Decoder(network, tokenizer, Sampling(max_new_tokens=2))
    monkeypatch.setattr(process, "CACHE_BYTES", 200 * bytes_of_token(network))
    engine = BatchEngine(None, report=lambda event: None)
    engine.add("tiny", Model(decoder, "tiny", "fp32", "here", "0"))
    for key in range(30):
        chat = [{"role": "user", "content": f"{key} is my price, and I say it at some length"}]
        engine.take(Begin(key, "tiny", Request(chat, 7, None, decoder.sampling)))
        for _ in range(4):
            engine.step()
    cache = decoder.prefix_cache
    tokens, layers = cache.longest(decoder.prompt_ids(chat), id(network))
    held = sum(tensor[:, :, :tokens].nbytes for layer in layers for tensor in layer)
    assert held == tokens * bytes_of_token(network) > 0
    assert cache.tokens * bytes_of_token(network) <= process.CACHE_BYTES
    assert len(cache) < 30


def test_a_prompt_that_many_rows_share_is_read_once(tiny, chats):
    some, read = model(tiny, WARM), []
    prefill = some.decoder.prefill
    some.decoder.prefill = lambda prompt, chat: read.append(chat) or prefill(prompt, chat)
    texts = write_together(some, [*[chats[0]] * 4, chats[1]])
    assert texts == write_alone(tiny, [*[chats[0]] * 4, chats[1]], WARM)
    assert len(set(texts)) > 2  # each row has a seed of its own
    assert read == [chats[0], chats[1]]


def test_a_row_that_joins_or_leaves_changes_no_other(tiny, chats):
    decoder = Decoder(*tiny, GREEDY)
    batch = DecodingBatch(decoder)
    batch.join({"first": Request(chats[0], 0, None, GREEDY)})
    batch.sample()
    batch.advance()
    batch.join({n: Request(chats[n], 0, None, GREEDY) for n in (2, 3)})
    rows, cancelled = dict(batch.rows), frozenset([2])
    while batch.rows:
        batch.sample()
        batch.advance(cancelled)
    texts = write_alone(tiny, chats)
    assert (rows["first"].text, rows[3].text) == (texts[0], texts[3])
    assert len(rows[2].tokens) == 1


@pytest.mark.parametrize("sampling", [GREEDY, WARM])
def test_guesses_spare_passes_and_change_no_reply(tiny, chats, sampling):
    decoder, passes = Decoder(*tiny, sampling), []
    read = decoder.read
    decoder.read = lambda state, tokens: (
        passes.append(list(map(len, tokens))) or read(state, tokens)
    )
    alone = write_alone(tiny, chats, sampling)

    def write(guesses: bool) -> list[str]:
        """The first chat's reply begins alone, the others join it."""
        asked = [Request(chat, n, None, sampling, guesses) for n, chat in enumerate(chats)]
        batch, rows = DecodingBatch(decoder), {}
        passes.clear()
        for joins in ({0: asked[0]}, dict(enumerate(asked[1:], 1))):
            batch.join(joins)
            rows |= batch.rows
            batch.sample()
            batch.advance()
        while batch.rows:
            batch.sample()
            batch.advance()
        return [row.text for row in rows.values()]

    assert write(guesses=False) == alone
    plain = len(passes)
    assert {count for lengths in passes for count in lengths} == {1}
    reply = decoder.tokenizer.encode(alone[0], add_special_tokens=False)
    decoder.guesses.learn([*reply[:6], *reply[:6]])  # of which the second half is wrong
    assert write(guesses=True) == alone
    assert write(guesses=True) == alone  # from its cache, and with all replies to guess by
    assert len(passes) < plain / 2
    assert max(count for lengths in passes for count in lengths) <= MOST_GUESSES + 1


def test_a_reply_grows_token_by_token_and_says_when_it_is_whole(tiny, chats):
    grown = list(model(tiny).stream(chats[0], 0))
    assert [reply.tokens for reply in grown] == list(range(1, len(grown) + 1))
    assert [bool(reply.finish) for reply in grown] == [False] * (len(grown) - 1) + [True]
    assert all(b.text.startswith(a.text) for a, b in pairwise(grown))
    assert grown[-1].source == "tiny, fp32 on CPU"
    assert set(model(tiny).cpu.split()) <= set(ROUNDING)
    assert model(tiny).cpu


def test_a_constrained_reply_is_a_move_and_a_free_one_beside_it_is_as_alone(tiny, positions):
    some = model(tiny, Sampling(temperature=1.0, top_p=1.0, max_new_tokens=200))
    chats = [render(obs) for obs in positions]
    forms = [schema(obs) if n % 2 else None for n, obs in enumerate(positions)]
    replies = some.batch(chats, range(len(chats)), forms)
    for number, reply in enumerate(replies):
        if forms[number]:
            assert reply.finish in ("object", "stop")
            parse(reply.text, positions[number])
        else:
            assert reply.text == some(chats[number], number).text


def test_a_price_is_the_median_of_its_distribution(tiny):
    decoder = Decoder(*tiny)
    prices = {57: 0.3, 62: 0.2, 65: 0.2, 68: 0.2, 104: 0.1}
    ids = {digit: decoder.tokenizer.convert_tokens_to_ids(digit) for digit in "0123456789"}
    row = Row(Sampling(temperature=0.0, median=True), (), np.zeros(8), text='{"offer":')
    text = ""
    for _ in range(2):
        chances = Counter()
        for price, chance in prices.items():
            if str(price).startswith(text) and len(str(price)) > len(text):
                chances[str(price)[len(text)]] += chance
        logits = torch.full((1, len(decoder.tokenizer)), -30.0)
        for digit, chance in chances.items():
            logits[0, ids[digit]] = math.log(chance)
        (token,) = decoder.sample(logits, [row])
        text += decoder.tokenizer.decode([token])
        row.text = '{"offer":' + text
    assert text == "62"


def test_a_sentence_has_a_temperature_and_its_first_token_another_and_a_move_is_greedy(tiny):
    draws = np.full(8, 0.8)  # of two tokens with chances of 0.7 and 0.3, the second one's
    sampling = Sampling(temperature=0.0, median=True)
    decoder = Decoder(*tiny, first=0.3)
    for text, said, drawn in (
        ('{"raise":45,"', 0, "a"),
        ('{"raise":45,"say":"', 0, "a"),
        ('{"raise":45,"say":"H', 1, "o"),
    ):
        logits = torch.full((1, len(decoder.tokenizer)), -30.0)
        for letter, chance in (("a", 0.7), ("o", 0.3)):
            logits[0, decoder.tokenizer.convert_tokens_to_ids(letter)] = math.log(chance)
        (token,) = decoder.sample(logits, [Row(sampling, (), draws, text=text, said=said)])
        assert decoder.tokenizer.decode([token]) == drawn


def test_no_two_sentences_of_a_chat_begin_alike_where_they_must_be_fresh(tiny):
    earlier = '{"raise":40,"say":"Hm, 40."}'
    chat = [*CHAT[:2], {"role": "assistant", "content": earlier}, CHAT[1]]
    request = Request(chat, 0, None, Sampling(temperature=0.0, median=True))
    for fresh, written in ((0, "Hm"), (2, "Ha"), (3, "Hm")):
        decoder = Decoder(*tiny, fresh=fresh)
        row = decoder.row(request)
        for token in decoder.tokenizer.encode('{"raise":45,"say":"'):
            decoder.append(row, token)
        for likely in ("Ho", "ma"):  # the likeliest letter and the next, in each place
            logits = torch.full((1, len(decoder.tokenizer)), -30.0)
            for chance, letter in enumerate(reversed(likely)):
                logits[0, decoder.tokenizer.convert_tokens_to_ids(letter)] = 9.0 * chance
            decoder.append(row, decoder.sample(logits, [row])[0])
        assert row.text.endswith(f'"{written}')


# Weights ------------------------------------------------------------------------------------------

CHAT = [
    {"role": "system", "content": "You sell a lamp. Your limit is ₹1,065."},
    {"role": "user", "content": "buyer: कितना?\n(Name the first price.)"},
    {"role": "assistant", "content": "Have a look:  ₹1,693."},
    {"role": "user", "content": "buyer: don't\t– ₹318?"},
    {"role": "assistant", "content": "So little?\nNo 😀."},
]


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


@pytest.mark.model
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


@pytest.mark.nightly
@pytest.mark.model
def test_the_real_model_plays_a_whole_game_and_says_how_it_runs(mini):
    observations = rollout(get_task("bazaar/open-3"), linear, 0).trajectory("buyer")[:4]
    chats = [render(turn.observation) for turn in observations]
    replies = mini.batch(chats, range(4), [schema(observations[0].observation)] * 4)
    # bf16 rounds by the kind of CPU, so a reply may run on where another machine's ends
    assert sum(reply.finish == "object" for reply in replies) >= 3
    player = PlayerSpec(mini, constrained=True).policy(BAZAAR)
    assert rollout(get_task("bazaar/mute-3"), player, 0).end != "forfeit"
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
    (adapter / TRAINED).write_text('{"fresh": 3, "first": 0.3}')
    fitted = load(f"{base}+{adapter}", "fp32", sampling=GREEDY)
    assert fitted.sampling == plain.sampling | {"fresh": 3, "first": 0.3}
    assert fitted.with_sampling(WARM).decoder.first == fitted.decoder.first == 0.3
    here = Model(Decoder(network, tokenizer, GREEDY), "tiny", "fp32", "here", "0")
    assert plain(CHAT[:2], 0).text == here(CHAT[:2], 0).text != fitted(CHAT[:2], 0).text
    assert fitted.sha256.startswith(plain.sha256 + "+")


def test_the_service_of_a_page_brings_no_torch_before_a_model_is_loaded():
    code = "import sys; from sauda.llm import backends; backends.own_service()"
    code += "; print('torch' in sys.modules)"
    assert output_of(sys.executable, "-c", code, cwd=REPOSITORY).split() == ["False"]
