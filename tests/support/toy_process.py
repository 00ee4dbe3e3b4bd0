"""A model process whose network is random: `python -m tests.support.toy_process SOCKET`.

Its replies are nonsense, decoded as real ones are. Some words in a prompt disturb it on purpose.
"""

import os
import signal
import sys
import time
from pathlib import Path

from sauda.llm.backends.decoding import Decoder, Sampling
from sauda.llm.backends.model import CannotLoad, Model
from sauda.llm.backends.weights import smollm2
from sauda.llm.serving.process import main
from tests.support.models import tiny_network

CRASH, CRASH_ONCE, HANG = "please crash", "please crash once in ", "please hang"
SLOW = "please take your time"


class DisturbedDecoder(Decoder):
    """Ends or stops its process at a prompt that says so."""

    def prompt_ids(self, chat):
        words = chat[-1]["content"]
        if words.startswith(CRASH_ONCE):
            crashed = Path(words.removeprefix(CRASH_ONCE))
            if not crashed.exists():
                crashed.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        elif words == CRASH:
            os.kill(os.getpid(), signal.SIGKILL)
        elif words == HANG:
            time.sleep(60)
        elif words == SLOW:  # and so will be every reply of this process
            self.network.register_forward_pre_hook(lambda *_: time.sleep(0.03))
        return super().prompt_ids(chat)


def toy(name: str) -> Model:
    """The model called "toy" or "copy", of the same weights."""
    if name not in ("toy", "copy"):
        raise CannotLoad(f"no model {name!r}")
    network, tokenizer = tiny_network(smollm2())
    decoder = DisturbedDecoder(network, tokenizer, Sampling(max_new_tokens=60))
    return Model(decoder, name, "fp32", "made here", "0")


if __name__ == "__main__":
    main(int(sys.argv[1]), toy)
