"""The kinds of artifacts about the training of players: a run, and how its teachers compare."""

from sauda.records.kinds.types import RECOMPUTE, Check, File, Kind
from sauda.records.schemas.training import Teachers, TrainingRun

# The tasks of GRPO after distillation: each of three rules twice, then the classic games.
MIXED = " ".join(
    (
        *("bazaar/open", "bazaar/rushed", "bazaar/bluff") * 2,
        *("classic/single_deal", "classic/asymmetric_pressure", "classic/amazon_realistic"),
    )
)
# Distillation of the base, as it was run on a GPU.
ALONE = (
    "train distill --init-adapter= --learning-rate 0.001 --deals-per-round 1296"
    " --teacher-turns 1.0 0.5 0.25 0.0 0.0 --games-at-once 256 --per-device-train-batch-size 16"
    " --save-steps 81"
)
TRAINING: tuple[Kind, ...] = (
    Kind(
        "training_run/1",
        TrainingRun,
        (
            File(
                "training/sft.json",
                "train sft",
                "Training",
                "The log of Sauda's supervised fine-tuning, what it learnt from, its gate",
            ),
            File(
                "training/sft-seed1.json",
                "train sft --seed 1 --first-seed 16000",
                "Training",
                "A second such training, from other games and another seed",
            ),
            File(
                "training/distill.json",
                "train distill",
                "Training",
                "The log of Sauda's learning from the pilot's labels of its own games, what "
                "each round played, its gate",
            ),
            File(
                "training/distill-seed1.json",
                "train distill --seed 1 --first-seed 26000",
                "Training",
                "A second such training, from other games and another seed",
            ),
            File(
                "training/distill-from-base.json",
                f"{ALONE} --first-seed 10000",
                "Training",
                "Distillation of the untrained base, on a GPU: twice the tokens and no SFT",
            ),
            File(
                "training/distill-from-base-seed1.json",
                f"{ALONE} --seed 1 --first-seed 20000",
                "Training",
                "A second such training, from other games and another seed",
            ),
            File(
                "training/moves.json",
                "train moves",
                "Training",
                "The log of Sauda's reinforcement learning on single moves, by the pilot's values",
            ),
            File(
                "training/grpo.json",
                "train grpo",
                "Training",
                "The log of Sauda's reinforcement learning on whole games, one of them, its gate",
            ),
            File(
                "training/grpo-from-distill.json",
                f"train grpo --init-adapter distill --tasks {MIXED} --learning-rate 0.0001"
                " --eval-games 24",
                "Training",
                "The same from the adapter of distillation, classic games among the rest",
            ),
            File(
                "training/grpo-from-distill-seed1.json",
                "train grpo --init-adapter distill --seed 1 --first-seed 44000"
                f" --tasks {MIXED} --learning-rate 0.0001 --eval-games 24",
                "Training",
                "A second such training, from other games and another seed",
            ),
            File(
                "training/dpo.json",
                "train dpo",
                "Training",
                "The log of Sauda's learning from pairs of replies, what they are, its gate",
            ),
            File(
                "training/sft-arena.json",
                "train sft --game arena",
                "Training",
                "The log of a lab's supervised fine-tuning on the planner's actions, its gate",
            ),
            File(
                "training/grpo-arena.json",
                "train grpo --game arena",
                "Training",
                "The log of a lab's reinforcement learning on whole games of "
                "market_round, its gate",
            ),
        ),
        Check(
            "checksum only",
            "every step of the log; the adapter's digest computed from its file",
            lambda config, data: len(data.log),
            "steps and one adapter",
            f"{RECOMPUTE}:training_run",
        ),
    ),
    Kind(
        "teachers/1",
        Teachers,
        (File("teachers.json", "train compare-teachers", "Training"),),
        Check(
            "recomputed",
            "every regret and interval, from the recorded moves of the students",
            lambda config, data: len(data.rows) * data.rows[0].n,
            "regrets",
            "sauda.train.stages.teachers:recomputed",
        ),
    ),
)
