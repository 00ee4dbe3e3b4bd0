"""Names, colours and weights of the policies of a model comparison, as the page shows them."""

from collections.abc import Mapping

from sauda.experiments.comparison import BASE, LAB, LEAVE, ORACLE, OURS, TUNED
from sauda.llm.registry import is_model
from sauda.records.store import Artifact

AGAIN = ", seed "  # in the label of a further training of a stage
STAGES: Mapping[str, str] = {
    BASE: "untrained base",
    "mini+sft": "SFT",
    "mini+sft-seed1": "SFT, seed 1",
    "mini+distill": "SFT + distillation",
    "mini+grpo": "SFT + GRPO",
    "mini+dpo": "SFT + GRPO + DPO",
}
LAB_STAGES: Mapping[str, str] = {
    LAB: "SFT as a lab",
}
ROLE = "role model: "  # learnt to word a move, not to choose one
ROLES: Mapping[str, str] = {
    "mini+roles-buyer": f"{ROLE}buyer",
    "mini+roles-seller": f"{ROLE}seller",
    "mini+roles-generalist": f"{ROLE}generalist",
}
PLANNERS: Mapping[str, str] = {
    "bayesian": "planner on numbers",
    "reader": "planner that reads",
    "speaker": "planner that speaks",
    "listener": "planner that reads and speaks",
}
PARTS: Mapping[str, str] = {
    "null": "no model",
    "constrained": "held to legal moves",
    "steering": "published steering",
    "honest": "guard rails on",
    LEAVE: "leaves at once",
    TUNED: "tuned script",
    **PLANNERS,
    ORACLE: "oracle, knows the seller",
}


def policy_label(name: str) -> str:
    """A policy's name in words: "null+steering" is "no model, published steering".

    The stage that the page serves is Sauda.
    """
    known = {**STAGES, **LAB_STAGES, **ROLES}
    stage = max((s for s in known if f"{name}+".startswith(f"{s}+")), key=len, default="")
    rest = [part for part in name.removeprefix(stage).split("+") if part]
    words = [PARTS.get(part, part.replace("_", " ")) for part in rest]
    label = f"Sauda ({known[stage]})" if stage == OURS else known.get(stage, "")
    return ", ".join(filter(None, [label, *words]))


def series_role(name: str) -> str:
    """The key of `SERIES` that a policy is drawn as: its last training stage, or what it is."""
    if name == ORACLE:
        return "oracle"
    if name in PLANNERS:
        return "buyer"
    if not is_model(name) or name.startswith("null"):
        return "scripted"
    stages = {part.partition("-")[0] for part in name.split("+")}
    return next((stage for stage in ("dpo", "grpo", "distill", "sft") if stage in stages), "base")


def weights(comparison: Artifact) -> str:
    """The weights and adapters of every model in a comparison."""
    return "; ".join(
        f"{model.source}, {_digests(model.sha256)}" for model in comparison.data.models.values()
    )


def _digests(sha256: str) -> str:
    base, _, adapter = sha256.partition("+")
    return f"weights {base[:12]}" + (f" with adapter {adapter[:12]}" if adapter else "")
