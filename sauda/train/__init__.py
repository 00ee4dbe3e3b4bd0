"""SFT, GRPO and DPO: how our language models learn to bargain, by TRL's trainers and LoRA."""
