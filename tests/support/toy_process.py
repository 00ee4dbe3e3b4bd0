"""A model process whose network is random: `python -m tests.support.toy_process SOCKET`.

Its replies are nonsense, decoded as real ones are. With `--no-network` before the socket it has no
network at all and starts at once; some words in a prompt then disturb it on purpose.
"""

import queue
import sys
import time

from sauda.llm import process
from sauda.llm.engine import Decoder, Sampling
from sauda.llm.model import CannotLoad, Model
from sauda.llm.server import Begin, Load, Piece, Ready
from sauda.llm.types import Reply
from tests.support.models import tiny_network

NO_NETWORK = "--no-network"
HANG = "please hang"
SLOW = "please take your time"


class SlowedDecoder(Decoder):
    """Slows its process down from a prompt on that says so."""

    def prompt_ids(self, chat):
        if chat[-1]["content"] == SLOW:
            self.network.register_forward_pre_hook(lambda *_: time.sleep(0.03))
        return super().prompt_ids(chat)


def toy(name: str) -> Model:
    """The model called "toy"."""
    if name != "toy":
        raise CannotLoad(f"no model {name!r}")
    network, tokenizer = tiny_network()
    decoder = SlowedDecoder(network, tokenizer, Sampling(max_new_tokens=60))
    return Model(decoder, name, "fp32", "made here", "0")


class NoNetwork:
    """An engine of any model, whose every reply is one word."""

    def __init__(self, load, report) -> None:
        self.orders, self._report = queue.SimpleQueue(), report

    def run(self) -> None:
        while (order := self.orders.get()) is not None:
            if isinstance(order, Load):
                self._report(Ready(order.name, "no network", 0.0))
            elif isinstance(order, Begin):
                if order.request.messages[-1]["content"] == HANG:
                    time.sleep(60)
                self._report(Piece(order.key, Reply("sixty", "no network", 1, "stop")))


if __name__ == "__main__":
    *options, socket = sys.argv[1:]
    if options == [NO_NETWORK]:
        process.BatchEngine = NoNetwork
    process.main(int(socket), toy)
