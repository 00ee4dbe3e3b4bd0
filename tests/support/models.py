"""Language models of a few lines, for the tests of what stands around a model."""

import re

from env import arena
from sauda.games.arena.prompt import completion
from sauda.llm.types import Reply


class Booker:
    """Books the first of its blocks that serves a job, or waits; at times it writes nonsense."""

    def __call__(self, messages, seed, schema=None):
        if seed % 5 == 0:
            return Reply("hm", "booker", 1, "stop")
        found = re.search(r"(j_\d_\d) lacks .* Yours: (b_\d_\d)", messages[1]["content"])
        action = arena.Action("wait")
        if found:
            action = arena.Action("allocate_to_job", job_id=found[1], block_ids=(found[2],))
        return Reply(completion(action), "booker", 9, "stop")

    def batch(self, chats, seeds, schemas):
        return [self(*asked) for asked in zip(chats, seeds, schemas, strict=True)]
