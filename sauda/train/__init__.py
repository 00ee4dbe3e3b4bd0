"""SFT, GRPO and DPO: how our language models learn to bargain, by TRL's trainers and LoRA."""

STAGES = ("sft", "grpo", "dpo")  # in the order in which each goes on from the one before
ARENA = ("sft-arena", "grpo-arena")  # the runs of a lab of the GPU arena, likewise
