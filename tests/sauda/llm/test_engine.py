"""The engine of the model process: what it keeps in memory."""

import pytest

from sauda.llm import process
from sauda.llm.engine import Decoder, ReplyRequest, Sampling
from sauda.llm.model import Model, smollm2
from sauda.llm.process import BatchEngine, bytes_of_token
from sauda.llm.server import Begin
from tests.support.models import tiny_network

pytestmark = pytest.mark.model


def test_the_cache_of_conversations_stays_within_its_bytes(monkeypatch):
    """Whatever the size of a token in the model that is loaded."""
    network, tokenizer = tiny_network(smollm2())
    decoder = Decoder(network, tokenizer, Sampling(max_new_tokens=2))
    monkeypatch.setattr(process, "CACHE_BYTES", 200 * bytes_of_token(network))
    engine = BatchEngine(None, report=lambda event: None)
    engine.add("tiny", Model(decoder, "tiny", "fp32", "here", "0"))
    for key in range(30):
        chat = [{"role": "user", "content": f"{key} is my price, and I say it at some length"}]
        engine.take(Begin(key, "tiny", ReplyRequest(chat, 7, None, decoder.sampling)))
        for _ in range(4):
            engine.step()
    cache = decoder.prefix_cache
    _, layers = cache.longest(decoder.prompt_ids(chat), id(network))
    held = sum(tensor.nbytes for layer in layers for tensor in layer)
    tokens = layers[0][0].shape[2]
    assert held == tokens * bytes_of_token(network)
    assert 0 < cache.tokens * bytes_of_token(network) <= process.CACHE_BYTES
    assert len(cache) < 30
