"""How fast the language model plays, writes and learns on one thread, each beside another way.

Games with words beside games of silent moves; replies of ours beside OpenVINO's, which reads the
4-bit file as it is; a training pass of ours beside a plain one. Time is the process's own on the
CPU, so that other work on the machine counts little.
"""

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from env import get_task
from sauda.commands.bench.games import interleaved
from sauda.commands.bench.model import TASK, positions
from sauda.evaluation.models.comparison import play_model
from sauda.evaluation.models.config import OURS
from sauda.evaluation.speed import Compared, figure, ratio
from sauda.games import BAZAAR
from sauda.llm.backends.decoding import Sampling
from sauda.llm.backends.joint import JointDecoder
from sauda.llm.backends.model import Model, load
from sauda.llm.backends.weights import packaged_file, smollm2
from sauda.llm.registry import PlayerSpec, player_spec

ROUNDS = 3  # samples of each way
ROWS = 16  # games or replies side by side
DEALS = 4  # of a training pass, as in a step of distillation
WORDS, SILENT = "mini+sft", OURS
TOKENS = Sampling(temperature=0.0, max_new_tokens=40)
NO_OPENVINO = (
    "OpenVINO's speed is left out: it is not installed, as nothing else needs it; "
    "`pip install openvino-genai==2026.4.1.0` brings it."
)

Way = Callable[[int], int]  # does the work of a round, and returns how much that was


def throughput() -> tuple[Compared, list[str]]:
    """Every comparison of this module, and what could not be measured; raises NoWeights."""
    writing, left_out = ways_to_write()
    parts = (
        playing(),
        compared("writing", "tokens/CPU s", writing, model="mini"),
        compared("training", "tokens/CPU s", ways_to_train(), model="mini"),
    )
    figures = [each for part in parts for each in part.figures]
    return Compared(figures, [each for part in parts for each in part.ratios]), left_out


def compared(
    what: str, unit: str, ways: Mapping[str, Way], per: float = 1.0, **more: Any
) -> Compared:
    """The speeds of `ways` in work per `per` CPU seconds, the first one's ratio to each other."""
    rates = interleaved(ways, ROUNDS, time.process_time)
    figures = [
        figure(f"{what}, {way}", unit, [per * rate for rate in samples], **more)
        for way, samples in rates.items()
    ]
    return Compared(figures, [ratio(figures[0], other) for other in figures[1:]])


def playing() -> Compared:
    """Whole games of training seeds, bare: silent moves, moves with words, prompts together.

    Prompts are read together as in training; a last figure has the share of games that end with
    the same grade when each prompt is read alone.
    """
    served = load(SILENT, device="cpu")
    own = served.decoder
    joint = JointDecoder(own.network, own.tokenizer, own.sampling)
    together = Model(joint, served.name, served.precision, served.origin, served.sha256)
    players = {f"{name}, {ROWS} in step": player_spec(name) for name in (SILENT, WORDS)}
    players[f"{SILENT}, {ROWS} in step, prompts together"] = PlayerSpec(together)
    grades: dict[str, dict[int, list[float]]] = {way: {} for way in players}

    def play(way: str, number: int) -> int:
        first = number * ROWS
        played = play_model(get_task(TASK), players[way], range(first, first + ROWS))
        grades[way][number] = played["grade"]
        return ROWS

    ways = {way: partial(play, way) for way in players}
    speeds = compared("games", "games/CPU min", ways, 60.0, task=TASK)
    alone, _, read_together = grades.values()
    same = [float(np.equal(alone[i], read_together[i]).mean()) for i in range(ROUNDS)]
    share = figure("games with the same grade, prompts together", "share", same, task=TASK)
    return Compared([*speeds.figures, share], speeds.ratios)


def ways_to_write() -> tuple[dict[str, Way], list[str]]:
    """Greedy replies of the untrained base to `ROWS` positions, in tokens; up to 40 a reply."""
    model = load("mini", device="cpu", sampling=TOKENS)
    seen = list(positions(ROUNDS * ROWS))

    def chats(number: int) -> list[Any]:
        return [BAZAAR.prompt.render(obs) for obs in seen[number * ROWS : (number + 1) * ROWS]]

    def ours(number: int) -> int:
        return sum(reply.tokens for reply in model.batch(chats(number), range(ROWS)))

    ways = {f"{ROWS} replies of ours, {model.precision}": ours}
    file = packaged_file()
    try:
        import openvino_genai
    except ImportError:
        return ways, [NO_OPENVINO]
    if file is None:
        return ways, ["OpenVINO's speed is left out: it reads the packaged file, not the Hub's."]
    pipeline = openvino_genai.LLMPipeline(str(file), "CPU", {"INFERENCE_NUM_THREADS": 1})

    def theirs(number: int) -> int:
        prompts = [
            model.decoder.tokenizer.apply_chat_template(
                list(chat), tokenize=False, add_generation_prompt=True
            )
            for chat in chats(number)
        ]
        told = pipeline.generate(
            prompts,
            max_new_tokens=TOKENS.max_new_tokens,
            do_sample=False,
            stop_strings={"}"},
            apply_chat_template=False,
        )
        return told.perf_metrics.get_num_generated_tokens()

    return ways | {f"{ROWS} replies of OpenVINO, 4 bits": theirs}, []


def batches(tokenizer: Any, size: int) -> Callable[[int], tuple[Any, Any, int]]:
    """A function of a round's number: its `size` deals as token ids, labels, and their tokens."""
    import torch

    from sauda.train.data.teacher import DataConfig, Mix, rows, tokens

    deals = rows(DataConfig(rows=ROUNDS * size, mixes=(Mix(TASK, 1.0, "pilot"),)))

    def batch(number: int) -> tuple[Any, Any, int]:
        part = [tokens(deal, tokenizer) for deal in deals[number * size : (number + 1) * size]]
        ids, labels = (
            torch.nn.utils.rnn.pad_sequence(
                [torch.tensor(row[key]) for row in part], batch_first=True, padding_value=value
            )
            for key, value in (("input_ids", tokenizer.pad_token_id), ("labels", -100))
        )
        return ids, labels, sum(len(row["input_ids"]) for row in part)

    return batch


def ways_to_train() -> dict[str, Way]:
    """Forward and backward over whole deals: the learnt tokens alone projected, and all of them."""
    from sauda.train.losses import scored
    from sauda.train.model import find_base, tokenizer_of, trainable

    base = find_base("mini", smollm2().folder, DEALS)
    network, tokenizer = trainable(base, None), tokenizer_of(base)
    batch = batches(tokenizer, DEALS)

    def ours(number: int) -> int:
        ids, labels, count = batch(number)
        (-scored(network, ids, labels).log_probs.mean()).backward()
        return count

    def plain(number: int) -> int:
        ids, labels, count = batch(number)
        known = ids != tokenizer.pad_token_id
        network(input_ids=ids, attention_mask=known, labels=labels).loss.backward()
        return count

    return {f"{DEALS} deals a pass, ours": ours, f"{DEALS} deals a pass, plain": plain}
