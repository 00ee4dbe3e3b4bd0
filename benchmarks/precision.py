"""How a model plays in several precisions, and how fast: the same training games in each.

    python -m benchmarks.precision --precisions bf16 nf4

Prints a line of JSON for each precision, with the grade paired with that of the first. Nothing is
kept: what a GPU gave stands in docs/training.md.
"""

import argparse
import json
import time
from dataclasses import replace

import numpy as np

from env import get_task
from sauda.llm.engine import JointDecoder, prompt_ids
from sauda.llm.model import BYTES, load
from sauda.llm.turn import PlayerSpec, new_game, play_games
from sauda.records.store import device
from sauda.statistics import mean_interval
from sauda.train.checks import FIRST_EVAL_SEED


def main() -> None:
    """Play the games in each precision."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", default="sauda-mini")
    parser.add_argument("--precisions", nargs="+", choices=BYTES, default=["bf16", "nf4"])
    parser.add_argument("--task", default="bazaar/open")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--batch", type=int, default=100, help="games played at once")
    args = parser.parse_args()
    first = None
    for precision in args.precisions:
        model = load(args.model, precision)
        if model.device != "cpu":  # a GPU reads the prompts of all games together
            own = model.decoder
            model = replace(
                model, decoder=JointDecoder(own.network, own.tokenizer, reuses_prefix=False)
            )
        player = PlayerSpec(model)
        games = [new_game(get_task(args.task), FIRST_EVAL_SEED + n) for n in range(args.games)]
        play_games(games[:2], player)  # warms up the kernels
        began = time.perf_counter()
        for start in range(2, args.games, args.batch):
            play_games(games[start : start + args.batch], player)
        seconds = time.perf_counter() - began
        turns = [turn for game in games[2:] for turn in game.turns]
        read = [len(prompt_ids(turn.request.messages, model.decoder.tokenizer)) for turn in turns]
        written = sum(turn.reply.tokens for turn in turns)
        grades = np.array([game.grade for game in games])
        first = grades if first is None else first
        line = {
            "precision": precision, "device": device(), "n": args.games,
            "grade": mean_interval(grades), "less_first": mean_interval(grades - first),
            "forfeits": sum(game.play.forfeit for game in games), "moves": len(turns),
            "moves_per_second": round(len(turns) / seconds, 1),
            "tokens_written_per_second": round(written / seconds),
            "tokens_in_all_per_second": round((written + sum(read)) / seconds),
        }  # fmt: skip
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
