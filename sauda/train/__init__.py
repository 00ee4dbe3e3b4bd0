"""Training of the language models with LoRA: players, and roles that put a move into words.

Players are trained by SFT, distillation, GRPO and DPO; roles by SFT.

`stages/` has a module a stage, with its settings; `stage.py` runs one from its settings to a
published adapter, `run.py` keeps it on disk, `checks.py` accepts it. `model.py` reads bases and
adapters, `self_play.py` lets the learner play, `data/` makes what is learnt. For roles,
`schedule.py` holds cycles of the learning rate and rates by layer, `validation.py` measures.
`kept_runs.py` copies runs to a folder or the Hub.
"""

# Of a player, in the order in which they are trained.
STAGES = ("sft", "distill", "grpo", "dpo")
ARENA = ("sft-arena", "grpo-arena")  # runs of a lab of the GPU arena, in the same order
