"""Training of the language models with LoRA: players, and roles that put a move into words.

Players are trained by SFT, distillation, GRPO and DPO; roles by SFT. A stage is one file, from its
settings to its saved run; `common.py` holds what the stages share, `checks.py` the acceptance
check. `selector.py` trains what is no language model.
"""

STAGES = ("sft", "people", "talks", "grpo", "dpo")  # of a player, in the order of training
