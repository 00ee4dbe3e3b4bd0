"""The kind of artifact about the training of players: a run."""

from sauda.records.kinds.types import RECOMPUTE, Check, File, Kind
from sauda.records.schemas.training import TrainingRun

# The tasks of GRPO after distillation: each of two rules twice, then the classic games.
MIXED = " ".join(
    (
        *("bazaar/open", "bazaar/rushed") * 2,
        *("classic/single_deal", "classic/asymmetric_pressure", "classic/amazon_realistic"),
    )
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
)
