"""Training of the language models with LoRA: SFT, distillation, GRPO on moves and on games, DPO.

`stages/` has a module a stage, with its settings; `stage.py` runs one from its settings to a
published adapter, `run.py` keeps it on disk, `checks.py` accepts it. `model.py` reads bases and
adapters, `self_play.py` lets the learner play, `schedule.py` holds cycles of the learning rate and
rates by layer, `data/` makes what is learnt.
"""

STAGES = ("sft", "distill", "moves", "grpo", "dpo")  # in the order in which they are trained
ARENA = ("sft-arena", "grpo-arena")  # runs of a lab of the GPU arena, in the same order
